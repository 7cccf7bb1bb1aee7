//! Performing one schedule again instead of searching: as a question, because `STRAIT_REPLAY` is set,
//! or to make the trace of a failure.

use std::panic::Location;

use strait_explore::{Coverage, Schedule, System, compact, replay, schedule_of};

use crate::check::{Builder, Judge, Value, test_name};
use crate::crash::report_crashes;
use crate::erased::Erased;
use crate::erased::{erased, revived_outcome};
use crate::outcome::Outcome;
use crate::report::{Failure, Found, Origin, Outcomes};
use crate::rt::execution::Program;
use crate::rt::op::Place;
use crate::rt::system::{Act, ProgramUnderTest};
use crate::rt::thread::install_hook;
use crate::script::{Script, ScriptError, Steps};
use crate::trace::Trace;

impl Builder {
    /// Performs one schedule again. Gives its outcome and trace.
    #[track_caller]
    pub fn replay<T: Value>(
        &self,
        script: &str,
        program: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<(Outcome<T>, Trace), ScriptError> {
        let (outcome, trace) = self.performed_again(script, erased(program), Location::caller())?;
        Ok((revived_outcome(outcome), trace))
    }

    pub(crate) fn performed_again(
        &self,
        script: &str,
        program: Program<Erased>,
        place: Place,
    ) -> Result<(Outcome<Erased>, Trace), ScriptError> {
        install_hook();
        report_crashes();
        let script: Script = script.parse()?;
        let mut tested = ProgramUnderTest::new(program, script.model, script.features, place);
        tested.parallelism = self.parallelism;
        let schedule = schedule(&tested, script.steps);
        let mut again = replay(&tested, &schedule)?;
        // Once more if that has shown what transactions touch: the trace is to name it.
        if let Some(more) = tested.knowing_transactions() {
            again = replay(&more, &schedule)?;
            tested = more;
        }
        let outcome = again.outcomes.into_iter().next().ok_or(ScriptError::Empty)?;
        Ok((outcome, trace_of(&tested, &again.trace)))
    }

    pub(crate) fn replayed(
        &self,
        program: Program<Erased>,
        text: &str,
        place: Place,
        is_wrong: Judge<'_>,
    ) -> Result<Outcomes<Erased>, Box<Failure>> {
        let failure = |message, trace, origin| {
            let (search, test) = (format!("the schedule '{}'", text.trim()), test_name());
            Err(Box::new(Failure { message, trace, executions: 1, search, test, origin }))
        };
        match self.performed_again(text, program.clone(), place) {
            Ok((outcome, trace)) if is_wrong(&outcome) => {
                failure(outcome.to_string(), trace, Origin::Replay)
            }
            Ok((outcome, _)) => Ok(Outcomes {
                found: vec![Found { outcome, picks: Vec::new() }],
                coverage: Coverage::Sampled(1),
                model: text.parse::<Script>().map_or(self.model, |script| script.model),
                executions: 1,
                cut: 0,
                steps: 0,
                redundant: 0,
                interleavings: None,
                doubt: None,
            }),
            Err(error) => {
                let trace = self.performed_part(text, program, place);
                failure(error.to_string(), trace, Origin::Misfit)
            }
        }
    }

    /// The schedule to perform instead of searching, if one is given.
    pub(crate) fn only_schedule(&self) -> Option<String> {
        self.only.clone().or_else(|| std::env::var("STRAIT_REPLAY").ok())
    }

    /// Performs the given schedule, if there is one, for a check that compares executions with each
    /// other: whatever comes of this one is shown.
    pub(crate) fn shown_again(&self, program: Program<Erased>, place: Place) -> Option<Failure> {
        let text = self.only_schedule()?;
        self.replayed(program, &text, place, &|_| true).err().map(|failure| *failure)
    }

    /// Performs a schedule as far as it fits.
    fn performed_part(&self, text: &str, program: Program<Erased>, place: Place) -> Trace {
        let Ok(script) = text.parse::<Script>() else { return Trace::default() };
        let mut tested = ProgramUnderTest::new(program, script.model, script.features, place);
        tested.parallelism = self.parallelism;
        let (mut run, mut enabled, mut acts) = (tested.start(), Vec::new(), Vec::new());
        for position in schedule(&tested, script.steps).positions {
            tested.enabled(&mut run, &mut enabled);
            let Some(act) = enabled.get(position as usize) else { break };
            tested.step(&mut run, act);
            acts.push(act.clone());
        }
        trace_of(&tested, &acts)
    }
}

/// The steps by their positions; as far as they are possible.
fn schedule(tested: &ProgramUnderTest<Erased>, steps: Steps) -> Schedule {
    let births = match steps {
        Steps::Positions(schedule) => return schedule,
        Steps::Births(births) => births,
    };
    let (mut run, mut enabled, mut positions) = (tested.start(), Vec::new(), Vec::new());
    for (birth, choice) in births {
        tested.enabled(&mut run, &mut enabled);
        let is_it = |act: &Act| {
            run.world().births[act.pick.thread.0 as usize] == birth && act.pick.choice == choice
        };
        let Some(position) = enabled.iter().position(is_it) else { break };
        positions.push(position as u32);
        tested.step(&mut run, &enabled[position]);
    }
    Schedule { positions }
}

/// The replay string of these steps.
pub(crate) fn script_of(tested: &ProgramUnderTest<Erased>, acts: &[Act]) -> Script {
    let schedule = schedule_of(tested, acts).unwrap_or_default();
    Script { model: tested.model, features: tested.features, steps: Steps::Positions(schedule) }
}

/// Performs the steps again, with a log.
pub(crate) fn trace_of(tested: &ProgramUnderTest<Erased>, acts: &[Act]) -> Trace {
    let mut execution = tested.execution();
    execution.keep_log();
    execution.start();
    for act in acts {
        execution.go(act.pick.thread, act.pick.choice);
    }
    let lines = Trace::lines_of(execution.world());
    let compact = compact(tested, acts).unwrap_or_default();
    Trace { lines, compact, replay: script_of(tested, acts).to_string() }
}
