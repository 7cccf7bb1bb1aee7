//! Running threads: from the inside, announcing steps and waiting; from the outside, choosing who
//! makes its step, and tearing an execution down.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use strait_explore::{Access, EventId, ThreadId};

use super::coroutine::{Running, Stop, Suspender, Worker};
use super::current::{enter, idle_worker, nobody_unwinds, with};
use super::exception::TornDown;
use super::features::Feature;
use super::log::Line;
use super::memory::Model;
use super::op::{Op, Place};
use super::record::State;
use super::room::Code;
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

#[cold]
fn interrupted() -> u32 {
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

/// What a step means while the execution is torn down: nothing is waited for. A stack that is being
/// unwound goes on unwinding; if it wants what it cannot have, it is left where it is for good.
#[cold]
fn at_teardown() -> u32 {
    if !is_unwinding() {
        with(World::begin_unwinding);
        resume_unwind(Box::new(TornDown));
    }
    let possible = with(|world| {
        let me = ThreadId(world.current);
        world.me().state = State::Announced;
        world.is_enabled(me)
    });
    if possible == Some(true) {
        return 0;
    }
    stay_for_good()
}

fn stay_for_good() -> ! {
    loop {
        match with(|world| world.suspender()).flatten() {
            Some(suspender) => suspender.suspend(),
            // Not on a coroutine: cannot happen while a world is current.
            None => resume_unwind(Box::new(TornDown)),
        }
    }
}

/// Is the current model thread's stack being unwound? The operating system thread is panicking when
/// any of its coroutines is, of whatever execution. Which ones was noted, except for what the program
/// has raised without the panic hook: then nobody else can be meant if nobody is known to unwind.
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
    } else if is_unwinding() {
        stay_for_good();
    } else {
        with(World::begin_unwinding);
        resume_unwind(Box::new(TornDown));
    }
}

/// Ends the execution after a fault that was noted: what anybody would do next means nothing.
pub(crate) fn give_up() {
    with(|world| world.over = true);
    if !is_unwinding() {
        with(World::begin_unwinding);
        resume_unwind(Box::new(TornDown));
    }
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
        if let Some(line) = world.log.as_mut().and_then(|log| log.lines.last_mut()) {
            line.details.push(text);
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
        me.waits_for = what;
        me.waits_at = Some(place);
        world.suspender()
    })
    .flatten()
}

/// Did the code end because its execution was torn down?
pub(crate) fn is_torn_down<R>(result: &std::thread::Result<R>) -> bool {
    matches!(result, Err(payload) if payload.is::<TornDown>())
}

/// Performs a thread's code from its first line to its end and hands over what it gave. A panic goes
/// on to the coroutine's loop, and from there to [`failed`].
#[inline(always)]
pub(crate) fn body<R>(code: impl FnOnce() -> R, hand_over: impl FnOnce(R)) {
    let value = code();
    if ends() {
        hand_over(value);
    }
}

/// What becomes of the panic that has ended the code of the current thread.
fn failed(panic: Box<dyn Any + Send>) {
    if panic.is::<TornDown>() {
        drop_locals();
        with(World::end_unwinding);
    } else if ends() {
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
            catch_unwind(AssertUnwindSafe(end)).is_ok()
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

/// Lets the code of a thread run.
#[inline(always)]
fn run(number: u32, worker: Running, job: Option<Code>) {
    if worker.run(job) == Stop::Done {
        with(|world| {
            world.current = number;
            world.finish();
        });
    }
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
    if let Some(worker) = with(|world| world.take_step(thread.0, choice)).flatten() {
        run(thread.0, worker, None);
    }
    settle();
    if with(|world| world.is_watched()) == Some(true) {
        super::invariant::check_if_any();
        with(World::check_knowledge);
    }
}

/// Unwinds every stack that is not at its end, the youngest threads first: they may hold references
/// into the stacks of older ones.
pub(crate) fn tear_down(world: *mut World) {
    let _entered = enter(world);
    if with(|world| world.alive) != Some(0) {
        unwind_all();
    }
    if with(|world| world.lefts + world.locals) != Some(0) {
        // A destructor that wants more than it can have now is ended.
        for left in super::thread::sweep() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(left)));
        }
        for local in crate::local::sweep() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(local)));
        }
    }
}

fn unwind_all() {
    let unfinished = with(|world| {
        world.aborting = true;
        world.stops = true;
        world.over = false;
        world.ready.clear();
        let mut unfinished: Vec<u32> = Vec::new();
        for (number, thread) in world.threads.iter_mut().enumerate() {
            let alive = !matches!(thread.state, State::Unborn | State::Finished);
            if alive && thread.commits_for.is_none() {
                unfinished.push(number as u32);
            }
        }
        unfinished.sort_by_key(|&number| std::cmp::Reverse(world.births[number as usize]));
        unfinished
    });
    for number in unfinished.into_iter().flatten() {
        let taken = with(|world| {
            world.current = number;
            let thread = &mut world.threads[number as usize];
            (thread.room.unpack(), thread.worker.take())
        });
        let Some((job, worker)) = taken else { continue };
        let never_began = job.is_some();
        drop(job);
        let Some(mut worker) = worker else { continue };
        if never_began || Running::of(&mut worker).run(None) == Stop::Done {
            with(|world| world.threads[number as usize].worker = Some(worker));
        } else {
            // Its destructors want what nobody can give any more: the stack stays as it is.
            std::mem::forget(worker);
        }
    }
    with(|world| world.alive = 0);
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

    /// The next thread whose code can go on, as the current one.
    #[inline]
    fn next_ready(&mut self) -> Option<(u32, Running, Option<Code>)> {
        let number = self.ready.pop()?;
        self.current = number;
        let thread = &mut self.threads[number as usize];
        let job = thread.room.take();
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
    #[inline]
    fn take_step(&mut self, number: u32, choice: u32) -> Option<Running> {
        self.current = number;
        self.steps += 1;
        self.stops = false;
        if self.log.is_some() {
            self.write_line(number);
        }
        self.open_mailbox();
        let thread = &mut self.threads[number as usize];
        let event = EventId { thread: ThreadId(number), index: thread.events };
        thread.events += 1;
        thread.past.become_one(event);
        thread.choice = choice;
        if thread.commits_for.is_some() {
            self.commit();
            return None;
        }
        thread.state = State::Ready;
        thread.worker.as_mut().map(Running::of)
    }

    fn write_line(&mut self, number: u32) {
        let op = &self.threads[number as usize].op;
        let object = op.accesses.first().map(|access| access.object);
        let line =
            Line { thread: number, label: op.label, object, place: op.place, details: Vec::new() };
        if let Some(log) = &mut self.log {
            log.lines.push(line);
        }
    }
}
