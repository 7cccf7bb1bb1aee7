//! Which steps are possible in a state: the offers of all processes against the states of the
//! objects (the parallel rules of Stiévenart and Madsen, OOPSLA 2020, Fig. 6, and of Lange et al., ICSE 2018, Fig. 5, for buffers).

use smallvec::SmallVec;

use crate::language::ast::SyncOp;
use crate::language::index::{ObjectId, ProcId};
use crate::machine::action::{Action, ActionKind, Fault};
use crate::machine::menu::{Menu, Offer, OfferKind};
use crate::machine::object::{Channel, Object, Phase};
use crate::machine::program::{Cache, Machine, State};
use crate::machine::value::Value;

impl Machine {
    /// Fills `actions` with all possible steps, in the order of the processes and their cases.
    /// Tells whether any of them may spawn processes.
    pub(crate) fn collect_enabled(&self, state: &State, actions: &mut Vec<Action>) -> bool {
        actions.clear();
        if let Some(births) = self.enabled_in_compact(state, actions) {
            return births;
        }
        let cache = self.warm_cache(state);
        let mut births = false;
        let mut receivers = Receivers::new();
        let mut menus = SmallVec::<[(ProcId, u32, &Menu); 32]>::new();
        for (process, number) in state.processes() {
            let menu = cache.menu(process, number);
            births |= menu.creates;
            for offer in &menu.offers {
                if let (OfferKind::Get, Some(object)) = (offer.kind, offer.object) {
                    receivers.push((object, process, offer.case));
                }
            }
            menus.push((process, number, menu));
        }
        for &(process, number, menu) in &menus {
            for offer in &menu.offers {
                // Most offers are for a rendezvous.
                if let Some(object) = offer.object.filter(|_| offer.meets_at_first)
                    && state.object(object) == 0
                {
                    if offer.kind == OfferKind::Put {
                        meet(process, offer, object, &receivers, actions);
                        continue;
                    }
                    if offer.kind == OfferKind::Get {
                        continue;
                    }
                }
                match offer.kind {
                    OfferKind::Put => puts(&cache, state, process, offer, &receivers, actions),
                    OfferKind::Default => {
                        if !menu.offers.iter().any(|other| rules_out_default(&cache, state, other))
                        {
                            let action = alone(ActionKind::Default, process, offer);
                            actions.push(Action { local: number, ..action });
                        }
                    }
                    _ => {
                        if let Some(kind) = single(&cache, state, offer) {
                            actions.push(alone(kind, process, offer));
                        }
                    }
                }
            }
        }
        births
    }
}

/// Who waits for messages: on which channel, which process, in which case.
type Receivers = SmallVec<[(ObjectId, ProcId, u16); 32]>;

pub(crate) fn alone(kind: ActionKind, actor: ProcId, offer: &Offer) -> Action {
    let (case, object) = (offer.case, offer.object);
    Action { kind, actor, case, partner: None, object, born: [0, 0], local: 0 }
}

fn object_of<'cache>(cache: &'cache Cache, state: &State, object: ObjectId) -> &'cache Object {
    cache.object(object, state.object(object))
}

/// All ways in which an offer to send can be taken up.
fn puts(
    cache: &Cache,
    state: &State,
    actor: ProcId,
    offer: &Offer,
    receivers: &Receivers,
    actions: &mut Vec<Action>,
) {
    let Some(object) = offer.object else { return };
    let Object::Channel(channel) = object_of(cache, state, object) else {
        return;
    };
    match channel.phase {
        Phase::Closed => actions.push(alone(ActionKind::Fault(Fault::SendOnClosed), actor, offer)),
        Phase::Abandoned => actions.push(alone(ActionKind::PutLost, actor, offer)),
        Phase::Open if channel.is_rendezvous() => meet(actor, offer, object, receivers, actions),
        Phase::Open if channel.has_room() => actions.push(alone(ActionKind::Put, actor, offer)),
        Phase::Open => {}
    }
}

