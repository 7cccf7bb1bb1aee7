//! Random streams: execution i of a seed draws from its own ChaCha stream, so it is the same
//! execution whatever came before it and on however many threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The stream of one execution.
pub(crate) fn stream(seed: u64, execution: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(execution);
    rng
}

/// A number below the bound, each equally likely. The bound is not 0.
pub(crate) fn below(rng: &mut ChaCha8Rng, bound: u64) -> u64 {
    debug_assert!(bound > 0);
    // The largest multiple of the bound that fits: what lies beyond would favour small numbers.
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let number = rng.next_u64();
        if number < fair {
            return number % bound;
        }
    }
}
