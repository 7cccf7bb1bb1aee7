//! Random numbers of a campaign: a ChaCha stream keyed by seed and number, the same everywhere.

use std::hash::Hasher;

use fnv::FnvHasher;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// The stream of run `number` of a test.
    pub fn new(seed: u64, test: &str, number: u64) -> Self {
        let mut name = FnvHasher::default();
        name.write(test.as_bytes());
        let mut key = [0; 32];
        key[0..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&name.finish().to_le_bytes());
        key[16..32].copy_from_slice(b"strait reorder  ");
        let mut numbers = ChaCha8Rng::from_seed(key);
        numbers.set_stream(number);
        Chance(numbers)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.0.next_u64()) * u128::from(bound.max(1))) >> 64) as u32
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }
}
