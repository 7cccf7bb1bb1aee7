//! Random numbers that depend on seed and index and on nothing else, as everywhere in Strait.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The random numbers for one term.
#[derive(Clone, Debug)]
pub struct Stream {
    numbers: ChaCha8Rng,
}

impl Stream {
    /// The stream of term `index` of `seed`; streams of different purposes have nothing in common.
    pub fn new(seed: u64, index: u64, purpose: u32) -> Self {
        let mut key = [0; 32];
        key[0..8].copy_from_slice(&seed.to_le_bytes());
        key[8..12].copy_from_slice(&purpose.to_le_bytes());
        key[16..32].copy_from_slice(b"strait rules    ");
        let mut numbers = ChaCha8Rng::from_seed(key);
        numbers.set_stream(index);
        Stream { numbers }
    }

    /// A number below `bound`, which is not 0. The bias is below `bound` in 2³².
    pub fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        ((u64::from(self.numbers.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        debug_assert!(low <= high);
        low + self.below(high - low + 1)
    }

    /// True `part` times of `whole`.
    pub fn chance(&mut self, part: u32, whole: u32) -> bool {
        part > 0 && self.below(whole) < part
    }

    /// A random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}
