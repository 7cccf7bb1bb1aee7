//! Makes a trace easy to read: fewer context switches, then fewer pre-emptions, then fewer steps,
//! while it still leads to an outcome that is wanted.
//!
//! Three moves, the next one when those before it no longer help, until the effort is spent:
//! - reorder: among the linear orders of the same Mazurkiewicz trace, one with the fewest switches
//!   (`relinearise.rs`); the outcome cannot change;
//! - let threads go on: where a thread was left although it could go on, continue it, or put off
//!   what came instead, then follow the old schedule as far as it still makes sense. The outcome
//!   may change, so the result is kept only if the predicate still holds;
//! - search anew: all schedules with fewer pre-emptions (`bounded.rs`), the fewest first. This gets
//!   out of the dead ends in which every single change destroys the outcome.
//!
//! Every result is a complete execution that was performed, so it replays.

use crate::bounded::bounded;
use crate::bounds::{Bounds, preempts, undelayed};
use crate::limits::Limits;
use crate::relinearise::relinearise;
use crate::replay::{ScheduleError, follow};
use crate::system::{System, ThreadId};

/// How much work simplifying may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Executions to try.
    pub executions: usize,
    /// Partial orders to look at while reordering, each time.
    pub orders: usize,
    /// Steps after which a tried execution is given up.
    pub length: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { executions: 1000, orders: 10_000, length: 10_000 }
    }
}

/// What makes a trace hard to read, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complexity {
    /// Steps made by another thread than the step before.
    pub switches: usize,
    /// Switches away from a thread that could go on.
    pub preemptions: usize,
    /// Steps.
    pub length: usize,
}

/// Measures a trace from the start.
pub fn complexity<S: System>(system: &S, trace: &[S::Action]) -> Result<Complexity, ScheduleError> {
    let mut found = Complexity { switches: 0, preemptions: 0, length: trace.len() };
    let mut last = None;
    follow(system, trace, |enabled, position, _| {
        let action = &enabled[position];
        let thread = system.thread(action);
        found.switches += usize::from(last.is_some_and(|last| last != thread));
        found.preemptions += usize::from(preempts(system, last, enabled, action));
        last = Some(thread);
    })?;
    Ok(found)
}

/// A simpler trace to an outcome that satisfies the predicate, given a trace to such an outcome.
/// The result is never more complex than what was given.
pub fn simplify<S: System>(
    system: &S,
    trace: &[S::Action],
    predicate: impl Fn(&S::Outcome) -> bool,
    effort: &Effort,
) -> Result<Vec<S::Action>, ScheduleError> {
    let start = Candidate { trace: trace.to_vec(), complexity: complexity(system, trace)? };
    let mut work = Work { system, predicate, effort, executions: 0 };
    let mut best = work.reordered(start)?;
    'again: loop {
        for plan in work.plans(&best)? {
            if work.executions >= effort.executions {
                return Ok(best.trace);
            }
            let Some(trace) = work.attempt(&plan) else { continue };
            let complexity = complexity(system, &trace)?;
            let candidate = work.reordered(Candidate { trace, complexity })?;
            if candidate.complexity < best.complexity {
                best = candidate;
                continue 'again;
            }
        }
        match work.searched(&best)? {
            Some(simpler) => best = simpler,
            None => return Ok(best.trace),
        }
    }
}

struct Candidate<Action> {
    trace: Vec<Action>,
    complexity: Complexity,
}

/// A schedule that need not be possible as it stands.
struct Plan<Action> {
    /// To be followed to the letter.
    prefix: Vec<Action>,
    /// Then this thread goes on for as long as it can.
    runner: Option<ThreadId>,
    /// Then this as far as possible, with other actions of the same threads if need be.
    rest: Vec<Action>,
}

struct Work<'a, S: System, P> {
    system: &'a S,
    predicate: P,
    effort: &'a Effort,
    executions: usize,
}

