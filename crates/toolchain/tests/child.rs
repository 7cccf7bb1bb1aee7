//! Programs that end well, badly or not at all, and what is left of them.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use strait_toolchain::{End, Error, Finished, Launcher, Limits, Spec, run};
use support::{LONG, eventually, launcher, mark, marked};

fn shell(script: &str) -> Spec {
    Spec::new("sh").arguments(["-c", script])
}

fn finish(spec: &Spec) -> Finished {
    run(&launcher(), spec).expect("it can be started")
}

#[test]
fn an_end_is_a_value() {
    let table = [
        ("true", "exit code 0"),
        ("exit 7", "exit code 7"),
        ("exit 127", "exit code 127"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("kill -ABRT $$", "SIGABRT"),
        ("kill -KILL $$", "SIGKILL"),
        ("kill -TERM $$", "SIGTERM"),
    ];
    for (script, end) in table {
        assert_eq!(finish(&shell(script)).end.to_string(), end, "{script}");
    }
}

#[test]
fn input_output_folder_and_environment_arrive() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec =
        shell("cat; pwd; echo $WORD; echo $GONE; echo -n $STRAIT_PARENT; echo problem >&2; exit 3")
            .input("given\n")
            .directory(folder.path())
            .variable("WORD", "two words")
            .without_variable("GONE");
    let finished = finish(&spec);
    let folder = folder.path().canonicalize().expect("it exists");
    assert_eq!(finished.stdout.text(), format!("given\n{}\ntwo words\n\n", folder.display()));
    assert_eq!(finished.stderr.text(), "problem\n");
    assert_eq!(finished.end, End::Exited(3));
}

#[test]
fn without_input_there_is_nothing_to_read() {
    assert_eq!(finish(&Spec::new("cat")).stdout.total(), 0);
}

#[test]
fn input_that_nobody_reads_blocks_nobody() {
    let finished = finish(&shell("exit 4").input(vec![b'x'; 10 << 20]));
    assert_eq!(finished.end, End::Exited(4));
    let finished = finish(&Spec::new("cat").input(vec![b'x'; 3 << 20]));
    assert_eq!(finished.stdout.total(), 3 << 20, "both directions at once");
}

#[test]
fn a_program_that_hangs_is_ended() {
    let mark = mark();
    let finished = finish(&shell(&format!("sleep {mark}")).wall(Duration::from_millis(300)));
    assert_eq!(finished.end, End::TimedOut);
    assert_eq!(marked(&mark), Vec::<String>::new());
}

#[test]
fn a_program_that_ignores_the_polite_signal_is_killed_with_its_children() {
    let mark = mark();
    let script = format!(
        "trap '' TERM INT HUP; (trap '' TERM; sleep {mark}) & while true; do sleep {mark}; done"
    );
    let spec = shell(&script).wall(Duration::from_millis(300)).grace(Duration::from_millis(200));
    assert_eq!(finish(&spec).end, End::TimedOut);
    assert_eq!(marked(&mark), Vec::<String>::new());
}

#[test]
fn a_polite_program_may_clean_up() {
    let spec =
        shell("trap 'echo cleaned; exit 0' TERM; echo ready; while true; do sleep 0.05; done");
    let finished = finish(&spec.wall(Duration::from_secs(3)).grace(LONG));
    assert_eq!(
        (finished.end, finished.stdout.text().as_str()),
        (End::TimedOut, "ready\ncleaned\n")
    );
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let mark = mark();
    let script = format!(
        "sleep {mark} & (setsid sleep {mark} &) ; (setsid sh -c 'sleep {mark} & wait' &) ; exit 5"
    );
    assert_eq!(finish(&shell(&script)).end, End::Exited(5));
    if cfg!(target_os = "linux") {
        assert_eq!(marked(&mark), Vec::<String>::new(), "also what left the group");
    }
}

#[test]
fn a_flag_stops_a_program() {
    let (mark, stop) = (mark(), Arc::new(AtomicBool::new(false)));
    let spec = shell(&format!("sleep {mark}")).cancel(Arc::clone(&stop));
    let running = std::thread::spawn(move || finish(&spec));
    eventually("it runs", || !marked(&mark).is_empty());
    stop.store(true, Ordering::SeqCst);
    assert_eq!(running.join().expect("no panic").end, End::Stopped);
    assert_eq!(marked(&mark), Vec::<String>::new());
}

