//! What can be seen of an execution: for each process the messages it received, the select cases
//! it took and the values it observed.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::value::Value;

/// A value as it can be written down. Objects have no identity outside a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seen {
    /// `()`
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The nil channel.
    Nil,
    /// Some channel, lock or wait group.
    Chan,
}

impl From<Value> for Seen {
    fn from(value: Value) -> Seen {
        match value {
            Value::Unit => Seen::Unit,
            Value::Bool(value) => Seen::Bool(value),
            Value::Int(value) => Seen::Int(value),
            Value::Nil => Seen::Nil,
            Value::Object(_) => Seen::Chan,
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Unit => write!(formatter, "()"),
            Seen::Bool(value) => write!(formatter, "{value}"),
            Seen::Int(value) => write!(formatter, "{value}"),
            Seen::Nil => write!(formatter, "nil"),
            Seen::Chan => write!(formatter, "chan"),
        }
    }
}

/// One thing that a process saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// A message.
    Received(Seen),
    /// A get on a channel that was closed and empty.
    Closed,
    /// The select case with this number was taken.
    Chose(u16),
    /// The default of a select was taken.
    Defaulted,
    /// The timeout of a select was taken.
    TimedOut,
    /// A value was observed.
    Observed(Seen),
}

/// What was seen of one execution, by process name (`main`, `main.1`, `main.1.2`, …). A process
/// that saw nothing may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Observation {
    /// What each process saw, in its order.
    pub processes: BTreeMap<String, Vec<Event>>,
    /// Had every process finished when the recording ended?
    pub finished: bool,
}
