//! Invariants: conditions over shared variables that must hold after every step.
//!
//! A condition is looked at in every state that a search passes, and the order of writes to the
//! variables it reads becomes visible: such writes are dependent on each other, through an object
//! that stands for the invariant.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use rustc_hash::FxHashSet;
use strait_explore::Access;

use super::current::with;
use super::exception::TornDown;
use super::thread::payload_text;
use super::world::World;

/// A condition with its name.
#[derive(Clone)]
struct Invariant {
    name: Rc<str>,
    holds: Rc<dyn Fn() -> bool>,
}

/// The invariants of an execution.
#[derive(Default)]
pub(crate) struct Invariants {
    all: Vec<Invariant>,
    /// The object that stands for them all, once there are any.
    object: Option<u32>,
    /// What the conditions have read.
    watched: FxHashSet<u32>,
    /// Is a condition being evaluated? Then reading is no step.
    peeking: bool,
}

impl Invariants {
    #[inline]
    pub(crate) fn are_any(&self) -> bool {
        self.object.is_some()
    }
}

impl World {
    /// Is a condition being evaluated? Notes what it reads.
    #[inline]
    pub(crate) fn peeks(&mut self, object: u32) -> bool {
        if self.invariants.peeking {
            self.note_watched(object);
        }
        self.invariants.peeking
    }

    /// Is a condition being evaluated?
    pub(crate) fn is_peeking(&self) -> bool {
        self.invariants.peeking
    }

    #[cold]
    fn note_watched(&mut self, object: u32) {
        self.invariants.watched.insert(object);
    }

    /// Adds what the announced step of the current thread does to the invariants.
    #[inline]
    pub(crate) fn announce_to_invariants(&mut self, number: u32) {
        if let Some(object) = self.invariants.object {
            self.announce_watched(number, object);
        }
    }

    #[cold]
    fn announce_watched(&mut self, number: u32, object: u32) {
        let op = &mut self.threads[number as usize].op;
        let watched = &self.invariants.watched;
        if op.accesses.iter().any(|access| access.write && watched.contains(&access.object)) {
            op.accesses.push(Access { object, write: true, gate: 0 });
        }
    }

    /// The execution is over. The conditions belong to the user, so they are not dropped here.
    pub(crate) fn forget_invariants(&mut self) {
        if self.invariants.object.is_some() {
            let all = std::mem::take(&mut self.invariants).all;
            self.rubbish
                .extend(all.into_iter().map(|invariant| Box::new(invariant) as Box<dyn Any>));
        }
    }
}

/// Registers a condition for the rest of the execution, and checks it at once.
pub(crate) fn register(name: &str, holds: impl Fn() -> bool + 'static) {
    let invariant = Invariant { name: name.into(), holds: Rc::new(holds) };
    with(|world| {
        if world.is_relaxed() {
            let fault = format!(
                "the invariant {:?} cannot be checked under RC11, where threads see different states \
                 of atomic variables: choose another model, such as \
                 `strait::Builder::new().model(strait::Model::Sc)`",
                invariant.name
            );
            world.ending.fault.get_or_insert(fault);
            world.over = true;
        }
        if world.invariants.object.is_none() {
            let place = world.me().op.place;
            world.invariants.object = Some(world.own_object(0, 2, "invariants", place));
        }
        world.invariants.all.push(invariant);
    });
    check();
}

/// Evaluates all conditions; notes the first that does not hold.
pub(crate) fn check() {
    let all = with(|world| {
        world.invariants.peeking = true;
        // This may run on any stack, so it is not possible to wait here.
        world.aborting = true;
        world.invariants.all.clone()
    });
    for Invariant { name, holds } in all.into_iter().flatten() {
        let held = catch_unwind(AssertUnwindSafe(|| holds()));
        let fault = match held {
            Ok(true) => continue,
            Ok(false) => format!("the invariant {name:?} does not hold"),
            Err(panic) if panic.is::<TornDown>() => format!(
                "the invariant {name:?} does more than read: it can load atomics and read `CRef`s, full \
                 `MVar`s and `TVar`s"
            ),
            Err(panic) => format!("the invariant {name:?} panicked: {}", payload_text(&*panic)),
        };
        with(|world| {
            world.end_unwinding();
            world.ending.fault.get_or_insert(fault);
            world.over = true;
        });
    }
    with(|world| {
        world.invariants.peeking = false;
        world.aborting = false;
    });
}

/// Evaluates all conditions if there are any.
#[inline]
pub(crate) fn check_if_any() {
    if with(|world| world.invariants.object.is_some()) == Some(true) {
        check();
    }
}