#[test]
fn a_gigabyte_of_output_is_counted_and_not_kept() {
    let script = "echo first; head -c 1000000000 /dev/zero; echo; echo last";
    let finished = finish(&shell(script).keep(1000));
    assert_eq!(finished.stdout.total(), 1_000_000_012);
    assert_eq!(finished.stdout.first.len() + finished.stdout.last.len(), 2000);
    assert!(finished.stdout.first.starts_with(b"first\n"));
    assert!(finished.stdout.last.ends_with(b"\nlast\n"));
}

#[test]
fn limits_of_the_launcher_hold_where_a_program_has_none() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let all = Limits { open_files: Some(60), processes: Some(5000), ..Limits::default() };
    let launcher = launcher().limited(all);
    let limits = |spec: &Spec| {
        let finished = run(&launcher, spec).expect("it runs");
        let text = finished.stdout.text();
        let numbers =
            text.lines().map(|line| line.split_whitespace().rev().nth(1).expect("a limit"));
        numbers.map(str::to_owned).collect::<Vec<_>>()
    };
    let script = "grep -E '^Max (processes|open files)' /proc/self/limits";
    assert_eq!(limits(&shell(script)), ["5000", "60"]);
    let own = Limits { open_files: Some(50), ..Limits::default() };
    assert_eq!(limits(&shell(script).limits(own)), ["5000", "50"]);
}

#[test]
fn limits_hold() {
    let cpu = Limits { cpu: Some(Duration::from_secs(1)), ..Limits::default() };
    let finished = finish(&shell("while true; do :; done").limits(cpu).wall(LONG));
    assert!(matches!(finished.end.to_string().as_str(), "SIGXCPU" | "SIGKILL"), "{}", finished.end);
    if cfg!(target_os = "linux") {
        assert!(
            finished.cpu.expect("known on Linux") >= Duration::from_millis(500),
            "{:?}",
            finished.cpu
        );
        assert!(finished.peak_memory.expect("known on Linux") > 100_000);
    }

    let folder = tempfile::tempdir().expect("a folder");
    let files = Limits { file_size: Some(10_000), ..Limits::default() };
    let spec = Spec::new("head").arguments(["-c", "1000000", "/dev/zero"]).limits(files);
    assert_eq!(finish(&spec).stdout.total(), 1_000_000, "a pipe is no file");
    let spec = shell("exec head -c 1000000 /dev/zero > big").directory(folder.path()).limits(files);
    assert_eq!(finish(&spec).end.to_string(), "SIGXFSZ");

    if cfg!(target_os = "linux") {
        let memory = Limits { address_space: Some(64 << 20), ..Limits::default() };
        let finished = finish(
            &Spec::new("dd")
                .arguments(["if=/dev/zero", "of=/dev/null", "bs=512M", "count=1"])
                .limits(memory),
        );
        assert!(!finished.end.is_success(), "{} {}", finished.end, finished.stderr.text());
    }
}

#[test]
fn what_cannot_be_started_says_why() {
    let error = run(&launcher(), &Spec::new("strait-no-such-program")).expect_err("there is none");
    assert!(
        error.to_string().starts_with("cannot start strait-no-such-program: No such file"),
        "{error}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "not a program").expect("written");
    let error = run(&launcher(), &Spec::new(&text)).expect_err("not executable");
    assert!(error.to_string().contains("Permission denied"), "{error}");
    let error =
        run(&launcher(), &Spec::new("true").directory("/no/such/folder")).expect_err("no folder");
    assert!(matches!(error, Error::NoDirectory { .. }), "{error}");
    let error =
        run(&Launcher::of("true"), &Spec::new("true")).expect_err("true supervises nothing");
    assert!(matches!(error, Error::NotASupervisor { .. }), "{error}");
}

#[test]
fn a_start_is_quick_enough_to_be_done_often() {
    let start = Instant::now();
    let ends: Vec<End> = (0..50).map(|_| finish(&Spec::new("true")).end).collect();
    println!("50 programs in {:?}", start.elapsed());
    assert!(ends.iter().all(End::is_success));
}
