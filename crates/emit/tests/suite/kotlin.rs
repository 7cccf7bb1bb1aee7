//! Kotlin: interpreted and compiled, and the stack overflow of kotlinx.coroutines issue 504.

use crate::support::{assert_finished, interpret, programs, run_compiled, toolchain, workshop};
use strait_calculus::Program;
use strait_emit::{Compilation, Missing, Platform, Toolchain, stack_overflow};
use strait_runtimes::{Ended, RunOptions, Style};

#[test]
fn the_newest_version_interprets_and_compiles() {
    let Some(kotlin) = toolchain(Platform::Kotlin, None) else { return };
    let programs = programs(kotlin.capabilities(), 1, 60);
    let programs: Vec<&Program> = programs.iter().collect();
    for (_, style) in Style::all() {
        let options = RunOptions { style, repetitions: 20, ..RunOptions::default() };
        assert_finished(&interpret(&kotlin, &programs, &options), programs.len(), 20);
    }
    let compiled = match kotlin.compile(&programs[..40]).expect("the compiler runs") {
        Compilation::Ready(compiled) => compiled,
        Compilation::Refused { complaint, folder } => {
            panic!("{}: {}", folder.display(), complaint.said())
        }
    };
    assert_finished(&run_compiled(&compiled, &programs, 5), 40, 5);
    compiled.remove();
}

#[test]
fn version_1_3_2_overflows_its_stack() {
    let Some(kotlin) = toolchain(Platform::Kotlin, Some("1.3.2")) else { return };
    let programs = programs(kotlin.capabilities(), 0, 400);
    let options = RunOptions { style: Style::Barrier, repetitions: 300, ..RunOptions::default() };
    for program in &programs {
        let ends = interpret(&kotlin, &[program], &options);
        match ends.get(&0) {
            Some((_, Ended::Finished)) => {}
            Some((_, Ended::Panicked(said))) => {
                let methods = stack_overflow(said).unwrap_or_else(|| panic!("{said}"));
                let is_known = |name: &String| name.contains("kotlinx.coroutines.selects");
                assert!(methods.iter().any(is_known), "{methods:?}");
                return;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("no program of 400 overflowed the stack");
}

#[test]
fn a_version_that_is_not_there_is_one_clear_sentence() {
    let Some(_) = toolchain(Platform::Kotlin, None) else { return };
    match Toolchain::find(&workshop(), Platform::Kotlin, Some("9.9.9")) {
        Err(missing @ Missing::NoSuchVersion { .. }) => {
            let said = missing.to_string();
            assert!(
                said.starts_with("there is no version 9.9.9 of kotlinx.coroutines; see "),
                "{said}"
            );
        }
        Err(Missing::Offline { .. }) => {
            crate::support::skipped("unknown versions: there is no network")
        }
        other => panic!("{other:?}"),
    }
}
