//! Weaving: which operations must be performed now, if the scripts can be woven at all. Each rule
//! says why doing it early never hurts.

use crate::explain::observation::Seen;
use crate::explain::scripts::Kind;
use crate::explain::weave::{
    ABANDON, CLOSE, GET, GET_CLOSED, Loom, PUT, State, Stitch, WATCH, one,
};
use crate::language::ast::Capacity;
use crate::machine::object::Phase;
use crate::machine::value::Value;

/// What can be said of the next operation of a process.
enum Move {
    /// It is to be performed now.
    Forced(Option<u16>),
    /// It may have to wait.
    Open,
    /// It can never be performed any more.
    Dead,
}

impl Loom<'_> {
    /// Performs all operations that leave no choice; `false` if something can never be performed.
    pub(crate) fn force(&mut self, state: &mut State) -> bool {
        let processes = state.at.len();
        let mut idle = 0;
        let mut process = 0;
        while idle < processes {
            match self.forced(state, process) {
                Move::Dead => return false,
                Move::Open => idle += 1,
                Move::Forced(partner) => {
                    let actor = (process as u16, state.at[process]);
                    let partner = partner.map(|other| (other, state.at[usize::from(other)]));
                    self.perform(state, Stitch { actor, partner });
                    idle = 0;
                    continue;
                }
            }
            process = if process + 1 == processes { 0 } else { process + 1 };
        }
        true
    }

    /// Must the next operation be performed, if this is to be explained?
    fn forced(&self, state: &State, process: usize) -> Move {
        let Some(operation) = self.current(state, process) else { return Move::Open };
        match operation.kind {
            // These change nothing but their process.
            Kind::Pass | Kind::Spawn(_) => return Move::Forced(None),
            Kind::Default(from, to) => {
                let watched = &self.scripts.watched[from as usize..to as usize];
                let is_ready = watched.iter().any(|(channel, puts)| {
                    let Some(channel) = self.resolve(state, *channel) else { return true };
                    let found = &state.channels[channel];
                    match puts {
                        true => found.phase != Phase::Open || self.has_room(state, channel),
                        false => found.phase != Phase::Open || !found.messages.is_empty(),
                    }
                });
                return if is_ready { Move::Open } else { Move::Forced(None) };
            }
            _ => {}
        }
        let Some(channel) = self.resolve(state, operation.channel) else { return Move::Dead };
        let me = one(process);
        let found = &state.channels[channel];
        let is_watched = || self.may(state, channel, WATCH, me);
        match operation.kind {
            Kind::Put(value) => self.forced_put(state, process, channel, value),
            Kind::Get(seen, _) => self.forced_get(state, process, channel, seen),
            // Changes nothing but its process.
            Kind::GetClosed => match (found.phase, found.messages.is_empty()) {
                (Phase::Closed, true) => Move::Forced(None),
                (Phase::Abandoned, _) => Move::Dead,
                _ => Move::Open,
            },
            // Nobody can put any more anyway, and nobody can tell.
            Kind::Close => {
                let is_contested = [PUT, CLOSE, ABANDON]
                    .into_iter()
                    .any(|kind| self.may(state, channel, kind, me));
                match found.phase {
                    Phase::Closed => Move::Open,
                    Phase::Open if is_contested || is_watched() => Move::Open,
                    // On an abandoned channel it changes nothing.
                    Phase::Open | Phase::Abandoned => Move::Forced(None),
                }
            }
            // Nobody will receive any more; what is put before is lost like what is put after.
            Kind::Abandon => {
                let is_contested = [GET, GET_CLOSED, CLOSE, ABANDON]
                    .into_iter()
                    .any(|kind| self.may(state, channel, kind, me));
                match found.phase {
                    Phase::Abandoned => Move::Open,
                    _ if is_contested || is_watched() => Move::Open,
                    _ => Move::Forced(None),
                }
            }
            Kind::Default(..) | Kind::Pass | Kind::Spawn(_) => Move::Open,
        }
    }

    fn forced_put(&self, state: &State, process: usize, channel: usize, value: Value) -> Move {
        let me = one(process);
        let content = Seen::from(value);
        match state.channels[channel].phase {
            // It is lost, which changes nothing.
            Phase::Abandoned => return Move::Forced(None),
            Phase::Closed => return Move::Open,
            Phase::Open => {}
        }
        if self.scripts.channels[channel] == Capacity::Rendezvous {
            // The only one who sends this meets the only one who receives it.
            let mut partners = self.receivers(state, channel, process, content);
            let Some(partner) = partners.next() else { return Move::Open };
            let both = me | one(partner);
            let is_settled = !self.may_with(state, channel, PUT, content, both)
                && !self.may_with(state, channel, GET, content, both);
            return if is_settled { Move::Forced(Some(partner as u16)) } else { Move::Open };
        }
        if !self.has_room(state, channel) || self.may(state, channel, WATCH, me) {
            return Move::Open;
        }
        // A put that need not have happened must not get in the way of who finds the channel empty.
        let is_required = usize::from(state.at[process]) < self.scripts.processes[process].required;
        if !is_required && self.may(state, channel, GET_CLOSED, 0) {
            return Move::Open;
        }
        // The only sender keeps its order. Where there are others: if a message like this must come
        // next and nobody else has one; or if they all are alike and there is room for all.
        let is_settled = !self.may(state, channel, PUT, me)
            || (self.is_wanted_next(state, channel, content) == Some(true)
                && !self.may_with(state, channel, PUT, content, me))
            || self.has_room_for_all(state, channel, content);
        if is_settled { Move::Forced(None) } else { Move::Open }
    }

    fn forced_get(&self, state: &State, process: usize, channel: usize, content: Seen) -> Move {
        let me = one(process);
        let found = &state.channels[channel];
        let Some(first) = found.messages.first() else {
            let is_over = found.phase != Phase::Open;
            return if is_over { Move::Dead } else { Move::Open };
        };
        let is_shared = || self.may(state, channel, GET, me);
        if Seen::from(*first) != content {
            return if is_shared() { Move::Open } else { Move::Dead };
        }
        if self.may(state, channel, WATCH, me) {
            return Move::Open;
        }
        // The only receiver, or the only one of a message like the first.
        let is_settled = !is_shared() || !self.may_with(state, channel, GET, content, me);
        if is_settled { Move::Forced(None) } else { Move::Open }
    }
}
