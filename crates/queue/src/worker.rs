//! A worker's place at a campaign ([`WorkerSession`]): what its threads share, and the threads beside them. One
//! keeps the leases of open items, one looks whether the campaign is over, and results are handed in
//! beside the next item, so that no thread waits for the network. [`crate::QueueSource`] takes the work.
//!
//! Nothing here has to happen exactly once: an item that is done twice has the same name both times,
//! and the stream and the reader take one.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strait_findings::Discovery;

use crate::activity::Activity;
use crate::job::{Item, Job};
use crate::link::Link;
use crate::queue_source::QueueSource;
use crate::source::Part;
use crate::transport::{Bucket, Receipt, Settlement, Stream};
use crate::trial::{Alone, Trial};

/// How often we look whether the campaign is over.
pub(crate) const LOOK: Duration = Duration::from_secs(1);
/// Results that are on their way at once.
const ON_THEIR_WAY: u32 = 8;
/// How long results are offered to a server that is away, when a turn at a campaign ends.
const FAREWELL: Duration = Duration::from_secs(10);
/// Between two attempts, or looks.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);
/// Items of ours that we know again.
const ITEMS: usize = 4096;

/// A worker's place at a campaign.
pub struct WorkerSession {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) link: Link,
    pub(crate) job: Job,
    pub(crate) name: String,
    pub(crate) is_over: AtomicBool,
    /// Others have waited for as long as a lease.
    is_turn_over: AtomicBool,
    pub(crate) is_closing: AtomicBool,
    /// The threads beside us end.
    is_ended: AtomicBool,
    /// Has there been anything to do?
    pub(crate) is_used: AtomicBool,
    on_their_way: AtomicU32,
    /// Items that threads are at, numbered as they came.
    leases: Mutex<BTreeMap<u64, Arc<dyn Receipt>>>,
    next_lease: AtomicU64,
    memory: Memory,
    /// Runs work alone.
    pub(crate) trial: Arc<dyn Trial>,
    /// This is such a process: the work that it has to do, until a thread takes it, and what came out.
    pub(crate) alone: Option<Mutex<AloneWork>>,
}

/// What a process does that does nothing else.
pub(crate) struct AloneWork {
    pub(crate) work: Option<Item>,
    pub(crate) part: Part,
    pub(crate) is_done: bool,
}

/// What a worker remembers of a campaign from one turn to the next.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Known>>);

/// What has been handed in.
#[derive(Default)]
pub(crate) struct Known {
    /// The last items of ours, by the names of their messages: what is given out again because its
    /// results are lost has another.
    pub(crate) items: VecDeque<String>,
    /// Faults that the reader knows for sure.
    pub(crate) told: HashSet<String>,
    /// The fullest description of each fault.
    pub(crate) fullest: HashMap<String, Discovery>,
}

impl WorkerSession {
    /// A place at this campaign, for a worker of this name. `None` if the campaign has just ended, or
    /// the server is away. What a worker was lost at is run by `trial`.
    pub fn open(
        link: &Link,
        job: &Job,
        name: &str,
        memory: &Memory,
        trial: &Arc<dyn Trial>,
    ) -> Option<WorkerSession> {
        WorkerSession::with(link, job, name, memory, trial, None)
    }

    /// A place for a process that does nothing but this work, and reports to its worker alone.
    pub fn alone(link: &Link, job: &Job, work: Item) -> Option<WorkerSession> {
        struct Never;
        impl Trial for Never {
            fn run(&self, _: &Job, _: &Item) -> Alone {
                Alone::Unknown
            }
        }
        let trial: Arc<dyn Trial> = Arc::new(Never);
        WorkerSession::with(link, job, "", &Memory::default(), &trial, Some(work))
    }

    /// What came out of the work of a process that does nothing else, if it is done.
    pub fn came_out(&self) -> Option<Part> {
        let alone = self.shared.alone.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        alone.is_done.then(|| alone.part.clone())
    }

    fn with(
        link: &Link,
        job: &Job,
        name: &str,
        memory: &Memory,
        trial: &Arc<dyn Trial>,
        work: Option<Item>,
    ) -> Option<WorkerSession> {
        link.transport().backlog(Stream::Work, &job.id).ok()?;
        link.activity().set_campaign(Some(&job.id));
        let alone =
            work.map(|work| AloneWork { work: Some(work), part: Part::default(), is_done: false });
        let shared = Arc::new(Shared {
            link: link.clone(),
            job: job.clone(),
            name: name.to_owned(),
            is_over: AtomicBool::new(false),
            is_turn_over: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
            is_used: AtomicBool::new(false),
            on_their_way: AtomicU32::new(0),
            leases: Mutex::default(),
            next_lease: AtomicU64::new(0),
            memory: memory.clone(),
            trial: Arc::clone(trial),
            alone: alone.map(Mutex::new),
        });
        let (keeping, looking) = (Arc::clone(&shared), Arc::clone(&shared));
        link.beside("queue-leases", move |_| keeping.keep_leases());
        link.beside("queue-look", move |_| looking.look());
        Some(WorkerSession { shared })
    }

