//! Sets of indices as intervals: what was executed is a few of them, however many indices it has.

use std::ops::Range;

/// A set of indices: sorted intervals that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    intervals: Vec<Range<u64>>,
}

impl Ranges {
    /// Adds an interval.
    pub fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let from = self.intervals.partition_point(|interval| interval.end < range.start);
        let to = self.intervals.partition_point(|interval| interval.start <= range.end);
        let touched = &self.intervals[from..to.max(from)];
        let start = touched.first().map_or(range.start, |interval| interval.start.min(range.start));
        let end = touched.last().map_or(range.end, |interval| interval.end.max(range.end));
        self.intervals.splice(from..to.max(from), std::iter::once(start..end));
    }

    /// Whether the index is in the set.
    pub fn contains(&self, index: u64) -> bool {
        let at = self.intervals.partition_point(|interval| interval.end <= index);
        self.intervals.get(at).is_some_and(|interval| interval.contains(&index))
    }

    /// What of `within` is not in the set, in order.
    pub fn missing(&self, within: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut next = within.start;
        let from = self.intervals.partition_point(|interval| interval.end <= within.start);
        for interval in
            self.intervals[from..].iter().take_while(|interval| interval.start < within.end)
        {
            if next < interval.start {
                missing.push(next..interval.start);
            }
            next = next.max(interval.end);
        }
        if next < within.end {
            missing.push(next..within.end);
        }
        missing
    }

    /// The intervals, in order.
    pub fn intervals(&self) -> &[Range<u64>] {
        &self.intervals
    }

    /// How many indices.
    pub fn len(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.end - interval.start).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }
}

impl FromIterator<Range<u64>> for Ranges {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(intervals: I) -> Self {
        let mut ranges = Ranges::default();
        intervals.into_iter().for_each(|interval| ranges.insert(interval));
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(insert: &[Range<u64>], expected: &[Range<u64>], missing: &[Range<u64>]) {
        let ranges: Ranges = insert.iter().cloned().collect();
        assert_eq!(ranges.intervals(), expected, "{insert:?}");
        assert_eq!(ranges.missing(0..10), missing, "{insert:?}");
        for index in 0..20 {
            assert_eq!(ranges.contains(index), insert.iter().any(|range| range.contains(&index)));
        }
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "sets of one interval")]
    fn intervals_unite() {
        check(&[], &[], &[0..10]);
        check(&[3..3], &[], &[0..10]);
        check(&[2..4], &[2..4], &[0..2, 4..10]);
        check(&[2..4, 4..6], &[2..6], &[0..2, 6..10]);
        check(&[4..6, 2..4], &[2..6], &[0..2, 6..10]);
        check(&[0..1, 2..3, 8..12], &[0..1, 2..3, 8..12], &[1..2, 3..8]);
        check(&[0..1, 4..5, 8..9, 1..8], &[0..9], &[9..10]);
        check(&[5..7, 2..12], &[2..12], &[0..2]);
        check(&[0..20, 3..4], &[0..20], &[]);
    }
}
