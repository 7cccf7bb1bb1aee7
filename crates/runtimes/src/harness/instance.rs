//! One run of a program: its channels, what its processes saw, and how many are left.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::actor_pool::Job;
use super::cell::Cell;
use super::executor::lock;
use super::payload::{Ledger, Word};
use super::plan::{At, Open};
use super::random::Random;
use super::record::{Event, Path, Record};
use super::target::Target;

/// The place of a process that has finished.
const FINISHED: u32 = u32::MAX;

/// What one process has seen, and where it is: readable while it runs or hangs.
#[derive(Debug)]
pub struct Account {
    /// Its place in the tree of processes.
    pub path: Path,
    /// Its number within the instance, from 1.
    pub number: u32,
    events: Mutex<Vec<Event>>,
    at: AtomicU32,
}

impl Account {
    /// Notes an event.
    pub fn saw(&self, event: Event) {
        lock(&self.events).push(event.normalised());
    }

    /// Notes where the process waits.
    pub fn stands_at(&self, at: At) {
        self.at.store(at.0, Ordering::Relaxed);
    }

    /// Notes that it has finished.
    pub fn finish(&self) {
        self.at.store(FINISHED, Ordering::Release);
    }

    /// Where it is, if it has not finished.
    pub fn stuck_at(&self) -> Option<At> {
        let at = self.at.load(Ordering::Acquire);
        (at != FINISHED).then_some(At(at))
    }
}

/// Instances that are started together, and the one who waits for their end.
#[derive(Debug, Default)]
pub struct Batch {
    live: AtomicUsize,
    gate: AtomicBool,
    over: Mutex<()>,
    ended: Condvar,
    /// For each instance, if there are many.
    progress: Box<[Progress]>,
}

/// How many processes an instance had when the batch began, and how many of them have begun.
#[derive(Debug, Default)]
struct Progress {
    expected: AtomicU32,
    begun: AtomicU32,
}

/// How many instances a queue may be ahead of another.
const LEAD: usize = 4;

impl Batch {
    /// A single instance, which begins at once.
    pub fn single() -> Batch {
        Batch { gate: AtomicBool::new(true), ..Batch::default() }
    }

    /// Many instances whose processes wait until [`Batch::open`].
    pub fn many(instances: usize) -> Batch {
        let progress = (0..instances).map(|_| Progress::default()).collect();
        Batch { progress, ..Batch::default() }
    }

    /// Lets the processes begin.
    pub fn open(&self) {
        self.gate.store(true, Ordering::Release);
    }

    /// May processes begin?
    pub fn is_open(&self) -> bool {
        self.gate.load(Ordering::Acquire)
    }

    /// One more process is under way.
    pub fn enter(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// A process has ended.
    pub fn leave(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake();
        }
    }

    /// Wakes who waits for the end.
    pub fn wake(&self) {
        drop(lock(&self.over));
        self.ended.notify_all();
    }

