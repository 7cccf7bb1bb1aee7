//! The compiled way: many programs become one compilation unit, and what comes out of the compiler
//! runs them one after the other. Work comes in, every piece of it comes out as done. A unit that the
//! compiler refuses is halved until the culprits stand alone; a program that dies or hangs ends the
//! process, and its successor goes on behind it.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strait_calculus::Program;
use strait_emit::{Compilation, Compiled, Complaint, Toolchain};
use strait_runtimes::{Ended, Report, Summary};
use strait_toolchain::{Deadlines, Launcher, Received, Worker};

use crate::done::{Death, Done, empty};
use crate::error::Error;
use crate::work::Work;

/// How often we look whether we should stop.
const LOOK: Duration = Duration::from_millis(100);
/// How much longer than the patience with a program the process may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// Compiles and runs for one target.
pub(crate) struct BatchCompiler<'a> {
    /// How processes are started.
    pub(crate) launcher: &'a Launcher,
    /// The compiler.
    pub(crate) toolchain: &'a Toolchain,
    /// The target's name.
    pub(crate) target: &'a Arc<str>,
    /// Should we stop?
    pub(crate) stop: &'a dyn Fn() -> bool,
}

/// Hears of work that has ended; `false` to hear no more.
pub(crate) type Take<'a> = dyn FnMut(Done) -> Result<bool, Error> + 'a;

impl BatchCompiler<'_> {
    /// Runs all of it, as often and with as much patience as the first piece asks for. `false` when
    /// stopped before the end.
    pub(crate) fn run(&self, works: &[Arc<Work>], take: &mut Take<'_>) -> Result<bool, Error> {
        let Some(first) = works.first() else { return Ok(true) };
        if (self.stop)() {
            return Ok(false);
        }
        let programs: Vec<&Program> = works.iter().map(|work| &work.program).collect();
        match self.toolchain.compile(&programs)? {
            Compilation::Ready(compiled) => {
                let ran = self.run_compiled(&compiled, works, take);
                compiled.remove();
                ran
            }
            Compilation::Refused { complaint, folder } => {
                // What cannot be removed does no harm.
                let _ = fs::remove_dir_all(folder);
                // A compiler that was stopped has refused nothing.
                if (self.stop)() {
                    return Ok(false);
                }
                if works.len() == 1 {
                    return take(self.refused(first, complaint));
                }
                let (one, other) = works.split_at(works.len() / 2);
                Ok(self.run(one, take)? && self.run(other, take)?)
            }
        }
    }

    fn refused(&self, work: &Arc<Work>, complaint: Complaint) -> Done {
        Done { refusal: Some(complaint), ..self.done(work, empty()) }
    }

    fn done(&self, work: &Arc<Work>, summary: Summary) -> Done {
        Done {
            target: Arc::clone(self.target),
            work: Arc::clone(work),
            summary,
            spent: Duration::ZERO,
            said: String::new(),
            death: None,
            refusal: None,
        }
    }

    fn run_compiled(
        &self,
        compiled: &Compiled,
        works: &[Arc<Work>],
        take: &mut Take<'_>,
    ) -> Result<bool, Error> {
        let mut next = 0;
        while next < works.len() {
            let options = &works[0].options;
            let spec = compiled.worker(options.repetitions, options.patience, next);
            let worker = Worker::start(self.launcher, &spec)?;
            match self.watch(worker, works, next, take)? {
                Some(ran) => next = ran,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Reads what one process reports, from program number `next` on, until it ends. The number of
    /// the program that is next then; `None` when stopped.
    fn watch(
        &self,
        mut worker: Worker,
        works: &[Arc<Work>],
        mut next: usize,
        take: &mut Take<'_>,
    ) -> Result<Option<usize>, Error> {
        let patience = works[0].options.patience + SILENCE;
        let deadlines = Deadlines { progress: LOOK, total: LOOK };
        let mut heard = Instant::now();
        let mut summary = empty();
        while next < works.len() {
            if (self.stop)() {
                worker.end()?;
                return Ok(None);
            }
            let line = match worker.receive(&deadlines) {
                Received::Line(line) => line,
                Received::Silent | Received::Late if heard.elapsed() <= patience => continue,
                Received::Closed | Received::Silent | Received::Late => {
                    let ended = worker.end()?;
                    let said = ended.stderr.last_lines(20);
                    let death = Death { end: ended.end, said, before: Vec::new() };
                    let done = Done { death: Some(death), ..self.done(&works[next], summary) };
                    return Ok(take(done)?.then_some(next + 1));
                }
            };
            heard = Instant::now();
            match Report::from_line(&line) {
                Some(Report::Seen(id, tally)) if id == next as u64 => summary.records.push(tally),
                Some(Report::Wrong(id, tally)) if id == next as u64 => {
                    summary.anomalies.push(tally);
                }
                Some(Report::End(id, runs, microseconds, ended)) if id == next as u64 => {
                    let is_stuck = matches!(ended, Ended::Hung { .. } | Ended::Panicked(_));
                    (summary.runs, summary.ended) = (runs, ended);
                    let summary = std::mem::replace(&mut summary, empty());
                    let spent = Duration::from_micros(microseconds);
                    let mut done = Done { spent, ..self.done(&works[next], summary) };
                    next += 1;
                    if is_stuck {
                        done.said = worker.end()?.stderr.text();
                        return Ok(take(done)?.then_some(next));
                    }
                    if !take(done)? {
                        worker.end()?;
                        return Ok(None);
                    }
                }
                // Programs may print what they like.
                _ => {}
            }
        }
        worker.end()?;
        Ok(Some(next))
    }
}
