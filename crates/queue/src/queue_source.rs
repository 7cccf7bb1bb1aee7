//! Work from a queue: a thread of a worker takes an item, does it, and acknowledges it once the results
//! are stored ([`crate::hand_in`]).

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use strait_findings::{Discovery, Ranges};

use crate::error::Error;
use crate::job::Item;
use crate::letter::{DeadLetter, file};
use crate::message::{Form, Poison};
use crate::note::Note;
use crate::source::{Part, Piece, Source};
use crate::transport::{Delivery, Receipt, Settlement, Stream};
use crate::trial::{Alone, judge};
use crate::worker::{AloneWork, Known, LOOK, PAUSE, Shared};

/// How long the server holds a question for work.
const ASKING: Duration = Duration::from_millis(500);
/// Without work for so long a thread leaves: there may be work of another campaign.
const IDLE: Duration = Duration::from_secs(3);
/// A server that is away for so long may have forgotten the campaign.
const AWAY: Duration = Duration::from_secs(120);
/// An item that has taken so many workers without a word is tried as a whole.
const DELIVERIES: i64 = 25;

/// The item that a thread is at.
pub(crate) struct Open {
    pub(crate) name: String,
    /// The name of the message that brought it.
    pub(crate) message: String,
    pub(crate) item: Item,
    pub(crate) receipt: Arc<dyn Receipt>,
    pub(crate) note: Option<Note>,
    /// Indices that were done alone.
    done: Ranges,
    pub(crate) part: Part,
    lease: u64,
    shared: Arc<Shared>,
}

impl Open {
    /// Does the reader know of this fault? What is given out again was lost, and what was told with it.
    pub(crate) fn is_told(&self, known: &Known, finding: &String) -> bool {
        self.message == self.name && known.told.contains(finding)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.shared.release(self.lease);
    }
}

/// One thread's source.
pub struct QueueSource {
    shared: Arc<Shared>,
    open: Option<Open>,
}

impl QueueSource {
    pub(crate) fn new(shared: Arc<Shared>) -> QueueSource {
        QueueSource { shared, open: None }
    }

