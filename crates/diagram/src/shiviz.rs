//! A diagram as a log with vector clocks, for ShiViz (Beschastnikh et al., CACM 2016).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::{Diagram, Event, EventId, Tone};
use crate::text::visible;

/// The regular expression that reads the log. It is also its first line.
pub const SHIVIZ_EXPRESSION: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";

/// The log: for each event a line with the lane and its clock, and a line with what happens.
pub fn shiviz(diagram: &Diagram) -> String {
    let hosts = hosts(diagram);
    let mut incoming: BTreeMap<EventId, Vec<EventId>> = BTreeMap::new();
    for arrow in &diagram.arrows {
        incoming.entry(arrow.to).or_default().push(arrow.from);
    }
    let mut clocks =
        Clocks { own: vec![BTreeMap::new(); diagram.lanes.len()], of: BTreeMap::new() };
    let mut log = format!("{SHIVIZ_EXPRESSION}\n\n");
    for id in in_order(diagram, &incoming) {
        let event = &diagram.events[id.index()];
        let before = incoming.get(&id).map_or(&[][..], Vec::as_slice);
        let clock = clocks.tick(event.lane.index(), id, before);
        push(&mut log, &hosts, event.lane.index(), clock, &words(event));
    }
    for (lane, about) in diagram.lanes.iter().enumerate() {
        let clock = clocks.tick(lane, EventId(u32::MAX), &[]);
        let label = match about.end.label.as_str() {
            "" => about.end.state.words().to_owned(),
            label => format!("{}: {label}", about.end.state.words()),
        };
        push(&mut log, &hosts, lane, clock, &label);
    }
    log
}

/// Events by rows, and within a row senders before receivers.
fn in_order(diagram: &Diagram, incoming: &BTreeMap<EventId, Vec<EventId>>) -> Vec<EventId> {
    let mut ids: Vec<EventId> = (0..diagram.events.len() as u32).map(EventId).collect();
    ids.sort_by_key(|id| (diagram.events[id.index()].row, incoming.contains_key(id), *id));
    ids
}

struct Clocks {
    /// The clock of each lane.
    own: Vec<BTreeMap<usize, u64>>,
    /// The clock after each event that has happened.
    of: BTreeMap<EventId, BTreeMap<usize, u64>>,
}

impl Clocks {
    /// A lane takes a step that knows of earlier events.
    fn tick(&mut self, lane: usize, id: EventId, before: &[EventId]) -> &BTreeMap<usize, u64> {
        for other in before.iter().filter_map(|event| self.of.get(event)) {
            for (host, time) in other {
                let known = self.own[lane].entry(*host).or_insert(0);
                *known = (*known).max(*time);
            }
        }
        *self.own[lane].entry(lane).or_insert(0) += 1;
        self.of.insert(id, self.own[lane].clone());
        &self.own[lane]
    }
}

/// A name without blanks for each lane, all different.
fn hosts(diagram: &Diagram) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let name = |lane: &crate::model::Lane| {
        let plain =
            |char: char| if char.is_whitespace() || "{}\"\\".contains(char) { '_' } else { char };
        let name: String = visible(&lane.name).chars().map(plain).collect();
        let mut unique = if name.is_empty() { "_".to_owned() } else { name };
        while !taken.insert(unique.clone()) {
            unique.push('_');
        }
        unique
    };
    diagram.lanes.iter().map(name).collect()
}

fn words(event: &Event) -> String {
    let what = match event.tone {
        Tone::Start => "starts",
        Tone::Plain | Tone::Bad => event.label.as_str(),
    };
    match &event.place {
        Some(place) => match &place.file {
            Some(file) => format!("{what} ({file}:{})", place.line),
            None => format!("{what} (line {})", place.line),
        },
        None => what.to_owned(),
    }
}

fn push(
    log: &mut String,
    hosts: &[String],
    lane: usize,
    clock: &BTreeMap<usize, u64>,
    words: &str,
) {
    let clock: Vec<String> = clock
        .iter()
        .map(|(host, time)| format!("{}:{time}", Value::from(hosts[*host].as_str())))
        .collect();
    log.push_str(&format!("{} {{{}}}\n{}\n", hosts[lane], clock.join(","), visible(words)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ArrowKind;

    /// The log as the expression reads it: host, clock, event.
    fn read(log: &str) -> Vec<(String, BTreeMap<String, u64>, String)> {
        let lines: Vec<&str> = log.lines().skip(2).collect();
        let entry = |pair: &[&str]| {
            let (host, clock) = pair[0].split_once(' ').expect("host and clock");
            (host.to_owned(), serde_json::from_str(clock).expect("a clock"), pair[1].to_owned())
        };
        lines.chunks(2).map(entry).collect()
    }

    #[test]
    fn clocks_grow_by_one_and_know_what_came_before() {
        let mut diagram = Diagram::new("clocks");
        let main = diagram.lane("main {x} \"y\"");
        let spawned = diagram.event(main, "spawn", None);
        let other = diagram.start(spawned, "other");
        let received = diagram.event(main, "get c", None);
        let sent = diagram.event_beside(received, other, "put c\n1", None);
        diagram.arrow(sent, received, ArrowKind::Message, "1");
        let entries = read(&shiviz(&diagram));
        let events: Vec<&str> = entries.iter().map(|(_, _, event)| event.as_str()).collect();
        assert_eq!(events, ["spawn", "starts", "put c 1", "get c", "finished", "finished"]);
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        for (host, clock, _) in &entries {
            let time = own.entry(host).or_insert(0);
            *time += 1;
            assert_eq!(clock.get(host), Some(&*time), "{host} {clock:?}");
        }
        let clock = |event: usize| entries[event].1.values().copied().collect::<Vec<u64>>();
        assert_eq!(
            [clock(0), clock(1), clock(2), clock(3)],
            [vec![1], vec![1, 1], vec![1, 2], vec![2, 2]]
        );
        assert_eq!(entries[0].0, "main__x___y_");
    }

    #[test]
    fn the_first_line_is_no_entry() {
        let log = shiviz(&Diagram::new(""));
        assert_eq!(log, format!("{SHIVIZ_EXPRESSION}\n\n"));
    }
}
