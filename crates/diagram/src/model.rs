//! The diagram as data: lanes, events in rows, arrows between events, locks as spans, and how each lane ends.
//! It is built by the methods here, which keep every index within its list.

use serde::{Deserialize, Serialize};

/// A lane, by its place in [`Diagram::lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LaneId(pub u32);

impl LaneId {
    /// The place in the list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An event, by its place in [`Diagram::events`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub u32);

impl EventId {
    /// The place in the list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagram {
    /// What it shows, in one line.
    pub title: String,
    /// What a reader has to know besides; may be empty.
    #[serde(default)]
    pub description: String,
    /// One per process, thread or goroutine, from left to right.
    pub lanes: Vec<Lane>,
    /// In the order in which they happened.
    pub events: Vec<Event>,
    /// From event to event.
    #[serde(default)]
    pub arrows: Vec<Arrow>,
    /// Locks that were held.
    #[serde(default)]
    pub locks: Vec<Lock>,
    /// Which lane waits for which other lane at the end.
    #[serde(default)]
    pub waits: Vec<Wait>,
}

/// A process, thread or goroutine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// How it ends.
    pub end: End,
}

/// How a lane ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Which state.
    pub state: EndState,
    /// The statement at which it stands, or what it waits for; may be empty.
    #[serde(default)]
    pub label: String,
    /// Where it stands.
    #[serde(default)]
    pub place: Option<SourcePlace>,
}

impl End {
    /// A state with its words and its place.
    pub fn new(state: EndState, label: impl Into<String>, place: Option<SourcePlace>) -> End {
        End { state, label: label.into(), place }
    }
}

/// The state at the end of the diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndState {
    /// It has returned.
    #[default]
    Finished,
    /// It waits forever.
    Waiting,
    /// It has panicked.
    Panicked,
    /// It runs forever without doing anything that others see.
    Spinning,
    /// It waits now, and may go on later.
    Blocked,
    /// It can go on.
    Running,
    /// It did or saw what cannot be.
    Wrong,
}

impl EndState {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            EndState::Finished => "finished",
            EndState::Waiting => "waits forever",
            EndState::Panicked => "panicked",
            EndState::Spinning => "runs forever",
            EndState::Blocked => "waits",
            EndState::Running => "can go on",
            EndState::Wrong => "impossible",
        }
    }

    /// Is it what is wrong?
    pub fn is_bad(self) -> bool {
        matches!(
            self,
            EndState::Waiting | EndState::Panicked | EndState::Spinning | EndState::Wrong
        )
    }
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePlace {
    /// The file; none if there is only one.
    #[serde(default)]
    pub file: Option<String>,
    /// The line, from 1.
    pub line: u32,
}

impl SourcePlace {
    /// A line of the only file.
    pub fn line(line: usize) -> SourcePlace {
        SourcePlace { file: None, line: u32::try_from(line).unwrap_or(u32::MAX) }
    }

    /// `file.go:12`, if the text has that form.
    pub fn parse(text: &str) -> Option<SourcePlace> {
        let (file, line) = text.rsplit_once(':')?;
        // A column may follow.
        let (file, line) = match (file.rsplit_once(':'), line.parse::<u32>()) {
            (Some((shorter, first)), Ok(_)) if first.parse::<u32>().is_ok() => (shorter, first),
            _ => (file, line),
        };
        Some(SourcePlace { file: Some(file.to_owned()), line: line.parse().ok()? })
    }
}

/// Something that happens in a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// In which lane.
    pub lane: LaneId,
    /// In which row; events of one row happen together.
    pub row: u32,
    /// What happens; empty for the start of a lane.
    #[serde(default)]
    pub label: String,
    /// Where.
    #[serde(default)]
    pub place: Option<SourcePlace>,
    /// How it is drawn.
    #[serde(default)]
    pub tone: Tone,
}

/// How an event is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// An operation.
    #[default]
    Plain,
    /// The lane begins here.
    Start,
    /// What is wrong.
    Bad,
}

/// An arrow from event to event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrow {
    /// Its beginning.
    pub from: EventId,
    /// Its end.
    pub to: EventId,
    /// What it means.
    pub kind: ArrowKind,
    /// What is carried, such as the message; may be empty.
    #[serde(default)]
    pub label: String,
}

/// What an arrow means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrowKind {
    /// A message.
    Message,
    /// A lane starts another.
    Start,
    /// An operation lets another go on, such as a close.
    Unblock,
}

/// A lock that a lane holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Which lane.
    pub lane: LaneId,
    /// The name of the lock.
    pub object: String,
    /// The event that takes it.
    pub from: EventId,
    /// The event that releases it; none if it is held at the end.
    #[serde(default)]
    pub to: Option<EventId>,
}

/// A lane that waits for what another lane would have to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The lane that waits.
    pub lane: LaneId,
    /// The lane that it waits for.
    pub holder: LaneId,
    /// For what, such as the name of a lock.
    pub what: String,
}

impl Diagram {
    /// An empty diagram.
    pub fn new(title: impl Into<String>) -> Diagram {
        Diagram { title: title.into(), ..Diagram::default() }
    }

    /// The lane with this name; it is added if there is none.
    pub fn lane(&mut self, name: &str) -> LaneId {
        let found = self.lanes.iter().position(|lane| lane.name == name);
        let index = found.unwrap_or_else(|| {
            self.lanes.push(Lane { name: name.to_owned(), end: End::default() });
            self.lanes.len() - 1
        });
        LaneId(index as u32)
    }

