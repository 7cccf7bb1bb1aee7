//! Go: what is emitted compiles and runs, compiled and interpreted, and a hang is told.

use std::time::Duration;

use crate::support::{
    assert_finished, interpret, programs, run_compiled, skipped, toolchain, workshop,
};
use strait_calculus::Program;
use strait_emit::{Compilation, Language, Missing, Platform, Toolchain};
use strait_runtimes::{Ended, RunOptions, Style};

#[test]
fn a_batch_of_hundreds_compiles_and_every_record_has_a_schedule() {
    let Some(go) = toolchain(Platform::Go, None) else { return };
    let programs = programs(go.capabilities(), 1, 300);
    let programs: Vec<&Program> = programs.iter().collect();
    let compiled = match go.compile(&programs).expect("go works") {
        Compilation::Ready(compiled) => compiled,
        Compilation::Refused { complaint, folder } => {
            panic!("{}: {}", folder.display(), complaint.said())
        }
    };
    let ends = run_compiled(&compiled, &programs, 5);
    assert_finished(&ends, programs.len(), 5);
    compiled.remove();
}

#[test]
fn the_interpreter_runs_the_same_programs_in_every_style() {
    let Some(go) = toolchain(Platform::Go, None) else { return };
    let programs = programs(go.capabilities(), 2, 150);
    let programs: Vec<&Program> = programs.iter().collect();
    for (_, style) in Style::all() {
        let options = RunOptions { style, repetitions: 20, ..RunOptions::default() };
        let ends = interpret(&go, &programs, &options);
        assert_finished(&ends, programs.len(), 20);
    }
}

#[test]
fn a_deadlock_is_a_hang_with_the_places_where_processes_stand() {
    let Some(go) = toolchain(Platform::Go, None) else { return };
    let source = "main { chan a: int; chan b: int; spawn { put a 1; get b }; get b; get a }";
    let program = strait_calculus::parse(source).expect("a program");
    let options = RunOptions { patience: Duration::from_millis(300), ..RunOptions::default() };
    let ends = interpret(&go, &[&program], &options);
    let Some((0, Ended::Hung { instance: 0, stuck, record })) = ends.get(&0) else {
        panic!("{ends:?}")
    };
    assert_eq!(stuck.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>(), [vec![], vec![1]]);
    assert_eq!(record.to_text(), "unfinished");
}

#[test]
fn what_a_person_gets_can_be_built_and_says_what_it_saw() {
    let Some(_) = toolchain(Platform::Go, None) else { return };
    let source = "main { chan c: int; spawn { put c 7 }; x = get c; observe x }";
    let program = strait_calculus::parse(source).expect("a program");
    let text = strait_emit::emit(Language::Go, &program).expect("within Go");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("main.go"), text).expect("written");
    let spec = strait_toolchain::Spec::new("go")
        .arguments(["run", "main.go"])
        .directory(folder.path())
        .variable("GOFLAGS", "");
    let finished = strait_toolchain::run(&crate::support::launcher(), &spec).expect("go starts");
    assert_eq!(finished.stdout.text(), "finished main=r7,o7\n", "{}", finished.stderr.text());
}

#[test]
fn a_version_that_is_not_there_is_one_clear_sentence() {
    let Some(_) = toolchain(Platform::Go, None) else { return };
    match Toolchain::find(&workshop(), Platform::Go, Some("1.99.0")) {
        Err(missing @ Missing::NoSuchVersion { .. }) => {
            let said = missing.to_string();
            assert!(
                said.starts_with("there is no version 1.99.0 of Go; see https://go.dev/dl."),
                "{said}"
            );
        }
        Err(Missing::Offline { .. }) => skipped("unknown versions of Go: there is no network"),
        other => panic!("{other:?}"),
    }
}
