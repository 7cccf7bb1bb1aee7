//! Draws executions: what random walks, PCT, POS and SURW share.
//!
//! Executions are drawn in rounds that double in size. What a round learns is known to the next one only,
//! and within a round each execution depends on nothing but its number: the result is the same on any
//! number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashSet;

use crate::collect::Collector;
use crate::coverage::Coverage;
use crate::interleavings::Tally;
use crate::limits::{Limits, Meter};
use crate::profile::Profile;
use crate::report::{Found, Report};
use crate::system::{System, ThreadId};

/// Decides after an outcome whether more executions are to be drawn.
pub type GoOn<'g, Outcome> = &'g (dyn Fn(&Outcome) -> bool + Sync);

/// A state in which something is to be chosen.
pub(crate) struct Moment<'m, S: System> {
    pub(crate) system: &'m S,
    /// What can happen. Never empty.
    pub(crate) enabled: &'m [S::Action],
}

impl<S: System> Moment<'_, S> {
    /// The positions of a thread's actions.
    pub(crate) fn actions_of(&self, thread: ThreadId) -> Vec<usize> {
        let actions = self.enabled.iter().enumerate();
        let own = actions.filter(|(_, action)| self.system.thread(action) == thread);
        own.map(|(position, _)| position).collect()
    }
}

/// Chooses what happens next in one execution.
pub(crate) trait Picker<S: System> {
    /// Does it want to know how often threads access objects ([`Learnt::profile`])?
    const PROFILES: bool = false;

