//! Checking a program: which search, within which limits, and what comes of it.

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZero;
use std::panic::Location;
use std::time::{Duration, Instant};

use strait_explore::{
    Bounds, Coverage, Effort, Limits, Pick, Report, Workers, bounded, optimal, optimal_parallel,
    relaxed, simplify,
};

use crate::crash::report_crashes;
use crate::erased::{Erased, erased, revived, revived_outcome};
use crate::outcome::Outcome;
use crate::replay::{script_of, trace_of};
use crate::report::{Failure, Found, Origin, Outcomes};
use crate::rt::execution::{Execution, Program};
use crate::rt::features::{Feature, Features};
use crate::rt::memory::Model;
use crate::rt::op::Place;
use crate::rt::system::{Act, ProgramUnderTest, TWO};
use crate::rt::thread::install_hook;
use crate::sampling::Sampling;
use crate::trace::Trace;
use crate::watchdog::watch_this_thread;

/// What a program under test may give: something to compare and to show.
pub trait Value: Clone + Eq + Hash + Debug + Send + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + 'static> Value for T {}

/// Which executions are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strategy {
    /// One for each equivalence class.
    Every,
    /// Those within the bounds.
    Bounded,
    /// Those that are drawn.
    Sampled(Sampling),
}

/// How to search. The default is every execution under RC11.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(crate) model: Model,
    pub(crate) strategy: Strategy,
    bounds: Bounds,
    executions: Option<u64>,
    duration: Option<Duration>,
    /// After how many steps executions are cut, if the caller has said so.
    length: Option<usize>,
    /// After how many steps executions are taken to be endless, if the caller has not said when to cut.
    longest: usize,
    memory: Option<usize>,
    cores: usize,
    pub(crate) parallelism: NonZero<usize>,
    effort: Effort,
    uncontrolled: bool,
    spurious_polls: bool,
    pub(crate) only: Option<String>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            model: Model::default(),
            strategy: Strategy::Every,
            bounds: Bounds::default(),
            executions: None,
            duration: None,
            length: None,
            longest: LENGTH,
            memory: None,
            cores: 1,
            parallelism: TWO,
            effort: Effort::default(),
            uncontrolled: false,
            spurious_polls: false,
            only: None,
        }
    }
}

/// The bounds of Déjà Fu, Haskell 2015 (section 4.1), when bounding is chosen.
const PREEMPTIONS: u32 = 2;
const FAIR: u32 = 5;

/// Longer executions are taken to be endless, unless the caller has named a length.
const LENGTH: usize = 100_000;

impl Builder {
    /// Every execution under RC11.
    pub fn new() -> Self {
        Self::default()
    }

    /// Under which memory model.
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// Only schedules with at most 2 pre-emptions in which no thread yields more than 5 times more
    /// often than another that could go on: the defaults of Déjà Fu, Haskell 2015.
    pub fn bounded(self) -> Self {
        self.preemptions(PREEMPTIONS).fair(FAIR)
    }

    /// Only schedules in which a thread that could go on is left at most so many times.
    pub fn preemptions(mut self, bound: u32) -> Self {
        self.strategy = Strategy::Bounded;
        self.bounds.preemptions = Some(bound);
        self
    }

    /// Only schedules in which no thread yields so many times more often than another that could go
    /// on. Makes loops that wait by yielding finite.
    pub fn fair(mut self, bound: u32) -> Self {
        self.strategy = Strategy::Bounded;
        self.bounds.fair = Some(bound);
        self
    }

    /// Only schedules that differ at most so many times from the deterministic one.
    pub fn delays(mut self, bound: u32) -> Self {
        self.strategy = Strategy::Bounded;
        self.bounds.delays = Some(bound);
        self
    }

    /// Stops after so many executions, and says so.
    pub fn executions(mut self, limit: u64) -> Self {
        self.executions = Some(limit);
        self
    }

    /// Stops after the first execution that ends later than this, and says so. How much is searched then
    /// depends on the machine.
    pub fn duration(mut self, limit: Duration) -> Self {
        self.duration = Some(limit);
        self
    }

