//! Who runs what next: blocks of indices, from the target that has had the least time so far, so that
//! a slow target or one that hangs all the time does not eat the time of the others.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use crate::shard::Shard;

/// Part of a target's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Which target.
    pub target: usize,
    /// Which indices.
    pub indices: Range<u64>,
}

#[derive(Debug)]
struct Queue {
    /// Indices in a block.
    block: u64,
    missing: VecDeque<Range<u64>>,
    spent: Duration,
    /// Blocks that were finished, and that are under way.
    finished: u32,
    running: u32,
}

/// What is left to do.
#[derive(Debug)]
pub struct Allotment {
    queues: Vec<Queue>,
    shard: Shard,
}

impl Allotment {
    /// For each target what is missing, and how many indices a block has. What belongs to others than
    /// the share is not given out.
    pub fn new(missing: impl IntoIterator<Item = (Vec<Range<u64>>, u64)>, shard: Shard) -> Self {
        let queue = |(missing, block): (Vec<Range<u64>>, u64)| Queue {
            block,
            missing: missing.into(),
            spent: Duration::ZERO,
            finished: 0,
            running: 0,
        };
        let mut queues: Vec<Queue> = missing.into_iter().map(queue).collect();
        queues.iter_mut().for_each(|queue| queue.skip(shard));
        Allotment { queues, shard }
    }

    /// Is nothing left to give out?
    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.missing.is_empty())
    }

    /// Is all of this still to be done, and ours?
    pub fn covers(&self, target: usize, indices: &Range<u64>) -> bool {
        let length = indices.end.saturating_sub(indices.start);
        let is_missing = |queue: &Queue| {
            let within =
                |missing: &Range<u64>| missing.start <= indices.start && indices.end <= missing.end;
            queue.missing.iter().any(within)
        };
        self.queues.get(target).is_some_and(is_missing)
            && self.shard.next(indices, length).as_ref() == Some(indices)
    }

    /// The next block.
    pub fn claim(&mut self) -> Option<Block> {
        let waiting = self.queues.iter().enumerate().filter(|(_, queue)| !queue.missing.is_empty());
        let (target, _) = waiting.min_by_key(|(_, queue)| queue.expected())?;
        let queue = &mut self.queues[target];
        let front = queue.missing.front_mut()?;
        let indices = self.shard.next(front, queue.block)?;
        front.start = indices.end;
        queue.skip(self.shard);
        queue.running += 1;
        Some(Block { target, indices })
    }

    /// A block is done, and took so long.
    pub fn finish(&mut self, target: usize, spent: Duration) {
        let queue = &mut self.queues[target];
        queue.spent += spent;
        queue.finished += 1;
        queue.running = queue.running.saturating_sub(1);
    }
}

impl Queue {
    /// Drops from the front what belongs to others.
    fn skip(&mut self, shard: Shard) {
        while self.missing.front().is_some_and(|front| shard.next(front, 1).is_none()) {
            self.missing.pop_front();
        }
    }

    /// The time it will have had when all that is under way is done.
    fn expected(&self) -> Duration {
        self.spent
            + self.spent / self.finished.max(1) * self.running
            + Duration::from_millis(u64::from(self.running))
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "sets of one interval")]
mod tests {
    use super::*;

    #[test]
    fn all_lanes_have_the_same_time() {
        let mut allotment =
            Allotment::new([(vec![0..10_000], 32), (vec![0..10_000], 7)], Shard::default());
        let mut blocks = [0, 0];
        for _ in 0..110 {
            let block = allotment.claim().expect("there is more");
            blocks[block.target] += 1;
            allotment.finish(block.target, Duration::from_millis([10, 100][block.target]));
        }
        assert_eq!(blocks, [100, 10]);
    }

    #[test]
    fn what_is_covered_is_missing_and_ours() {
        let allotment = Allotment::new([(vec![3..50, 60..61], 32), (vec![], 1)], Shard::default());
        let covered = |target, indices: Range<u64>| allotment.covers(target, &indices);
        assert!(covered(0, 3..50) && covered(0, 10..11) && covered(0, 60..61));
        assert!(!covered(0, 2..4) && !covered(0, 40..61) && !covered(1, 0..1) && !covered(2, 3..4));
        assert!(!covered(0, 10..10), "nothing is no work");
        let share = Allotment::new([(vec![0..5000], 32)], "1/2".parse().expect("a share"));
        assert!(share.covers(0, &(1000..1032)) && !share.covers(0, &(0..32)));
        assert!(!share.covers(0, &(1990..2010)), "part of it belongs to the other share");
    }

    #[test]
    fn every_index_is_given_out_once() {
        let mut allotment = Allotment::new(
            [(vec![3..50, 60..61], 32), (vec![], 1), (vec![7..8], 5)],
            Shard::default(),
        );
        let mut given: Vec<(usize, u64)> = Vec::new();
        while let Some(block) = allotment.claim() {
            given.extend(block.indices.map(|index| (block.target, index)));
        }
        let expected: Vec<(usize, u64)> =
            (3..50).chain([60]).map(|index| (0, index)).chain([(2, 7)]).collect();
        given.sort_unstable();
        assert_eq!(given, expected);
    }
}
