//! One worker process and the work it is at. Work is sent ahead, so that the worker never waits
//! for us; when the process dies, the program that was running is the suspect, and the rest is sent again to
//! its successor.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use strait_runtimes::{Ended, JobLine, Report, Summary};
use strait_toolchain::{Deadlines, Ended as WorkerEnded, Launcher, Received, Worker, WorkerSpec};

use crate::done::{Death, Done, empty};
use crate::error::Error;
use crate::work::Work;

/// Pieces of work sent ahead of the one that runs.
pub const AHEAD: usize = 3;
/// How long a worker may take to read its work.
const READS: Duration = Duration::from_secs(30);
/// How long a worker may take to start.
const STARTS: Duration = Duration::from_secs(60);
/// A worker gives signs of life several times per second, whatever its target does. Without any for so
/// long it is taken for dead.
const SILENCE: Duration = Duration::from_secs(60);
/// How often we look whether we should stop.
const LOOK: Duration = Duration::from_millis(100);
/// How many earlier pieces of work may be to blame for a crash.
const HISTORY: usize = 16;

/// Work that was sent.
#[derive(Debug)]
struct PendingWork {
    id: u64,
    target: Arc<str>,
    work: Arc<Work>,
    begun: bool,
    summary: Summary,
}

/// A worker and what it was sent.
#[derive(Debug)]
pub struct WorkerProcess {
    worker: Worker,
    pending: VecDeque<PendingWork>,
    history: VecDeque<(Arc<str>, Arc<Work>)>,
    next: u64,
    /// What the worker last said about its progress, and when that changed.
    progress: (u64, u64),
    moved: Instant,
}

/// What became of the oldest work.
#[derive(Debug)]
pub enum Next {
    /// It has ended.
    Done(Box<Done>),
    /// It does not move any more. It may still be slow and not stuck.
    Stalled,
    /// There is none, or it was stopped.
    Stopped,
}

