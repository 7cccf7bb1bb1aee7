//! A diagram from elsewhere: bounded in size, and every index within its list.

use serde_json::Value;
use thiserror::Error;

use crate::model::{Diagram, EventId, LaneId};

/// The longest file that is read.
pub const MAX_BYTES: usize = 8 << 20;
/// The most lanes.
const MAX_LANES: usize = 2_000;
/// The most events, arrows, locks and waits.
const MAX_ITEMS: usize = 50_000;
/// The longest text, in bytes.
const MAX_TEXT: usize = 4_000;

/// Why a diagram cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Invalid {
    /// The text is no JSON document with a diagram in it.
    #[error("it holds no diagram: {0}")]
    Unreadable(String),
    /// There is more in it than is drawn.
    #[error("it is too large: more than {0}")]
    TooLarge(&'static str),
    /// An index leads nowhere.
    #[error("it names {0} that is not in it")]
    NoSuch(&'static str),
    /// Rows go backwards.
    #[error("its rows are not in order")]
    Disorder,
}

impl Diagram {
    /// Reads the diagram in a file that [`crate::perfetto`] has written.
    pub fn from_json(bytes: &[u8]) -> Result<Diagram, Invalid> {
        if bytes.len() > MAX_BYTES {
            return Err(Invalid::TooLarge("8 MiB"));
        }
        let unreadable = |error: serde_json::Error| Invalid::Unreadable(error.to_string());
        let mut document: Value = serde_json::from_slice(bytes).map_err(unreadable)?;
        let diagram = document.get_mut("strait").map(Value::take).unwrap_or_default();
        let diagram: Diagram = serde_json::from_value(diagram).map_err(unreadable)?;
        diagram.check()?;
        Ok(diagram)
    }

    /// Is everything within bounds?
    pub fn check(&self) -> Result<(), Invalid> {
        if self.lanes.len() > MAX_LANES {
            return Err(Invalid::TooLarge("2,000 lanes"));
        }
        let lists = [self.events.len(), self.arrows.len(), self.locks.len(), self.waits.len()];
        if lists.iter().any(|length| *length > MAX_ITEMS) {
            return Err(Invalid::TooLarge("50,000 events"));
        }
        if self.texts().any(|text| text.len() > MAX_TEXT) {
            return Err(Invalid::TooLarge("4,000 bytes of text at one place"));
        }
        let is_lane = |lane: LaneId| lane.index() < self.lanes.len();
        let is_event = |event: EventId| event.index() < self.events.len();
        let lanes = self.events.iter().map(|event| event.lane);
        let lanes = lanes.chain(self.locks.iter().map(|lock| lock.lane));
        let mut lanes = lanes.chain(self.waits.iter().flat_map(|wait| [wait.lane, wait.holder]));
        let events = self.arrows.iter().flat_map(|arrow| [arrow.from, arrow.to]);
        let locks = self.locks.iter().flat_map(|lock| [Some(lock.from), lock.to]);
        let mut events = events.chain(locks.flatten());
        if !lanes.all(is_lane) {
            return Err(Invalid::NoSuch("a lane"));
        }
        if !events.all(is_event) {
            return Err(Invalid::NoSuch("an event"));
        }
        let in_order = self.events.windows(2).all(|pair| pair[0].row <= pair[1].row);
        let few_rows = self.events.last().is_none_or(|last| last.row as usize <= MAX_ITEMS);
        if in_order && few_rows { Ok(()) } else { Err(Invalid::Disorder) }
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        let lanes = self.lanes.iter().flat_map(|lane| {
            let file = lane.end.place.as_ref().and_then(|place| place.file.as_ref());
            [&lane.name, &lane.end.label].into_iter().chain(file)
        });
        let events = self.events.iter().flat_map(|event| {
            let file = event.place.as_ref().and_then(|place| place.file.as_ref());
            std::iter::once(&event.label).chain(file)
        });
        let arrows = self.arrows.iter().map(|arrow| &arrow.label);
        let locks = self.locks.iter().map(|lock| &lock.object);
        let waits = self.waits.iter().map(|wait| &wait.what);
        let heads = [&self.title, &self.description].into_iter();
        heads.chain(lanes).chain(events).chain(arrows).chain(locks).chain(waits)
    }

    /// The same diagram within bounds: long texts are cut, and what is too many is left out at the end.
    pub fn bounded(mut self) -> Diagram {
        let (events, lanes) = (self.events.len().min(MAX_ITEMS), self.lanes.len().min(MAX_LANES));
        self.lanes.truncate(lanes);
        self.events.truncate(events);
        let is_event = |event: EventId| event.index() < events;
        let is_lane = |lane: LaneId| lane.index() < lanes;
        // Events of lanes that were left out would be named by arrows: they move to the last lane.
        for event in self.events.iter_mut().filter(|event| !is_lane(event.lane)) {
            event.lane = LaneId(lanes.saturating_sub(1) as u32);
        }
        self.arrows.retain(|arrow| is_event(arrow.from) && is_event(arrow.to));
        self.locks.retain(|lock| is_event(lock.from) && is_lane(lock.lane));
        self.locks.iter_mut().for_each(|lock| lock.to = lock.to.filter(|to| is_event(*to)));
        self.waits.retain(|wait| is_lane(wait.lane) && is_lane(wait.holder));
        self.arrows.truncate(MAX_ITEMS);
        self.locks.truncate(MAX_ITEMS);
        self.waits.truncate(MAX_ITEMS);
        self.cut_texts();
        self
    }

    fn cut_texts(&mut self) {
        let cut = |text: &mut String| {
            if text.len() > MAX_TEXT {
                let end = text.floor_char_boundary(MAX_TEXT - '…'.len_utf8());
                text.truncate(end);
                text.push('…');
            }
        };
        cut(&mut self.title);
        cut(&mut self.description);
        for lane in &mut self.lanes {
            cut(&mut lane.name);
            cut(&mut lane.end.label);
            lane.end.place.iter_mut().filter_map(|place| place.file.as_mut()).for_each(cut);
        }
        for event in &mut self.events {
            cut(&mut event.label);
            event.place.iter_mut().filter_map(|place| place.file.as_mut()).for_each(cut);
        }
        self.arrows.iter_mut().for_each(|arrow| cut(&mut arrow.label));
        self.locks.iter_mut().for_each(|lock| cut(&mut lock.object));
        self.waits.iter_mut().for_each(|wait| cut(&mut wait.what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ArrowKind, Event, Tone};

    type Change = fn(&mut Diagram);

    fn small() -> Diagram {
        let mut diagram = Diagram::new("one <b>");
        let main = diagram.lane("main");
        let started = diagram.event(main, "spawn", None);
        diagram.start(started, "main.1");
        diagram
    }

    #[test]
    fn what_is_written_is_read_back() {
        let diagram = small();
        assert_eq!(Diagram::from_json(crate::perfetto(&diagram).as_bytes()), Ok(diagram));
    }

    #[test]
    fn what_is_malformed_is_refused() {
        let changed = |change: Change| {
            let mut diagram = small();
            change(&mut diagram);
            diagram.check()
        };
        let table: [(Change, Invalid); 5] = [
            (|diagram| diagram.events[0].lane = LaneId(7), Invalid::NoSuch("a lane")),
            (|diagram| diagram.arrows[0].to = EventId(99), Invalid::NoSuch("an event")),
            (|diagram| diagram.events[0].row = 3, Invalid::Disorder),
            (
                |diagram| diagram.lanes[0].name = "x".repeat(5000),
                Invalid::TooLarge("4,000 bytes of text at one place"),
            ),
            (
                |diagram| diagram.lanes = vec![diagram.lanes[0].clone(); 3000],
                Invalid::TooLarge("2,000 lanes"),
            ),
        ];
        for (change, expected) in table {
            assert_eq!(changed(change), Err(expected));
        }
        for text in ["", "[]", "{}", r#"{"strait": 3}"#, r#"{"strait": {"title": "x"}}"#] {
            assert!(
                matches!(Diagram::from_json(text.as_bytes()), Err(Invalid::Unreadable(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_too_large_is_brought_within_bounds() {
        let mut diagram = Diagram::new("é".repeat(9000));
        let lanes: Vec<LaneId> = (0..2100).map(|lane| diagram.lane(&format!("p{lane}"))).collect();
        for row in 0..60_000 {
            let lane = lanes[row % lanes.len()];
            let label = "x".to_owned();
            let row = row as u32;
            diagram.events.push(Event { lane, row, label, place: None, tone: Tone::Plain });
        }
        diagram.arrow(EventId(0), EventId(59_999), ArrowKind::Message, "");
        assert!(diagram.check().is_err());
        assert_eq!(diagram.bounded().check(), Ok(()));
    }
}