/// All receivers that an offer to send on a rendezvous channel can meet.
fn meet(
    actor: ProcId,
    offer: &Offer,
    object: ObjectId,
    receivers: &Receivers,
    actions: &mut Vec<Action>,
) {
    for (channel, process, case) in receivers {
        if *channel == object && *process != actor {
            let partner = Some((*process, *case));
            actions.push(Action { partner, ..alone(ActionKind::Meet, actor, offer) });
        }
    }
}

/// The step that an offer makes possible by itself, if any.
fn single(cache: &Cache, state: &State, offer: &Offer) -> Option<ActionKind> {
    match offer.kind {
        OfferKind::Timeout => return Some(ActionKind::Timeout),
        OfferKind::Branch => return Some(ActionKind::Branch),
        _ => {}
    }
    match (offer.kind, object_of(cache, state, offer.object?)) {
        (OfferKind::Get, Object::Channel(channel)) => get(channel),
        (OfferKind::Close, Object::Channel(channel)) => Some(match channel.phase {
            Phase::Closed => ActionKind::Fault(Fault::CloseOfClosed),
            Phase::Open | Phase::Abandoned => ActionKind::Close,
        }),
        (OfferKind::Abandon, Object::Channel(channel)) => Some(match channel.phase {
            Phase::Abandoned => ActionKind::Fault(Fault::AbandonOfAbandoned),
            Phase::Open | Phase::Closed => ActionKind::Abandon,
        }),
        (OfferKind::Sync(op), Object::Mutex(locked)) => match (op, locked) {
            (SyncOp::Lock, false) => Some(ActionKind::Lock),
            (SyncOp::Unlock, true) => Some(ActionKind::Unlock),
            (SyncOp::Unlock, false) => Some(ActionKind::Fault(Fault::UnlockOfUnlocked)),
            _ => None,
        },
        (OfferKind::Announce, Object::RwMutex { announced, .. }) => {
            (!announced).then_some(ActionKind::Announce)
        }
        (OfferKind::Sync(op), Object::RwMutex { readers, announced, writing }) => {
            rwmutex(op, *readers, *announced, *writing)
        }
        (OfferKind::Sync(SyncOp::Wait), Object::WaitGroup(counter)) => {
            (*counter == 0).then_some(ActionKind::Wait)
        }
        (OfferKind::Add, Object::WaitGroup(counter)) => {
            let Value::Int(amount) = offer.value else {
                return None;
            };
            Some(if counter.saturating_add(amount) < 0 {
                ActionKind::Fault(Fault::NegativeCounter)
            } else {
                ActionKind::Add
            })
        }
        _ => None,
    }
}

fn get(channel: &Channel) -> Option<ActionKind> {
    match channel.phase {
        Phase::Abandoned => Some(ActionKind::Fault(Fault::GetOnAbandoned)),
        _ if !channel.messages.is_empty() => Some(ActionKind::Get),
        Phase::Closed => Some(ActionKind::GetClosed),
        Phase::Open => None,
    }
}

/// A writer that has announced itself keeps readers out, and waits for those inside.
fn rwmutex(op: SyncOp, readers: u32, announced: bool, writing: bool) -> Option<ActionKind> {
    match op {
        SyncOp::Lock => (readers == 0 && !writing).then_some(ActionKind::Lock),
        SyncOp::Unlock if writing => Some(ActionKind::Unlock),
        SyncOp::Unlock => Some(ActionKind::Fault(Fault::UnlockOfUnlockedRw)),
        SyncOp::RLock => (!announced).then_some(ActionKind::ReadLock),
        SyncOp::RUnlock if readers > 0 => Some(ActionKind::ReadUnlock),
        SyncOp::RUnlock => Some(ActionKind::Fault(Fault::RUnlockOfUnlocked)),
        SyncOp::Done | SyncOp::Wait => None,
    }
}

/// Is this case surely ready, so that the default cannot be taken? A partner for a rendezvous may
/// always be just about to arrive, so that never counts.
fn rules_out_default(cache: &Cache, state: &State, offer: &Offer) -> bool {
    let Some(object) = offer.object else {
        return false;
    };
    let Object::Channel(channel) = object_of(cache, state, object) else {
        return false;
    };
    match offer.kind {
        OfferKind::Put => channel.phase != Phase::Open || channel.has_room(),
        OfferKind::Get => get(channel).is_some(),
        _ => false,
    }
}
