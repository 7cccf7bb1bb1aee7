//! What the tests share: a workshop in a cache of its own, generated programs, and the judgement.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::collections::BTreeMap;
use std::time::Duration;

use strait_calculus::{Explainer, Explanation, Program};
use strait_emit::{Compiled, Missing, Platform, Toolchain, Workshop};
use strait_generate::{Capabilities, Config, Generator};
use strait_runtimes::{Ended, JobLine, Report, RunOptions, lower, observation};
use strait_toolchain::{Cache, Deadlines, Launcher, Received, Worker, WorkerSpec};

/// Longer than anything takes on a machine that is busy with other things.
pub const LONG: Duration = Duration::from_secs(300);
pub const PATIENT: Deadlines = Deadlines { progress: LONG, total: LONG };

pub fn launcher() -> Launcher {
    Launcher::of(env!("CARGO_BIN_EXE_strait-emit-subject"))
}

/// One cache for all tests of a target folder: interpreters are built once.
pub fn workshop() -> Workshop {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages");
    Workshop::new(launcher(), Cache::at(folder))
}

/// The toolchain, or `None` with a loud word when it is not here.
pub fn toolchain(platform: Platform, version: Option<&str>) -> Option<Toolchain> {
    match Toolchain::find(&workshop(), platform, version) {
        Ok(toolchain) => Some(toolchain),
        Err(missing @ (Missing::NotInstalled { .. } | Missing::Offline { .. })) => {
            skipped_language(platform, &missing);
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Says that something was not tested. Where STRAIT_TEST_ALL is set, that is a failure.
pub fn skipped(why: &str) {
    assert!(std::env::var_os("STRAIT_TEST_ALL").is_none(), "SKIPPED {why}");
    eprintln!("SKIPPED {why}");
}

/// Says that a language was not tested. Go and the JVM have to be there where CI is set.
fn skipped_language(platform: Platform, why: &Missing) {
    let needed = [Platform::Go, Platform::Kotlin, Platform::CoreAsync].contains(&platform);
    let in_ci = std::env::var_os("CI").is_some();
    assert!(!(needed && in_ci), "SKIPPED {}, which CI needs: {why}", platform.name());
    skipped(&format!("{}: {why}", platform.name()));
}

pub fn programs(capabilities: Capabilities, seed: u64, count: u64) -> Vec<Program> {
    let config = Config { capabilities, ..Config::default() };
    let generator = Generator::new(seed, config).expect("these capabilities allow programs");
    (0..count).map(|index| generator.generate(index).program).collect()
}

/// How each program ended, by its number; every record must have a schedule.
pub type Ends = BTreeMap<u64, (u64, Ended)>;

fn judge(ends: &mut Ends, programs: &[&Program], line: &str) {
    match Report::from_line(line) {
        Some(Report::Seen(id, tally)) => {
            let program = programs[id as usize];
            let seen = observation(&tally.what);
            let explanation = Explainer::new(program).explain(&seen, 200_000);
            assert!(
                !matches!(explanation, Explanation::Impossible { .. }),
                "no schedule gives {}\n{}",
                tally.what.to_text(),
                strait_calculus::print(program)
            );
        }
        Some(Report::End(id, runs, _, ended)) => {
            ends.insert(id, (runs, ended));
        }
        Some(_) => {}
        None => panic!("not a line of the protocol: {line}"),
    }
}

/// Runs a compiled batch and judges it.
pub fn run_compiled(compiled: &Compiled, programs: &[&Program], repetitions: u64) -> Ends {
    run_worker(&compiled.worker(repetitions, LONG, 0), programs)
}

/// Runs what reports by itself and judges it.
pub fn run_worker(spec: &WorkerSpec, programs: &[&Program]) -> Ends {
    let mut worker = Worker::start(&launcher(), spec).expect("it starts");
    let mut ends = Ends::new();
    while let Received::Line(line) = worker.receive(&PATIENT) {
        judge(&mut ends, programs, &line);
    }
    let ended = worker.end().expect("it ends");
    assert!(ended.end.is_success(), "{}: {}", ended.end, ended.stderr.text());
    ends
}

/// Interprets programs and judges them.
pub fn interpret(toolchain: &Toolchain, programs: &[&Program], options: &RunOptions) -> Ends {
    let spec = toolchain.interpreter().expect("the interpreter can be built");
    let mut worker = Worker::start(&launcher(), &spec).expect("it starts");
    let mut ends = Ends::new();
    for (id, program) in programs.iter().enumerate() {
        let plan = lower(program).expect("a plan").to_text();
        let target = toolchain.platform().name().to_owned();
        let lines = plan.lines().count();
        let job = JobLine { id: id as u64, target, options: *options, lines };
        worker.send_lines(&format!("{}\n{plan}", job.to_line()), LONG).expect("it listens");
        while !ends.contains_key(&(id as u64)) {
            match worker.receive(&PATIENT) {
                Received::Line(line) => judge(&mut ends, programs, &line),
                other => {
                    let ended = worker.end().expect("it ends");
                    panic!("{other:?}, {}: {}", ended.end, ended.stderr.text());
                }
            }
        }
    }
    ends
}

/// All of them ran so often to the end.
pub fn assert_finished(ends: &Ends, programs: usize, repetitions: u64) {
    assert_eq!(ends.len(), programs);
    for (id, end) in ends {
        assert_eq!(*end, (repetitions, Ended::Finished), "program {id}");
    }
}
