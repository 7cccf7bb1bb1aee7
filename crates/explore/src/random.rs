//! Random walks: at each step one of the enabled actions, each equally likely.

use rand_chacha::ChaCha8Rng;

use crate::draw::{below, stream};
use crate::limits::Limits;
use crate::report::Report;
use crate::sample::{GoOn, Moment, Picker, sample, sample_parallel};
use crate::system::System;

/// Draws `executions` random walks. Walk i of a seed is always the same. The coverage counts the
/// walks that came to an end, that is, were not cut by `limits.length`.
pub fn random<S: System>(
    system: &S,
    seed: u64,
    executions: u64,
    limits: &Limits<'_>,
) -> Report<S::Outcome, S::Action> {
    sample(system, executions, limits, |execution, _| Walk(stream(seed, execution)))
}

/// The same walks as [`random`], drawn by several OS threads, until `go_on` is false for an outcome.
pub fn random_parallel<S>(
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
    let picker = |execution, _: &_| Walk(stream(seed, execution));
    sample_parallel(system, executions, jobs, limits, go_on, picker)
}

struct Walk(ChaCha8Rng);

impl<S: System> Picker<S> for Walk {
    fn pick(&mut self, moment: &Moment<'_, S>) -> usize {
        below(&mut self.0, moment.enabled.len() as u64) as usize
    }
}
