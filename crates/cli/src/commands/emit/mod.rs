//! `strait emit`: a plain test for a finding, which fails without Strait.

pub mod crates;
pub mod go;
pub mod types;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde_json::json;
use strait_findings::{Finding, attach_files};

use crate::commands::trust::{ModuleArgs, TrustArgs};
use crate::duration;
use crate::interrupt;
use crate::ui::{Paint, Status, Ui};

/// The folder below a finding's directory.
const FOLDER: &str = "emitted";
/// A test that fails in fewer runs of a hundred is not reliable.
const RELIABLE: u64 = 95;

/// Turn a finding into an ordinary test that shows the fault without Strait
#[derive(Args)]
#[command(after_help = "\
A finding of `strait go fuzz` becomes a Go test that calls your test, with the real clock or in a bubble of \
testing/synctest. It fails if a goroutine stays blocked or panics at the place of the finding. If the fault \
needs a certain order, Strait adds short waits to copies of your files; the module itself is not changed.
A finding of `strait types` is written as one file with the annotations of rustc's ui tests.
A finding of `strait fuzz` in a Rust crate becomes a crate with a test that uses that crate alone.
The test is written to the folder `emitted` of the finding, compiled and run. The summary says in how many \
runs it failed. Like `strait replay`, this command runs no program and compiles no folder that only the \
finding names.
Exit codes: 0 the test failed in at least 95 % of its runs, 1 the test failed less often, 2 usage, input or \
environment error, or no test can be emitted.")]
pub struct EmitArgs {
    /// The finding's directory
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Number of runs of the emitted test [default: 20 for a Go test, otherwise 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub runs: Option<u64>,
    /// Time limit for the search, or for all runs of an emitted crate
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "2m")]
    pub time: Duration,
    #[command(flatten)]
    pub module: ModuleArgs,
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// A test and what became of it.
pub struct Emitted {
    /// File names below the folder, and texts.
    pub files: Vec<(String, String)>,
    /// In how many runs it failed for the reason of the finding.
    pub failed: u64,
    /// Of how many.
    pub runs: u64,
    /// How it works, in full sentences.
    pub about: String,
    /// Where the command runs.
    pub directory: PathBuf,
    /// The command, as it is typed.
    pub command: String,
}

impl Emitted {
    fn is_reliable(&self) -> bool {
        self.runs > 0 && self.failed * 100 >= self.runs * RELIABLE
    }
}

impl EmitArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let finding = strait_findings::read(&self.folder)?;
        let stop = interrupt::stop_for(ui)?;
        let launcher = self.trust.launcher(&stop)?;
        let folder = self.folder.canonicalize().context("cannot find the finding's directory")?;
        let folder = folder.join(FOLDER);
        let emitted = if strait_reorder::is_go(&finding) {
            go::emit(self, &finding, &folder, &launcher, &stop)?
        } else if strait_typefuzz::is_types(&finding) {
            types::emit(self, &folder, &launcher, &stop)?
        } else {
            crates::emit(self, ui, &folder, &launcher, &stop)?
        };
        let mut files = emitted.files.clone();
        files.push(("README.md".to_owned(), readme(&finding.title, &emitted)));
        attach_files(&self.folder, FOLDER, &files)?;
        tell(ui, &finding, &folder, &emitted)?;
        Ok(if emitted.is_reliable() { Status::Clean } else { Status::Found })
    }
}

fn readme(title: &str, emitted: &Emitted) -> String {
    format!(
        "# A test that shows a fault\n\n{}\n\nIt failed in {} of {} runs without Strait. {}\n\n\
         Run it in {}:\n\n```sh\n{}\n```\n",
        strait_findings::visible(title),
        emitted.failed,
        emitted.runs,
        emitted.about,
        emitted.directory.display(),
        emitted.command,
    )
}

fn tell(ui: &Ui, finding: &Finding, folder: &Path, emitted: &Emitted) -> anyhow::Result<()> {
    let (failed, runs) = (emitted.failed, emitted.runs);
    if ui.json {
        return ui.document(&json!({
            "id": finding.id,
            "dir": folder,
            "failed": failed,
            "runs": runs,
            "about": emitted.about,
            "directory": emitted.directory,
            "command": emitted.command,
        }));
    }
    let paint = if emitted.is_reliable() { Paint::Green } else { Paint::Yellow };
    ui.line(ui.paint(paint, format!("It failed in {failed} of {runs} runs without Strait.")))?;
    ui.line(&emitted.about)?;
    ui.line(format!("In {}:", emitted.directory.display()))?;
    ui.line(format!("  {}", emitted.command))
}
