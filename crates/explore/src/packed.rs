//! States as words. In: the bytes of states. Out: for each state the words that the set of seen states
//! stores and compares, and a prefix of its hash.
//!
//! The bytes of the state come first. The last four bits say how many bytes before the last four are unused,
//! plus one, so that they are never 0; the 28 bits before them are left free for a reference to the state's
//! parent.

use smallvec::SmallVec;

/// The bytes that an entry has besides those of the state.
const OVERHEAD: usize = 4;
/// Where the reference to the parent begins in the last word.
const PARENT_SHIFT: u32 = 32;
/// Where the number of unused bytes begins in the last word.
const UNUSED_SHIFT: u32 = 60;
/// The bits of the last word that refer to the parent.
const PARENT: u64 = (1 << UNUSED_SHIFT) - (1 << PARENT_SHIFT);

/// The first bits of a state's hash: enough to find the state in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HashPrefix(u32);

impl HashPrefix {
    /// How many bits it has.
    pub(crate) const BITS: u32 = UNUSED_SHIFT - PARENT_SHIFT;

    /// The bits as a number.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The last word of an entry with this parent.
    pub(crate) fn put_into(self, last: u64) -> u64 {
        last | u64::from(self.0) << PARENT_SHIFT
    }

    /// The parent in the last word of an entry.
    pub(crate) fn from_last_word(last: u64) -> HashPrefix {
        HashPrefix(((last & PARENT) >> PARENT_SHIFT) as u32)
    }
}

/// A state as words.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) hash: HashPrefix,
    /// The state from which it was reached.
    pub(crate) parent: HashPrefix,
}

/// A byte in which the form of a successor differs from that of the state before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its position in the form.
    pub byte: usize,
    /// The bits that differ.
    pub bits: u8,
}

/// All bytes in which the form of a successor differs: few, or they are not worth listing. A byte may be
/// listed several times; then its changes add up.
pub type Changes = SmallVec<[Change; 4]>;

/// States that are looked up together.
#[derive(Default)]
pub(crate) struct Batch {
    /// The bytes of the state that is being written.
    pub(crate) bytes: Vec<u8>,
    /// The words of the state that is being expanded.
    source: Vec<u64>,
    parent: HashPrefix,
    /// The words of all states, one after another.
    words: Vec<u64>,
    /// Where the words of each state end, and from where it was reached.
    ends: Vec<(usize, HashPrefix)>,
    looked_up: Vec<LookedUp>,
    recent: Recent,
    packed: usize,
}

/// A state of the batch that is looked up.
#[derive(Clone, Copy)]
struct LookedUp {
    start: usize,
    end: usize,
    hash: HashPrefix,
    parent: HashPrefix,
}

impl Batch {
    /// A batch of one state.
    pub(crate) fn single(state: &[u8]) -> Self {
        let mut batch = Batch { bytes: state.to_vec(), ..Batch::default() };
        batch.finish_state();
        batch
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// How many states it has.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The states that follow are successors of this one.
    pub(crate) fn expand(&mut self, source: &[u64]) {
        self.source.clear();
        self.source.extend_from_slice(source);
        self.parent = hash(source);
    }

    /// The same, for a state that is given by its bytes, and whose successors will not be looked up here.
    pub(crate) fn expand_bytes(&mut self, source: &[u8]) {
        self.source.clear();
        pack(source, &mut self.source);
    }

    /// What is in `bytes` is a state.
    pub(crate) fn finish_state(&mut self) {
        pack(&self.bytes, &mut self.words);
        self.bytes.clear();
        self.ends.push((self.words.len(), self.parent));
    }

    /// Adds the state that differs from the one that is being expanded in these bytes.
    #[inline]
    pub(crate) fn push_changed(&mut self, changes: &[Change]) {
        let start = self.words.len();
        self.words.extend_from_slice(&self.source);
        let state = &mut self.words[start..];
        for change in changes {
            state[change.byte / 8] ^= u64::from(change.bits) << (8 * (change.byte % 8));
        }
        self.ends.push((self.words.len(), self.parent));
    }

    /// The words of one of the states.
    pub(crate) fn state(&self, position: usize) -> &[u64] {
        let start = if position == 0 { 0 } else { self.ends[position - 1].0 };
        &self.words[start..self.ends[position].0]
    }

    /// Hashes the states, and leaves out those that were met a moment ago.
    pub(crate) fn prepare(&mut self) {
        self.looked_up.clear();
        self.packed += self.ends.len();
        // Small searches should not pay for it.
        if self.packed > Recent::PLACES {
            self.recent.begin();
        }
        let mut start = 0;
        for (end, parent) in self.ends.iter().copied() {
            let words = &self.words[start..end];
            let hash = hash(words);
            if !self.recent.knows(hash, words) {
                self.looked_up.push(LookedUp { start, end, hash, parent });
            }
            start = end;
        }
    }

    /// The states that are to be looked up.
    pub(crate) fn looked_up(&self) -> impl Iterator<Item = Packed<'_>> {
        let packed = |one: &LookedUp| {
            let words = &self.words[one.start..one.end];
            Packed { words, hash: one.hash, parent: one.parent }
        };
        self.looked_up.iter().map(packed)
    }
}

