//! What the tests start: a stand-in for the `strait` binary, which is supervisor, worker and parent.

#![expect(clippy::print_stdout, reason = "stdout is how it speaks to the tests")]

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use strait_toolchain::{
    Deadlines, Entry, Launcher, Sandbox, Spec, Worker, WorkerSpec, alive, announce, entry, run,
};

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => code,
        Entry::Worker(arguments) => worker(&arguments),
        Entry::Person => parent(),
    }
}

/// Answers each job with `done JOB`; some jobs are special.
fn worker(_: &[OsString]) -> ExitCode {
    let mut out = io::stdout();
    for job in io::stdin().lock().lines().map_while(Result::ok) {
        let said = match job.as_str() {
            "hang" => announce(&mut out, "hang").map(|()| sleep_for_ever()),
            "busy" => loop {
                if alive(&mut out).is_err() {
                    return ExitCode::FAILURE;
                }
                thread::sleep(Duration::from_millis(5));
            },
            "leave" => return ExitCode::from(9),
            "overflow" => {
                announce(&mut out, "overflow the stack").and_then(|()| writeln!(out, "{}", deep(1)))
            }
            "chatter" => {
                (0..100_000).try_for_each(|line| writeln!(out, "{line} {}", "x".repeat(1000)))
            }
            "long line" => writeln!(out, "{}", "y".repeat(10 << 20)),
            "first, second" => announce(&mut out, "first")
                .and_then(|()| announce(&mut out, "second"))
                .map(|()| sleep_for_ever()),
            job => writeln!(out, "done {job}").and_then(|()| out.flush()),
        };
        if said.is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Ends in SIGABRT, as Rust does when the stack is full.
fn deep(depth: u64) -> u64 {
    let big = std::hint::black_box([depth; 1024]);
    if depth == u64::MAX { 0 } else { deep(big[1] + 1) + big[2] }
}

fn sleep_for_ever() {
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

/// `subject check`: can programs be put into a sandbox where this one runs?
fn check() -> ExitCode {
    let launcher = Launcher::this_program().expect("its own path");
    match Sandbox::of_this_user(1 << 20).check(&launcher) {
        Ok(()) => println!("yes"),
        Err(error) => println!("{error}"),
    }
    ExitCode::SUCCESS
}

/// `subject MARK`: starts programs and workers of all kinds that run forever and have MARK in their
/// command line, then waits to be killed.
fn parent() -> ExitCode {
    let Some(mark) = std::env::args().nth(1) else { return ExitCode::from(2) };
    if mark == "check" {
        return check();
    }
    let launcher = Launcher::this_program().expect("its own path");
    let script = format!(
        "trap '' TERM HUP INT; sleep {mark} & (setsid sleep {mark} &) ; (setsid sh -c 'trap \"\" TERM HUP; sleep {mark} & sleep {mark}' &) ; sleep {mark}"
    );
    let spec = Spec::new("sh").arguments(["-c", &script]);
    let foreign = launcher.clone();
    let program = thread::spawn(move || run(&foreign, &spec));
    let mut own = Worker::start(&launcher, &WorkerSpec::own([&mark])).expect("a worker");
    own.send("hang", Duration::from_secs(60)).expect("sent");
    let harness = WorkerSpec::foreign("sh", ["-c", "while read line; do echo $line; done", &mark]);
    let mut harness = Worker::start(&launcher, &harness).expect("a harness");
    harness.send("hello", Duration::from_secs(60)).expect("sent");
    let patience = Deadlines { progress: Duration::from_secs(60), total: Duration::from_secs(60) };
    println!("{:?}", harness.receive(&patience));
    // Only killed does this process end.
    program.join().map_or(ExitCode::FAILURE, |_| ExitCode::SUCCESS)
}
