//! What a model thread announces before it does it.

use std::panic::Location;

use strait_explore::{Access, Atomic};

use super::short_list::ShortList;

/// A place in the source of the code under test.
pub(crate) type Place = &'static Location<'static>;

/// In how many ways a step can be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    /// So many, whatever the state.
    Fixed(u32),
    /// As many as the first object says, at least one.
    Counted,
    /// One for each access whose case is ready (see [`Op::cases`]), at least one.
    Cases,
}

/// An access that reads.
#[inline]
pub(crate) const fn reads(object: u32) -> Access {
    Access { object, write: false, gate: 0 }
}

/// An access that writes.
#[inline]
pub(crate) const fn writes(object: u32) -> Access {
    Access { object, write: true, gate: 0 }
}

/// The next step of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    /// What it accesses.
    pub(crate) accesses: ShortList<Access>,
    pub(crate) ways: Ways,
    /// For a select: the gate that makes each case ready, in the order of the accesses.
    pub(crate) cases: Vec<u8>,
    /// What the trace calls it.
    pub(crate) label: &'static str,
    pub(crate) place: Place,
    /// Is it a hint that others should go first?
    pub(crate) yields: bool,
    /// Does it write its only object only if that has this value?
    pub(crate) writes_if: Option<u64>,
    /// What it does to an atomic variable whose state is left to the search (`relaxed.rs`).
    pub(crate) atomic: Option<Atomic>,
}

impl Op {
    /// A step that touches nothing.
    pub(crate) fn local(label: &'static str, place: Place) -> Op {
        Op {
            accesses: ShortList::new(reads(u32::MAX)),
            ways: Ways::Fixed(1),
            cases: Vec::new(),
            label,
            place,
            yields: false,
            writes_if: None,
            atomic: None,
        }
    }

    /// A step that reads an object.
    #[inline]
    pub(crate) fn read(object: u32, label: &'static str, place: Place) -> Op {
        Op::on(Access { object, write: false, gate: 0 }, label, place)
    }

    /// A step that writes an object.
    #[inline]
    pub(crate) fn write(object: u32, label: &'static str, place: Place) -> Op {
        Op::on(Access { object, write: true, gate: 0 }, label, place)
    }

    /// A step that writes an object and waits until one of the gates is open.
    #[inline]
    pub(crate) fn gated(object: u32, gate: u8, label: &'static str, place: Place) -> Op {
        Op::on(Access { object, write: true, gate }, label, place)
    }

    /// A step that reads an object and waits until one of the gates is open.
    pub(crate) fn gated_read(object: u32, gate: u8, label: &'static str, place: Place) -> Op {
        Op::on(Access { object, write: false, gate }, label, place)
    }

    #[inline]
    fn on(access: Access, label: &'static str, place: Place) -> Op {
        let mut accesses = ShortList::new(access);
        accesses.become_one(access);
        let (ways, cases) = (Ways::Fixed(1), Vec::new());
        Op { accesses, ways, cases, label, place, yields: false, writes_if: None, atomic: None }
    }

    /// Becomes a step with one access and one way to take it, in place.
    #[inline]
    pub(crate) fn become_one(&mut self, access: Access, label: &'static str, place: Place) {
        self.accesses.become_one(access);
        self.ways = Ways::Fixed(1);
        self.cases.clear();
        self.label = label;
        self.place = place;
        self.yields = false;
        self.writes_if = None;
        self.atomic = None;
    }

    /// Becomes a step whose only effect is on an atomic variable that is left to the search, or a fence.
    pub(crate) fn become_atomic(&mut self, atomic: Atomic, label: &'static str, place: Place) {
        self.become_one(reads(u32::MAX), label, place);
        self.accesses.clear();
        self.atomic = Some(atomic);
    }

    /// The same step, which also writes another object.
    pub(crate) fn and_writes(mut self, object: u32) -> Op {
        self.accesses.push(Access { object, write: true, gate: 0 });
        self
    }

    /// The same step with several ways to take it.
    pub(crate) fn ways(mut self, ways: Ways) -> Op {
        self.ways = ways;
        self
    }
}
