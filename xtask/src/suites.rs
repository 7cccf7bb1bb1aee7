//! What each command runs, in order. A new suite is one more line in its table.

use std::path::Path;

use crate::step::{Class, Outcome, Step};
use crate::workspace::Workspace;
use crate::{book, reference, tidy};

/// `cargo xtask test`: cheap checks first.
pub const TEST: &[Step] = &[
    Step::new("format", Class::Rust, format),
    Step::new("tidy", Class::Rust, tidy::run),
    Step::new("clippy", Class::Rust, clippy),
    Step::new("tests", Class::Rust, tests),
    Step::new("doc-tests", Class::Rust, doc_tests),
    Step::new("docs", Class::Rust, docs),
    Step::new("reference", Class::Rust, reference::check),
];

/// `cargo xtask tidy`.
pub const TIDY: &[Step] = &[Step::new("tidy", Class::Rust, tidy::run)];

/// `cargo xtask chaos`: a campaign through a queue with 200 kills of workers and 5 of the server.
pub const CHAOS: &[Step] = &[Step::new("chaos", Class::Rust, chaos)];

/// `cargo xtask package`: every crate as it would be published, built from what is in the package.
pub const PACKAGE: &[Step] = &[Step::new("package", Class::Rust, package)];

/// `cargo xtask msrv`: builds with the oldest compiler that is promised.
pub const MSRV: &[Step] = &[Step::new("msrv", Class::Rust, msrv)];

/// `cargo xtask bench`.
pub const BENCH: &[Step] = &[Step::new("benches", Class::Rust, benches)];

/// `cargo xtask book`.
pub const BOOK: &[Step] = &[
    Step::new("reference", Class::Rust, reference::write),
    Step::new("pages", Class::Rust, book::build),
];

fn format(workspace: &Workspace) -> Outcome {
    match workspace.component("rustfmt", "fmt") {
        Ok(()) => workspace.cargo(&["fmt", "--all", "--check"]),
        Err(why) => Outcome::Skipped(why),
    }
}

fn clippy(workspace: &Workspace) -> Outcome {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    match workspace.component("clippy", "clippy") {
        Ok(()) => workspace.cargo(&arguments),
        Err(why) => Outcome::Skipped(why),
    }
}

fn tests(workspace: &Workspace) -> Outcome {
    // The tests themselves say what they skip.
    if let Err(why) = workspace.nats_server() {
        println!("{why}");
    }
    workspace.cargo(&["test", "--workspace", "--all-targets", "--no-fail-fast"])
}

fn doc_tests(workspace: &Workspace) -> Outcome {
    workspace.cargo(&["test", "--workspace", "--doc", "--no-fail-fast"])
}

/// Kills of workers, restarts of the server, programs.
const CHAOS_SIZE: &str = "200 5 45000";

fn chaos(workspace: &Workspace) -> Outcome {
    if let Err(why) = workspace.nats_server() {
        return Outcome::Skipped(why);
    }
    let arguments =
        ["test", "-p", "strait-cli", "--release", "--test", "queue", "--", "--nocapture"];
    workspace.cargo_with(&arguments, &[("STRAIT_CHAOS", CHAOS_SIZE)])
}

/// Kills of `cargo xtask kill`, unless the arguments say otherwise.
const KILLS: &str = "1000";

/// Kills campaigns at random moments and resumes them; the arguments are how often and the seed.
pub fn kill(workspace: &Workspace, arguments: &[String]) -> Outcome {
    let kills = arguments.first().map_or(KILLS, String::as_str);
    let mut variables = vec![("STRAIT_KILLS", kills)];
    variables.extend(arguments.get(1).map(|seed| ("STRAIT_KILLS_SEED", seed.as_str())));
    let test = ["test", "-p", "strait-cli", "--release", "--test", "kill"];
    // One after the other: they measure how long a campaign takes.
    let flags = ["--", "--nocapture", "--test-threads", "1"];
    workspace.cargo_with(&[test.as_slice(), &flags].concat(), &variables)
}

/// Programs of `cargo xtask go-differential`, unless the arguments say otherwise.
const DIFFERENTIAL_SIZE: &str = "20000";

