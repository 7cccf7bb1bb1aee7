//! Random toy programs. Program i of a seed is always the same; a failing test prints both.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Case, Op, Toy};

/// The seed of the random tests: `STRAIT_TEST_SEED`, or a fixed one.
pub fn seed() -> u64 {
    let given = std::env::var("STRAIT_TEST_SEED").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(20_261_115)
}

/// How many programs a random test draws: `STRAIT_TEST_COUNT`, or what the test says.
pub fn count(usual: u64) -> u64 {
    let given = std::env::var("STRAIT_TEST_COUNT").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Calls the check for small programs of the seed, naming seed and program if it fails.
pub fn each(flavour: Flavour, usual: u64, check: impl FnMut(&Toy)) {
    each_of(toy, flavour, usual, check);
}

/// Calls the check for large programs of the seed, naming seed and program if it fails.
pub fn each_large(flavour: Flavour, usual: u64, check: impl FnMut(&Toy)) {
    each_of(large_toy, flavour, usual, check);
}

fn each_of(
    draw: impl Fn(u64, u64, Flavour) -> Toy,
    flavour: Flavour,
    usual: u64,
    mut check: impl FnMut(&Toy),
) {
    let seed = seed();
    for index in 0..count(usual) {
        let toy = draw(seed, index, flavour);
        let name = format!("{flavour:?} program {index} of STRAIT_TEST_SEED={seed}: {toy:?}");
        let _on_failure = OnFailure(&name);
        check(&toy);
    }
}

struct OnFailure<'a>(&'a str);

impl Drop for OnFailure<'_> {
    #[allow(clippy::print_stderr, reason = "a failing test has to name its program")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed for {}", self.0);
        }
    }
}

/// What a random program is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Variables, mutexes, internal choice.
    Memory,
    /// Channels, select, close, a little memory.
    Channels,
    /// All of it, with guarded meetings.
    Everything,
}

struct Stream(ChaCha8Rng);

impl Stream {
    fn below(&mut self, bound: u32) -> usize {
        (self.0.next_u32() % bound) as usize
    }
}

fn stream(seed: u64, index: u64) -> Stream {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    Stream(rng)
}

/// Program `index` of a seed, usually small enough for brute force.
pub fn toy(seed: u64, index: u64, flavour: Flavour) -> Toy {
    let mut stream = stream(seed, index);
    let threads = 2 + stream.below(3);
    let longest = match threads {
        2 => 5,
        3 => 3,
        _ => 2,
    };
    of_size(&mut stream, index, flavour, threads, longest)
}

/// A program that is usually too large for brute force.
pub fn large_toy(seed: u64, index: u64, flavour: Flavour) -> Toy {
    let mut stream = stream(seed, index);
    let threads = 3 + stream.below(3);
    of_size(&mut stream, index, flavour, threads, 5)
}

fn of_size(stream: &mut Stream, index: u64, flavour: Flavour, threads: usize, longest: u32) -> Toy {
    let threads = (0..threads).map(|_| thread(stream, longest, flavour)).collect();
    Toy { hints: index.is_multiple_of(2), ..Toy::new(threads) }
}

fn thread(stream: &mut Stream, longest: u32, flavour: Flavour) -> Vec<Op> {
    let length = 1 + stream.below(longest);
    let mut ops = Vec::new();
    while ops.len() < length {
        let kind = match flavour {
            Flavour::Memory => stream.below(9),
            Flavour::Channels => 6 + stream.below(10),
            Flavour::Everything => stream.below(18),
        };
        match kind {
            0 | 1 => ops.push(Op::Load(stream.below(2))),
            2 => ops.push(Op::Add(stream.below(2), 1)),
            3 => ops.push(Op::Store(stream.below(2), 1 + stream.below(2) as i8)),
            4 => ops.push(Op::Lock(stream.below(2))),
            5 => ops.push(Op::Unlock(stream.below(2))),
            6 => ops.push(Op::Choose(2)),
            7 => ops.push(Op::JumpIf(stream.below(2) as i8, ops.len() + 2)),
            8 => ops.push(Op::Yield),
            9 => ops.push(Op::Close(stream.below(3))),
            _ => {
                let cases = 1 + stream.below(3);
                let cases = (0..cases).map(|_| case(stream, flavour)).collect();
                ops.push(Op::Select(cases, stream.below(6) == 0));
            }
        }
    }
    ops
}

fn case(stream: &mut Stream, flavour: Flavour) -> Case {
    let kinds = if flavour == Flavour::Everything { 7 } else { 5 };
    match stream.below(kinds) {
        0 | 1 => Case::Put(stream.below(3), stream.below(3) as i8),
        2..=4 => Case::Get(stream.below(3)),
        _ => Case::Meet(stream.below(2)),
    }
}
