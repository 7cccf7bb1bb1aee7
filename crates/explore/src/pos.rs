//! Partial order sampling (Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018).
//!
//! Each pending event gets a random priority when it becomes pending, and the enabled one of the highest
//! priority is performed (algorithm 1 of the paper, "basic POS"). What makes it POS is that the priorities
//! of the pending events that race with the one that is performed are drawn anew: otherwise an event that
//! has lost one race would be likely to lose the next one too, and some partial orders would come up much
//! less often than others.
//!
//! | paper | here |
//! |---|---|
//! | pending event of a thread | the enabled actions of a thread; one of them is drawn when it is its turn |
//! | priority | [`Priorities::of`] |
//! | events that race | actions that are [dependent](System::dependent) |
//!
//! A pending event that is not enabled keeps its priority: it was drawn anew by the step that has disabled
//! the event, and nothing was compared with it since.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use rustc_hash::FxHashMap;

use crate::draw::{below, stream};
use crate::limits::Limits;
use crate::report::Report;
use crate::sample::{GoOn, Moment, Picker, sample, sample_parallel};
use crate::system::{System, ThreadId};

/// Draws `executions` schedules by partial order sampling. Schedule i of a seed is always the same.
pub fn pos<S: System>(
    system: &S,
    seed: u64,
    executions: u64,
    limits: &Limits<'_>,
) -> Report<S::Outcome, S::Action> {
    sample(system, executions, limits, |execution, _| Priorities::new(stream(seed, execution)))
}

/// The same schedules as [`pos`], drawn by several OS threads, until `go_on` is false for an outcome.
pub fn pos_parallel<S>(
    system: &S,
    seed: u64,
    executions: u64,
    jobs: usize,
    limits: &Limits<'_>,
    go_on: GoOn<'_, S::Outcome>,
) -> Report<S::Outcome, S::Action>
where
    S: System + Clone + Send,
    S::Action: Send,
    S::Outcome: Send,
{
    let picker = |execution, _: &_| Priorities::new(stream(seed, execution));
    sample_parallel(system, executions, jobs, limits, go_on, picker)
}

struct Priorities {
    rng: ChaCha8Rng,
    of: FxHashMap<ThreadId, u64>,
}

impl Priorities {
    fn new(rng: ChaCha8Rng) -> Self {
        Priorities { rng, of: FxHashMap::default() }
    }

    /// The thread whose pending event has the highest priority.
    fn first<S: System>(&mut self, system: &S, enabled: &[S::Action]) -> ThreadId {
        let mut best = (system.thread(&enabled[0]), 0);
        for action in enabled {
            let thread = system.thread(action);
            let rng = &mut self.rng;
            let priority = *self.of.entry(thread).or_insert_with(|| rng.next_u64());
            if priority > best.1 {
                best = (thread, priority);
            }
        }
        best.0
    }
}

impl<S: System> Picker<S> for Priorities {
    fn pick(&mut self, moment: &Moment<'_, S>) -> usize {
        let Moment { system, enabled } = *moment;
        let thread = self.first(system, enabled);
        let own = moment.actions_of(thread);
        let chosen = own[below(&mut self.rng, own.len() as u64) as usize];
        // The events that race with it, and those of the threads that it moves, lose their priorities.
        for action in enabled.iter().filter(|action| system.dependent(&enabled[chosen], action)) {
            self.of.remove(&system.thread(action));
        }
        self.of.retain(|&other, _| !system.involves(&enabled[chosen], other));
        chosen
    }
}
