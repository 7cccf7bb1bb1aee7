//! The model of channels: unbounded, bounded and rendezvous, with select.
//!
//! With a buffer, sending and receiving are steps with gates: there is room, there is a message, or
//! the other side is gone. Without a buffer a partner is needed: who comes first leaves an offer or
//! an ask and waits, who comes second completes it. A waiting select stands in the queues of all its
//! channels with one ticket, which can be cashed once; whoever cashes it, or makes the select look
//! again, competes with the partners at the other channels. So while selects over rendezvous
//! channels are in use, all steps at channels also write one common object.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strait_explore::Access;

use super::current::with;
use super::features::Feature;
use super::op::{Op, Place, Ways};
use super::schedule::{drain, point, wait, wait_or_leave};
use super::slot::{Fresh, Slot};

/// There is room, a receiver waits, or no receiver is left.
pub(crate) const SEND: u8 = 1;
/// There is a message, a sender waits, or no sender is left.
pub(crate) const RECEIVE: u8 = 2;

/// The right to complete a waiting operation, which at most one partner gets.
#[derive(Clone)]
pub(crate) struct Ticket(Arc<AtomicUsize>);

const OPEN: usize = usize::MAX;

impl Ticket {
    pub(crate) fn new() -> Self {
        Ticket(Arc::new(AtomicUsize::new(OPEN)))
    }

    fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) == OPEN
    }

    fn cash(&self, case: usize) {
        self.0.store(case, Ordering::Relaxed);
    }

    /// The case that a partner has completed.
    pub(crate) fn case(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&case| case != OPEN)
    }
}

/// A thread that waits for a partner.
struct Waiter<V> {
    thread: u32,
    ticket: Ticket,
    case: usize,
    value: V,
}

struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    receivers: usize,
    /// Senders without a partner. A select brings its value later.
    offers: VecDeque<Waiter<Option<T>>>,
    /// Receivers without a partner.
    asks: VecDeque<Waiter<()>>,
    /// Values for receivers that have found a partner.
    handed: Vec<(u32, T)>,
    /// Selects that want to look again.
    selects: Vec<u32>,
}

/// A channel.
pub(crate) struct Core<T> {
    slot: Slot,
    capacity: Option<usize>,
    state: Mutex<State<T>>,
}

/// Why nothing was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nothing {
    Empty,
    Disconnected,
}

