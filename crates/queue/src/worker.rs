//! Work from a queue: a thread of a worker takes an item, keeps it alive while it is at it, and
//! acknowledges it once the results are stored. Results are handed in beside the next item, so that no
//! thread waits for the network.
//!
//! Nothing here has to happen exactly once: an item that is done twice has the same name both times,
//! and the stream and the reader take one.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::{Acker, PublishMessage};
use async_nats::jetstream::{AckKind, Message, kv};
use bytes::Bytes;
use futures_util::StreamExt;
use strait_findings::{Discovery, Ranges};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::job::{Item, Job, Report, Shown};
use crate::letter::{DeadLetter, file};
use crate::link::{Hub, Link, text};
use crate::message::{Form, Poison, seal};
use crate::note::Note;
use crate::objects::put;
use crate::source::{Part, Piece, Source};
use crate::trial::{Alone, Trial, judge};

/// How long the server holds a question for work.
const ASKING: Duration = Duration::from_secs(1);
/// Without work for so long a thread leaves: there may be work of another campaign.
const IDLE: Duration = Duration::from_secs(3);
/// A server that is away for so long may have forgotten the campaign.
const AWAY: Duration = Duration::from_secs(120);
/// How often we look whether the campaign is over.
const LOOK: Duration = Duration::from_secs(1);
/// Results that are on their way at once.
const ON_THEIR_WAY: u32 = 8;
/// How long results are offered to a server that is away, when we are to end.
const FAREWELL: Duration = Duration::from_secs(10);
/// Between two attempts, or looks.
const PAUSE: Duration = Duration::from_millis(250);
/// Results that are not taken for so long are worth a word.
const TROUBLE: Duration = Duration::from_secs(3);
/// Items of ours that we know again.
const ITEMS: usize = 4096;
/// An item that has taken so many workers without a word is tried as a whole.
const DELIVERIES: i64 = 25;

/// A worker's place at a campaign: what its threads share.
pub struct Bench {
    link: Link,
    shared: Arc<Shared>,
    look: JoinHandle<()>,
}

struct Shared {
    hub: Hub,
    job: Job,
    name: String,
    consumer: PullConsumer,
    notes: kv::Store,
    is_over: AtomicBool,
    /// Others have waited for as long as a lease.
    is_turn_over: AtomicBool,
    is_closing: AtomicBool,
    /// Somebody wants the worker to stop.
    stop: Arc<AtomicBool>,
    /// Has there been anything to do?
    is_used: AtomicBool,
    on_their_way: Arc<Semaphore>,
    memory: Memory,
    /// Runs work alone.
    trial: Arc<dyn Trial>,
    /// This is such a process: the work that it has to do, until a thread takes it, and what came out.
    alone: Option<Mutex<(Option<Item>, Part, bool)>>,
}

/// What a worker remembers of a campaign from one turn to the next.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Known>>);

/// What has been handed in.
#[derive(Default)]
struct Known {
    /// The last items of ours, by the names of their messages: what is given out again because its
    /// results are lost has another.
    items: VecDeque<String>,
    /// Faults that the reader knows for sure.
    told: HashSet<String>,
    /// The fullest description of each fault.
    fullest: HashMap<String, Discovery>,
}

impl Bench {
    /// A place at this campaign, for a worker of this name. `None` if the campaign has just ended, or
    /// the server is away. What a worker was lost at is run by `trial`.
    pub fn open(
        link: &Link,
        job: &Job,
        name: &str,
        memory: &Memory,
        stop: &Arc<AtomicBool>,
        trial: &Arc<dyn Trial>,
    ) -> Option<Bench> {
        Bench::with(link, job, name, memory, stop, trial, None)
    }

    /// A place for a process that does nothing but this work, and reports to its worker alone.
    pub fn alone(link: &Link, job: &Job, work: Item, stop: &Arc<AtomicBool>) -> Option<Bench> {
        struct Never;
        impl Trial for Never {
            fn run(&self, _: &Job, _: &Item) -> Alone {
                Alone::Unknown
            }
        }
        let trial: Arc<dyn Trial> = Arc::new(Never);
        Bench::with(link, job, "", &Memory::default(), stop, &trial, Some(work))
    }

