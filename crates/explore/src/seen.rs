//! The set of states that a search has seen, shared by all its threads. In: the bytes of states, in
//! batches. Out: which of them are new. Each state is kept once, with a reference to a state from which
//! it was reached.
//!
//! A state is packed into words ([`crate::packed`]) and stored in the table itself, so that looking it up
//! touches one place in memory. There is one table per number of words, split into shards that grow one
//! at a time. Words are atomic: the last word of an entry is claimed by a compare-and-exchange, the
//! others are written, and then the last word is published. To grow, a thread needs the tables alone;
//! all others hold them for a short time ([`Seen::tables`]).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use smallvec::SmallVec;

use crate::packed::{Batch, HashPrefix, Packed, hash, without_parent};

/// How many shards a table has: a power of two.
const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 4;
/// At most this share of the slots is used, in per cent.
const LOAD: usize = 80;
/// An entry that a thread is writing. No packed state ends with this word.
const BUSY: u64 = u64::MAX;

/// A set of states.
#[derive(Default)]
pub(crate) struct Seen {
    tables: RwLock<Tables>,
    bytes: AtomicUsize,
}

/// What became of a state that was to be inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Insertion {
    /// It was not there.
    New,
    /// It was there already.
    Known,
    /// Its shard has to grow first.
    Crowded,
}

/// The tables by the number of words of their states.
#[derive(Default)]
pub(crate) struct Tables {
    by_width: Vec<Table>,
}

#[derive(Default)]
struct Table {
    shards: [Shard; SHARDS],
}

/// Kept apart in memory, so that threads do not disturb each other's caches.
#[derive(Default)]
#[repr(align(128))]
struct Shard {
    /// The words of all entries, one after another; 0 in the last word of a free one. Linear probing.
    words: Vec<AtomicU64>,
    /// How many entries there is room for.
    slots: usize,
    used: AtomicUsize,
}

impl Seen {
    /// The tables, for a while. The thread that holds them must give them back before [`Seen::insert_all`] can
    /// grow a shard for another thread.
    pub(crate) fn tables(&self) -> RwLockReadGuard<'_, Tables> {
        // Nothing is ever left half changed by a thread that panics.
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Inserts all states of a batch; `each` learns which of them are new.
    pub(crate) fn insert_all<'a>(
        &'a self,
        tables: RwLockReadGuard<'a, Tables>,
        batch: &mut Batch,
        mut each: impl FnMut(&[u64]),
    ) -> RwLockReadGuard<'a, Tables> {
        batch.prepare();
        let mut tables = tables;
        tables.warm_up(batch);
        for state in batch.looked_up() {
            loop {
                match tables.insert(state) {
                    Insertion::New => each(state.words),
                    Insertion::Known => {}
                    Insertion::Crowded => {
                        drop(tables);
                        self.grow(state);
                        tables = self.tables();
                        continue;
                    }
                }
                break;
            }
        }
        tables
    }

    /// Makes room in the shard that the state belongs to.
    fn grow(&self, state: Packed<'_>) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let width = state.words.len();
        if tables.by_width.len() <= width {
            tables.by_width.resize_with(width + 1, Table::default);
        }
        let shard = &mut tables.by_width[width].shards[state.hash.shard()];
        // Another thread may have been faster.
        if shard.is_crowded() {
            let before = shard.words.len();
            shard.grow(width);
            self.bytes.fetch_add((shard.words.len() - before) * 8, Ordering::Relaxed);
        }
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        let tables = self.tables();
        let shards = tables.by_width.iter().flat_map(|table| &table.shards);
        shards.map(|shard| shard.used.load(Ordering::Relaxed)).sum()
    }

    /// How many bytes the tables have.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The hash prefix of the state from which this one was reached; `None` if it is not there.
    pub(crate) fn parent(&self, state: &[u64]) -> Option<HashPrefix> {
        let tables = self.tables();
        let (width, hash) = (state.len(), hash(state));
        let shard = &tables.by_width.get(width)?.shards[hash.shard()];
        let entry = shard.probe(width, hash).find(|entry| is_state(entry, state))?;
        Some(HashPrefix::from_last_word(entry[width - 1].load(Ordering::Relaxed)))
    }

    /// The states with this hash prefix: few, usually one.
    pub(crate) fn with_hash(&self, prefix: HashPrefix) -> Vec<Vec<u64>> {
        let tables = self.tables();
        let mut found = Vec::new();
        for (width, table) in tables.by_width.iter().enumerate().skip(1) {
            for entry in table.shards[prefix.shard()].probe(width, prefix) {
                let words = read(entry);
                if hash(&words) == prefix {
                    found.push(words.into_vec());
                }
            }
        }
        found
    }
}

impl HashPrefix {
    fn shard(self) -> usize {
        (self.number() >> (HashPrefix::BITS - SHARD_BITS)) as usize
    }

