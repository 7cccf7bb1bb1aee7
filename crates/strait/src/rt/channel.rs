//! The model of channels: unbounded, bounded and rendezvous.
//!
//! With a buffer, sending and receiving are steps with gates: there is room, there is a message, or
//! the other side is gone. What they access is in `ends.rs`. Without a buffer a partner is needed: who
//! comes first leaves an offer or an ask and waits, who comes second completes it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use strait_explore::EventId;

use super::coroutine::Suspender;
use super::current::with;
use super::ends::{Doing, Ends, RECEIVE, SEND, Shape, Stamp};
use super::op::{Op, Place, Ways};
use super::schedule::{arrive, drain, wait, wait_or_leave};
use super::select::{Selectable, Ticket};
use super::slot::{Fresh, Slot};
use super::world::World;

/// A thread that waits for a partner.
struct Waiter<V> {
    thread: u32,
    ticket: Ticket,
    case: usize,
    value: V,
}

struct State<T> {
    /// The parts besides the whole, valid in the same execution.
    front: u32,
    present: u32,
    queue: VecDeque<(T, Stamp)>,
    /// The places in the buffer that were never used, and what has made the others free.
    unused: usize,
    freed: VecDeque<Stamp>,
    senders: usize,
    /// The steps that have dropped senders.
    dropped: Vec<EventId>,
    receivers: usize,
    several_receivers: bool,
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
    shape: Shape,
    state: Mutex<State<T>>,
}

/// Why nothing was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nothing {
    Empty,
    Disconnected,
}

const KIND: &str = "channel";

impl<T> Core<T> {
    #[track_caller]
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let shape = Shape::of(capacity);
        let open = if shape == Shape::Rendezvous { 0 } else { SEND };
        let slot = Slot::new(Fresh { kind: KIND, open, value: 0 });
        let place = std::panic::Location::caller();
        let part = || with(|world| world.create(KIND, open, 0, place)).unwrap_or(0);
        let (front, present) = if shape == Shape::Rendezvous { (0, 0) } else { (part(), part()) };
        let state = State {
            front,
            present,
            queue: VecDeque::new(),
            unused: capacity.unwrap_or(0),
            freed: VecDeque::new(),
            senders: 1,
            dropped: Vec::new(),
            receivers: 1,
            several_receivers: false,
            offers: VecDeque::new(),
            asks: VecDeque::new(),
            handed: Vec::new(),
            selects: Vec::new(),
        };
        let core = Core { slot, shape, state: Mutex::new(state) };
        with(|world| core.join_parts(&mut core.state(), world, place));
        core
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    pub(crate) fn is_rendezvous(&self) -> bool {
        self.shape == Shape::Rendezvous
    }

    /// The objects that stand for the channel in this execution.
    fn ends(&self, state: &mut State<T>, world: &mut World, place: Place) -> Ends {
        let fresh = || Fresh { kind: KIND, open: self.gates(state), value: 0 };
        let (back, new) = self.slot.find(world, fresh, place);
        if new {
            self.move_here(state, world, place);
        }
        Ends { back, front: state.front, senders: state.present }
    }

    /// The channel was left over by another execution. What happened there is no cause of anything.
    #[cold]
    fn move_here(&self, state: &mut State<T>, world: &mut World, place: Place) {
        let open = self.gates(state);
        state.freed.iter_mut().for_each(|stamp| *stamp = Stamp::default());
        state.queue.iter_mut().for_each(|(_, stamp)| *stamp = Stamp::default());
        state.dropped.clear();
        let mut part = |address: usize| world.outside(address, KIND, open, 0, place).0;
        state.front = part(std::ptr::from_ref(&state.queue).addr());
        state.present = part(std::ptr::from_ref(&state.dropped).addr());
        self.join_parts(state, world, place);
    }

    /// Says of the parts what they are part of.
    fn join_parts(&self, state: &mut State<T>, world: &mut World, place: Place) {
        if self.shape != Shape::Rendezvous {
            let Ends { back, front, senders } = self.ends(state, world, place);
            world.object(front).whole = back;
            world.object(senders).whole = back;
        }
    }

