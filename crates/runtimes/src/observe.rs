//! Records of the harness as observations of the language.

use strait_calculus::{Event, Observation, Seen};

use crate::harness::plan::Value;
use crate::harness::record;
use crate::harness::record::{Record, path_name};

/// What a record says in the words of [`strait_calculus::explain`].
pub fn observation(record: &Record) -> Observation {
    let processes = record.processes.iter().map(|(path, events)| {
        let events = events.iter().map(|event| translate(*event)).collect();
        (path_name(path), events)
    });
    Observation { processes: processes.collect(), finished: record.finished }
}

fn translate(event: record::Event) -> Event {
    match event {
        record::Event::Received(value) => Event::Received(seen(value)),
        record::Event::Closed => Event::Closed,
        record::Event::Chose(case) => Event::Chose(case),
        record::Event::Defaulted => Event::Defaulted,
        record::Event::TimedOut => Event::TimedOut,
        record::Event::Observed(value) => Event::Observed(seen(value)),
    }
}

fn seen(value: Value) -> Seen {
    match value {
        Value::Unit => Seen::Unit,
        Value::Bool(value) => Seen::Bool(value),
        Value::Int(value) => Seen::Int(value),
        Value::Nil => Seen::Nil,
        Value::Chan(_) => Seen::Chan,
    }
}
