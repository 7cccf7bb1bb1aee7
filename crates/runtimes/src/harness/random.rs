//! Decisions that depend on (seed, instance, process, step) alone, and the perturbation made of
//! them: spins, yields, short sleeps and hand-offs of the processor between two operations.
//!
//! Which schedule they lead to is up to the machine; which decisions are taken is not.

use std::time::Duration;

/// SplitMix64 (Steele, Lea, Flood 2014): one multiplication chain a number.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of one process of one instance.
    pub fn new(seed: u64, instance: u64, path: &[u32]) -> Random {
        let mut random = Random { state: seed };
        random.mix(instance);
        path.iter().for_each(|number| random.mix(u64::from(*number)));
        random
    }

    fn mix(&mut self, value: u64) {
        self.state ^= value.wrapping_mul(0xA24B_AED4_963E_E407);
        self.state = self.bits();
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Rounds of [`linger`] between two processes that meet: they sweep over each other, mostly within some
    /// nanoseconds, and now and then within as many as another operation takes.
    pub fn offset(&mut self) -> u32 {
        let most = OFFSETS[self.below(OFFSETS.len() as u32) as usize];
        self.below(most)
    }

    /// A number below `bound`; 0 when that is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }
}

/// How much disturbance there is between operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Perturbation {
    /// None.
    None,
    /// Mostly nothing, some spins and yields.
    #[default]
    Light,
    /// Long spins, many yields, now and then a sleep.
    Heavy,
}

/// What a process does before an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Goes on at once.
    Nothing,
    /// Busy for so many rounds.
    Spin(u32),
    /// Lets others run so many times.
    Yield(u32),
    /// Away for a short while.
    Sleep(Duration),
}

/// The most rounds of jitter between two steps in a batch
/// (facts: 0–63 of them found in a second what plain repetition missed).
const JITTER: u32 = 64;

/// The most rounds of an offset.
const OFFSETS: [u32; 3] = [64, 512, 4096];

impl Perturbation {
    /// What happens before the next operation. `is_batched` adds jitter to what would be nothing.
    pub fn next(self, random: &mut Random, is_batched: bool) -> Disturbance {
        let drawn = match self {
            Perturbation::None => Disturbance::Nothing,
            Perturbation::Light => match random.below(64) {
                0..6 => Disturbance::Spin(random.below(100)),
                6 => Disturbance::Spin(random.below(1_000)),
                7 => Disturbance::Yield(1),
                _ => Disturbance::Nothing,
            },
            Perturbation::Heavy => match random.below(256) {
                0..64 => Disturbance::Spin(random.below(1_000)),
                64..72 => Disturbance::Spin(random.below(20_000)),
                72..104 => Disturbance::Yield(1 + random.below(3)),
                104 => Disturbance::Sleep(Duration::from_micros(u64::from(random.below(60)))),
                _ => Disturbance::Nothing,
            },
        };
        match drawn {
            Disturbance::Nothing if is_batched => Disturbance::Spin(random.below(JITTER)),
            other => other,
        }
    }
}

/// Keeps the processor busy for about a quarter of a nanosecond per round, in an optimised build.
pub fn linger(rounds: u32) {
    for round in 0..rounds {
        std::hint::black_box(round);
    }
}

/// Keeps the processor busy for some tens of nanoseconds per round.
pub fn spin(rounds: u32) {
    for _ in 0..rounds {
        std::hint::spin_loop();
    }
}
