//! Persistent sets: which of the possible steps suffice in a state.
//!
//! Take a set of processes Q such that nobody outside Q will ever do anything that interferes with
//! what the members of Q are ready to do *now*. Then the possible steps of Q's members form a
//! persistent set: outsiders can neither enable, disable nor reorder them. Q is found by closure
//! from one process; the best Q over all starting points is taken. What an outsider may ever do
//! comes from the data-flow analysis (`flow`).

use smallvec::SmallVec;

use crate::language::index::{Idx, ObjectId, ProcId};
use crate::machine::action::Action;
use crate::machine::flow::Uses;
use crate::machine::menu::{Menu, Offer, OfferKind};
use crate::machine::object::{Object, Phase};
use crate::machine::program::{Cache, Machine, State};

/// A set of processes.
#[derive(Clone, Default, PartialEq)]
struct ProcSet(SmallVec<[u64; 2]>);

impl ProcSet {
    fn insert(&mut self, process: ProcId) -> bool {
        let (word, bit) = (process.position() / 64, 1 << (process.position() % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let fresh = self.0[word] & bit == 0;
        self.0[word] |= bit;
        fresh
    }

    fn contains(&self, process: ProcId) -> bool {
        let (word, bit) = (process.position() / 64, 1 << (process.position() % 64));
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

impl Machine {
    /// Fills `chosen` with the positions of a persistent set of the enabled steps.
    pub(crate) fn choose_persistent(
        &self,
        state: &State,
        enabled: &[Action],
        chosen: &mut Vec<usize>,
    ) {
        chosen.clear();
        chosen.extend(0..enabled.len());
        if enabled.len() <= 1 {
            return;
        }
        let cache = self.warm_cache(state);
        let crowd = Crowd::new(&cache, state);
        let mut tried = ProcSet::default();
        for action in enabled {
            if chosen.len() == 1 {
                return;
            }
            if !tried.insert(action.actor) {
                continue;
            }
            let members = crowd.closure(action.actor);
            let inside = |action: &Action| members.contains(action.actor);
            let count = enabled.iter().filter(|action| inside(action)).count();
            if count < chosen.len() {
                chosen.clear();
                chosen.extend((0..enabled.len()).filter(|position| inside(&enabled[*position])));
            }
        }
    }
}

/// The processes of a state that can still do something.
struct Crowd<'a> {
    cache: &'a Cache,
    state: &'a State,
    active: SmallVec<[(ProcId, &'a Menu); 24]>,
}

impl<'a> Crowd<'a> {
    fn new(cache: &'a Cache, state: &'a State) -> Self {
        let menus =
            state.processes().map(|(process, number)| (process, cache.menu(process, number)));
        let active = menus.filter(|(_, menu)| !menu.offers.is_empty()).collect();
        Crowd { cache, state, active }
    }

    /// The smallest set around a process that outsiders cannot interfere with.
    fn closure(&self, start: ProcId) -> ProcSet {
        let mut members = ProcSet::default();
        members.insert(start);
        loop {
            // Whether an outsider is a threat depends on who else is outside, so everybody is
            // asked again whenever somebody has come in.
            let mut grown = false;
            for (member, menu) in &self.active {
                if !members.contains(*member) {
                    continue;
                }
                for offer in &menu.offers {
                    let Some(object) = offer.object else { continue };
                    let sensitive = self.sensitive(offer, object);
                    for (process, other) in &self.active {
                        if !members.contains(*process)
                            && self.threatens(&members, *process, other, object, sensitive)
                        {
                            members.insert(*process);
                            grown = true;
                        }
                    }
                }
            }
            if !grown {
                return members;
            }
        }
    }

    /// What others must not do with the object while this offer stands.
    fn sensitive(&self, offer: &Offer, object: ObjectId) -> Uses {
        match offer.kind {
            // Two senders on a rendezvous do not disturb each other: their receivers do.
            OfferKind::Put if self.is_open_rendezvous(object) => Uses::GET.with(Uses::CLOSE),
            OfferKind::Get if self.is_open_rendezvous(object) => Uses::PUT.with(Uses::CLOSE),
            OfferKind::Put | OfferKind::Get | OfferKind::Close | OfferKind::Abandon => {
                Uses::PUT.with(Uses::GET).with(Uses::CLOSE)
            }
            _ => Uses::LOCK,
        }
    }

    fn is_open_rendezvous(&self, object: ObjectId) -> bool {
        match self.cache.object(object, self.state.object(object)) {
            Object::Channel(channel) => channel.is_rendezvous() && channel.phase == Phase::Open,
            _ => false,
        }
    }

    /// May an outsider do one of these things with the object before any member moves?
    fn threatens(
        &self,
        members: &ProcSet,
        process: ProcId,
        menu: &Menu,
        object: ObjectId,
        sensitive: Uses,
    ) -> bool {
        if menu.receives_objects {
            return true;
        }
        let known = menu.uses.iter().find(|(known, _)| *known == object);
        let Some((_, uses)) = known.filter(|(_, uses)| uses.meets(sensitive)) else {
            return false;
        };
        if uses.meets(sensitive) && uses.meets(Uses::CLOSE.with(Uses::LOCK)) {
            return true;
        }
        [Uses::PUT, Uses::GET].into_iter().any(|op| {
            let threat = uses.meets(op) && sensitive.meets(op);
            let mut guards = menu.before(object, op).iter();
            threat && !guards.any(|(guard, op)| self.is_barred(members, process, *guard, *op))
        })
    }

    /// Is the operation impossible for the outsider until a member moves? It is when it needs a
    /// partner, no other outsider can ever be that, and no member is ready to be.
    fn is_barred(&self, members: &ProcSet, process: ProcId, object: ObjectId, op: Uses) -> bool {
        let (partner, offer) =
            if op == Uses::PUT { (Uses::GET, OfferKind::Get) } else { (Uses::PUT, OfferKind::Put) };
        self.is_open_rendezvous(object)
            && self.active.iter().all(|(other, menu)| {
                if members.contains(*other) {
                    let ready = |ready: &Offer| ready.kind == offer && ready.object == Some(object);
                    return !menu.offers.iter().any(ready);
                }
                let uses = menu.uses.iter().find(|(known, _)| *known == object);
                let uses = uses.map_or(Uses::NONE, |(_, uses)| *uses);
                // A process may be helped by those it spawns, never by itself.
                let helps = uses.meets(partner) && (*other != process || menu.creates);
                !menu.receives_objects && !helps && !uses.meets(Uses::CLOSE)
            })
    }
}
