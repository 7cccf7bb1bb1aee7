//! The set of visited states: each state's bytes once, found by hash, with the state it was reached
//! from.
//!
//! Looking a state up touches two places in memory, the table and the record, and both are usually
//! far from the cache; a batch of look-ups lets the processor wait for several at once. With several
//! search threads the set is split into shards, so that they rarely meet.

use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHasher;

/// A stored state: half its byte offset in its shard, and the shard in the lowest bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StateId(u32);

impl StateId {
    /// The parent of the first state.
    pub(crate) const NONE: StateId = StateId(u32::MAX);

    /// A number in the place of a parent, for those who keep parents elsewhere.
    pub(crate) fn tag(number: u32) -> StateId {
        StateId(number)
    }
}

/// There is no number left for another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The states that one search thread has seen last, small ones only, at places given by their
/// hashes. Most look-ups are for states that were met a moment ago by another order of the same
/// steps; this one fits into the processor's cache.
struct Recent {
    states: Vec<[u8; Recent::LARGEST + 1]>,
}

impl Recent {
    /// How many bytes a state may have to be remembered.
    const LARGEST: usize = 23;
    /// How many states are remembered.
    const PLACES: usize = 1 << 14;

    /// Is this state among them? From now on it is.
    fn knows(&mut self, hash: u64, state: &[u8]) -> bool {
        if state.len() > Self::LARGEST || self.states.is_empty() {
            return false;
        }
        let place = &mut self.states[hash as usize & (Self::PLACES - 1)];
        let length = state.len();
        if place[Self::LARGEST] as usize == length && place[..length] == *state {
            return true;
        }
        place[..length].copy_from_slice(state);
        place[Self::LARGEST] = length as u8;
        false
    }
}

/// States that are looked up together.
pub(crate) struct Batch {
    /// Their bytes, one after another.
    pub(crate) bytes: Vec<u8>,
    /// Where each one ends.
    pub(crate) ends: Vec<usize>,
    /// The hashes of those that are really looked up, and which they are.
    hashes: Vec<u64>,
    positions: Vec<usize>,
    recent: Recent,
    inserted: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Batch {
            bytes: Vec::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            positions: Vec::new(),
            recent: Recent { states: Vec::new() },
            inserted: 0,
        }
    }
}

