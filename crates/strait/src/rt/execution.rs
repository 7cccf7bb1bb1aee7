//! An execution of a program under test as the searches see it: started, asked and stepped.
#![allow(
    unsafe_code,
    reason = "the world is reached from inside the coroutines by a pointer, so it lives behind one; \
              it is looked at from outside only while no coroutine runs"
)]

use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use strait_explore::{EventId, Next, ThreadId, Threaded};

use super::log::Log;
use super::memory::Model;
use super::names::Names;
use super::op::Place;
use super::record::State;
use super::schedule::{begin, body, step, tear_down};
use super::world::World;
use crate::outcome::{Blocked, Outcome};

/// The code under test. It is called once an execution.
pub(crate) type Program<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// One execution after the other of the same program.
pub(crate) struct Execution<T> {
    world: *mut World,
    program: Rc<Program<T>>,
    result: Rc<RefCell<Option<T>>>,
    place: Place,
}

impl<T: 'static> Execution<T> {
    /// An execution that has not begun.
    pub(crate) fn new(
        program: Program<T>,
        names: Names,
        model: Model,
        number: u32,
        place: Place,
    ) -> Self {
        let world = Box::into_raw(Box::new(World::new(names, model, number)));
        Execution { world, program: Rc::new(program), result: Rc::new(RefCell::new(None)), place }
    }

    pub(crate) fn world(&self) -> &World {
        // SAFETY: no coroutine is running, since those run only within `restart`, `step` and
        // `drop`, which borrow `self` mutably.
        unsafe { &*self.world }
    }

    pub(crate) fn world_mut(&mut self) -> &mut World {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { &mut *self.world }
    }

    #[inline(always)]
    pub(crate) fn start(&mut self) {
        self.result.replace(None);
        let (program, result) = (self.program.clone(), self.result.clone());
        let main = move || {
            body(
                || program(),
                |value| {
                    result.replace(Some(value));
                },
            );
        };
        begin(self.world, main, self.place);
    }

    #[inline(always)]
    pub(crate) fn go(&mut self, thread: ThreadId, choice: u32) {
        step(self.world, thread, choice);
    }

    /// Keeps a log from the next start on.
    pub(crate) fn keep_log(&mut self) {
        self.world_mut().log = Some(Log::default());
    }

    /// Can anything still happen? If not even the main thread is over, it is a deadlock.
    fn blocked(&self) -> Vec<Blocked> {
        let world = self.world();
        let mut blocked = Vec::new();
        for (number, thread) in world.threads.iter().enumerate() {
            if thread.commits_for.is_some() {
                continue;
            }
            let number = number as u32;
            match thread.state {
                State::Announced => {
                    let object = thread.op.accesses.first().map(|access| access.object);
                    let what = match object {
                        Some(object) => {
                            format!("{} {}", thread.op.label, world.describe_object(object))
                        }
                        None => thread.op.label.to_owned(),
                    };
                    let thread_name = world.describe_thread(number);
                    blocked.push(Blocked::new(thread_name, what, thread.op.place));
                }
                State::Waiting => {
                    let place = thread.waits_at.unwrap_or(self.place);
                    let thread_name = world.describe_thread(number);
                    blocked.push(Blocked::new(thread_name, thread.waits_for.to_owned(), place));
                }
                State::Unborn | State::Ready | State::Finished => {}
            }
        }
        blocked
    }

    /// What the execution gave. It is torn down by this.
    pub(crate) fn conclude(&mut self) -> Outcome<T> {
        let finished = self.world().threads.first().is_some_and(|t| t.state == State::Finished);
        let blocked = if finished { Vec::new() } else { self.blocked() };
        let unfinished = self.world().alive > 0;
        let ending = &mut self.world_mut().ending;
        let fault = ending.fault.take();
        let panics = std::mem::take(&mut ending.panics);
        if unfinished {
            tear_down(self.world);
        }
        let arcs = self.world().ending.arcs;
        let result = self.result.replace(None);
        if let Some(fault) = fault {
            return Outcome::Fault(fault);
        }
        // Which of several comes first says nothing: their order may not matter.
        if let Some((number, message)) = panics.into_iter().min_by_key(|(number, _)| *number) {
            let thread = self.world().describe_thread(number);
            return Outcome::Panic { thread, message };
        }
        match result {
            Some(_) if arcs > 0 && !unfinished => Outcome::Leak(arcs as u64),
            Some(value) => Outcome::Value(value),
            None => Outcome::Deadlock(blocked),
        }
    }
}

impl<T> Drop for Execution<T> {
    fn drop(&mut self) {
        tear_down(self.world);
        // SAFETY: the pointer comes from a box and is used no more. Everything that runs on the
        // coroutines was unwound above, so nothing can reach the world through it.
        let world = unsafe { Box::from_raw(self.world) };
        super::current::retire_tables(world.into_tables());
    }
}

impl<T: Clone + Eq + Hash + Debug + 'static> Threaded for Execution<T> {
    type Outcome = Outcome<T>;

    #[inline(always)]
    fn restart(&mut self) {
        self.start();
    }

    #[inline]
    fn threads(&self) -> u32 {
        self.world().met()
    }

    #[inline]
    fn enabled(&self, thread: ThreadId) -> bool {
        self.world().is_enabled(thread)
    }

    #[inline]
    fn next(&self, thread: ThreadId) -> Option<Next<'_>> {
        let world = self.world();
        let thread = world.threads.get(thread.0 as usize)?;
        if thread.state != State::Announced {
            return None;
        }
        let (accesses, causes): (_, &[EventId]) = (&thread.op.accesses[..], &thread.past);
        let enablers = world.enablers(accesses);
        Some(Next { accesses, causes, enablers, choices: world.choices(thread) })
    }

    #[inline]
    fn open(&self, object: u32) -> u8 {
        // What a transaction makes itself is known to be touched before it exists.
        self.world().objects.get(object as usize).map_or(0, |object| object.open)
    }

    #[inline(always)]
    fn step(&mut self, thread: ThreadId, choice: u32) {
        self.go(thread, choice);
    }

    fn outcome(&mut self) -> Outcome<T> {
        self.conclude()
    }
}