    /// What came out of the work of a process that does nothing else, if it is done.
    pub fn came_out(&self) -> Option<Part> {
        let alone = self.shared.alone.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, part, is_done) = &*alone;
        is_done.then(|| part.clone())
    }

    fn with(
        link: &Link,
        job: &Job,
        name: &str,
        memory: &Memory,
        stop: &Arc<AtomicBool>,
        trial: &Arc<dyn Trial>,
        work: Option<Item>,
    ) -> Option<Bench> {
        let hub = link.hub().clone();
        let consumer: Result<PullConsumer, _> =
            link.block(hub.jetstream.get_consumer_from_stream(&job.id, hub.address.work()));
        let consumer = consumer.ok()?;
        let notes = link.block(hub.store(hub.address.notes())).ok()?;
        let shared = Arc::new(Shared {
            hub,
            job: job.clone(),
            name: name.to_owned(),
            consumer,
            notes,
            is_over: AtomicBool::new(false),
            is_turn_over: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            stop: Arc::clone(stop),
            is_used: AtomicBool::new(false),
            on_their_way: Arc::new(Semaphore::new(ON_THEIR_WAY as usize)),
            memory: memory.clone(),
            trial: Arc::clone(trial),
            alone: work.map(|work| Mutex::new((Some(work), Part::default(), false))),
        });
        let watched = Arc::clone(&shared);
        let look = link.spawn(async move { watched.look().await });
        Some(Bench { link: link.clone(), shared, look })
    }

    /// Has there been anything to do?
    pub fn is_used(&self) -> bool {
        self.shared.is_used.load(Ordering::Relaxed)
    }

    /// A thread's own source.
    pub fn taker(&self) -> Taker {
        Taker { link: self.link.clone(), shared: Arc::clone(&self.shared), open: None }
    }

    /// The campaign has ended.
    pub fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    /// Waits until everything is handed in. The threads are gone. A server that is away is given some
    /// time to come back; what could not be handed in is done again by somebody.
    pub fn close(self) {
        let all = self.shared.on_their_way.acquire_many(ON_THEIR_WAY);
        let waited = self.link.block(async { tokio::time::timeout(FAREWELL, all).await.is_ok() });
        self.shared.is_closing.store(!waited, Ordering::SeqCst);
        self.look.abort();
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.memory.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An item is handed in, and the reader knows of these faults.
    fn remember(&self, message: &str, told: Option<Vec<String>>) {
        let mut known = self.known();
        known.items.push_back(message.to_owned());
        if known.items.len() > ITEMS {
            known.items.pop_front();
        }
        known.told.extend(told.into_iter().flatten());
    }

    /// Looks whether the campaign is over, or whether it is the turn of another one, and says that
    /// somebody works for it.
    async fn look(&self) {
        let begun = Instant::now();
        let mut said = None;
        loop {
            tokio::time::sleep(LOOK).await;
            let is_due = said.is_none_or(|said: Instant| said.elapsed() > self.job.lease() / 3);
            if is_due && self.is_used.load(Ordering::Relaxed) {
                said = Some(Instant::now());
                // Without it the reader believes that nobody is there, and says so.
                let _ = self.notes.put(alive(&self.job.id), Bytes::new()).await;
            }
            let Ok(jobs) = self.hub.store(self.hub.address.jobs()).await else { continue };
            if begun.elapsed() > self.job.lease() {
                // A list of what somebody else removes meanwhile may never end.
                let listed = tokio::time::timeout(LOOK * 5, self.is_one_of_many(&jobs)).await;
                self.is_turn_over.fetch_or(listed.unwrap_or(false), Ordering::Relaxed);
            }
            // A server that is away says nothing about the campaign.
            if let Ok(None) = jobs.get(&self.job.id).await {
                self.is_over.store(true, Ordering::SeqCst);
                return;
            }
        }
    }

    async fn is_one_of_many(&self, jobs: &kv::Store) -> bool {
        let Ok(mut keys) = jobs.keys().await else { return false };
        while let Some(key) = keys.next().await {
            if key.is_ok_and(|key| key != self.job.id) {
                return true;
            }
        }
        false
    }

    /// No more items are wanted here.
    fn is_done(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_turn_over.load(Ordering::Relaxed)
    }

    async fn ask(&self) -> Result<Option<Message>, String> {
        let asking = async {
            let batch = self.consumer.batch().max_messages(1).expires(ASKING);
            let mut messages = batch.messages().await.map_err(text)?;
            messages.next().await.transpose().map_err(text)
        };
        let answer = tokio::time::timeout(ASKING * 3, asking).await;
        answer.unwrap_or_else(|_| Err("no answer".to_owned()))
    }

    /// Stores the results of an item, then acknowledges it.
    async fn hand_in(&self, open: Open, spent: Duration) {
        let part = &open.part;
        let shown = Shown::all(&part.discoveries);
        let mut news: Vec<String> = shown.iter().map(|shown| shown.finding.clone()).collect();
        news.dedup();
        news.retain(|finding| !open.is_told(&self.known(), finding));
        let mut parcels = Vec::new();
        for finding in &news {
            let fullest = self.known().fullest.get(finding).cloned();
            let Some(discovery) = fullest else { continue };
            let object = format!("{}.{finding}.{}", self.job.id, self.hub.fresh_name());
            if self.send_parcel(&object, &discovery).await.is_none() {
                return;
            }
            parcels.push((finding.clone(), object));
        }
        let report = Report {
            item: open.item.clone(),
            whole: true,
            programs: part.programs,
            runs: part.runs,
            spent_ms: u64::try_from(spent.as_millis()).unwrap_or(u64::MAX),
            counts: part.counts.clone(),
            shown,
            parcels,
            worker: self.name.clone(),
        };
        let Some(is_first) = self.publish(&open.message, &report).await else { return };
        self.remember(&open.message, is_first.then_some(news));
        // If this gets lost, the item comes again and is known.
        let _ = open.acker.ack().await;
        if open.note.is_some() {
            let _ = self.notes.purge(&open.name).await;
        }
    }

    /// Stores something that was found in an item that is not done yet.
    async fn hand_ahead(&self, item: Item, message: String, discovery: Discovery) {
        let finding = discovery.id();
        let object = format!("{}.{finding}.{}", self.job.id, self.hub.fresh_name());
        if self.send_parcel(&object, &discovery).await.is_none() {
            return;
        }
        let report = Report {
            item,
            whole: false,
            programs: 0,
            runs: 0,
            spent_ms: 0,
            counts: BTreeMap::new(),
            shown: Shown::all(std::slice::from_ref(&discovery)),
            parcels: vec![(finding.clone(), object)],
            worker: self.name.clone(),
        };
        if self.publish(&format!("{message}.{finding}"), &report).await == Some(true) {
            self.known().told.insert(finding);
        }
    }

    /// `None` when we are to end before the server is back.
    async fn send_parcel(&self, object: &str, discovery: &Discovery) -> Option<()> {
        let parcel = seal(Form::Finding, discovery);
        self.until_closing(|| put(&self.hub, object, &parcel)).await
    }

    /// Whether the stream did not have it yet; `None` when we are to end before the server is back.
    async fn publish(&self, name: &str, report: &Report) -> Option<bool> {
        let payload = Bytes::from(seal(Form::Result, report));
        let subject = self.hub.address.results_of(&self.job.id);
        self.until_closing(|| async {
            let message = PublishMessage::build().payload(payload.clone()).message_id(name);
            let sent = self.hub.jetstream.send_publish(subject.clone(), message);
            let stored = sent.await.map_err(text)?.await.map_err(text)?;
            Ok(!stored.duplicate)
        })
        .await
    }

    async fn until_closing<T, F: Future<Output = Result<T, String>>>(
        &self,
        mut attempt: impl FnMut() -> F,
    ) -> Option<T> {
        let begun = Instant::now();
        loop {
            match attempt().await {
                Ok(value) => {
                    self.hub.trouble().take();
                    return Some(value);
                }
                Err(_) if self.is_closing.load(Ordering::SeqCst) => return None,
                Err(why) => {
                    if begun.elapsed() > TROUBLE {
                        *self.hub.trouble() = Some(why);
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

/// The key under which workers say that they are there.
pub(crate) fn alive(job: &str) -> String {
    format!("{job}.alive")
}

/// The item that a thread is at.
struct Open {
    name: String,
    /// The name of the message that brought it.
    message: String,
    item: Item,
    acker: Arc<Acker>,
    beat: JoinHandle<()>,
    note: Option<Note>,
    /// Indices that were done alone.
    done: Ranges,
    part: Part,
}

impl Open {
    /// Does the reader know of this fault? What is given out again was lost, and what was told with it.
    fn is_told(&self, known: &Known, finding: &String) -> bool {
        self.message == self.name && known.told.contains(finding)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.beat.abort();
    }
}

/// One thread's source.
pub struct Taker {
    link: Link,
    shared: Arc<Shared>,
    open: Option<Open>,
}

impl Taker {
    /// Takes an item in hand, unless it was done before or cannot be done.
    fn accept(&self, message: Message) -> Option<Open> {
        let (delivered, sequence) =
            message.info().map_or((1, 0), |info| (info.delivered, info.stream_sequence));
        let (message, acker) = message.split();
        let shared = &self.shared;
        let item = match Item::read(&message.payload, &shared.job) {
            Ok(item) => item,
            Err(poison) => {
                self.set_aside(sequence, &poison, &message.payload, &acker);
                return None;
            }
        };
        let name = item.name(&shared.job.id);
        let id = message.headers.as_ref().and_then(|headers| headers.get(NATS_MESSAGE_ID));
        let id = id.map_or_else(|| name.clone(), ToString::to_string);
        if shared.known().items.contains(&id) {
            // If this gets lost, it comes again.
            let _ = self.link.block(acker.ack());
            return None;
        }
        shared.is_used.store(true, Ordering::Relaxed);
        let acker = Arc::new(acker);
        let (alive, pause) = (Arc::clone(&acker), shared.job.lease() / 3);
        let beat = self.link.spawn(async move {
            loop {
                tokio::time::sleep(pause).await;
                // The next one comes soon.
                let _ = alive.ack_with(AckKind::Progress).await;
            }
        });
        let (note, done, part) = (None, Ranges::default(), Part::default());
        let mut open = Open { name, message: id, item, acker, beat, note, done, part };
        if delivered > 1 {
            let read = || Note::read(&shared.notes, &open.name);
            let patience = shared.job.lease();
            let note = self.link.block(shared.hub.insist("read a note", patience, read));
            let Ok(mut note) = note else { return None };
            note.keep_within(&open.item.indices());
            if delivered > DELIVERIES {
                note.begin(open.item.indices());
            }
            open.note = Some(note);
        }
        Some(open)
    }

    /// Moves a message that cannot be used out of the way: it is kept as a dead letter and not given out
    /// again. If it stood for real work, the submitter gives it out again.
    fn set_aside(&self, sequence: u64, poison: &Poison, message: &[u8], acker: &Acker) {
        let shared = &self.shared;
        let letter = DeadLetter::new(Form::Work, poison, &shared.name, message);
        let name = format!("{}.{sequence}", Form::Work);
        let filing = || file(&shared.hub, &shared.job.id, &name, &letter);
        // A server without room for the letter must not give out the message forever.
        let _ = self.link.block(shared.hub.insist("keep a dead letter", LOOK, filing));
        let _ = self.link.block(acker.ack_with(AckKind::Term));
    }

    /// Does something beside the next item; whoever closes the bench waits for it. If there is too much
    /// on its way for too long when we are to stop, it is left to others.
    fn beside<F: Future<Output = ()> + Send + 'static>(&self, task: impl FnOnce(Arc<Shared>) -> F) {
        let mut stopped = None;
        let permit = loop {
            let permit = Arc::clone(&self.shared.on_their_way).acquire_owned();
            // The semaphore is never closed.
            let permit = self.link.block(async { tokio::time::timeout(PAUSE, permit).await });
            if let Ok(permit) = permit {
                break permit.ok();
            }
            if self.shared.stop.load(Ordering::SeqCst) {
                let since = stopped.get_or_insert_with(Instant::now);
                if since.elapsed() > FAREWELL {
                    return;
                }
            }
        };
        let task = task(Arc::clone(&self.shared));
        self.link.spawn(async move {
            task.await;
            drop(permit);
        });
    }

    /// Gives the item back.
    fn give_back(&mut self) {
        if let Some(open) = self.open.take() {
            // Without this it is given out again when its lease is over.
            let _ = self.link.block(open.acker.ack_with(AckKind::Nak(None)));
        }
    }

    fn write_note(&self) {
        let Some(open) = &self.open else { return };
        let Some(note) = &open.note else { return };
        let write = || note.write(&self.shared.notes, &open.name);
        // Without the note, or with an older one, something else is tried alone: that is all.
        let _ = self.link.block(self.shared.hub.insist("write a note", LOOK, write));
    }

    /// A worker was lost at some indices of the item: they are run alone, in a process that we see die if
    /// it dies. `false` if that told nothing, and another worker has to try.
    fn try_suspects(&mut self) -> bool {
        let Some(open) = &mut self.open else { return true };
        let suspects = open.note.as_ref().and_then(Note::suspects);
        let (Some(suspects), Some(note)) = (suspects, &mut open.note) else { return true };
        let Range { start, end } = suspects;
        let work = Item { lane: open.item.lane, start, end };
        match judge(self.shared.trial.as_ref(), &self.shared.job, &work) {
            Alone::Done(part) => {
                note.calm();
                open.done.insert(start..end);
                self.put_in(part);
            }
            Alone::Died => note.condemn(start..end),
            Alone::Unknown => return false,
        }
        self.write_note();
        true
    }

    /// Adds what came out of the item.
    fn put_in(&mut self, part: Part) {
        let mut known = self.shared.known();
        for discovery in &part.discoveries {
            let fullest = known.fullest.entry(discovery.id()).or_insert_with(|| discovery.clone());
            if fullest.explanation.len() < discovery.explanation.len() {
                fullest.clone_from(discovery);
            }
        }
        drop(known);
        if let Some(open) = &mut self.open {
            open.part.add(part);
        }
    }
}

impl Source for Taker {
    fn take(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<Piece>, Error> {
        if let Some(alone) = &self.shared.alone {
            let work = alone.lock().unwrap_or_else(PoisonError::into_inner).0.take();
            return Ok(work.map(|Item { lane, start, end }| Piece {
                lane,
                indices: start..end,
                is_watched: false,
                deadly: Vec::new(),
                done: Ranges::default(),
            }));
        }
        let mut idle = Instant::now();
        let mut away = None;
        while !stop() && !self.shared.is_done() && idle.elapsed() < IDLE {
            let message = match self.link.block(self.shared.ask()) {
                Ok(message) => message,
                // It is back soon, in general, and knows that we are at it.
                Err(_) if away.get_or_insert_with(Instant::now).elapsed() < AWAY => {
                    std::thread::sleep(PAUSE);
                    idle = Instant::now();
                    continue;
                }
                Err(_) => return Ok(None),
            };
            away = None;
            let Some(message) = message else { continue };
            let Some(open) = self.accept(message) else { continue };
            let (lane, indices) = (open.item.lane, open.item.indices());
            let begun = Instant::now();
            self.open = Some(open);
            if !self.try_suspects() {
                self.give_back();
                std::thread::sleep(PAUSE);
                continue;
            }
            let Some(open) = &self.open else { continue };
            let (is_watched, done) = (open.note.is_some(), open.done.clone());
            let deadly = open.note.as_ref().map_or_else(Vec::new, |note| note.deadly.clone());
            if done.missing(indices.clone()).is_empty() {
                self.finish(begun.elapsed(), true)?;
                idle = Instant::now();
                continue;
            }
            return Ok(Some(Piece { lane, indices, is_watched, deadly, done }));
        }
        Ok(None)
    }

    fn begin(&mut self, indices: Range<u64>) -> Result<(), Error> {
        let note = self.open.as_mut().and_then(|open| open.note.as_mut());
        if let Some(note) = note {
            note.begin(indices);
            self.write_note();
        }
        Ok(())
    }

    fn show(&mut self, discovery: &Discovery) -> Result<(), Error> {
        let Some(open) = &self.open else { return Ok(()) };
        if !open.is_told(&self.shared.known(), &discovery.id()) {
            let (item, message) = (open.item.clone(), open.message.clone());
            let discovery = discovery.clone();
            self.beside(|shared| async move { shared.hand_ahead(item, message, discovery).await });
        }
        Ok(())
    }

    fn deliver(&mut self, part: Part) -> Result<bool, Error> {
        if let Some(alone) = &self.shared.alone {
            alone.lock().unwrap_or_else(PoisonError::into_inner).1.add(part);
            return Ok(true);
        }
        self.put_in(part);
        Ok(!self.shared.is_over.load(Ordering::Relaxed))
    }

    fn finish(&mut self, spent: Duration, whole: bool) -> Result<(), Error> {
        if let Some(alone) = &self.shared.alone {
            alone.lock().unwrap_or_else(PoisonError::into_inner).2 = whole;
            return Ok(());
        }
        if !whole {
            let calm = self.open.as_mut().and_then(|open| open.note.as_mut());
            if let Some(note) = calm {
                note.calm();
                self.write_note();
            }
            self.give_back();
            return Ok(());
        }
        let Some(open) = self.open.take() else { return Ok(()) };
        self.beside(|shared| async move { shared.hand_in(open, spent).await });
        Ok(())
    }
}