impl WorkerProcess {
    /// Starts a worker; `None` when `stop` says so before it is up.
    pub fn start(
        launcher: &Launcher,
        spec: &WorkerSpec,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<WorkerProcess>, Error> {
        let worker = Worker::start(launcher, spec)?;
        let mut process = WorkerProcess {
            worker,
            pending: VecDeque::new(),
            history: VecDeque::new(),
            next: 0,
            progress: (0, 0),
            moved: Instant::now(),
        };
        Ok(process.greet(stop)?.then_some(process))
    }

    /// Waits until the worker is up; `false` when `stop` says so before.
    fn greet(&mut self, stop: &dyn Fn() -> bool) -> Result<bool, Error> {
        let begun = Instant::now();
        while !stop() {
            match self.worker.receive(&Deadlines { progress: LOOK, total: LOOK }) {
                Received::Line(line)
                    if matches!(Report::from_line(&line), Some(Report::Ready(_))) =>
                {
                    return Ok(true);
                }
                Received::Silent | Received::Late if begun.elapsed() < STARTS => {}
                _ => {
                    let ended = self.worker.restart()?;
                    return Err(Error::WorkerFails {
                        target: "channel programs".to_owned(),
                        end: format!("ended with {}", ended.end),
                        said: ended.stderr.last_lines(5),
                    });
                }
            }
        }
        Ok(false)
    }

    /// How much work is under way.
    pub fn load(&self) -> usize {
        self.pending.len()
    }

    /// Sends work.
    pub fn submit(&mut self, target: &Arc<str>, work: Arc<Work>) -> Result<(), Error> {
        let id = self.next;
        self.next += 1;
        let pending =
            PendingWork { id, target: Arc::clone(target), work, begun: false, summary: empty() };
        send(&mut self.worker, &pending)?;
        self.pending.push_back(pending);
        Ok(())
    }

    /// Waits for the oldest work to end, and no longer than `stall` for it to move if that is given.
    pub fn next(
        &mut self,
        stop: &dyn Fn() -> bool,
        stall: Option<Duration>,
    ) -> Result<Next, Error> {
        let mut heard = Instant::now();
        while !self.pending.is_empty() {
            if stop() {
                return Ok(Next::Stopped);
            }
            let is_running = self.pending.iter().any(|pending| pending.begun);
            if is_running && stall.is_some_and(|stall| self.moved.elapsed() > stall) {
                return Ok(Next::Stalled);
            }
            let deadlines = Deadlines { progress: LOOK, total: LOOK };
            match self.worker.receive(&deadlines) {
                Received::Line(line) => {
                    heard = Instant::now();
                    if let Some(done) = self.read(&line, stop)? {
                        return Ok(Next::Done(Box::new(done)));
                    }
                }
                Received::Closed => return self.bury(stop).map(ended),
                Received::Silent | Received::Late if heard.elapsed() > SILENCE => {
                    return self.bury(stop).map(ended);
                }
                Received::Silent | Received::Late => {}
            }
        }
        Ok(Next::Stopped)
    }

    /// Goes on in another process; the one that is returned keeps the work that runs. `None` when `stop` says
    /// so before the other process is up.
    pub fn leave_behind(
        &mut self,
        launcher: &Launcher,
        spec: &WorkerSpec,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<WorkerProcess>, Error> {
        let Some(fresh) = WorkerProcess::start(launcher, spec, stop)? else { return Ok(None) };
        let mut old = std::mem::replace(self, fresh);
        let pending = std::mem::take(&mut old.pending);
        for pending in pending {
            if pending.begun {
                old.pending.push_back(pending);
            } else {
                self.submit(&pending.target, pending.work)?;
            }
        }
        Ok(Some(old))
    }

    /// Reads one report. What is none comes from the target, which may print what it likes.
    fn read(&mut self, line: &str, stop: &dyn Fn() -> bool) -> Result<Option<Done>, Error> {
        let Some(report) = Report::from_line(line) else { return Ok(None) };
        let id = match &report {
            Report::Ready(_) => return Ok(None),
            Report::Begin(id)
            | Report::Beat(id, ..)
            | Report::Seen(id, _)
            | Report::Wrong(id, _)
            | Report::End(id, ..) => *id,
        };
        let Some(pending) = self.pending.iter_mut().find(|pending| pending.id == id) else {
            return Ok(None);
        };
        match &report {
            Report::Beat(_, instances, processes) => {
                if self.progress != (*instances, *processes) {
                    (self.progress, self.moved) = ((*instances, *processes), Instant::now());
                }
            }
            _ => self.moved = Instant::now(),
        }
        match report {
            Report::Begin(_) => pending.begun = true,
            Report::Seen(_, tally) => pending.summary.records.push(tally),
            Report::Wrong(_, tally) => pending.summary.anomalies.push(tally),
            Report::End(_, runs, microseconds, ended) => {
                let is_stuck = matches!(ended, Ended::Hung { .. } | Ended::Panicked(_));
                (pending.summary.runs, pending.summary.ended) = (runs, ended);
                let spent = Duration::from_micros(microseconds);
                return self.land(id, spent, is_stuck, stop).map(Some);
            }
            Report::Ready(_) | Report::Beat(..) => {}
        }
        Ok(None)
    }

    fn land(
        &mut self,
        id: u64,
        spent: Duration,
        is_stuck: bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<Done, Error> {
        let pending = self.take(|pending| pending.id == id)?;
        let mut said = String::new();
        if is_stuck {
            // Its threads are stuck: the process is of no more use.
            self.history.clear();
            said = self.replace(stop)?.stderr.text();
        } else {
            self.history.push_front((Arc::clone(&pending.target), Arc::clone(&pending.work)));
            self.history.truncate(HISTORY);
        }
        let PendingWork { target, work, summary, .. } = pending;
        Ok(Done { target, work, summary, spent, said, death: None, refusal: None })
    }

    /// The worker died, or does not speak any more.
    fn bury(&mut self, stop: &dyn Fn() -> bool) -> Result<Done, Error> {
        let before = self.history.drain(..).collect();
        let running = self.pending.iter().any(|pending| pending.begun);
        let pending = self.take(|pending| pending.begun || !running)?;
        let ended = self.replace(stop)?;
        let PendingWork { target, work, summary, .. } = pending;
        let death = Some(Death { said: ended.stderr.last_lines(20), end: ended.end, before });
        let (spent, said, refusal) = (Duration::ZERO, String::new(), None);
        Ok(Done { target, work, summary, spent, said, death, refusal })
    }

    fn take(&mut self, is_it: impl Fn(&PendingWork) -> bool) -> Result<PendingWork, Error> {
        let position = self.pending.iter().position(is_it);
        position
            .and_then(|position| self.pending.remove(position))
            .ok_or_else(|| Error::Bug { what: "a worker answers what it was not asked".to_owned() })
    }

    /// Another worker takes over, unless `stop` says that none is needed; how the former one ended.
    fn replace(&mut self, stop: &dyn Fn() -> bool) -> Result<WorkerEnded, Error> {
        let ended = self.worker.restart()?;
        if self.greet(stop)? {
            for pending in &mut self.pending {
                (pending.begun, pending.summary) = (false, empty());
                send(&mut self.worker, pending)?;
            }
        }
        Ok(ended)
    }

    /// Ends the worker, whatever it is doing.
    pub fn end(self) -> Result<(), Error> {
        self.worker.end()?;
        Ok(())
    }
}

fn ended(done: Done) -> Next {
    Next::Done(Box::new(done))
}

fn send(worker: &mut Worker, pending: &PendingWork) -> Result<(), Error> {
    let plan = pending.work.plan.to_text();
    let head = JobLine {
        id: pending.id,
        target: pending.target.to_string(),
        options: pending.work.options,
        lines: plan.lines().count(),
    };
    let separator = if plan.ends_with('\n') { "" } else { "\n" };
    worker.send_lines(&format!("{}\n{plan}{separator}", head.to_line()), READS)?;
    Ok(())
}