    /// Waits for the last process, or until `is_given_up`.
    pub fn wait(&self, is_given_up: impl Fn() -> bool) {
        for _ in 0..100 {
            if self.live.load(Ordering::Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = lock(&self.over);
        while self.live.load(Ordering::Acquire) > 0 && !is_given_up() {
            let patience = Duration::from_millis(50);
            let waited = self.ended.wait_timeout(guard, patience);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// One run.
pub struct Instance<T: Target, W: Word> {
    /// Its number within the job.
    pub number: u64,
    /// What it is a run of.
    pub job: Arc<Job<T, W>>,
    /// Those it was started with.
    pub batch: Arc<Batch>,
    /// Where its messages are entered.
    pub ledger: &'static Ledger,
    /// Do processes keep ends of their own?
    pub keeps_ends: bool,
    /// Is a channel closed by the crate's own operation, where there is one?
    pub closes_by_operation: bool,
    /// Are ends let go of as soon as nobody has a use for them?
    pub lets_go_early: bool,
    cells: Mutex<Vec<Arc<Cell<T, W>>>>,
    accounts: Mutex<Vec<Arc<Account>>>,
    /// Processes that arrived before an operation, and before giving one up.
    arrivals: [AtomicU64; 2],
    /// If those that give up an operation wait for each other, instead of for any process: the decisions
    /// about how they give up, which are the same for all, so that they meet.
    quitting: Option<Random>,
    /// Its place in the batch.
    place: usize,
}

impl<T: Target, W: Word> Instance<T, W> {
    /// A run that has not begun.
    pub fn new(
        number: u64,
        place: usize,
        job: Arc<Job<T, W>>,
        batch: Arc<Batch>,
        ledger: &'static Ledger,
    ) -> Self {
        let mut random = Random::new(job.options.seed, number, &[u32::MAX]);
        let (keeps_ends, closes_by_operation) = (random.below(2) == 0, random.below(2) == 0);
        Instance {
            number,
            job,
            batch,
            ledger,
            keeps_ends,
            closes_by_operation,
            lets_go_early: random.below(4) > 0,
            quitting: (random.below(2) == 0).then_some(random),
            cells: Mutex::default(),
            accounts: Mutex::default(),
            arrivals: Default::default(),
            place,
        }
    }

    /// A new channel; its number.
    pub fn open(&self, open: &Open) -> u32 {
        let cell = Arc::new(Cell::new(&self.job.target, open));
        let mut cells = lock(&self.cells);
        cells.push(cell);
        (cells.len() - 1) as u32
    }

    /// The channel with this number.
    pub fn cell(&self, number: u32) -> Option<Arc<Cell<T, W>>> {
        lock(&self.cells).get(number as usize).cloned()
    }

    /// A new process enters.
    pub fn enter(&self, path: Path) -> Arc<Account> {
        self.batch.enter();
        let mut accounts = lock(&self.accounts);
        let number = accounts.len() as u32 + 1;
        let (events, at) = (Mutex::default(), AtomicU32::new(0));
        let account = Arc::new(Account { path, number, events, at });
        accounts.push(account.clone());
        account
    }

    /// Notes that the processes entered so far will begin together.
    pub fn expect_all(&self) {
        let count = lock(&self.accounts).len() as u32;
        if let Some(progress) = self.batch.progress.get(self.place) {
            progress.expected.store(count, Ordering::Release);
        }
    }

    /// A process begins: it waits a moment if others are far behind. Without this one queue would be
    /// through a whole batch before another has woken up, and the two would never meet. `false` if
    /// they are still behind.
    pub fn keep_pace(&self) -> bool {
        const ROUNDS: u32 = 100;
        if let Some(own) = self.batch.progress.get(self.place) {
            own.begun.fetch_add(1, Ordering::AcqRel);
        }
        let behind = self.place.checked_sub(LEAD);
        let Some(behind) = behind.and_then(|place| self.batch.progress.get(place)) else {
            return true;
        };
        for _ in 0..ROUNDS {
            if behind.begun.load(Ordering::Acquire) >= behind.expected.load(Ordering::Acquire) {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// The decisions about how operations are given up, if they are the same for all processes.
    pub fn quitting(&self) -> Option<Random> {
        self.quitting.clone()
    }

    /// Lines two processes up before an operation, or before giving one up: waits a moment for the other
    /// one of a pair.
    pub fn line_up(&self, is_quitting: bool) {
        const ROUNDS: u32 = 150;
        // Who gives up often begins to do so when a message or a place has come, and the next one comes later.
        const QUITTING_ROUNDS: u32 = 600;
        let is_apart = is_quitting && self.quitting.is_some();
        let arrivals = &self.arrivals[usize::from(is_apart)];
        let rounds = if is_apart { QUITTING_ROUNDS } else { ROUNDS };
        let ticket = arrivals.fetch_add(1, Ordering::AcqRel);
        for _ in 0..rounds {
            if arrivals.load(Ordering::Acquire) > (ticket | 1) {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// Processes that have not finished, and where they are.
    pub fn stuck(&self) -> Vec<(Path, At)> {
        let accounts = lock(&self.accounts);
        let mut stuck: Vec<(Path, At)> = accounts
            .iter()
            .filter_map(|account| Some((account.path.clone(), account.stuck_at()?)))
            .collect();
        stuck.sort_by(|one, other| one.0.cmp(&other.0));
        stuck
    }

    /// What has been seen so far.
    pub fn record(&self) -> Record {
        let accounts = lock(&self.accounts);
        let finished = accounts.iter().all(|account| account.stuck_at().is_none());
        let mut processes: Vec<(Path, Vec<Event>)> = accounts
            .iter()
            .map(|account| (account.path.clone(), lock(&account.events).clone()))
            .filter(|(_, events)| !events.is_empty())
            .collect();
        processes.sort_by(|one, other| one.0.cmp(&other.0));
        Record { processes, finished }
    }

    /// Drops all channels. Nobody holds an end any more when all processes have finished.
    pub fn clear(&self) {
        let cells = std::mem::take(&mut *lock(&self.cells));
        drop(cells);
    }
}
