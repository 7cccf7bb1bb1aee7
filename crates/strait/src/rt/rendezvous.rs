//! The model of channels without a buffer: a partner is needed. Who comes first leaves an offer or an
//! ask and waits, who comes second completes it.

use std::collections::VecDeque;
use std::sync::MutexGuard;

use super::channel::{Core, Nothing, State};
use super::current::with;
use super::ends::{Doing, Patience};
use super::op::Place;
use super::schedule::{Leaves, wait, wait_or_leave};
use super::select::Ticket;

/// A thread that waits for a partner.
pub(super) struct Waiter<V> {
    pub(super) thread: u32,
    pub(super) ticket: Ticket,
    pub(super) case: usize,
    pub(super) value: V,
}

impl<T> Core<T> {
    /// At a rendezvous each comes to know what the others know.
    pub(super) fn synchronise(&self, state: &mut State<T>, place: Place) {
        with(|world| {
            let object = self.ends(state, world, place).back;
            world.acquire(object);
            world.release(object);
        });
    }

    /// Sends to a receiver that waits, or waits for one.
    pub(super) fn offer(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        value: T,
        patience: Patience,
        place: Place,
    ) -> Result<(), T> {
        if let Some(ask) = pop_open(&mut state.asks) {
            ask.ticket.cash(ask.case);
            state.handed.push((ask.thread, value));
            self.refresh(state);
            with(|world| world.wake(ask.thread));
            return Ok(());
        }
        if patience == Patience::None {
            return Err(value);
        }
        let me = with(|world| world.current).unwrap_or(0);
        let ticket = Ticket::new();
        let offer = Waiter { thread: me, ticket: ticket.clone(), case: 0, value: Some(value) };
        state.offers.push_back(offer);
        self.refresh(state);
        self.wait_for_partner("a receiver", patience, place, || {
            let mut state = self.state();
            state.offers.retain(|offer| offer.thread != me);
            self.refresh(state);
        });
        let mut state = self.state();
        if ticket.case().is_some() {
            if patience == Patience::Limited {
                self.synchronise(&mut state, place);
            }
            return Ok(());
        }
        let position = state.offers.iter().position(|offer| offer.thread == me);
        let value = position.and_then(|position| state.offers.remove(position)?.value);
        self.refresh(state);
        match value {
            Some(value) => Err(value),
            None => Ok(()),
        }
    }

    /// Receives from a sender that waits, or waits for one.
    pub(super) fn ask(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        patience: Patience,
        place: Place,
    ) -> Result<T, Nothing> {
        let me = with(|world| world.current).unwrap_or(0);
        if let Some(offer) = pop_open(&mut state.offers) {
            offer.ticket.cash(offer.case);
            self.refresh(state);
            with(|world| world.wake(offer.thread));
            return match offer.value {
                Some(value) => Ok(value),
                None => {
                    // The sender is a select, which brings its value as soon as it runs.
                    with(|world| world.threads[offer.thread as usize].partner = Some(me));
                    wait("the value of a select", place);
                    self.handed(me).ok_or(Nothing::Disconnected)
                }
            };
        }
        if state.senders == 0 {
            return Err(Nothing::Disconnected);
        }
        if patience == Patience::None {
            return Err(Nothing::Empty);
        }
        let ticket = Ticket::new();
        state.asks.push_back(Waiter { thread: me, ticket, case: 0, value: () });
        self.refresh(state);
        self.wait_for_partner("a sender", patience, place, || {
            let mut state = self.state();
            state.asks.retain(|ask| ask.thread != me);
            self.refresh(state);
        });
        let value = self.handed(me);
        let mut state = self.state();
        if value.is_some() && patience == Patience::Limited {
            // No other thread has woken this one, which would have told it.
            self.synchronise(&mut state, place);
        }
        state.asks.retain(|ask| ask.thread != me);
        let nothing = if state.senders == 0 { Nothing::Disconnected } else { Nothing::Empty };
        self.refresh(state);
        value.ok_or(nothing)
    }

    /// Waits for a partner to come. If patience has a limit, its end is a step, before or after
    /// those of partners.
    fn wait_for_partner(
        &self,
        what: &'static str,
        patience: Patience,
        place: Place,
        leave: impl FnMut(),
    ) {
        if patience == Patience::Endless {
            return wait_or_leave(what, place, leave);
        }
        let leaves = Leaves(leave);
        self.point(Doing::TimeOut, place);
        std::mem::forget(leaves);
    }

    /// The value that a partner has left for a thread.
    pub(crate) fn handed(&self, thread: u32) -> Option<T> {
        let mut state = self.state();
        let position = state.handed.iter().position(|(receiver, _)| *receiver == thread)?;
        Some(state.handed.swap_remove(position).1)
    }

    /// Leaves a value for the receiver that has cashed the ticket of a select.
    pub(crate) fn hand_to(&self, receiver: u32, value: T) {
        self.state().handed.push((receiver, value));
        with(|world| world.wake(receiver));
    }
}

fn pop_open<V>(waiters: &mut VecDeque<Waiter<V>>) -> Option<Waiter<V>> {
    while let Some(waiter) = waiters.pop_front() {
        if waiter.ticket.is_open() {
            return Some(waiter);
        }
    }
    None
}
