//! The quick way through compact states: those in which every process is in one of its first seven states and
//! every object in its first one. Such a state is a row of half bytes, and most states of most programs are
//! of this kind. In: a compact state. Out: its steps, and the half bytes that a step changes. What is looked
//! up lies side by side in memory: by process, eight places each.

use smallvec::SmallVec;
use strait_explore::{Change, Changes};

use crate::language::index::{Idx, ObjectId, ProcId};
use crate::machine::action::{Action, ActionKind};
use crate::machine::enabled::alone;
use crate::machine::menu::{Menu, Offer, OfferKind};
use crate::machine::moves::Stimulus;
use crate::machine::program::{Machine, State};
use crate::machine::value::Value;

/// How many processes a compact state has at most.
pub(crate) const PROCESSES: usize = 64;
/// The numbers of local states that fit into half a byte, whose fourth bit says that more follows.
pub(crate) const STATES: u32 = 8;

/// Can a state whose processes are in states with these bits be compact?
pub(crate) fn is_compact(processes: usize, all_bits: u32, objects: usize) -> bool {
    processes < PROCESSES && all_bits < STATES && objects == 0
}

/// What is known of local states with small numbers.
#[derive(Debug, Default)]
pub(crate) struct CompactTables {
    menus: Vec<Option<SmallMenu>>,
    moves: Vec<SmallVec<[SmallMove; 2]>>,
}

/// The menu of a local state in which steps depend on the local states of processes alone.
#[derive(Debug)]
struct SmallMenu {
    offers: SmallVec<[Offer; 2]>,
    /// Are all offers for a rendezvous, or branches of a choice?
    is_simple: bool,
    creates: bool,
}

/// What a stimulus makes of a local state.
#[derive(Clone, Copy, Debug)]
struct SmallMove {
    stimulus: Stimulus,
    /// The number of the new state, if nothing else changes and it is small.
    next: Option<u8>,
}

impl SmallMenu {
    fn new(menu: &Menu) -> SmallMenu {
        let is_simple = |offer: &Offer| match offer.kind {
            OfferKind::Put | OfferKind::Get => offer.meets_at_first,
            OfferKind::Branch => true,
            _ => false,
        };
        SmallMenu {
            is_simple: menu.offers.iter().all(is_simple),
            offers: menu.offers.iter().copied().collect(),
            creates: menu.creates,
        }
    }
}

fn place(process: ProcId, number: u32) -> usize {
    process.position() * STATES as usize + number as usize
}

/// A place in a table that grows as needed.
fn entry<T: Default>(table: &mut Vec<T>, place: usize) -> &mut T {
    if table.len() <= place {
        table.resize_with(place + 1, T::default);
    }
    &mut table[place]
}

impl CompactTables {
    pub(crate) fn learn_menu(&mut self, process: ProcId, number: u32, menu: &Menu) {
        if process.position() < PROCESSES && number < STATES {
            *entry(&mut self.menus, place(process, number)) = Some(SmallMenu::new(menu));
        }
    }

    #[inline]
    fn menu(&self, process: ProcId, number: u32) -> Option<&SmallMenu> {
        self.menus.get(place(process, number))?.as_ref()
    }

    /// The outer `None` says that this is not known yet, the inner one that the step does more.
    #[inline]
    fn next(&self, process: ProcId, number: u32, stimulus: Stimulus) -> Option<Option<u8>> {
        let moves = self.moves.get(place(process, number))?;
        moves.iter().find(|known| known.stimulus == stimulus).map(|known| known.next)
    }

    /// Fills `actions` with all possible steps of a compact state, in the order of the processes and their
    /// cases, and says whether any of them may spawn processes. `None` if that takes more than is known here.
    fn enabled(&self, state: &State, actions: &mut Vec<Action>) -> Option<bool> {
        let mut births = false;
        let mut menus = SmallVec::<[(ProcId, &SmallMenu); 32]>::new();
        for (process, number) in state.processes() {
            let menu = self.menu(process, number).filter(|menu| menu.is_simple)?;
            births |= menu.creates;
            menus.push((process, menu));
        }
        let receivers = Receivers::new(&menus);
        for &(process, menu) in &menus {
            for offer in &menu.offers {
                match (offer.kind, offer.object) {
                    (OfferKind::Put, Some(object)) => {
                        let meeting = alone(ActionKind::Meet, process, offer);
                        let others = receivers.of(object).filter(|(other, _)| *other != process);
                        actions.extend(
                            others.map(|partner| Action { partner: Some(partner), ..meeting }),
                        );
                    }
                    (OfferKind::Branch, _) => {
                        actions.push(alone(ActionKind::Branch, process, offer));
                    }
                    _ => {}
                }
            }
        }
        Some(births)
    }
}

