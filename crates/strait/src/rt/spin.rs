//! Loops that wait: by `yield_now`, by `spin_loop`, or by a compare-exchange that fails again and again.
//!
//! A round is what a thread does from one such point to a later one at the same place. If it has only
//! read, or written what it has read (as `while lock.swap(true, Acquire) {}` does), if the frames on its
//! stack are what they were at its beginning, and if what it has read has not changed since, then another
//! round does the same again. So the step at the end of such a round waits until one of the variables has
//! another value, and the loop is finite without being cut. A round may visit its place several times, as
//! a backoff does that spins `1 << step` times with a bounded `step`.
//!
//! | term | here |
//! |---|---|
//! | the point at which a round ends | [`World::ends_round`], [`World::judge_round`] |
//! | what a round has read | [`World::note_read`] |
//! | the gate that a change opens | [`World::note_write`], one bit per waiting thread |
//!
//! The gate of a thread belongs to its own reads: a read closes it and a write of another value opens
//! it. The step that waits for it comes after these reads in any order, so to the search it is a gate
//! that only writes change.
//!
//! A thread that counts its rounds on its stack is in another state each time, and does not wait here.
//! One that counts elsewhere is noticed only when everything else is blocked: see
//! [`Execution::gives_up_waiting`](super::execution::Execution::gives_up_waiting).

use smallvec::SmallVec;
use strait_explore::Access;

use super::features::Feature;
use super::op::{Op, Place};
use super::world::World;

/// The point at the end of a round.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    place: Place,
    /// Is it a step of its own that only ends the round?
    yields: bool,
}

/// What a thread has done since it was last at points where rounds end.
#[derive(Default)]
pub(crate) struct Rounds {
    /// The bit that opens when something changes that the thread has read; 0 before its first point.
    gate: u8,
    /// One for each visit of such a place after which the thread has only read; the latest is the last.
    all: Vec<Round>,
    /// The point that was announced and not looked at.
    point: Option<Point>,
    /// The compare-exchange that failed last: where, and the value it expected.
    failed: Option<(Place, u64)>,
    /// The number of the first step of the round that has ended last.
    last_first: u32,
    /// The registers and the frames on the stack at the point that was announced.
    frames: Vec<u8>,
}

/// What a thread has done since it was at a place.
struct Round {
    place: Place,
    /// The frames on the stack at that point.
    frames: Vec<u8>,
    /// The number of its first step.
    first: u32,
    /// How many of its steps were reads.
    reads: u32,
    /// What was read.
    values: SmallVec<[(u32, u64); 2]>,
    /// How many stores, threads and objects the thread had made before.
    made: (u32, u32, u32),
    /// Has something happened that makes this round unlike any other?
    broken: bool,
}

impl Round {
    fn note_read(&mut self, object: u32, value: u64) {
        self.reads += 1;
        match self.values.iter().find(|(known, _)| *known == object) {
            Some((_, known)) => self.broken |= *known != value,
            None => self.values.push((object, value)),
        }
    }
}

impl Rounds {
    pub(super) fn reset(&mut self) {
        self.gate = 0;
        self.all.clear();
        self.point = None;
        self.failed = None;
    }

    /// How many steps the thread had made before the round that has ended last.
    pub(super) fn waits_since(&self) -> u32 {
        self.last_first
    }

    /// Forgets the rounds that cannot be repeated: the thread has done something else than reading.
    fn retain_quiet(&mut self, made: (u32, u32, u32), events: u32) {
        self.all.retain(|round| {
            !round.broken && round.made == made && events.wrapping_sub(round.first) == round.reads
        });
    }

    /// Takes the shortest round that begins at this place and with these frames.
    fn take_repeated(&mut self, place: Place, frames: &[u8]) -> Option<Round> {
        let same = |round: &Round| round.place == place && round.frames == frames;
        let index = self.all.iter().rposition(same).filter(|_| !frames.is_empty())?;
        Some(self.all.remove(index))
    }

    /// A round begins.
    fn begin(&mut self, round: Round) {
        if self.all.len() == VISITS {
            self.all.remove(0);
        }
        self.all.push(round);
    }
}

/// Who waits for a variable to have another value.
#[derive(Clone, Copy)]
pub(crate) struct Watcher {
    object: u32,
    gate: u8,
    value: u64,
    read: Read,
}

/// How a thread reads an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// As the memory model says: the value may be an old one.
    Memory,
    /// The object's value as it is, whatever the memory model is.
    Direct,
}

