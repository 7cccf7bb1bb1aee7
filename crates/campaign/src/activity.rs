//! What a campaign does at the moment: what each thread works at, which suspicions are being confirmed, and what
//! was found last. Threads write it, views read it; nothing is decided by it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use strait_findings::{Discovery, Recorded};

/// How many of the last findings are kept.
const FINDINGS: usize = 8;

/// What a campaign does at the moment. Clones are the same value.
#[derive(Clone, Debug, Default)]
pub struct Activity(Arc<Mutex<Current>>);

#[derive(Debug, Default)]
struct Current {
    threads: Vec<Thread>,
    confirmations: BTreeMap<u64, Suspicion>,
    /// The number of the next confirmation.
    next: u64,
    findings: VecDeque<LastFinding>,
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// What it does.
    pub state: ThreadState,
    /// The number of the target, if it works for one.
    pub target: Option<usize>,
    /// What it works at: `programs 32 to 63`.
    pub what: String,
    /// Since when.
    pub since: Instant,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// It waits for work.
    Waiting,
    /// It runs programs or tests.
    Running,
    /// It runs again what looked wrong.
    Confirming,
    /// It has ended.
    Ended,
}

/// Something that looked wrong and is run again before it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// The number of the target.
    pub target: usize,
    /// What looked wrong: `program 17`.
    pub what: String,
    /// Since when it is looked at; `None` while it waits.
    pub begun: Option<Instant>,
}

/// A fault that was not known before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastFinding {
    /// Its kind.
    pub kind: String,
    /// Its target.
    pub target: String,
    /// Its title.
    pub title: String,
    /// Its directory.
    pub directory: PathBuf,
    /// When it was found.
    pub at: Instant,
}

impl Activity {
    /// A thread does this from now on.
    pub fn set_thread(
        &self,
        number: usize,
        state: ThreadState,
        target: Option<usize>,
        what: impl Into<String>,
    ) {
        let thread = Thread { state, target, what: what.into(), since: Instant::now() };
        let threads = &mut self.current().threads;
        while threads.len() <= number {
            threads.push(Thread {
                state: ThreadState::Waiting,
                target: None,
                what: String::new(),
                since: Instant::now(),
            });
        }
        threads[number] = thread;
    }

    /// Something looks wrong and has to wait until it is looked at.
    pub fn suspect(&self, target: usize, what: impl Into<String>) -> Confirmation {
        let suspicion = Suspicion { target, what: what.into(), begun: None };
        let current = &mut *self.current();
        let number = current.next;
        current.next += 1;
        current.confirmations.insert(number, suspicion);
        Confirmation { activity: self.clone(), number }
    }

    pub(crate) fn found(&self, recorded: &Recorded, discovery: &Discovery) {
        let findings = &mut self.current().findings;
        findings.push_front(LastFinding {
            kind: discovery.kind.to_string(),
            target: discovery.target.clone(),
            title: discovery.title.clone(),
            directory: recorded.directory.clone(),
            at: Instant::now(),
        });
        findings.truncate(FINDINGS);
    }

    /// What each thread does, by its number.
    pub fn threads(&self) -> Vec<Thread> {
        self.current().threads.clone()
    }

    /// What is being confirmed or waits for it, the oldest first; threads that confirm by themselves are among
    /// the threads.
    pub fn suspicions(&self) -> Vec<Suspicion> {
        self.current().confirmations.values().cloned().collect()
    }

    /// The last findings of this session, the newest first.
    pub fn findings(&self) -> Vec<LastFinding> {
        self.current().findings.iter().cloned().collect()
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something is confirmed, or waits for it, until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Confirmation {
    activity: Activity,
    number: u64,
}

impl Confirmation {
    /// It is looked at from now on.
    pub fn begin(self) -> Self {
        if let Some(suspicion) = self.activity.current().confirmations.get_mut(&self.number) {
            suspicion.begun = Some(Instant::now());
        }
        self
    }
}

impl Drop for Confirmation {
    fn drop(&mut self) {
        self.activity.current().confirmations.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_is_seen_until_it_is_dropped() {
        let activity = Activity::default();
        let seen = || -> Vec<(String, bool)> {
            let suspicions = activity.suspicions().into_iter();
            suspicions.map(|one| (one.what, one.begun.is_some())).collect()
        };
        let first = activity.suspect(0, "program 1");
        let second = activity.suspect(1, "program 2").begin();
        assert_eq!(seen(), [("program 1".to_owned(), false), ("program 2".to_owned(), true)]);
        drop(first);
        assert_eq!(seen(), [("program 2".to_owned(), true)]);
        drop(second);
        assert_eq!(seen(), []);
    }

    #[test]
    fn threads_are_known_by_their_numbers() {
        let activity = Activity::default();
        activity.set_thread(1, ThreadState::Running, Some(3), "programs 0 to 31");
        activity.set_thread(0, ThreadState::Ended, None, "");
        let threads = activity.threads().into_iter();
        let states: Vec<_> = threads.map(|thread| (thread.state, thread.target)).collect();
        assert_eq!(states, [(ThreadState::Ended, None), (ThreadState::Running, Some(3))]);
    }
}