    fn gates(&self, state: &State<T>) -> u8 {
        let (send, receive) = match self.shape {
            Shape::Rendezvous => (
                state.asks.iter().any(|ask| ask.ticket.is_open()),
                state.offers.iter().any(|offer| offer.ticket.is_open()),
            ),
            Shape::Bounded => {
                (state.unused > 0 || !state.freed.is_empty(), !state.queue.is_empty())
            }
            Shape::Unbounded => (true, !state.queue.is_empty()),
        };
        let send = if send || state.receivers == 0 { SEND } else { 0 };
        send | if receive || state.senders == 0 { RECEIVE } else { 0 }
    }

    /// Tells the model what is possible now and since when, and selects that they should look again.
    fn refresh(&self, mut state: MutexGuard<'_, State<T>>) {
        let open = self.gates(&state);
        let place = std::panic::Location::caller();
        let selects = std::mem::take(&mut state.selects);
        with(|world| {
            let Ends { back, front, .. } = self.ends(&mut state, world, place);
            world.object(back).open = open;
            for select in selects {
                world.wake(select);
            }
            if self.shape.is_whole(world.features) {
                return;
            }
            world.object(front).open = open;
            match state.queue.front() {
                Some((_, stamp)) => world.enable(front, stamp.event.into_iter()),
                None if state.senders == 0 => world.enable(front, state.dropped.iter().copied()),
                None => {}
            }
            if self.shape == Shape::Bounded {
                let freed = state.freed.front().filter(|_| state.unused == 0);
                world.enable(back, freed.and_then(|stamp| stamp.event).into_iter());
            }
        });
    }

    /// Announces a step. Gives the way out.
    fn announce(&self, doing: Doing, place: Place) -> Option<Suspender> {
        drain(None, place);
        let mut state = self.state();
        let announced = with(|world| {
            let ends = self.ends(&mut state, world, place);
            let whole = self.shape.is_whole(world.features);
            let only = ends.only_access(doing, self.shape, whole);
            let tickets = world.tickets(place);
            match (only, tickets) {
                (Some(access), None) if doing != Doing::ReceiveTimeout => {
                    world.me().op.become_one(access, doing.label(), place);
                }
                _ => {
                    let mut op = Op::local(doing.label(), place);
                    match only {
                        Some(access) => op.accesses.push(access),
                        None => op.accesses = ends.accesses(doing, state.several_receivers),
                    }
                    op.accesses.extend(tickets);
                    if doing == Doing::ReceiveTimeout {
                        op.ways = Ways::OrTimeout;
                        op.cases.push(RECEIVE);
                    }
                    world.me().op = op;
                }
            }
            world.announced()
        });
        announced.flatten()
    }

    /// Makes a step. Gives the way in which to take it.
    #[inline(always)]
    fn point(&self, doing: Doing, place: Place) -> u32 {
        let way_out = self.announce(doing, place);
        if let Some(suspender) = way_out {
            suspender.suspend();
        }
        arrive(way_out.is_some())
    }

    /// At a rendezvous each comes to know what the others know.
    fn synchronise(&self, state: &mut State<T>, place: Place) {
        with(|world| {
            let object = self.ends(state, world, place).back;
            world.clocks.acquire(world.current, object);
            world.clocks.release(world.current, object);
        });
    }

    /// Sends, waiting if need be.
    #[inline(always)]
    pub(crate) fn send(&self, value: T, place: Place) -> Result<(), T> {
        self.point(Doing::Send, place);
        self.send_now(value, true, place)
    }

    /// Sends if that is possible at once. Says why not.
    #[inline(always)]
    pub(crate) fn try_send(&self, value: T, place: Place) -> Result<(), (T, Nothing)> {
        self.point(Doing::TrySend, place);
        self.send_if_possible(value, place)
    }

    fn send_if_possible(&self, value: T, place: Place) -> Result<(), (T, Nothing)> {
        let state = self.state();
        let (gone, open) = (state.receivers == 0, self.gates(&state) & SEND != 0);
        drop(state);
        if !gone && !open {
            return Err((value, Nothing::Empty));
        }
        self.send_now(value, false, place).map_err(|value| (value, Nothing::Disconnected))
    }

