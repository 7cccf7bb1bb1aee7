//! What crates with further primitives are made of: objects whose operations are steps, gates at which
//! threads wait for them, and what a check has to be told. Not for tests; there is no promise that it stays
//! as it is.
//!
//! An operation announces a step at its object by [`ObjectId::step`] and then does what it does with ordinary
//! data: no other thread runs before the next step. A thread that has to wait calls [`wait`] with gates of
//! the objects that may let it go on. Gates are opened and closed only by steps that write their object.

use std::any::Any;
use std::panic::Location;

use strait_explore::Access;

use crate::rt::current::{self, with};
use crate::rt::exception::TornDown;
use crate::rt::op::{Op, Ways, reads, writes};
use crate::rt::record::State;
use crate::rt::schedule::{self, drain, point, point_at};
use crate::rt::slot::{Fresh, Slot};
use crate::rt::thread as model;
use crate::rt::world::World;

/// Is this code under test?
#[inline]
pub fn under_test() -> bool {
    current::under_test()
}

/// Something that threads share.
#[derive(Debug)]
pub struct Object {
    slot: Slot,
    kind: &'static str,
}

impl Object {
    /// An object that is made now; the trace calls it by its kind.
    #[track_caller]
    pub fn new(kind: &'static str) -> Self {
        Object { slot: Slot::new(fresh(kind)), kind }
    }

    /// An object for a `static`.
    pub const fn new_static(kind: &'static str) -> Self {
        Object { slot: Slot::unnamed(), kind }
    }

    /// Its number in the current execution, of which there must be one.
    pub fn number(&self, place: &'static Location<'static>) -> ObjectId {
        let number = with(|world| self.slot.find(world, || fresh(self.kind), place).0);
        ObjectId(number.unwrap_or(0))
    }
}

fn fresh(kind: &'static str) -> Fresh {
    Fresh { kind, open: 0, value: 0 }
}

/// The number of an object in one execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(u32);

/// The object that an execution has for a purpose, the same for all threads; purposes up to 15 are the library's.
#[track_caller]
pub fn common_object(purpose: u8, kind: &'static str) -> ObjectId {
    let place = Location::caller();
    ObjectId(with(|world| world.own_object(0, purpose.max(16), kind, place)).unwrap_or(0))
}

impl ObjectId {
    /// A step that writes the object, which also orders what was done before.
    pub fn step(self, label: &'static str, place: &'static Location<'static>) {
        drain(None, place);
        point_at(writes(self.0), label, place);
        self.synchronise();
    }

    /// A step that reads the object.
    pub fn look(self, label: &'static str, place: &'static Location<'static>) {
        drain(None, place);
        point_at(reads(self.0), label, place);
        with(|world| world.acquire(self.0));
    }

    /// Opens and closes gates, in a step that writes the object.
    pub fn set_gates(self, open: u8, close: u8) {
        with(|world| {
            let object = world.object(self.0);
            object.open = (object.open | open) & !close;
        });
    }

    /// Says in how many ways a step of [`wait_and_choose`] at the object can be taken.
    pub fn set_ways(self, ways: u32) {
        with(|world| world.object(self.0).ways = ways);
    }

    /// The gates that are open.
    pub fn gates(self) -> u8 {
        with(|world| world.object(self.0).open).unwrap_or(0)
    }

    fn synchronise(self) {
        with(|world| {
            world.acquire(self.0);
            world.release(self.0);
        });
    }
}

/// What a thread waits for: a gate of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    /// Whose gates.
    pub object: ObjectId,
    /// Which gates, as bits; none if the step only accesses the object.
    pub bits: u8,
    /// Does the step write the object?
    pub write: bool,
}

/// Waits until one of the gates is open. One step.
pub fn wait(gates: &[Gate], label: &'static str, place: &'static Location<'static>) {
    drain(None, place);
    let mut op = Op::local(label, place);
    op.accesses.extend(gates.iter().map(|gate| access(*gate)));
    point(op);
    for gate in gates {
        with(|world| world.acquire(gate.object.0));
        if gate.write {
            with(|world| world.release(gate.object.0));
        }
    }
}

/// Waits until a gate of the object is open, and takes the step in one of the ways that it has.
pub fn wait_and_choose(
    object: ObjectId,
    bits: u8,
    label: &'static str,
    place: &'static Location<'static>,
) -> u32 {
    drain(None, place);
    let choice = point(Op::gated(object.0, bits, label, place).ways(Ways::Counted));
    object.synchronise();
    choice
}

fn access(gate: Gate) -> Access {
    Access { object: gate.object.0, write: gate.write, gate: gate.bits }
}

/// Distinguishes the current execution from all others of the process.
pub fn execution() -> Option<u64> {
    with(|world| world.epoch)
}

/// The number of the current thread, and how much it has done so far that others could notice.
pub fn activity() -> Option<(u32, u64)> {
    model::activity()
}

/// The numbers of the threads that are not over, without the current one.
pub fn other_threads() -> Vec<u32> {
    let others = with(|world| {
        let is_alive = |number: &u32| {
            let thread = &world.threads[*number as usize];
            let exists = !matches!(thread.state, State::Unborn | State::Finished);
            exists && thread.commits_for.is_none() && *number != world.current
        };
        (0..world.threads.len() as u32).filter(is_alive).collect()
    });
    others.unwrap_or_default()
}

/// Was the last step of the current thread one that writes this object? Then what the object is like depends on
/// the order of such steps alone.
pub fn is_in_step_at(object: ObjectId) -> bool {
    with(|world| {
        let me = world.me();
        let writes = |access: &Access| access.object == object.0 && access.write;
        me.events > 0 && me.op.accesses.iter().any(writes)
    })
    .unwrap_or(false)
}

/// Adds to the last line of the trace, if there is one.
pub fn detail(text: impl FnOnce() -> String) {
    schedule::detail(text);
}

/// Lets other threads go first.
#[inline(always)]
pub fn yield_at(place: &'static Location<'static>) {
    model::yield_now(place);
}

/// Starts a thread whose code need not be sent anywhere, since all threads of an execution are performed by
/// one operating system thread. Must be called under test.
pub fn spawn_here(
    name: Option<String>,
    code: impl FnOnce() + 'static,
    place: &'static Location<'static>,
) {
    drop(crate::thread::spawn_model(code, name, place));
}

/// Is this the panic by which a thread ends because its execution is over? Then it has to go on.
pub fn is_end_of_execution(panic: &(dyn Any + Send)) -> bool {
    panic.is::<TornDown>()
}

/// A panic of the current thread was caught, and not yet seen by anything that waits for the thread: a failure
/// unless [`seen_panic`] is called. Gives the number of the thread.
pub fn caught_panic(panic: &(dyn Any + Send)) -> u32 {
    model::note_panic(panic);
    with(|world| {
        world.end_unwinding();
        world.current
    })
    .unwrap_or(0)
}

/// The panic of a thread was seen.
pub fn seen_panic(thread: u32) {
    model::seen_panic(thread);
}

/// The search leaves something out, whatever it says by itself: it is bounded for this reason.
pub fn leaves_out(reason: &'static str) {
    with(|world: &mut World| {
        world.leaves_out.get_or_insert(reason);
    });
}

/// Ends the execution with a fault.
pub fn fault(text: String) {
    with(|world| {
        world.ending.fault.get_or_insert(text);
    });
    schedule::give_up();
}