    /// Is there a lane with this name?
    pub fn has_lane(&self, name: &str) -> bool {
        self.lanes.iter().any(|lane| lane.name == name)
    }

    /// An event in a row of its own, after all others.
    pub fn event(
        &mut self,
        lane: LaneId,
        label: impl Into<String>,
        place: Option<SourcePlace>,
    ) -> EventId {
        let row = self.events.last().map_or(0, |last| last.row + 1);
        self.push(Event { lane, row, label: label.into(), place, tone: Tone::Plain })
    }

    /// An event in the row of another one, or in the last row if that is a later one.
    pub fn event_beside(
        &mut self,
        other: EventId,
        lane: LaneId,
        label: impl Into<String>,
        place: Option<SourcePlace>,
    ) -> EventId {
        let row = self.events.get(other.index()).map_or(0, |event| event.row);
        let row = row.max(self.events.last().map_or(0, |last| last.row));
        self.push(Event { lane, row, label: label.into(), place, tone: Tone::Plain })
    }

    fn push(&mut self, event: Event) -> EventId {
        self.events.push(event);
        EventId((self.events.len() - 1) as u32)
    }

    /// Begins a lane in the row of the event that starts it.
    pub fn start(&mut self, by: EventId, name: &str) -> LaneId {
        let lane = self.lane(name);
        let begun = self.event_beside(by, lane, "", None);
        self.events[begun.index()].tone = Tone::Start;
        self.arrow(by, begun, ArrowKind::Start, "");
        lane
    }

    /// Marks an event as what is wrong.
    pub fn mark_bad(&mut self, event: EventId) {
        if let Some(event) = self.events.get_mut(event.index()) {
            event.tone = Tone::Bad;
        }
    }

    /// An arrow between two events.
    pub fn arrow(&mut self, from: EventId, to: EventId, kind: ArrowKind, label: &str) {
        self.arrows.push(Arrow { from, to, kind, label: label.to_owned() });
    }

    /// A lane takes a lock.
    pub fn acquire(&mut self, by: EventId, object: &str) {
        let Some(lane) = self.events.get(by.index()).map(|event| event.lane) else { return };
        self.locks.push(Lock { lane, object: object.to_owned(), from: by, to: None });
    }

    /// A lock is released: by its holder if that is the lane of the event, else whichever lane holds it.
    pub fn release(&mut self, by: EventId, object: &str) {
        let Some(lane) = self.events.get(by.index()).map(|event| event.lane) else { return };
        let is_held = |lock: &&mut Lock| lock.to.is_none() && lock.object == object;
        let mut held: Vec<&mut Lock> = self.locks.iter_mut().filter(is_held).collect();
        let own = held.iter().rposition(|lock| lock.lane == lane);
        if let Some(lock) = own.or(held.len().checked_sub(1)).and_then(|index| held.get_mut(index))
        {
            lock.to = Some(by);
        }
    }

    /// The lanes that hold a lock now.
    pub fn holders(&self, object: &str) -> Vec<LaneId> {
        let held = self.locks.iter().filter(|lock| lock.to.is_none() && lock.object == object);
        held.map(|lock| lock.lane).collect()
    }

    /// How a lane ends.
    pub fn end(&mut self, lane: LaneId, end: End) {
        if let Some(lane) = self.lanes.get_mut(lane.index()) {
            lane.end = end;
        }
    }

    /// A lane waits for another one.
    pub fn wait(&mut self, lane: LaneId, holder: LaneId, what: &str) {
        let wait = Wait { lane, holder, what: what.to_owned() };
        if !self.waits.contains(&wait) {
            self.waits.push(wait);
        }
    }

    /// The lines, of the only file, at which lanes stand that are in a bad state.
    pub fn bad_lines(&self) -> Vec<u32> {
        let ends = self.lanes.iter().map(|lane| &lane.end).filter(|end| end.state.is_bad());
        let ends = ends.filter_map(|end| end.place.as_ref());
        let events = self.events.iter().filter(|event| event.tone == Tone::Bad);
        let places = ends.chain(events.filter_map(|event| event.place.as_ref()));
        let lines = places.filter(|place| place.file.is_none()).map(|place| place.line);
        let mut lines: Vec<u32> = lines.collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_with_and_without_columns() {
        for (text, expected) in [
            ("pool.go:23", Some(("pool.go", 23))),
            ("pool.go:23:7", Some(("pool.go", 23))),
            ("a/b.go:1", Some(("a/b.go", 1))),
            ("main", None),
            ("main:x", None),
        ] {
            let expected =
                expected.map(|(file, line)| SourcePlace { file: Some(file.to_owned()), line });
            assert_eq!(SourcePlace::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_lock_ends_with_its_release() {
        let mut diagram = Diagram::new("locks");
        let (one, other) = (diagram.lane("one"), diagram.lane("other"));
        let taken = diagram.event(one, "lock m", None);
        diagram.acquire(taken, "m");
        assert_eq!(diagram.holders("m"), [one]);
        let freed = diagram.event(other, "unlock m", None);
        diagram.release(freed, "m");
        assert_eq!(diagram.holders("m"), []);
        assert_eq!(diagram.locks[0].to, Some(freed));
    }
}
