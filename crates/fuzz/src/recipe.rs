//! What index i of a campaign means: which program, run how, how often. Decided by (seed, index)
//! and the target's flavours alone, so a resumed campaign does what the first would have done.
//!
//! Most programs are run ten times and left behind. One in [`DWELL`] is a single gadget of the
//! generator (processes that contend for a channel, ends that go away early, operations that are given up;
//! there are few shapes of these) and is run thousands of times, in one of the styles: a race of two
//! instructions wants repetitions of the right shape, not more shapes. Together the few dwellings take about
//! as long as all the others.

use std::time::Duration;

use strait_generate::{Purpose, Stream};
use strait_runtimes::{Flavour, Payload, Perturbation, Promise, RunOptions, Style};

/// How often a program is run that is not dwelt upon.
pub const REPETITIONS: u64 = 10;
/// One program in so many is dwelt upon.
const DWELL: u32 = 50;
/// How often such a program is run in batches.
const DWELLING: u64 = 8_000;
/// How often it is run if one run has to end before the next begins, which takes several times as long.
const DWELLING_SINGLY: u64 = 2_000;
/// One program in so many has operations about which its target promises little, if there are any.
const LOOSE: u32 = 8;
/// The same of programs that are dwelt upon.
const LOOSE_DWELL: u32 = 3;
/// Sizes of programs, in channel operations.
const SIZES: [u32; 4] = [4, 8, 16, 24];
/// How long nothing may move before a worker calls it a hang. Other work on the machine must not
/// look like one.
pub const PATIENCE: Duration = Duration::from_secs(8);

/// How a program is made and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Is the program a gadget that is dwelt upon?
    pub dwells: bool,
    /// Channel operations of the program, roughly, if it is not.
    pub size: u32,
    /// How it is run.
    pub options: RunOptions,
}

impl Recipe {
    /// The recipe of an index, for a target that has these flavours, and some of them with operations
    /// about which it promises little.
    ///
    /// # Panics
    /// Never for a target that has at least one flavour.
    pub fn of(seed: u64, index: u64, flavours: &[Flavour], loose: &[Flavour]) -> Recipe {
        let mut stream = Stream::new(seed, index, Purpose::Run);
        let flavour = match flavours {
            [] => Flavour::default(),
            flavours => flavours[stream.position(flavours.len())],
        };
        let dwells = stream.chance(1, DWELL);
        let is_loose = stream.chance(1, if dwells { LOOSE_DWELL } else { LOOSE });
        let promise = match is_loose && loose.contains(&flavour) {
            true => Promise::Loose,
            false => Promise::Full,
        };
        let size = SIZES[stream.position(SIZES.len())];
        let style = match (dwells, stream.below(10)) {
            (true, 0..=3) | (false, 4..=7) => Style::Batched,
            (true, 5..=6) | (false, 0..=3) => Style::Plain,
            _ => Style::Barrier,
        };
        // Messages that own memory show more when a channel is dwelt upon, and spins of our own
        // between two operations only widen what should be narrow.
        let payloads = [Payload::Boxed, Payload::Counted, Payload::Plain];
        let payload = payloads[stream.position(if dwells { 2 } else { 3 })];
        let perturbation = match stream.below(4) {
            0 | 1 if dwells => Perturbation::None,
            0 => Perturbation::None,
            1 | 2 => Perturbation::Light,
            _ if dwells => Perturbation::Light,
            _ => Perturbation::Heavy,
        };
        let run_seed =
            (u64::from(stream.below(u32::MAX)) << 32) | u64::from(stream.below(u32::MAX));
        Recipe {
            dwells,
            size,
            options: RunOptions {
                style,
                flavour,
                promise,
                payload,
                seed: run_seed,
                repetitions: match (dwells, style) {
                    (false, _) => REPETITIONS,
                    (true, Style::Batched | Style::Barrier) => DWELLING,
                    (true, Style::Plain) => DWELLING_SINGLY,
                },
                perturbation,
                patience: PATIENCE,
            },
        }
    }

    /// All sizes that programs may have.
    pub fn sizes() -> impl Iterator<Item = u32> {
        SIZES.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_runs_dwell() {
        let flavours = [Flavour::Threads, Flavour::Tasks];
        let recipes: Vec<Recipe> = (0..20_000).map(|i| Recipe::of(7, i, &flavours, &[])).collect();
        assert_eq!(recipes[5], Recipe::of(7, 5, &flavours, &[]));
        let dwelling = recipes.iter().filter(|recipe| recipe.dwells);
        let share = dwelling.count() as f64 / recipes.len() as f64 * f64::from(DWELL);
        assert!((0.8..1.2).contains(&share), "{share}");
        for style in [Style::Plain, Style::Batched, Style::Barrier] {
            for dwells in [false, true] {
                let is_it =
                    |recipe: &&Recipe| recipe.dwells == dwells && recipe.options.style == style;
                assert!(recipes.iter().filter(is_it).count() > 10, "{style:?}");
            }
        }
    }
}
