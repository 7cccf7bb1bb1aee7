//! `cargo xtask audit`: what the workspace depends on, judged by cargo-deny with the rules of
//! `deny.toml`: licences, where crates come from, crates in several versions, and known
//! vulnerabilities. The list of those is a repository of its own; where it cannot be fetched, the step
//! is skipped, and said so.

use std::ffi::OsString;

use crate::step::{Class, Outcome, Step};
use crate::workspace::Workspace;

/// One step for each thing that cargo-deny checks.
pub const STEPS: &[Step] = &[
    Step::new("licences", Class::Rust, licences),
    Step::new("sources", Class::Rust, sources),
    Step::new("duplicates", Class::Rust, duplicates),
    Step::new("advisories", Class::Rust, advisories),
];

fn licences(workspace: &Workspace) -> Outcome {
    check(workspace, "licenses")
}

fn sources(workspace: &Workspace) -> Outcome {
    check(workspace, "sources")
}

fn duplicates(workspace: &Workspace) -> Outcome {
    check(workspace, "bans")
}

/// With the list that was fetched just now, or not at all: an old one would say that all is well.
fn advisories(workspace: &Workspace) -> Outcome {
    let deny = match workspace.tool("cargo-deny") {
        Ok(deny) => deny,
        Err(why) => return Outcome::Skipped(why),
    };
    match deny_with(workspace, &deny, &["fetch", "db"]) {
        Outcome::Passed => deny_with(workspace, &deny, &["check", "--disable-fetch", "advisories"]),
        Outcome::Failed(why) | Outcome::Skipped(why) => Outcome::Skipped(format!(
            "known vulnerabilities were NOT checked, because the list of them cannot be fetched \
             from https://github.com/rustsec/advisory-db: {why}"
        )),
    }
}

fn check(workspace: &Workspace, what: &str) -> Outcome {
    match workspace.tool("cargo-deny") {
        Ok(deny) => deny_with(workspace, &deny, &["check", "--hide-inclusion-graph", what]),
        Err(why) => Outcome::Skipped(why),
    }
}

fn deny_with(workspace: &Workspace, deny: &OsString, arguments: &[&str]) -> Outcome {
    workspace.run(deny, &[["--all-features"].as_slice(), arguments].concat())
}
