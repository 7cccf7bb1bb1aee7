//! `strait emit`: a plain test for a finding, which fails without Strait.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;
use strait_findings::{attach_files, shell_word};
use strait_reorder::{StandaloneRequest, StandaloneTest, is_go, standalone};

use crate::commands::trust::{ModuleArgs, TrustArgs};
use crate::duration;
use crate::interrupt;
use crate::ui::{Paint, Status, Ui};

/// The folder below a finding's directory.
const FOLDER: &str = "emitted";

/// Make a plain test of a finding, which fails without Strait
#[derive(Args)]
#[command(after_help = "\
For a finding of `strait go fuzz`: a Go test that runs your test, by the real clock or in a bubble of \
testing/synctest, and fails if a goroutine stays blocked or panics where the finding says. If that needs an \
order, short waits are put before statements of copies of your files; nothing in the module is changed.
What is emitted is compiled and run, and the summary says how often it failed. It is written to the folder \
`emitted` of the finding.
Exit codes: 0 it failed in at least 95 % of its runs, 1 it failed less often, 2 usage, input or environment \
error, or nothing can be emitted.")]
pub struct EmitArgs {
    /// The finding's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Number of runs of what is emitted
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: u64,
    /// Time for the search
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "2m")]
    time: Duration,
    #[command(flatten)]
    module: ModuleArgs,
    #[command(flatten)]
    trust: TrustArgs,
}

impl EmitArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let finding = strait_findings::read(&self.folder)?;
        if !is_go(&finding) {
            bail!(
                "{} is a finding of the kind {}, for which nothing can be emitted yet; `strait replay` shows it",
                self.folder.display(),
                finding.kind
            );
        }
        let stop = interrupt::stop_for(ui)?;
        let launcher = self.trust.launcher(&stop)?;
        let here = std::env::current_dir().context("cannot find the current folder")?;
        let request = StandaloneRequest {
            folder: &self.folder,
            finding: &finding,
            permitted: self.trust.modules(&self.module, &here),
            runs: self.runs,
            time: self.time,
        };
        let emitted = standalone(&request, &launcher, stop.flag())?;
        let folder = self.folder.canonicalize().context("cannot find the finding's folder")?;
        let folder = folder.join(FOLDER);
        self.write(&folder, &finding.title, &emitted)?;
        tell(ui, &finding.id, &folder, &emitted)?;
        let is_reliable = emitted.runs > 0 && emitted.failed * 100 >= emitted.runs * 95;
        Ok(if is_reliable { Status::Clean } else { Status::Found })
    }

    fn write(&self, folder: &Path, title: &str, emitted: &StandaloneTest) -> anyhow::Result<()> {
        let mut files = emitted.files.clone();
        files.push(("overlay.json".to_owned(), emitted.overlay(folder)));
        files.push(("README.md".to_owned(), readme(folder, title, emitted)));
        Ok(attach_files(&self.folder, FOLDER, &files)?)
    }
}

/// The command, as it is typed.
fn command(folder: &Path, emitted: &StandaloneTest) -> String {
    let words: Vec<String> =
        emitted.command(folder).iter().map(|word| shell_word(word).to_string()).collect();
    words.join(" ")
}

fn readme(folder: &Path, title: &str, emitted: &StandaloneTest) -> String {
    let title = strait_findings::visible(title);
    let gates = match emitted.gates.as_slice() {
        [] => "It needs no particular order.".to_owned(),
        gates => format!(
            "The order is made by short waits in copies of your files, before {}. The copies stand beside this file.",
            gates.join(" and ")
        ),
    };
    format!(
        "# A test that shows a fault\n\n{title}\n\nIt failed in {} of {} runs without Strait. {gates}\n\n\
         Run it in {}:\n\n```sh\n{}\n```\n\n\
         `overlay.json` names the files that are replaced or added, by their paths on this machine.\n",
        emitted.failed,
        emitted.runs,
        emitted.directory.display(),
        command(folder, emitted),
    )
}

fn tell(ui: &Ui, id: &str, folder: &Path, emitted: &StandaloneTest) -> anyhow::Result<()> {
    let (failed, runs) = (emitted.failed, emitted.runs);
    if ui.json {
        return ui.document(&json!({
            "id": id,
            "dir": folder,
            "failed": failed,
            "runs": runs,
            "gates": emitted.gates,
            "tried": emitted.tried,
            "command": emitted.command(folder),
        }));
    }
    let is_reliable = failed * 100 >= runs * 95;
    let paint = if is_reliable { Paint::Green } else { Paint::Yellow };
    ui.line(ui.paint(paint, format!("It failed in {failed} of {runs} runs without Strait.")))?;
    match emitted.gates.as_slice() {
        [] => {}
        gates => ui.line(format!("Short waits before {} make the order.", gates.join(" and ")))?,
    }
    ui.line(format!("In {}:", emitted.directory.display()))?;
    ui.line(format!("  {}", command(folder, emitted)))
}
