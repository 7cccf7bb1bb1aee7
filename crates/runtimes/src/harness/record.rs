//! What can be seen of a run: for each process the messages, select choices and observed values, in
//! its order; as a value to compare and count, and as text for the wire.

use super::plan::Value;

/// One thing that a process saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A message.
    Received(Value),
    /// A get on a channel that was closed and empty.
    Closed,
    /// The select case with this number was taken.
    Chose(u16),
    /// The default of a select was taken.
    Defaulted,
    /// The timeout of a select was taken.
    TimedOut,
    /// A value was observed.
    Observed(Value),
}

/// The place of a process in the tree of processes: `[1, 2]` is the second child of main's first.
pub type Path = Vec<u32>;

/// What was seen in one run. Processes that saw nothing are left out; channels have no identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Record {
    /// What each process saw, ordered by path.
    pub processes: Vec<(Path, Vec<Event>)>,
    /// Had every process finished?
    pub finished: bool,
}

/// `main.1.2`
pub fn path_name(path: &[u32]) -> String {
    let mut name = "main".to_owned();
    path.iter().for_each(|number| name.push_str(&format!(".{number}")));
    name
}

/// Reads what [`path_name`] wrote.
pub fn path_of(name: &str) -> Option<Path> {
    let numbers = name.strip_prefix("main")?;
    if numbers.is_empty() {
        return Some(Path::new());
    }
    numbers.strip_prefix('.')?.split('.').map(|number| number.parse().ok()).collect()
}

fn value_text(value: Value) -> String {
    match value {
        Value::Unit => "u".to_owned(),
        Value::Bool(value) => if value { "t" } else { "f" }.to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Nil => "n".to_owned(),
        Value::Chan(_) => "c".to_owned(),
    }
}

fn value_of(text: &str) -> Option<Value> {
    Some(match text {
        "u" => Value::Unit,
        "t" => Value::Bool(true),
        "f" => Value::Bool(false),
        "n" => Value::Nil,
        "c" => Value::Chan(0),
        _ => Value::Int(text.parse().ok()?),
    })
}

impl Event {
    /// The event without what differs from run to run: the numbers of channels.
    pub fn normalised(self) -> Event {
        match self {
            Event::Received(Value::Chan(_)) => Event::Received(Value::Chan(0)),
            Event::Observed(Value::Chan(_)) => Event::Observed(Value::Chan(0)),
            other => other,
        }
    }

    fn to_text(self) -> String {
        match self {
            Event::Received(value) => format!("r{}", value_text(value)),
            Event::Closed => "x".to_owned(),
            Event::Chose(case) => format!("#{case}"),
            Event::Defaulted => "d".to_owned(),
            Event::TimedOut => "t".to_owned(),
            Event::Observed(value) => format!("o{}", value_text(value)),
        }
    }

    fn from_text(text: &str) -> Option<Event> {
        Some(match text {
            "x" => Event::Closed,
            "d" => Event::Defaulted,
            "t" => Event::TimedOut,
            _ => {
                let rest = text.get(1..)?;
                match text.as_bytes()[0] {
                    b'r' => Event::Received(value_of(rest)?),
                    b'o' => Event::Observed(value_of(rest)?),
                    b'#' => Event::Chose(rest.parse().ok()?),
                    _ => return None,
                }
            }
        })
    }
}

impl Record {
    /// `finished main=r5,#0 main.1=x`
    pub fn to_text(&self) -> String {
        let mut text = if self.finished { "finished" } else { "unfinished" }.to_owned();
        for (path, events) in &self.processes {
            let events: Vec<String> = events.iter().map(|event| event.to_text()).collect();
            text.push_str(&format!(" {}={}", path_name(path), events.join(",")));
        }
        text
    }

    /// Reads what [`Record::to_text`] wrote.
    pub fn from_text(text: &str) -> Option<Record> {
        let mut words = text.split_ascii_whitespace();
        let finished = match words.next()? {
            "finished" => true,
            "unfinished" => false,
            _ => return None,
        };
        let mut processes = Vec::new();
        for word in words {
            let (name, events) = word.split_once('=')?;
            let events = events.split(',').map(Event::from_text).collect::<Option<_>>()?;
            processes.push((path_of(name)?, events));
        }
        Some(Record { processes, finished })
    }
}
