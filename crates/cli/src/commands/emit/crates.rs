//! `strait emit` on a finding of `strait fuzz` in a Rust crate: the crate that `strait reduce` writes, with a test.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use strait_campaign::{Ending, Stop};
use strait_fuzz::{Exhibit, Fault, Reducer, TargetFinder, reproduction};
use strait_toolchain::{Cache, Cargo, End, Launcher, Scratch, Spec, run};

use crate::campaign::in_time;
use crate::commands::emit::{EmitArgs, Emitted};
use crate::ui::Ui;

/// The runs, if nothing is said about them: one takes up to a minute.
const RUNS: u64 = 5;
/// The longest time for a run.
const RUN: Duration = Duration::from_secs(90);
/// The longest time to compile.
const COMPILATION: Duration = Duration::from_secs(600);
/// The exit code of `cargo test` when a test has failed.
const TEST_FAILED: i32 = 101;

/// The test: the program of the crate exits with 1 when the fault shows.
const TEST: &str = "//! The fault as a test: the program of this crate fails when it shows.

#[test]
fn the_fault_does_not_show() {
    let program = env!(\"CARGO_BIN_EXE_reproduce\");
    let ended = std::process::Command::new(program).status().expect(\"the program starts\");
    assert!(ended.success(), \"the fault showed: {ended}\");
}
";

/// A crate with a test.
pub fn emit(
    args: &EmitArgs,
    ui: &Ui,
    folder: &Path,
    launcher: &Launcher,
    stop: &Stop,
) -> anyhow::Result<Emitted> {
    let mut finder = TargetFinder::new(launcher, Arc::clone(stop.flag()));
    let exhibit = Exhibit::open(&args.folder, &mut finder, &mut |text| ui.note(text));
    let exhibit = in_time(stop, exhibit)?;
    ui.note("running the finding again, to see what fails");
    let rerun = exhibit.run(launcher, args.time, &|| stop.is_due())?;
    let Some(fault) = &rerun.fault else {
        bail!(
            "the fault in {} does not show any more in {} runs, so nothing can be emitted; give --time more",
            args.folder.display(),
            rerun.runs
        );
    };
    let mut files = write(args, ui, &exhibit, fault, launcher, stop)?;
    files.push(("tests/fault.rs".to_owned(), TEST.to_owned()));
    ui.note("compiling and running the test without Strait");
    let (failed, runs) = count(args, &files, launcher, stop)?;
    Ok(Emitted {
        files,
        failed,
        runs,
        about: "The test fails when the fault shows; a run takes up to a minute.".to_owned(),
        directory: folder.to_owned(),
        command: "cargo test --release".to_owned(),
    })
}

/// The files of the crate. A program that is too large for that is made small first.
fn write(
    args: &EmitArgs,
    ui: &Ui,
    exhibit: &Exhibit,
    fault: &Fault,
    launcher: &Launcher,
    stop: &Stop,
) -> anyhow::Result<Vec<(String, String)>> {
    let (title, options) = (&exhibit.replay.finding.title, &exhibit.work.options);
    let whole = reproduction(&exhibit.target, title, &exhibit.work.program, options, fault);
    let Err(why) = whole else { return Ok(whole?) };
    ui.note(format!("making the program small, because it cannot be written as it is: {why}"));
    let reducer = Reducer {
        launcher,
        time: args.time,
        stop: &|| stop.is_due(),
        tell: &|operations, tried| {
            ui.note(format!("{operations} operations left, {tried} smaller programs tried"));
        },
    };
    let reduced = reducer.reduce(exhibit)?;
    let small = reduced.as_ref().and_then(|one| Some((&one.program, one.rerun.fault.as_ref()?)));
    let (program, fault) = small.unwrap_or((&exhibit.work.program, fault));
    reproduction(&exhibit.target, title, program, options, fault)
        .context("this finding cannot be written as a program without Strait; `strait reduce --time 10m` may make it simple enough")
}

/// Compiles and runs the test. That happens in a folder of ours, since cargo obeys files beside a finding.
fn count(
    args: &EmitArgs,
    files: &[(String, String)],
    launcher: &Launcher,
    stop: &Stop,
) -> anyhow::Result<(u64, u64)> {
    let scratch = Scratch::new("emit").context("cannot make a temporary folder")?;
    for (name, text) in files {
        let path = scratch.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).context("cannot make a temporary folder")?;
        }
        std::fs::write(&path, text).context("cannot write a temporary file")?;
    }
    let cargo = Cargo::find(launcher)?;
    let target = Cache::find()?.folder("target")?;
    let test = |more: &[&str], wall| {
        let spec = Spec::new(cargo.program())
            .arguments(["test", "--release", "--target-dir"])
            .arguments([&target])
            .arguments(more)
            .directory(scratch.path())
            .wall(wall);
        run(launcher, &spec)
    };
    let built = test(&["--no-run"], COMPILATION)?;
    if !built.end.is_success() {
        bail!("what was emitted does not compile: {}", built.stderr.last_lines(20));
    }
    let (mut failed, mut runs) = (0, 0);
    let begun = Instant::now();
    while runs < args.runs.unwrap_or(RUNS) && begun.elapsed() < args.time && !stop.is_due() {
        let ended = test(&[], RUN)?;
        runs += 1;
        failed += u64::from(ended.end == End::Exited(TEST_FAILED));
    }
    Ok((failed, runs))
}
