//! Why a search that has found nothing wrong may prove nothing: executions that did not end, code that
//! the library does not control, executions that cannot be repeated.
//!
//! Comes in: what a search has seen. Goes out: a [`Doubt`], or none. Each one has a remedy; their texts
//! are made when they are shown.

use std::fmt;

use strait_explore::{Pick, ThreadId};

use crate::check::Builder;
use crate::erased::Erased;
use crate::foreign::{Foreign, Observer};
use crate::report::Outcomes;
use crate::rt::execution::{Execution, Sample};
use crate::rt::features::Feature;
use crate::rt::repeat::{Difference, Impatience};
use crate::rt::system::{Act, ProgramUnderTest};

/// Why the result of a search does not speak for the program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Doubt {
    /// No execution came to its end, so nothing was tested.
    NothingFinished,
    /// Executions were cut although the caller had set no bound.
    Cut {
        /// How many.
        executions: u64,
        /// After how many steps.
        steps: usize,
    },
    /// A thread came to its end in every execution without doing anything that the library controls.
    NoStep {
        /// Which thread, and where it was started.
        thread: String,
    },
    /// An execution was repeated and went another way.
    Differs {
        /// What happened when it was performed first.
        then: String,
        /// What happened when it was repeated.
        now: String,
    },
    /// An execution was repeated with its independent steps in another order, and went another way.
    Shares {
        /// What happened in the one order.
        then: String,
        /// What happened in the other.
        now: String,
    },
    /// A loop that waits has ended although nothing that it reads has changed.
    CountsRounds {
        /// Which thread.
        thread: String,
        /// Where it waits.
        place: String,
    },
    /// A task waits for something that the library does not control: its waker was given away by code
    /// that made no step.
    Awaits {
        /// Where the task is performed.
        place: String,
    },
    /// An object that another execution has made is used: it has outlived that, in a static for example.
    Outlives {
        /// Which object.
        object: String,
    },
    /// The code under test has blocked the operating system thread in every execution that was repeated.
    Blocks,
    /// The code under test has started an operating system thread.
    OtherThreads,
}

impl fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::NothingFinished => write!(formatter, "no execution has come to its end"),
            Doubt::Cut { executions: 1, steps } => {
                write!(formatter, "an execution was cut after {steps} steps")
            }
            Doubt::Cut { executions, steps } => {
                write!(formatter, "{executions} executions were cut after {steps} steps each")
            }
            Doubt::NoStep { thread } => {
                write!(formatter, "{thread} has done nothing that strait controls")
            }
            Doubt::Differs { then, now } => write!(
                formatter,
                "an execution went another way when it was repeated\n    first:     {then}\n    \
                 repeated:  {now}"
            ),
            Doubt::Shares { then, now } => write!(
                formatter,
                "an execution went another way when steps that share nothing were made in another \
                 order\n    first:     {then}\n    repeated:  {now}"
            ),
            Doubt::CountsRounds { thread, place } => write!(
                formatter,
                "{thread} stops waiting at {place} although nothing that it reads has changed"
            ),
            Doubt::Awaits { place } => write!(
                formatter,
                "the task at {place} waits for something that strait does not control"
            ),
            Doubt::Outlives { object } => {
                write!(
                    formatter,
                    "{object} is used in another execution than the one that has made it"
                )
            }
            Doubt::Blocks => write!(
                formatter,
                "the code under test blocks in something that strait does not control"
            ),
            Doubt::OtherThreads => {
                write!(
                    formatter,
                    "the code under test has started a thread of the operating system"
                )
            }
        }
    }
}

impl Doubt {
    /// A step that was possible in one execution was not possible when it was repeated.
    fn impossible_step() -> Doubt {
        Doubt::Differs { then: "a step was possible".to_owned(), now: "it was not".to_owned() }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Doubt::NothingFinished | Doubt::Cut { .. } => {
                "A loop probably waits for another thread. Call `strait::hint::spin_loop` or \
                 `strait::thread::yield_now` in it, so that it is recognised, or wait with a blocking \
                 primitive. `Builder::length(n)` cuts executions on purpose."
            }
            Doubt::NoStep { .. } => {
                "Its atomics, locks and channels are not those of `strait`, or it needs no test. Take \
                 `strait::sync` and `strait::thread` instead of `std::sync` and `std::thread`. \
                 `Builder::allow_uncontrolled` accepts it."
            }
            Doubt::Differs { .. } => {
                "The code depends on something that strait does not control: random numbers, the \
                 clock, the order of a `HashMap`, memory that outlives an execution, or std atomics \
                 that several threads share. Take `strait::choose(n)` for random numbers and \
                 `strait::sync` for what is shared. `Builder::allow_uncontrolled` accepts it."
            }
            Doubt::Shares { .. } => {
                "Threads share something that strait does not control: atomics or locks of `std`, \
                 primitives of another crate (such as `tokio::sync`), a `std::thread_local!`, or a \
                 `std::sync::Arc` whose last drop makes steps. Take `strait::sync`, \
                 `strait::thread_local!` and `strait::future`. `Builder::allow_uncontrolled` accepts it."
            }
            Doubt::CountsRounds { .. } => {
                "It counts its rounds where strait does not see it, so rounds were left out that make a \
                 difference. Count in a local variable. `Builder::allow_uncontrolled` accepts it."
            }
            Doubt::Awaits { .. } => {
                "Its waker was given away in a poll that made no step, so what wakes it is not a \
                 primitive of strait: `tokio::sync`, `futures::channel` and the like are not \
                 controlled. Build on `strait::sync` and `strait::future`. \
                 `Builder::allow_uncontrolled` accepts it."
            }
            Doubt::Outlives { .. } => {
                "Executions must not depend on each other. Make what threads share in the program under \
                 test, or keep it in a static of strait: `new_static`, and `strait::sync::LazyLock`, \
                 `OnceLock` and `thread_local!` instead of those of `std`. \
                 `Builder::allow_uncontrolled` accepts it."
            }
            Doubt::Blocks => {
                "It joins a `std::thread`, runs another runtime, or waits for input or time. Take \
                 `strait::thread`, `strait::sync` and `strait::future::block_on`. \
                 `Builder::allow_uncontrolled` accepts it."
            }
            Doubt::OtherThreads => {
                "What that thread does is not part of the search. Take `strait::thread::spawn`. \
                 `Builder::allow_uncontrolled` accepts it."
            }
        }
    }
}

