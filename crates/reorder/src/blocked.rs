//! Who can never be unblocked, as far as references tell: Algorithm 1 of GFuzz, ASPLOS 2022 (section 6.2).
//!
//! | paper | here |
//! |---|---|
//! | stGoInfo: blocking, primitives waited for | [`Goroutine`] |
//! | stPInfo: goroutines that hold a reference | [`Reference`]s: who waits at it, sent, received or locked it |
//!
//! The paper instruments every assignment to know all references; here only operations are known, so
//! this is weaker than the collector's judgement: what it says is a suspicion, used where globals keep
//! everything reachable.

use std::collections::{BTreeMap, BTreeSet};

use strait_golang::{Channel, Direction, Goroutine, Status, Trace};

use crate::overlay_fault::waits_for_preference;
use crate::selects::package;

/// Goroutines by the primitive that they are known to use.
#[derive(Clone, Debug, Default)]
pub struct Reference(BTreeMap<u64, BTreeSet<u32>>);

impl Reference {
    /// What a trace knows.
    pub fn of(trace: &Trace) -> Self {
        let mut known: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        for goroutine in &trace.goroutines {
            for primitive in primitives(goroutine) {
                known.entry(primitive).or_default().insert(goroutine.id);
            }
            for channel in &goroutine.channels {
                let others = channel.sent.iter().chain(&channel.received).map(|(_, who)| *who);
                known.entry(channel.address).or_default().extend(others);
            }
        }
        for (lock, held) in &trace.held {
            known.entry(*lock).or_default().extend(held.iter().map(|one| one.goroutine));
        }
        Reference(known)
    }
}

/// What a goroutine waits for.
fn primitives(goroutine: &Goroutine) -> impl Iterator<Item = u64> + '_ {
    let channels = goroutine.channels.iter().map(|channel| channel.address);
    channels.chain(goroutine.object.map(|(_, address)| address))
}

/// Algorithm 1: all goroutines that might unblock this one, if none of them can move; else nothing.
pub fn unblockable(
    trace: &Trace,
    start: &Goroutine,
    references: &Reference,
) -> Option<BTreeSet<u32>> {
    let alive: BTreeMap<u32, &Goroutine> =
        trace.goroutines.iter().map(|goroutine| (goroutine.id, goroutine)).collect();
    // Goroutines that have ended hold no references any more.
    let who = |primitive: u64| {
        let known = references.0.get(&primitive).into_iter().flatten();
        known.filter_map(|id| alive.get(id).copied())
    };
    let mut visited_primitives: BTreeSet<u64> = primitives(start).collect();
    let mut visited = BTreeSet::from([start.id]);
    let mut list: Vec<&Goroutine> = visited_primitives.iter().flat_map(|one| who(*one)).collect();
    while let Some(goroutine) = list.pop() {
        if !is_blocked(goroutine) {
            return None;
        }
        visited.insert(goroutine.id);
        for primitive in primitives(goroutine) {
            if visited_primitives.insert(primitive) {
                list.extend(who(primitive));
            }
        }
    }
    Some(visited)
}

/// At a channel or at something of package sync, and not merely asleep.
pub(crate) fn is_blocked(goroutine: &Goroutine) -> bool {
    let timer = goroutine.channels.iter().any(|channel| channel.timer);
    match goroutine.status {
        Status::Leaked => true,
        Status::Waiting => {
            waits_for_others(&goroutine.reason) && !timer && !waits_for_preference(goroutine)
        }
        Status::Active | Status::Syscall => false,
    }
}

/// Reasons of the runtime that only another goroutine can end.
fn waits_for_others(reason: &str) -> bool {
    let known = ["chan send", "chan receive", "select", "sync.", "semacquire"];
    known.iter().any(|known| reason.starts_with(known))
}

/// Candidates that belong together: they wait for the same thing, one holds what another waits for,
/// one started the other, or both were started by the same call.
pub(crate) fn components<'a>(
    trace: &Trace,
    candidates: &[&'a Goroutine],
) -> Vec<Vec<&'a Goroutine>> {
    let mut groups: Vec<Vec<&'a Goroutine>> = Vec::new();
    for candidate in candidates {
        let (related, apart): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.iter().any(|other| are_related(trace, candidate, other)));
        groups = apart;
        let mut merged = vec![*candidate];
        merged.extend(related.into_iter().flatten());
        groups.push(merged);
    }
    for group in &mut groups {
        group.sort_by_key(|goroutine| goroutine.id);
    }
    groups
}

fn are_related(trace: &Trace, one: &Goroutine, other: &Goroutine) -> bool {
    let holds = |waiting: &Goroutine, holder: &Goroutine| {
        primitives(waiting).any(|primitive| {
            let mut holders = trace.held.get(&primitive).into_iter().flatten();
            holders.any(|held| held.goroutine == holder.id)
        })
    };
    primitives(one).any(|primitive| primitives(other).any(|another| primitive == another))
        || holds(one, other)
        || holds(other, one)
        || one.parent == other.id
        || other.parent == one.id
        || started_together(one, other)
}

/// Did one goroutine start both, in one function outside of tests? Then they are parts of one thing,
/// which was not stopped. For those that wait for their next message one package is enough.
fn started_together(one: &Goroutine, other: &Goroutine) -> bool {
    let Some((first, second)) = started_by(one).zip(started_by(other)) else { return false };
    let idle = is_idle(one) && is_idle(other) && package(first) == package(second);
    one.parent == other.parent && (first == second || idle)
}

/// Does it wait for its next message, and for nothing else?
pub(crate) fn is_idle(goroutine: &Goroutine) -> bool {
    let receives = |channel: &Channel| channel.direction == Direction::Receive;
    !goroutine.channels.is_empty() && goroutine.channels.iter().all(receives)
}

/// The function that started a goroutine, unless that is a test or the test framework.
pub(crate) fn started_by(goroutine: &Goroutine) -> Option<&str> {
    let site = goroutine.created.as_ref()?;
    let of_test = site.file.ends_with("_test.go") || site.function.starts_with("testing.");
    (!of_test).then_some(site.function.as_str())
}
