//! States as words. In: the bytes of states. Out: for each state the words that the set of seen states
//! stores and compares, and a prefix of its hash.
//!
//! The bytes of the state come first. The last four bits say how many bytes before the last four are unused,
//! plus one, so that they are never 0; the 28 bits before them are left free for a reference to the state's
//! parent.

/// The bytes that an entry has besides those of the state.
const OVERHEAD: usize = 4;
/// Where the reference to the parent begins in the last word.
const PARENT_SHIFT: u32 = 32;
/// Where the number of unused bytes begins in the last word.
const UNUSED_SHIFT: u32 = 60;
/// The bits of the last word that refer to the parent.
const PARENT: u64 = (1 << UNUSED_SHIFT) - (1 << PARENT_SHIFT);

/// The first bits of a state's hash: enough to find the state in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
}

/// States that are looked up together.
#[derive(Default)]
pub(crate) struct Batch {
    /// The bytes of the state that is being written.
    pub(crate) bytes: Vec<u8>,
    /// The words of all states, one after another.
    words: Vec<u64>,
    /// Where the words of each state end.
    ends: Vec<usize>,
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

    /// What is in `bytes` is a state.
    pub(crate) fn finish_state(&mut self) {
        pack(&mut self.bytes, &mut self.words);
        self.ends.push(self.words.len());
    }

    /// The words of one of the states.
    pub(crate) fn state(&self, position: usize) -> &[u64] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.words[start..self.ends[position]]
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
        for end in self.ends.iter().copied() {
            let words = &self.words[start..end];
            let hash = hash(words);
            if !self.recent.knows(hash, words) {
                self.looked_up.push(LookedUp { start, end, hash });
            }
            start = end;
        }
    }

    /// The states that are to be looked up.
    pub(crate) fn looked_up(&self) -> impl Iterator<Item = Packed<'_>> {
        let packed =
            |one: &LookedUp| Packed { words: &self.words[one.start..one.end], hash: one.hash };
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

/// Moves a state from bytes to words.
fn pack(bytes: &mut Vec<u8>, words: &mut Vec<u64>) {
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
    bytes.clear();
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
        pack(&mut state.to_vec(), &mut words);
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
