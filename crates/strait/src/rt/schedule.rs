//! Running threads: from the inside, announcing steps and waiting; from the outside, choosing who
//! makes its step, and tearing an execution down.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use strait_explore::{Access, Atomic, EventId, ThreadId};

use super::code_buffer::Code;
use super::coroutine::{Running, Stop, Suspender, Worker};
use super::current::{enter, idle_worker, nobody_unwinds, with};
use super::exception::TornDown;
use super::features::Feature;
use super::log::{Detail, Line};
use super::memory::Model;
use super::op::{Op, Place};
use super::record::State;
use super::world::World;

// ---- inside: called by the code under test ----

/// Announces a step and comes back when it is to be made. Gives the way in which to take it.
///
/// Inlined like everything between the code under test and the switch of stacks; see
/// `coroutine.rs`.
#[inline(always)]
pub(crate) fn point(op: Op) -> u32 {
    let way_out = announce(op);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    arrive(way_out.is_some())
}

/// As [`point`], for the usual step: one access, one way to take it.
#[inline(always)]
pub(crate) fn point_at(access: Access, label: &'static str, place: Place) {
    let way_out = announce_at(access, label, place);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    arrive(way_out.is_some());
}

fn announce(op: Op) -> Option<Suspender> {
    with(|world| {
        world.me().op = op;
        world.announced()
    })
    .flatten()
}

pub(crate) fn announce_at(access: Access, label: &'static str, place: Place) -> Option<Suspender> {
    with(|world| {
        world.me().op.become_one(access, label, place);
        world.announced()
    })
    .flatten()
}

/// What a thread does when it is resumed at its announced step, or when it could not wait for that
/// because the execution is torn down. Gives the way in which to take the step.
pub(crate) fn arrive(waited: bool) -> u32 {
    let choice = with(|world| (waited & !world.stops).then(|| world.me().choice));
    choice.flatten().unwrap_or_else(|| arrive_at_stop(waited))
}

/// The rest of [`arrive`] for a thread that is not to go on as usual.
#[cold]
pub(crate) fn arrive_at_stop(waited: bool) -> u32 {
    if waited { interrupted() } else { at_teardown() }
}

/// The current thread takes the exception that has come for it.
#[cold]
pub(crate) fn interrupted() -> u32 {
    let letter = with(|world| {
        let aborting = world.aborting;
        let me = world.me();
        if aborting || !std::mem::take(&mut me.mailbox.raises) {
            return None;
        }
        world.begin_unwinding();
        world.take_letter()
    });
    match letter.flatten() {
        Some(letter) => resume_unwind(letter.payload),
        None => at_teardown(),
    }
}

/// What a step means when no thread is scheduled any more, because the execution is over and what it has
/// left is dropped: it is made at once. If it would have to wait, the destructor that makes it is ended.
#[cold]
fn at_teardown() -> u32 {
    let possible = with(|world| {
        let me = ThreadId(world.current);
        world.me().state = State::Announced;
        !world.is_peeking() && world.is_enabled(me)
    });
    if possible != Some(true) && !is_unwinding() {
        with(World::begin_unwinding);
        resume_unwind(Box::new(TornDown));
    }
    0
}

/// The current thread goes no further, since its execution is over. Nothing on its stack is dropped.
fn stay_for_good() {
    while let Some(suspender) = with(|world| {
        let me = world.me();
        me.state = State::Waiting;
        me.suspender.filter(|_| !world.aborting)
    })
    .flatten()
    {
        suspender.suspend();
    }
}

/// Is the current model thread's stack being unwound? The operating system thread is panicking when
/// any of its coroutines is, of whatever execution. Which ones was noted, except for what the program
/// has raised without the panic hook: then no other thread can be meant if none is known to unwind.
pub(crate) fn is_unwinding() -> bool {
    std::thread::panicking()
        && with(|world| world.me().unwinding || nobody_unwinds()).unwrap_or(true)
}

