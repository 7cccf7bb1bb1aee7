//! Programs as crates of their own: those that are written for generated programs compile and run, right
//! crates pass their checks, and a fault that is there shows. Needs cargo and the crates that Strait itself
//! is built from.

use std::time::Duration;

use strait_calculus::{Program, parse};
use strait_emit::{Messages, Processes, Standalone, standalone, writable};
use strait_fuzz::{built_in_version, checked_program, processes};
use strait_generate::{Config, Generator, Heuristic};
use strait_runtimes::{Flavour, TargetInfo, target};
use strait_toolchain::{Cache, Cargo, End, Launcher};

type Files = Vec<(String, String)>;

/// Programs per crate and flavour.
const PROGRAMS: u64 = 3;
/// How long the programs of a test may run, all together.
const WALL: Duration = Duration::from_secs(600);

/// A crate that is written for one program.
fn checked(target: &TargetInfo, index: u64, flavour: Flavour) -> Files {
    let capabilities = target.capabilities(flavour).expect("it was listed");
    let capabilities = writable(target.name, processes(flavour), &capabilities).expect("known");
    let config = Config { weights: Heuristic::F.weights(), capabilities, size: 12 };
    let generator = Generator::new(11, config).expect("the capabilities make sense");
    let program = generator.generate(index).program;
    checked_program(target, "a generated program", &program, flavour)
        .unwrap_or_else(|error| panic!("{} {index}: {error}", target.name))
}

/// Several crates as one, which runs the program of each for a moment and ends as the first that fails.
fn together(crates: &[(String, Files)]) -> Files {
    let mut dependencies: Vec<String> = Vec::new();
    let (mut modules, mut calls, mut files) = (String::new(), String::new(), Files::new());
    for (name, written) in crates {
        for (path, text) in written {
            if path == "Cargo.toml" {
                let lines = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
                dependencies.extend(lines.take_while(|line| !line.is_empty()).map(str::to_owned));
            } else {
                let text = text.replace("fn main()", "pub fn main()");
                let text = text.replace(
                    "TIME: Duration = Duration::from_secs(60)",
                    "TIME: Duration = Duration::from_millis(300)",
                );
                files.push((format!("src/{name}.rs"), text));
                modules += &format!("mod {name};\n");
                calls += &format!(
                    "    if {name}::main() != ExitCode::SUCCESS {{\n        return ExitCode::FAILURE;\n    }}\n"
                );
            }
        }
    }
    dependencies.sort();
    dependencies.dedup();
    let main = format!(
        "use std::process::ExitCode;\n\n{modules}\nfn main() -> ExitCode {{\n{calls}    ExitCode::SUCCESS\n}}\n"
    );
    let manifest = format!(
        "[package]\nname = \"reproduce\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\n[workspace]\n",
        dependencies.join("\n")
    );
    files.extend([("src/main.rs".to_owned(), main), ("Cargo.toml".to_owned(), manifest)]);
    files
}

/// Builds a crate and runs it.
fn run(files: &Files) -> End {
    let folder = tempfile::tempdir().expect("a folder");
    let launcher = Launcher::of(env!("CARGO_BIN_EXE_strait-fuzz-subject"));
    let cargo = Cargo::find(&launcher).expect("cargo built this test");
    let program = cargo.build_folder(&Cache::at(folder.path()), files, "reproduce");
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    cargo.run_program(&program, WALL).expect("it was started")
}

fn all_of(names: &[&str]) -> Vec<(String, Files)> {
    let mut crates = Vec::new();
    for name in names {
        let target = target(name).expect("it is there");
        for flavour in target.flavours() {
            for index in 0..PROGRAMS {
                let module = format!("{}_{}_{index}", name.replace('-', "_"), flavour.word());
                crates.push((module, checked(target, index, flavour)));
            }
        }
    }
    crates
}

#[test]
fn generated_programs_pass_on_right_crates() {
    let crates = all_of(&["async-channel", "crossbeam-channel"]);
    assert_eq!(run(&together(&crates)), End::Exited(0));
}

/// These have faults that may show.
#[test]
fn generated_programs_compile_for_every_other_crate() {
    let crates = all_of(&["crossfire", "flume", "kanal", "loole", "postage"]);
    let end = run(&together(&crates));
    assert!(matches!(end, End::Exited(0 | 1) | End::Signalled(_)), "{end}");
}

fn written(text: &str, name: &str, messages: Messages, impossible: &[String]) -> Files {
    let program: Program = parse(text).expect("it is right");
    let version = built_in_version(target(name).expect("it is there"));
    let about = Standalone {
        title: "a program",
        target: name,
        version: Some(&version),
        processes: Processes::Threads,
        messages,
        possible: None,
        impossible,
    };
    standalone(&program, &about).expect("it can be written")
}

#[test]
fn an_impossible_outcome_and_a_message_that_is_never_dropped_are_noticed() {
    // A send that is given up leaks its message in kanal 0.1.1, every time.
    let leak = "main { chan c: int; select { put c 3 {} timeout {} } }";
    assert_eq!(run(&written(leak, "kanal", Messages::Counted, &[])), End::Exited(1));
    let seen = "main { chan c: int[1]; spawn { put c 4 }; get c }";
    let outcome = ["finished main=r4".to_owned()];
    let noticed = written(seen, "async-channel", Messages::Boxed, &outcome);
    assert_eq!(run(&noticed), End::Exited(1));
}

#[test]
fn what_cannot_be_written_is_said_in_a_sentence() {
    let about = |name| Standalone {
        title: "",
        target: name,
        version: None,
        processes: Processes::Threads,
        messages: Messages::Plain,
        possible: None,
        impossible: &[],
    };
    let select = "main { chan c: int[1]; chan d: int[1]; put c 1; select { get c {} get d {} } }";
    let passed = "main { chan c: chan int[1]; chan d: int[1]; put c d; e = get c; put e 1 }";
    let rows = [
        (
            select,
            "loole",
            "this program cannot be written for loole without Strait: it needs a select over several operations, and the crate has none for threads",
        ),
        (
            passed,
            "flume",
            "this program cannot be written for flume without Strait: it sends channels over channels or copies them to other variables",
        ),
        (
            select,
            "tokio",
            "this program cannot be written for tokio without Strait: its operations are not known to the writer",
        ),
    ];
    for (text, name, expected) in rows {
        let refused = standalone(&parse(text).expect("it is right"), &about(name));
        assert_eq!(refused.expect_err("it is refused").to_string(), expected);
    }
}
