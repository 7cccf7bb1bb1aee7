//! Checking a program: which search, within which limits, and what comes of it.

use std::fmt::Debug;
use std::hash::Hash;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use strait_explore::{
    Bounds, Coverage, Effort, Limits, Pick, Report, bounded, compact, optimal, optimal_parallel,
    pct, random, replay, schedule_of, simplify,
};

use crate::outcome::Outcome;
use crate::report::{Failure, Found, Outcomes};
use crate::rt::execution::{Execution, Program};
use crate::rt::features::Features;
use crate::rt::memory::Model;
use crate::rt::op::Place;
use crate::rt::system::{Act, Tested};
use crate::rt::thread::install_hook;
use crate::script::{Script, ScriptError};
use crate::trace::Trace;

/// What a program under test may give: something to compare and to show.
pub trait Value: Clone + Eq + Hash + Debug + Send + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + 'static> Value for T {}

/// Which executions are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strategy {
    /// One for each equivalence class.
    Every,
    /// Those within the bounds.
    Bounded,
    Random {
        executions: u64,
        seed: u64,
    },
    Pct {
        executions: u64,
        depth: u32,
        seed: u64,
    },
}

/// How to search. The default is every schedule under total store order.
#[derive(Clone, Debug)]
pub struct Builder {
    model: Model,
    strategy: Strategy,
    bounds: Bounds,
    jobs: usize,
    executions: Option<u64>,
    length: Option<usize>,
    memory: Option<usize>,
    effort: Effort,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            model: Model::default(),
            strategy: Strategy::Every,
            bounds: Bounds::default(),
            jobs: 1,
            executions: None,
            length: Some(100_000),
            memory: None,
            effort: Effort::default(),
        }
    }
}

/// The bounds of paper 002 (section 4.1), when bounding is chosen.
const PREEMPTIONS: u32 = 2;
const FAIR: u32 = 5;

impl Builder {
    /// Every schedule, total store order.
    pub fn new() -> Self {
        Self::default()
    }

    /// Under which memory model.
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// Only schedules with at most 2 pre-emptions in which no thread yields more than 5 times more
    /// often than another that could go on: the defaults of paper 002.
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

    /// So many random schedules.
    pub fn random(mut self, executions: u64, seed: u64) -> Self {
        self.strategy = Strategy::Random { executions, seed };
        self
    }

    /// So many schedules by probabilistic concurrency testing, for bugs that need `depth` orderings
    /// to come together.
    pub fn pct(mut self, executions: u64, depth: u32, seed: u64) -> Self {
        self.strategy = Strategy::Pct { executions, depth, seed };
        self
    }

    /// On so many operating system threads.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Stops after so many executions, and says so.
    pub fn executions(mut self, limit: u64) -> Self {
        self.executions = Some(limit);
        self
    }

    /// Cuts executions after so many steps, and says so. The default is 100,000.
    pub fn length(mut self, limit: usize) -> Self {
        self.length = Some(limit);
        self
    }