/// Waits until another thread wakes this one.
#[inline(always)]
pub(crate) fn wait(what: &'static str, place: Place) {
    let way_out = announce_wait(what, place);
    if let Some(suspender) = way_out {
        suspender.suspend();
    }
    if way_out.is_none() || is_interrupted() {
        interrupted_wait();
    }
}

/// Was the current thread resumed for something else than what it waited for?
pub(crate) fn is_interrupted() -> bool {
    with(|world| world.aborting || world.me().mailbox.raises) == Some(true)
}

/// Performs an action when it is dropped.
pub(crate) struct Leaves<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for Leaves<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Waits as [`wait`] does; if an exception interrupts that, `leave` undoes what the thread has done
/// to be woken.
#[inline(always)]
pub(crate) fn wait_or_leave(what: &'static str, place: Place, leave: impl FnMut()) {
    let leaves = Leaves(leave);
    wait(what, place);
    std::mem::forget(leaves);
}

#[cold]
pub(crate) fn interrupted_wait() {
    if with(|world| world.aborting) != Some(true) {
        interrupted();
    } else if !is_unwinding() {
        with(World::begin_unwinding);
        resume_unwind(Box::new(TornDown));
    }
}

/// Leaves the current thread, which can go on.
pub(crate) fn pause() {
    if let Some(suspender) = with(|world| world.suspender()).flatten() {
        suspender.suspend();
    }
}

/// Ends the execution after a fault that was noted: what threads would do next means nothing.
pub(crate) fn give_up() {
    with(|world| world.over = true);
    stay_for_good();
}

/// Waits until the stores of the current thread are committed (those to one object, if given).
#[inline]
pub(crate) fn drain(object: Option<u32>, place: Place) {
    if with(World::drains) == Some(true) {
        drain_buffers(object, place);
    }
}

fn drain_buffers(object: Option<u32>, place: Place) {
    let waits = with(|world| {
        let waits = world.has_buffered(world.current, object);
        if waits {
            world.me().mailbox.drains = Some(object);
        } else {
            world.after_commits(world.current, object);
        }
        waits
    });
    if waits == Some(true) {
        wait("its stores to be committed", place);
    }
}

/// Adds to the last line of the trace, if there is one.
#[inline]
pub(crate) fn detail(text: impl FnOnce() -> String) {
    if with(|world| world.log.is_some()) == Some(true) {
        write_detail(text);
    }
}

#[cold]
fn write_detail(text: impl FnOnce() -> String) {
    let text = text();
    with(|world| {
        let thread = world.current;
        if let Some(line) = world.log.as_mut().and_then(|log| log.lines.last_mut()) {
            line.details.push(Detail { thread, text });
        }
    });
}

/// The current thread waits to be woken. Gives the way out, or nothing if the execution is torn
/// down.
pub(crate) fn announce_wait(what: &'static str, place: Place) -> Option<Suspender> {
    with(|world| {
        if world.aborting {
            return None;
        }
        let me = world.me();
        me.state = State::Waiting;
        me.operated = true;
        me.waits_for = what;
        me.waits_at = Some(place);
        world.suspender()
    })
    .flatten()
}

/// Performs a thread's code from its first line to its end and hands over what it gave. A panic goes
/// on to the coroutine's loop, and from there to [`failed`].
#[inline(always)]
pub(crate) fn body<R>(code: impl FnOnce() -> R, hand_over: impl FnOnce(R)) {
    if with(|world| world.records) == Some(true) {
        super::coroutine::scrub();
    }
    let value = code();
    if ends() {
        hand_over(value);
    }
}

/// What becomes of the panic that has ended the code of the current thread.
fn failed(panic: Box<dyn Any + Send>) {
    // Whatever comes now comes too late.
    with(|world| {
        world.me().rarities = true;
        world.me().mailbox.mask = super::exception::Mask::Uninterruptible;
    });
    if ends() {
        super::thread::panicked(panic);
    }
}

fn drop_locals() {
    if with(|world| world.locals) != Some(0) {
        crate::local::drop_all();
    }
}

