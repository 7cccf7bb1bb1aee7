//! Exceptions to other threads (Déjà Fu, Haskell 2015, section 2.1): who may be interrupted when.
//!
//! Throwing puts the exception into the target's mailbox and waits until it is taken. While
//! exceptions are in use, each thread has a control object: throwing to a thread writes it, and so
//! does each step of the thread, because the order of the two decides whether the step is made or
//! the exception is raised in its place. A thread that waits at a gate can be interrupted there,
//! so the mailbox is one more gate. Waiting without a gate (for a thread's end, a notification, the
//! others at a barrier) is interrupted as soon as the exception is thrown; the order of the exception
//! and what would have ended the waiting matters, so steps that may wake a thread read, and steps
//! that throw write, an object common to all.

use std::any::Any;
use std::collections::VecDeque;

use strait_explore::Access;

use super::current::with;
use super::features::Feature;
use super::op::{Op, Place};
use super::record::{State, Thread};
use super::schedule::{drain, interrupted, point};
use super::world::World;

/// The gate of a control object: an exception has come.
const MAIL: u8 = 1;

/// The kind of a control object.
const CONTROL: &str = "exceptions";
const THROW: &str = "throw";
/// The kinds of objects whose steps may wake a thread that waits without a gate.
const WAKING: [&str; 5] = ["TVar", "Condvar", "Barrier", "channel", "end of thread"];

/// Whether a thread takes exceptions from others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mask {
    /// At its next step.
    #[default]
    Unmasked,
    /// Only where it would have to wait.
    Interruptible,
    /// Not at all.
    Uninterruptible,
}

/// An exception on its way.
pub(crate) struct Letter {
    pub(crate) payload: Box<dyn Any + Send>,
    /// The gate at which its sender waits.
    taken: u8,
}

/// What a thread knows about being interrupted, and about waiting for its buffers.
#[derive(Default)]
pub(crate) struct Mailbox {
    pub(crate) mask: Mask,
    pub(crate) letters: VecDeque<Letter>,
    /// How many have come.
    posted: u32,
    /// The object that every step of the thread accesses when exceptions are in use.
    pub(crate) control: Option<u32>,
    /// Waits until its buffers (for one object, if given) are empty.
    pub(crate) drains: Option<Option<u32>>,
    /// Raises instead of making the announced step.
    pub(crate) raises: bool,
}

impl Mailbox {
    pub(crate) fn reset(&mut self) {
        self.mask = Mask::Unmasked;
        self.letters.clear();
        self.posted = 0;
        self.control = None;
        self.drains = None;
        self.raises = false;
    }
}

/// Ends a destructor that would have to wait after the end of its execution.
pub(crate) struct TornDown;

/// Whether the thread takes exceptions now. While its stack is unwound it does not: a destructor that
/// panics then would end the process.
fn mask(thread: &Thread) -> Mask {
    if thread.unwinding && std::thread::panicking() {
        return Mask::Uninterruptible;
    }
    thread.mailbox.mask
}

impl World {
    fn control(&mut self, number: u32) -> u32 {
        let place = self.threads[number as usize].op.place;
        self.own_object(number, 3, CONTROL, place)
    }

    /// Adds the control object to the announced step of the current thread.
    #[inline]
    pub(crate) fn announce_to_mailbox(&mut self) {
        if self.features.has(Feature::Exceptions) {
            self.announce_control();
        }
    }

    #[cold]
    fn announce_control(&mut self) {
        let object = self.control(self.current);
        let me = self.me();
        let gated = me.op.accesses.iter().any(|access| access.gate != 0);
        let gate = if gated && mask(me) != Mask::Uninterruptible { MAIL } else { 0 };
        me.op.accesses.push(Access { object, write: true, gate });
        self.announce_waking();
    }

    /// Adds the object that orders waking and throwing to the announced step of the current thread,
    /// if it may do either.
    fn announce_waking(&mut self) {
        let op = &self.threads[self.current as usize].op;
        let kind = |access: &Access| {
            self.objects.get(access.object as usize).map_or("", |object| object.kind)
        };
        let first = op.accesses.first().map_or("", kind);
        let throws = first == CONTROL && op.label == THROW;
        // A transaction may touch a variable that it makes itself, before others.
        let wakes = WAKING.contains(&first) || op.accesses.iter().any(|one| kind(one) == "TVar");
        if throws || wakes {
            let place = self.me().op.place;
            let object = self.own_object(0, 6, "waking", place);
            self.me().op.accesses.push(Access { object, write: throws, gate: 0 });
        }
    }

