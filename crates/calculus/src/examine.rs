//! A program's verdict and outcomes, by whichever engine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use strait_explore::{
    Bounds, Coverage, Found, Interleavings, Limits, Report, StateOptions, bounded, cycles, dpor,
    pct_parallel, pos_parallel, random_parallel, states, surw_parallel,
};

use crate::language::ast::Program;
use crate::machine::action::Action;
use crate::machine::outcome::{Outcome, Verdict};
use crate::machine::program::{Machine, Recording};

/// How to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Every state once.
    States {
        /// With partial-order reduction?
        reduce: bool,
        /// Taking interchangeable processes for equal?
        symmetry: bool,
    },
    /// Every execution up to equivalence, optimally.
    Dpor,
    /// Executions within bounds.
    Bounded(Bounds),
    /// So many random executions.
    Random {
        /// Which.
        seed: u64,
        /// How many.
        runs: u64,
    },
    /// So many executions with random priorities.
    Pct {
        /// Which.
        seed: u64,
        /// How many.
        runs: u64,
        /// The depth of bugs aimed at.
        depth: u32,
    },
    /// So many executions by partial order sampling.
    Pos {
        /// Which.
        seed: u64,
        /// How many.
        runs: u64,
    },
    /// So many selectively uniform random walks.
    Surw {
        /// Which.
        seed: u64,
        /// How many.
        runs: u64,
    },
}

/// What to search for, how, and within which limits.
#[derive(Clone, Debug)]
pub struct ExamineOptions<'a> {
    /// The engine.
    pub engine: Engine,
    /// Should outcomes tell what was seen? Otherwise only how executions end.
    pub outcomes: bool,
    /// Search threads.
    pub threads: usize,
    /// Bytes that the search may use.
    pub memory: usize,
    /// States that the search may visit.
    pub max_states: u64,
    /// Steps that a single execution may have, in the engines that follow executions.
    /// If nothing is said: as many as it takes, or a few hundred if executions may be endless.
    pub max_length: Option<usize>,
    /// Set from outside to end the search early.
    pub stop: Option<&'a AtomicBool>,
    /// How many states, or executions in the engines that follow executions, were seen so far.
    pub progress: Option<&'a AtomicU64>,
}

impl Default for ExamineOptions<'_> {
    fn default() -> Self {
        ExamineOptions {
            engine: Engine::States { reduce: true, symmetry: false },
            outcomes: true,
            threads: 1,
            memory: 2 << 30,
            max_states: u64::MAX,
            max_length: None,
            stop: None,
            progress: None,
        }
    }
}

/// What is known about a program after a search.
#[derive(Debug)]
pub struct Examination {
    /// The worst that can happen, as far as was seen.
    pub verdict: Verdict,
    /// How much that speaks for.
    pub coverage: Coverage,
    /// Each distinct outcome with one way to it.
    pub outcomes: Vec<Found<Outcome, Action>>,
    /// A way to what the verdict says, if that is something wrong. For an endless execution, the way
    /// into the cycle.
    pub trace: Option<Vec<Action>>,
    /// Distinct states visited.
    pub states: u64,
    /// Steps performed.
    pub transitions: u64,
    /// Complete executions, or final states.
    pub executions: u64,
    /// The interleaving coverage, if executions were drawn.
    pub interleavings: Option<Interleavings>,
    /// Bytes used for states.
    pub bytes: usize,
    /// The machine whose actions the traces are made of.
    pub machine: Machine,
}

/// Searches the behaviours of a checked program.
pub fn examine(program: &Program, options: &ExamineOptions<'_>) -> Examination {
    let symmetry = matches!(options.engine, Engine::States { symmetry: true, .. });
    let machine = match options.outcomes {
        true => Machine::for_outcomes(program, symmetry),
        false => Machine::with_symmetry(program, Recording::Nothing, symmetry),
    };
    let by_states = matches!(options.engine, Engine::States { .. });
    if !by_states || machine.code().always_ends {
        let (report, bytes) = search(&machine, options);
        let mut examination = Examination::new(report, bytes, machine);
        examination.judge_outcomes();
        examination.doubt();
        return examination;
    }
    // What is seen in a loop grows forever, but does not matter for the verdict: that comes from
    // the states alone, which are often few.
    let plain = machine.without_recording();
    let (report, bytes) = search(&plain, options);
    let mut examination = Examination::new(report, bytes, plain);
    examination.judge_outcomes();
    examination.judge_cycles(options);
    examination.doubt();
    if options.outcomes {
        examination.add_outcomes(machine, options);
    }
    examination
}

/// The verdict of a checked program, by the reduced search over states, single-threaded.
pub fn verdict(program: &Program) -> (Verdict, Coverage) {
    let options = ExamineOptions { outcomes: false, ..Default::default() };
    let examination = examine(program, &options);
    (examination.verdict, examination.coverage)
}