/// The code of the current thread has come to its end. Makes the thread's last steps, if it has any,
/// and says whether what the code gave matters.
fn ends() -> bool {
    let usual = with(|world| {
        let features = world.features;
        let steps = features.has(Feature::Exits) | features.has(Feature::Exceptions);
        let none = (world.locals == 0) & !world.aborting & !steps;
        let me = world.me();
        none & !me.unwinding & me.phantoms.is_empty()
    });
    usual == Some(true) || ends_with_more()
}

/// An exception has come for the current thread at its last step: it ends by that instead of what its
/// code gave.
#[cold]
fn interrupted_at_end(exception: Box<dyn Any + Send>, place: Place) {
    with(World::end_unwinding);
    if !exception.is::<TornDown>() {
        super::thread::panicked(exception);
        // Another one would come too late.
        with(|world| world.me().mailbox.mask = super::exception::Mask::Uninterruptible);
        let _ = catch_unwind(AssertUnwindSafe(|| super::thread::exit(place)));
    }
}

/// The rest of [`ends`] for a thread that has something left to do.
#[cold]
fn ends_with_more() -> bool {
    drop_locals();
    let left = with(|world| {
        let features = world.features;
        world.end_unwinding();
        let me = world.me();
        let stores = !me.phantoms.is_empty();
        let steps = features.has(Feature::Exits) || features.has(Feature::Exceptions);
        (world.aborting, (stores || steps).then_some(world.me().born_at))
    });
    match left {
        Some((true, _)) | None => false,
        Some((_, None)) => true,
        Some((_, Some(place))) => {
            let end = || {
                drain(None, place);
                super::thread::exit(place);
            };
            match catch_unwind(AssertUnwindSafe(end)) {
                Ok(()) => true,
                Err(exception) => {
                    interrupted_at_end(exception, place);
                    false
                }
            }
        }
    }
}

// ---- outside: called by the search ----

/// Lets all code run that can, until every thread has announced a step, waits or is over.
///
/// This and what calls it is inlined into the search: a thread that begins or ends between two
/// switches leaves the processor with wrong ideas about all returns under way (see `coroutine.rs`), so
/// there should be few.
#[inline(always)]
fn settle() {
    while let Some((number, worker, job)) = with(World::next_ready).flatten() {
        run(number, worker, job);
    }
}

/// Lets the code of a thread run. Says whether there is anything to be done before the next step.
#[inline(always)]
fn run(number: u32, worker: Running, job: Option<Code>) -> bool {
    let stop = worker.run(job);
    with(|world| world.stopped(number, stop)) == Some(true)
}

/// Begins an execution with this main thread.
#[inline(always)]
pub(crate) fn begin(world: *mut World, main: impl FnOnce() + 'static, place: Place) {
    tear_down(world);
    let _entered = enter(world);
    with(|world| world.begin(place).put(main));
    settle();
}

/// Lets an enabled thread make its announced step.
#[inline(always)]
pub(crate) fn step(world: *mut World, thread: ThreadId, choice: u32) {
    let _entered = enter(world);
    let worker = with(|world| world.take_step(thread.0, choice)).flatten();
    if worker.is_some_and(|worker| !run(thread.0, worker, None)) {
        return;
    }
    settle();
    if with(|world| world.is_watched()) == Some(true) {
        super::invariant::check_if_any();
        with(World::check_knowledge);
    }
}

/// Ends an execution. Threads that are not over stay where they are for good: code of the user that was
/// interrupted in the middle of something is not made to go on, and none of its destructors runs. What
/// threads own is not freed then.
pub(crate) fn tear_down(world: *mut World) {
    let _entered = enter(world);
    with(World::forget_invariants);
    if with(|world| world.alive) != Some(0) {
        with(World::abandon);
    } else if with(|world| !world.rubbish.is_empty()) == Some(true) {
        drop_rubbish();
    }
    if with(|world| world.lefts + world.locals) != Some(0) {
        with(World::forget_left);
    }
}

