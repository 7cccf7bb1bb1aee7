//! The chores of the workspace, as `cargo xtask COMMAND`. No dependencies, so that it is built in
//! seconds before everything else.
//!
//! A command is a table of steps ([`suites`]) given to one runner ([`step`]); the house rules that
//! no compiler checks are in [`tidy`], one file a rule.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "xtask is no part of the product: starting cargo and printing are its job"
)]

mod audit;
mod book;
mod case_studies;
mod compilers;
mod first_hours;
mod platforms;
mod reference;
mod sanitize;
mod step;
mod suites;
mod tidy;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use step::{Class, Outcome, Step};
use workspace::Workspace;

/// Exit code of a wrong command line; 1 is a step that failed.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, names)) = arguments.split_first() else {
        eprintln!("{}", help());
        return ExitCode::from(USAGE);
    };
    match command.as_str() {
        "test" => run(suites::TEST, names),
        "tidy" => run(suites::TIDY, names),
        "bench" => run(suites::BENCH, names),
        "chaos" => run(suites::CHAOS, names),
        "kill" => kill(names),
        "audit" => run(audit::STEPS, names),
        "package" => run(suites::PACKAGE, names),
        "msrv" => run(suites::MSRV, names),
        "platforms" => run(platforms::STEPS, names),
        "sanitize" => run(sanitize::STEPS, names),
        "book" => run(suites::BOOK, names),
        "first-hours" => run(first_hours::PAGES, names),
        "go-differential" => go_differential(names),
        "go-cases" => go_cases(names),
        "go-standard-tests" => go_standard_tests(names),
        "sweep" => sweep(names),
        "case-studies" => case_studies(names),
        "compilers" => unpack_compilers(names),
        "help" | "-h" | "--help" => {
            println!("{}", help());
            ExitCode::SUCCESS
        }
        other => {
            eprintln!("xtask: there is no command `{other}`\n\n{}", help());
            ExitCode::from(USAGE)
        }
    }
}

/// Runs the named steps of a table, or all of them.
fn run(table: &[Step], names: &[String]) -> ExitCode {
    let prepared = Workspace::find().and_then(|workspace| {
        let steps = step::select(table, names)?;
        Ok((workspace, steps))
    });
    let (workspace, steps) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => return usage(&message),
    };
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let summary = step::run(&steps, &workspace, ci);
    println!("\n{summary}");
    if summary.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares the verifier with real Go; the arguments are those of the fuzzer.
fn go_differential(arguments: &[String]) -> ExitCode {
    match Workspace::find() {
        Ok(workspace) => exit_code(suites::go_differential(&workspace, arguments)),
        Err(message) => usage(&message),
    }
}

/// Kills campaigns at random moments; the arguments are how often and the seed.
fn kill(arguments: &[String]) -> ExitCode {
    let number = |text: &String| text.parse::<u64>().is_ok();
    match (Workspace::find(), arguments) {
        (Err(message), _) => usage(&message),
        (Ok(workspace), [] | [_] | [_, _]) if arguments.iter().all(number) => {
            exit_code(suites::kill(&workspace, arguments))
        }
        _ => usage("`kill` takes a number of kills and a seed"),
    }
}

/// Where the Go programs with known truth are, seen from the root of the checkout.
const CASES: &str = "../shared/cases";

/// Runs the Go programs with known truth, in the folder named or in the usual one.
fn go_cases(arguments: &[String]) -> ExitCode {
    let workspace = match Workspace::find() {
        Ok(workspace) => workspace,
        Err(message) => return usage(&message),
    };
    let folder = match arguments {
        [] => workspace.root().join(CASES),
        [folder] => PathBuf::from(folder),
        _ => return usage("`go-cases` takes one folder at most"),
    };
    match folder.canonicalize() {
        Ok(folder) if folder.is_dir() => exit_code(suites::go_cases(&workspace, &folder)),
        _ => usage(&format!(
            "there is no folder {}; name one that holds `go-verify` and `go-semantics.py`",
            folder.display()
        )),
    }
}

/// Runs the standard library's own tests under the overlay; the arguments are packages.
fn go_standard_tests(packages: &[String]) -> ExitCode {
    match Workspace::find() {
        Ok(workspace) => exit_code(suites::go_standard_tests(&workspace, packages)),
        Err(message) => usage(&message),
    }
}