/// The states that one search thread has looked up last, at places given by their hashes; small ones
/// only. Most look-ups are for states that were met a moment ago by another order of the same steps, and
/// this table fits into the processor's cache.
#[derive(Default)]
struct Recent {
    states: Vec<[u64; 2]>,
}

impl Recent {
    /// How many states are remembered.
    const PLACES: usize = 1 << 11;

    fn begin(&mut self) {
        if self.states.is_empty() {
            self.states = vec![[0; 2]; Self::PLACES];
        }
    }

    /// Is this state among them? From now on it is.
    fn knows(&mut self, hash: HashPrefix, words: &[u64]) -> bool {
        let state = match *words {
            [first] => [first, 0],
            [first, second] => [first, second],
            _ => return false,
        };
        if self.states.is_empty() {
            return false;
        }
        let place = &mut self.states[hash.number() as usize & (Self::PLACES - 1)];
        std::mem::replace(place, state) == state
    }
}

/// The last word of an entry without its parent.
pub(crate) fn without_parent(last: u64) -> u64 {
    last & !PARENT
}

/// Appends the words of a state.
fn pack(bytes: &[u8], words: &mut Vec<u64>) {
    let length = bytes.len();
    let width = (length + OVERHEAD).div_ceil(8);
    let unused = (width * 8 - OVERHEAD - length) as u64;
    let (chunks, rest) = bytes.as_chunks::<8>();
    words.extend(chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)));
    let mut last = match bytes.last_chunk::<8>() {
        _ if rest.is_empty() => 0,
        Some(end) => u64::from_le_bytes(*end) >> (8 * (8 - rest.len())),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    // There is no room for the overhead beside more than four bytes.
    if width > chunks.len() + 1 {
        words.push(last);
        last = 0;
    }
    words.push(last | (unused + 1) << UNUSED_SHIFT);
}

/// Replaces `bytes` by those of a state.
pub(crate) fn unpack(words: &[u64], bytes: &mut Vec<u8>) {
    bytes.clear();
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    let unused = words.last().map_or(1, |last| last >> UNUSED_SHIFT) as usize - 1;
    bytes.truncate(bytes.len().saturating_sub(OVERHEAD + unused));
}

/// The hash of a state, from its words without a parent.
pub(crate) fn hash(words: &[u64]) -> HashPrefix {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0x243f_6a88_85a3_08d3;
    for word in words {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        hash = (product as u64) ^ (product >> 64) as u64;
    }
    // The last word may have changed low bits only.
    HashPrefix((hash.wrapping_mul(FACTOR) >> (64 - HashPrefix::BITS)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(state: &[u8]) -> Vec<u64> {
        let mut words = Vec::new();
        pack(state, &mut words);
        words
    }

    #[test]
    fn what_is_packed_can_be_unpacked() {
        for length in 0..40 {
            let state: Vec<u8> = (0..length).map(|byte| byte ^ 0xa5).collect();
            let words = packed(&state);
            assert_eq!(words.len(), (state.len() + OVERHEAD).div_ceil(8), "{length} bytes");
            let last = words.last().copied().unwrap_or_default();
            assert_eq!(HashPrefix::from_last_word(last), HashPrefix(0), "{length} bytes");
            let full = HashPrefix(0xfff_ffff).put_into(last);
            assert_eq!(without_parent(full), last, "{length} bytes");
            let mut bytes = Vec::new();
            unpack(&words, &mut bytes);
            assert_eq!(bytes, state, "{length} bytes");
        }
    }

    #[test]
    fn states_of_different_lengths_differ() {
        assert_ne!(packed(&[1]), packed(&[1, 0]));
        assert_ne!(packed(&[]), packed(&[0]));
    }
}
