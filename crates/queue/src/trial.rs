//! Programs at which a worker was lost are tried in a process of their own, which does nothing else and
//! which a worker watches. Only what it sees is evidence: a program is deadly when a process that ran it
//! alone died, and another one too. Workers that are killed, paused or cut off, and servers that forget,
//! are none.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strait_findings::Discovery;

use crate::error::Error;
use crate::job::{Item, Job};
use crate::message::{Form, Poison, open, seal};
use crate::source::Part;

/// How often a process has to die.
const DEATHS: usize = 2;

/// How a process that ran something alone has ended.
#[derive(Clone, Debug)]
pub enum Alone {
    /// It is done, and this is what came out.
    Done(Part),
    /// It died.
    Died,
    /// It could not be started, was stopped, or failed for a reason that has nothing to do with what it
    /// ran.
    Unknown,
}

/// Runs work in a process of its own.
pub trait Trial: Send + Sync {
    /// Runs this work of a campaign alone and waits for the end.
    fn run(&self, job: &Job, work: &Item) -> Alone;
}

/// The same, until it is certain that it is deadly or not.
pub(crate) fn judge(trial: &dyn Trial, job: &Job, work: &Item) -> Alone {
    let mut deaths = 0;
    loop {
        match trial.run(job, work) {
            Alone::Died if deaths + 1 < DEATHS => deaths += 1,
            end => return end,
        }
    }
}

/// What such a process hands over.
#[derive(Serialize, Deserialize)]
struct HandedOver {
    programs: u64,
    runs: u64,
    counts: BTreeMap<String, u64>,
    notes: Vec<Value>,
    discoveries: Vec<Discovery>,
}

/// Writes what came out into a file, for the worker that watches.
pub fn hand_over(path: &Path, part: Part) -> Result<(), Error> {
    let Part { programs, runs, counts, notes, discoveries, .. } = part;
    let message = seal(Form::Trial, &HandedOver { programs, runs, counts, notes, discoveries });
    std::fs::write(path, message).map_err(|why| Error::File { path: path.to_owned(), why })
}

/// What a process has written about this work; a reason if that cannot be used.
pub fn handed_over(message: &[u8], work: &Item) -> Result<Part, Poison> {
    let HandedOver { programs, runs, counts, notes, discoveries } = open(Form::Trial, message)?;
    let mut part = Part { programs, runs, counts, notes, discoveries, ..Part::default() };
    part.indices.insert(work.indices());
    Ok(part)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Ends in these ways, one after the other.
    struct Story(Mutex<Vec<Alone>>);

    impl Trial for Story {
        fn run(&self, _: &Job, _: &Item) -> Alone {
            let mut story = self.0.lock().expect("not poisoned");
            if story.is_empty() { Alone::Unknown } else { story.remove(0) }
        }
    }

    #[test]
    fn only_two_deaths_in_a_row_are_evidence() {
        let job = Job::new("j".into(), "fuzz", std::time::Duration::ZERO, vec![], vec![], &())
            .expect("a job");
        let work = Item { target: 0, start: 3, end: 4 };
        let judged = |story: &[Alone]| {
            let story = Story(Mutex::new(story.to_vec()));
            match judge(&story, &job, &work) {
                Alone::Done(_) => "done",
                Alone::Died => "died",
                Alone::Unknown => "unknown",
            }
        };
        let done = || Alone::Done(Part::default());
        assert_eq!(judged(&[done()]), "done");
        assert_eq!(judged(&[Alone::Died, done()]), "done");
        assert_eq!(judged(&[Alone::Died, Alone::Died]), "died");
        assert_eq!(judged(&[Alone::Died]), "unknown");
        assert_eq!(judged(&[Alone::Unknown, Alone::Died, Alone::Died]), "unknown");
    }

    #[test]
    fn what_came_out_is_handed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result");
        let part = Part { programs: 1, runs: 7, ..Part::default() };
        hand_over(&path, part).expect("written");
        let message = std::fs::read(&path).expect("read");
        let work = Item { target: 0, start: 3, end: 4 };
        let back = handed_over(&message, &work).expect("in order");
        assert_eq!((back.programs, back.runs, back.indices.contains(3)), (1, 7, true));
        assert!(handed_over(&message[1..], &work).is_err());
    }
}
