//! The model of channels: unbounded, bounded and rendezvous.
//!
//! With a buffer, sending and receiving are steps with gates: there is room, there is a message, or
//! the other side is gone. What they access is in `ends.rs`. Channels without a buffer have the rest
//! in `rendezvous.rs`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use strait_explore::EventId;

use super::coroutine::Suspender;
use super::current::with;
use super::ends::{Doing, Ends, Patience, RECEIVE, SEND, Shape, Stamp};
use super::op::{Op, Place};
use super::rendezvous::Waiter;
use super::schedule::{arrive, drain};
use super::select::{Selectable, Ticket};
use super::slot::{Fresh, Slot};
use super::world::World;

pub(super) struct State<T> {
    queue: VecDeque<(T, Stamp)>,
    /// The places in the buffer that were never used, and what has made the others free.
    unused: usize,
    freed: VecDeque<Stamp>,
    pub(super) senders: usize,
    /// The steps that have dropped senders.
    dropped: Vec<EventId>,
    receivers: usize,
    /// Senders without a partner. A select brings its value later.
    pub(super) offers: VecDeque<Waiter<Option<T>>>,
    /// Receivers without a partner.
    pub(super) asks: VecDeque<Waiter<()>>,
    /// Values for receivers that have found a partner.
    pub(super) handed: Vec<(u32, T)>,
    /// Selects that want to look again.
    selects: Vec<u32>,
}

/// A channel.
pub(crate) struct Core<T> {
    slot: Slot,
    capacity: Option<usize>,
    shape: Shape,
    /// The objects besides that of the slot, valid in the same execution: the front above, the
    /// senders below. Beside the state, so that a step is announced without locking that.
    parts: AtomicU64,
    several_receivers: AtomicBool,
    /// Does a select look at it?
    selected: AtomicBool,
    state: Mutex<State<T>>,
}

/// Why nothing was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nothing {
    Empty,
    Disconnected,
}

const KIND: &str = "channel";

fn packed(front: u32, senders: u32) -> u64 {
    u64::from(front) << 32 | u64::from(senders)
}

impl<T> Core<T> {
    #[track_caller]
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let shape = Shape::of(capacity);
        let open = if shape == Shape::Rendezvous { 0 } else { SEND };
        let slot = Slot::new(Fresh { kind: KIND, open, value: 0 });
        let place = std::panic::Location::caller();
        let part = || with(|world| world.create(KIND, open, 0, place)).unwrap_or(0);
        let parts = if shape == Shape::Rendezvous { 0 } else { packed(part(), part()) };
        let state = State {
            queue: VecDeque::new(),
            unused: capacity.unwrap_or(0),
            freed: VecDeque::new(),
            senders: 1,
            dropped: Vec::new(),
            receivers: 1,
            offers: VecDeque::new(),
            asks: VecDeque::new(),
            handed: Vec::new(),
            selects: Vec::new(),
        };
        let core = Core {
            slot,
            capacity,
            shape,
            parts: AtomicU64::new(parts),
            several_receivers: AtomicBool::new(false),
            selected: AtomicBool::new(false),
            state: Mutex::new(state),
        };
        with(|world| core.join_parts(&mut core.state(), world, place));
        core
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    pub(crate) fn is_rendezvous(&self) -> bool {
        self.shape == Shape::Rendezvous
    }

    /// The objects that stand for the channel in this execution.
    #[inline]
    pub(super) fn ends(&self, state: &mut State<T>, world: &mut World, place: Place) -> Ends {
        match self.slot.known(world) {
            Some(back) => self.ends_from(back),
            None => self.ends_outside(state, world, place),
        }
    }

    /// The same where the state is not locked.
    #[inline]
    fn ends_unlocked(&self, world: &mut World, place: Place) -> Ends {
        match self.slot.known(world) {
            Some(back) => self.ends_from(back),
            None => self.ends_outside(&mut self.state(), world, place),
        }
    }

    #[inline]
    fn ends_from(&self, back: u32) -> Ends {
        let parts = self.parts.load(Ordering::Relaxed);
        Ends { back, front: (parts >> 32) as u32, senders: parts as u32 }
    }

