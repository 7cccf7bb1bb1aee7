//! The model of threads: starting, joining, parking, yielding, and what becomes of panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind};
use std::sync::Once;

use super::coroutine::{Suspender, note_frames};
use super::current::{is_busy, under_test, with};
use super::exception::Mask;
use super::features::Feature;
use super::op::{Op, Place, Ways, writes};
use super::record::{Left, State, add_past};
use super::schedule::{
    announce_wait, arrive, detail, drain, interrupted_wait, is_interrupted, point,
};
use super::world::World;

/// The gate of a thread's parking token.
const TOKEN: u8 = 1;
/// The value of the object that is a thread's end, when the thread has ended.
const DONE: u64 = 1;

/// Waits until a thread of this execution is over.
#[inline(always)]
pub(crate) fn join(number: u32, place: Place) {
    let way_out = announce_join(number, place);
    if let Some(suspender) = way_out {
        suspender.suspend();
        if is_interrupted() {
            leave_join(number);
        }
    }
}

/// The current thread waits for another to end, unless it is over. Gives the way out if so.
fn announce_join(number: u32, place: Place) -> Option<Suspender> {
    drain(None, place);
    let waits = with(|world| {
        let me = world.current;
        world.me().operated = true;
        let target = &mut world.threads[number as usize];
        if target.state != State::Finished {
            target.joiners.push(me);
            return true;
        }
        if let Ok([me, target]) = world.threads.get_disjoint_mut([me as usize, number as usize]) {
            add_past(&mut me.past, &target.past);
        }
        world.clocks.wake(number, me);
        false
    });
    if waits != Some(true) {
        return None;
    }
    let way_out = announce_wait("another thread to end", place);
    if way_out.is_none() {
        leave_join(number);
    }
    way_out
}

/// Something else has come for the current thread than the end of the one it waits for.
#[cold]
fn leave_join(number: u32) {
    with(|world| {
        let me = world.current;
        world.threads[number as usize].joiners.remove(|joiner| *joiner == me);
    });
    interrupted_wait();
}

/// Is a thread over? Whether it is depends on a step at its end, which threads make only when
/// it is asked for.
pub(crate) fn is_finished(number: u32, place: Place) -> bool {
    with(|world| world.want(Feature::Exits));
    let object = done(number, place);
    point(Op::read(object, "is_finished", place));
    with(|world| {
        let value = world.object(object).value;
        world.note_direct_read(object, value);
        value == DONE
    })
    .unwrap_or(false)
}

fn done(number: u32, place: Place) -> u32 {
    with(|world| {
        let place = world.started_at(number, place);
        world.own_object(number, 1, "end of thread", place)
    })
    .unwrap_or(0)
}

/// The last step of a thread, if this search asks for it.
pub(crate) fn exit(place: Place) {
    let asked =
        with(|world| world.features.has(Feature::Exits) || world.features.has(Feature::Exceptions));
    if asked == Some(true) {
        let me = with(|world| {
            world.me().rarities = true;
            world.current
        });
        let me = me.unwrap_or(0);
        let object = done(me, place);
        point(Op::write(object, "end", place));
        with(|world| {
            // Whatever comes now comes too late.
            world.me().mailbox.mask = Mask::Uninterruptible;
            world.object(object).value = DONE;
            world.wrote(object);
        });
    }
}

/// Inlined into the code under test, whose frame is looked at: see `spin.rs`.
#[inline(always)]
pub(crate) fn yield_now(place: Place) {
    if with(|world| world.records) == Some(true) {
        note_frames();
    }
    let way_out = announce_yield(place);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    arrive(way_out.is_some());
}

fn announce_yield(place: Place) -> Option<Suspender> {
    with(|world| {
        let mut op = Op::local("yield", place);
        op.yields = true;
        world.me().op = op;
        if !world.aborting {
            world.ends_round(place, true);
        }
        world.announced()
    })
    .flatten()
}

fn token(number: u32, place: Place) -> u32 {
    with(|world| {
        let place = world.started_at(number, place);
        world.own_object(number, 0, "token", place)
    })
    .unwrap_or(0)
}

/// Waits for the token of the current thread and takes it. With a time-out it may also go on
/// without. Says whether it had the token.
pub(crate) fn park(timeout: bool, place: Place) -> bool {
    drain(None, place);
    let me = with(|world| world.current).unwrap_or(0);
    let object = token(me, place);
    let taken = if timeout {
        // The time can be over only while there is no token.
        point(Op::write(object, "park_timeout", place));
        with(|world| world.object(object).open & TOKEN != 0) == Some(true)
    } else {
        point(Op::gated(object, TOKEN, "park", place));
        true
    };
    if taken {
        with(|world| {
            world.object(object).open = 0;
            world.acquire(object);
        });
    }
    taken
}

/// Gives a thread its token.
pub(crate) fn unpark(number: u32, place: Place) {
    drain(None, place);
    let object = token(number, place);
    point(Op::write(object, "unpark", place));
    with(|world| {
        world.object(object).open = TOKEN;
        world.release(object);
    });
}

/// The object of a thread's waker, which has the value 1 once it was used.
fn waker(number: u32, place: Place) -> u32 {
    with(|world| world.own_object(number, 8, "waker", place)).unwrap_or(0)
}

