//! The times that a clock may show, given only the order in which timers were made and fired: a zone of
//! differences between moments (Dill 1989, Alur and Dill 1994).
//!
//! Any amount of time may pass between two operations on the clock, but not beyond a deadline that has not
//! fired. Bounds are closed, in nanoseconds.

/// One of the moments whose differences are bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment(usize);

impl Moment {
    /// What the moment is called when another one was removed.
    pub(crate) fn without(self, removed: Moment) -> Moment {
        if self == removed { START } else { Moment(self.0 - usize::from(self.0 > removed.0)) }
    }
}

/// The beginning of the execution.
pub(crate) const START: Moment = Moment(0);
/// The present.
pub(crate) const NOW: Moment = Moment(1);

/// No bound.
const FREE: i64 = i64::MAX / 4;

/// Differences of moments: `bound[i][j]` is the largest that `i - j` may be.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    bound: Vec<Vec<i64>>,
}

impl Default for Zone {
    /// Nothing has happened yet, and no time has passed.
    fn default() -> Self {
        Zone { bound: vec![vec![0, 0], vec![0, 0]] }
    }
}

fn plus(a: i64, b: i64) -> i64 {
    if a >= FREE || b >= FREE { FREE } else { (a + b).min(FREE) }
}

impl Zone {
    /// A moment that lies between `least` and `most` nanoseconds after another one.
    pub(crate) fn after(&mut self, base: Moment, least: i64, most: i64) -> Moment {
        let new = self.bound.len();
        let ahead: Vec<i64> = self.bound[base.0].iter().map(|&bound| plus(bound, most)).collect();
        for row in &mut self.bound {
            let behind = plus(row[base.0], -least);
            row.push(behind);
        }
        self.bound.push(ahead);
        self.bound[new].push(0);
        Moment(new)
    }

    /// Lets time pass, not beyond these deadlines.
    pub(crate) fn pass(&mut self, deadlines: &[Moment]) {
        for bound in &mut self.bound[NOW.0] {
            *bound = FREE;
        }
        self.bound[NOW.0][NOW.0] = 0;
        for deadline in deadlines {
            self.bound[NOW.0][deadline.0] = 0;
        }
        self.close();
    }

    /// Restricts the zone to where `a` is at most so much later than `b`. Says whether anything is left.
    pub(crate) fn restrict(&mut self, a: Moment, b: Moment, most: i64) -> bool {
        let bound = &mut self.bound[a.0][b.0];
        *bound = (*bound).min(most);
        self.close();
        (0..self.bound.len()).all(|moment| self.bound[moment][moment] >= 0)
    }

    /// Could this deadline be the next one, and if so, the zone in which it is now?
    pub(crate) fn fired(&self, deadline: Moment, others: &[Moment]) -> Option<Zone> {
        let mut zone = self.clone();
        let is_first = others.iter().all(|&other| zone.restrict(deadline, other, 0));
        let is_now = is_first && zone.restrict(deadline, NOW, 0) && zone.restrict(NOW, deadline, 0);
        is_now.then_some(zone)
    }

    /// Forgets a moment; those after it move up ([`Moment::without`]).
    pub(crate) fn remove(&mut self, moment: Moment) {
        self.bound.remove(moment.0);
        self.bound.iter_mut().for_each(|row| {
            row.remove(moment.0);
        });
    }

    /// The earliest time that the clock may show.
    pub(crate) fn earliest(&self, moment: Moment) -> i64 {
        -self.bound[START.0][moment.0]
    }

    /// The tightest bounds that follow from those given.
    fn close(&mut self) {
        let count = self.bound.len();
        for middle in 0..count {
            for from in 0..count {
                for to in 0..count {
                    let way = plus(self.bound[from][middle], self.bound[middle][to]);
                    if way < self.bound[from][to] {
                        self.bound[from][to] = way;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn of_two_timers_made_at_once_the_shorter_is_first() {
        let mut zone = Zone::default();
        let (five, ten) = (zone.after(NOW, 5 * MS, 5 * MS), zone.after(NOW, 10 * MS, 10 * MS));
        zone.pass(&[five, ten]);
        assert!(zone.fired(five, &[ten]).is_some());
        assert!(zone.fired(ten, &[five]).is_none());
    }

    #[test]
    fn a_timer_that_is_made_later_may_be_later_or_earlier() {
        let mut zone = Zone::default();
        let ten = zone.after(NOW, 10 * MS, 10 * MS);
        zone.pass(&[ten]);
        let five = zone.after(NOW, 5 * MS, 5 * MS);
        zone.pass(&[ten, five]);
        assert!(zone.fired(five, &[ten]).is_some());
        assert!(zone.fired(ten, &[five]).is_some());
    }

    #[test]
    fn a_timer_that_is_made_later_and_takes_longer_is_later() {
        let mut zone = Zone::default();
        let five = zone.after(NOW, 5 * MS, 5 * MS);
        zone.pass(&[five]);
        let ten = zone.after(NOW, 10 * MS, 10 * MS);
        zone.pass(&[five, ten]);
        assert!(zone.fired(ten, &[five]).is_none());
        let zone = zone.fired(five, &[ten]).expect("the shorter timer is first");
        assert_eq!(zone.earliest(NOW), 5 * MS);
    }
}
