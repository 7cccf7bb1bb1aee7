//! A diagram as trace events: the JSON format that ui.perfetto.dev and chrome://tracing read. A row is a
//! millisecond. The document also holds the diagram itself, under a key that viewers ignore.

use serde_json::{Value, json};

use crate::model::{Diagram, Event, EventId, LaneId, SourcePlace, Tone};

/// Microseconds per row.
const ROW: u64 = 1000;
/// Microseconds that an event lasts.
const LENGTH: u64 = 700;
/// The number of the only process.
const PROCESS: u32 = 1;

/// The document.
pub fn perfetto(diagram: &Diagram) -> String {
    let end = diagram.events.last().map_or(0, |last| (u64::from(last.row) + 1) * ROW);
    let mut events = names(diagram);
    events.extend(diagram.events.iter().filter_map(happening));
    events.extend(flows(diagram));
    events.extend(locks(diagram, end + 2 * ROW));
    events.extend(ends(diagram, end));
    let document = json!({
        "displayTimeUnit": "ms",
        "traceEvents": events,
        "otherData": { "title": diagram.title, "description": diagram.description },
        "strait": diagram,
    });
    format!("{document}\n")
}

/// Threads are numbered from 1.
fn thread(lane: LaneId) -> u32 {
    lane.0 + 1
}

fn names(diagram: &Diagram) -> Vec<Value> {
    let process = json!({ "ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "args": { "name": diagram.title } });
    let lanes = diagram.lanes.iter().zip(1_u32..);
    let names = lanes.clone().map(|(lane, thread)| {
        json!({ "ph": "M", "name": "thread_name", "pid": PROCESS, "tid": thread, "args": { "name": lane.name } })
    });
    let orders = lanes.map(|(_, thread)| {
        json!({ "ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": thread, "args": { "sort_index": thread } })
    });
    std::iter::once(process).chain(names).chain(orders).collect()
}

fn place(place: &Option<SourcePlace>) -> Option<String> {
    place.as_ref().map(|place| match &place.file {
        Some(file) => format!("{file}:{}", place.line),
        None => format!("line {}", place.line),
    })
}

fn happening(event: &Event) -> Option<Value> {
    let name = match event.tone {
        Tone::Start => "starts",
        Tone::Plain | Tone::Bad => event.label.as_str(),
    };
    let mut value = json!({
        "ph": "X",
        "name": name,
        "cat": if event.tone == Tone::Bad { "failure" } else { "step" },
        "pid": PROCESS,
        "tid": thread(event.lane),
        "ts": u64::from(event.row) * ROW,
        "dur": LENGTH,
        "args": { "place": place(&event.place) },
    });
    if event.tone == Tone::Bad {
        value["cname"] = json!("terrible");
    }
    (!name.is_empty()).then_some(value)
}

/// Arrows; a flow begins and ends inside the events that it joins.
fn flows(diagram: &Diagram) -> Vec<Value> {
    let mut values = Vec::new();
    for (number, arrow) in diagram.arrows.iter().enumerate() {
        let ends = [("s", arrow.from, 100), ("f", arrow.to, 400)];
        for (phase, event, inside) in ends {
            let Some(event) = at(diagram, event) else { continue };
            values.push(json!({
                "ph": phase,
                "bp": "e",
                "id": number + 1,
                "name": "message",
                "cat": "message",
                "pid": PROCESS,
                "tid": thread(event.lane),
                "ts": u64::from(event.row) * ROW + inside,
                "args": { "message": arrow.label },
            }));
        }
    }
    values
}

fn at(diagram: &Diagram, event: EventId) -> Option<&Event> {
    diagram.events.get(event.index())
}

/// Locks have tracks of their own: they need not be released in the reverse order.
fn locks(diagram: &Diagram, end: u64) -> Vec<Value> {
    let mut values = Vec::new();
    for (number, lock) in diagram.locks.iter().enumerate() {
        let Some(from) = at(diagram, lock.from) else { continue };
        let to = lock.to.and_then(|to| at(diagram, to));
        let to = to.map_or(end, |event| u64::from(event.row) * ROW + LENGTH);
        let lane = diagram.lanes.get(lock.lane.index()).map_or("", |lane| lane.name.as_str());
        for (phase, time) in [("b", u64::from(from.row) * ROW), ("e", to)] {
            values.push(json!({
                "ph": phase,
                "id": number + 1,
                "name": format!("{lane} holds {}", lock.object),
                "cat": "lock",
                "pid": PROCESS,
                "tid": thread(lock.lane),
                "ts": time,
            }));
        }
    }
    values
}

fn ends(diagram: &Diagram, end: u64) -> Vec<Value> {
    let lanes = diagram.lanes.iter().zip(0_u32..);
    let bad = lanes.filter(|(lane, _)| lane.end.state.is_bad());
    let values = bad.map(|(lane, number)| {
        let lane_id = LaneId(number);
        let own = diagram.events.iter().rev().find(|event| event.lane == lane_id);
        let begin = own.map_or(0, |event| (u64::from(event.row) + 1) * ROW);
        json!({
            "ph": "X",
            "name": format!("{}: {}", lane.end.state.words(), lane.end.label),
            "cat": "failure",
            "cname": "terrible",
            "pid": PROCESS,
            "tid": thread(lane_id),
            "ts": begin,
            "dur": end + 2 * ROW - begin,
            "args": { "place": place(&lane.end.place) },
        })
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ArrowKind, End, EndState};

    #[test]
    fn every_lane_arrow_and_lock_is_in_the_trace() {
        let mut diagram = Diagram::new("locks");
        let main = diagram.lane("main");
        let started = diagram.event(main, "spawn", None);
        let other = diagram.start(started, "other");
        let sent = diagram.event(main, "put c 1", Some(SourcePlace::line(3)));
        let got = diagram.event_beside(sent, other, "get c", None);
        diagram.arrow(sent, got, ArrowKind::Message, "1");
        let locked = diagram.event(other, "lock m", None);
        diagram.acquire(locked, "m");
        diagram.end(main, End::new(EndState::Waiting, "lock m", None));
        let document: Value = serde_json::from_str(&perfetto(&diagram)).expect("JSON");
        let events = document["traceEvents"].as_array().expect("a list");
        let count = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
        assert_eq!(["M", "X", "s", "f", "b", "e"].map(count), [5, 6, 2, 2, 1, 1]);
        let waits = events.iter().find(|event| event["cat"] == "failure").expect("a failure");
        assert_eq!(waits["name"], "waits forever: lock m");
        // It begins where the lane's last event ends and lasts beyond every event.
        assert_eq!((waits["ts"].as_u64(), waits["dur"].as_u64()), (Some(2000), Some(3000)));
        let last = events.iter().rfind(|event| event["ph"] == "f").expect("a flow");
        assert_eq!((last["tid"].as_u64(), last["ts"].as_u64()), (Some(2), Some(1400)));
    }
}
