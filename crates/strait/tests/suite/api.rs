//! What the library says about programs: verdicts, reports, bounds, samples, annotations.

use std::sync::Arc;

use expect_test::expect;
use strait::mvar::MVar;
use strait::sync::Mutex;
use strait::sync::atomic::{AtomicUsize, Ordering};
use strait::{
    Builder, Coverage, Model, Outcome, always_same, always_true, deadlocks_sometimes, gives,
    gives_only, never_deadlocks, never_panics, not_always_same, somewhere_true, thread,
};

fn lost_update() -> usize {
    let counter = Arc::new(AtomicUsize::new(0));
    strait::label(&*counter, "counter");
    let theirs = counter.clone();
    let add = |counter: &AtomicUsize| {
        let value = counter.load(Ordering::SeqCst);
        counter.store(value + 1, Ordering::SeqCst);
    };
    let other = thread::Builder::new().name("adder".into()).spawn(move || add(&theirs)).unwrap();
    add(&counter);
    other.join().unwrap();
    counter.load(Ordering::SeqCst)
}

fn deadlock() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let theirs = locks.clone();
    let other = thread::spawn(move || {
        let _second = theirs.1.lock().unwrap();
        let _first = theirs.0.lock().unwrap();
    });
    {
        let _first = locks.0.lock().unwrap();
        let _second = locks.1.lock().unwrap();
    }
    other.join().unwrap();
}

