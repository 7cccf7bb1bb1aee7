//! `strait emit` on a finding of `strait go fuzz`.

use std::path::Path;

use anyhow::Context;
use strait_campaign::Stop;
use strait_findings::{Finding, shell_word};
use strait_reorder::{StandaloneRequest, standalone};
use strait_toolchain::Launcher;

use crate::commands::emit::{EmitArgs, Emitted};

/// The runs, if nothing is said about them.
const RUNS: u64 = 20;

/// A Go test, for `go test -overlay`.
pub fn emit(
    args: &EmitArgs,
    finding: &Finding,
    folder: &Path,
    launcher: &Launcher,
    stop: &Stop,
) -> anyhow::Result<Emitted> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    let request = StandaloneRequest {
        folder: &args.folder,
        finding,
        permitted: args.trust.modules(&args.module, &here),
        runs: args.runs.unwrap_or(RUNS),
        time: args.time,
    };
    let test = standalone(&request, launcher, stop.flag())?;
    let mut files = test.files.clone();
    files.push(("overlay.json".to_owned(), test.overlay(folder)));
    let order = match test.gates.as_slice() {
        [] => "It needs no particular order.".to_owned(),
        gates => format!(
            "Short waits before {} make the order; they are in copies of your files.",
            gates.join(" and ")
        ),
    };
    let about = format!("{order} overlay.json names the files that are replaced or added.");
    let words: Vec<String> =
        test.command(folder).iter().map(|word| shell_word(word).to_string()).collect();
    Ok(Emitted {
        files,
        failed: test.failed,
        runs: test.runs,
        about,
        directory: test.directory,
        command: words.join(" "),
    })
}
