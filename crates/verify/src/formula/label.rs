//! Steps as formulas see them: a kind, who takes part, on which object, where.

use strait_calculus::{Action, ActionKind};

use super::{Pattern, Steps};

/// The names of actions in formulas, and what they stand for.
pub const ACTIONS: [(&str, &str); 23] = [
    ("send", "a message is sent, to a receiver or into a buffer"),
    ("recv", "a message is received, or the channel is found closed"),
    ("meet", "sender and receiver meet on a channel without a buffer"),
    ("put", "a message goes into a buffer"),
    ("get", "a message comes out of a buffer"),
    ("get_closed", "a receive finds the channel closed"),
    ("put_lost", "a send finds the channel abandoned"),
    ("close", "a channel is closed"),
    ("abandon", "a channel is abandoned"),
    ("choose", "a branch that data decides"),
    ("default", "the default of a select"),
    ("timeout", "the timeout of a select"),
    ("lock", "a lock is taken"),
    ("unlock", "a lock is released"),
    ("rlock", "a lock is taken for reading"),
    ("runlock", "a read lock is released"),
    ("announce", "a writer keeps new readers out"),
    ("add", "the counter of a wait group changes"),
    ("wait", "a wait group is passed"),
    ("panic", "the program ends by a panic"),
    ("spin", "a process runs by itself forever"),
    ("tau", "what no other process takes part in: choose, default, timeout, announce, spin"),
    ("sync", "what two processes or a process and an object do: everything but tau"),
];

/// A step with its names.
#[derive(Clone, Debug)]
pub struct Label {
    /// What happens; `None` for a process that runs by itself forever.
    pub kind: Option<ActionKind>,
    /// Processes and the object.
    pub names: Vec<String>,
    /// Where the processes stand: `main.go:12`, or a line.
    pub places: Vec<String>,
}

impl Label {
    /// A label for an action, without places.
    pub fn of(action: &Action, name: &dyn Fn(&Action) -> Vec<String>) -> Label {
        Label { kind: Some(action.kind), names: name(action), places: vec![] }
    }

    fn is_internal(&self) -> bool {
        matches!(
            self.kind,
            None | Some(
                ActionKind::Branch
                    | ActionKind::Default
                    | ActionKind::Timeout
                    | ActionKind::Announce
            )
        )
    }

    fn is_called(&self, name: &str) -> bool {
        match (name, self.kind) {
            ("tau", _) => self.is_internal(),
            ("sync", _) => !self.is_internal(),
            ("spin", kind) => kind.is_none(),
            ("send", Some(kind)) => {
                matches!(kind, ActionKind::Meet | ActionKind::Put | ActionKind::PutLost)
            }
            ("recv", Some(kind)) => {
                matches!(kind, ActionKind::Meet | ActionKind::Get | ActionKind::GetClosed)
            }
            (name, Some(kind)) => kind.word() == name,
            (_, None) => false,
        }
    }

    fn matches(&self, pattern: &Pattern) -> bool {
        let place = |wanted: &String| {
            self.places.iter().any(|place| {
                place == wanted
                    || place.ends_with(&format!("/{wanted}"))
                    || place.rsplit(':').next() == Some(wanted)
            })
        };
        self.is_called(&pattern.name)
            && pattern.arguments.iter().all(|name| self.names.contains(name))
            && pattern.place.iter().all(place)
    }
}

impl Steps {
    /// Is a step with this label one of them?
    pub fn contains(&self, label: &Label) -> bool {
        match self {
            Steps::All(all) => *all,
            Steps::Pattern(pattern) => label.matches(pattern),
            Steps::Not(inner) => !inner.contains(label),
            Steps::And(left, right) => left.contains(label) && right.contains(label),
            Steps::Or(left, right) => left.contains(label) || right.contains(label),
        }
    }

    /// Does it ask where steps happen?
    pub fn asks_for_places(&self) -> bool {
        match self {
            Steps::All(_) => false,
            Steps::Pattern(pattern) => pattern.place.is_some(),
            Steps::Not(inner) => inner.asks_for_places(),
            Steps::And(left, right) | Steps::Or(left, right) => {
                left.asks_for_places() || right.asks_for_places()
            }
        }
    }
}
