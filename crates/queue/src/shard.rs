//! A share of a campaign's indices: `--shard I/N` gives machine I of N its own, with no word between
//! the machines. Shares are dealt in runs of [`RUN`] indices, so that what was executed stays a short
//! list of intervals.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Indices that stay together.
const RUN: u64 = 1000;

/// Share `index` of `count`; the whole is share 0 of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Default for Shard {
    fn default() -> Self {
        Shard { index: 0, count: 1 }
    }
}

impl Shard {
    /// Is it everything?
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// The first piece of a range that belongs to the share, at most `length` long.
    pub fn next(self, range: &Range<u64>, length: u64) -> Option<Range<u64>> {
        let run = range.start / RUN;
        let to_come = (self.index + self.count - run % self.count) % self.count;
        let own = run.checked_add(to_come)?;
        let start = range.start.max(own.checked_mul(RUN)?);
        let run_end = if self.is_whole() { u64::MAX } else { (own + 1).saturating_mul(RUN) };
        let end = range.end.min(start.saturating_add(length)).min(run_end);
        (start < end).then_some(start..end)
    }

    /// Does the thing at this place of a list belong to the share? Things are dealt one by one.
    pub fn deals(self, place: u64) -> bool {
        place % self.count == self.index
    }

    /// How many of a list of so many things are dealt to the share.
    pub fn dealt(self, count: u64) -> u64 {
        count.saturating_sub(self.index).div_ceil(self.count)
    }

    /// How many of the first `count` indices belong to the share.
    pub fn size(self, count: u64) -> u64 {
        let round = RUN.saturating_mul(self.count);
        let rest = (count % round).saturating_sub(self.index * RUN).min(RUN);
        count / round * RUN + rest
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').map(|(index, count)| (index.parse(), count.parse()));
        let Some((Ok(index), Ok(count))) = parts else {
            return Err("a share is written I/N, such as 0/4".to_owned());
        };
        if count == 0 || count > 1_000_000 {
            return Err("there are 1 to 1,000,000 shares".to_owned());
        }
        if index >= count {
            return Err(format!("shares of {count} are 0/{count} to {}/{count}", count - 1));
        }
        Ok(Shard { index, count })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_users_write_them() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, count: 4 }));
        assert_eq!("4/4".parse::<Shard>(), Err("shares of 4 are 0/4 to 3/4".to_owned()));
        for bad in ["", "1", "1/0", "-1/4", "a/b", "1/4/2", "0/1000001"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }

    #[test]
    fn everything_in_a_list_belongs_to_one_share() {
        for place in 0..50 {
            let owners = (0..7).filter(|index| Shard { index: *index, count: 7 }.deals(place));
            assert_eq!(owners.count(), 1);
        }
        for index in 0..7 {
            let shard = Shard { index, count: 7 };
            for count in 0..50 {
                let dealt = (0..count).filter(|place| shard.deals(*place)).count();
                assert_eq!(shard.dealt(count), dealt as u64, "{shard} of {count}");
            }
        }
    }

    #[test]
    fn every_index_belongs_to_one_share() {
        for count in [1, 2, 3, 7] {
            let mut owners = vec![0; 10_123];
            for index in 0..count {
                let shard = Shard { index, count };
                let mut left = 0..owners.len() as u64;
                let mut size = 0;
                while let Some(piece) = shard.next(&left, 32) {
                    assert!(piece.end - piece.start <= 32);
                    size += piece.end - piece.start;
                    left.start = piece.end;
                    piece.for_each(|index| owners[index as usize] += 1);
                }
                assert_eq!(size, shard.size(owners.len() as u64), "{shard}");
            }
            assert!(owners.iter().all(|owners| *owners == 1), "{count}");
        }
        let last = u64::MAX - 5..u64::MAX;
        let owners = (0..2).filter_map(|index| Shard { index, count: 2 }.next(&last, 32));
        assert_eq!(owners.collect::<Vec<_>>(), std::slice::from_ref(&last));
    }
}