    /// The channel was made outside this execution. If it was left over by another one, what
    /// happened there is no cause of anything.
    #[cold]
    fn ends_outside(&self, state: &mut State<T>, world: &mut World, place: Place) -> Ends {
        let open = self.gates(state);
        let (back, new) = self.slot.find(world, || Fresh { kind: KIND, open, value: 0 }, place);
        if new {
            state.freed.iter_mut().for_each(|stamp| *stamp = Stamp::default());
            state.queue.iter_mut().for_each(|(_, stamp)| *stamp = Stamp::default());
            state.dropped.clear();
            // Threads of an execution that ended early may still stand here. What they offered is theirs,
            // and is left as they are.
            std::mem::forget(std::mem::take(&mut state.offers));
            std::mem::forget(std::mem::take(&mut state.handed));
            state.asks.clear();
            state.selects.clear();
            let mut part = |address: usize| world.outside(address, KIND, open, 0, place).0;
            let front = part(std::ptr::from_ref(&state.queue).addr());
            let senders = part(std::ptr::from_ref(&state.dropped).addr());
            self.parts.store(packed(front, senders), Ordering::Relaxed);
            self.join_parts(state, world, place);
        }
        self.ends_from(back)
    }

    /// Says of the parts what they are part of, and takes up what is known about the whole.
    fn join_parts(&self, state: &mut State<T>, world: &mut World, place: Place) {
        let Ends { back, front, senders } = self.ends(state, world, place);
        self.selected.store(world.footprints.is_selected(back), Ordering::Relaxed);
        if self.shape != Shape::Rendezvous {
            world.object(front).whole = back;
            world.object(senders).whole = back;
        }
    }

    #[inline]
    fn is_selected(&self) -> bool {
        self.selected.load(Ordering::Relaxed)
    }