    /// Has there been anything to do?
    pub fn is_used(&self) -> bool {
        self.shared.is_used.load(Ordering::Relaxed)
    }

    /// A thread's own source.
    pub fn source(&self) -> QueueSource {
        QueueSource::new(Arc::clone(&self.shared))
    }

    /// The campaign has ended.
    pub fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    /// Waits until everything is handed in. The threads are gone. A server that is away is given some
    /// time to come back; another worker does again what could not be delivered.
    pub fn close(self) {
        let shared = &self.shared;
        let is_empty = || shared.on_their_way.load(Ordering::SeqCst) == 0;
        let begun = shared.link.clock().now();
        while !shared.link.clock().wait(PAUSE, &is_empty) {
            if shared.link.is_over() || shared.link.since(begun) > FAREWELL {
                shared.is_closing.store(true, Ordering::SeqCst);
                return;
            }
        }
    }
}

impl Drop for WorkerSession {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::SeqCst);
        self.shared.link.activity().set_campaign(None);
        self.shared.link.clock().wake();
    }
}

impl Shared {
    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.memory.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leases(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<dyn Receipt>>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the lease of an item until its number is given to [`Shared::release`].
    pub(crate) fn lease(&self, receipt: &Arc<dyn Receipt>) -> u64 {
        let number = self.next_lease.fetch_add(1, Ordering::Relaxed);
        self.leases().insert(number, Arc::clone(receipt));
        number
    }

    pub(crate) fn release(&self, lease: u64) {
        self.leases().remove(&lease);
    }

    /// An item is handed in, and the reader knows of these faults.
    pub(crate) fn remember(&self, message: &str, told: Option<Vec<String>>) {
        let mut known = self.known();
        known.items.push_back(message.to_owned());
        if known.items.len() > ITEMS {
            known.items.pop_front();
        }
        known.told.extend(told.into_iter().flatten());
    }

    /// Says that we are still at the items that threads have. It asks nothing, so that a server that does
    /// not answer other questions cannot delay it.
    fn keep_leases(&self) {
        let is_ended = || self.is_ended.load(Ordering::SeqCst);
        while !self.link.clock().wait(self.job.lease() / 4, &is_ended) {
            let open: Vec<Arc<dyn Receipt>> = self.leases().values().cloned().collect();
            for receipt in open {
                // If this gets lost, the next one comes soon.
                receipt.settle(Settlement::StillAtIt);
            }
        }
    }

    /// Looks whether the campaign is over, or whether it is the turn of another one, and says that
    /// a worker works for it.
    fn look(&self) {
        let (transport, clock) = (self.link.transport(), self.link.clock());
        let (begun, lease) = (clock.now(), self.job.lease());
        let mut said = None;
        while !clock.wait(LOOK, &|| self.is_ended.load(Ordering::SeqCst)) {
            let is_due = said.is_none_or(|said| self.link.since(said) > lease / 3);
            if is_due && self.is_used.load(Ordering::Relaxed) {
                said = Some(clock.now());
                // Without it the submitter reports that there are no workers.
                let _ = transport.put(Bucket::Notes, &alive(&self.job.id), b"");
            }
            let is_turn_over = self.is_turn_over.load(Ordering::Relaxed);
            if !is_turn_over && self.link.since(begun) > lease {
                let campaigns = transport.list(Bucket::Campaigns).unwrap_or_default();
                let is_one_of_many = campaigns.iter().any(|record| record.key != self.job.id);
                self.is_turn_over.store(is_one_of_many, Ordering::Relaxed);
            }
            // A server that is away says nothing about the campaign.
            if let Ok(None) = transport.get(Bucket::Campaigns, &self.job.id) {
                self.is_over.store(true, Ordering::SeqCst);
                return;
            }
        }
    }

    /// No more items are wanted here.
    pub(crate) fn is_done(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_turn_over.load(Ordering::Relaxed)
    }

    /// Does something beside the next item; closing the session waits for it. If too much is on its
    /// way when the process ends, it is left to others.
    pub(crate) fn beside(self: &Arc<Self>, task: impl FnOnce(&Shared) + Send + 'static) {
        let clock = self.link.clock();
        let next = |count: u32| (count < ON_THEIR_WAY).then_some(count + 1);
        let reserve =
            || self.on_their_way.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).is_ok();
        while !clock.wait(PAUSE, &reserve) {
            if self.link.is_over() {
                return;
            }
        }
        let place = Place(Arc::clone(self));
        self.link.beside("queue-results", move |_| task(&place.0));
    }

    /// Adds what came out of an item to what this process has done.
    pub(crate) fn count(&self, part: &Part) {
        let activity = self.link.activity();
        Activity::add(&activity.items, 1);
        Activity::add(&activity.programs, part.programs);
        Activity::add(&activity.runs, part.runs);
    }
}

/// A place among the results that are on their way.
struct Place(Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.on_their_way.fetch_sub(1, Ordering::SeqCst);
        self.0.link.clock().wake();
    }
}

/// The key under which workers say that they are there.
pub(crate) fn alive(job: &str) -> String {
    format!("{job}.alive")
}
