//! Programs that a supervisor starts one after the other: they end as others do, and nothing of one is
//! left when the next begins.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use strait_toolchain::{End, Error, Finished, Launcher, Limits, Spec, run};
use support::{eventually, launcher, mark, marked};

fn shell(script: &str) -> Spec {
    Spec::new("sh").arguments(["-c", script]).ends_with_parent()
}

fn finish(launcher: &Launcher, spec: &Spec) -> Finished {
    run(launcher, spec).expect("it can be started")
}

fn said(launcher: &Launcher, spec: &Spec) -> String {
    finish(launcher, spec).stdout.text().trim().to_owned()
}

#[test]
fn one_process_starts_them_all() {
    let launcher = launcher();
    let parents: Vec<String> = (0..20).map(|_| said(&launcher, &shell("echo $PPID"))).collect();
    assert!(parents.iter().all(|parent| *parent == parents[0]), "{parents:?}");
    // Limits need an image of their own.
    let limits = Limits { file_size: Some(1 << 20), ..Limits::default() };
    let limited = said(&launcher, &shell("echo $PPID").limits(limits));
    assert_ne!(limited, parents[0]);
}

#[test]
fn an_end_is_the_same_value() {
    let launcher = launcher();
    let table = [
        ("true", "exit code 0"),
        ("exit 7", "exit code 7"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("kill -KILL $$", "SIGKILL"),
    ];
    for (script, end) in table {
        assert_eq!(finish(&launcher, &shell(script)).end.to_string(), end, "{script}");
    }
    let missing = Spec::new("/no/such/program").ends_with_parent();
    let error = run(&launcher, &missing).expect_err("it is not there");
    assert!(matches!(error, Error::CannotStart { .. }), "{error}");
    let nowhere = shell("true").directory("/no/such/folder");
    let error = run(&launcher, &nowhere).expect_err("it is not there");
    assert!(matches!(error, Error::NoDirectory { .. }), "{error}");
}

#[test]
fn output_folder_and_environment_arrive() {
    let launcher = launcher();
    let spec =
        shell("pwd; echo $WORD; echo bad >&2; cat").directory("/usr").variable("WORD", "x y");
    let finished = finish(&launcher, &spec);
    assert_eq!(finished.stdout.text(), "/usr\nx y\n");
    assert_eq!(finished.stderr.text(), "bad\n");
    assert!(finished.cpu.is_some());
    // The next program has its own.
    assert_eq!(said(&launcher, &shell("echo \"<$WORD>\"")), "<>");
}

#[test]
fn what_one_leaves_behind_is_gone_before_the_next() {
    let (launcher, mark) = (launcher(), mark());
    let script = format!("sleep {mark} & setsid sleep {mark} & true");
    assert_eq!(finish(&launcher, &shell(&script)).end, End::Exited(0));
    assert_eq!(marked(&mark), Vec::<String>::new());
}

#[test]
fn a_program_that_hangs_or_is_cancelled_is_ended() {
    let (launcher, mark) = (launcher(), mark());
    let stubborn = shell(&format!("trap '' TERM; sleep {mark}; sleep {mark}"));
    let spec = stubborn.clone().wall(Duration::from_millis(200)).grace(Duration::from_millis(100));
    assert_eq!(finish(&launcher, &spec).end, End::TimedOut);
    let flag = Arc::new(AtomicBool::new(false));
    let spec = stubborn.cancel(Arc::clone(&flag));
    let (waits, seen) = (launcher.clone(), mark.clone());
    let finished = std::thread::spawn(move || finish(&waits, &spec));
    eventually("it runs", || !marked(&seen).is_empty());
    flag.store(true, Ordering::SeqCst);
    assert_eq!(finished.join().expect("it ends").end, End::Stopped);
    assert_eq!(marked(&mark), Vec::<String>::new());
    assert_eq!(finish(&launcher, &shell("true")).end, End::Exited(0));
}

#[test]
fn a_program_that_kills_its_supervisor_is_an_error_and_the_next_one_runs() {
    let launcher = launcher();
    let error = run(&launcher, &shell("kill -KILL $PPID; sleep 1")).expect_err("it is lost");
    assert!(matches!(error, Error::SupervisorLost { .. }), "{error}");
    assert_eq!(finish(&launcher, &shell("true")).end, End::Exited(0));
}
