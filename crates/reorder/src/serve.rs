//! A worker's part in a campaign over Go tests: each of its threads takes a test, hunts in it, and
//! delivers what came of it. Nothing of this machine's folders is left in what is delivered.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;
use strait_findings::Discovery;
use strait_queue::{Bench, Part, Piece, Source};

use crate::counters::Counters;
use crate::discover::deadly;
use crate::error::Error;
use crate::hunt::{Hunt, Terms};
use crate::job::Served;
use crate::subject::Subject;
use crate::tally;

/// A place at a queue.
struct Seat<'a> {
    served: &'a Served,
    bench: &'a Bench,
    stop: &'a AtomicBool,
    counters: &'a Counters,
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
}

impl Served {
    /// Does the work of this campaign until there is none for a while.
    pub fn serve(
        &self,
        bench: &Bench,
        jobs: usize,
        stop: &Arc<AtomicBool>,
        counters: &Counters,
    ) -> Result<(), Error> {
        let (failure, failed) = (Mutex::default(), AtomicBool::new(false));
        let seat = Seat { served: self, bench, stop, counters, failure, failed };
        std::thread::scope(|scope| {
            for number in 0..jobs.max(1) {
                let seat = &seat;
                scope.spawn(move || seat.work(number));
            }
        });
        seat.failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// What a finding of ours says at whoever began the campaign.
    fn at_home(&self, mut discovery: Discovery) -> Discovery {
        let here = self.prepared.base.display().to_string();
        let there = self.settings.base.display().to_string();
        let output = String::from_utf8_lossy(&discovery.output).replace(&here, &there);
        discovery.output = output.into_bytes();
        discovery.title = discovery.title.replace(&here, &there);
        discovery.explanation = discovery.explanation.replace(&here, &there);
        let directory = self.settings.directory.display().to_string();
        discovery.replay_arguments = vec!["--module".to_owned(), directory.clone()];
        discovery.details.insert("directory".to_owned(), Value::from(directory));
        discovery
    }
}

impl Seat<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst) || self.failed.load(Ordering::SeqCst)
    }

    fn is_over(&self) -> bool {
        self.is_stopped() || self.bench.is_over()
    }

    fn work(&self, number: usize) {
        if let Err(error) = self.take_and_hunt(number, &mut self.bench.taker()) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            self.failed.store(true, Ordering::SeqCst);
        }
    }

    fn take_and_hunt(&self, number: usize, source: &mut dyn Source) -> Result<(), Error> {
        while let Some(piece) = source.take(&|| self.is_stopped())? {
            let begun = Instant::now();
            if piece.is_watched {
                source.begin(piece.indices.clone())?;
            }
            let part = match self.parts(number, &piece, source) {
                Ok(Some(part)) => part,
                // Stopped in the middle: somebody else does it from the beginning.
                Ok(None) => {
                    source.finish(begun.elapsed(), false)?;
                    continue;
                }
                Err(error) => {
                    source.finish(begun.elapsed(), false)?;
                    return Err(error);
                }
            };
            self.counters.add(part.runs, 0, 0);
            let taken = source.deliver(part)?;
            source.finish(begun.elapsed(), true)?;
            if !taken {
                break;
            }
        }
        Ok(())
    }

    /// A piece is one test, in general.
    fn parts(
        &self,
        number: usize,
        piece: &Piece,
        source: &mut dyn Source,
    ) -> Result<Option<Part>, Error> {
        let mut whole = Part::default();
        for index in piece.indices.clone().filter(|index| !piece.done.contains(*index)) {
            let tests = self.served.tests.get(piece.lane);
            let place = usize::try_from(index).ok();
            let subject = tests.zip(place).and_then(|(tests, place)| tests.get(place));
            let Some(subject) = subject else { return Err(Error::Worker) };
            let part = match piece.deadly.contains(&index) {
                true => self.bury(subject, index),
                false => self.hunt(number, subject, index, source)?,
            };
            let Some(part) = part else { return Ok(None) };
            whole.add(part);
        }
        Ok(Some(whole))
    }

    /// What is found is shown at once: a campaign may end before the test is done.
    fn hunt(
        &self,
        number: usize,
        subject: &Subject,
        index: u64,
        source: &mut dyn Source,
    ) -> Result<Option<Part>, Error> {
        let settings = &self.served.settings;
        let stop = || self.is_over();
        let terms = Terms {
            prepared: &self.served.prepared,
            seed: settings.seed,
            runs: settings.runs,
            switches: settings.switches,
            stop: &stop,
        };
        let counters = Counters::default();
        let hunt = Hunt::new(terms, [subject.clone()], None, &counters);
        let (sender, discoveries) = channel();
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        std::thread::scope(|scope| {
            let working = scope.spawn(|| hunt.work(number, &{ sender }));
            for discovery in discoveries {
                let discovery = self.served.at_home(discovery);
                if seen.insert(discovery.id()) {
                    source.show(&discovery)?;
                    found.push(discovery);
                }
            }
            working.join().map_err(|_| Error::Worker)?
        })?;
        let ended = hunt.summary();
        if !ended.complete || self.is_over() {
            return Ok(None);
        }
        let mut part = Part {
            programs: ended.tests,
            runs: counters.runs(),
            counts: tally::counts(&ended, &counters),
            discoveries: found,
            ..Part::default()
        };
        part.indices.insert(index..index + 1);
        Ok(Some(part))
    }

    /// A test that workers died at.
    fn bury(&self, subject: &Subject, index: u64) -> Option<Part> {
        let Served { prepared, settings, .. } = self.served;
        let discoveries = vec![deadly(prepared, subject, settings.seed, index)];
        let mut part = Part { programs: 1, discoveries, ..Part::default() };
        part.indices.insert(index..index + 1);
        Some(part)
    }
}
