//! Code under test that takes the search down with it, and what checks say when they are over: tests
//! that need processes of their own. Each runs this test binary again for one row.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tidy: starts a process because the test must die in it"
)]

use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use strait::sync::atomic::{AtomicUsize, Ordering};
use strait::{Builder, thread};

/// Names the row that a child performs.
const ROW: &str = "STRAIT_TEST_ROW";

/// Starts this test binary to perform a row.
fn start(row: &str, set: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["lost::the_child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(ROW, row).env("STRAIT_WATCHDOG", "1").env_remove("STRAIT_REPLAY");
    command.envs(set.iter().copied());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a child said, and whether it ended as a test that passes.
fn ended(child: Child) -> (String, bool) {
    let output = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.success())
}

/// Two threads that both do something with a shared thing, with a step in between.
fn both<T: Send + Sync + 'static>(shared: T, act: fn(&T, &AtomicUsize)) {
    let shared = Arc::new((shared, AtomicUsize::new(0)));
    let theirs = shared.clone();
    let other = thread::spawn(move || act(&theirs.0, &theirs.1));
    act(&shared.0, &shared.1);
    other.join().unwrap();
}

#[test]
fn the_child() {
    let Ok(row) = std::env::var(ROW) else { return };
    match row.as_str() {
        "mutex" => drop(strait::check(|| {
            both(std::sync::Mutex::new(()), |mutex, counter| {
                let _guard = mutex.lock().unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
            })
        })),
        "rwlock" => drop(strait::check(|| {
            both(std::sync::RwLock::new(()), |lock, counter| {
                let _guard = lock.write().unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
            })
        })),
        "mpsc" => drop(strait::check(|| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let counter = Arc::new(AtomicUsize::new(0));
            let theirs = counter.clone();
            let other = thread::spawn(move || {
                theirs.fetch_add(1, Ordering::SeqCst);
                sender.send(1).unwrap();
            });
            counter.load(Ordering::SeqCst);
            receiver.recv().unwrap();
            other.join().unwrap();
        })),
        "condvar" => drop(strait::check(|| {
            let state = (std::sync::Mutex::new(0), std::sync::Condvar::new());
            both(state, |(mutex, condvar), counter| {
                if counter.fetch_add(1, Ordering::SeqCst) == 0 {
                    drop(condvar.wait(mutex.lock().unwrap()).unwrap());
                } else {
                    condvar.notify_all();
                }
            })
        })),
        "once" => drop(strait::check(|| {
            both(std::sync::OnceLock::new(), |once, counter| {
                once.get_or_init(|| counter.fetch_add(1, Ordering::SeqCst));
            })
        })),
        "crash" => drop(strait::check(|| {
            both((), |_, counter| {
                let seen = counter.load(Ordering::SeqCst);
                counter.store(seen + 1, Ordering::SeqCst);
                if counter.load(Ordering::SeqCst) == 1 && seen == 0 {
                    crash_if(counter.load(Ordering::SeqCst) == 1);
                }
            })
        })),
        "passes" => drop(Builder::new().check(|| {
            both((), |_, counter| {
                counter.fetch_add(1, Ordering::SeqCst);
            })
        })),
        "fails" => drop(Builder::new().check(|| {
            both((), |_, counter| assert_eq!(counter.fetch_add(1, Ordering::SeqCst), 0));
        })),
        other => panic!("no such row: {other}"),
    }
}

#[allow(unsafe_code, reason = "crashes on purpose, in a process of its own")]
fn crash_if(wanted: bool) {
    if wanted {
        let nowhere = std::hint::black_box(std::ptr::null_mut::<u8>());
        // SAFETY: not at all; the process ends here.
        unsafe { nowhere.write_volatile(1) };
    }
}

#[test]
fn what_blocks_in_std_is_reported_with_what_to_import() {
    let rows = [
        ("mutex", "Take `strait::sync::Mutex` instead of `std::sync::Mutex`."),
        ("rwlock", "Take `strait::sync::RwLock` instead of `std::sync::RwLock`."),
        ("mpsc", "Take `strait::sync::mpsc` instead of `std::sync::mpsc`."),
        ("condvar", "Take `strait::sync::Condvar` instead of `std::sync::Condvar`."),
        ("once", "Take `strait::sync::OnceLock`, `LazyLock` and `Once` instead of those of `std`."),
    ];
    let children = rows.map(|(row, remedy)| (row, remedy, start(row, &[])));
    for (row, remedy, child) in children {
        let (text, passed) = ended(child);
        assert!(!passed, "{row}: {text}");
        assert!(text.contains("strait: lost::the_child: not tested: the code"), "{row}: {text}");
        assert!(text.contains(remedy), "{row}: {text}");
        assert!(text.contains("lost.rs"), "the stack of {row}: {text}");
    }
}

#[test]
fn a_crash_prints_the_schedule_that_leads_there() {
    let (text, passed) = ended(start("crash", &[]));
    assert!(!passed && text.contains("strait: the code under test has crashed"), "{text}");
    let quoted = text.split("STRAIT_REPLAY='").nth(1).and_then(|rest| rest.split('\'').next());
    let schedule = quoted.expect("a schedule");
    let (again, passed) = ended(start("crash", &[("STRAIT_REPLAY", schedule)]));
    assert!(!passed && again.contains(schedule), "{schedule}: {again}");
}

#[test]
fn checks_say_how_much_they_have_seen() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("summary-{}.jsonl", std::process::id()));
    let set = [("STRAIT_SUMMARY", file.to_str().unwrap())];
    let (text, passed) = ended(start("passes", &set));
    assert!(passed, "{text}");
    assert!(text.contains("strait: lost::the_child: 2 executions, exhaustive"), "{text}");
    assert!(!ended(start("fails", &set)).1);
    let lines = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let parts = [
        r#"{"test":"lost::the_child","place":"crates/strait/tests/suite/lost.rs:"#,
        r#""result":"passed","executions":2,"#,
        r#""coverage":"exhaustive","bounded_by":null,"#,
        r#""result":"failed","executions":1,"#,
        r#""search":"every schedule under RC11"}"#,
    ];
    for part in parts {
        assert!(lines.contains(part), "{part} in {lines}");
    }
    assert_eq!(lines.lines().count(), 2);
}
