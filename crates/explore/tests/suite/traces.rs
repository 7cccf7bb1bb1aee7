//! What is done with a trace: schedules as text, replay, the compact form, simplification.

use crate::common::draw::{self, Flavour};
use crate::common::{Case, Op, Toy};
use strait_explore::{
    Effort, Limits, Schedule, ScheduleError, compact, complexity, dpor, random, replay,
    schedule_of, simplify,
};

#[test]
fn schedules_are_read_and_written() {
    for (text, positions) in [
        ("", vec![]),
        ("0", vec![0]),
        ("0.2.1", vec![0, 2, 1]),
        ("0x5.12.3x2", vec![0, 0, 0, 0, 0, 12, 3, 3]),
    ] {
        let schedule = Schedule { positions };
        assert_eq!(schedule.to_string(), text);
        assert_eq!(text.parse(), Ok(schedule));
    }
}

#[test]
fn what_is_no_schedule_is_explained() {
    let error = |text: &str| text.parse::<Schedule>().expect_err("no schedule").to_string();
    assert_eq!(error("0.a"), "character 2 of the schedule is 'a', expected a digit");
    assert_eq!(error("0-1"), "character 1 of the schedule is '-', expected a digit, `.` or `x`");
    assert_eq!(error("0."), "the schedule ends after a separator, expected a number");
    assert_eq!(error("0x"), "the schedule ends after a separator, expected a number");
    assert_eq!(error("99999999999"), "the number at character 0 of the schedule is too large");
    assert_eq!(error("0x4000000000"), "the number at character 2 of the schedule is too large");
}

#[test]
fn what_does_not_fit_is_explained() {
    let toy = Toy::new(vec![vec![Op::Load(0)], vec![Op::Load(0)]]);
    let error = |text: &str| {
        let schedule = text.parse().expect("a schedule");
        replay(&toy, &schedule).map(|replay| replay.trace).expect_err("does not fit")
    };
    assert_eq!(error("0.1"), ScheduleError::Position { step: 1, position: 1, enabled: 1 });
    assert_eq!(error("0"), ScheduleError::TooShort { steps: 1, enabled: 1 });
    assert_eq!(error("0.0.0"), ScheduleError::TooLong { steps: 2, length: 3 });
}

#[test]
fn found_traces_replay() {
    draw::each(Flavour::Everything, 500, |toy| {
        let limits = Limits { executions: Some(200), ..Limits::default() };
        for found in dpor(toy, &limits).found {
            let schedule = schedule_of(toy, &found.trace).expect("the trace is possible");
            let schedule: Schedule = schedule.to_string().parse().expect("written by us");
            let again = replay(toy, &schedule).expect("the schedule fits");
            assert_eq!(again.trace, found.trace);
            assert_eq!(again.outcomes, [found.outcome]);
        }
    });
}

#[test]
fn compact_forms() {
    let toy = Toy::new(vec![
        vec![Op::Load(0), Op::Add(0, 1), Op::Select(vec![Case::Get(0)], false)],
        vec![Op::Load(0), Op::Add(0, 1), Op::Select(vec![Case::Put(0, 1)], false)],
    ]);
    let form = |text: &str| {
        let replay = replay(&toy, &text.parse().expect("a schedule")).expect("it fits");
        compact(&toy, &replay.trace).expect("it was performed")
    };
    assert_eq!(form("0.0.0.0.0"), "S0--S1---");
    assert_eq!(form("0.1.0.0.0"), "S0-P1-P0-S1--");
    assert_eq!(form("1.1.0x3"), "S1--S0--S1-");
}

#[test]
fn simplified_traces_replay_and_are_no_worse() {
    let (mut before, mut after) = (0, 0);
    draw::each(Flavour::Everything, 500, |toy| {
        for found in random(toy, 5, 10, &Limits::default()).found {
            let wanted = |outcome: &crate::common::State| {
                outcome.variables == found.outcome.variables
                    && outcome.locals[0] == found.outcome.locals[0]
            };
            let simple = simplify(toy, &found.trace, wanted, &Effort::default())
                .expect("the trace is possible");
            let schedule = schedule_of(toy, &simple).expect("the simple trace is possible");
            let again = replay(toy, &schedule).expect("it is complete");
            assert!(again.outcomes.iter().any(wanted));
            let old = complexity(toy, &found.trace).expect("possible");
            let new = complexity(toy, &simple).expect("possible");
            assert!(new <= old && new.switches <= old.switches);
            before += old.switches;
            after += new.switches;
        }
    });
    assert!(after * 5 < before * 4, "{before} switches became {after}");
}

#[test]
fn a_lost_update_is_shown_with_one_preemption() {
    let toy = Toy::new(vec![vec![Op::Load(0), Op::Add(0, 1)]; 4]);
    let lost = |outcome: &crate::common::State| outcome.variables[0] == 3;
    let report = dpor(&toy, &Limits::default());
    for found in report.found.iter().filter(|found| lost(&found.outcome)) {
        let simple = simplify(&toy, &found.trace, lost, &Effort::default()).expect("possible");
        let new = complexity(&toy, &simple).expect("possible");
        assert_eq!((new.switches, new.preemptions), (4, 1), "{:?}", compact(&toy, &simple));
    }
}
