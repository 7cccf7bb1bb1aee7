//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized
//! Scheduler with Probabilistic Guarantees of Finding Bugs, 2010).
//!
//! Each thread gets a random priority when it is first seen; the enabled thread of the highest
//! priority runs. At d-1 random steps the priority of the thread about to run drops below all
//! others. A bug of depth d in a program of n threads and k steps is then found with a probability
//! of at least 1/(n·k^(d-1)). The paper is given k; here it is the length of the longest execution
//! drawn so far.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use rustc_hash::FxHashMap;

use crate::draw::{below, stream};
use crate::limits::Limits;
use crate::report::Report;
use crate::sample::{GoOn, Moment, Picker, sample, sample_parallel};
use crate::system::{System, ThreadId};

/// Draws `executions` schedules for bugs of depth `depth` (d: how many orderings have to come
/// together; 1 behaves like random priorities alone). Schedule i of a seed is always the same.
pub fn pct<S: System>(
    system: &S,
    seed: u64,
    executions: u64,
    depth: u32,
    limits: &Limits<'_>,
) -> Report<S::Outcome, S::Action> {
    sample(system, executions, limits, |execution, learnt| {
        Priorities::new(stream(seed, execution), depth, learnt.longest)
    })
}

/// The same schedules as [`pct`], drawn by several OS threads, until `go_on` is false for an outcome.
pub fn pct_parallel<S>(
    system: &S,
    seed: u64,
    executions: u64,
    depth: u32,
    jobs: usize,
    limits: &Limits<'_>,
    go_on: GoOn<'_, S::Outcome>,
) -> Report<S::Outcome, S::Action>
where
    S: System + Clone + Send,
    S::Action: Send,
    S::Outcome: Send,
{
    sample_parallel(system, executions, jobs, limits, go_on, |execution, learnt| {
        Priorities::new(stream(seed, execution), depth, learnt.longest)
    })
}

struct Priorities {
    rng: ChaCha8Rng,
    of: FxHashMap<ThreadId, u64>,
    /// The steps at which a priority drops, the next one last.
    changes: Vec<u64>,
    step: u64,
    /// The next low priority: below all random ones, each lower than those before.
    low: u64,
}

/// Random priorities lie above this, dropped ones below.
const LOWEST_RANDOM: u64 = 1 << 32;

impl Priorities {
    fn new(mut rng: ChaCha8Rng, depth: u32, length: usize) -> Self {
        // k = 0: nothing was learnt yet, so nothing can be placed.
        let changes = if length == 0 { 0 } else { depth.saturating_sub(1) };
        let mut changes: Vec<u64> = (0..changes).map(|_| below(&mut rng, length as u64)).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Priorities { rng, of: FxHashMap::default(), changes, step: 0, low: LOWEST_RANDOM }
    }

    fn first<S: System>(&mut self, system: &S, enabled: &[S::Action]) -> ThreadId {
        let mut best = system.thread(&enabled[0]);
        let mut highest = 0;
        for action in enabled {
            let thread = system.thread(action);
            let rng = &mut self.rng;
            let priority = *self.of.entry(thread).or_insert_with(|| rng.next_u64() | LOWEST_RANDOM);
            if priority > highest {
                (best, highest) = (thread, priority);
            }
        }
        best
    }
}

impl<S: System> Picker<S> for Priorities {
    fn pick(&mut self, moment: &Moment<'_, S>) -> usize {
        let Moment { system, enabled } = *moment;
        let mut thread = self.first(system, enabled);
        while self.changes.last().is_some_and(|&change| change <= self.step) {
            self.changes.pop();
            self.low -= 1;
            self.of.insert(thread, self.low);
            thread = self.first(system, enabled);
        }
        self.step += 1;
        let own = moment.actions_of(thread);
        own[below(&mut self.rng, own.len() as u64) as usize]
    }
}
