//! The set of visited states: each state's bytes once, found by hash, with the state it was reached
//! from. Split into shards so that search threads rarely meet.

use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;

/// A stored state. Half the byte offset in its shard, and the shard in the lowest bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StateId(u32);

impl StateId {
    /// The parent of the first state.
    pub(crate) const NONE: StateId = StateId(u32::MAX);
}

/// Full blocks have this size; the first block of a shard grows up to it.
const BLOCK: usize = 1 << 18;

/// What the store could not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

pub(crate) struct Store {
    shards: Vec<Mutex<Shard>>,
    /// How many low bits of a [`StateId`] name the shard.
    shard_bits: u32,
    bytes: AtomicUsize,
}

#[derive(Default)]
struct Shard {
    /// Offsets of records, halved.
    table: HashTable<u32>,
    blocks: Vec<Vec<u8>>,
    states: usize,
}

impl Store {
    /// A store for so many search threads.
    pub(crate) fn new(threads: usize) -> Self {
        let shard_bits = if threads <= 1 { 0 } else { 6 };
        let shards = (0..1 << shard_bits).map(|_| Mutex::default()).collect();
        Store { shards, shard_bits, bytes: AtomicUsize::new(0) }
    }

    fn shard(&self, number: usize) -> MutexGuard<'_, Shard> {
        // A shard is never left half changed, so a panic elsewhere does no harm here.
        self.shards[number].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The state with these bytes, and whether it is new.
    pub(crate) fn insert(&self, state: &[u8], parent: StateId) -> Result<(StateId, bool), Full> {
        let hash = hash(state);
        let number = (hash >> 7) as usize & (self.shards.len() - 1);
        let mut shard = self.shard(number);
        let before = shard.size();
        let (offset, fresh) = shard.insert(hash, state, parent);
        let grown = shard.size() - before;
        drop(shard);
        if grown > 0 {
            self.bytes.fetch_add(grown, Ordering::Relaxed);
        }
        if u64::from(offset) << self.shard_bits >= u64::from(u32::MAX) {
            return Err(Full);
        }
        Ok((StateId(offset << self.shard_bits | number as u32), fresh))
    }

    /// Writes a state's bytes into `bytes` and gives its parent.
    pub(crate) fn read(&self, state: StateId, bytes: &mut Vec<u8>) -> StateId {
        let number = state.0 as usize & (self.shards.len() - 1);
        let shard = self.shard(number);
        let (parent, stored) = shard.record(state.0 >> self.shard_bits);
        bytes.clear();
        bytes.extend_from_slice(stored);
        parent
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        (0..self.shards.len()).map(|number| self.shard(number).states).sum()
    }

    /// How many bytes they take, tables included.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Shard {
    fn size(&self) -> usize {
        let blocks: usize = match self.blocks.len() {
            0 => 0,
            1 => self.blocks[0].capacity(),
            several => several * BLOCK,
        };
        // hashbrown keeps at most seven of eight buckets in use, each with one byte of its own.
        let buckets = match self.table.capacity() {
            0 => 0,
            capacity => (capacity * 8 / 7).next_power_of_two(),
        };
        blocks + buckets * 5
    }

    fn insert(&mut self, hash: u64, state: &[u8], parent: StateId) -> (u32, bool) {
        let blocks = &self.blocks;
        let entry = self.table.entry(
            hash,
            |offset| record(blocks, *offset).1 == state,
            |offset| self::hash(record(blocks, *offset).1),
        );
        match entry {
            Entry::Occupied(occupied) => (*occupied.get(), false),
            Entry::Vacant(vacant) => {
                let offset = next_offset(blocks, state.len());
                vacant.insert(offset);
                self.append(state, parent);
                self.states += 1;
                (offset, true)
            }
        }
    }

    fn append(&mut self, state: &[u8], parent: StateId) {
        let needed = record_length(state.len());
        if self.blocks.last().is_none_or(|block| block.len() + needed > BLOCK) {
            let capacity = if self.blocks.is_empty() { 256.min(BLOCK) } else { BLOCK };
            self.blocks.push(Vec::with_capacity(capacity.max(needed)));
        }
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        let end = block.len() + needed;
        write_length(state.len(), block);
        block.extend_from_slice(&parent.0.to_le_bytes());
        block.extend_from_slice(state);
        block.resize(end, 0);
    }

    fn record(&self, offset: u32) -> (StateId, &[u8]) {
        record(&self.blocks, offset)
    }
}

/// Where the next record will start: records do not cross blocks, so that none is ever moved.
fn next_offset(blocks: &[Vec<u8>], length: usize) -> u32 {
    let fits = |block: &Vec<u8>| block.len() + record_length(length) <= BLOCK;
    let offset = match blocks.last() {
        Some(block) if fits(block) => (blocks.len() - 1) * BLOCK + block.len(),
        _ => blocks.len() * BLOCK,
    };
    (offset / 2) as u32
}

/// Length, parent, bytes, and one more byte if the sum is odd.
fn record_length(state: usize) -> usize {
    let prefix = if state < 0x80 { 1 } else { 4 };
    (prefix + 4 + state).next_multiple_of(2)
}

fn write_length(length: usize, block: &mut Vec<u8>) {
    if length < 0x80 {
        block.push(length as u8);
    } else {
        // The first byte's high bit says that the length takes four bytes, most significant first.
        block.extend_from_slice(&(length as u32 | 0x8000_0000).to_be_bytes());
    }
}

fn record(blocks: &[Vec<u8>], offset: u32) -> (StateId, &[u8]) {
    let offset = offset as usize * 2;
    let bytes = &blocks[offset / BLOCK][offset % BLOCK..];
    let (length, rest) = if bytes[0] < 0x80 {
        (bytes[0] as usize, &bytes[1..])
    } else {
        let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        ((length & 0x7fff_ffff) as usize, &bytes[4..])
    };
    let parent = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
    (StateId(parent), &rest[4..4 + length])
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    // FxHasher leaves the low bits weak; the table uses both ends.
    let hash = hasher.finish();
    hash ^ (hash >> 29)
}