/// Builds the verifier in release, or takes the one that `STRAIT_BIN` names, and runs the
/// differential fuzzer of the extraction with these arguments.
pub fn go_differential(workspace: &Workspace, arguments: &[String]) -> Outcome {
    let strait = match release_binary(workspace) {
        Ok(strait) => strait,
        Err(outcome) => return outcome,
    };
    let mut all = vec!["run", "--release", "--package", "strait-extractfuzz", "--"];
    all.extend(["--strait", &strait, "--keep-going"]);
    if !arguments.iter().any(|argument| argument.starts_with("--count")) {
        all.extend(["--count", DIFFERENTIAL_SIZE]);
    }
    all.extend(arguments.iter().map(String::as_str).filter(|one| *one != "--keep-going"));
    workspace.cargo(&all)
}

/// Builds the verifier in release, or takes the one that `STRAIT_BIN` names, and runs the Go
/// programs with known truth in this folder.
pub fn go_cases(workspace: &Workspace, folder: &Path) -> Outcome {
    let strait = match release_binary(workspace) {
        Ok(strait) => strait,
        Err(outcome) => return outcome,
    };
    let folder = folder.display().to_string();
    let program = ["--package", "strait-extractfuzz", "--bin", "strait-go-cases", "--"];
    let arguments = ["--strait", strait.as_str(), folder.as_str()];
    workspace.cargo(&[&["run", "--release"], program.as_slice(), &arguments].concat())
}

/// Runs the standard library's own tests with and without the hooks of `strait go fuzz`.
pub fn go_standard_tests(workspace: &Workspace, packages: &[String]) -> Outcome {
    let mut all = vec!["run", "--package", "strait-golang", "--example", "standard_tests", "--"];
    all.extend(packages.iter().map(String::as_str));
    workspace.cargo(&all)
}

/// Fuzzes published Go modules with `strait go fuzz`.
pub fn sweep(workspace: &Workspace, arguments: &[String]) -> Outcome {
    let strait = match release_binary(workspace) {
        Ok(strait) => strait,
        Err(outcome) => return outcome,
    };
    let out = workspace.target().join("sweep").display().to_string();
    let mut all = vec!["run", "--package", "strait-reorder", "--example", "sweep", "--"];
    all.extend(["--strait", &strait, "--out", &out]);
    all.extend(arguments.iter().map(String::as_str));
    workspace.cargo(&all)
}

/// The path of `strait`, built in release unless `STRAIT_BIN` names one.
fn release_binary(workspace: &Workspace) -> Result<String, Outcome> {
    if let Ok(named) = std::env::var("STRAIT_BIN") {
        return Ok(named);
    }
    match workspace.cargo(&["build", "--release", "--package", "strait-cli"]) {
        Outcome::Passed => Ok(workspace.target().join("release/strait").display().to_string()),
        outcome => Err(outcome),
    }
}

fn package(workspace: &Workspace) -> Outcome {
    workspace.cargo(&[
        "package",
        "--workspace",
        "--exclude",
        "xtask",
        "--exclude",
        "strait-extractfuzz",
        "--allow-dirty",
    ])
}

fn msrv(workspace: &Workspace) -> Outcome {
    match workspace.oldest_compiler() {
        Ok((version, cargo)) => {
            println!("the oldest compiler that is promised: {version}");
            workspace.run(&cargo, &["check", "--workspace", "--all-targets"])
        }
        Err(why) => Outcome::Skipped(why),
    }
}

/// Links in the docs must lead somewhere. Those to private items may stay: the docs are read in
/// the source as well.
fn docs(workspace: &Workspace) -> Outcome {
    let flags = "--deny warnings --allow rustdoc::private_intra_doc_links";
    workspace.cargo_with(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", flags)])
}

fn benches(workspace: &Workspace) -> Outcome {
    let outcome = workspace.cargo(&["bench", "--workspace", "--bench", "*"]);
    let record = workspace.root().join("BENCHMARKS.md");
    println!("The recorded figures, and the machine they come from: {}", record.display());
    outcome
}