    /// Sends within a step that was announced. Without a partner it waits for one.
    pub(crate) fn send_now(&self, value: T, waits: bool, place: Place) -> Result<(), T> {
        let mut state = self.state();
        if self.is_rendezvous() {
            self.synchronise(&mut state, place);
        }
        if state.receivers == 0 {
            with(|world| {
                let object = self.ends(&mut state, world, place).back;
                world.clocks.acquire(world.current, object);
            });
            return Err(value);
        }
        if self.is_rendezvous() {
            return self.offer(state, value, waits, place);
        }
        let freed = if state.unused > 0 {
            state.unused -= 1;
            None
        } else {
            state.freed.pop_front()
        };
        let stamp = with(|world| {
            freed.iter().for_each(|freed| world.find_stamp(freed));
            world.stamp()
        });
        state.queue.push_back((value, stamp.unwrap_or_default()));
        self.refresh(state);
        Ok(())
    }

    /// Sends to a receiver that waits, or waits for one.
    fn offer(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        value: T,
        waits: bool,
        place: Place,
    ) -> Result<(), T> {
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
    #[inline(always)]
    pub(crate) fn receive(&self, place: Place) -> Option<T> {
        self.point(Doing::Receive, place);
        self.receive_now(true, place).ok()
    }

    /// Receives if that is possible at once.
    #[inline(always)]
    pub(crate) fn try_receive(&self, place: Place) -> Result<T, Nothing> {
        self.point(Doing::TryReceive, place);
        self.receive_now(false, place)
    }

    /// Receives, or finds that the time is over.
    #[inline(always)]
    pub(crate) fn receive_timeout(&self, place: Place) -> Result<T, Nothing> {
        let choice = self.point(Doing::ReceiveTimeout, place);
        if choice == 0 { self.receive_now(false, place) } else { Err(Nothing::Empty) }
    }

    /// Receives within a step that was announced. Without a partner it may wait for one.
    pub(crate) fn receive_now(&self, waits: bool, place: Place) -> Result<T, Nothing> {
        let mut state = self.state();
        if self.is_rendezvous() {
            self.synchronise(&mut state, place);
            return self.ask(state, waits, place);
        }
        if let Some((value, sent)) = state.queue.pop_front() {
            let freed = with(|world| {
                world.find_stamp(&sent);
                (self.shape == Shape::Bounded).then(|| world.stamp())
            });
            state.freed.extend(freed.flatten());
            self.refresh(state);
            return Ok(value);
        }
        if state.senders > 0 {
            return Err(Nothing::Empty);
        }
        with(|world| {
            let object = self.ends(&mut state, world, place).senders;
            world.clocks.acquire(world.current, object);
        });
        Err(Nothing::Disconnected)
    }

    /// Receives from a sender that waits, or waits for one.
    fn ask(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        waits: bool,
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
        let mut state = self.state();
        state.receivers += 1;
        state.several_receivers = true;
    }

    #[inline(always)]
    pub(crate) fn drop_sender(&self, place: Place) {
        self.point(Doing::DropSender, place);
        self.sender_dropped(place);
    }

    fn sender_dropped(&self, place: Place) {
        let mut state = self.state();
        state.senders -= 1;
        let event = with(|world| {
            let Ends { back, senders, .. } = self.ends(&mut state, world, place);
            let object = if self.is_rendezvous() { back } else { senders };
            world.clocks.release(world.current, object);
            world.last_event()
        });
        state.dropped.extend(event.flatten());
        let woken: Vec<u32> = match state.senders {
            0 => state.asks.iter().map(|ask| ask.thread).collect(),
            _ => Vec::new(),
        };
        self.refresh(state);
        with(|world| woken.into_iter().for_each(|thread| world.wake(thread)));
    }

    #[inline(always)]
    pub(crate) fn drop_receiver(&self, place: Place) {
        self.point(Doing::DropReceiver, place);
        self.receiver_dropped(place);
    }

    fn receiver_dropped(&self, place: Place) {
        let mut state = self.state();
        state.receivers -= 1;
        with(|world| {
            let object = self.ends(&mut state, world, place).back;
            world.clocks.release(world.current, object);
        });
        let (mut left, mut woken) = (VecDeque::new(), Vec::new());
        if state.receivers == 0 {
            std::mem::swap(&mut left, &mut state.queue);
            woken.extend(state.offers.iter().map(|offer| offer.thread));
        }
        self.refresh(state);
        with(|world| woken.into_iter().for_each(|thread| world.wake(thread)));
        // What nobody can receive is dropped outside: its destructor may come back here.
        drop(left);
    }
}

impl<T> Selectable for Core<T> {
    fn object(&self, place: Place) -> u32 {
        with(|world| self.ends(&mut self.state(), world, place).back).unwrap_or(0)
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
