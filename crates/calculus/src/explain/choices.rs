//! Weaving: the steps between which there is a choice.

use smallvec::SmallVec;

use crate::explain::observation::Seen;
use crate::explain::scripts::Kind;
use crate::explain::weave::{ABANDON, GET, Loom, PUT, Processes, State, Stitch, is_in, one};
use crate::language::ast::Capacity;
use crate::language::index::{Idx, ObjectId};
use crate::machine::object::Phase;

impl Loom<'_> {
    /// The steps between which there is a choice. None if somebody is stuck who must go on.
    pub(crate) fn choices(&self, state: &State) -> Vec<Stitch> {
        let mut best: Option<Vec<Stitch>> = None;
        for process in 0..state.at.len() {
            let is_required =
                usize::from(state.at[process]) < self.scripts.processes[process].required;
            if !is_required || !is_in(state.born, process) {
                continue;
            }
            let found = self.choices_around(state, process);
            if found.is_empty() {
                return found;
            }
            if best.as_ref().is_none_or(|best| found.len() < best.len()) {
                best = Some(found);
            }
        }
        best.unwrap_or_default()
    }

    /// The steps on channels that this process waits for, that others wait for who use these, and
    /// so on. Whoever may ever use one of them is at one of them now.
    fn choices_around(&self, state: &State, process: usize) -> Vec<Stitch> {
        let mut members: Processes = one(process);
        let mut pending = members;
        let mut reached: SmallVec<[usize; 16]> = SmallVec::new();
        while pending != 0 {
            let member = pending.trailing_zeros() as usize;
            pending &= !one(member);
            let Some(operation) = self.current(state, member) else { continue };
            let mut channels: SmallVec<[ObjectId; 4]> = SmallVec::new();
            match operation.kind {
                Kind::Default(from, to) => {
                    let watched = &self.scripts.watched[from as usize..to as usize];
                    channels.extend(watched.iter().map(|(channel, _)| *channel));
                }
                _ => channels.push(operation.channel),
            }
            for channel in channels {
                let Some(channel) = self.resolve(state, channel) else { continue };
                if reached.contains(&channel) {
                    continue;
                }
                reached.push(channel);
                let fresh = self.users_to_come(state, channel) & !members;
                members |= fresh;
                pending |= fresh;
            }
        }
        let mut choices: Vec<(u8, Stitch)> = Vec::new();
        for member in (0..state.at.len()).filter(|member| is_in(members, *member)) {
            self.add_choices(state, member, &mut choices);
        }
        choices.sort_by_key(|(rank, _)| *rank);
        choices.into_iter().map(|(_, stitch)| stitch).collect()
    }

    /// Everybody who may still use the channel; for those not born yet, whom they descend from.
    fn users_to_come(&self, state: &State, channel: usize) -> Processes {
        let mut found: Processes = 0;
        let mut add = |mut process: usize| {
            while !is_in(state.born, process) {
                process = self.scripts.processes[process].parent as usize;
            }
            found |= one(process);
        };
        for user in &self.users[channel] {
            let at = state.at[usize::from(user.process)];
            if user.behind.iter().any(|behind| *behind > at) {
                add(user.process.into());
            }
        }
        for (process, position, slot, _) in &self.by_slot {
            let content = state.slots[*slot as usize];
            let is_ahead = *position >= state.at[usize::from(*process)];
            if is_ahead && (content == u32::MAX || content as usize == channel) {
                add((*process).into());
            }
        }
        found
    }

    /// The steps that a process can take now, each with a rank: what is likely to be right first.
    fn add_choices(&self, state: &State, process: usize, choices: &mut Vec<(u8, Stitch)>) {
        let Some(operation) = self.current(state, process) else { return };
        let Some(channel) = self.resolve(state, operation.channel) else { return };
        let actor = (process as u16, state.at[process]);
        let mut add = |rank, partner| choices.push((rank, Stitch { actor, partner }));
        let found = &state.channels[channel];
        let me = one(process);
        match operation.kind {
            Kind::Put(value) if found.phase == Phase::Open => {
                let content = Seen::from(value);
                if self.scripts.channels[channel] == Capacity::Rendezvous {
                    for partner in self.receivers(state, channel, process, content) {
                        add(0, Some((partner as u16, state.at[partner])));
                    }
                } else if self.has_room(state, channel)
                    && self.is_wanted_next(state, channel, content) != Some(false)
                    && self.is_wanted_at_all(state, channel, content)
                {
                    // Messages that somebody waits for come before those that fill a buffer.
                    let is_awaited = found.messages.is_empty()
                        && self.receivers(state, channel, process, content).next().is_some();
                    add(if is_awaited { 1 } else { 2 }, None);
                }
            }
            Kind::Get(seen, _)
                if found.messages.first().is_some_and(|first| Seen::from(*first) == seen) =>
            {
                add(0, None);
            }
            Kind::Close if found.phase == Phase::Open => {
                let is_early = self.others(state, channel, PUT, me).any(|user| {
                    let required = self.scripts.processes[usize::from(user.process)].required;
                    self.ahead(state, usize::from(user.process))
                        .take(required.saturating_sub(state.at[usize::from(user.process)].into()))
                        .any(|other| {
                            matches!(other.kind, Kind::Put(_))
                                && other.channel.position() == channel
                        })
                });
                if !is_early || self.may(state, channel, ABANDON, 0) {
                    add(3, None);
                }
            }
            Kind::Abandon if found.phase != Phase::Abandoned => {
                let is_early = self.others(state, channel, GET, me).next().is_some();
                if !is_early {
                    add(3, None);
                }
            }
            _ => {}
        }
    }
}
