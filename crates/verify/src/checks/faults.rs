//! `channel-safe` (ψ_s) and `waitgroup-safe`: operations that panic, and an add that races with a
//! wait. The state after the panic is in the space, as an end.

use strait_calculus::{Panicked, ProcId};

use crate::check::Subject;
use crate::tell;
use crate::verdict::{Culprit, Verdict};

/// Messages of panics that are misuse of a channel.
const CHANNEL: [&str; 4] = [
    "send on closed channel",
    "close of closed channel",
    "close of nil channel",
    "get on abandoned channel",
];
/// Messages of panics that are misuse of a lock.
const LOCK: [&str; 3] =
    ["unlock of unlocked mutex", "unlock of unlocked rwmutex", "runlock of unlocked rwmutex"];
/// Messages of panics that are misuse of a wait group.
const GROUP: [&str; 1] = ["negative waitgroup counter"];

/// Is a channel misused?
pub fn channel_safe(subject: &Subject<'_>) -> Verdict {
    first(subject, &CHANNEL).unwrap_or_else(|| subject.nothing_found())
}

/// Is a lock misused so that it panics?
pub(crate) fn lock_panics(subject: &Subject<'_>) -> Option<Verdict> {
    first(subject, &LOCK)
}

/// Is a wait group misused?
pub fn waitgroup_safe(subject: &Subject<'_>) -> Verdict {
    let race = subject.model.race;
    let panic = first(subject, &GROUP);
    let Some(race) = race else { return panic.unwrap_or_else(|| subject.nothing_found()) };
    if let Some(panic) = panic {
        return panic;
    }
    let machine = &subject.model.machine;
    let state = subject.model.state(race.state);
    let culprit = |process: ProcId, says: String| {
        let span = machine.step_span(&state, process, 0);
        Culprit { process: machine.process_name(process), span, says }
    };
    let group = race.waits.object.map_or_else(String::new, |group| subject.name(group));
    let culprits = vec![
        culprit(race.adds.actor, format!("adds to {group}")),
        culprit(race.waits.actor, format!("may already pass the wait on {group}")),
    ];
    let why = format!("an add races with a wait: {}", tell::listed(&culprits, subject.places));
    subject.broken(race.state, why, culprits)
}

/// The nearest panic with one of these messages, and the places of all.
fn first(subject: &Subject<'_>, messages: &[&str]) -> Option<Verdict> {
    let machine = &subject.model.machine;
    let mut nearest = None;
    let mut culprits: Vec<Culprit> = Vec::new();
    for state in subject.model.space.ended() {
        for panic in machine.panics(&subject.model.state(*state)) {
            if panic.deliberate || !messages.contains(&panic.message.as_str()) {
                continue;
            }
            nearest.get_or_insert(*state);
            let same = |one: &Culprit| {
                one.span.start == panic.span.start && one.says.ends_with(&panic.message)
            };
            if !culprits.iter().any(same) {
                culprits.push(culprit(subject, &panic));
            }
        }
    }
    let why = tell::listed(&culprits, subject.places);
    Some(subject.broken(nearest?, why, culprits))
}

fn culprit(subject: &Subject<'_>, panic: &Panicked) -> Culprit {
    let process = subject.model.machine.process_name(panic.process);
    Culprit { process, span: panic.span, says: format!("panics: {}", panic.message) }
}
