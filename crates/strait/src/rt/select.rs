//! The model of selects over sends and receives.
//!
//! While only channels with buffers are concerned, a select is a step with as many gates as cases. A
//! select over rendezvous channels stands in the queues of all of them with one ticket, which can be
//! cashed once; a thread that cashes it, or makes the select look again, competes with the partners at the
//! other channels. So while those are in use, all steps at channels of selects also write one common
//! object.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use strait_explore::Access;

use super::current::with;
use super::ends::{Patience, RECEIVE, SEND};
use super::features::Feature;
use super::op::{Op, Place, Ways};
use super::schedule::{Leaves, drain, point, wait_or_leave};
use super::world::World;

/// The right to complete a waiting operation, which at most one partner gets.
#[derive(Clone)]
pub(crate) struct Ticket(Arc<AtomicUsize>);

const OPEN: usize = usize::MAX;

impl Ticket {
    pub(crate) fn new() -> Self {
        Ticket(Arc::new(AtomicUsize::new(OPEN)))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) == OPEN
    }

    pub(crate) fn cash(&self, case: usize) {
        self.0.store(case, Ordering::Relaxed);
    }

    /// The case that a partner has completed.
    pub(crate) fn case(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&case| case != OPEN)
    }
}

/// What a select needs of a channel, whatever its messages.
pub(crate) trait Selectable {
    fn object(&self, place: Place) -> u32;
    fn rendezvous(&self) -> bool;
    /// Stands in the queue with a ticket, to send or to receive.
    fn enlist(&self, thread: u32, ticket: &Ticket, case: usize, sends: bool);
    /// Leaves the queues.
    fn withdraw(&self, thread: u32);
}

/// One case of a select.
pub(crate) struct Case<'c> {
    pub(crate) channel: &'c dyn Selectable,
    pub(crate) sends: bool,
}

impl Case<'_> {
    fn gate(&self) -> u8 {
        if self.sends { SEND } else { RECEIVE }
    }
}

impl World {
    /// The access to what stands for all tickets, if there can be any.
    pub(crate) fn tickets(&mut self, place: Place) -> Option<Access> {
        let on = self.features.has(Feature::Selects);
        on.then(|| super::op::writes(self.own_object(0, 4, "selects", place)))
    }
}

/// The step of a select.
fn op(cases: &[Case<'_>], waits_at_gates: bool, place: Place) -> Op {
    let mut op = Op::local("select", place);
    for case in cases {
        let object = case.channel.object(place);
        let gate = if waits_at_gates { case.gate() } else { 0 };
        op.accesses.push(Access { object, write: true, gate });
        op.cases.push(case.gate());
    }
    op.ways = Ways::Cases;
    with(|world| op.accesses.extend(world.tickets(place)));
    op
}

/// Waits until a case is ready and chooses one; `None` if patience ends before that. The second part
/// says that a partner has completed the case already.
pub(crate) fn select(
    cases: &[Case<'_>],
    patience: Patience,
    place: Place,
) -> Option<(usize, bool)> {
    drain(None, place);
    let meets = cases.iter().any(|case| case.channel.rendezvous());
    with(|world| {
        if meets {
            world.want(Feature::Selects);
        }
    });
    loop {
        let op = op(cases, patience == Patience::Endless && !meets, place);
        let objects: Vec<u32> = op.accesses.iter().map(|access| access.object).collect();
        with(|world| {
            let looked_at = objects.iter().take(cases.len());
            looked_at.for_each(|&channel| world.footprints.note_selected(channel));
        });
        let choice = point(op);
        let ready = |index: &usize| {
            let open = with(|world| world.object(objects[*index]).open).unwrap_or(0);
            open & cases[*index].gate() != 0
        };
        if let Some(index) = (0..cases.len()).filter(ready).nth(choice as usize) {
            return Some((index, false));
        }
        // The time can be over only while no case is ready.
        let limited = patience == Patience::Limited;
        if patience == Patience::None || (limited && !meets) {
            return None;
        }
        let me = with(|world| world.current).unwrap_or(0);
        let ticket = Ticket::new();
        for (index, case) in cases.iter().enumerate() {
            case.channel.enlist(me, &ticket, index, case.sends);
        }
        let leave = || cases.iter().for_each(|case| case.channel.withdraw(me));
        if limited {
            let leaves = Leaves(leave);
            point(time_out(&objects, place));
            std::mem::forget(leaves);
        } else {
            wait_or_leave("a case of a select", place, leave);
        }
        leave();
        if let Some(index) = ticket.case() {
            if limited {
                // No other thread has woken this one, which would have told it.
                with(|world| world.acquire(objects[index]));
            }
            return Some((index, true));
        }
        if limited {
            return None;
        }
    }
}

/// The end of the time for which a select has waited for partners.
fn time_out(objects: &[u32], place: Place) -> Op {
    let mut op = Op::local("time is over", place);
    op.accesses.extend(objects.iter().map(|&object| super::op::writes(object)));
    op
}

/// The thread that has cashed the ticket of the current thread's select and waits for its value.
pub(crate) fn partner() -> Option<u32> {
    with(|world| world.me().partner.take()).flatten()
}
