//! Which event of a channel or wait group belongs to which: the send of a message that is received later, the
//! close that a receiver finds, the change after which a wait is passed.

use std::collections::{BTreeMap, VecDeque};

use crate::model::{ArrowKind, Diagram, EventId};

/// The objects of an execution while its diagram is built.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// The sends of messages in buffers, by the name of the channel.
    sends: BTreeMap<String, VecDeque<EventId>>,
    /// The closes, by the name of the channel.
    closes: BTreeMap<String, EventId>,
    /// The last changes of counters, by the name of the wait group.
    changes: BTreeMap<String, EventId>,
}

impl Tracker {
    /// A message goes into the buffer of a channel.
    pub fn sent(&mut self, channel: &str, event: EventId) {
        self.sends.entry(channel.to_owned()).or_default().push_back(event);
    }

    /// The first message comes out of the buffer.
    pub fn received(&mut self, diagram: &mut Diagram, channel: &str, event: EventId, label: &str) {
        if let Some(sent) = self.sends.get_mut(channel).and_then(VecDeque::pop_front) {
            diagram.arrow(sent, event, ArrowKind::Message, label);
        }
    }

    /// A channel is closed.
    pub fn closed(&mut self, channel: &str, event: EventId) {
        self.closes.insert(channel.to_owned(), event);
    }

    /// A receiver finds a channel closed.
    pub fn found_closed(&mut self, diagram: &mut Diagram, channel: &str, event: EventId) {
        if let Some(closed) = self.closes.get(channel) {
            diagram.arrow(*closed, event, ArrowKind::Unblock, "");
        }
    }

    /// The counter of a wait group changes.
    pub fn changed(&mut self, group: &str, event: EventId) {
        self.changes.insert(group.to_owned(), event);
    }

    /// A wait is passed.
    pub fn passed(&mut self, diagram: &mut Diagram, group: &str, event: EventId) {
        if let Some(changed) = self.changes.get(group) {
            diagram.arrow(*changed, event, ArrowKind::Unblock, "");
        }
    }
}
