//! A parent that is killed leaves nothing running, and one that lives leaves no zombies. In a file
//! of its own, so that the children of this process are those of this test.

mod support;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use strait_toolchain::{Spec, Worker, WorkerSpec, run};
use support::{eventually, launcher, mark, marked};

#[allow(clippy::disallowed_methods, reason = "it must be killed without the help of the crate")]
fn start(mark: &str) -> Child {
    let mut command = Command::new(launcher().program());
    command.arg(mark).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

#[test]
fn nothing_outlives_a_parent_that_is_killed() {
    for round in 0..5 {
        let mark = mark();
        let mut parent = start(&mark);
        // The parent; shell, 5 sleeps and a shell of the program; own worker; shell of the harness;
        // two supervisors.
        eventually("all are there", || marked(&mark).len() >= 11);
        parent.kill().expect("SIGKILL");
        parent.wait().expect("reaped");
        eventually(&format!("round {round}: all are gone"), || marked(&mark).is_empty());
    }
}

/// A supervisor that could not report its start used to end without ending its program.
#[test]
fn nothing_outlives_a_parent_that_is_killed_while_it_starts_things() {
    for round in 0..40 {
        let mark = mark();
        let mut parent = start(&mark);
        thread::sleep(Duration::from_micros(700 * round));
        parent.kill().expect("SIGKILL");
        parent.wait().expect("reaped");
        eventually(&format!("round {round}: all are gone"), || marked(&mark).is_empty());
    }
}

#[test]
fn nothing_outlives_a_supervisor_that_is_killed_but_what_left_the_group() {
    let mark = mark();
    let spec = Spec::new("sleep").arguments([&mark]);
    let running = thread::spawn(move || run(&launcher(), &spec));
    let supervisor = || marked(&mark).into_iter().find(|line| line.contains("__supervise"));
    eventually("the program runs", || supervisor().is_some() && marked(&mark).len() == 2);
    let number =
        supervisor().and_then(|line| line.split(' ').next()?.parse().ok()).expect("a number");
    let number = rustix::process::Pid::from_raw(number).expect("not zero");
    rustix::process::kill_process(number, rustix::process::Signal::KILL).expect("ours");
    let error = running.join().expect("no panic").expect_err("nobody reports");
    assert!(error.to_string().contains("ended without a report"), "{error}");
    eventually("the program is gone", || marked(&mark).is_empty());
}

#[test]
fn no_zombies_are_left() {
    for _ in 0..20 {
        run(&launcher(), &Spec::new("sh").arguments(["-c", "sleep 0.01 & exit 3"]))
            .expect("it runs");
        let worker = Worker::start(&launcher(), &WorkerSpec::own(["x"])).expect("it starts");
        worker.end().expect("it ends");
    }
    let own = std::process::id().to_string();
    // Children that other tests of this file are using are no zombies.
    eventually("no zombies", || {
        let stats = fs::read_dir("/proc").into_iter().flatten().flatten();
        let stats = stats.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
        let zombie = |stat: String| {
            let rest =
                stat.rsplit_once(')').map(|(_, rest)| rest.trim().to_owned()).unwrap_or_default();
            rest.starts_with(&format!("Z {own} "))
        };
        stats.map(zombie).filter(|zombie| *zombie).count() == 0
    });
}
