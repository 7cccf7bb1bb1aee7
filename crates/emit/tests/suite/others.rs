//! Crystal, Rust, Flix and core.async: what is emitted compiles and runs, where they are here.

use crate::support::{
    assert_finished, interpret, launcher, programs, run_compiled, run_worker, toolchain,
};
use strait_calculus::Program;
use strait_emit::{Compilation, Era, Language, Platform, batch};
use strait_runtimes::{RunOptions, Style};
use strait_toolchain::{Cache, Cargo, Dependency, Harness, WorkerSpec};

#[test]
fn crystal() {
    let Some(crystal) = toolchain(Platform::Crystal, None) else { return };
    let programs = programs(crystal.capabilities(), 1, 60);
    let programs: Vec<&Program> = programs.iter().collect();
    let compiled = match crystal.compile(&programs).expect("the compiler runs") {
        Compilation::Ready(compiled) => compiled,
        Compilation::Refused { complaint, folder } => {
            panic!("{}: {}", folder.display(), complaint.said())
        }
    };
    assert_finished(&run_compiled(&compiled, &programs, 5), programs.len(), 5);
    compiled.remove();
}

#[test]
fn rust() {
    let programs = programs(Language::Rust.capabilities(), 1, 40);
    let programs: Vec<&Program> = programs.iter().collect();
    let files = batch(Language::Rust, Era::Modern, &programs).expect("within Rust");
    let harness = Harness {
        name: "emitted".to_owned(),
        pinned: Dependency::new("crossbeam-channel", "0.5.15"),
        dependencies: String::new(),
        tables: String::new(),
        files,
    };
    let cache = Cache::at(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust"));
    let cargo = Cargo::find(&launcher()).expect("the tests are built by it");
    let built = cargo.build(&cache, &harness).unwrap_or_else(|error| panic!("{error}"));
    let spec = WorkerSpec::foreign(&built.program, ["3", "60000"]);
    assert_finished(&run_worker(&spec, &programs), programs.len(), 3);
}

#[test]
fn core_async() {
    let Some(core_async) = toolchain(Platform::CoreAsync, None) else { return };
    let programs = programs(core_async.capabilities(), 1, 60);
    let programs: Vec<&Program> = programs.iter().collect();
    for (_, style) in Style::all() {
        let options = RunOptions { style, repetitions: 10, ..RunOptions::default() };
        assert_finished(&interpret(&core_async, &programs, &options), programs.len(), 10);
    }
}

#[test]
fn flix() {
    let programs = programs(Language::Flix.capabilities(), 1, 200);
    let programs: Vec<&Program> = programs.iter().collect();
    // All of them can be written, whether there is a compiler or not.
    batch(Language::Flix, Era::Modern, &programs).expect("within Flix");
    let Some(flix) = toolchain(Platform::Flix, None) else { return };
    match flix.compile(&programs[..20]).expect("the compiler runs") {
        Compilation::Ready(compiled) => compiled.remove(),
        Compilation::Refused { complaint, folder } => {
            panic!("{}: {}", folder.display(), complaint.said())
        }
    }
}
