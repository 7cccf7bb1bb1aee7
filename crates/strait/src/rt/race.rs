//! Data races: which accesses to plain memory are ordered by synchronisation.
//!
//! Vector clocks along release and acquire edges only, unlike the order of the search, which knows
//! every conflict. Two accesses of which one writes and neither happens before the other are a data
//! race in every interleaving, so accesses to cells are not steps. The clocks are kept only in
//! searches that have met a cell, or a pointer that is published without a release.
//!
//! Fences are as in C++20 (section 33.5.11): a release fence is what later stores of its thread
//! release, and an acquire fence acquires what the stores have released that its thread has read
//! before. To make an object writes it: a thread that accesses it without knowing of that is in a race, also
//! at an atomic.

use strait_explore::EventId;

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
    /// For each thread what its last release fence has released.
    fences: Vec<Vec<u32>>,
    /// For each thread what an acquire fence would acquire.
    read: Vec<Vec<u32>>,
    /// For each thread what its writes have released, where the search says who reads from them.
    writes: Vec<Vec<(u32, Vec<u32>)>>,
}

impl Clocks {
    pub(crate) fn reset(&mut self) {
        if self.on {
            self.threads.clear();
            self.objects.clear();
            self.cells.clear();
            self.fences.clear();
            self.read.clear();
            self.writes.clear();
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

    /// What a release by the thread hands over.
    #[inline]
    pub(crate) fn released(&mut self, thread: u32) -> Vec<u32> {
        if self.on { self.publish(thread) } else { Vec::new() }
    }

    /// What a store of the thread hands over: everything it knows if the store releases, otherwise what
    /// its last release fence has released.
    #[inline]
    pub(crate) fn handed_over(&mut self, thread: u32, releases: bool) -> Vec<u32> {
        match (self.on, releases) {
            (false, _) => Vec::new(),
            (true, true) => self.publish(thread),
            (true, false) => entry(&mut self.fences, thread).clone(),
        }
    }

    /// A fence of the thread that releases.
    pub(crate) fn release_fence(&mut self, thread: u32) {
        if self.on {
            let known = self.publish(thread);
            *entry(&mut self.fences, thread) = known;
        }
    }

    /// A fence of the thread that acquires.
    pub(crate) fn acquire_fence(&mut self, thread: u32) {
        if self.on {
            let read = std::mem::take(entry(&mut self.read, thread));
            join(self.clock(thread), &read);
            *entry(&mut self.read, thread) = read;
        }
    }

    /// The thread has read the object, with an ordering that acquires or not.
    #[cold]
    pub(crate) fn read(&mut self, thread: u32, object: u32, acquires: bool) {
        if acquires {
            self.acquire(thread, object);
        }
        let released = std::mem::take(entry(&mut self.objects, object));
        join(entry(&mut self.read, thread), &released);
        *entry(&mut self.objects, object) = released;
    }

    /// The thread has read from a write, or an initial value, where the search says which.
    pub(crate) fn read_from(&mut self, thread: u32, source: Option<EventId>, acquires: bool) {
        let Some(source) = source else { return };
        let released = self.released_at(source);
        if acquires {
            join(self.clock(thread), &released);
        }
        join(entry(&mut self.read, thread), &released);
    }

    /// A write where the search says what it reads from, if it is a read-modify-write.
    pub(crate) fn write_at(&mut self, event: EventId, source: Option<EventId>, releases: bool) {
        let mut released = self.handed_over(event.thread.0, releases);
        if let Some(source) = source {
            join(&mut released, &self.released_at(source));
        }
        entry(&mut self.writes, event.thread.0).push((event.index, released));
    }

    /// What a write has released.
    fn released_at(&self, write: EventId) -> Vec<u32> {
        let writes = self.writes.get(write.thread.0 as usize).map_or(&[][..], |writes| writes);
        let found = writes.binary_search_by_key(&write.index, |(index, _)| *index);
        found.map_or_else(|_| Vec::new(), |index| writes[index].1.clone())
    }

    /// The thread has changed the object by a read-modify-write: what was released there before stays
    /// released, and what the change releases comes to it.
    pub(crate) fn change(&mut self, thread: u32, object: u32, releases: bool) {
        if self.on {
            let more = self.handed_over(thread, releases);
            join(entry(&mut self.objects, object), &more);
        }
    }

    /// The thread makes an object.
    #[cold]
    pub(crate) fn make(&mut self, thread: u32, object: u32, place: Place) {
        let time = self.clock(thread)[thread as usize];
        entry(&mut self.cells, object).write = Some(Touch { thread, time, place });
    }

    /// Who has made the atomic, if the thread, which accesses it, does not know of that.
    pub(crate) fn unknown_maker(&mut self, thread: u32, object: u32) -> Option<Touch> {
        let made = self.cells.get(object as usize)?.write?;
        (!self.knows(thread, made)).then_some(made)
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
