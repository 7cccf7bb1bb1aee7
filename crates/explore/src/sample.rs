//! Draws executions: what random walks and PCT share.
//!
//! Executions are drawn in rounds that double in size. What a round learns (the longest execution)
//! is known to the next one only, and within a round each execution depends on nothing but its
//! number: the result is the same on any number of threads.

use std::ops::Range;

use crate::collect::Collector;
use crate::coverage::Coverage;
use crate::limits::{Limits, Meter};
use crate::report::{Found, Report};
use crate::system::System;

/// Chooses what happens next in one execution.
pub(crate) trait Picker<S: System> {
    /// A position in `enabled`, which is not empty.
    fn pick(&mut self, system: &S, enabled: &[S::Action]) -> usize;
}

/// An outcome with the number of the execution that gave it.
struct Numbered<S: System> {
    number: u64,
    found: Found<S::Outcome, S::Action>,
}

/// What part of a round gave.
struct Shard<S: System> {
    /// Each distinct outcome of the shard, where it came up first.
    found: Vec<Numbered<S>>,
    complete: u64,
    cut: u64,
    transitions: u64,
    longest: usize,
}

/// Draws executions one after the other. `picker` makes the picker of an execution from its number
/// and the length of the longest execution of earlier rounds (0 in the first).
pub(crate) fn sample<S: System, P: Picker<S>>(
    system: &S,
    executions: u64,
    limits: &Limits<'_>,
    picker: impl Fn(u64, usize) -> P,
) -> Report<S::Outcome, S::Action> {
    in_rounds(executions, limits, |round, longest| {
        vec![draw(system, round, 1, limits, &|number| picker(number, longest))]
    })
}

/// Draws the same executions as [`sample`], on several threads.
pub(crate) fn sample_parallel<S, P>(
    system: &S,
    executions: u64,
    jobs: usize,
    limits: &Limits<'_>,
    picker: impl Fn(u64, usize) -> P + Sync,
) -> Report<S::Outcome, S::Action>
where
    S: System + Clone + Send,
    S::Action: Send,
    S::Outcome: Send,
    P: Picker<S>,
{
    let jobs = jobs.max(1);
    in_rounds(executions, limits, |round, longest| {
        let picker = &|number| picker(number, longest);
        if round.end - round.start < 4 * jobs as u64 {
            return vec![draw(system, round, 1, limits, picker)];
        }
        std::thread::scope(|scope| {
            let starts = round.clone().take(jobs);
            let start = |first| {
                let (system, part) = (system.clone(), first..round.end);
                scope.spawn(move || draw(&system, part, jobs, limits, picker))
            };
            let workers: Vec<_> = starts.map(start).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| match worker.join() {
                Ok(shard) => shard,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            workers.into_iter().map(join).collect()
        })
    })
}

fn in_rounds<S: System>(
    executions: u64,
    limits: &Limits<'_>,
    mut draw_round: impl FnMut(Range<u64>, usize) -> Vec<Shard<S>>,
) -> Report<S::Outcome, S::Action> {
    let executions = limits.executions.map_or(executions, |limit| executions.min(limit));
    let mut collector = Collector::<S>::new();
    let mut longest = 0;
    let mut start = 0;
    while start < executions && !Meter::default().interrupted(limits) {
        let end = executions.min(start.saturating_mul(2).max(start + 1));
        let mut found = Vec::new();
        for shard in draw_round(start..end, longest) {
            longest = longest.max(shard.longest);
            collector.report.executions += shard.complete;
            collector.report.cut += shard.cut;
            collector.report.transitions += shard.transitions;
            found.extend(shard.found);
        }
        found.sort_by_key(|numbered| numbered.number);
        found.into_iter().for_each(|numbered| collector.found(numbered.found));
        start = end;
    }
    let mut report = collector.report;
    report.coverage = Coverage::Sampled(report.executions);
    report
}

/// Draws every `stride`-th execution of the range.
fn draw<S: System, P: Picker<S>>(
    system: &S,
    range: Range<u64>,
    stride: usize,
    limits: &Limits<'_>,
    picker: &impl Fn(u64) -> P,
) -> Shard<S> {
    let mut shard = Shard { found: Vec::new(), complete: 0, cut: 0, transitions: 0, longest: 0 };
    let mut collector = Collector::<S>::new();
    let mut enabled = Vec::new();
    let mut trace = Vec::new();
    for number in range.step_by(stride) {
        if Meter::default().interrupted(limits) {
            break;
        }
        let mut picker = picker(number);
        let mut run = system.start();
        trace.clear();
        loop {
            system.enabled(&mut run, &mut enabled);
            if enabled.is_empty() || Meter::default().cuts(limits, trace.len()) {
                break;
            }
            let action = enabled.swap_remove(picker.pick(system, &enabled));
            system.step(&mut run, &action);
            trace.push(action);
        }
        shard.longest = shard.longest.max(trace.len());
        shard.transitions += trace.len() as u64;
        if enabled.is_empty() {
            collector.execution(system, &mut run, &trace);
            let new = collector.report.found.drain(..);
            shard.found.extend(new.map(|found| Numbered { number, found }));
            shard.complete += 1;
            if let Some(progress) = limits.progress {
                progress(number + 1);
            }
        } else {
            shard.cut += 1;
        }
    }
    shard
}
