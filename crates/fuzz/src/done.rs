//! Work that has come to an end, whichever way it was run: what the judge looks at.

use std::sync::Arc;
use std::time::Duration;

use strait_emit::Complaint;
use strait_runtimes::{Ended, Summary};
use strait_toolchain::{End, Launcher};

use crate::batch_compiler::BatchCompiler;
use crate::error::Error;
use crate::fuzz_target::{Backend, FuzzTarget};
use crate::work::Work;
use crate::worker_process::{Next, WorkerProcess};

/// Work that has come to an end.
#[derive(Clone, Debug)]
pub struct Done {
    /// The target's name.
    pub target: Arc<str>,
    /// The work.
    pub work: Arc<Work>,
    /// What came out, as far as it came.
    pub summary: Summary,
    /// How long the target was at it.
    pub spent: Duration,
    /// What a process wrote to stderr that had to be ended: dumps of its threads, if its target
    /// makes such.
    pub said: String,
    /// How the process died, if it did.
    pub death: Option<Death>,
    /// What the compiler said, if it did not compile the program.
    pub refusal: Option<Complaint>,
}

/// A process that died.
#[derive(Clone, Debug)]
pub struct Death {
    /// How.
    pub end: End,
    /// The last lines of its stderr.
    pub said: String,
    /// What it had run before, the latest first: memory that one program spoils may end another.
    pub before: Vec<(Arc<str>, Arc<Work>)>,
}

/// A summary of which nothing is known yet.
pub(crate) fn empty() -> Summary {
    Summary { runs: 0, records: Vec::new(), anomalies: Vec::new(), ended: Ended::Finished }
}

/// Runs one piece of work in a process of its own. `None` when `stop` says so before it has ended.
pub fn run_alone(
    launcher: &Launcher,
    target: &FuzzTarget,
    work: Arc<Work>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Done>, Error> {
    match &target.backend {
        Backend::Worker(spec) => {
            let Some(mut process) = WorkerProcess::start(launcher, spec, stop)? else {
                return Ok(None);
            };
            process.submit(&target.target.as_str().into(), work)?;
            let next = process.next(stop, None);
            process.end()?;
            Ok(match next? {
                Next::Done(done) => Some(*done),
                Next::Stalled | Next::Stopped => None,
            })
        }
        Backend::Compiler(toolchain) => {
            let target = target.target.as_str().into();
            let compiler = BatchCompiler { launcher, toolchain, target: &target, stop };
            let mut last = None;
            compiler.run(&[work], &mut |done| {
                last = Some(done);
                Ok(true)
            })?;
            Ok(last)
        }
    }
}