impl Batch {
    /// Hashes the states, and leaves out those that were met a moment ago.
    fn prepare(&mut self) {
        self.hashes.clear();
        self.positions.clear();
        // Small searches should not pay for it.
        self.inserted += self.ends.len();
        if self.inserted > Recent::PLACES && self.recent.states.is_empty() {
            self.recent.states = vec![[0; Recent::LARGEST + 1]; Recent::PLACES];
        }
        let mut start = 0;
        for (position, end) in self.ends.iter().enumerate() {
            let state = &self.bytes[start..*end];
            start = *end;
            let hash = hash(state);
            if !self.recent.knows(hash, state) {
                self.hashes.push(hash);
                self.positions.push(position);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// What was written to `bytes` since the last call is a state.
    pub(crate) fn finish_state(&mut self) {
        self.ends.push(self.bytes.len());
    }

    fn state(&self, position: usize) -> &[u8] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.bytes[start..self.ends[position]]
    }
}

pub(crate) struct Store {
    shards: Vec<Mutex<Shard>>,
    /// How many low bits of a [`StateId`] name the shard.
    shard_bits: u32,
    bytes: AtomicUsize,
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
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state with these bytes, and whether it is new.
    pub(crate) fn insert(&self, state: &[u8], parent: StateId) -> Result<(StateId, bool), Full> {
        let hash = hash(state);
        let number = (hash >> 58) as usize & (self.shards.len() - 1);
        let mut shard = self.shard(number);
        self.insert_into(&mut shard, number, hash, state, parent)
    }

    /// Inserts all states of a batch; `each` learns of the new ones, in order, where they are.
    pub(crate) fn insert_all(
        &self,
        batch: &mut Batch,
        parent: StateId,
        mut each: impl FnMut(StateId),
    ) -> Result<(), Full> {
        batch.prepare();
        let states = batch.hashes.iter().zip(&batch.positions);
        if self.shard_bits > 0 {
            for (hash, position) in states {
                let number = (hash >> 58) as usize & (self.shards.len() - 1);
                let mut shard = self.shard(number);
                let state = batch.state(*position);
                let (id, fresh) = self.insert_into(&mut shard, number, *hash, state, parent)?;
                drop(shard);
                if fresh {
                    each(id);
                }
            }
            return Ok(());
        }
        let mut shard = self.shard(0);
        shard.warm_up(&batch.hashes);
        for (hash, position) in states {
            let state = batch.state(*position);
            let (id, fresh) = self.insert_into(&mut shard, 0, *hash, state, parent)?;
            if fresh {
                each(id);
            }
        }
        Ok(())
    }

    fn insert_into(
        &self,
        shard: &mut Shard,
        number: usize,
        hash: u64,
        state: &[u8],
        parent: StateId,
    ) -> Result<(StateId, bool), Full> {
        if let Some(offset) = shard.find(hash, state) {
            return Ok((StateId(offset << self.shard_bits | number as u32), false));
        }
        let before = shard.size();
        let offset = shard.append(hash, state, parent);
        let grown = shard.size() - before;
        if grown > 0 {
            self.bytes.fetch_add(grown, Ordering::Relaxed);
        }
        if u64::from(offset) << self.shard_bits >= u64::from(u32::MAX) {
            return Err(Full);
        }
        Ok((StateId(offset << self.shard_bits | number as u32), true))
    }

    /// Writes a state's bytes into `bytes` and gives its parent.
    pub(crate) fn read(&self, state: StateId, bytes: &mut Vec<u8>) -> StateId {
        let number = state.0 as usize & (self.shards.len() - 1);
        let shard = self.shard(number);
        let (parent, stored) = shard.records.get(state.0 >> self.shard_bits);
        bytes.clear();
        bytes.extend_from_slice(stored);
        parent
    }

    /// The number that was stored in the place of the parent.
    pub(crate) fn tag_of(&self, state: StateId) -> u32 {
        let number = state.0 as usize & (self.shards.len() - 1);
        self.shard(number).records.get(state.0 >> self.shard_bits).0.0
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

/// Kept apart in memory, so that threads do not disturb each other's caches.
#[derive(Default)]
#[repr(align(128))]
struct Shard {
    /// Half of the hash and half of the record's offset plus one in each occupied slot; 0 is free.
    /// Linear probing.
    slots: Vec<u64>,
    records: Records,
    states: usize,
}

/// At most this share of the slots is used, in per cent.
const LOAD: usize = 85;

impl Shard {
    fn size(&self) -> usize {
        self.slots.len() * 8 + self.records.size()
    }

    fn slot(&self, hash: u64) -> usize {
        // The low half of the hash is also what the slot remembers, so growing needs no records.
        hash as u32 as usize & (self.slots.len() - 1)
    }

    /// Starts loading what the look-ups of these hashes will need.
    fn warm_up(&self, hashes: &[u64]) {
        if self.slots.is_empty() {
            return;
        }
        let mut offsets: [u32; 32] = [0; 32];
        for (hash, offset) in hashes.iter().zip(&mut offsets) {
            *offset = self.slots[self.slot(*hash)] as u32;
        }
        let touched = offsets.iter().take(hashes.len()).filter(|offset| **offset != 0);
        let sum = touched.fold(0u8, |sum, offset| sum.wrapping_add(self.records.first(offset - 1)));
        // The sum means nothing; it keeps the loads from being thrown away.
        std::hint::black_box(sum);
    }

    fn find(&self, hash: u64, state: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = self.slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return None;
            }
            if entry >> 32 == hash & 0xffff_ffff {
                let offset = entry as u32 - 1;
                if self.records.get(offset).1 == state {
                    return Some(offset);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds a state that is not there.
    fn append(&mut self, hash: u64, state: &[u8], parent: StateId) -> u32 {
        if (self.states + 1) * 100 > self.slots.len() * LOAD {
            self.grow();
        }
        let offset = self.records.append(state, parent);
        self.occupy(hash << 32 | u64::from(offset + 1));
        self.states += 1;
        offset
    }

    fn occupy(&mut self, entry: u64) {
        let mask = self.slots.len() - 1;
        let mut slot = (entry >> 32) as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = entry;
    }

    fn grow(&mut self) {
        let larger = vec![0; (self.slots.len() * 2).max(16)];
        let smaller = std::mem::replace(&mut self.slots, larger);
        for entry in smaller.into_iter().filter(|entry| *entry != 0) {
            self.occupy(entry);
        }
    }
}

/// Length, parent and bytes of each state, in blocks that are never moved.
#[derive(Default)]
struct Records {
    blocks: Vec<Vec<u8>>,
}

/// Full blocks have this size; the first one grows up to it.
const BLOCK: usize = 1 << 18;

impl Records {
    fn size(&self) -> usize {
        match self.blocks.len() {
            0 => 0,
            1 => self.blocks[0].capacity(),
            several => several * BLOCK,
        }
    }

    /// Any byte of a record.
    fn first(&self, offset: u32) -> u8 {
        let offset = offset as usize * 2;
        self.blocks[offset / BLOCK][offset % BLOCK]
    }

    fn get(&self, offset: u32) -> (StateId, &[u8]) {
        let offset = offset as usize * 2;
        let bytes = &self.blocks[offset / BLOCK][offset % BLOCK..];
        let (length, rest) = if bytes[0] < 0x80 {
            (bytes[0] as usize, &bytes[1..])
        } else {
            let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            ((length & 0x7fff_ffff) as usize, &bytes[4..])
        };
        let parent = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
        (StateId(parent), &rest[4..4 + length])
    }

    /// Writes a record at an even place within one block, and gives half its offset.
    fn append(&mut self, state: &[u8], parent: StateId) -> u32 {
        let prefix = if state.len() < 0x80 { 1 } else { 4 };
        let needed = (prefix + 4 + state.len()).next_multiple_of(2);
        if self.blocks.last().is_none_or(|block| block.len() + needed > BLOCK) {
            let capacity = if self.blocks.is_empty() { 256 } else { BLOCK };
            self.blocks.push(Vec::with_capacity(capacity.max(needed)));
        }
        let number = self.blocks.len() - 1;
        let block = &mut self.blocks[number];
        let start = block.len();
        if prefix == 1 {
            block.push(state.len() as u8);
        } else {
            // The first bit says that the length takes four bytes.
            block.extend_from_slice(&(state.len() as u32 | 0x8000_0000).to_be_bytes());
        }
        block.extend_from_slice(&parent.0.to_le_bytes());
        block.extend_from_slice(state);
        block.resize(start + needed, 0);
        ((number * BLOCK + start) / 2) as u32
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