    /// Stops before what is remembered takes more bytes than this, and says so.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    fn limits(&self) -> Limits<'static> {
        Limits {
            executions: self.executions,
            length: self.length,
            memory: self.memory,
            ..Limits::default()
        }
    }

    /// What is searched for, in words.
    fn describe(&self) -> String {
        let which = match self.strategy {
            Strategy::Every => "every schedule".to_owned(),
            Strategy::Bounded => format!("schedules with {}", self.bounds),
            Strategy::Random { executions, seed } => {
                format!("{executions} random schedules of seed {seed}")
            }
            Strategy::Pct { executions, depth, seed } => {
                format!("{executions} schedules by PCT of depth {depth}, seed {seed}")
            }
        };
        format!("{which} under {:?}", self.model)
    }

    /// All outcomes of the program, failures included.
    #[track_caller]
    pub fn outcomes<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> Outcomes<T> {
        let program: Program<T> = Arc::new(program);
        self.search(program, Location::caller(), |_| true).0
    }

    /// Checks that no execution fails: no panic that nobody sees, no deadlock, no data race, no leak.
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
        self.try_check_that(program, Outcome::is_failure)
    }

    /// Looks for an outcome that is wrong; the search stops at the first one.
    #[track_caller]
    pub(crate) fn try_check_that<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
        is_wrong: impl Fn(&Outcome<T>) -> bool + Sync,
    ) -> Result<Outcomes<T>, Box<Failure>> {
        let (program, place): (Program<T>, _) = (Arc::new(program), Location::caller());
        if let Ok(text) = std::env::var("STRAIT_REPLAY") {
            return self.replayed(program, &text, place, &is_wrong);
        }
        let (outcomes, tested) = self.search(program, place, |outcome| !is_wrong(outcome));
        match outcomes.found.iter().find(|found| is_wrong(&found.outcome)) {
            None => Ok(outcomes),
            Some(found) => Err(Box::new(self.failure(&tested, &outcomes, found, &is_wrong))),
        }
    }

    /// Performs one schedule again. Gives its outcome and trace.
    #[track_caller]
    pub fn replay<T: Value>(
        &self,
        script: &str,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<(Outcome<T>, Trace), ScriptError> {
        install_hook();
        let script: Script = script.parse()?;
        let place = Location::caller();
        let program: Program<T> = Arc::new(program);
        let tested = Tested::new(program, script.model, script.features, place);
        let again = replay(&tested, &script.schedule)?;
        let Some(outcome) = again.outcomes.into_iter().next() else {
            return Err(ScriptError::Empty);
        };
        let trace = trace_of(&tested, &again.trace);
        Ok((outcome, trace))
    }

    fn replayed<T: Value>(
        &self,
        program: Program<T>,
        text: &str,
        place: Place,
        is_wrong: &impl Fn(&Outcome<T>) -> bool,
    ) -> Result<Outcomes<T>, Box<Failure>> {
        let again = self.replay(text, move || program());
        let failure = |message, trace| {
            let (search, test) = (format!("the schedule {text}"), test_name());
            Err(Box::new(Failure { message, trace, executions: 1, search, test }))
        };
        let _ = place;
        match again {
            Ok((outcome, trace)) if is_wrong(&outcome) => failure(outcome.to_string(), trace),
            Ok((outcome, _)) => Ok(Outcomes {
                found: vec![Found { outcome, picks: Vec::new() }],
                coverage: Coverage::Sampled(1),
                executions: 1,
                steps: 0,
                redundant: 0,
            }),
            Err(error) => failure(error.to_string(), Trace::default()),
        }
    }

    /// The simplest way to an outcome.
    #[track_caller]
    pub fn trace<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
        wanted: impl Fn(&Outcome<T>) -> bool + Sync,
    ) -> Option<Trace> {
        self.try_check_that(program, wanted).err().map(|failure| failure.trace)
    }

    /// All outcomes, and a way to explain one of them or their absence.
    #[track_caller]
    pub(crate) fn outcomes_and_explanations<T: Value>(
        &self,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> (Outcomes<T>, impl Fn(Option<usize>, String) -> Failure) {
        let program: Program<T> = Arc::new(program);
        let (outcomes, tested) = self.search(program, Location::caller(), |_| true);
        let (known, builder) = (outcomes.clone(), self.clone());
        let explain = move |index: Option<usize>, message: String| match index {
            Some(index) => {
                let found = &known.found[index];
                let mut failure =
                    builder.failure(&tested, &known, found, &|outcome| *outcome == found.outcome);
                failure.message = message;
                failure
            }
            None => Failure {
                message,
                trace: Trace::default(),
                executions: known.executions,
                search: builder.describe(),
                test: test_name(),
            },
        };
        (outcomes, explain)
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

    fn failure<T: Value>(
        &self,
        tested: &Tested<T>,
        outcomes: &Outcomes<T>,
        found: &Found<T>,
        is_wrong: &impl Fn(&Outcome<T>) -> bool,
    ) -> Failure {
        let acts = tested.acts(&found.picks);
        // A deadlock stays a deadlock, a panic a panic: simpler, but the same fault.
        let same = |outcome: &Outcome<T>| is_wrong(outcome) && outcome.resembles(&found.outcome);
        let acts = simplify(tested, &acts, same, &self.effort).unwrap_or(acts);
        let again = outcome_of(tested, &acts).unwrap_or_else(|| found.outcome.clone());
        Failure {
            message: again.to_string(),
            trace: trace_of(tested, &acts),
            executions: outcomes.executions,
            search: self.describe(),
            test: test_name(),
        }
    }

    /// Searches until done or until an outcome is not to be gone on after. Begins anew when the
    /// program turns out to need a feature that is off.
    fn search<T: Value>(
        &self,
        program: Program<T>,
        place: Place,
        go_on: impl Fn(&Outcome<T>) -> bool + Sync,
    ) -> (Outcomes<T>, Tested<T>) {
        install_hook();
        let mut tested = Tested::new(program, self.model, Features::default(), place);
        loop {
            let (report, features) = self.once(&tested, &go_on);
            if !features.lacks() {
                return (outcomes(report), tested);
            }
            let program = tested.program.clone();
            tested = Tested::new(program, self.model, features.satisfied(), place);
        }
    }

    fn once<T: Value>(
        &self,
        tested: &Tested<T>,
        go_on: &(impl Fn(&Outcome<T>) -> bool + Sync),
    ) -> (Report<Outcome<T>, Pick>, Features) {
        let limits = self.limits();
        let report = match self.strategy {
            Strategy::Every if self.jobs > 1 => {
                if let Some(done) = self.once_in_parallel(tested, go_on) {
                    return done;
                }
                return Builder { jobs: 1, ..self.clone() }.once(tested, go_on);
            }
            Strategy::Every => {
                let mut execution = tested.execution();
                let report = optimal(&mut execution, &limits, |execution, outcome| {
                    !execution.world().features.lacks() && go_on(outcome)
                });
                return (report, execution.world().features);
            }
            Strategy::Bounded => bounded(tested, &self.bounds, &limits),
            Strategy::Random { executions, seed } => random(tested, seed, executions, &limits),
            Strategy::Pct { executions, depth, seed } => {
                pct(tested, seed, executions, depth, &limits)
            }
        };
        (picked(report), tested.wanted())
    }

    /// The search on several operating system threads; `None` if the program uses objects that were
    /// made outside, which executions at the same time would share.
    fn once_in_parallel<T: Value>(
        &self,
        tested: &Tested<T>,
        go_on: &(impl Fn(&Outcome<T>) -> bool + Sync),
    ) -> Option<(Report<Outcome<T>, Pick>, Features)> {
        let seen = Mutex::new((Features::default(), false));
        let maker = tested.maker();
        let make = || maker.execution();
        let visit = |execution: &Execution<T>, outcome: &Outcome<T>| {
            let world = execution.world();
            if world.features.lacks() || world.outside {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                *seen = (seen.0.or(world.features), seen.1 || world.outside);
                return false;
            }
            go_on(outcome)
        };
        let report = optimal_parallel(&make, self.jobs, &self.limits(), &visit);
        let (features, outside) = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        (!outside).then_some((report, features.or(tested.features)))
    }
}

fn outcomes<T>(report: Report<Outcome<T>, Pick>) -> Outcomes<T> {
    let found = report.found.into_iter();
    Outcomes {
        found: found.map(|found| Found { outcome: found.outcome, picks: found.trace }).collect(),
        coverage: report.coverage,
        executions: report.executions,
        steps: report.transitions,
        redundant: report.redundant,
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
        redundant: report.redundant,
    }
}

fn outcome_of<T: Value>(tested: &Tested<T>, acts: &[Act]) -> Option<Outcome<T>> {
    let schedule = schedule_of(tested, acts).ok()?;
    replay(tested, &schedule).ok()?.outcomes.into_iter().next()
}

/// Performs the steps again, with a log.
fn trace_of<T: Value>(tested: &Tested<T>, acts: &[Act]) -> Trace {
    let mut execution = tested.execution();
    execution.keep_log();
    execution.start();
    for act in acts {
        execution.go(act.pick.thread, act.pick.choice);
    }
    let lines = Trace::lines_of(execution.world());
    let schedule = schedule_of(tested, acts).unwrap_or_default();
    let script = Script { model: tested.model, features: tested.features, schedule };
    let compact = compact(tested, acts).unwrap_or_default();
    Trace { lines, compact, replay: script.to_string() }
}

/// The test that is running: test runners name their threads after it.
fn test_name() -> Option<String> {
    std::thread::current().name().filter(|name| *name != "main").map(str::to_owned)
}