/// Fuzzes published Go modules; the arguments are those of the sweep.
fn sweep(arguments: &[String]) -> ExitCode {
    match Workspace::find() {
        Ok(workspace) => exit_code(suites::sweep(&workspace, arguments)),
        Err(message) => usage(&message),
    }
}

/// Runs the loom tests of published crates; the arguments are those of the case studies.
fn case_studies(arguments: &[String]) -> ExitCode {
    let outcome = Workspace::find().and_then(|workspace| case_studies::run(&workspace, arguments));
    match outcome {
        Ok(outcome) => exit_code(outcome),
        Err(message) => usage(&message),
    }
}

/// Unpacks compilers, into the folder named or into the user's cache.
fn unpack_compilers(arguments: &[String]) -> ExitCode {
    let folder = match arguments {
        [] => compilers::default_folder(),
        [folder] => Some(PathBuf::from(folder)),
        _ => return usage("`compilers` takes one folder at most"),
    };
    match folder {
        Some(folder) => exit_code(compilers::unpack(&folder)),
        None => usage("neither XDG_CACHE_HOME nor HOME is set: name a folder"),
    }
}

fn usage(message: &str) -> ExitCode {
    eprintln!("xtask: {message}");
    ExitCode::from(USAGE)
}

fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed(message) | Outcome::Skipped(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let names = |table: &[Step]| table.iter().map(|step| step.name).collect::<Vec<_>>().join(", ");
    let required = Class::ALL.iter().filter(|class| class.required_in_ci());
    let required: Vec<String> = required.map(Class::to_string).collect();
    format!(
        "cargo xtask COMMAND [STEP...]\n\n\
         test    all checks and tests: {}\n\
         tidy    the house rules alone\n\
         bench   the benches; BENCHMARKS.md holds the recorded figures\n\
         book    the pages of docs/ as a book in target/book: {}\n\
         first-hours\n        \
         docs/first-hour followed literally; STRAIT_BIN names a binary to use: {}\n\
         go-differential [ARGUMENT...]\n        \
         random Go programs, run by go and judged by `strait go verify`; 20,000 by default\n\
         go-cases [DIR]\n        \
         Go programs with known truth, judged by `strait go verify`; DIR is ../shared/cases by\n        \
         default\n\
         go-standard-tests [PACKAGE...]\n        \
         the standard library's own tests with and without the hooks of `strait go fuzz`, and\n        \
         every difference; runtime, sync, time, net, net/http, os/exec and context by default\n\
         sweep [--jobs N] [--round N] [--last-round N] [--seconds N] [--total-seconds N] [--out DIR]\n        \
         [MODULE...]\n        \
         `strait go fuzz` on published Go modules, round after round: a minute each, eight hours\n        \
         in all by default, every second round for data races; goes on where it was ended\n\
         case-studies [--way WAY]... [--seconds N] [--filter TEXT] [--weaken] [CRATE...]\n        \
         the loom tests of published crates over loom and over strait-loom, each test for 30\n        \
         seconds at most by default: executions and times, or which weakened orderings are noticed\n\
         compilers [DIR]\n        \
         Debian's Rust compilers and rust-analyzers as oracles for `strait types`, unpacked below\n        \
         DIR (~/.cache/strait/compilers by default) and installed nowhere; some 2 GB\n\
         chaos   a campaign through a queue: 200 kills of workers, 5 of the server\n\
         kill [KILLS] [SEED]\n        \
         `kill -9` at random moments of `fuzz`, `types` and `go fuzz`, which are resumed: same\n        \
         results, nothing left; 1,000 kills by default; STRAIT_BIN names a binary to use\n\
         audit   the dependencies, by cargo-deny and deny.toml: {}\n\
         package every crate as it would be published, built from its package\n\
         msrv    a build with the oldest compiler that is promised\n\
         platforms\n        \
         does the library compile for other platforms? {}\n\
         sanitize\n        \
         the library's own tests under the address sanitizer and Miri: {}\n\n\
         STEP runs only the steps named. A step whose tool is missing is skipped, and said at the\n\
         end; with CI=true that is a failure for steps of the classes {}.",
        names(suites::TEST),
        names(suites::BOOK),
        names(first_hours::PAGES),
        names(audit::STEPS),
        names(platforms::STEPS),
        names(sanitize::STEPS),
        required.join(", "),
    )
}