fn state_options<'a>(options: &ExamineOptions<'a>, reduce: bool) -> StateOptions<'a> {
    StateOptions {
        reduce,
        threads: options.threads,
        memory: options.memory,
        max_states: options.max_states,
        stop: options.stop,
        progress: options.progress,
    }
}

/// How far endless executions are followed by the engines that follow executions.
const ENDLESS: usize = 300;

fn search(machine: &Machine, options: &ExamineOptions<'_>) -> (Report<Outcome, Action>, usize) {
    let tell = |executions| {
        if let Some(progress) = options.progress {
            progress.fetch_max(executions, Ordering::Relaxed);
        }
    };
    let limits = Limits {
        length: Some(match options.max_length {
            Some(length) => length,
            None if machine.code().always_ends => 1_000_000,
            None => ENDLESS,
        }),
        memory: Some(options.memory),
        stop: options.stop,
        progress: Some(&tell),
        ..Limits::default()
    };
    match &options.engine {
        Engine::States { reduce, .. } => {
            let found = states(machine, &state_options(options, *reduce));
            (found.report, found.bytes)
        }
        Engine::Dpor => (dpor(machine, &limits), 0),
        Engine::Bounded(bounds) => (bounded(machine, bounds, &limits), 0),
        Engine::Random { seed, runs } => {
            (random_parallel(machine, *seed, *runs, options.threads, &limits, &|_| true), 0)
        }
        Engine::Pct { seed, runs, depth } => {
            (pct_parallel(machine, *seed, *runs, *depth, options.threads, &limits, &|_| true), 0)
        }
        Engine::Pos { seed, runs } => {
            (pos_parallel(machine, *seed, *runs, options.threads, &limits, &|_| true), 0)
        }
        Engine::Surw { seed, runs } => {
            (surw_parallel(machine, *seed, *runs, options.threads, &limits, &|_| true), 0)
        }
    }
}

impl Examination {
    fn new(report: Report<Outcome, Action>, bytes: usize, machine: Machine) -> Examination {
        Examination {
            verdict: Verdict::Terminates,
            coverage: report.coverage,
            outcomes: report.found,
            trace: None,
            states: report.states,
            transitions: report.transitions,
            executions: report.executions,
            interleavings: report.interleavings,
            bytes,
            machine,
        }
    }

    /// Searches once more for what is seen in executions that end, with a machine that records it.
    /// If that has no end, it is given up after many more states than the verdict took.
    fn add_outcomes(&mut self, machine: Machine, options: &ExamineOptions<'_>) {
        let patience = self.states.saturating_mul(20).saturating_add(100_000);
        let max_states = options.max_states.min(patience);
        let (report, _) = search(&machine, &ExamineOptions { max_states, ..options.clone() });
        if self.coverage == Coverage::Exhaustive {
            self.coverage = match report.coverage {
                Coverage::Bounded(by) => Coverage::Bounded(format!("outcomes: {by}")),
                other => other,
            };
        }
        self.trace = self.trace.take().and_then(|way| self.machine.translate(&way, &machine));
        self.outcomes = report.found;
        self.machine = machine;
    }

    /// The verdict that the outcomes give, and a way to it.
    fn judge_outcomes(&mut self) {
        let worst = self.outcomes.iter().max_by_key(|found| found.outcome.verdict);
        if let Some(worst) = worst.filter(|found| found.outcome.verdict > Verdict::Terminates) {
            self.verdict = worst.outcome.verdict;
            self.trace = Some(worst.trace.clone());
        }
        let limit = self.outcomes.iter().find_map(|found| found.outcome.limit.as_ref());
        if let Some((process, what)) = limit {
            self.coverage = Coverage::Bounded(format!("too many {what} in {process}"));
        }
    }

    /// A search that has left something out and found nothing wrong proves nothing.
    fn doubt(&mut self) {
        if self.verdict == Verdict::Terminates && self.coverage != Coverage::Exhaustive {
            self.verdict = Verdict::Unknown;
        }
    }

    /// What endless executions add.
    fn judge_cycles(&mut self, options: &ExamineOptions<'_>) {
        let found = cycles(&self.machine, &state_options(options, false));
        if self.coverage == Coverage::Exhaustive {
            self.coverage = found.coverage;
        }
        let ways = [
            (Verdict::Leak, found.stuck.map(|(_, way)| way)),
            (Verdict::Diverges, found.divergence),
        ];
        for (verdict, way) in ways {
            if let Some(way) = way.filter(|_| self.verdict < verdict) {
                self.verdict = verdict;
                self.trace = Some(way);
            }
        }
    }
}