    /// What a process has to do that does nothing else.
    fn alone(&self) -> Option<MutexGuard<'_, AloneWork>> {
        let alone = self.shared.alone.as_ref()?;
        Some(alone.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes an item in hand, unless it was done before or cannot be done.
    fn accept(&self, delivery: Delivery) -> Option<Open> {
        let Delivery { message, name: id, number, times, receipt } = delivery;
        let shared = &self.shared;
        let item = match Item::read(&message, &shared.job) {
            Ok(item) => item,
            Err(poison) => {
                self.set_aside(number, &poison, &message, receipt.as_ref());
                return None;
            }
        };
        let name = item.name(&shared.job.id);
        let message = id.unwrap_or_else(|| name.clone());
        if shared.known().items.contains(&message) {
            // If this gets lost, it comes again.
            receipt.settle(Settlement::Done);
            return None;
        }
        shared.is_used.store(true, Ordering::Relaxed);
        let lease = shared.lease(&receipt);
        let (note, done, part) = (None, Ranges::default(), Part::default());
        let shared = Arc::clone(shared);
        let mut open = Open { name, message, item, receipt, note, done, part, lease, shared };
        if times > 1 {
            let link = &self.shared.link;
            let read = || Note::read(link.transport(), &open.name);
            let note = link.insist("read a note", self.shared.job.lease(), read);
            let Ok(mut note) = note else { return None };
            note.keep_within(&open.item.indices());
            if times > DELIVERIES {
                note.begin(open.item.indices());
            }
            open.note = Some(note);
        }
        Some(open)
    }

    /// Moves a message that cannot be used out of the way: it is kept as a dead letter and not given out
    /// again. If it stood for real work, the submitter gives it out again.
    fn set_aside(&self, number: u64, poison: &Poison, message: &[u8], receipt: &dyn Receipt) {
        let shared = &self.shared;
        let letter = DeadLetter::new(Form::Work, poison, &shared.name, message);
        let name = format!("{}.{number}", Form::Work);
        let filing = || file(shared.link.transport(), &shared.job.id, &name, &letter);
        // A server without room for the letter must not give out the message forever.
        let _ = shared.link.insist("keep a dead letter", LOOK, filing);
        receipt.settle(Settlement::SetAside);
    }

    /// Gives the item back.
    fn give_back(&mut self) {
        if let Some(open) = self.open.take() {
            // Without this it is given out again when its lease is over.
            open.receipt.settle(Settlement::GiveBack);
        }
    }

    fn write_note(&self) {
        let Some(open) = &self.open else { return };
        let Some(note) = &open.note else { return };
        let link = &self.shared.link;
        let write = || note.write(link.transport(), &open.name);
        // Without the note, or with an older one, something else is tried alone: that is all.
        let _ = link.insist("write a note", LOOK, write);
    }

    /// A worker was lost at some indices of the item: they are run alone, in a process that we see die if
    /// it dies. `false` if that told nothing, and another worker has to try.
    fn try_suspects(&mut self) -> bool {
        let Some(open) = &mut self.open else { return true };
        let suspects = open.note.as_ref().and_then(Note::suspects);
        let (Some(suspects), Some(note)) = (suspects, &mut open.note) else { return true };
        let Range { start, end } = suspects;
        let work = Item { target: open.item.target, start, end };
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

    /// Asks for an item.
    fn ask(&self) -> Result<Option<Delivery>, ()> {
        let Shared { link, job, .. } = self.shared.as_ref();
        // Why it does not answer is for those who look whether the campaign is over.
        let taken = link.transport().take(Stream::Work, &job.id, 1, ASKING).map_err(drop)?;
        Ok(taken.into_iter().next())
    }
}

impl Source for QueueSource {
    fn take(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<Piece>, Error> {
        if let Some(mut alone) = self.alone() {
            return Ok(alone.work.take().map(|Item { target, start, end }| Piece {
                target,
                indices: start..end,
                is_watched: false,
                deadly: Vec::new(),
                done: Ranges::default(),
            }));
        }
        let shared = Arc::clone(&self.shared);
        let (link, clock) = (&shared.link, shared.link.clock());
        let mut idle = clock.now();
        let mut away = None;
        while !stop() && !shared.is_done() && link.since(idle) < IDLE {
            let Ok(delivery) = self.ask() else {
                // It is back soon, in general, and knows that we are at it.
                let since = *away.get_or_insert_with(|| clock.now());
                if link.since(since) >= AWAY {
                    return Ok(None);
                }
                clock.sleep(PAUSE);
                idle = clock.now();
                continue;
            };
            away = None;
            let Some(delivery) = delivery else { continue };
            let Some(open) = self.accept(delivery) else { continue };
            let (target, indices) = (open.item.target, open.item.indices());
            let begun = clock.now();
            self.open = Some(open);
            if !self.try_suspects() {
                self.give_back();
                clock.sleep(PAUSE);
                continue;
            }
            let Some(open) = &self.open else { continue };
            let (is_watched, done) = (open.note.is_some(), open.done.clone());
            let deadly = open.note.as_ref().map_or_else(Vec::new, |note| note.deadly.clone());
            if done.missing(indices.clone()).is_empty() {
                self.finish(link.since(begun), true)?;
                idle = clock.now();
                continue;
            }
            return Ok(Some(Piece { target, indices, is_watched, deadly, done }));
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
            self.shared.beside(move |shared| shared.hand_ahead(item, &message, &discovery));
        }
        Ok(())
    }

    fn deliver(&mut self, part: Part) -> Result<bool, Error> {
        if let Some(mut alone) = self.alone() {
            alone.part.add(part);
            return Ok(true);
        }
        self.put_in(part);
        Ok(!self.shared.is_over.load(Ordering::Relaxed))
    }

    fn finish(&mut self, spent: Duration, whole: bool) -> Result<(), Error> {
        if let Some(mut alone) = self.alone() {
            alone.is_done = whole;
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
        self.shared.count(&open.part);
        self.shared.beside(move |shared| shared.hand_in(&open, spent));
        Ok(())
    }
}