    /// A position in `moment.enabled`.
    fn pick(&mut self, moment: &Moment<'_, S>) -> usize;
}

/// What the executions of earlier rounds have shown.
#[derive(Default)]
pub(crate) struct Learnt {
    /// The length of the longest one.
    pub(crate) longest: usize,
    pub(crate) profile: Profile,
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
    /// The executions that were cut.
    cut: Vec<u64>,
    transitions: u64,
    tally: Tally,
    learnt: Learnt,
}

/// Draws executions one after the other. `picker` makes the picker of an execution from its number
/// and from what was learnt in earlier rounds (nothing in the first).
pub(crate) fn sample<S: System, P: Picker<S>>(
    system: &S,
    executions: u64,
    limits: &Limits<'_>,
    picker: impl Fn(u64, &Learnt) -> P,
) -> Report<S::Outcome, S::Action> {
    let last = Last::new(&|_| true);
    in_rounds(executions, limits, &last, |round, learnt| {
        vec![draw(system, round, 1, limits, &last, &|number| picker(number, learnt))]
    })
}

/// Draws the same executions as [`sample`], on several threads, up to the first one after which `go_on`
/// is false.
pub(crate) fn sample_parallel<S, P>(
    system: &S,
    executions: u64,
    jobs: usize,
    limits: &Limits<'_>,
    go_on: GoOn<'_, S::Outcome>,
    picker: impl Fn(u64, &Learnt) -> P + Sync,
) -> Report<S::Outcome, S::Action>
where
    S: System + Clone + Send,
    S::Action: Send,
    S::Outcome: Send,
    P: Picker<S>,
{
    let jobs = jobs.max(1);
    let last = &Last::new(go_on);
    in_rounds(executions, limits, last, |round, learnt| {
        let picker = &|number| picker(number, learnt);
        if round.end - round.start < 4 * jobs as u64 {
            return vec![draw(system, round, 1, limits, last, picker)];
        }
        std::thread::scope(|scope| {
            let starts = round.clone().take(jobs);
            let start = |first| {
                let (system, part) = (system.clone(), first..round.end);
                scope.spawn(move || draw(&system, part, jobs, limits, last, picker))
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

/// The execution that is to be the last one.
struct Last<'g, Outcome> {
    go_on: GoOn<'g, Outcome>,
    /// Its number, as far as is known; the largest number as long as there is none.
    number: AtomicU64,
}

impl<'g, Outcome> Last<'g, Outcome> {
    fn new(go_on: GoOn<'g, Outcome>) -> Self {
        Last { go_on, number: AtomicU64::new(u64::MAX) }
    }

    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// An execution has given an outcome.
    fn look_at(&self, number: u64, outcome: &Outcome) {
        if !(self.go_on)(outcome) {
            self.number.fetch_min(number, Ordering::Relaxed);
        }
    }
}

fn in_rounds<S: System>(
    executions: u64,
    limits: &Limits<'_>,
    last: &Last<'_, S::Outcome>,
    mut draw_round: impl FnMut(Range<u64>, &Learnt) -> Vec<Shard<S>>,
) -> Report<S::Outcome, S::Action> {
    let executions = limits.executions.map_or(executions, |limit| executions.min(limit));
    let mut collector = Collector::<S>::new();
    let (mut learnt, mut tally) = (Learnt::default(), Tally::default());
    let (mut start, mut drawn) = (0, 0);
    while start < executions && last.number() == u64::MAX && !Meter::default().interrupted(limits) {
        let end = executions.min(start.saturating_mul(2).max(start + 1));
        let mut found = Vec::new();
        let mut cut = Vec::new();
        for shard in draw_round(start..end, &learnt) {
            learnt.longest = learnt.longest.max(shard.learnt.longest);
            learnt.profile.also(shard.learnt.profile);
            tally.also(&shard.tally);
            drawn += shard.complete;
            collector.report.transitions += shard.transitions;
            cut.extend(shard.cut);
            found.extend(shard.found);
        }
        // Other threads may have gone on beyond the last one.
        let last = last.number();
        cut.retain(|&number| number <= last);
        found.retain(|numbered| numbered.number <= last);
        collector.report.cut += cut.len() as u64;
        found.sort_by_key(|numbered| numbered.number);
        found.into_iter().for_each(|numbered| collector.found(numbered.found));
        start = end;
    }
    let mut report = collector.report;
    report.executions = drawn.min(last.number().saturating_add(1) - report.cut);
    report.coverage = Coverage::Sampled(report.executions);
    // What was seen beyond the last execution depends on the number of threads.
    report.interleavings = tally.interleavings().filter(|_| last.number() == u64::MAX);
    report
}

/// Draws every `stride`-th execution of the range.
fn draw<S: System, P: Picker<S>>(
    system: &S,
    range: Range<u64>,
    stride: usize,
    limits: &Limits<'_>,
    last: &Last<'_, S::Outcome>,
    picker: &impl Fn(u64) -> P,
) -> Shard<S> {
    let mut shard = Shard {
        found: Vec::new(),
        complete: 0,
        cut: Vec::new(),
        transitions: 0,
        tally: Tally::default(),
        learnt: Learnt::default(),
    };
    let mut collector = Collector::<S>::new();
    let mut execution = Drawn { trace: Vec::new(), enabled: Vec::new() };
    for number in range.step_by(stride) {
        if number > last.number() || Meter::default().interrupted(limits) {
            break;
        }
        let mut run = system.start();
        execution.perform(system, &mut run, number, limits, picker(number), &mut shard);
        let Drawn { trace, enabled } = &execution;
        shard.learnt.longest = shard.learnt.longest.max(trace.len());
        shard.transitions += trace.len() as u64;
        shard.tally.end_execution();
        if !enabled.is_empty() {
            shard.cut.push(number);
            continue;
        }
        collector.execution(system, &mut run, trace);
        collector.latest.iter().for_each(|outcome| last.look_at(number, outcome));
        let new = collector.report.found.drain(..);
        shard.found.extend(new.map(|found| Numbered { number, found }));
        shard.complete += 1;
        if let Some(progress) = limits.progress {
            progress(number + 1);
        }
    }
    shard
}

/// The execution that was drawn last.
struct Drawn<S: System> {
    trace: Vec<S::Action>,
    /// What could follow; nothing if it has come to its end.
    enabled: Vec<S::Action>,
}

impl<S: System> Drawn<S> {
    fn perform<P: Picker<S>>(
        &mut self,
        system: &S,
        run: &mut S::Run,
        number: u64,
        limits: &Limits<'_>,
        mut picker: P,
        shard: &mut Shard<S>,
    ) {
        let Drawn { trace, enabled } = self;
        trace.clear();
        let mut touches = Vec::new();
        let mut threads = FxHashSet::default();
        loop {
            system.enabled(run, enabled);
            if P::PROFILES {
                let parent = trace.last().map(|action| system.thread(action));
                for thread in enabled.iter().map(|action| system.thread(action)) {
                    if threads.insert(thread) {
                        shard.learnt.profile.note_thread(thread, number, parent);
                    }
                }
            }
            if enabled.is_empty() || Meter::default().cuts(limits, trace.len()) {
                return;
            }
            let action = enabled.swap_remove(picker.pick(&Moment { system, enabled }));
            touches.clear();
            system.observed_step(run, &action, &mut touches);
            shard.tally.step(&touches);
            if P::PROFILES {
                shard.learnt.profile.note_step(number, trace.len(), &touches);
            }
            trace.push(action);
        }
    }
}
