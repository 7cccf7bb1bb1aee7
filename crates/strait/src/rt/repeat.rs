//! Performing an execution again, to see whether it depends on something that is not controlled: once as
//! it was, once with rounds of waiting loops added, and in other orders of what is independent.
//!
//! Comes in: a [`Sample`] of a search. Goes out: nothing, or the [`Difference`].

use std::fmt::Debug;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use strait_explore::{Pick, ThreadId};

use super::disorder::{Disorder, reordered};
use super::execution::{Execution, Sample};
use super::log::{Detail, Line, without_addresses};
use super::op::Place;
use super::spin::GATES;
use super::system::{Act, act};
use crate::outcome::Outcome;
use crate::trace::Trace;

/// How an execution differed when it was repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    pub(crate) then: String,
    pub(crate) now: String,
}

/// Where a thread has stopped waiting although nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Impatience {
    pub(crate) thread: String,
    pub(crate) place: Place,
}

/// Longer executions are not brought into another order.
const LONGEST: usize = 5000;

/// So many rounds a loop is let go round.
const ROUNDS: u32 = 1100;

impl<T: Clone + Eq + Hash + Debug + 'static> Execution<T> {
    /// Makes the steps of a sample again.
    pub(crate) fn repeat(&mut self, sample: &Sample<T>) -> Result<(), Difference> {
        self.perform(sample, None, None)
    }

    /// Makes the steps of a sample again. Gives them if they can be made in another order.
    pub(crate) fn repeat_for_acts(
        &mut self,
        sample: &Sample<T>,
    ) -> Result<Option<Vec<Act>>, Difference> {
        let mut acts = Vec::with_capacity(sample.lines.len());
        self.perform(sample, None, Some(&mut acts))?;
        // An execution that ends at a fault ends at another step in another order. Of many threads that
        // wait in loops, which ones do not go round depends on the order.
        let premature = matches!(sample.outcome, Outcome::Fault(_));
        let fixed = premature || acts.len() > LONGEST || self.world().gates >= GATES;
        Ok((!fixed).then_some(acts))
    }

    /// Makes the steps of a sample again in another order, in which they must do the same.
    pub(crate) fn repeat_otherwise(
        &mut self,
        sample: &Sample<T>,
        acts: &[Act],
        number: u64,
    ) -> Result<(), Difference> {
        let mut disorder = Disorder::new(number);
        let order = reordered(acts, &mut disorder);
        self.world_mut().disorder = Some(disorder);
        let performed = self.perform(sample, Some(&order), None);
        self.world_mut().disorder = None;
        performed
    }

    /// Makes steps again, and lets every loop that waits go round many times. Gives a thread that has not
    /// gone on waiting.
    pub(crate) fn repeat_patiently(
        &mut self,
        steps: impl Iterator<Item = Pick>,
    ) -> Result<(), Impatience> {
        self.keep_log();
        self.start();
        let mut patient: FxHashMap<u32, u32> = FxHashMap::default();
        for Pick { thread, choice } in steps {
            self.wait_longer(&mut patient)?;
            if !self.is_possible(thread.0, choice) {
                break;
            }
            self.go(thread, choice);
        }
        self.wait_longer(&mut patient)?;
        self.concluded();
        Ok(())
    }

    /// Lets all who wait in loops, and have not been here since they came there, go round many times.
    fn wait_longer(&mut self, patient: &mut FxHashMap<u32, u32>) -> Result<(), Impatience> {
        for number in 0..self.world().met() {
            let steps = |run: &Self| run.world().threads[number as usize].events;
            let waits = self.waits_at(number).is_some();
            let stuck = waits && !self.world().is_enabled(ThreadId(number));
            if !stuck || patient.get(&number) == Some(&steps(self)) {
                continue;
            }
            if let Some(place) = self.stops_waiting(number, ROUNDS) {
                return Err(Impatience { thread: self.world().describe_thread(number), place });
            }
            patient.insert(number, steps(self));
        }
        Ok(())
    }

    /// Can a thread make its announced step in this way now?
    fn is_possible(&mut self, number: u32, choice: u32) -> bool {
        let mut choices = Vec::new();
        if self.world().is_enabled(ThreadId(number)) {
            self.ways(ThreadId(number), &mut choices);
        }
        choices.contains(&choice)
    }

    /// Makes the steps of a sample, in another order if one is given by their positions, and notes them
    /// where that is wanted.
    fn perform(
        &mut self,
        sample: &Sample<T>,
        order: Option<&[usize]>,
        mut acts: Option<&mut Vec<Act>>,
    ) -> Result<(), Difference> {
        self.keep_log();
        self.start();
        for number in 0..sample.lines.len() {
            let then = &sample.lines[order.map_or(number, |order| order[number])];
            let (thread, choice) = (ThreadId(then.thread), then.choice);
            if !self.is_possible(then.thread, choice) {
                return Err(self.difference(Some(then), None));
            }
            if let Some(acts) = &mut acts {
                acts.extend(act(self, Pick { thread, choice }));
            }
            self.go(thread, choice);
            let now = self.world().log.as_ref().and_then(|log| log.lines.last());
            if !now.is_some_and(|now| now.resembles(then)) {
                return Err(self.difference(Some(then), now));
            }
        }
        self.compare_details(sample, order)?;
        let more =
            (0..self.world().met()).find(|&number| self.world().is_enabled(ThreadId(number)));
        let (then, now) = (&sample.outcome, self.concluded());
        if more.is_some() {
            return Err(Difference { then: then.to_string(), now: "it goes on".to_owned() });
        }
        if *then != now {
            return Err(Difference { then: then.to_string(), now: now.to_string() });
        }
        Ok(())
    }

    /// Compares what came of the steps. It may come of other steps in another order, but to each thread
    /// it comes in the same order.
    fn compare_details(
        &self,
        sample: &Sample<T>,
        order: Option<&[usize]>,
    ) -> Result<(), Difference> {
        let lines = self.world().log.as_ref().map_or(&[][..], |log| &log.lines);
        let then = (0..sample.lines.len())
            .map(|number| &sample.lines[order.map_or(number, |order| order[number])]);
        let differing = lines.iter().zip(then).find(|(now, then)| !same_details(now, then));
        let same = differing.is_none() && lines.len() == sample.lines.len();
        if same || details(&sample.lines) == details(lines) {
            return Ok(());
        }
        let (now, then) = differing.unzip();
        Err(self.difference(then, now))
    }

    /// How a step looks here and in a sample.
    fn difference(&self, then: Option<&Line>, now: Option<&Line>) -> Difference {
        let world = self.world();
        let text = |line: Option<&Line>| match line {
            Some(line) => Trace::line_of(world, line).to_string(),
            None => "something else".to_owned(),
        };
        Difference { then: text(then), now: text(now) }
    }
}

/// Did the same come of two steps, to the same threads?
fn same_details(one: &Line, other: &Line) -> bool {
    let same = |(one, other): (&Detail, &Detail)| {
        let same_text = || without_addresses(&one.text) == without_addresses(&other.text);
        one.thread == other.thread && (one.text == other.text || same_text())
    };
    one.details.len() == other.details.len() && one.details.iter().zip(&other.details).all(same)
}

/// What came of steps to each thread. Pointers differ from run to run.
fn details(lines: &[Line]) -> FxHashMap<u32, Vec<String>> {
    let mut details: FxHashMap<u32, Vec<String>> = FxHashMap::default();
    for detail in lines.iter().flat_map(|line| &line.details) {
        details.entry(detail.thread).or_default().push(without_addresses(&detail.text));
    }
    details
}
