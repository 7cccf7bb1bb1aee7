//! `mutex-safe`: no unlock of what is not locked, and no process that waits forever for a lock that
//! it holds itself.
//!
//! A state does not say who holds a lock, and different ways to one state may differ in that. So the
//! shortest way is tried first, and then all ways at once: for each state, what the process may
//! hold there.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use strait_calculus::{Action, ActionKind, ObjectId, ProcId, Wish};

use crate::check::Subject;
use crate::checks::faults::lock_panics;
use crate::checks::live::{each_stuck, first_stuck};
use crate::doing::{Doing, Wait};
use crate::model::Model;
use crate::verdict::{Verdict, Violation};

/// So many shortest ways are tried before all ways are looked at.
const WAYS: usize = 1_000;

/// A process that waits forever for a lock.
#[derive(Clone, Copy)]
struct Candidate {
    state: u32,
    process: ProcId,
    lock: ObjectId,
}

/// Is a lock misused?
pub fn check(subject: &Subject<'_>) -> Verdict {
    if let Some(verdict) = lock_panics(subject) {
        return verdict;
    }
    let model = subject.model;
    let mut candidates: Vec<Candidate> = Vec::new();
    each_stuck(subject, |stuck| {
        let wants = stuck.waiting.wants.iter();
        let locks = wants.filter(|want| matches!(want.wish, Wish::Lock | Wish::ReadLock));
        if let Some(lock) = locks.filter_map(|want| want.object).next() {
            candidates.push(Candidate { state: stuck.state, process: stuck.waiting.process, lock });
        }
        true
    });
    let on_shortest_way = |one: &&Candidate| holds(&model.way(one.state), one.process, one.lock);
    let mut few = candidates.iter().take(WAYS).take_while(|_| !model.watch.is_over());
    if let Some(found) = few.find(on_shortest_way) {
        let state = first_stuck(model, found.process).unwrap_or(found.state);
        return own_lock(subject, found, model.way(state));
    }
    let mut looked_at: HashMap<(ProcId, ObjectId), Vec<u8>, FxBuildHasher> = HashMap::default();
    for one in &candidates {
        let key = (one.process, one.lock);
        let may_hold = looked_at.entry(key).or_insert_with(|| holdings(model, key.0, key.1));
        if may_hold[one.state as usize] & !Held::default().bit() != 0 && !model.watch.is_over() {
            return own_lock(subject, one, way_holding(model, one));
        }
    }
    subject.nothing_found()
}

fn own_lock(subject: &Subject<'_>, found: &Candidate, way: Vec<Action>) -> Verdict {
    let waiting = subject.model.machine.waiting(&subject.model.state(found.state));
    let own = waiting.iter().filter(|waiting| waiting.process == found.process).collect();
    let mut culprits = subject.culprits(found.state, own);
    for culprit in &mut culprits {
        culprit.doing = Doing::Waits(Wait::OwnLock(subject.name(found.lock)));
    }
    subject.broken_after(way, Violation::OwnLock, culprits)
}

/// How a process holds a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Held {
    /// Did it take the lock last, of those who take it for themselves?
    owns: bool,
    /// How often it reads under it, up to [`MOST`].
    reading: u8,
}

/// Reading more often than this is not told apart.
const MOST: u8 = 3;

impl Held {
    /// All holdings fit into a byte.
    fn bit(self) -> u8 {
        1 << (self.reading + if self.owns { MOST + 1 } else { 0 })
    }

    fn all() -> impl Iterator<Item = Held> {
        (0..=MOST).flat_map(|reading| [false, true].map(|owns| Held { owns, reading }))
    }

    /// After a step. A lock belongs to the process that took it last.
    fn after(mut self, action: &Action, process: ProcId, object: ObjectId) -> Held {
        if action.object != Some(object) {
            return self;
        }
        match action.kind {
            ActionKind::Lock => self.owns = action.actor == process,
            ActionKind::Unlock => self.owns = false,
            ActionKind::ReadLock if action.actor == process => {
                self.reading = (self.reading + 1).min(MOST);
            }
            ActionKind::ReadUnlock if action.actor == process => {
                self.reading = self.reading.saturating_sub(1);
            }
            _ => {}
        }
        self
    }
}

/// Does this process hold the lock at the end of the way?
fn holds(way: &[Action], process: ProcId, object: ObjectId) -> bool {
    let start = Held::default();
    way.iter().fold(start, |held, action| held.after(action, process, object)) != start
}

/// For each state, all holdings of the process on any way to it, as bits.
fn holdings(model: &Model<'_>, process: ProcId, object: ObjectId) -> Vec<u8> {
    let actions = model.space.actions();
    let mut found = vec![0u8; model.space.states() as usize];
    found[0] = Held::default().bit();
    let mut work = vec![0u32];
    while let Some(state) = work.pop().filter(|_| !model.watch.is_over()) {
        let here = found[state as usize];
        for (label, target) in model.space.steps(state) {
            let action = &actions[label as usize];
            let ours = Held::all().filter(|held| here & held.bit() != 0);
            let after = ours.fold(0, |bits, held| bits | held.after(action, process, object).bit());
            if found[target as usize] | after != found[target as usize] {
                found[target as usize] |= after;
                work.push(target);
            }
        }
    }
    found
}

/// A shortest way to a state on which the process holds the lock in the end.
fn way_holding(model: &Model<'_>, goal: &Candidate) -> Vec<Action> {
    type Place = (u32, Held);
    let actions = model.space.actions();
    let start: Place = (0, Held::default());
    let mut from: HashMap<Place, (Place, u32), FxBuildHasher> = HashMap::default();
    let mut queue = VecDeque::from([start]);
    while let Some(place) = queue.pop_front().filter(|_| !model.watch.is_over()) {
        if place.0 == goal.state && place.1 != Held::default() {
            let mut way = Vec::new();
            let mut current = place;
            while let Some((before, label)) = from.get(&current).filter(|_| current != start) {
                way.push(actions[*label as usize]);
                current = *before;
            }
            way.reverse();
            return way;
        }
        for (label, target) in model.space.steps(place.0) {
            let next = (target, place.1.after(&actions[label as usize], goal.process, goal.lock));
            if next != start && !from.contains_key(&next) {
                from.insert(next, (place, label));
                queue.push_back(next);
            }
        }
    }
    model.way(goal.state)
}
