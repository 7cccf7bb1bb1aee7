//! `live` (ψ_l): a process that waits can go on in some continuation.
//!
//! A process that can never go on waits in every state from then on, until the execution is in a
//! component without a way out; and it does not move in there. So one state of each such component
//! is looked at. A panic ends the program, and no process waits any more.
//!
//! If `main` waits in an empty select in the end, the program is a service, and a process that waits
//! there for its next message is idle.

use std::collections::BTreeMap;

use strait_calculus::{Pc, ProcId, Waiting, Wish};

use crate::check::Subject;
use crate::model::Model;
use crate::verdict::{Culprit, Verdict, Violation};

/// A process that waits forever from some state on.
pub(crate) struct Stuck {
    /// A state in which it does.
    pub(crate) state: u32,
    /// How it stands there.
    pub(crate) waiting: Waiting,
}

/// Is there a process that waits forever? The way leads to where it begins, or on to where all
/// processes are in the end if that is not much further: that shows why.
pub fn check(subject: &Subject<'_>) -> Verdict {
    let mut places: BTreeMap<Pc, Stuck> = BTreeMap::new();
    each_stuck(subject, |stuck| {
        places.entry(stuck.waiting.pc).or_insert(stuck);
        true
    });
    let mut found: Vec<Stuck> = places.into_values().collect();
    found.sort_by_key(|stuck| stuck.state);
    let Some(first) = found.first() else { return subject.nothing_found() };
    let model = subject.model;
    let begins = first_stuck(model, first.waiting.process).unwrap_or(first.state);
    let (short, long) = (model.space.way(begins).len(), model.space.way(first.state).len());
    let state = if long <= 2 * short + 6 { first.state } else { begins };
    let mut culprits: Vec<Culprit> = Vec::new();
    for stuck in &found {
        culprits.extend(subject.culprits(stuck.state, vec![&stuck.waiting]));
    }
    subject.broken(state, Violation::Blocked, culprits)
}

/// Goes through the processes that wait forever, as long as wanted. An empty select is meant to wait.
pub(crate) fn each_stuck(subject: &Subject<'_>, mut wanted: impl FnMut(Stuck) -> bool) {
    let model = subject.model;
    for bottom in model.bottoms() {
        let all = model.machine.waiting(&model.state(bottom.state));
        let is_service = all.iter().any(|one| one.process == ProcId(0) && subject.is_meant(one));
        for waiting in all {
            if model.watch.is_over() {
                return;
            }
            let ours = !subject.is_meant(&waiting)
                && subject.must_go_on(&waiting)
                && !(is_service && is_idle(subject, &waiting));
            if ours && !bottom.moves(model, waiting.process) {
                let state = bottom.state;
                if !wanted(Stuck { state, waiting }) {
                    return;
                }
            }
        }
    }
}

/// Does a process wait for its next message: at a receive, or a select of receives, to which it comes
/// back in a loop?
fn is_idle(subject: &Subject<'_>, waiting: &Waiting) -> bool {
    let receives = waiting.wants.iter().all(|want| want.wish == Wish::Receive);
    // A nil channel never has a message.
    let may_get_one = waiting.wants.iter().any(|want| want.object.is_some());
    let comes_back = || {
        let later = subject.model.machine.waits_after(waiting.pc);
        later.into_iter().any(|span| subject.places.is_same_place(span, waiting.span))
    };
    receives && may_get_one && comes_back()
}

/// The state nearest to the start from which a process that waits there can never go on.
pub(crate) fn first_stuck(model: &Model<'_>, process: ProcId) -> Option<u32> {
    let may_move = model.may_come_to(|action| action.involves(process));
    let states = model.states().filter(|state| !may_move[*state as usize]);
    let mut run = model.state(0);
    states.into_iter().find(|state| {
        model.space.load(&model.machine, *state, &mut run);
        model.machine.is_waiting(&run, process)
    })
}