    /// Cuts executions after so many steps, and says so. Without this, a check fails when an execution
    /// takes more than 100,000 steps.
    pub fn length(mut self, limit: usize) -> Self {
        self.length = Some(limit);
        self
    }

    /// Lets executions take so many steps before the check fails; 100,000 unless this says something else.
    pub fn longest(mut self, steps: usize) -> Self {
        self.longest = steps;
        self
    }

    /// Stops before what is remembered takes more bytes than this, and says so.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Searches every schedule, or draws schedules, on so many cores; the default is one, since
    /// test runners use the others for other tests. The outcomes are the same on any number. A
    /// program that uses objects made outside of it, such as statics, is searched on one core.
    pub fn cores(mut self, cores: usize) -> Self {
        self.cores = cores.max(1);
        self
    }

    /// Checks perform only this schedule, which a failure has printed, instead of searching: the same
    /// as setting `STRAIT_REPLAY`, for one check. It is a failure if the schedule does not fit.
    pub fn only(mut self, schedule: impl Into<String>) -> Self {
        self.only = Some(schedule.into());
        self
    }

    /// Accepts code under test that the library does not control: threads that make no step, threads
    /// and blocking of the operating system, executions that go another way when they are repeated.
    /// Then nothing is known about what such code does in other schedules.
    pub fn allow_uncontrolled(mut self) -> Self {
        self.uncontrolled = true;
        self
    }

    /// Lets [`crate::future::block_on`] and each spawned task poll its future once although it was not
    /// woken, as executors may: a future that takes a second poll for a sign that it is ready is wrong.
    /// Whether and after which pending poll that happens is part of the search, which takes at least one
    /// more execution for each pending poll.
    pub fn spurious_polls(mut self) -> Self {
        self.spurious_polls = true;
        self
    }

    /// The features that are on from the start.
    fn features(&self) -> Features {
        match self.spurious_polls {
            true => Features::default().with(Feature::SpuriousPolls),
            false => Features::default(),
        }
    }

    /// Is code accepted that the library does not control?
    pub(crate) fn allows_uncontrolled(&self) -> bool {
        self.uncontrolled
    }

    /// Does the search begin no execution in vain?
    pub(crate) fn is_optimal(&self) -> bool {
        self.strategy == Strategy::Every
    }

    /// The length after which executions are cut without the caller having asked for it. Drawn schedules
    /// may be as long as they like: some are unfair.
    pub(crate) fn unasked_length(&self) -> Option<usize> {
        let searches = matches!(self.strategy, Strategy::Every | Strategy::Bounded);
        (searches && self.length.is_none()).then_some(self.longest)
    }

    /// What `thread::available_parallelism` gives under test (the number of capabilities in paper
    /// 002). The default is 2, so that results do not depend on the machine.
    pub fn parallelism(mut self, threads: NonZero<usize>) -> Self {
        self.parallelism = threads;
        self
    }

    /// The strategy if schedules are drawn, and under which memory model.
    pub(crate) fn sampling(&self) -> Option<(Sampling, Model)> {
        match self.strategy {
            Strategy::Sampled(sampling) => Some((sampling, self.model)),
            Strategy::Every | Strategy::Bounded => None,
        }
    }

