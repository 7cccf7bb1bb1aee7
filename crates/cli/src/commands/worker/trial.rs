//! Work at which a worker was lost, run alone: the worker starts this binary again as a worker of its own
//! that does nothing else (`strait worker --trial`), and sees how it ends.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use strait_queue::{Alone, Item, Job, Trial, handed_over};
use strait_toolchain::{End, Launcher, Scratch, Spec, run};

use crate::commands::worker::sandbox::Wish;

/// The signals that ask a process to end.
const ASKED_TO_END: [&str; 3] = ["SIGTERM", "SIGINT", "SIGHUP"];
/// The exit code of a Rust program that panicked.
const PANICKED: i32 = 101;

/// Starts such processes.
pub struct OwnProcess {
    pub launcher: Launcher,
    pub queue: String,
    pub creds: Option<PathBuf>,
    pub flix_jar: Option<PathBuf>,
    pub accept: String,
    pub wish: Wish,
    pub stop: Arc<AtomicBool>,
}

impl OwnProcess {
    fn start(&self, job: &Job, work: &Item) -> anyhow::Result<Alone> {
        let folder = Scratch::new("trial")?;
        let result = folder.path().join("result");
        let named = format!("{}:{}:{}:{}", job.id, work.target, work.start, work.end);
        let mut arguments: Vec<OsString> =
            ["worker", "--quiet", "--jobs", "1", "--queue", &self.queue, "--accept", &self.accept]
                .map(OsString::from)
                .to_vec();
        arguments.extend(["--trial".into(), named.into(), "--result".into(), (&result).into()]);
        arguments.extend(self.wish.flag().map(OsString::from));
        for (flag, path) in [("--creds", &self.creds), ("--flix-jar", &self.flix_jar)] {
            if let Some(path) = path {
                arguments.extend([flag.into(), path.into()]);
            }
        }
        let spec = Spec::new(self.launcher.program());
        let spec = spec.arguments(arguments).cancel(Arc::clone(&self.stop));
        Ok(match run(&self.launcher, &spec)?.end {
            End::Exited(0) => read(&result, work).map_or(Alone::Unknown, Alone::Done),
            End::Exited(PANICKED) => Alone::Died,
            End::Signalled(signal) if !ASKED_TO_END.contains(&signal.as_str()) => Alone::Died,
            End::Exited(_)
            | End::Signalled(_)
            | End::TimedOut
            | End::Stopped
            | End::OverLimit(_) => Alone::Unknown,
        })
    }
}

fn read(result: &Path, work: &Item) -> Option<strait_queue::Part> {
    handed_over(&std::fs::read(result).ok()?, work).ok()
}

impl Trial for OwnProcess {
    fn run(&self, job: &Job, work: &Item) -> Alone {
        // What cannot be started here is left to others.
        self.start(job, work).unwrap_or(Alone::Unknown)
    }
}

/// Reads what [`OwnProcess`] writes: the campaign and the work.
pub fn parse(text: &str) -> anyhow::Result<(String, Item)> {
    let words: Vec<&str> = text.split(':').collect();
    let [job, target, start, end] = words[..] else { anyhow::bail!("JOB:TARGET:START:END") };
    let item = Item {
        target: target.parse().context("a target")?,
        start: start.parse().context("an index")?,
        end: end.parse().context("an index")?,
    };
    Ok((job.to_owned(), item))
}
