//! The queue of interesting orders of one test, and how many mutants each gets.

use std::collections::VecDeque;

use crate::order::Order;

/// An order worth mutating.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The order.
    pub order: Order,
    /// By equation 1.
    pub score: f64,
    /// How often its wishes were waited for in vain: the window grows with it.
    pub patience: u32,
    /// To be tried once more as it is, with that patience.
    pub again: bool,
    /// Mutants still to be made in this round.
    left: u32,
}

/// Orders taken in turn, over and over.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    entries: Vec<Entry>,
    retries: VecDeque<Entry>,
    current: Option<Entry>,
    next: usize,
    highest: f64,
}

/// ⌈New / Max · 5⌉ mutants (section 5.2).
pub fn energy(score: f64, highest: f64) -> u32 {
    if highest <= 0.0 { 1 } else { (score / highest * 5.0).ceil().max(0.0) as u32 }
}

impl Queue {
    /// The most orders that are kept for a test; older ones make room.
    const LONGEST: usize = 256;

    /// Adds an order.
    pub fn push(&mut self, order: Order, score: f64) {
        if order.is_empty() {
            return;
        }
        self.highest = self.highest.max(score);
        if self.entries.len() >= Self::LONGEST {
            self.entries.remove(0);
            self.next = self.next.saturating_sub(1);
        }
        let left = energy(score, self.highest);
        self.entries.push(Entry { order, score, patience: 0, again: false, left });
    }

    /// An order whose wishes were waited for in vain is tried again, with more patience.
    pub fn retry(&mut self, order: Order, patience: u32) {
        if self.retries.len() < Self::LONGEST {
            self.retries.push_back(Entry { order, score: 0.0, patience, again: true, left: 1 });
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.retries.is_empty()
    }

    /// The order to mutate next. Each is given its energy's worth of mutants before the next one has
    /// its turn; low ones may be skipped.
    pub fn take(&mut self) -> Option<&Entry> {
        if let Some(entry) = self.retries.pop_front() {
            self.current = Some(entry);
            return self.current.as_ref();
        }
        for _ in 0..=2 * self.entries.len() {
            let count = self.entries.len();
            let entry = self.entries.get_mut(self.next % count.max(1))?;
            if entry.left > 0 {
                entry.left -= 1;
                let at = self.next % count;
                return self.entries.get(at);
            }
            entry.left = energy(entry.score, self.highest);
            self.next = (self.next + 1) % count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strait_golang::Step;

    #[test]
    fn energy_is_rounded_up() {
        for (score, highest, expected) in
            [(10.0, 10.0, 5), (1.0, 10.0, 1), (5.0, 10.0, 3), (0.0, 10.0, 0), (0.0, 0.0, 1)]
        {
            assert_eq!(energy(score, highest), expected, "{score} of {highest}");
        }
    }

    #[test]
    fn high_scores_get_more_turns() {
        let order = |site| Order(vec![Step { site, cases: 2, chosen: 0 }]);
        let mut queue = Queue::default();
        assert!(queue.take().is_none());
        queue.push(order(1), 10.0);
        queue.push(order(2), 3.0);
        let mut turns = [0; 2];
        for _ in 0..70 {
            let site = queue.take().expect("an order").order.0[0].site;
            turns[site as usize - 1] += 1;
        }
        assert_eq!(turns, [50, 20]);
        queue.retry(order(3), 2);
        let entry = queue.take().expect("an order");
        assert!(entry.again && entry.patience == 2 && entry.order == order(3));
        assert!(!queue.take().expect("an order").again);
    }
}
