//! Numbered states: each state's bytes once, found by hash, with its number. In: bytes. Out: the number of
//! the state, and the place from which its bytes can be read again.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Where a state is stored: half its byte offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place(u32);

/// There is no room left for another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The states and their numbers.
#[derive(Default)]
pub(crate) struct Store {
    /// Half of the hash and the record's place plus one in each occupied slot; 0 is free. Linear probing.
    slots: Vec<u64>,
    records: Records,
    states: usize,
}

/// At most this share of the slots is used, in per cent.
const LOAD: usize = 85;

impl Store {
    /// The place and the number of the state with these bytes; `next` is its number if it is new.
    pub(crate) fn insert(&mut self, state: &[u8], next: u32) -> Result<(Place, u32), Full> {
        let hash = hash(state);
        if let Some(found) = self.find(hash, state) {
            return Ok(found);
        }
        let place = self.append(hash, state, next)?;
        Ok((place, next))
    }

    /// Replaces `bytes` by those of a state.
    pub(crate) fn read(&self, place: Place, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(self.records.get(place).1);
    }

    /// How many bytes they take, tables included.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * 8 + self.records.size()
    }

    fn find(&self, hash: u64, state: &[u8]) -> Option<(Place, u32)> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        // The low half of the hash is also what the slot remembers, so growing needs no records.
        let mut slot = hash as u32 as usize & mask;
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return None;
            }
            if entry >> 32 == hash & 0xffff_ffff {
                let place = Place(entry as u32 - 1);
                let (number, stored) = self.records.get(place);
                if stored == state {
                    return Some((place, number));
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds a state that is not there.
    fn append(&mut self, hash: u64, state: &[u8], number: u32) -> Result<Place, Full> {
        if (self.states + 1) * 100 > self.slots.len() * LOAD {
            self.grow();
        }
        let place = self.records.append(state, number)?;
        self.occupy(hash << 32 | u64::from(place.0 + 1));
        self.states += 1;
        Ok(place)
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

/// Length, number and bytes of each state, in blocks that are never moved.
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

    /// The number and the bytes of a state.
    fn get(&self, place: Place) -> (u32, &[u8]) {
        let offset = place.0 as usize * 2;
        let bytes = &self.blocks[offset / BLOCK][offset % BLOCK..];
        let (length, rest) = if bytes[0] < 0x80 {
            (bytes[0] as usize, &bytes[1..])
        } else {
            let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            ((length & 0x7fff_ffff) as usize, &bytes[4..])
        };
        let number = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
        (number, &rest[4..4 + length])
    }

    /// Writes a record at an even offset within one block.
    fn append(&mut self, state: &[u8], number: u32) -> Result<Place, Full> {
        let prefix = if state.len() < 0x80 { 1 } else { 4 };
        let needed = (prefix + 4 + state.len()).next_multiple_of(2);
        if self.blocks.last().is_none_or(|block| block.len() + needed > BLOCK) {
            let capacity = if self.blocks.is_empty() { 256 } else { BLOCK };
            self.blocks.push(Vec::with_capacity(capacity.max(needed)));
        }
        let last = self.blocks.len() - 1;
        let block = &mut self.blocks[last];
        let start = block.len();
        let place = u32::try_from((last * BLOCK + start) / 2).map_err(|_| Full)?;
        if place == u32::MAX {
            return Err(Full);
        }
        if prefix == 1 {
            block.push(state.len() as u8);
        } else {
            // The first bit says that the length takes four bytes.
            block.extend_from_slice(&(state.len() as u32 | 0x8000_0000).to_be_bytes());
        }
        block.extend_from_slice(&number.to_le_bytes());
        block.extend_from_slice(state);
        block.resize(start + needed, 0);
        Ok(Place(place))
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
