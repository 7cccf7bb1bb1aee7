//! What of a diagram is drawn: the lanes that matter most, and the beginning and the end of a long execution.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Diagram, Event, EventId, LaneId};

/// The most lanes side by side.
const LANES: usize = 14;
/// The most rows; of more, the first
const ROWS: usize = 100;
/// so many
const FIRST: usize = 30;
/// and the last so many are drawn.
const LAST: usize = 60;

/// A row of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A row of the diagram.
    Step(u32),
    /// So many rows are left out here.
    Gap(usize),
}

/// The part of a diagram that is drawn.
pub(crate) struct View<'a> {
    pub(crate) diagram: &'a Diagram,
    pub(crate) lanes: Vec<LaneId>,
    pub(crate) rows: Vec<Row>,
    /// Where each row of the diagram is in the picture.
    places: BTreeMap<u32, usize>,
}

impl<'a> View<'a> {
    pub(crate) fn new(diagram: &'a Diagram) -> View<'a> {
        let lanes = shown_lanes(diagram);
        let events = diagram.events.iter().filter(|event| lanes.contains(&event.lane));
        let steps: BTreeSet<u32> = events.map(|event| event.row).collect();
        let steps: Vec<Row> = steps.into_iter().map(Row::Step).collect();
        let rows = match steps.len() {
            all if all <= ROWS => steps,
            all => {
                let gap = [Row::Gap(all - FIRST - LAST)];
                [&steps[..FIRST], &gap, &steps[all - LAST..]].concat()
            }
        };
        let places = rows.iter().enumerate().filter_map(|(place, row)| match row {
            Row::Step(row) => Some((*row, place)),
            Row::Gap(_) => None,
        });
        View { diagram, lanes, places: places.collect(), rows }
    }

    /// Where a row of the diagram is; `None` if it is left out.
    pub(crate) fn place(&self, row: u32) -> Option<usize> {
        self.places.get(&row).copied()
    }

    /// Where a row of the diagram is, or the nearest one before it.
    pub(crate) fn place_before(&self, row: u32) -> usize {
        self.places.range(..=row).next_back().map_or(0, |(_, place)| *place)
    }

    pub(crate) fn event(&self, event: EventId) -> Option<&'a Event> {
        self.diagram.events.get(event.index())
    }

    /// The events of a lane that are drawn.
    pub(crate) fn events(&self, lane: LaneId) -> impl Iterator<Item = (&'a Event, usize)> {
        let own = self.diagram.events.iter().filter(move |event| event.lane == lane);
        own.filter_map(|event| Some((event, self.place(event.row)?)))
    }

    /// The column of a lane, if it is drawn.
    pub(crate) fn column(&self, lane: LaneId) -> Option<usize> {
        self.lanes.iter().position(|shown| *shown == lane)
    }

    /// How many lanes are not drawn.
    pub(crate) fn left_out(&self) -> usize {
        self.diagram.lanes.len() - self.lanes.len()
    }
}

/// Lanes in which something is wrong come first, then those in which most happens.
fn shown_lanes(diagram: &Diagram) -> Vec<LaneId> {
    let mut busy = vec![0_usize; diagram.lanes.len()];
    for event in &diagram.events {
        busy[event.lane.index()] += 1;
    }
    let mut lanes: Vec<usize> = (0..diagram.lanes.len()).collect();
    lanes.sort_by_key(|lane| (!diagram.lanes[*lane].end.state.is_bad(), usize::MAX - busy[*lane]));
    lanes.truncate(LANES);
    lanes.sort_unstable();
    lanes.into_iter().map(|lane| LaneId(lane as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{End, EndState};

    #[test]
    fn a_long_execution_keeps_both_ends_and_lanes_that_wait() {
        let mut diagram = Diagram::new("long");
        let lanes: Vec<LaneId> = (0..30).map(|lane| diagram.lane(&format!("p{lane}"))).collect();
        for row in 0..300 {
            diagram.event(lanes[row % 20], "x", None);
        }
        diagram.end(lanes[29], End::new(EndState::Waiting, "get c", None));
        let view = View::new(&diagram);
        assert_eq!((view.lanes.len(), view.left_out()), (LANES, 16));
        assert!(view.lanes.contains(&lanes[29]));
        assert_eq!(view.rows.len(), FIRST + 1 + LAST);
        assert!(matches!(view.rows[FIRST], Row::Gap(gap) if gap + FIRST + LAST == 13 * 15));
        assert_eq!(view.place(150), None);
        assert_eq!(view.place_before(150), FIRST - 1);
    }
}