impl<T> Core<T> {
    #[track_caller]
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let open = if capacity == Some(0) { 0 } else { SEND };
        let state = State {
            queue: VecDeque::new(),
            senders: 1,
            receivers: 1,
            offers: VecDeque::new(),
            asks: VecDeque::new(),
            handed: Vec::new(),
            selects: Vec::new(),
        };
        let slot = Slot::new(Fresh { kind: "channel", open, value: 0 });
        Core { slot, capacity, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    pub(crate) fn is_rendezvous(&self) -> bool {
        self.capacity == Some(0)
    }

    pub(crate) fn object(&self, place: Place) -> u32 {
        let open = self.gates(&self.state());
        let fresh = || Fresh { kind: "channel", open, value: 0 };
        with(|world| self.slot.find(world, fresh, place).0).unwrap_or(0)
    }

    fn gates(&self, state: &State<T>) -> u8 {
        let asked = state.asks.iter().any(|ask| ask.ticket.is_open());
        let offered = state.offers.iter().any(|offer| offer.ticket.is_open());
        let room = self.capacity.is_none_or(|capacity| state.queue.len() < capacity);
        let send = state.receivers == 0 || asked || (room && !self.is_rendezvous());
        let receive = state.senders == 0 || offered || !state.queue.is_empty();
        (if send { SEND } else { 0 }) | if receive { RECEIVE } else { 0 }
    }

    /// Tells the model what is possible now, and selects that they should look again.
    fn refresh(&self, mut state: MutexGuard<'_, State<T>>) {
        let open = self.gates(&state);
        let selects = std::mem::take(&mut state.selects);
        drop(state);
        let place = std::panic::Location::caller();
        let object = self.object(place);
        with(|world| {
            world.object(object).open = open;
            for select in selects {
                world.wake(select);
            }
        });
    }

    fn synchronise(&self, object: u32) {
        with(|world| {
            world.clocks.acquire(world.current, object);
            world.clocks.release(world.current, object);
        });
    }

    /// The step on this channel, with a gate if it has to wait for a buffer.
    fn op(&self, object: u32, gate: u8, label: &'static str, place: Place) -> Op {
        let waits = gate != 0 && !self.is_rendezvous();
        let op = if waits {
            Op::gated(object, gate, label, place)
        } else {
            Op::write(object, label, place)
        };
        with_selects(op, place)
    }

    /// Sends, waiting if need be.
    pub(crate) fn send(&self, value: T, place: Place) -> Result<(), T> {
        drain(None, place);
        let object = self.object(place);
        point(self.op(object, SEND, "send", place));
        self.synchronise(object);
        self.send_now(value, true, place)
    }

    /// Sends if that is possible at once. Says why not.
    pub(crate) fn try_send(&self, value: T, place: Place) -> Result<(), (T, Nothing)> {
        drain(None, place);
        let object = self.object(place);
        point(self.op(object, 0, "try_send", place));
        self.synchronise(object);
        let state = self.state();
        if state.receivers == 0 {
            return Err((value, Nothing::Disconnected));
        }
        if self.gates(&state) & SEND == 0 {
            return Err((value, Nothing::Empty));
        }
        drop(state);
        self.send_now(value, false, place).map_err(|value| (value, Nothing::Disconnected))
    }

    /// Sends within a step that was announced. Without a partner it waits for one.
    pub(crate) fn send_now(&self, value: T, waits: bool, place: Place) -> Result<(), T> {
        let mut state = self.state();
        if state.receivers == 0 {
            return Err(value);
        }
        if !self.is_rendezvous() {
            state.queue.push_back(value);
            self.refresh(state);
            return Ok(());
        }
        if let Some(ask) = pop_open(&mut state.asks) {
            ask.ticket.cash(ask.case);
            state.handed.push((ask.thread, value));
            self.refresh(state);
            with(|world| world.wake(ask.thread));
            return Ok(());
        }
        if !waits {
            return Err(value);
        }
        let me = with(|world| world.current).unwrap_or(0);
        let ticket = Ticket::new();
        let offer = Waiter { thread: me, ticket: ticket.clone(), case: 0, value: Some(value) };
        state.offers.push_back(offer);
        self.refresh(state);
        wait_or_leave("a receiver", place, || {
            let mut state = self.state();
            state.offers.retain(|offer| offer.thread != me);
            self.refresh(state);
        });
        if ticket.case().is_some() {
            return Ok(());
        }
        let mut state = self.state();
        let position = state.offers.iter().position(|offer| offer.thread == me);
        let value = position.and_then(|position| state.offers.remove(position)?.value);
        self.refresh(state);
        match value {
            Some(value) => Err(value),
            None => Ok(()),
        }
    }

    /// Receives, waiting if need be; `None` if nothing can come any more.
    pub(crate) fn receive(&self, place: Place) -> Option<T> {
        drain(None, place);
        let object = self.object(place);
        point(self.op(object, RECEIVE, "recv", place));
        self.synchronise(object);
        self.receive_now(true, place).ok()
    }

    /// Receives if that is possible at once.
    pub(crate) fn try_receive(&self, place: Place) -> Result<T, Nothing> {
        drain(None, place);
        let object = self.object(place);
        point(self.op(object, 0, "try_recv", place));
        self.synchronise(object);
        self.receive_now(false, place)
    }

    /// Receives, or finds that the time is over.
    pub(crate) fn receive_timeout(&self, place: Place) -> Result<T, Nothing> {
        drain(None, place);
        let object = self.object(place);
        let mut op = self.op(object, 0, "recv_timeout", place).ways(Ways::OrTimeout);
        op.cases.push(RECEIVE);
        let choice = point(op);
        self.synchronise(object);
        if choice == 0 { self.receive_now(false, place) } else { Err(Nothing::Empty) }
    }

    /// Receives within a step that was announced. Without a partner it may wait for one.
    pub(crate) fn receive_now(&self, waits: bool, place: Place) -> Result<T, Nothing> {
        let mut state = self.state();
        if let Some(value) = state.queue.pop_front() {
            self.refresh(state);
            return Ok(value);
        }
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
        if !waits {
            return Err(Nothing::Empty);
        }
        let ticket = Ticket::new();
        state.asks.push_back(Waiter { thread: me, ticket, case: 0, value: () });
        self.refresh(state);
        wait_or_leave("a sender", place, || {
            let mut state = self.state();
            state.asks.retain(|ask| ask.thread != me);
            self.refresh(state);
        });
        let value = self.handed(me);
        let mut state = self.state();
        state.asks.retain(|ask| ask.thread != me);
        self.refresh(state);
        value.ok_or(Nothing::Disconnected)
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

    pub(crate) fn clone_sender(&self) {
        self.state().senders += 1;
    }

    pub(crate) fn clone_receiver(&self) {
        self.state().receivers += 1;
    }

    pub(crate) fn drop_sender(&self, place: Place) {
        self.disconnect(place, "drop sender", |state| {
            state.senders -= 1;
            let gone = state.senders == 0;
            if gone { state.asks.iter().map(|ask| ask.thread).collect() } else { Vec::new() }
        });
    }

    pub(crate) fn drop_receiver(&self, place: Place) {
        let mut left = VecDeque::new();
        self.disconnect(place, "drop receiver", |state| {
            state.receivers -= 1;
            if state.receivers > 0 {
                return Vec::new();
            }
            std::mem::swap(&mut left, &mut state.queue);
            state.offers.iter().map(|offer| offer.thread).collect()
        });
        // What nobody can receive is dropped outside: its destructor may come back here.
        drop(left);
    }

    fn disconnect(
        &self,
        place: Place,
        label: &'static str,
        change: impl FnOnce(&mut State<T>) -> Vec<u32>,
    ) {
        drain(None, place);
        let object = self.object(place);
        point(self.op(object, 0, label, place));
        self.synchronise(object);
        let mut state = self.state();
        let woken = change(&mut state);
        self.refresh(state);
        with(|world| woken.into_iter().for_each(|thread| world.wake(thread)));
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

impl<T> Selectable for Core<T> {
    fn object(&self, place: Place) -> u32 {
        Core::object(self, place)
    }

    fn rendezvous(&self) -> bool {
        self.is_rendezvous()
    }

    fn enlist(&self, thread: u32, ticket: &Ticket, case: usize, sends: bool) {
        let mut state = self.state();
        let ticket = ticket.clone();
        if !self.is_rendezvous() {
            state.selects.push(thread);
            return;
        }
        // The other side may still go away without any partner coming.
        if sends {
            state.offers.push_back(Waiter { thread, ticket, case, value: None });
        } else {
            state.asks.push_back(Waiter { thread, ticket, case, value: () });
        }
        self.refresh(state);
    }

    fn withdraw(&self, thread: u32) {
        let mut state = self.state();
        state.selects.retain(|select| *select != thread);
        state.offers.retain(|offer| offer.thread != thread || offer.value.is_some());
        state.asks.retain(|ask| ask.thread != thread);
        let selects = std::mem::take(&mut state.selects);
        self.refresh(state);
        self.state().selects = selects;
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

/// Adds the object that stands for all tickets.
fn with_selects(mut op: Op, place: Place) -> Op {
    let selects = with(|world| {
        let on = world.features.has(Feature::Selects);
        on.then(|| world.own_object(0, 4, "selects", place))
    });
    if let Some(object) = selects.flatten() {
        op.accesses.push(Access { object, write: true, gate: 0 });
    }
    op
}

/// One case of a select.
pub(crate) struct Case<'c> {
    pub(crate) channel: &'c dyn Selectable,
    pub(crate) sends: bool,
}

/// Waits until a case is ready and chooses one; `None` if none is and it should not wait. The
/// second part says that a partner has completed the case already.
pub(crate) fn select(cases: &[Case<'_>], waits: bool, place: Place) -> Option<(usize, bool)> {
    drain(None, place);
    if cases.iter().any(|case| case.channel.rendezvous()) {
        with(|world| world.features.want(Feature::Selects));
    }
    let meets = cases.iter().any(|case| case.channel.rendezvous());
    let gate = |case: &Case<'_>| if case.sends { SEND } else { RECEIVE };
    loop {
        let mut op = Op::local("select", place);
        for case in cases {
            let object = case.channel.object(place);
            let waits = if waits && !meets { gate(case) } else { 0 };
            op.accesses.push(Access { object, write: true, gate: waits });
            op.cases.push(gate(case));
        }
        op.ways = Ways::Cases;
        let objects: Vec<u32> = op.accesses.iter().map(|access| access.object).collect();
        let choice = point(with_selects(op, place));
        let ready = |index: &usize| {
            let open = with(|world| world.object(objects[*index]).open).unwrap_or(0);
            open & gate(&cases[*index]) != 0
        };
        if let Some(index) = (0..cases.len()).filter(ready).nth(choice as usize) {
            with(|world| {
                world.clocks.acquire(world.current, objects[index]);
                world.clocks.release(world.current, objects[index]);
            });
            return Some((index, false));
        }
        if !waits {
            return None;
        }
        let me = with(|world| world.current).unwrap_or(0);
        let ticket = Ticket::new();
        for (index, case) in cases.iter().enumerate() {
            case.channel.enlist(me, &ticket, index, case.sends);
        }
        let leave = || cases.iter().for_each(|case| case.channel.withdraw(me));
        wait_or_leave("a case of a select", place, leave);
        leave();
        if let Some(index) = ticket.case() {
            return Some((index, true));
        }
    }
}

/// The thread that has cashed the ticket of the current thread's select and waits for its value.
pub(crate) fn partner() -> Option<u32> {
    with(|world| world.me().partner.take()).flatten()
}
