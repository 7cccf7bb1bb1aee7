//! Weaving: what may still be done to a channel, by whom and with which messages. Exact but for
//! slots that are still empty, which may turn out to be any channel.

use crate::explain::observation::Seen;
use crate::explain::scripts::{Kind, Operation};
use crate::explain::weave::{GET, Loom, PUT, Processes, State, User, is_in};
use crate::language::ast::Capacity;
use crate::language::index::Idx;

impl Loom<'_> {
    pub(crate) fn has_room(&self, state: &State, channel: usize) -> bool {
        match self.scripts.channels[channel] {
            Capacity::Rendezvous => false,
            Capacity::Bounded(room) => state.channels[channel].messages.len() < room as usize,
            Capacity::Unbounded => true,
        }
    }

    /// Who but the exempted may still do this to the channel? Those not born yet count too.
    pub(crate) fn others<'s>(
        &'s self,
        state: &'s State,
        channel: usize,
        kind: usize,
        exempted: Processes,
    ) -> impl Iterator<Item = &'s User> + 's {
        self.users[channel].iter().filter(move |user| {
            !is_in(exempted, user.process.into())
                && user.behind[kind] > state.at[usize::from(user.process)]
        })
    }

    /// May a process still do this to the channel by way of a slot?
    pub(crate) fn by_slot(
        &self,
        state: &State,
        channel: usize,
        kind: usize,
        exempted: Processes,
    ) -> bool {
        self.by_slot.iter().any(|(process, position, slot, done)| {
            let content = state.slots[*slot as usize];
            *done == kind
                && !is_in(exempted, (*process).into())
                && *position >= state.at[usize::from(*process)]
                && (content == u32::MAX || content as usize == channel)
        })
    }

    pub(crate) fn may(
        &self,
        state: &State,
        channel: usize,
        kind: usize,
        exempted: Processes,
    ) -> bool {
        self.others(state, channel, kind, exempted).next().is_some()
            || self.by_slot(state, channel, kind, exempted)
    }

    /// May somebody but the exempted still put (get) such a message there?
    pub(crate) fn may_with(
        &self,
        state: &State,
        channel: usize,
        kind: usize,
        content: Seen,
        exempted: Processes,
    ) -> bool {
        self.by_slot(state, channel, kind, exempted)
            || self.others(state, channel, kind, exempted).any(|user| {
                self.ahead(state, usize::from(user.process)).any(|operation| {
                    operation.channel.position() == channel && is_about(operation, kind, content)
                })
            })
    }

    /// What a process has yet to do.
    pub(crate) fn ahead(&self, state: &State, process: usize) -> impl Iterator<Item = &Operation> {
        self.scripts.processes[process].operations[usize::from(state.at[process])..].iter()
    }

    /// Processes that are about to receive such a message.
    pub(crate) fn receivers(
        &self,
        state: &State,
        channel: usize,
        sender: usize,
        content: Seen,
    ) -> impl Iterator<Item = usize> {
        (0..state.at.len()).filter(move |process| {
            let Some(operation) = self.current(state, *process) else { return false };
            let Kind::Get(seen, _) = operation.kind else { return false };
            *process != sender
                && seen == content
                && self.resolve(state, operation.channel) == Some(channel)
        })
    }

    /// If one process alone receives from the channel, and will receive what is put next: is it
    /// a message like this? `None` when that cannot be told.
    pub(crate) fn is_wanted_next(
        &self,
        state: &State,
        channel: usize,
        content: Seen,
    ) -> Option<bool> {
        let mut receivers = self.others(state, channel, GET, 0);
        let receiver = receivers.next()?;
        if receivers.next().is_some() || self.by_slot(state, channel, GET, 0) {
            return None;
        }
        let ahead = self.ahead(state, usize::from(receiver.process));
        let mut wanted = ahead.filter_map(|operation| match operation.kind {
            Kind::Get(seen, _) if operation.channel.position() == channel => Some(seen),
            _ => None,
        });
        Some(wanted.nth(state.channels[channel].messages.len())? == content)
    }

    /// Are all messages that may still be put like this one, and is there room for them?
    pub(crate) fn has_room_for_all(&self, state: &State, channel: usize, content: Seen) -> bool {
        if content == Seen::Chan || self.by_slot(state, channel, PUT, 0) {
            return false;
        }
        let (mut count, mut are_alike) = (0, true);
        for user in self.others(state, channel, PUT, 0) {
            for operation in self.ahead(state, usize::from(user.process)) {
                if let Kind::Put(value) = operation.kind
                    && operation.channel.position() == channel
                {
                    count += 1;
                    are_alike &= Seen::from(value) == content;
                }
            }
        }
        are_alike
            && match self.scripts.channels[channel] {
                Capacity::Rendezvous => false,
                Capacity::Bounded(room) => {
                    state.channels[channel].messages.len() + count <= room as usize
                }
                Capacity::Unbounded => true,
            }
    }

    /// Will somebody receive a message like this, or will nobody receive what is put next? All
    /// receives in the scripts take place, in the order of the messages.
    pub(crate) fn is_wanted_at_all(&self, state: &State, channel: usize, content: Seen) -> bool {
        if self.by_slot(state, channel, GET, 0) {
            return true;
        }
        let (mut receives, mut alike) = (0, 0);
        for user in self.others(state, channel, GET, 0) {
            for operation in self.ahead(state, usize::from(user.process)) {
                if let Kind::Get(seen, _) = operation.kind
                    && operation.channel.position() == channel
                {
                    receives += 1;
                    alike += usize::from(seen == content);
                }
            }
        }
        let messages = &state.channels[channel].messages;
        let before = messages.iter().filter(|value| Seen::from(**value) == content).count();
        receives <= messages.len() || alike > before
    }
}

fn is_about(operation: &Operation, kind: usize, content: Seen) -> bool {
    match operation.kind {
        Kind::Put(value) => kind == PUT && Seen::from(value) == content,
        Kind::Get(seen, _) => kind == GET && seen == content,
        _ => false,
    }
}