/// A compare-exchange that is announced. It is a read if it would fail.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    thread: u32,
    object: u32,
    expected: u64,
}

/// How many visits of a thread are remembered: enough for a backoff that spins up to 64 times.
const VISITS: usize = 160;

/// How many threads can wait in loops at once.
pub(super) const GATES: u8 = 8;

/// Does the step wait for a change because it ends a round that was like the one before?
pub(super) fn waits_in_loop(op: &Op) -> bool {
    let gated = op.accesses.first().is_some_and(|access| access.gate != 0);
    gated && (op.yields || op.label == EXCHANGE)
}

/// What the trace calls a compare-exchange.
pub(super) const EXCHANGE: &str = "compare_exchange";

impl World {
    pub(super) fn forget_rounds(&mut self) {
        self.records = self.features.has(Feature::Spins);
        self.spun = false;
        self.gates = 0;
        self.watchers.clear();
        self.exchanges.clear();
    }

    /// The step that the current thread announces may end a round.
    #[inline]
    pub(super) fn ends_round(&mut self, place: Place, yields: bool) {
        if !self.records {
            self.want(Feature::Spins);
        }
        let me = self.me();
        me.rarities = true;
        me.rounds.point = Some(Point { place, yields });
        if yields {
            // The loop around both is recognised here.
            me.rounds.failed = None;
        }
        self.spun = true;
    }

    /// May a compare-exchange of the current thread end a round?
    #[inline]
    pub(super) fn may_end_round(&mut self) -> bool {
        self.records && self.me().rounds.failed.is_some()
    }

    /// The current thread is about to announce a point that may end a round. Its frames begin here.
    #[cfg(all(target_arch = "x86_64", unix))]
    #[cold]
    pub(super) fn note_frames(&mut self, stack_pointer: usize) {
        let me = self.me();
        if let Some(worker) = &me.worker {
            worker.copy_frames(stack_pointer, &mut me.rounds.frames);
        }
    }

    /// The current thread has read a variable, at a step that did nothing else.
    #[cold]
    pub(super) fn note_read(&mut self, object: u32, value: u64, read: Read) {
        let own = self.has_buffered(self.current, Some(object));
        let me = self.me();
        for round in &mut me.rounds.all {
            round.note_read(object, value);
            round.broken |= own;
        }
        let gate = me.rounds.gate;
        if gate == 0 {
            return;
        }
        let same = |watcher: &&mut Watcher| watcher.object == object && watcher.gate == gate;
        match self.watchers.iter_mut().find(same) {
            Some(watcher) => watcher.value = value,
            None => self.watchers.push(Watcher { object, gate, value, read }),
        }
        self.object(object).open &= !gate;
    }

    /// The current thread has read an object whose value does not depend on the memory model.
    pub(super) fn note_direct_read(&mut self, object: u32, value: u64) {
        if self.records {
            self.note_read(object, value, Read::Direct);
        }
    }

    /// The current thread has made a step that is a fence: another round would not order more.
    pub(super) fn note_fence(&mut self) {
        self.me().rounds.all.iter_mut().for_each(|round| round.reads += 1);
    }

    /// The current thread has changed memory that only it can see.
    pub(crate) fn break_round(&mut self) {
        self.me().rounds.all.iter_mut().for_each(|round| round.broken = true);
    }

    /// A variable has got a value.
    #[inline]
    pub(super) fn wrote(&mut self, object: u32) {
        if self.records | !self.exchanges.is_empty() {
            self.note_write(object);
        }
    }

    #[cold]
    fn note_write(&mut self, object: u32) {
        let value = self.objects[object as usize].value;
        for watcher in self.watchers.iter().filter(|watcher| watcher.object == object) {
            let open = &mut self.objects[object as usize].open;
            *open &= !watcher.gate;
            *open |= if watcher.value == value { 0 } else { watcher.gate };
        }
        for exchange in self.exchanges.iter().filter(|exchange| exchange.object == object) {
            let op = &mut self.threads[exchange.thread as usize].op;
            op.accesses[0].write = exchange.expected == value;
        }
    }

    /// The current thread has announced a compare-exchange, as a write.
    #[inline]
    pub(super) fn announce_exchange(&mut self, object: u32, expected: u64, place: Place) {
        self.announce_change(object, expected);
        self.announce_repeated_exchange(expected, place);
    }

