//! A long-lived process that takes jobs and answers, a line each: Strait's own binary again, or a
//! harness. It may crash, hang or print what it likes: that ends the worker and nothing else.
//!
//! A worker says two things besides its answers, on lines of their own, which are not handed on:
//! [`announce`] names the job it is about to do, so that the culprit is known when it dies, and
//! [`alive`] says that it got on. Whoever writes `alive` from a thread that does nothing else hides
//! every hang.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::capture::{Capture, Captured};
use crate::child::{KEEP, absolute, check_executed, token};
use crate::error::Error;
use crate::launch::Launcher;
use crate::limits::Limits;
use crate::process::{End, Input, Process, Start, is_not_yet};
use crate::sandbox::Folders;

const ANNOUNCE: &str = "@job ";
const ALIVE: &str = "@alive";

/// Lines that wait to be received; after that the worker has to wait.
const LINES: usize = 64;
/// Longest line; what is longer is cut.
const LINE: u64 = 4 << 20;
/// How long the outputs may stay open after the end.
const DRAIN: Duration = Duration::from_secs(5);

/// For the worker: says which job comes next.
pub fn announce(mut to: impl Write, job: &str) -> io::Result<()> {
    writeln!(to, "{ANNOUNCE}{}", job.replace('\n', " "))?;
    to.flush()
}

/// For the worker: says that it got on.
pub fn alive(mut to: impl Write) -> io::Result<()> {
    writeln!(to, "{ALIVE}")?;
    to.flush()
}

/// What to start, again and again.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    /// `None` for the own binary.
    program: Option<PathBuf>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    limits: Limits,
    keep: usize,
}

impl WorkerSpec {
    /// The launcher's binary, whose `main` gets [`crate::Entry::Worker`] with the arguments. It
    /// limits itself, with [`crate::limit_self`], if it wants to.
    pub fn own(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        Self::with(None, arguments)
    }

    /// A harness that knows nothing of this crate. It runs below a supervisor.
    pub fn foreign(
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Self {
        Self::with(Some(absolute(program.as_ref())), arguments)
    }

    fn with(
        program: Option<PathBuf>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Self {
        let arguments =
            arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        WorkerSpec {
            program,
            arguments,
            environment: Vec::new(),
            limits: Limits::default(),
            keep: KEEP,
        }
    }

    /// Sets a variable of its environment.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// What a harness may use.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many bytes are kept of the beginning and of the end of its stderr.
    pub fn keep(mut self, bytes: usize) -> Self {
        self.keep = bytes;
        self
    }
}

/// How long to wait for the next answer.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// Until the next sign of life: a line, an announcement, an [`alive`].
    pub progress: Duration,
    /// Until the answer, whatever signs of life there are.
    pub total: Duration,
}

/// What came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// An answer.
    Line(String),
    /// No sign of life for the time given for that. The worker still runs.
    Silent,
    /// Signs of life, but no answer in the time given in total. The worker still runs.
    Late,
    /// The worker has closed its output: it has ended or is about to. [`Worker::end`] says how.
    Closed,
}

/// A worker that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How; [`End::Stopped`] if it was still running when it was ended.
    pub end: End,
    /// The job it was at: the last one it announced, or else the last one it was sent. `None` if
    /// it had answered since.
    pub culprit: Option<String>,
    /// What it wrote to stderr.
    pub stderr: Captured,
    /// Processor time, for a harness.
    pub cpu: Option<Duration>,
    /// Largest memory in bytes, for a harness.
    pub peak_memory: Option<u64>,
}

/// A worker that runs, or has ended unnoticed.
#[derive(Debug)]
pub struct Worker {
    launcher: Launcher,
    spec: WorkerSpec,
    process: Process,
    input: Input,
    lines: Receiver<Vec<u8>>,
    stderr: Option<Capture>,
    token: String,
    sent: Option<String>,
    announced: Option<String>,
    closed: bool,
}

impl Worker {
    /// Starts it.
    pub fn start(launcher: &Launcher, spec: &WorkerSpec) -> Result<Self, Error> {
        let token = token();
        let program = spec.program.as_deref().unwrap_or(launcher.program());
        let folders = Folders::default();
        let start = Start {
            program,
            arguments: &spec.arguments,
            directory: None,
            environment: &spec.environment,
            folders: Some(&folders),
        };
        let mut process = match &spec.program {
            None => Process::own(launcher, &start)?,
            Some(_) => Process::foreign(launcher, &start, &spec.limits, true, &token)?,
        };
        let (sender, lines) = sync_channel(LINES);
        if let Some(stdout) = process.take_stdout() {
            let read = move || read_lines(stdout, &sender);
            let spawned = thread::Builder::new().name("worker-lines".into()).spawn(read);
            spawned.map_err(|source| Error::Refused { what: "a thread", source })?;
        }
        let stderr =
            process.take_stderr().map(|output| Capture::start(output, spec.keep)).transpose()?;
        let input = process.input()?;
        let (launcher, spec) = (launcher.clone(), spec.clone());
        let (sent, announced, closed) = (None, None, false);
        Ok(Worker { launcher, spec, process, input, lines, stderr, token, sent, announced, closed })
    }

