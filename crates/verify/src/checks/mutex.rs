//! `mutex-safe`: no unlock of what is not locked, and no process that waits forever for a lock that
//! it holds itself.

use strait_calculus::{Action, ActionKind, ObjectId, ProcId, Wish};

use crate::check::Subject;
use crate::checks::faults::lock_panics;
use crate::checks::live::{Stuck, each_stuck};
use crate::doing::{Doing, Wait};
use crate::verdict::{Verdict, Violation};

/// How many of the processes that wait forever for a lock are looked at.
const LOOKED_AT: usize = 10_000;

/// Is a lock misused?
pub fn check(subject: &Subject<'_>) -> Verdict {
    if let Some(verdict) = lock_panics(subject) {
        return verdict;
    }
    let mut found: Option<(Stuck, ObjectId)> = None;
    let mut looked_at = 0;
    each_stuck(subject, |stuck| {
        let wants = stuck.waiting.wants.iter();
        let locks = wants.filter(|want| matches!(want.wish, Wish::Lock | Wish::ReadLock));
        let Some(object) = locks.filter_map(|want| want.object).next() else { return true };
        looked_at += 1;
        let way = subject.model.way(stuck.state);
        if holds(&way, stuck.waiting.process, object) {
            found = Some((stuck, object));
        }
        found.is_none() && looked_at < LOOKED_AT
    });
    let Some((stuck, object)) = found else { return subject.nothing_found() };
    let state = crate::checks::live::first_stuck(subject.model, stuck.waiting.process);
    let mut culprits = subject.culprits(stuck.state, vec![&stuck.waiting]);
    for culprit in &mut culprits {
        culprit.doing = Doing::Waits(Wait::OwnLock(subject.name(object)));
    }
    subject.broken(state.unwrap_or(stuck.state), Violation::OwnLock, culprits)
}

/// Does this process hold the lock at the end of the way? A lock belongs to the process that took it last.
fn holds(way: &[Action], process: ProcId, object: ObjectId) -> bool {
    let (mut owner, mut reading) = (None, 0);
    for action in way.iter().filter(|action| action.object == Some(object)) {
        match action.kind {
            ActionKind::Lock => owner = Some(action.actor),
            ActionKind::Unlock => owner = None,
            ActionKind::ReadLock if action.actor == process => reading += 1,
            ActionKind::ReadUnlock if action.actor == process => reading -= 1,
            _ => {}
        }
    }
    owner == Some(process) || reading > 0
}
