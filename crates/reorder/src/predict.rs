//! Deadlocks that a run did not have but that another order of its locks could have. The locks that
//! goroutines asked for while they held others come in; out come circles in which each goroutine holds
//! the lock that the one before it asks for, with the pauses that may close them. A circle is a
//! prediction only: locks may be ordered by other means.
//!
//! A goroutine that takes a read lock twice is a circle with any writer that asks in between.

use std::collections::BTreeMap;
use std::time::Duration;

use strait_golang::{LockOrder, Object, Pause, Site, Trace};

use crate::selects::Selects;
use crate::subject::Clock;

/// How many goroutines a circle has at most.
const LONGEST: usize = 4;
/// How many circles of one run are followed.
const MOST: usize = 8;
/// How long each goroutine pauses before it asks for the second lock: one try per length. Goroutines may
/// come to their locks far apart in time, and by the virtual clock long pauses take no time.
const VIRTUAL_PAUSES: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_secs(1), Duration::from_secs(60)];
const REAL_PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(300)];
/// How often goroutines pause.
const TIMES: u32 = 4;

/// A circle of locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockCycle {
    /// Where each goroutine asks for a lock while it holds another one, as ids of places.
    pub places: Vec<u64>,
    /// The same for people.
    pub story: Vec<String>,
}

/// A run that may close a circle.
#[derive(Clone, Debug)]
pub struct CycleTry {
    /// Pauses that let every goroutine take its first lock before any asks for its second one.
    pub pauses: BTreeMap<u64, Pause>,
    /// By which clock.
    pub clock: Clock,
}

impl LockCycle {
    /// The runs that are worth trying.
    pub fn tries(&self) -> impl Iterator<Item = CycleTry> + '_ {
        let by = |clock: Clock, lengths: &'static [Duration]| {
            lengths.iter().map(move |length| CycleTry { pauses: self.pauses(*length), clock })
        };
        by(Clock::Virtual, &VIRTUAL_PAUSES).chain(by(Clock::Real, &REAL_PAUSES))
    }

    fn pauses(&self, length: Duration) -> BTreeMap<u64, Pause> {
        self.places.iter().map(|place| (*place, Pause { length, times: TIMES })).collect()
    }
}

/// The circles in what a run wrote down.
pub fn lock_cycles(trace: &Trace, selects: &Selects) -> Vec<LockCycle> {
    let mut found: Vec<LockCycle> = Vec::new();
    let own = |site: &Site| !selects.is_standard(site);
    for order in trace.lock_orders.iter().filter(|order| reads_twice(order)) {
        let is_new = !found.iter().any(|known| known.places == [order.place]);
        if found.len() < MOST && is_new && (own(&order.asked.2) || own(&order.held.2)) {
            let (held, asked) = (selects.show(&order.held.2), selects.show(&order.asked.2));
            let story = format!(
                "goroutine {} asks for a read lock at {asked} and holds one of the same RWMutex since \
                 {held}; a writer that asks in between blocks it",
                order.goroutine
            );
            found.push(LockCycle { places: vec![order.place], story: vec![story] });
        }
    }
    // A lock that a goroutine holds itself makes no longer circle.
    let orders: Vec<&LockOrder> =
        trace.lock_orders.iter().filter(|order| !reads_twice(order)).collect();
    for start in &orders {
        let mut path = vec![*start];
        search(&orders, &mut path, &mut |path| {
            let mut places: Vec<u64> = path.iter().map(|order| order.place).collect();
            places.sort_unstable();
            places.dedup();
            let is_new = !found.iter().any(|known| known.places == places);
            // Locks that only the standard library takes are not the program's to order.
            let is_own = |order: &&LockOrder| own(&order.asked.2) || own(&order.held.2);
            if found.len() < MOST && is_new && path.iter().any(is_own) {
                found.push(LockCycle { places, story: tell(path, selects) });
            }
        });
    }
    found
}

fn search<'t>(
    orders: &[&'t LockOrder],
    path: &mut Vec<&'t LockOrder>,
    found: &mut dyn FnMut(&[&LockOrder]),
) {
    let (Some(first), Some(last)) = (path.first().copied(), path.last().copied()) else { return };
    for next in orders.iter().copied().filter(|next| waits_for(last, next)) {
        if path.iter().any(|known| known.goroutine == next.goroutine) || path.len() == LONGEST {
            continue;
        }
        path.push(next);
        if waits_for(next, first) {
            found(path);
        } else {
            search(orders, path, found);
        }
        path.pop();
    }
}

/// Does a goroutine ask for a read lock that it holds?
fn reads_twice(order: &LockOrder) -> bool {
    order.held.0 == order.asked.0
        && (order.held.1, order.asked.1) == (Object::Reader, Object::Reader)
}

/// Would the first have to wait for the lock that the second holds? Readers do not wait for readers.
fn waits_for(one: &LockOrder, other: &LockOrder) -> bool {
    let readers = one.asked.1 == Object::Reader && other.held.1 == Object::Reader;
    one.asked.0 == other.held.0 && one.goroutine != other.goroutine && !readers
}

fn tell(path: &[&LockOrder], selects: &Selects) -> Vec<String> {
    let one = |order: &&LockOrder| {
        let (held, asked) = (selects.show(&order.held.2), selects.show(&order.asked.2));
        format!(
            "goroutine {} asks for a lock at {asked} and holds one since {held}",
            order.goroutine
        )
    };
    path.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Goroutine, lock that it holds, lock that it asks for; `r` before a lock is for reading.
    fn order(text: &str) -> LockOrder {
        let parts: Vec<&str> = text.split(' ').collect();
        let [goroutine, held, asked] = parts.as_slice() else { panic!("three parts") };
        let site = || Site { file: "a.go".to_owned(), line: 1, function: "m.f".to_owned() };
        let lock = |text: &str| {
            let reads = text.strip_prefix('r');
            let kind = if reads.is_some() { Object::Reader } else { Object::Writer };
            (u64::from(reads.unwrap_or(text).as_bytes()[0]), kind, site())
        };
        let goroutine = goroutine.parse().expect("a number");
        let place = u64::from(goroutine) * 100 + lock(asked).0;
        LockOrder { goroutine, held: lock(held), asked: lock(asked), place }
    }

    #[test]
    fn circles_of_locks() {
        let table: [(&[&str], usize); 10] = [
            (&["1 a b", "2 b a"], 1),
            (&["1 a b", "2 a b"], 0),
            (&["1 a b", "1 b a"], 0),
            (&["1 a b", "2 b c", "3 c a"], 1),
            (&["1 ra b", "2 b ra"], 0),
            (&["1 ra b", "2 b a"], 1),
            (&["1 a b", "2 b a", "3 b a"], 2),
            (&["1 ra ra"], 1),
            (&["1 ra ra", "2 b a", "3 a b"], 2),
            (&["1 a b", "2 b c", "3 c d", "4 d e", "5 e a"], 0),
        ];
        let selects = Selects::new(Path::new("/go"), Path::new("/m"));
        for (orders, expected) in table {
            let trace = Trace {
                lock_orders: orders.iter().map(|text| order(text)).collect(),
                ..Trace::default()
            };
            assert_eq!(lock_cycles(&trace, &selects).len(), expected, "{orders:?}");
        }
    }
}