    fn limits(&self) -> Limits<'static> {
        Limits {
            executions: self.executions,
            length: Some(self.length.unwrap_or(self.longest)),
            stop_when_cut: self.unasked_length().is_some(),
            memory: self.memory,
            deadline: self.duration.map(|limit| Instant::now() + limit),
            ..Limits::default()
        }
    }

    /// What is searched for, in words.
    pub(crate) fn describe(&self) -> String {
        let which = match self.strategy {
            Strategy::Every => "every schedule".to_owned(),
            Strategy::Bounded => format!("schedules with {}", self.bounds),
            Strategy::Sampled(sampling) => sampling.to_string(),
        };
        let polls = if self.spurious_polls { " with spurious polls" } else { "" };
        format!("{which} under {}{polls}", self.model)
    }

    /// All outcomes of the program, failures included.
    #[track_caller]
    pub fn outcomes<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> Outcomes<T> {
        revived(self.search(erased(program), Location::caller(), &|_| true).0)
    }

    /// The set of values that the program gives, sorted, each as `Ok`, and failures as text. If the set
    /// cannot be trusted (see [`crate::Doubt`]), the reason is one of them.
    #[track_caller]
    pub fn results<T: Value + Ord>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> Vec<Result<T, String>> {
        let Outcomes { found, doubt, .. } = self.outcomes(program);
        let result = |found: Found<T>| match found.outcome {
            Outcome::Value(value) => Ok(value),
            failure => Err(failure.to_string()),
        };
        let doubt = doubt.map(|doubt| Err(doubt.to_string()));
        let mut results: Vec<_> = found.into_iter().map(result).chain(doubt).collect();
        results.sort();
        results
    }

    /// Checks that no execution fails: no panic of a thread that is not joined, no deadlock, no data race, no leak.
    /// Panics with a report otherwise. With `STRAIT_REPLAY` set, only that schedule is performed.
    #[track_caller]
    pub fn check<T: Value>(&self, program: impl Fn() -> T + Send + Sync + 'static) -> Outcomes<T> {
        match self.try_check(program) {
            Ok(outcomes) => outcomes,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// As [`Builder::check`], with the failure as a value.
    #[track_caller]
    pub fn try_check<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<Outcomes<T>, Box<Failure>> {
        let place = Location::caller();
        let found = self.look_for(erased(program), place, &Outcome::is_failure);
        let outcomes =
            found.inspect_err(|failure| self.summarise_failure(failure.executions, place))?;
        if let Some(failure) = self.doubtful(&outcomes) {
            self.summarise_failure(failure.executions, place);
            return Err(Box::new(failure));
        }
        self.summarise(&outcomes, place);
        Ok(revived(outcomes))
    }

    /// The simplest way to an outcome.
    #[track_caller]
    pub fn trace<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
        wanted: impl Fn(&Outcome<T>) -> bool + Sync,
    ) -> Option<Trace> {
        let is_it = |outcome: &Outcome<Erased>| wanted(&revived_outcome(outcome.clone()));
        let found = self.look_for(erased(program), Location::caller(), &is_it);
        found.err().map(|failure| failure.trace)
    }

    /// Looks for an outcome that is wrong; the search stops at the first one.
    fn look_for(
        &self,
        program: Program<Erased>,
        place: Place,
        is_wrong: Judge<'_>,
    ) -> Result<Outcomes<Erased>, Box<Failure>> {
        if let Some(text) = self.only_schedule() {
            return self.replayed(program, &text, place, is_wrong);
        }
        let (outcomes, tested) = self.search(program, place, &|outcome| !is_wrong(outcome));
        if let Some(found) = outcomes.found.iter().find(|found| is_wrong(&found.outcome)) {
            return Err(Box::new(self.failure(&tested, &outcomes, found, is_wrong)));
        }
        Ok(outcomes)
    }

    /// All outcomes, and a way to explain one of them or their absence.
    #[track_caller]
    pub(crate) fn outcomes_and_explanations<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> (Outcomes<T>, Explain) {
        let (outcomes, tested) = self.search(erased(program), Location::caller(), &|_| true);
        let (known, builder) = (outcomes.clone(), self.clone());
        let explain = move |index, message| builder.explanation(&tested, &known, index, message);
        (revived(outcomes), Box::new(explain))
    }

    /// The failure of a check that has found nothing wrong and proves nothing.
    pub(crate) fn doubtful<T>(&self, outcomes: &Outcomes<T>) -> Option<Failure> {
        let doubt = outcomes.doubt.as_ref()?;
        Some(Failure {
            message: doubt.to_string(),
            trace: Trace::default(),
            executions: outcomes.executions,
            search: self.describe(),
            test: test_name(),
            origin: Origin::Doubt(doubt.remedy()),
        })
    }

    fn explanation(
        &self,
        tested: &ProgramUnderTest<Erased>,
        known: &Outcomes<Erased>,
        index: Option<usize>,
        message: String,
    ) -> Failure {
        let Some(index) = index else {
            return Failure {
                message,
                trace: Trace::default(),
                executions: known.executions,
                search: self.describe(),
                test: test_name(),
                origin: Origin::Search,
            };
        };
        let found = &known.found[index];
        let failure = self.failure(tested, known, found, &|outcome| *outcome == found.outcome);
        Failure { message, ..failure }
    }

    /// Performs `setup` at the beginning of each execution, hands its result to the program, and
    /// gives both to `teardown` at the end; checks as [`Builder::check`] does.
    #[track_caller]
    pub fn check_between<S, R, T: Value>(
        &self,
        setup: impl Fn() -> S + Send + Sync + 'static,
        program: impl Fn(&S) -> R + Send + Sync + 'static,
        teardown: impl Fn(S, R) -> T + Send + Sync + 'static,
    ) -> Outcomes<T> {
        self.check(move || {
            let state = setup();
            let result = program(&state);
            teardown(state, result)
        })
    }

    fn failure(
        &self,
        tested: &ProgramUnderTest<Erased>,
        outcomes: &Outcomes<Erased>,
        found: &Found<Erased>,
        is_wrong: &dyn Fn(&Outcome<Erased>) -> bool,
    ) -> Failure {
        // A deadlock stays a deadlock, a panic a panic: simpler, but the same fault.
        let same =
            |outcome: &Outcome<Erased>| is_wrong(outcome) && outcome.resembles(&found.outcome);
        if tested.leaves_atomics()
            && let Some(failure) = self.sequential_failure(tested, &same)
        {
            let (executions, search) = (outcomes.executions, self.describe());
            return Failure { executions, search, ..failure };
        }
        let acts = tested.acts(&found.picks);
        let acts = simplify(tested, &acts, same, &self.effort).unwrap_or(acts);
        // What is shown is what a replay will show, down to the numbers of threads: those of the
        // search depend on the order in which it has met them.
        let script = script_of(tested, &acts).to_string();
        let again = self.performed_again(&script, tested.program.clone(), tested.place);
        let (outcome, trace) =
            again.unwrap_or_else(|_| (found.outcome.clone(), trace_of(tested, &acts)));
        Failure {
            message: outcome.to_string(),
            trace,
            executions: outcomes.executions,
            search: self.describe(),
            test: test_name(),
            origin: Origin::Search,
        }
    }

    /// The same failure under sequential consistency, if it is found there soon: no value is old then, which
    /// is easier to understand.
    fn sequential_failure(
        &self,
        tested: &ProgramUnderTest<Erased>,
        same: &dyn Fn(&Outcome<Erased>) -> bool,
    ) -> Option<Failure> {
        const EXECUTIONS: u64 = 10_000;
        let Builder { effort, spurious_polls, .. } = *self;
        let builder = Builder { effort, spurious_polls, ..Builder::default() };
        let builder = builder.model(Model::Sc).executions(EXECUTIONS).allow_uncontrolled();
        let builder = builder.parallelism(self.parallelism);
        let program = tested.program.clone();
        let (outcomes, sequential) = builder.search(program, tested.place, &|_| true);
        let found = outcomes.found.iter().find(|found| same(&found.outcome))?;
        Some(builder.failure(&sequential, &outcomes, found, same))
    }

    /// Searches until done or until an outcome is not to be gone on after. Begins anew when the
    /// program turns out to need a feature that is off.
    fn search(
        &self,
        program: Program<Erased>,
        place: Place,
        go_on: Judge<'_>,
    ) -> (Outcomes<Erased>, ProgramUnderTest<Erased>) {
        install_hook();
        report_crashes();
        watch_this_thread(Some(test_name().unwrap_or_else(|| "a check".to_owned())));
        let mut tested = ProgramUnderTest::new(program, self.model, self.features(), place);
        tested.parallelism = self.parallelism;
        let mut builder = self.clone();
        loop {
            let report = builder.once(&tested, go_on);
            if builder.cores > 1 && tested.met_outside() {
                // Executions that go on at the same time have got in each other's way.
                builder.cores = 1;
                tested = tested.satisfied().unwrap_or_else(|| tested.anew());
                continue;
            }
            match tested.satisfied() {
                Some(more) => tested = more,
                None => {
                    let outcomes = self.trusted(&tested, Outcomes::of(report, self.model), go_on);
                    return (outcomes, tested);
                }
            }
        }
    }

    /// The outcomes with the reason why they prove nothing, if there is one.
    fn trusted(
        &self,
        tested: &ProgramUnderTest<Erased>,
        mut outcomes: Outcomes<Erased>,
        go_on: Judge<'_>,
    ) -> Outcomes<Erased> {
        if !outcomes.found.iter().all(|found| go_on(&found.outcome)) {
            return outcomes;
        }
        if let Some(reason) = tested.leaves_out().filter(|_| outcomes.is_exhaustive()) {
            outcomes.coverage = Coverage::Bounded(reason.to_owned());
        }
        outcomes.doubt = self.doubt(tested, &outcomes);
        if let Some(doubt) = outcomes.doubt.as_ref().filter(|_| outcomes.is_exhaustive()) {
            outcomes.coverage = Coverage::Bounded(doubt.to_string());
        }
        outcomes
    }

    /// Searches every schedule on several cores.
    fn every_on_cores(
        &self,
        tested: &ProgramUnderTest<Erased>,
        go_on: Judge<'_>,
    ) -> Report<Outcome<Erased>, Pick> {
        let visit = |execution: &Execution<Erased>, outcome: &Outcome<Erased>| {
            let world = execution.world();
            tested.take_up(world);
            !world.outside && !world.lacks() && go_on(outcome)
        };
        let workers = Workers::new(self.cores);
        optimal_parallel(|| tested.searched(), workers, &self.limits(), visit)
    }

    fn once(
        &self,
        tested: &ProgramUnderTest<Erased>,
        go_on: Judge<'_>,
    ) -> Report<Outcome<Erased>, Pick> {
        let limits = self.limits();
        let report = match self.strategy {
            Strategy::Every if self.cores > 1 && !tested.leaves_atomics() => {
                return self.every_on_cores(tested, go_on);
            }
            Strategy::Every => {
                let mut execution = tested.searched();
                let visit = |execution: &Execution<Erased>, outcome: &Outcome<Erased>| {
                    !execution.world().lacks() && go_on(outcome)
                };
                let report = match tested.leaves_atomics() {
                    true => relaxed(&mut execution, &limits, visit),
                    false => optimal(&mut execution, &limits, visit),
                };
                tested.take_up(execution.world());
                return report;
            }
            Strategy::Bounded => bounded(tested, &self.bounds, &limits),
            Strategy::Sampled(sampling) => {
                let go_on = |outcome: &_| !tested.is_lacking() && go_on(outcome);
                sampling.draw(tested, self.cores, &limits, &go_on)
            }
        };
        picked(report)
    }
}

fn picked<Outcome>(report: Report<Outcome, Act>) -> Report<Outcome, Pick> {
    let picks = |trace: Vec<Act>| trace.into_iter().map(|act| act.pick).collect();
    Report {
        found: report
            .found
            .into_iter()
            .map(|found| strait_explore::Found {
                outcome: found.outcome,
                trace: picks(found.trace),
            })
            .collect(),
        coverage: report.coverage,
        states: report.states,
        transitions: report.transitions,
        executions: report.executions,
        cut: report.cut,
        redundant: report.redundant,
        interleavings: report.interleavings,
    }
}

/// Makes the report about the outcome with a number, or about what is missing.
pub(crate) type Explain = Box<dyn Fn(Option<usize>, String) -> Failure>;

/// Decides about an outcome.
pub(crate) type Judge<'j> = &'j (dyn Fn(&Outcome<Erased>) -> bool + Sync);

/// The test that is running: test runners name their threads after it.
pub(crate) fn test_name() -> Option<String> {
    std::thread::current().name().filter(|name| *name != "main").map(str::to_owned)
}
