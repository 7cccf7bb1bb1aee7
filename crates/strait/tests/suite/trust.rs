//! No silent pass: what the library cannot test fails, with the reason and what to do. One row per
//! program; docs/library.md lists what cannot be noticed.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::time::{SystemTime, UNIX_EPOCH};

use strait::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use strait::{Builder, Doubt, thread};

/// The failure of a check, which must say this.
fn fails(builder: &Builder, program: impl Fn() + Send + Sync + 'static, expected: &str) {
    let failure = builder.try_check(program).expect_err("a check that proves nothing");
    let text = failure.to_string();
    assert!(text.starts_with(&format!("not tested: {expected}")), "{text}");
}

/// Waits in a loop that nothing in it shows to be one.
fn endless_loads() {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let _other = thread::spawn(move || theirs.load(Ordering::SeqCst));
    while !flag.load(Ordering::SeqCst) {}
}

#[test]
fn executions_that_were_cut_fail() {
    fails(&Builder::new(), endless_loads, "an execution was cut after 100000 steps");
    fails(&Builder::new().cores(2), endless_loads, "");
    fails(
        &Builder::new().random(3, 1).length(50),
        endless_loads,
        "no execution has come to its end",
    );
    fails(
        &Builder::new().length(50).executions(20),
        endless_loads,
        "no execution has come to its end",
    );
}

#[test]
fn a_length_that_was_asked_for_is_a_bound() {
    let program = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Ordering::SeqCst));
        while !flag.load(Ordering::SeqCst) {}
        other.join().unwrap();
    };
    let outcomes = Builder::new().preemptions(2).length(20).check(program);
    assert_eq!(outcomes.coverage.word(), "bounded");
    assert!(outcomes.cut > 0 && !outcomes.found.is_empty());
}

/// Variables that are named by their addresses, which change from one execution to the next.
fn statics_on_the_heap() -> usize {
    let shared = Arc::new([const { AtomicUsize::new_static(0) }; 2]);
    let start = |index: usize| {
        let shared = shared.clone();
        thread::spawn(move || shared[index].store(1, Ordering::SeqCst))
    };
    let threads = [start(0), start(1)];
    let seen = loop {
        let seen = shared[0].load(Ordering::SeqCst) + shared[1].load(Ordering::SeqCst);
        if seen > 0 {
            break seen;
        }
        thread::yield_now();
    };
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    seen
}

#[test]
fn variables_without_a_stable_address_are_no_deadlock() {
    if let Err(failure) = Builder::new().try_check(statics_on_the_heap) {
        let text = failure.to_string();
        assert!(text.contains("went another way"), "{text}");
    }
}

fn lost_update_of_std() {
    let counter = Arc::new(StdAtomicUsize::new(0));
    let theirs = counter.clone();
    let add = |counter: &StdAtomicUsize| {
        let value = counter.load(Ordering::SeqCst);
        counter.store(value + 1, Ordering::SeqCst);
    };
    let other = thread::spawn(move || add(&theirs));
    add(&counter);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

fn lost_update_under_locks_of_std() {
    let counter = Arc::new(std::sync::Mutex::new(0));
    let theirs = counter.clone();
    let add = |counter: &std::sync::Mutex<i32>| {
        let value = *counter.lock().unwrap();
        *counter.lock().unwrap() = value + 1;
    };
    let other = thread::spawn(move || add(&theirs));
    add(&counter);
    other.join().unwrap();
    assert_eq!(*counter.lock().unwrap(), 2);
}

#[test]
fn threads_without_a_controlled_step_fail() {
    for program in [lost_update_of_std, lost_update_under_locks_of_std] {
        fails(&Builder::new(), program, "thread 1 (crates/strait/tests/suite/trust.rs:");
        Builder::new().allow_uncontrolled().check(program);
        let outcomes = strait::outcomes(program);
        assert!(matches!(outcomes.doubt, Some(Doubt::NoStep { .. })));
        assert!(!outcomes.is_exhaustive());
        assert_eq!(strait::results(program).len(), 2, "the value and the doubt");
    }
    fails(&Builder::new(), || assert_eq!(1 + 1, 2), "main (");
}

/// Does something under control, so that only the rest is to be noticed.
fn touch() -> Arc<AtomicUsize> {
    let counter = Arc::new(AtomicUsize::new(0));
    counter.fetch_add(1, Ordering::SeqCst);
    counter
}

#[cfg(target_os = "linux")]
#[test]
fn threads_of_the_operating_system_fail() {
    let joined = || {
        touch();
        std::thread::spawn(std::thread::yield_now).join().unwrap();
    };
    fails(&Builder::new(), joined, "the code under test ");
    let left = || {
        touch();
        std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_millis(300)));
    };
    fails(&Builder::new(), left, "the code under test has started a thread");
    Builder::new().allow_uncontrolled().check(joined);
}

#[test]
fn what_cannot_be_repeated_fails() {
    let clock = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        touch().store(now.subsec_nanos() as usize, Ordering::SeqCst);
    };
    let random = || {
        use std::hash::{BuildHasher, Hasher};
        let number = std::hash::RandomState::new().build_hasher().finish();
        for _ in 0..number % 64 {
            touch();
        }
    };
    static KEPT: StdAtomicUsize = StdAtomicUsize::new(0);
    let kept = || {
        touch().store(KEPT.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
    };
    let programs: [fn(); 3] = [clock, random, kept];
    for program in programs {
        let differs = "an execution went another way when it was repeated";
        fails(&Builder::new(), program, differs);
        fails(&Builder::new().random(10, 1), program, differs);
        fails(&Builder::new().bounded(), program, differs);
        Builder::new().allow_uncontrolled().check(program);
    }
}

#[test]
fn a_doubt_fails_every_kind_of_check() {
    let verdicts = Builder::new().test(lost_update_of_std, &[strait::never_panics()]);
    assert!(!verdicts[0].holds());
    let panic = std::panic::catch_unwind(|| strait::autocheck(lost_update_of_std));
    assert!(panic.is_err());
    assert!(!strait::refinement(lost_update_of_std, lost_update_of_std).exhaustive);
}

#[test]
fn a_failure_comes_before_a_doubt() {
    let program = || {
        lost_update_of_std();
        panic!("found");
    };
    let failure = Builder::new().try_check(program).expect_err("it panics");
    assert!(failure.to_string().starts_with("main panicked: found"), "{failure}");
}
