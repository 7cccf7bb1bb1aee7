//! Which runs are interesting, and how much (GFuzz, ASPLOS 2022, section 5, table 1 and equation 1).
//!
//! | paper | here |
//! |---|---|
//! | CountChOpPair | [`Feedback::pairs`] |
//! | CreateCh, CloseCh, NotCloseCh | [`Feedback::created`], `closed`, `left_open` |
//! | MaxChBufFull | [`Feedback::full`], in thousandths |

use std::collections::{BTreeMap, BTreeSet};

use strait_golang::Trace;

/// What a run says about its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feedback {
    /// How often each pair of operations followed each other on a channel.
    pub pairs: BTreeMap<u16, u16>,
    /// Places that made channels.
    pub created: BTreeSet<u64>,
    /// Places of channels that were closed.
    pub closed: BTreeSet<u64>,
    /// Places of channels that stayed open.
    pub left_open: BTreeSet<u64>,
    /// How full the buffers of each place became.
    pub full: BTreeMap<u64, u32>,
}

impl Feedback {
    /// From what a run wrote down.
    pub fn of(trace: &Trace) -> Self {
        let which = |test: fn(u32, u32) -> bool| {
            let places = trace.made.iter().filter(|(_, made)| test(made.made, made.closed));
            places.map(|(place, _)| *place).collect()
        };
        let full = trace.made.iter().filter(|(_, made)| made.full > 0);
        Feedback {
            pairs: trace.pairs.clone(),
            created: trace.made.keys().copied().collect(),
            closed: which(|_, closed| closed > 0),
            left_open: which(|made, closed| made > closed),
            full: full.map(|(place, made)| (*place, made.full)).collect(),
        }
    }

    /// Equation 1: Σ log₂ CountChOpPair + 10·#CreateCh + 10·#CloseCh + 10·Σ MaxChBufFull.
    pub fn score(&self) -> f64 {
        let pairs: f64 = self.pairs.values().map(|count| f64::from(*count).log2()).sum();
        let full: f64 = self.full.values().map(|full| f64::from(*full) / 1000.0).sum();
        pairs + 10.0 * self.created.len() as f64 + 10.0 * self.closed.len() as f64 + 10.0 * full
    }
}

/// What has been seen so far.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Pairs with the powers of two that their counts have reached.
    pairs: BTreeSet<(u16, u32)>,
    created: BTreeSet<u64>,
    closed: BTreeSet<u64>,
    left_open: BTreeSet<u64>,
    full: BTreeMap<u64, u32>,
}

impl Coverage {
    /// Takes a run in and says whether it showed anything new (the criteria of table 1).
    pub fn admit(&mut self, feedback: &Feedback) -> bool {
        let mut new = false;
        for (pair, count) in &feedback.pairs {
            new |= self.pairs.insert((*pair, range(*count)));
        }
        for (seen, now) in [
            (&mut self.created, &feedback.created),
            (&mut self.closed, &feedback.closed),
            (&mut self.left_open, &feedback.left_open),
        ] {
            for place in now {
                new |= seen.insert(*place);
            }
        }
        for (place, full) in &feedback.full {
            let most = self.full.entry(*place).or_default();
            new |= full > most;
            *most = (*most).max(*full);
        }
        new
    }
}

/// The N of (2^(N-1), 2^N].
fn range(count: u16) -> u32 {
    u32::from(count).next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(counts: &[(u16, u16)]) -> Feedback {
        Feedback { pairs: counts.iter().copied().collect(), ..Feedback::default() }
    }

    #[test]
    fn interesting_is_what_table_1_says() {
        let mut coverage = Coverage::default();
        let open = Feedback { left_open: BTreeSet::from([1]), ..Feedback::default() };
        let fuller = |full| Feedback { full: BTreeMap::from([(1, full)]), ..Feedback::default() };
        let table = [
            (pairs(&[(1, 3)]), true),
            (pairs(&[(1, 3)]), false),
            (pairs(&[(1, 4)]), false), // (2, 4] again
            (pairs(&[(1, 5)]), true),  // (4, 8]
            (pairs(&[(1, 2)]), true),  // (1, 2]
            (pairs(&[(2, 5)]), true),
            (open.clone(), true),
            (open, false),
            (fuller(800), true),
            (fuller(500), false),
            (fuller(900), true),
            (Feedback::default(), false),
        ];
        for (feedback, expected) in table {
            assert_eq!(coverage.admit(&feedback), expected, "{feedback:?}");
        }
    }

    #[test]
    fn the_score_is_equation_1() {
        let feedback = Feedback {
            pairs: BTreeMap::from([(1, 8), (2, 1)]),
            created: BTreeSet::from([1, 2]),
            closed: BTreeSet::from([1]),
            left_open: BTreeSet::from([2]),
            full: BTreeMap::from([(1, 500)]),
        };
        assert!((feedback.score() - (3.0 + 20.0 + 10.0 + 5.0)).abs() < 1e-9);
    }
}
