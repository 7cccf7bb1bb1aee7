//! `strait reduce`: a finding made small.

use crate::commands::types;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};
use strait_calculus::print;
use strait_campaign::{Ending, Stop};
use strait_findings::REDUCED;
use strait_fuzz::{
    Exhibit, REPRODUCE, Reduced, Reducer, Reproduced, Reproducer, TargetFinder, keep, reproduction,
    same_cause,
};
use strait_toolchain::Launcher;

use crate::campaign::{Clock, in_time};
use crate::commands::fuzz::working_tree;
use crate::commands::trust::TrustArgs;
use crate::duration;
use crate::interrupt;
use crate::ui::{Status, Ui, grouped};

/// How long to try if nothing is said about it.
const DEFAULT_TIME: Duration = Duration::from_secs(300);

/// How long the program without Strait may run, all runs together.
const REPRODUCING: Duration = Duration::from_secs(90);

/// Reduce the program of a finding to a smaller one
#[derive(Args)]
#[command(after_help = "\
Strait removes parts of the program and runs each smaller program to see whether the fault still shows. \
For a finding of `strait fuzz`, it first proves that the smaller program cannot wait forever, and writes \
the result to the finding's directory as reduced.strait; `strait replay` then runs this program.
Like `strait replay`, this command runs a program that a finding names only if you name it too.
Exit codes: 0 done, 2 it could not be done or the fault does not show any more.")]
pub struct ReduceArgs {
    /// The finding's directory
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Time limit, including compilation [default: 5m after compilation]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// For a finding of `strait fuzz`: run it on the working tree in this folder, whatever version it
    /// was found in
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustArgs,
}

impl ReduceArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let stop = interrupt::stop_for(ui)?;
        let mut clock = Clock::start(&stop, self.time);
        let launcher = self.trust.launcher(&stop)?;
        let finding = strait_findings::read(&self.folder)?;
        if strait_typefuzz::is_types(&finding) {
            let permitted = self.trust.compilers();
            let time = clock.start_work(Some(DEFAULT_TIME)).unwrap_or_default();
            return types::replay::reduce(ui, &self.folder, time, &permitted, &launcher, &stop);
        }
        if strait_reorder::is_go(&finding) {
            bail!(
                "a finding in Go tests cannot be made smaller: {} holds one test and the order of its selects already; `strait replay` runs it again",
                self.folder.display()
            );
        }
        let tree = self.path.as_deref().map(working_tree).transpose()?;
        let mut finder = TargetFinder::new(&launcher, Arc::clone(stop.flag())).with_tree(tree);
        let exhibit = Exhibit::open(&self.folder, &mut finder, &mut |text| ui.note(text));
        let exhibit = in_time(&stop, exhibit)?;
        let reducer = Reducer {
            launcher: &launcher,
            time: clock.start_work(Some(DEFAULT_TIME)).unwrap_or_default(),
            stop: &|| stop.is_due(),
            tell: &|operations, tried| {
                let noun = noun(operations);
                ui.note(format!("{operations} {noun} left, {tried} smaller programs tried"));
            },
        };
        let Some(reduced) = reducer.reduce(&exhibit)? else {
            bail!(
                "the fault in {} does not show any more, so nothing can be left out; try `strait replay --time 10m` first",
                self.folder.display()
            );
        };
        let alike = same_cause(&self.folder, &exhibit, &reduced.program)?;
        let mut told = match alike.as_slice() {
            [] => String::new(),
            names => format!(
                "The same small program, up to names and numbers, is left of {}: one cause.\n",
                names.join(", ")
            ),
        };
        // The smaller program is kept whatever becomes of the program without Strait.
        keep(&self.folder, &exhibit, &reduced, &told)?;
        let reproduced = self.reproduce(ui, &exhibit, &reduced, &launcher, &stop)?;
        if let Reproduction::Ran(Reproduced { failed, runs }) = reproduced {
            told += &format!(
                "{REPRODUCE}/ holds a crate that shows it without Strait: it failed in {failed} of {runs} runs of at most a minute.\n"
            );
            keep(&self.folder, &exhibit, &reduced, &told)?;
        }
        let path = self.folder.join(REDUCED);
        if ui.json {
            ui.document(&json!({
                "before": reduced.before,
                "after": reduced.after,
                "tried": reduced.tried,
                "minimal": reduced.is_minimal,
                "failed": reduced.rerun.failed,
                "runs": reduced.rerun.runs,
                "file": path,
                "reproduction": reproduced.document(),
                "same_cause": alike,
            }))?;
            return Ok(Status::Clean);
        }
        ui.raw(print(&reduced.program))?;
        ui.line(format!(
            "// {} {}, {} before; shows in {} of {} runs; {}",
            reduced.after,
            noun(reduced.after),
            reduced.before,
            grouped(reduced.rerun.failed),
            grouped(reduced.rerun.runs),
            if reduced.is_minimal { "no cut is left" } else { "time was up, more may go" },
        ))?;
        ui.note(format!("written to {}", path.display()));
        if !alike.is_empty() {
            ui.note(format!("the same small program is left of {}: one cause", alike.join(", ")));
        }
        match reproduced {
            Reproduction::Ran(Reproduced { failed, runs }) => ui.note(format!(
                "{}: the same without Strait, failed in {failed} of {runs} runs of at most a minute",
                self.folder.join(REPRODUCE).display()
            )),
            Reproduction::NotRun(why) => {
                ui.note(format!("{REPRODUCE}/ was written but could not be run: {why}"));
            }
            Reproduction::Unwritten(why) => {
                ui.note(format!("{REPRODUCE}/ was not written: {why}"));
            }
        }
        Ok(Status::Clean)
    }

    /// Writes the smaller program as a crate that uses the target alone, and runs that.
    fn reproduce(
        &self,
        ui: &Ui,
        exhibit: &Exhibit,
        reduced: &Reduced,
        launcher: &Launcher,
        stop: &Stop,
    ) -> anyhow::Result<Reproduction> {
        let Some(fault) = &reduced.rerun.fault else {
            return Ok(Reproduction::Unwritten("the fault does not show any more".to_owned()));
        };
        let title = strait_findings::read(&self.folder)?.title;
        let options = &exhibit.work.options;
        let files = reproduction(&exhibit.target, &title, &reduced.program, options, fault);
        let files = match files {
            Ok(files) => files,
            Err(why) => return Ok(Reproduction::Unwritten(why.to_string())),
        };
        ui.note("compiling and running the same program without Strait");
        let reproducer = Reproducer { launcher, time: REPRODUCING, stop: &|| stop.is_due() };
        match reproducer.reproduce(&self.folder, &files) {
            Ok(reproduced) => Ok(Reproduction::Ran(reproduced)),
            // The finding is smaller all the same.
            Err(error) => Ok(Reproduction::NotRun(error.to_string())),
        }
    }
}

/// What became of the program without Strait.
enum Reproduction {
    Ran(Reproduced),
    /// It was written, but could not be compiled or run.
    NotRun(String),
    Unwritten(String),
}

impl Reproduction {
    fn document(&self) -> Value {
        match self {
            Reproduction::Ran(Reproduced { failed, runs }) => {
                json!({ "failed": failed, "runs": runs })
            }
            Reproduction::NotRun(why) => json!({ "not_run": why }),
            Reproduction::Unwritten(why) => json!({ "unwritten": why }),
        }
    }
}

fn noun(operations: u32) -> &'static str {
    if operations == 1 { "operation" } else { "operations" }
}
