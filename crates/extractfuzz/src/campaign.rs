//! A campaign: programs in batches through `go` and the verifier, some batches at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use strait_toolchain::Scratch;

use crate::error::Error;
use crate::generate::{Options, program};
use crate::go::observe;
use crate::judge::{Judged, judge, questions};
use crate::tools::Tools;
use crate::tree::Program;
use crate::verifier::ask;

/// Programs of one batch: one build and one start of the verifier.
const BATCH: u64 = 120;

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// How programs are made.
    pub options: Options,
    /// The first program.
    pub from: u64,
    /// How many.
    pub count: u64,
    /// Batches at a time.
    pub jobs: usize,
    /// Whether to go on after a batch in which the verifier is wrong.
    pub keep_going: bool,
    /// No batch is begun after this time.
    pub time: Option<Duration>,
}

/// What came out of a campaign.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Every program, by its index.
    pub judged: Vec<Judged>,
    /// How long it took.
    pub wall: Duration,
}

impl Campaign {
    /// Runs the campaign. `report` is told of each batch: how many programs are done.
    pub fn run(
        &self,
        tools: &Tools,
        report: &(dyn Fn(&[Judged]) + Sync),
    ) -> Result<Finished, Error> {
        let started = Instant::now();
        let (next, stop) = (AtomicU64::new(self.from), AtomicBool::new(false));
        let judged: Mutex<Vec<Judged>> = Mutex::default();
        let failed: Mutex<Option<Error>> = Mutex::default();
        let end = self.from + self.count;
        let late = || self.time.is_some_and(|time| started.elapsed() >= time);
        thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    while !stop.load(Ordering::SeqCst) && !late() {
                        let first = next.fetch_add(BATCH, Ordering::SeqCst);
                        if first >= end {
                            break;
                        }
                        let indices = first..(first + BATCH).min(end);
                        let programs = indices.map(|index| program(&self.options, index));
                        match check_programs(tools, programs.collect()) {
                            Ok(batch) => {
                                report(&batch);
                                let wrong = batch.iter().any(|one| one.category.is_wrong());
                                if wrong && !self.keep_going {
                                    stop.store(true, Ordering::SeqCst);
                                }
                                held(&judged).extend(batch);
                            }
                            Err(error) => {
                                stop.store(true, Ordering::SeqCst);
                                *held(&failed) = Some(error);
                            }
                        }
                    }
                });
            }
        });
        if let Some(error) = held(&failed).take() {
            return Err(error);
        }
        let mut judged = std::mem::take(&mut *held(&judged));
        judged.sort_by_key(|one| one.program.index);
        Ok(Finished { judged, wall: started.elapsed() })
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs programs with `go`, asks the verifier about them, and compares.
pub fn check_programs(tools: &Tools, programs: Vec<Program>) -> Result<Vec<Judged>, Error> {
    let scratch = Scratch::new("extractfuzz").map_err(Error::file(std::env::temp_dir()))?;
    let observations = observe(tools, scratch.path(), &programs)?;
    let asked: Vec<_> =
        programs.iter().zip(&observations).map(|(one, seen)| questions(one, seen)).collect();
    let to_ask: Vec<_> = programs
        .iter()
        .zip(&asked)
        .enumerate()
        .filter(|(_, (_, questions))| !questions.is_empty())
        .map(|(slot, (program, questions))| (slot, program, questions.as_slice()))
        .collect();
    let mut answers = ask(tools, scratch.path(), &to_ask)?.into_iter();
    let mut judged = Vec::new();
    for ((program, observation), questions) in programs.into_iter().zip(observations).zip(asked) {
        let answers = match questions.is_empty() {
            true => Vec::new(),
            false => answers.next().unwrap_or_default(),
        };
        judged.push(judge(program, observation, questions.into_iter().zip(answers).collect()));
    }
    Ok(judged)
}
