//! Random numbers that depend on (seed, index) and on nothing else: not on the machine, not on how
//! many programs were made before, not on the version of a sampling library.
//!
//! The numbers are the ChaCha8 key stream. The key holds the seed and the [`Purpose`], the stream
//! identifier is the index. Everything drawn from them is drawn by the few functions below.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What the numbers are for; streams of different purposes have nothing in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The program itself.
    Program,
    /// The n-th attempt at an extension that has to be proved.
    Attempt(u32),
    /// The n-th mutant of the program.
    Mutant(u32),
    /// How the program is run.
    Run,
    /// A program that is one gadget.
    Gadget,
}

impl Purpose {
    fn words(self) -> [u32; 2] {
        match self {
            Purpose::Program => [0, 0],
            Purpose::Attempt(number) => [1, number],
            Purpose::Mutant(number) => [2, number],
            Purpose::Run => [3, 0],
            Purpose::Gadget => [4, 0],
        }
    }
}

/// The random numbers for one program.
#[derive(Clone, Debug)]
pub struct Stream {
    numbers: ChaCha8Rng,
}

impl Stream {
    /// The stream of program `index` of `seed`.
    pub fn new(seed: u64, index: u64, purpose: Purpose) -> Self {
        let [kind, number] = purpose.words();
        let mut key = [0; 32];
        key[0..8].copy_from_slice(&seed.to_le_bytes());
        key[8..12].copy_from_slice(&kind.to_le_bytes());
        key[12..16].copy_from_slice(&number.to_le_bytes());
        key[16..32].copy_from_slice(b"strait generate ");
        let mut numbers = ChaCha8Rng::from_seed(key);
        numbers.set_stream(index);
        Stream { numbers }
    }

    /// A number below `bound`, which is not 0. The bias is below `bound` in 2⁶⁴.
    pub fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        ((u128::from(self.numbers.next_u64()) * u128::from(bound)) >> 64) as u32
    }

    /// A position in something of this length, which is not 0.
    pub fn position(&mut self, length: usize) -> usize {
        self.below(length as u32) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        debug_assert!(low <= high);
        low + self.below(high - low + 1)
    }

    /// Heads or tails.
    pub fn flip(&mut self) -> bool {
        self.below(2) == 1
    }

    /// True `part` times of `whole`.
    pub fn chance(&mut self, part: u32, whole: u32) -> bool {
        part > 0 && self.below(whole) < part
    }

    /// A position, each as often as its weight says; `None` when all weights are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let total: u32 = weights.iter().sum();
        if total == 0 {
            return None;
        }
        let mut left = self.below(total);
        weights.iter().position(|weight| match left.checked_sub(*weight) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        })
    }

    /// A random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.position(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(mut stream: Stream) -> Vec<u32> {
        (0..8).map(|_| stream.below(1000)).collect()
    }

    #[test]
    fn a_stream_is_fixed_by_seed_index_and_purpose() {
        let stream = || Stream::new(7, 3, Purpose::Program);
        assert_eq!(draw(stream()), draw(stream()));
        assert_ne!(draw(stream()), draw(Stream::new(8, 3, Purpose::Program)));
        assert_ne!(draw(stream()), draw(Stream::new(7, 4, Purpose::Program)));
        assert_ne!(draw(stream()), draw(Stream::new(7, 3, Purpose::Mutant(0))));
        assert_ne!(
            draw(Stream::new(7, 3, Purpose::Mutant(1))),
            draw(Stream::new(7, 3, Purpose::Attempt(1)))
        );
    }

    /// These numbers are part of the generator's contract: a change breaks every recorded index.
    /// They were computed by a ChaCha8 written from its specification in another language.
    #[test]
    fn the_numbers_never_change() {
        assert_eq!(
            draw(Stream::new(0, 0, Purpose::Program)),
            [491, 62, 175, 510, 502, 779, 757, 773]
        );
        assert_eq!(
            draw(Stream::new(1, u64::MAX, Purpose::Mutant(2))),
            [489, 321, 789, 245, 844, 208, 7, 32]
        );
    }

    #[test]
    fn draws_stay_within_bounds_and_reach_them() {
        let mut stream = Stream::new(1, 1, Purpose::Program);
        let mut seen = [0_u32; 5];
        for _ in 0..1000 {
            seen[stream.between(3, 7) as usize - 3] += 1;
        }
        assert!(seen.iter().all(|count| (140..260).contains(count)), "{seen:?}");
        assert_eq!(stream.weighted(&[0, 0]), None);
        let heavy = (0..1000).filter(|_| stream.weighted(&[1, 0, 3]) == Some(2)).count();
        assert!((650..850).contains(&heavy), "{heavy}");
        assert!((0..100).all(|_| stream.weighted(&[0, 2, 0]) == Some(1)));
    }

    #[test]
    fn a_shuffle_keeps_what_it_shuffles() {
        let mut items: Vec<u32> = (0..20).collect();
        Stream::new(5, 0, Purpose::Program).shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