/// Wakes the task that a thread performs. To wake it twice is to wake it once, so the second time only
/// reads.
pub(crate) fn wake_task(number: u32, place: Place) {
    drain(None, place);
    let object = waker(number, place);
    let way_out = with(|world| {
        world.me().op.become_one(writes(object), "wake", place);
        let way_out = world.announced();
        if way_out.is_some() {
            world.announce_change(object, 0);
        }
        way_out
    });
    let way_out = way_out.flatten();
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    arrive(way_out.is_some());
    with(|world| {
        world.set_waker(object, 1);
        world.release(object);
    });
}

/// Is the task of the current thread to be polled although it was not woken? Both answers are tried.
pub(crate) fn polls_spuriously(place: Place) -> bool {
    if with(|world| world.features.has(Feature::SpuriousPolls)) != Some(true) {
        return false;
    }
    let is_spurious = point(Op::local("wait or poll", place).ways(Ways::Fixed(2))) == 1;
    detail(|| if is_spurious { "polls without being woken" } else { "waits" }.to_owned());
    is_spurious
}

/// Waits until the task of the current thread is woken.
pub(crate) fn wait_for_waker(place: Place) {
    drain(None, place);
    let object = waker(with(|world| world.current).unwrap_or(0), place);
    point(Op::gated(object, TOKEN, "wait for waker", place));
    with(|world| {
        world.set_waker(object, 0);
        world.acquire(object);
    });
}

/// The number of the current thread, and how much it has done so far that others could notice.
pub(crate) fn activity() -> Option<(u32, u64)> {
    with(|world| {
        let me = world.me();
        let activity = u64::from(me.events) << 32 | u64::from(me.stores);
        (world.current, activity)
    })
}

/// The task that is performed at this place waits for something that is not controlled.
#[cold]
pub(crate) fn note_uncontrolled_task(place: Place) {
    with(|world| {
        world.uncontrolled_task.get_or_insert(place);
    });
}

impl World {
    fn set_waker(&mut self, object: u32, value: u64) {
        self.object(object).value = value;
        self.object(object).open = if value == 0 { 0 } else { TOKEN };
        self.wrote(object);
    }
}

/// The current thread leaves what it gave. Comes back with it if no thread can take it.
fn leave(left: Left) -> Option<Left> {
    with(|world| {
        let me = world.me();
        if me.detached {
            return Some(left);
        }
        me.left = Some(left);
        world.lefts += 1;
        None
    })
    .flatten()
}

/// The right to join a thread of one execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joins {
    pub(crate) number: u32,
    epoch: u64,
}

impl Joins {
    /// The right to join a thread of the current execution.
    pub(crate) fn thread(number: u32) -> Joins {
        Joins { number, epoch: with(|world| world.epoch).unwrap_or(0) }
    }

    /// Takes what the thread left, if it is over and that was not taken.
    pub(crate) fn take(self) -> Option<Left> {
        with(|world| {
            if world.epoch != self.epoch {
                return None;
            }
            let left = world.threads[self.number as usize].left.take();
            world.lefts -= u32::from(left.is_some());
            left
        })
        .flatten()
    }

    /// The thread will not be joined any more. Gives what it has left already.
    pub(crate) fn give_up(self) -> Option<Left> {
        with(|world| {
            if world.epoch == self.epoch {
                world.threads[self.number as usize].detached = true;
            }
        });
        self.take()
    }
}

/// The current thread has panicked, which was not seen yet. Leaves the panic to the thread that joins it.
pub(crate) fn panicked(panic: Box<dyn Any + Send>) {
    note_panic(&*panic);
    drop_unwanted(leave(Left::Panic(panic)));
}

/// Notes a panic in the current thread that was not seen yet.
pub(crate) fn note_panic(panic: &(dyn Any + Send)) {
    let is_main = with(|world| world.current == 0).unwrap_or(false);
    if !is_main && panic.is::<crate::exception::ThreadKilled>() {
        // The thread that has killed it knows.
        return;
    }
    let text = payload_text(panic);
    with(|world| {
        let message = world.ending.last_panic.take().unwrap_or(text);
        world.ending.panics.push((world.current, message));
    });
}

/// The current thread leaves what its code gave.
pub(crate) fn leave_value(value: Box<dyn Any>) {
    drop_unwanted(leave(Left::Value(value)));
}

/// Drops what cannot be taken any more.
#[inline]
fn drop_unwanted(unwanted: Option<Left>) {
    if unwanted.is_some() {
        drop_at_end("the result of a thread", unwanted);
    }
}

/// Drops something at the end of a thread. A panic in that aborts the process for real, so it is a fault.
#[cold]
pub(crate) fn drop_at_end<T>(what: &str, value: T) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) else { return };
    let text = payload_text(&*panic);
    with(|world| {
        world.end_unwinding();
        if !world.aborting && !panic.is::<super::exception::TornDown>() {
            let text = world.ending.last_panic.take().unwrap_or(text);
            let fault =
                format!("a panic while {what} was dropped, which aborts the process: {text}");
            world.ending.fault = Some(fault);
            world.over = true;
        }
    });
}

/// The panic of a thread was seen.
pub(crate) fn seen_panic(number: u32) {
    with(|world| world.ending.panics.retain(|&(thread, _)| thread != number));
}

pub(super) fn payload_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Panics under test are results: they are noted and not printed. Others are printed as before.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // A panic of the library itself is no result.
            if under_test() && !is_busy() {
                note(info);
            } else {
                before(info);
            }
        }));
    });
}

fn note(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or(String::new(), |place: &Location<'_>| {
        format!(" at {}:{}", place.file(), place.line())
    });
    let message = format!("{}{place}", payload_text(info.payload()));
    with(|world| {
        world.begin_unwinding();
        world.ending.last_panic = Some(message);
    });
}