    /// Where to begin to look in a shard with so many slots. Larger prefixes begin later, so that a shard
    /// grows from its beginning to its end.
    fn slot(self, slots: usize) -> usize {
        let rest = self.number() & ((1 << (HashPrefix::BITS - SHARD_BITS)) - 1);
        ((u64::from(rest) * slots as u64) >> (HashPrefix::BITS - SHARD_BITS)) as usize
    }
}

impl Tables {
    /// Starts loading what the look-ups of a batch will need, so that the processor waits for several at
    /// once.
    fn warm_up(&self, batch: &Batch) {
        let mut sum = 0;
        for state in batch.looked_up() {
            let width = state.words.len();
            let Some(table) = self.by_width.get(width) else { continue };
            let shard = &table.shards[state.hash.shard()];
            if let Some(word) = shard.words.get(state.hash.slot(shard.slots) * width) {
                sum ^= word.load(Ordering::Relaxed);
            }
        }
        // The value means nothing; it keeps the loads from being thrown away.
        std::hint::black_box(sum);
    }

    fn insert(&self, state: Packed<'_>) -> Insertion {
        let Some(table) = self.by_width.get(state.words.len()) else { return Insertion::Crowded };
        let shard = &table.shards[state.hash.shard()];
        if shard.words.is_empty() {
            return Insertion::Crowded;
        }
        // The compiler makes one function per width that it knows.
        match *state.words {
            [_] => shard.insert(1, state),
            [_, _] => shard.insert(2, state),
            [_, _, _] => shard.insert(3, state),
            _ => shard.insert(state.words.len(), state),
        }
    }
}

/// Writes a claimed entry.
fn publish(entry: &[AtomicU64], words: &[u64], parent: HashPrefix) {
    let last = words.len() - 1;
    for (place, word) in entry.iter().zip(words).take(last) {
        place.store(*word, Ordering::Relaxed);
    }
    entry[last].store(parent.put_into(words[last]), Ordering::Release);
}

/// Does the entry hold this state? Parents do not count.
fn is_state(entry: &[AtomicU64], words: &[u64]) -> bool {
    let last = words.len() - 1;
    let mut rest = entry.iter().zip(words).take(last);
    without_parent(entry[last].load(Ordering::Relaxed)) == words[last]
        && rest.all(|(place, word)| place.load(Ordering::Relaxed) == *word)
}

/// The words of an entry without its parent.
fn read(entry: &[AtomicU64]) -> SmallVec<[u64; 8]> {
    let mut words: SmallVec<[u64; 8]> =
        entry.iter().map(|word| word.load(Ordering::Relaxed)).collect();
    if let Some(last) = words.last_mut() {
        *last = without_parent(*last);
    }
    words
}

impl Shard {
    #[inline(always)]
    fn insert(&self, width: usize, state: Packed<'_>) -> Insertion {
        let mut slot = state.hash.slot(self.slots);
        loop {
            let entry = &self.words[slot * width..(slot + 1) * width];
            let last = &entry[width - 1];
            let mut stored = last.load(Ordering::Acquire);
            if stored == 0 {
                if self.is_crowded() {
                    return Insertion::Crowded;
                }
                match last.compare_exchange(0, BUSY, Ordering::Acquire, Ordering::Acquire) {
                    Ok(_) => {
                        publish(entry, state.words, state.parent);
                        self.used.fetch_add(1, Ordering::Relaxed);
                        return Insertion::New;
                    }
                    Err(other) => stored = other,
                }
            }
            while stored == BUSY {
                std::hint::spin_loop();
                stored = last.load(Ordering::Acquire);
            }
            if is_state(entry, state.words) {
                return Insertion::Known;
            }
            slot = if slot + 1 == self.slots { 0 } else { slot + 1 };
        }
    }

    fn is_crowded(&self) -> bool {
        (self.used.load(Ordering::Relaxed) + 1) * 100 > self.slots * LOAD
    }

    /// The entries that may hold a state with this hash prefix.
    fn probe(&self, width: usize, hash: HashPrefix) -> impl Iterator<Item = &[AtomicU64]> {
        let start = hash.slot(self.slots);
        let slots = (start..self.slots).chain(0..start);
        let entries = slots.map(move |slot| &self.words[slot * width..(slot + 1) * width]);
        entries.take_while(move |entry| entry[width - 1].load(Ordering::Acquire) != 0)
    }

    /// Moves all entries to a larger table. No other thread may use this one meanwhile.
    fn grow(&mut self, width: usize) {
        let slots = (self.slots + self.slots / 2).max(8);
        let mut larger: Vec<AtomicU64> = Vec::new();
        larger.resize_with(slots * width, AtomicU64::default);
        for entry in self.words.chunks_exact(width) {
            if entry[width - 1].load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut slot = hash(&read(entry)).slot(slots);
            while larger[slot * width + width - 1].load(Ordering::Relaxed) != 0 {
                slot = if slot + 1 == slots { 0 } else { slot + 1 };
            }
            for (place, word) in larger[slot * width..].iter().zip(entry) {
                place.store(word.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        self.words = larger;
        self.slots = slots;
    }
}