/// At least so many times executions are repeated in other orders, or as they were where there is no other
/// order; some of them several times if there are few.
const REPETITIONS: usize = 8;

impl Builder {
    /// The reason why a search that has found these outcomes proves nothing, if there is one.
    pub(crate) fn doubt(
        &self,
        tested: &ProgramUnderTest<Erased>,
        outcomes: &Outcomes<Erased>,
    ) -> Option<Doubt> {
        self.doubt_length(outcomes).or_else(|| self.doubt_control(tested, outcomes.redundant))
    }

    fn doubt_length(&self, outcomes: &Outcomes<Erased>) -> Option<Doubt> {
        if let Some(steps) = self.unasked_length().filter(|_| outcomes.cut > 0) {
            return Some(Doubt::Cut { executions: outcomes.cut, steps });
        }
        match (outcomes.found.is_empty(), outcomes.redundant) {
            (true, 0) => Some(Doubt::NothingFinished),
            (true, _) => Some(Doubt::impossible_step()),
            (false, _) => None,
        }
    }

    fn doubt_control(&self, tested: &ProgramUnderTest<Erased>, redundant: u64) -> Option<Doubt> {
        let samples = tested.samples.take();
        if self.allows_uncontrolled() {
            return None;
        }
        if let Some(thread) = tested.idle_thread() {
            return Some(Doubt::NoStep { thread });
        }
        if let Some(place) = tested.uncontrolled_task() {
            return Some(Doubt::Awaits { place });
        }
        if let Some(object) = tested.leftover() {
            return Some(Doubt::Outlives { object });
        }
        let (doubt, noticed) = Observer::notices(|| doubt_repeated(tested, &samples));
        if doubt.is_some() {
            return doubt;
        }
        if tested.went_astray() || (redundant > 0 && self.is_optimal()) {
            return Some(Doubt::impossible_step());
        }
        if !noticed || samples.is_empty() {
            return None;
        }
        let mut again = samples.iter().cycle();
        let foreign = Observer::conclude(|| {
            if let Some(sample) = again.next() {
                // That it does the same was seen.
                let _ = tested.execution().repeat(sample);
            }
        });
        foreign.map(|foreign| match foreign {
            Foreign::Blocks => Doubt::Blocks,
            Foreign::Threads => Doubt::OtherThreads,
        })
    }
}

/// Repeats executions as they were and in other ways. Gives the reason why they cannot be trusted, if there
/// is one.
fn doubt_repeated(tested: &ProgramUnderTest<Erased>, samples: &[Sample<Erased>]) -> Option<Doubt> {
    let mut execution = tested.execution();
    let mut acts = Vec::with_capacity(samples.len());
    for number in 0..REPETITIONS.max(samples.len()) {
        let Some(sample) = samples.get(number % samples.len().max(1)) else { break };
        if number < samples.len() {
            match execution.repeat_for_acts(sample) {
                Ok(more) => acts.push(more),
                Err(difference) => return Some(difference.into()),
            }
        }
        let doubt = match &acts[number % samples.len()] {
            Some(acts) => doubt_reordered(&mut execution, sample, acts, number as u64),
            None => execution.repeat(sample).err().map(Doubt::from),
        };
        if doubt.is_some() {
            return doubt;
        }
        if tested.features.has(Feature::Spins) {
            let steps = sample.lines.iter();
            let steps =
                steps.map(|line| Pick { thread: ThreadId(line.thread), choice: line.choice });
            let doubt = doubt_patience(&mut execution, steps);
            if doubt.is_some() {
                return doubt;
            }
        }
    }
    let unfair = tested.samples.take_unfair();
    unfair.iter().find_map(|steps| doubt_patience(&mut execution, steps.iter().copied()))
}

/// Repeats an execution, and lets its loops wait longer.
fn doubt_patience(
    execution: &mut Execution<Erased>,
    steps: impl Iterator<Item = Pick>,
) -> Option<Doubt> {
    let Impatience { thread, place } = execution.repeat_patiently(steps).err()?;
    let place = format!("{}:{}", place.file(), place.line());
    Some(Doubt::CountsRounds { thread, place })
}

/// Repeats an execution in another order. If it differs, it may differ in the same order as well: then
/// the order is not the reason.
fn doubt_reordered(
    execution: &mut Execution<Erased>,
    sample: &Sample<Erased>,
    acts: &[Act],
    number: u64,
) -> Option<Doubt> {
    let Difference { then, now } = execution.repeat_otherwise(sample, acts, number).err()?;
    let differs = (0..REPETITIONS).find_map(|_| execution.repeat(sample).err());
    Some(differs.map_or(Doubt::Shares { then, now }, Doubt::from))
}

impl From<Difference> for Doubt {
    fn from(Difference { then, now }: Difference) -> Self {
        Doubt::Differs { then, now }
    }
}
