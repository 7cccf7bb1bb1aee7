//! Checks of programs that cannot be exhausted: schedules that are drawn, by one of four strategies.
//!
//! Each strategy draws from the executions under the memory model of the [`Builder`]: a schedule says
//! which thread makes the next step and, under RC11, what the step reads. Nothing that is found by
//! sampling is exhaustive, however many schedules were drawn.

use std::fmt;

use strait_explore::{
    GoOn, Limits, Report, pct_parallel, pos_parallel, random_parallel, surw_parallel,
};

use crate::check::{Builder, Strategy};
use crate::erased::Erased;
use crate::outcome::Outcome;
use crate::rt::system::{Act, ProgramUnderTest};

/// How a schedule is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sampler {
    Random,
    Pct { depth: u32 },
    Pos,
    Surw,
}

impl fmt::Display for Sampler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sampler::Random => write!(formatter, "at random"),
            Sampler::Pct { depth } => write!(formatter, "by PCT of depth {depth}"),
            Sampler::Pos => write!(formatter, "by POS"),
            Sampler::Surw => write!(formatter, "by SURW"),
        }
    }
}

/// Which schedules are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sampling {
    pub(crate) sampler: Sampler,
    pub(crate) executions: u64,
    pub(crate) seed: u64,
}

impl fmt::Display for Sampling {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sampling { sampler, executions, seed } = self;
        match sampler {
            Sampler::Random => write!(formatter, "{executions} random schedules of seed {seed}"),
            sampler => write!(formatter, "{executions} schedules {sampler}, seed {seed}"),
        }
    }
}

impl Sampling {
    /// Draws the schedules, until `go_on` is false.
    pub(crate) fn draw(
        self,
        tested: &ProgramUnderTest<Erased>,
        cores: usize,
        limits: &Limits<'_>,
        go_on: GoOn<'_, Outcome<Erased>>,
    ) -> Report<Outcome<Erased>, Act> {
        let Sampling { sampler, executions, seed } = self;
        match sampler {
            Sampler::Random => random_parallel(tested, seed, executions, cores, limits, go_on),
            Sampler::Pct { depth } => {
                pct_parallel(tested, seed, executions, depth, cores, limits, go_on)
            }
            Sampler::Pos => pos_parallel(tested, seed, executions, cores, limits, go_on),
            Sampler::Surw => surw_parallel(tested, seed, executions, cores, limits, go_on),
        }
    }
}

impl Builder {
    /// So many random schedules: each enabled step is equally likely to be the next one.
    pub fn random(self, executions: u64, seed: u64) -> Self {
        self.sampled(Sampler::Random, executions, seed)
    }

    /// So many schedules by probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010), for
    /// bugs that need `depth` orderings to come together.
    pub fn pct(self, executions: u64, depth: u32, seed: u64) -> Self {
        self.sampled(Sampler::Pct { depth }, executions, seed)
    }

    /// So many schedules by partial order sampling (Yuan, Yang, Gu, CAV 2018): random priorities that are
    /// drawn anew after each race, so that the orders of conflicting operations are sampled more evenly
    /// than by random schedules. Needs no parameter and no profile.
    pub fn pos(self, executions: u64, seed: u64) -> Self {
        self.sampled(Sampler::Pos, executions, seed)
    }

    /// So many schedules by selectively uniform random walks (Zhao and others, ASPLOS 2025): all
    /// interleavings of the steps at shared objects are about equally likely, even if some threads are
    /// much longer than others. How long threads are is learnt from the first schedules.
    pub fn surw(self, executions: u64, seed: u64) -> Self {
        self.sampled(Sampler::Surw, executions, seed)
    }

    fn sampled(mut self, sampler: Sampler, executions: u64, seed: u64) -> Self {
        self.strategy = Strategy::Sampled(Sampling { sampler, executions, seed });
        self
    }
}
