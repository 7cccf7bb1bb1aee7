//! The objects that the threads of an execution share, and the gates at which steps wait.
//!
//! An object has the same number in equivalent executions (`names.rs`). Its entry belongs to the
//! execution whose epoch it bears; older ones count as absent.

use strait_explore::{Access, EventId, ThreadId};

use super::op::{Op, Place, Ways};
use super::record::{NO_EVENT, State, Thread};
use super::short_list::ShortList;
use super::world::World;

/// An object that threads share.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    epoch: u64,
    /// Its open gates.
    pub(crate) open: u8,
    /// In how many ways a step that counts them can be taken.
    pub(crate) ways: u32,
    /// Its value, if it is one, and the value that it had at first.
    pub(crate) value: u64,
    pub(crate) initial: u64,
    pub(crate) kind: &'static str,
    pub(crate) place: Place,
    /// What it is a part of; itself, nearly always.
    pub(crate) whole: u32,
}

impl World {
    /// Makes an object on behalf of the current thread.
    #[inline]
    pub(crate) fn create(&mut self, kind: &'static str, open: u8, value: u64, place: Place) -> u32 {
        let maker = self.current;
        let index = self.me().objects;
        self.me().objects += 1;
        let number = self.names.object(maker, index);
        self.place_object(number, kind, open, value, place);
        if self.clocks.on {
            self.clocks.make(maker, number, place);
        }
        number
    }

    /// The object at an address that no thread of this execution has made. Says whether this
    /// execution meets it for the first time.
    pub(crate) fn outside(
        &mut self,
        address: usize,
        kind: &'static str,
        open: u8,
        value: u64,
        place: Place,
    ) -> (u32, bool) {
        self.outside = true;
        let number = self.names.at(address);
        let known = self.objects.get(number as usize);
        if known.is_some_and(|object| object.epoch == self.epoch) {
            return (number, false);
        }
        self.place_object(number, kind, open, value, place);
        (number, true)
    }

    /// An object that belongs to a thread, by what it is for.
    pub(crate) fn own_object(
        &mut self,
        thread: u32,
        purpose: u8,
        kind: &'static str,
        place: Place,
    ) -> u32 {
        let number = self.names.own(thread, purpose);
        let known = self.objects.get(number as usize);
        if known.is_none_or(|object| object.epoch != self.epoch) {
            self.place_object(number, kind, 0, 0, place);
        }
        number
    }

    /// Where a thread was started: what an object is named by that any thread may be the first to use, because
    /// that is a matter of order.
    pub(crate) fn started_at(&self, thread: u32, otherwise: Place) -> Place {
        self.threads.get(thread as usize).map_or(otherwise, |thread| thread.born_at)
    }

    fn place_object(
        &mut self,
        number: u32,
        kind: &'static str,
        open: u8,
        value: u64,
        place: Place,
    ) {
        let (epoch, initial) = (self.epoch, value);
        let object = Object { epoch, open, ways: 1, value, initial, kind, place, whole: number };
        let index = number as usize;
        if self.objects.len() <= index {
            let unused = Object { epoch: 0, open: 0, value: 0, kind: "", ..object };
            self.objects.resize(index + 1, unused);
        }
        self.objects[index] = object;
        if let Some(enablers) = self.enablers.get_mut(index) {
            enablers.clear();
        }
        if let Some(released) = self.releases.get_mut(index) {
            released.clear();
        }
        self.clocks.forget_object(number);
    }

    #[inline]
    pub(crate) fn object(&mut self, number: u32) -> &mut Object {
        &mut self.objects[number as usize]
    }

    /// The events that have opened the gate of a step without writing what it accesses.
    #[inline]
    pub(crate) fn enablers(&self, accesses: &[Access]) -> &[EventId] {
        match accesses {
            [access, ..] if access.gate != 0 => {
                self.enablers.get(access.object as usize).map_or(&[], |enablers| enablers)
            }
            _ => &[],
        }
    }

    /// These events have opened the gate of an object.
    pub(crate) fn enable(&mut self, object: u32, events: impl Iterator<Item = EventId>) {
        let index = object as usize;
        if self.enablers.len() <= index {
            self.enablers.resize(index + 1, ShortList::new(NO_EVENT));
        }
        let enablers = &mut self.enablers[index];
        enablers.clear();
        events.for_each(|event| enablers.push(event));
    }

    /// In how many ways the announced step of a thread can be taken now.
    #[inline]
    pub(crate) fn choices(&self, thread: &Thread) -> u32 {
        let op = &thread.op;
        match op.ways {
            Ways::Fixed(count) => count,
            _ => self.counted_choices(op),
        }
    }

    fn counted_choices(&self, op: &Op) -> u32 {
        let open = |index: usize| self.objects[op.accesses[index].object as usize].open;
        match op.ways {
            Ways::Fixed(count) => count,
            Ways::Counted => self.objects[op.accesses[0].object as usize].ways.max(1),
            Ways::Cases => {
                let cases = op.cases.iter().enumerate();
                let ready = cases.filter(|(index, gate)| open(*index) & **gate != 0).count();
                ready.max(1) as u32
            }
        }
    }

    /// Can the thread make its announced step?
    #[inline]
    pub(crate) fn is_enabled(&self, number: ThreadId) -> bool {
        let Some(thread) = self.threads.get(number.0 as usize) else { return false };
        if thread.state != State::Announced || self.over {
            return false;
        }
        if thread.alike.as_ref().is_some_and(|alike| !self.may_go(thread, alike)) {
            return false;
        }
        if let [access] = thread.op.accesses[..]
            && access.gate == 0
        {
            return true;
        }
        self.has_open_gate(&thread.op.accesses)
    }

    /// Is one of the gates of these accesses open, or is there none?
    fn has_open_gate(&self, accesses: &[Access]) -> bool {
        let mut gated = false;
        for access in accesses {
            if access.gate != 0 {
                gated = true;
                if self.objects[access.object as usize].open & access.gate != 0 {
                    return true;
                }
            }
        }
        !gated
    }
}