#[strait::test]
fn the_attribute_checks_every_schedule() {
    let counter = Arc::new(AtomicUsize::new(0));
    let theirs = counter.clone();
    let other = thread::spawn(move || theirs.fetch_add(1, Ordering::SeqCst));
    counter.fetch_add(1, Ordering::SeqCst);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

#[strait::test(Builder::new().bounded())]
fn the_attribute_takes_a_builder() {
    let flag = Arc::new(AtomicUsize::new(0));
    let theirs = flag.clone();
    let other = thread::spawn(move || theirs.store(1, Ordering::SeqCst));
    while flag.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
    other.join().unwrap();
}

#[test]
fn a_failure_is_a_report() {
    let failure = Builder::new()
        .try_check(|| assert_eq!(lost_update(), 2, "an update was lost"))
        .expect_err("it fails");
    let text = failure.to_string();
    expect![[r#"
        main panicked: assertion `left == right` failed: an update was lost
          left: 1
         right: 2 at crates/strait/tests/suite/api.rs:66
        found in execution 2 of a search for every schedule under RC11
        a simple way to it:
            adder  load counter: 0   api.rs:19
            main   load counter: 0   api.rs:19
            main   store counter: 1  api.rs:20
            adder  store counter: 1  api.rs:20
            main   load counter: 1   api.rs:25
        compact: S1-P0--S1-S0-
        replay:  STRAIT_REPLAY='sc0/1.0x4' cargo test api::a_failure_is_a_report
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_failure_that_needs_weak_memory_shows_old_values() {
    let failure = Builder::new().try_check(|| {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        strait::label(&shared.0, "data");
        strait::label(&shared.1, "flag");
        let theirs = shared.clone();
        let writer = thread::spawn(move || {
            theirs.0.store(1, Ordering::Relaxed);
            theirs.1.store(1, Ordering::Relaxed);
        });
        if shared.1.load(Ordering::Relaxed) == 1 {
            assert_eq!(shared.0.load(Ordering::Relaxed), 1);
        }
        writer.join().unwrap();
    });
    let text = failure.expect_err("nothing is released").to_string();
    assert!(text.contains("load flag: 1 "), "{text}");
    assert!(text.contains("load data: 0, an old value"), "{text}");
    assert!(text.contains("STRAIT_REPLAY='rc11-"), "{text}");
}

#[test]
fn predicates_speak_about_all_outcomes() {
    let holds = |predicate| {
        let verdicts = Builder::new().test(lost_update, &[predicate]);
        assert_eq!(verdicts[0].coverage, Coverage::Exhaustive);
        verdicts[0].holds()
    };
    assert!(holds(never_deadlocks()));
    assert!(holds(never_panics()));
    assert!(!holds(always_same()));
    assert!(holds(not_always_same()));
    assert!(holds(always_true(|value| *value > 0)));
    assert!(!holds(always_true(|value| *value > 1)));
    assert!(holds(somewhere_true(|value| *value == 1)));
    assert!(!holds(somewhere_true(|value| *value == 3)));
    assert!(holds(gives([1, 2])));
    assert!(!holds(gives([1, 2, 3])));
    assert!(!holds(gives([1])));
    assert!(holds(gives_only([1, 2, 3])));
    assert!(!holds(deadlocks_sometimes()));
    assert!(Builder::new().test(deadlock, &[deadlocks_sometimes()])[0].holds());
}

#[test]
fn autocheck_names_what_fails() {
    let text = std::panic::catch_unwind(|| strait::autocheck(deadlock)).expect_err("it fails");
    let text = text.downcast_ref::<String>().expect("a report");
    assert!(text.contains("[fail] never deadlocks"), "{text}");
    assert!(text.contains("[pass] no panics (exhaustive)"), "{text}");
    assert!(text.contains("[fail] consistent result"), "{text}");
    assert!(text.contains("lock Mutex@api.rs"), "{text}");
    Builder::new().allow_uncontrolled().autocheck(|| thread::spawn(|| 1).join().unwrap());
}

#[test]
fn bounds_are_admitted() {
    let all = Builder::new().outcomes(lost_update);
    assert_eq!((all.coverage.word(), all.values().len()), ("exhaustive", 2));
    let none = Builder::new().model(Model::Sc).preemptions(0).outcomes(lost_update);
    assert_eq!((none.coverage.word(), none.values()), ("bounded", vec![&2]));
    let two = Builder::new().bounded().outcomes(lost_update);
    assert_eq!(two.values().len(), 2);
    let few = Builder::new().executions(1).outcomes(lost_update);
    assert_eq!((few.coverage.word(), few.executions), ("bounded", 1));
    let short = Builder::new().length(2).outcomes(lost_update);
    assert_eq!((short.coverage.word(), short.found.len()), ("bounded", 0));
}

#[test]
fn samples_are_the_same_for_the_same_seed() {
    let drawn = |builder: Builder| {
        let outcomes = builder.outcomes(lost_update);
        assert_eq!(outcomes.coverage, Coverage::Sampled(50));
        outcomes.found.iter().map(|found| found.outcome.clone()).collect::<Vec<_>>()
    };
    for builder in [Builder::new().random(50, 1), Builder::new().pct(50, 2, 1)] {
        assert_eq!(drawn(builder.clone()), drawn(builder.clone()));
        assert_eq!(drawn(builder).len(), 2);
    }
}

#[test]
fn a_wrong_replay_string_is_an_error() {
    for text in ["", "tso0", "abc0/1", "tso99/0", "tso0/x", "tso0/7", "tso0/0x3", "tso0/0x99"] {
        let error = Builder::new().replay(text, lost_update).expect_err(text);
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn a_schedule_that_does_not_fit_says_what_where_and_what_next() {
    let check = |schedule: &str| {
        let program = || assert_eq!(lost_update(), 2);
        match Builder::new().only(schedule).try_check(program) {
            Ok(_) => panic!("{schedule} does not fit"),
            // A part of the text depends on where the test is.
            Err(failure) => failure.to_string(),
        }
    };
    let test = "api::a_schedule_that_does_not_fit_says_what_where_and_what_next";
    let next = format!(
        "The program has changed since the schedule was printed, or another check has printed it.\n\
         To search anew:  env -u STRAIT_REPLAY cargo test {test}\n"
    );
    let nonsense = check("nonsense");
    assert!(
        nonsense.starts_with("the schedule 'nonsense' does not fit this check: "),
        "{nonsense}"
    );
    assert!(nonsense.contains("it should look like `tso0/0x4.1`"), "{nonsense}");
    assert!(nonsense.ends_with(&next), "{nonsense}");
    for (schedule, why, steps) in [
        ("tso0/0.7", "step 1 of the schedule takes action 7, but only 2 are enabled", 1),
        ("tso0/0.1", "the schedule ends after 2 steps, but 2 actions are still enabled", 2),
        ("tso0/0x99", "the execution ends after 5 steps, but the schedule has 99", 5),
    ] {
        let text = check(schedule);
        let first =
            format!("the schedule '{schedule}' does not fit this check: cannot replay: {why}");
        assert!(text.starts_with(&first), "{text}");
        assert!(text.contains("what was performed until then:\n"), "{text}");
        assert_eq!(text.matches("  api.rs:").count(), steps, "{text}");
        assert!(text.ends_with(&next), "{text}");
    }
}

#[test]
fn a_schedule_is_seen_again_instead_of_a_search() {
    let program = || assert_eq!(lost_update(), 2);
    let found = Builder::new().try_check(program).expect_err("an update is lost");
    let again = Builder::new().only(&found.trace.replay).try_check(program);
    let again = again.expect_err("the same is lost again");
    assert_eq!((again.executions, &again.trace), (1, &found.trace));
    let text = again.to_string();
    let seen = format!("seen again under the schedule '{}':", found.trace.replay);
    assert!(text.contains(&seen), "{text}");
    let harmless = Builder::new().only("tso0/0x5").try_check(program);
    assert_eq!(harmless.expect("this one loses nothing").executions, 1);
    // A check that compares executions shows the one.
    let schedule = found.trace.replay.clone();
    let compares = move || Builder::new().only(schedule.clone()).autocheck(lost_update);
    let panic = std::panic::catch_unwind(compares).expect_err("shown");
    let text = panic.downcast_ref::<String>().expect("a report");
    assert!(text.contains(&seen), "{text}");
}

#[test]
fn one_implementation_refines_another() {
    let atomic = || {
        let counter = Arc::new(AtomicUsize::new(0));
        let theirs = counter.clone();
        let other = thread::spawn(move || theirs.fetch_add(1, Ordering::SeqCst));
        counter.fetch_add(1, Ordering::SeqCst);
        other.join().unwrap();
        counter.load(Ordering::SeqCst)
    };
    let fewer = strait::refinement(atomic, lost_update);
    assert!(fewer.refines() && fewer.refines_strictly() && fewer.exhaustive);
    let more = strait::refinement(lost_update, atomic);
    assert_eq!(more.added, [Outcome::Value(1)]);
    assert!(strait::refinement(atomic, atomic).is_equivalent());
}

#[test]
fn an_invariant_is_checked_in_every_state() {
    let transfer = |first: i32, second: i32| {
        move || {
            let accounts = Arc::new((AtomicUsize::new(1), AtomicUsize::new(1)));
            let watched = accounts.clone();
            strait::invariant("there is always money", move || {
                watched.0.load(Ordering::SeqCst) + watched.1.load(Ordering::SeqCst) > 0
            });
            let theirs = accounts.clone();
            let other = thread::spawn(move || {
                theirs.0.store((1 + first) as usize, Ordering::SeqCst);
                theirs.0.store(1, Ordering::SeqCst);
            });
            accounts.1.store((1 + second) as usize, Ordering::SeqCst);
            accounts.1.store(1, Ordering::SeqCst);
            other.join().unwrap();
        }
    };
    let builder = Builder::new().model(Model::Sc);
    let failure = builder.try_check(transfer(-1, -1)).expect_err("both can be empty");
    assert!(failure.message.contains("\"there is always money\" does not hold"), "{failure}");
    builder.check(transfer(-1, 1));
    let failure = Builder::new().try_check(transfer(-1, 1)).expect_err("there is no such state");
    assert!(failure.message.contains("cannot be checked under RC11"), "{failure}");
}

#[test]
fn threads_that_know_only_each_other_are_stuck() {
    let program = |annotated: bool| {
        move || {
            let private = Arc::new(MVar::<()>::empty());
            let public = Arc::new(MVar::empty());
            let theirs = public.clone();
            let stuck = thread::spawn(move || {
                if annotated {
                    strait::knows_about(&*private);
                    strait::all_known();
                }
                private.take();
                theirs.put(());
            });
            if annotated {
                strait::knows_about(&*public);
                strait::all_known();
            }
            drop(stuck);
            thread::yield_now();
        }
    };
    strait::check(program(false));
    let failure = Builder::new().try_check(program(true)).expect_err("one thread is stuck");
    assert!(failure.message.contains("forever"), "{failure}");
}

#[test]
fn setup_and_teardown_surround_each_execution() {
    let outcomes = Builder::new().check_between(
        || Arc::new(AtomicUsize::new(40)),
        |counter| {
            let theirs = counter.clone();
            thread::spawn(move || theirs.fetch_add(2, Ordering::SeqCst)).join().unwrap();
        },
        |counter, ()| counter.load(Ordering::SeqCst),
    );
    assert_eq!(outcomes.values(), [&42]);
}

#[test]
fn a_representative_of_each_wrong_outcome_is_shown() {
    let three = || {
        let counter = Arc::new(AtomicUsize::new(0));
        let add = |counter: &AtomicUsize| {
            let value = counter.load(Ordering::SeqCst);
            counter.store(value + 1, Ordering::SeqCst);
        };
        let start = |_| {
            let counter = counter.clone();
            thread::spawn(move || add(&counter))
        };
        let handles: Vec<_> = (0..3).map(start).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        counter.load(Ordering::SeqCst)
    };
    let wrong = || always_true(|count| *count == 3);
    let verdicts = Builder::new().test(three, &[wrong(), strait::representative(wrong())]);
    assert_eq!((verdicts[0].holds(), verdicts[0].others.len()), (false, 0));
    assert_eq!((verdicts[1].holds(), verdicts[1].others.len()), (false, 1));
    let shown = verdicts[1].to_string();
    assert_eq!(shown.matches("STRAIT_REPLAY").count(), 2, "{shown}");
}

#[test]
fn a_replay_string_means_the_same_in_another_process() {
    // The numbers that threads get in a search depend on the order in which the search has met
    // them; a schedule must not. Here the children of the second thread are born first.
    let program = || {
        let last = Arc::new(AtomicUsize::new(0));
        let parent = |name: usize| {
            let last = last.clone();
            thread::spawn(move || {
                let before = last.load(Ordering::SeqCst);
                let theirs = last.clone();
                let child = thread::spawn(move || theirs.store(name + before, Ordering::SeqCst));
                child.join().unwrap();
            })
        };
        let parents = [parent(1), parent(10)];
        parents.into_iter().for_each(|parent| parent.join().unwrap());
        assert_ne!(last.load(Ordering::SeqCst), 11, "the second came first");
    };
    for builder in [Builder::new(), Builder::new().random(200, 3), Builder::new().cores(2)] {
        let failure = builder.try_check(program).expect_err("it happens");
        let again = Builder::new().replay(&failure.trace.replay, program);
        let (outcome, trace) = again.expect("the string fits");
        assert!(outcome.is_panic(), "{outcome}");
        assert_eq!(trace.to_string(), failure.trace.to_string());
    }
}

#[test]
fn every_choice_is_tried_once() {
    let outcomes = strait::outcomes(|| {
        let other = thread::spawn(|| strait::choose(3));
        let mine = strait::choose(2);
        (mine, other.join().unwrap())
    });
    let mut values: Vec<_> = outcomes.values().into_iter().copied().collect();
    values.sort_unstable();
    assert_eq!(values, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    assert_eq!((outcomes.executions, outcomes.redundant), (6, 0));
    assert!(strait::choose(3) < 3, "for real");
}