    /// The current thread has announced a compare-exchange, which ends a round if it is the one that has
    /// failed before.
    #[inline]
    pub(super) fn announce_repeated_exchange(&mut self, expected: u64, place: Place) {
        if self.me().rounds.failed == Some((place, expected)) {
            self.ends_round(place, false);
        }
    }

    /// The current thread has announced a step that writes an object only if that has this value.
    pub(super) fn announce_change(&mut self, object: u32, expected: u64) {
        let (thread, succeeds) = (self.current, self.objects[object as usize].value == expected);
        let me = self.me();
        // With more accesses, some depend on whether this one writes.
        if me.op.accesses.len() == 1 {
            me.op.accesses[0].write = succeeds;
            me.op.writes_if = Some(expected);
            self.exchanges.push(Exchange { thread, object, expected });
        }
    }

    /// The announced compare-exchange of a thread is being made.
    #[cold]
    pub(super) fn forget_exchange(&mut self, thread: u32) {
        self.exchanges.retain(|exchange| exchange.thread != thread);
    }

    /// The compare-exchange of the current thread has succeeded, or has failed and found a value.
    pub(super) fn note_exchange(&mut self, object: u32, expected: u64, found: Option<u64>) {
        let place = self.me().op.place;
        let failed = found.map(|_| (place, expected));
        if failed.is_some() || self.me().rounds.failed.is_some() {
            let me = self.me();
            me.rarities = true;
            me.rounds.failed = failed;
        }
        if let Some(value) = found.filter(|_| self.records) {
            self.note_read(object, value, Read::Memory);
        }
    }

    /// Has an object changed that a thread waits for in a loop and reads directly?
    pub(super) fn has_changed_directly(&self, number: u32) -> bool {
        let gate = self.threads[number as usize].rounds.gate;
        let mut waits = self.watchers.iter().filter(|watcher| watcher.gate == gate);
        waits.any(|watcher| {
            watcher.read == Read::Direct
                && self.objects[watcher.object as usize].value != watcher.value
        })
    }

    /// A thread has stopped at the end of a round: its step waits if the round was like the last one.
    #[cold]
    pub(super) fn judge_round(&mut self, number: u32) {
        self.spun = false;
        let gates = self.gates;
        let thread = &mut self.threads[number as usize];
        let rounds = &mut thread.rounds;
        let Some(Point { place, yields }) = rounds.point.take() else { return };
        if rounds.gate == 0 && gates < GATES {
            rounds.gate = 1 << gates;
            self.gates += 1;
        }
        let gate = rounds.gate;
        // To the rounds that end elsewhere, this step changes nothing.
        rounds.all.iter_mut().for_each(|round| round.reads += u32::from(yields));
        let made = (thread.stores, thread.children, thread.objects);
        let events = thread.events + u32::from(yields);
        rounds.retain_quiet(made, events);
        let frames = std::mem::take(&mut rounds.frames);
        let repeated = rounds.take_repeated(place, &frames).filter(|_| gate != 0);
        rounds.last_first = repeated.as_ref().map_or(events, |round| round.first);
        let values = SmallVec::new();
        rounds.begin(Round { place, frames, first: events, reads: 0, values, made, broken: false });
        // With exceptions a step that waits has more gates than these.
        let Some(mut repeated) = repeated else { return };
        // The memory is used again.
        rounds.frames = std::mem::take(&mut repeated.frames);
        rounds.frames.clear();
        if self.recognises_loops && !self.features.has(Feature::Exceptions) {
            self.wait_for_change(number, &repeated.values, gate);
        }
    }

    /// The announced step of a thread waits until one of the variables has another value.
    fn wait_for_change(&mut self, number: u32, values: &[(u32, u64)], gate: u8) {
        let yields = self.threads[number as usize].op.yields;
        let place = self.threads[number as usize].op.place;
        let never = values.is_empty().then(|| self.own_object(number, 7, "nothing", place));
        let accesses = &mut self.threads[number as usize].op.accesses;
        if yields {
            accesses.clear();
        }
        for &(object, _) in values {
            match accesses.iter_mut().find(|access| access.object == object) {
                Some(access) => access.gate = gate,
                None => accesses.push(Access { object, write: false, gate }),
            }
        }
        // Without anything that could change, it waits for good.
        accesses.extend(never.map(|object| Access { object, write: false, gate: 1 }));
        if !yields && accesses.len() > 1 && !self.relaxed {
            accesses[0].write = true;
            self.threads[number as usize].op.writes_if = None;
            self.forget_exchange(number);
        }
    }
}