impl<S: System, P: Fn(&S::Outcome) -> bool> Work<'_, S, P> {
    /// The candidate in its best order, if that is better.
    fn reordered(
        &self,
        candidate: Candidate<S::Action>,
    ) -> Result<Candidate<S::Action>, ScheduleError> {
        let trace = relinearise(self.system, &candidate.trace, self.effort.orders);
        let complexity = complexity(self.system, &trace)?;
        let better = complexity < candidate.complexity;
        Ok(if better { Candidate { trace, complexity } } else { candidate })
    }

    /// What to try: for each switch, pre-emptive ones first, the plans without it.
    fn plans(&self, best: &Candidate<S::Action>) -> Result<Vec<Plan<S::Action>>, ScheduleError> {
        let system = self.system;
        let mut last = None;
        let mut switches: Vec<(bool, usize)> = Vec::new();
        follow(system, &best.trace, |enabled, position, step| {
            let action = &enabled[position];
            let thread = system.thread(action);
            if last.is_some_and(|last| last != thread) {
                switches.push((!preempts(system, last, enabled, action), step));
            }
            last = Some(thread);
        })?;
        switches.sort_unstable();
        let thread_at = |step: usize| system.thread(&best.trace[step]);
        let mut plans = Vec::new();
        for (_, step) in switches {
            let (prefix, rest) = best.trace.split_at(step);
            let before = thread_at(step - 1);
            plans.push(Plan { prefix: prefix.to_vec(), runner: Some(before), rest: rest.to_vec() });
            let block = rest.iter().take_while(|action| system.thread(action) == thread_at(step));
            let (put_off, rest) = rest.split_at(block.count());
            let rest = [rest, put_off].concat();
            plans.push(Plan { prefix: prefix.to_vec(), runner: None, rest });
        }
        Ok(plans)
    }

    /// The simplest candidate with fewer pre-emptions than the best one so far, if a search within
    /// the effort that is left finds any.
    fn searched(
        &mut self,
        best: &Candidate<S::Action>,
    ) -> Result<Option<Candidate<S::Action>>, ScheduleError> {
        for preemptions in 0..best.complexity.preemptions {
            let left = self.effort.executions.saturating_sub(self.executions);
            let bounds = Bounds {
                preemptions: u32::try_from(preemptions).ok(),
                length: Some(self.effort.length),
                ..Bounds::default()
            };
            let limits = Limits {
                executions: Some(left as u64),
                length: Some(self.effort.length),
                ..Limits::default()
            };
            let report = bounded(self.system, &bounds, &limits);
            self.executions += report.executions as usize;
            let mut simplest: Option<Candidate<S::Action>> = None;
            for found in report.found.into_iter().filter(|found| (self.predicate)(&found.outcome)) {
                let complexity = complexity(self.system, &found.trace)?;
                let candidate = self.reordered(Candidate { trace: found.trace, complexity })?;
                let known = simplest.as_ref().map_or(best.complexity, |known| known.complexity);
                if candidate.complexity < known {
                    simplest = Some(candidate);
                }
            }
            if simplest.is_some() {
                return Ok(simplest);
            }
        }
        Ok(None)
    }

    /// Performs a plan to the end of the execution; gives the trace if the predicate holds there.
    fn attempt(&mut self, plan: &Plan<S::Action>) -> Option<Vec<S::Action>> {
        self.executions += 1;
        let system = self.system;
        let mut run = follow(system, &plan.prefix, |_, _, _| ()).ok()?;
        let mut trace = plan.prefix.clone();
        let mut enabled = Vec::new();
        let mut runner = plan.runner;
        let mut rest = plan.rest.iter();
        let mut last = trace.last().map(|last| system.thread(last));
        loop {
            system.enabled(&mut run, &mut enabled);
            if enabled.is_empty() {
                break;
            }
            if trace.len() >= self.effort.length {
                return None;
            }
            let of = |thread| enabled.iter().position(|action| system.thread(action) == thread);
            let goes_on = runner.and_then(of);
            if goes_on.is_none() {
                runner = None;
            }
            let exactly = |wanted: &S::Action| enabled.iter().position(|action| action == wanted);
            let planned =
                |wanted: &S::Action| exactly(wanted).or_else(|| of(system.thread(wanted)));
            let next = goes_on.or_else(|| rest.by_ref().find_map(planned));
            let position = next.unwrap_or_else(|| undelayed(system, last, &enabled));
            let action = enabled.swap_remove(position);
            last = Some(system.thread(&action));
            system.step(&mut run, &action);
            trace.push(action);
        }
        let mut outcomes = Vec::new();
        system.outcomes(&mut run, &mut outcomes);
        outcomes.iter().any(&self.predicate).then_some(trace)
    }
}
