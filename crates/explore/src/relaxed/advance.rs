//! Objects that are no atomic variables: locks, channels and the like. Their steps are performed one after
//! the other, and each depends on those before it.
//!
//! A step that is added, or that stays blocked to the end of an execution, may also come before an earlier
//! step on one of its objects that it does not depend on. Then it is *advanced*: what was added after that
//! earlier step is taken away, unless the advanced one depends on it, and comes again later. As with reads
//! that are revisited, this is done only from the execution in which all that is taken away was added
//! maximally. An event that was advanced itself was not, so that no two events are brought into both
//! orders twice.

use crate::relaxed::graph::{Clock, Cut, Graph, contains, join};
use crate::relaxed::placement::{NextEvent, Placement};
use crate::threaded::EventId;

impl Graph {
    /// Appends all placements in which the step whose clocks were begun comes before an earlier one.
    pub(crate) fn plan_advances(&self, next: &NextEvent, placements: &mut Vec<Placement>) {
        let first = placements.len();
        for &object in &next.objects {
            for &rival in self.chain(object) {
                let placement = Placement { revisits: Some(rival), ..Placement::PLAIN };
                let is_known = placements[first..].contains(&placement);
                if !is_known && self.kept_before(rival, next).is_some() {
                    placements.push(placement);
                }
            }
        }
    }

    /// The events that are kept when the step whose clocks were begun comes before a rival; none if it
    /// cannot, or if that is done from another execution.
    pub(crate) fn kept_before(&self, rival: EventId, next: &NextEvent) -> Option<Cut> {
        let mut past = Cut::from_slice(&self.draft.past);
        loop {
            if contains(&past, rival) {
                return None;
            }
            let cut = self.cut_before(self.stamp(rival), &past);
            let mut more = past.clone();
            for &object in &next.objects {
                let kept = self.chain(object).iter().rfind(|&&event| contains(&cut, event));
                if let Some(&last) = kept {
                    join(&mut more, self.clock(last, Clock::Past));
                }
            }
            if more == past {
                return self.is_maximal_beyond(&cut, &past).then_some(cut);
            }
            past = more;
        }
    }
}
