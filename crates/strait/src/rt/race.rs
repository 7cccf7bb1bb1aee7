//! Data races: which accesses to plain memory are ordered by synchronisation.
//!
//! Vector clocks along release and acquire edges only, unlike the order of the search, which knows
//! every conflict. Two accesses of which one writes and neither happens before the other are a data
//! race in every interleaving, so accesses to cells are not steps. The clocks are kept only in
//! searches that have met a cell.

use super::op::Place;

/// An access to a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    thread: u32,
    time: u32,
    pub(crate) place: Place,
}

/// The accesses to one cell that later ones have to be ordered with.
#[derive(Clone, Default, Debug)]
pub(crate) struct Touched {
    write: Option<Touch>,
    reads: Vec<Touch>,
}

/// The synchronisation clocks of an execution.
#[derive(Default, Debug)]
pub(crate) struct Clocks {
    /// Are they kept?
    pub(crate) on: bool,
    threads: Vec<Vec<u32>>,
    objects: Vec<Vec<u32>>,
    cells: Vec<Touched>,
}

impl Clocks {
    pub(crate) fn reset(&mut self) {
        if self.on {
            self.threads.clear();
            self.objects.clear();
            self.cells.clear();
        }
    }

    #[inline]
    pub(crate) fn forget_object(&mut self, object: u32) {
        if self.on {
            *entry(&mut self.objects, object) = Vec::new();
            *entry(&mut self.cells, object) = Touched::default();
        }
    }

    fn clock(&mut self, thread: u32) -> &mut Vec<u32> {
        let clock = entry(&mut self.threads, thread);
        if clock.len() <= thread as usize {
            clock.resize(thread as usize + 1, 0);
            clock[thread as usize] = 1;
        }
        clock
    }

    /// A copy of what the thread knows; whatever it does next is later.
    fn publish(&mut self, thread: u32) -> Vec<u32> {
        let clock = self.clock(thread);
        let known = clock.clone();
        clock[thread as usize] += 1;
        known
    }

    #[inline]
    pub(crate) fn spawn(&mut self, parent: u32, child: u32) {
        self.wake(parent, child);
    }

    /// What the one thread did happens before what the other does next.
    #[inline]
    pub(crate) fn wake(&mut self, from: u32, to: u32) {
        if self.on {
            let known = self.publish(from);
            join(self.clock(to), &known);
        }
    }

    /// What an unsynchronised store of the thread would hand over.
    #[inline]
    pub(crate) fn released(&mut self, thread: u32) -> Vec<u32> {
        if self.on { self.publish(thread) } else { Vec::new() }
    }

    /// An object gets a new value, and with it what that value releases.
    #[inline]
    pub(crate) fn store(&mut self, object: u32, released: Vec<u32>) {
        if self.on {
            *entry(&mut self.objects, object) = released;
        }
    }

    /// The thread learns what was released through the object.
    #[inline]
    pub(crate) fn acquire(&mut self, thread: u32, object: u32) {
        if self.on {
            let released = std::mem::take(entry(&mut self.objects, object));
            join(self.clock(thread), &released);
            *entry(&mut self.objects, object) = released;
        }
    }

    /// The thread learns what was released elsewhere.
    #[inline]
    pub(crate) fn learn(&mut self, thread: u32, released: &[u32]) {
        if self.on {
            join(self.clock(thread), released);
        }
    }

    /// The thread releases through the object, besides what was released there before.
    #[inline]
    pub(crate) fn release(&mut self, thread: u32, object: u32) {
        if self.on {
            let known = self.publish(thread);
            join(entry(&mut self.objects, object), &known);
        }
    }

    fn knows(&mut self, thread: u32, touch: Touch) -> bool {
        touch.thread == thread
            || self.clock(thread).get(touch.thread as usize).is_some_and(|&time| time >= touch.time)
    }

    /// Notes an access to a cell. Gives an earlier access that races with it.
    pub(crate) fn touch(
        &mut self,
        thread: u32,
        cell: u32,
        write: bool,
        place: Place,
    ) -> Option<Touch> {
        if !self.on {
            return None;
        }
        let time = self.clock(thread)[thread as usize];
        let touch = Touch { thread, time, place };
        let touched = std::mem::take(entry(&mut self.cells, cell));
        let mut rival = touched.write.filter(|&earlier| !self.knows(thread, earlier));
        if write && rival.is_none() {
            rival = touched.reads.iter().copied().find(|&earlier| !self.knows(thread, earlier));
        }
        let slot = entry(&mut self.cells, cell);
        *slot = touched;
        if write {
            *slot = Touched { write: Some(touch), reads: Vec::new() };
        } else {
            slot.reads.retain(|earlier| earlier.thread != thread);
            slot.reads.push(touch);
        }
        rival
    }
}

impl Touch {
    pub(crate) fn thread(&self) -> u32 {
        self.thread
    }
}

fn entry<T: Default>(table: &mut Vec<T>, index: u32) -> &mut T {
    let index = index as usize;
    if table.len() <= index {
        table.resize_with(index + 1, T::default);
    }
    &mut table[index]
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (known, &more) in clock.iter_mut().zip(other) {
        *known = (*known).max(more);
    }
}