    /// Are all steps at the channel ordered with each other?
    #[inline]
    fn is_whole(&self, world: &World) -> bool {
        self.shape.is_whole(self.is_selected(), world.features)
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
    pub(super) fn refresh(&self, mut state: MutexGuard<'_, State<T>>) {
        let open = self.gates(&state);
        let place = std::panic::Location::caller();
        let selects = std::mem::take(&mut state.selects);
        with(|world| {
            let Ends { back, front, .. } = self.ends(&mut state, world, place);
            world.object(back).open = open;
            for select in selects {
                world.wake(select);
            }
            if self.is_whole(world) {
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
        let announced = with(|world| {
            let ends = self.ends_unlocked(world, place);
            let whole = self.is_whole(world);
            let only = ends.only_access(doing, self.shape, whole);
            let tickets = if self.is_selected() { world.tickets(place) } else { None };
            match (only, tickets) {
                (Some(access), None) => {
                    world.me().op.become_one(access, doing.label(), place);
                }
                _ => {
                    let mut op = Op::local(doing.label(), place);
                    match only {
                        Some(access) => op.accesses.push(access),
                        None => {
                            let several = self.several_receivers.load(Ordering::Relaxed);
                            op.accesses = ends.accesses(doing, several);
                        }
                    }
                    op.accesses.extend(tickets);
                    world.me().op = op;
                }
            }
            world.announced()
        });
        announced.flatten()
    }

    /// Makes a step. Gives the way in which to take it.
    #[inline(always)]
    pub(super) fn point(&self, doing: Doing, place: Place) -> u32 {
        let way_out = self.announce(doing, place);
        if let Some(suspender) = way_out {
            suspender.suspend();
        }
        arrive(way_out.is_some())
    }

    /// Sends, waiting if need be.
    #[inline(always)]
    pub(crate) fn send(&self, value: T, place: Place) -> Result<(), T> {
        self.point(Doing::Send, place);
        self.send_now(value, Patience::Endless, place)
    }

    /// Sends if that is possible at once. Says why not.
    #[inline(always)]
    pub(crate) fn try_send(&self, value: T, place: Place) -> Result<(), (T, Nothing)> {
        self.point(Doing::TrySend, place);
        self.send_if_possible(value, place)
    }

    /// Sends, or finds that the time is over, which it can be only while there is no room. Says which, if
    /// it is not sent.
    #[inline(always)]
    pub(crate) fn send_timeout(&self, value: T, place: Place) -> Result<(), (T, Nothing)> {
        if self.shape == Shape::Unbounded {
            return self.send(value, place).map_err(|value| (value, Nothing::Disconnected));
        }
        self.point(Doing::SendTimeout, place);
        if !self.is_rendezvous() {
            return self.send_if_possible(value, place);
        }
        self.send_now(value, Patience::Limited, place).map_err(|value| {
            let gone = self.state().receivers == 0;
            (value, if gone { Nothing::Disconnected } else { Nothing::Empty })
        })
    }

    fn send_if_possible(&self, value: T, place: Place) -> Result<(), (T, Nothing)> {
        let state = self.state();
        let (gone, open) = (state.receivers == 0, self.gates(&state) & SEND != 0);
        drop(state);
        if !gone && !open {
            return Err((value, Nothing::Empty));
        }
        let sent = self.send_now(value, Patience::None, place);
        sent.map_err(|value| (value, Nothing::Disconnected))
    }

    /// Sends within a step that was announced. Without a partner it waits for one.
    pub(crate) fn send_now(&self, value: T, patience: Patience, place: Place) -> Result<(), T> {
        let mut state = self.state();
        if self.is_rendezvous() {
            self.synchronise(&mut state, place);
        }
        if state.receivers == 0 {
            with(|world| {
                let object = self.ends(&mut state, world, place).back;
                world.acquire(object);
            });
            return Err(value);
        }
        if self.is_rendezvous() {
            return self.offer(state, value, patience, place);
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

    /// Receives, waiting if need be; `None` if nothing can come any more.
    #[inline(always)]
    pub(crate) fn receive(&self, place: Place) -> Option<T> {
        self.point(Doing::Receive, place);
        self.receive_now(Patience::Endless, place).ok()
    }

    /// Receives if that is possible at once.
    #[inline(always)]
    pub(crate) fn try_receive(&self, place: Place) -> Result<T, Nothing> {
        self.point(Doing::TryReceive, place);
        self.receive_now(Patience::None, place)
    }

    /// Receives, or finds that the time is over, which it can be only while there is nothing to receive.
    #[inline(always)]
    pub(crate) fn receive_timeout(&self, place: Place) -> Result<T, Nothing> {
        self.point(Doing::ReceiveTimeout, place);
        self.receive_now(Patience::Limited, place)
    }

    /// Receives within a step that was announced. Without a partner it may wait for one.
    pub(crate) fn receive_now(&self, patience: Patience, place: Place) -> Result<T, Nothing> {
        let mut state = self.state();
        if self.is_rendezvous() {
            self.synchronise(&mut state, place);
            return self.ask(state, patience, place);
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
            world.acquire(object);
        });
        Err(Nothing::Disconnected)
    }

    /// How many messages it holds, if there is a limit.
    pub(crate) fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    /// How many messages are there?
    #[inline(always)]
    pub(crate) fn length(&self, place: Place) -> usize {
        self.point(Doing::Look, place);
        self.state().queue.len()
    }

    pub(crate) fn clone_sender(&self) {
        self.state().senders += 1;
    }

    pub(crate) fn clone_receiver(&self) {
        self.state().receivers += 1;
        self.several_receivers.store(true, Ordering::Relaxed);
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
            world.release(object);
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
            world.release(object);
        });
        let (mut left, mut woken) = (VecDeque::new(), Vec::new());
        if state.receivers == 0 {
            std::mem::swap(&mut left, &mut state.queue);
            woken.extend(state.offers.iter().map(|offer| offer.thread));
        }
        self.refresh(state);
        with(|world| woken.into_iter().for_each(|thread| world.wake(thread)));
        // Messages that can no longer be received are dropped outside: its destructor may come back here.
        drop(left);
    }
}

impl<T> Selectable for Core<T> {
    fn object(&self, place: Place) -> u32 {
        with(|world| self.ends_unlocked(world, place).back).unwrap_or(0)
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