    /// Sends a job, one line. A worker that is gone takes it as well: the next
    /// [`receive`](Self::receive) tells. Fails only if the worker runs and reads nothing for
    /// `patience`.
    pub fn send(&mut self, job: &str, patience: Duration) -> Result<(), Error> {
        self.sent = Some(job.to_owned());
        self.announced = None;
        self.send_lines(&format!("{}\n", job.replace('\n', " ")), patience)
    }

    /// Sends text as it is: for a protocol with jobs of several lines, whose answers name the job
    /// they belong to. Nothing is remembered of it for [`culprit`](Self::culprit).
    pub fn send_lines(&mut self, text: &str, patience: Duration) -> Result<(), Error> {
        match self.input.write(text.as_bytes(), Some(patience)) {
            Err(error) if is_not_yet(&error) => {
                let program = self.spec.program.as_deref().unwrap_or(self.launcher.program());
                Err(Error::WorkerIsDeaf { program: program.to_owned(), waited: patience })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// No more jobs: a worker that reads to the end of its input ends by itself.
    pub fn close_input(&mut self) {
        // It fails if the worker is gone, which is what it was asked to be.
        let _ = self.input.close();
    }

    /// The next answer, or why there is none.
    pub fn receive(&mut self, deadlines: &Deadlines) -> Received {
        let start = Instant::now();
        loop {
            let Some(left) = deadlines.total.checked_sub(start.elapsed()) else {
                return Received::Late;
            };
            let line = match self.lines.recv_timeout(left.min(deadlines.progress)) {
                Ok(line) => String::from_utf8_lossy(&line).into_owned(),
                Err(RecvTimeoutError::Disconnected) => {
                    self.closed = true;
                    return Received::Closed;
                }
                Err(RecvTimeoutError::Timeout) if left <= deadlines.progress => {
                    return Received::Late;
                }
                Err(RecvTimeoutError::Timeout) => return Received::Silent,
            };
            match line.strip_prefix(ANNOUNCE) {
                Some(job) => self.announced = Some(job.to_owned()),
                None if line == ALIVE => {}
                None => return Received::Line(line),
            }
        }
    }

    /// To be called when an answer completes the job: from here on nobody is to blame for it.
    pub fn job_done(&mut self) {
        self.sent = None;
        self.announced = None;
    }

    /// The job the worker is at: the last one it announced, or else the last one it was sent.
    pub fn culprit(&self) -> Option<&str> {
        self.announced.as_deref().or(self.sent.as_deref())
    }

    /// Ends it, if it has not ended, and says how it ended. Nothing it started is left afterwards.
    pub fn end(mut self) -> Result<Ended, Error> {
        self.finish()
    }

    /// Ends it and starts another in its place.
    pub fn restart(&mut self) -> Result<Ended, Error> {
        let ended = self.finish()?;
        *self = Worker::start(&self.launcher, &self.spec)?;
        Ok(ended)
    }

    fn finish(&mut self) -> Result<Ended, Error> {
        // One that closed its output is about to end by itself, and how is worth knowing.
        let patience = if self.closed { DRAIN } else { Duration::ZERO };
        let by_itself = self.process.wait(Some(Instant::now() + patience))?;
        let ours = by_itself.is_none();
        let outcome = match by_itself {
            Some(outcome) => outcome,
            None => self.process.end()?,
        };
        let stderr = self.stderr.take().map(|capture| capture.finish(DRAIN)).unwrap_or_default();
        if let Some(program) = &self.spec.program {
            check_executed(program, &outcome.end, &stderr, &self.token)?;
        }
        let end = if ours { End::Stopped } else { outcome.end };
        let culprit = self.culprit().map(str::to_owned);
        Ok(Ended { end, culprit, stderr, cpu: outcome.cpu, peak_memory: outcome.peak_memory })
    }
}

/// Ends with the worker's output, or when nobody receives any more.
fn read_lines(stdout: ChildStdout, lines: &SyncSender<Vec<u8>>) {
    let mut stdout = BufReader::with_capacity(64 * 1024, stdout);
    loop {
        let mut line = Vec::new();
        let read = (&mut stdout).take(LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() as u64 == LINE && skip_line(&mut stdout).is_err() {
            return;
        }
        if lines.send(line).is_err() {
            return;
        }
    }
}

/// Reads the rest of a line and forgets it.
fn skip_line(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = from.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (count, found) = (end.map_or(buffer.len(), |end| end + 1), end.is_some());
        from.consume(count);
        if found || count == 0 {
            return Ok(());
        }
    }
}