/// Who waits for messages, in lists by channel.
struct Receivers {
    /// For each channel the first receiver, counted from one; channels with the same last bits share a list.
    first: [u16; Receivers::LISTS],
    all: SmallVec<[Receiver; 32]>,
}

struct Receiver {
    channel: ObjectId,
    process: ProcId,
    case: u16,
    /// The next one of the list, counted from one.
    next: u16,
}

impl Receivers {
    const LISTS: usize = 64;

    fn new(menus: &[(ProcId, &SmallMenu)]) -> Receivers {
        let mut receivers = Receivers { first: [0; Receivers::LISTS], all: SmallVec::new() };
        // Each list begins with the receiver that was added last, which is to be the first process.
        for (process, menu) in menus.iter().rev() {
            for offer in menu.offers.iter().rev() {
                if let (OfferKind::Get, Some(channel)) = (offer.kind, offer.object) {
                    let list = &mut receivers.first[channel.position() % Receivers::LISTS];
                    let next = std::mem::replace(list, receivers.all.len() as u16 + 1);
                    receivers.all.push(Receiver {
                        channel,
                        process: *process,
                        case: offer.case,
                        next,
                    });
                }
            }
        }
        receivers
    }

    /// The receivers at a channel, with their cases, in the order of processes and cases.
    fn of(&self, channel: ObjectId) -> impl Iterator<Item = (ProcId, u16)> + '_ {
        let mut next = self.first[channel.position() % Receivers::LISTS];
        let list = std::iter::from_fn(move || {
            let receiver = self.all.get(usize::from(next).checked_sub(1)?)?;
            next = receiver.next;
            Some(receiver)
        });
        list.filter(move |receiver| receiver.channel == channel)
            .map(|receiver| (receiver.process, receiver.case))
    }
}

impl Machine {
    /// See [`CompactTables::enabled`]; `None` for other states, too.
    pub(crate) fn enabled_in_compact(
        &self,
        state: &State,
        actions: &mut Vec<Action>,
    ) -> Option<bool> {
        if !state.compact {
            return None;
        }
        let births = self.cache().compact.enabled(state, actions);
        if births.is_none() {
            actions.clear();
        }
        births
    }

    /// The bytes in which the form of a successor differs, when the step does no more than to change one or two
    /// half bytes of a compact state.
    pub(crate) fn collect_changes(
        &self,
        state: &State,
        action: &Action,
        changes: &mut Changes,
    ) -> Option<()> {
        let changes_object = action.object.is_some() && action.kind != ActionKind::Meet;
        if !state.compact || changes_object || self.shared.symmetry {
            return None;
        }
        // The number of processes comes first.
        let first = if state.procs.len() < STATES as usize { 1 } else { 2 };
        let mut change = |process: ProcId, stimulus| {
            let number = state.proc(process);
            let known = self.cache().compact.next(process, number, stimulus);
            let next = known.unwrap_or_else(|| self.learn_move(process, number, stimulus))?;
            let position = first + process.position();
            let bits = (number as u8 ^ next) << (4 * (position % 2));
            changes.push(Change { byte: position / 2, bits });
            Some(())
        };
        let message = match action.partner {
            Some(_) => self.offered(action, state.proc(action.actor))?,
            None => Value::Unit,
        };
        change(action.actor, action.stimulus(message))?;
        match action.partner {
            Some((partner, case)) => change(partner, Stimulus::Receive(case, message)),
            None => Some(()),
        }
    }

    /// The message of a rendezvous.
    fn offered(&self, meeting: &Action, number: u32) -> Option<Value> {
        let cache = self.warm_cache_of(meeting.actor, number);
        let offers = &cache.compact.menu(meeting.actor, number)?.offers;
        let sends = |offer: &&Offer| offer.case == meeting.case && offer.kind == OfferKind::Put;
        offers.iter().find(sends).map(|offer| offer.value)
    }

    /// Computes what a stimulus makes of a local state, and remembers it.
    fn learn_move(&self, process: ProcId, number: u32, stimulus: Stimulus) -> Option<u8> {
        let next = self.with_move(process, number, stimulus, |found| {
            let is_plain = found.procs.is_empty() && found.objects.is_empty();
            (is_plain && found.local < STATES).then_some(found.local as u8)
        });
        let mut cache = self.cache_mut();
        entry(&mut cache.compact.moves, place(process, number)).push(SmallMove { stimulus, next });
        next
    }
}
