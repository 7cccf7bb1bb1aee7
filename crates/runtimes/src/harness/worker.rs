//! A worker: reads jobs, runs them, writes reports. What a worker process does with its standard
//! input and output.

use std::collections::HashMap;
use std::io::{BufRead, Error, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::executor::lock;
use super::plan::Plan;
use super::runner::Runner;
use super::session::{Ended, Summary};
use super::watch::Watch;
use super::wire::{JobLine, Report, VERSION, reports};

/// How often a sign of life is given.
const BEAT: Duration = Duration::from_millis(250);

/// Opens a target by its name.
pub type Opener<'a> = &'a dyn Fn(&str) -> Option<Box<dyn Runner>>;

/// Why a worker has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// There were no more jobs.
    Idle,
    /// A job hung or panicked, so threads may be stuck: the process should end now.
    Stuck,
}

/// Serves jobs until there are no more, or one gets stuck.
pub fn serve(
    mut input: impl BufRead,
    output: impl Write + Send,
    open: Opener<'_>,
) -> Result<Finished, Error> {
    let desk = WorkerOutput {
        output: Mutex::new(output),
        current: Mutex::default(),
        over: Condvar::new(),
    };
    std::thread::scope(|scope| {
        let ticker = scope.spawn(|| desk.tick());
        let served = desk.serve(&mut input, open);
        *lock(&desk.current) = Current::Over;
        desk.over.notify_all();
        let _ = ticker.join();
        served
    })
}

/// What the ticker reports on.
#[derive(Default)]
enum Current {
    #[default]
    Nothing,
    Job(u64, Arc<Watch>),
    Over,
}

struct WorkerOutput<O> {
    output: Mutex<O>,
    current: Mutex<Current>,
    over: Condvar,
}

impl<O: Write + Send> WorkerOutput<O> {
    fn write(&self, report: &Report) -> Result<(), Error> {
        let mut output = lock(&self.output);
        writeln!(output, "{}", report.to_line())?;
        output.flush()
    }

    fn tick(&self) {
        let mut current = lock(&self.current);
        loop {
            let beat = match &*current {
                Current::Over => return,
                Current::Nothing => None,
                Current::Job(id, watch) => {
                    Some(Report::Beat(*id, watch.instances(), watch.processes()))
                }
            };
            // A reader that has gone away is noticed by who writes the results.
            beat.iter().for_each(|beat| drop(self.write(beat)));
            let waited = self.over.wait_timeout(current, BEAT);
            current = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn serve(&self, input: &mut impl BufRead, open: Opener<'_>) -> Result<Finished, Error> {
        self.write(&Report::Ready(VERSION))?;
        let mut runners: HashMap<String, Box<dyn Runner>> = HashMap::new();
        let mut line = String::new();
        loop {
            line.clear();
            if input.read_line(&mut line)? == 0 || line.trim() == "quit" {
                return Ok(Finished::Idle);
            }
            let Some(job) = JobLine::from_line(line.trim()) else {
                return Err(Error::other("a line is not a job"));
            };
            let mut text = String::new();
            for _ in 0..job.lines {
                input.read_line(&mut text)?;
            }
            self.write(&Report::Begin(job.id))?;
            if !runners.contains_key(&job.target)
                && let Some(runner) = open(&job.target)
            {
                runners.insert(job.target.clone(), runner);
            }
            let begun = Instant::now();
            let summary = match runners.get_mut(&job.target) {
                None => astray("there is no such target"),
                Some(runner) => {
                    *lock(&self.current) = Current::Job(job.id, runner.watch());
                    run(&mut **runner, &job, &text)
                }
            };
            *lock(&self.current) = Current::Nothing;
            let is_stuck = matches!(summary.ended, Ended::Hung { .. } | Ended::Panicked(_));
            for report in reports(job.id, summary, begun.elapsed()) {
                self.write(&report)?;
            }
            if is_stuck {
                // Dropping would wait for threads that never end.
                runners.into_values().for_each(std::mem::forget);
                return Ok(Finished::Stuck);
            }
        }
    }
}

fn astray(why: impl ToString) -> Summary {
    let ended = Ended::Astray(why.to_string());
    Summary { runs: 0, records: vec![], anomalies: vec![], ended }
}

fn run(runner: &mut dyn Runner, job: &JobLine, text: &str) -> Summary {
    let plan = match Plan::from_text(text) {
        Ok(plan) => plan,
        Err(bad) => return astray(bad),
    };
    let Some(contract) = runner.contract(job.options.promise, job.options.flavour) else {
        return astray("the target has no processes of this flavour");
    };
    if let Err(what) = contract.covers(&plan) {
        return astray(format!("the target does not offer {what}"));
    }
    runner.run(&plan, &job.options).unwrap_or_else(astray)
}