    /// Decides whether the step that the current thread is about to make is replaced by raising.
    #[inline]
    pub(crate) fn open_mailbox(&mut self) {
        if self.features.has(Feature::Exceptions) {
            self.look_into_mailbox();
        }
    }

    #[cold]
    fn look_into_mailbox(&mut self) {
        if !self.me().mailbox.letters.is_empty() {
            let me = &self.threads[self.current as usize];
            let at_gate = |access: &Access| {
                access.gate != 0 && self.objects[access.object as usize].kind != CONTROL
            };
            let mut gates = me.op.accesses.iter().filter(|access| at_gate(access)).peekable();
            let waits = gates.peek().is_some()
                && !gates
                    .any(|access| self.objects[access.object as usize].open & access.gate != 0);
            let raises = match mask(me) {
                Mask::Unmasked => true,
                Mask::Interruptible => waits,
                Mask::Uninterruptible => false,
            };
            self.me().mailbox.raises = raises;
            self.stops = raises;
        }
    }

    /// Takes the next exception out of the current thread's mailbox.
    pub(crate) fn take_letter(&mut self) -> Option<Letter> {
        let letter = self.me().mailbox.letters.pop_front()?;
        let last = self.me().mailbox.letters.is_empty();
        let object = self.control(self.current);
        let control = self.object(object);
        control.open |= letter.taken;
        if last {
            control.open &= !MAIL;
        }
        Some(letter)
    }
}

/// Throws an exception to a thread and waits until it has taken it.
pub(crate) fn throw_to(target: u32, payload: Box<dyn Any + Send>, place: Place) {
    drain(None, place);
    with(|world| world.want(Feature::Exceptions));
    let me = with(|world| world.current).unwrap_or(0);
    if me == target {
        with(World::begin_unwinding);
        std::panic::resume_unwind(payload);
    }
    let object = with(|world| world.control(target)).unwrap_or(0);
    point(Op::write(object, THROW, place));
    let taken = with(|world| {
        let thread = &mut world.threads[target as usize];
        if thread.state == State::Finished {
            return 0;
        }
        thread.rarities = true;
        let taken = 2 << (thread.mailbox.posted % 7);
        thread.mailbox.posted += 1;
        thread.mailbox.letters.push_back(Letter { payload, taken });
        let waits = thread.state == State::Waiting
            && mask(thread) != Mask::Uninterruptible
            && thread.mailbox.drains.is_none();
        if waits {
            thread.mailbox.raises = true;
        }
        let control = world.object(object);
        control.open = (control.open | MAIL) & !taken;
        if waits {
            world.wake(target);
        }
        taken
    });
    if let Some(taken) = taken.filter(|&taken| taken != 0) {
        point(Op::gated(object, taken, "wait until taken", place));
    }
}

/// Sets who may interrupt the current thread. Gives what was set before.
pub(crate) fn set_mask(mask: Mask, place: Place) -> Mask {
    if with(|world| world.features.has(Feature::Exceptions)) == Some(true) {
        // Whether an exception that is on its way is taken here is a matter of order.
        let unmasks = mask == Mask::Unmasked;
        point(Op::local(if unmasks { "unmask" } else { "mask" }, place));
    }
    let (before, comes) = with(|world| {
        let me = world.me();
        me.rarities = true;
        let before = std::mem::replace(&mut me.mailbox.mask, mask);
        let comes = mask == Mask::Unmasked && !me.mailbox.letters.is_empty();
        me.mailbox.raises |= comes;
        (before, comes)
    })
    .unwrap_or((Mask::Unmasked, false));
    if comes {
        // What has come meanwhile is taken before the code that is unmasked begins.
        with(|world| world.me().mailbox.mask = before);
        interrupted();
    }
    before
}

/// The current thread ends: who still wants to throw something at it need not wait.
#[cold]
pub(crate) fn return_letters(world: &mut World) {
    let letters = std::mem::take(&mut world.me().mailbox.letters);
    world
        .rubbish
        .extend(letters.into_iter().map(|letter| Box::new(letter.payload) as Box<dyn Any>));
    let object = world.control(world.current);
    world.object(object).open = !MAIL;
}