/// Drops what a complete execution has left. No thread is scheduled any more.
#[cold]
fn drop_rubbish() {
    let rubbish = with(|world| {
        world.aborting = true;
        world.stops = true;
        world.over = false;
        world.current = 0;
        std::mem::take(&mut world.rubbish)
    });
    for thing in rubbish.into_iter().flatten() {
        let _ = catch_unwind(AssertUnwindSafe(|| drop(thing)));
    }
    with(World::abandon);
}

impl World {
    /// The current thread has written down its step. Gives nothing while the execution is torn
    /// down.
    #[inline]
    pub(crate) fn announced(&mut self) -> Option<Suspender> {
        let aborting = self.aborting;
        let me = self.me();
        me.state = State::Announced;
        let suspender = me.suspender;
        if aborting {
            return None;
        }
        self.announce_to_invariants(self.current);
        self.announce_to_mailbox();
        suspender
    }

    /// Has the current thread ever buffered a store?
    #[inline]
    pub(crate) fn drains(&mut self) -> bool {
        self.model != Model::Sc && !self.aborting && !self.me().phantoms.is_empty()
    }

    fn suspender(&self) -> Option<Suspender> {
        self.threads[self.current as usize].suspender
    }

    /// The code of a thread has stopped. Says whether there is anything to be done before the next step:
    /// whether other code can go on, or something is to be checked.
    #[inline(always)]
    fn stopped(&mut self, number: u32, stop: Stop) -> bool {
        if stop == Stop::Done {
            self.current = number;
            self.finish();
        } else if self.spun {
            self.judge_round(number);
        }
        !self.ready.is_empty() | self.is_watched()
    }

    /// The next thread whose code can go on, as the current one.
    #[inline(always)]
    fn next_ready(&mut self) -> Option<(u32, Running, Option<Code>)> {
        if self.disorder.is_some() {
            self.disorder_ready();
        }
        let number = self.ready.pop()?;
        self.current = number;
        let thread = &mut self.threads[number as usize];
        let job = thread.start_code.take();
        match &mut thread.worker {
            Some(worker) => Some((number, Running::of(worker), job)),
            None => self.hire(number).map(|worker| (number, worker, job)),
        }
    }

    #[cold]
    fn hire(&mut self, number: u32) -> Option<Running> {
        let Some(mut worker) = idle_worker().or_else(|| Worker::new(number, failed)) else {
            self.ending.fault = Some("no memory for the stack of another thread".to_owned());
            self.finish();
            return None;
        };
        let running = Running::of(&mut worker);
        let thread = &mut self.threads[number as usize];
        thread.suspender = Some(worker.suspender());
        thread.worker = Some(worker);
        Some(running)
    }

    /// Makes the announced step of a thread, up to where its own code takes over. Gives what runs
    /// that code.
    #[inline(always)]
    fn take_step(&mut self, number: u32, choice: u32) -> Option<Running> {
        self.current = number;
        self.stops = false;
        self.path.push((number, choice));
        if self.log.is_some() {
            self.write_line(number, choice);
        }
        self.open_mailbox();
        let thread = &mut self.threads[number as usize];
        let event = EventId { thread: ThreadId(number), index: thread.events };
        thread.events += 1;
        thread.past.become_one(event);
        thread.choice = choice;
        if !self.exchanges.is_empty() {
            self.forget_exchange(number);
        }
        let thread = &mut self.threads[number as usize];
        if thread.commits_for.is_some() {
            self.commit();
            return None;
        }
        thread.state = State::Ready;
        thread.worker.as_mut().map(Running::of)
    }

    fn write_line(&mut self, number: u32, choice: u32) {
        let op = &self.threads[number as usize].op;
        let accessed = op.accesses.first().map(|access| access.object);
        let object = op.atomic.and_then(Atomic::location).or(accessed);
        let (label, place, details) = (op.label, op.place, Vec::new());
        let is_own = object.is_some_and(|object| !self.names.is_outside(object));
        let line = Line { thread: number, choice, label, object, is_own, place, details };
        if let Some(log) = &mut self.log {
            log.lines.push(line);
        }
    }
}
