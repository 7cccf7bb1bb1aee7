//! Pooled stackful coroutines: each performs one job after the other on the same stack.
//!
//! A processor predicts where a function returns to by remembering calls, and a switch of stacks
//! upsets that memory for as many returns as there are functions between the one that was resumed
//! and the one that suspends next. So suspending is always inlined, and what surrounds it is kept
//! flat: a function that suspends is itself inlined into the code under test, with what comes before
//! and after in functions of their own; and panics are caught around the loop that performs jobs,
//! not around each job.
#![allow(
    unsafe_code,
    reason = "a suspended coroutine is reached through the pointer to its yielder, which lives on \
              the coroutine's own stack as long as the coroutine does"
)]

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::rc::Rc;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::room::Code;

/// The stack of a model thread. Pages that are never touched take no memory.
const STACK: usize = 1 << 20;

/// A stack that begins a little below its end, each at another distance: memory that differs by a
/// multiple of the page size competes for the same lines of the cache, and all stacks begin at
/// pages.
struct Staggered {
    stack: DefaultStack,
    distance: usize,
}

impl Staggered {
    /// Distances are multiples of this; a few lines of the cache are in use at a time.
    const STRIDE: usize = 7 * 64;

    fn new(number: u32) -> Option<Self> {
        let distance = number as usize * Self::STRIDE % 4096;
        DefaultStack::new(STACK).ok().map(|stack| Staggered { stack, distance })
    }
}

// SAFETY: the memory is that of the inner stack, of which the uppermost part is left unused; the
// distance is a multiple of 64 and so keeps the alignment, and is far below the size.
unsafe impl Stack for Staggered {
    fn base(&self) -> StackPointer {
        let base = self.stack.base().get() - self.distance;
        StackPointer::new(base).unwrap_or_else(|| self.stack.base())
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }
}

/// Why a coroutine stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// It waits in the middle of its job.
    Suspended,
    /// Its job is done.
    Done,
}

/// A way back to whoever resumed the coroutine, to be used on the coroutine only.
#[derive(Clone, Copy)]
pub(crate) struct Suspender(NonNull<Yielder<(), Stop>>);

impl Suspender {
    /// Leaves the coroutine until it is resumed.
    ///
    /// Must be called on the coroutine's own stack; the runtime does so because it asks for the
    /// suspender of the thread that is running.
    #[inline(always)]
    pub(crate) fn suspend(self) {
        // SAFETY: the yielder lives at the bottom of the stack on which this call runs.
        unsafe { self.0.as_ref() }.suspend(Stop::Suspended);
    }
}

/// A stack with a loop on it that performs jobs.
pub(crate) struct Worker {
    coroutine: Coroutine<(), Stop, (), Staggered>,
    suspender: Suspender,
    /// The job to begin when it is resumed next; none there ends the loop.
    next: Rc<Cell<Option<Code>>>,
}

/// What becomes of the panic of a job.
pub(crate) type Failed = fn(Box<dyn Any + Send>);

impl Worker {
    /// A worker that waits for its first job; `None` if the system has no memory for a stack.
    /// Workers with different numbers keep out of each other's way.
    pub(crate) fn new(number: u32, failed: Failed) -> Option<Box<Worker>> {
        let stack = Staggered::new(number)?;
        let mut suspender = None;
        let place: *mut Option<Suspender> = &mut suspender;
        let next = Rc::new(Cell::new(None::<Code>));
        let jobs = next.clone();
        let mut coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            // SAFETY: the first resume, below, runs up to the suspension and no further.
            unsafe { *place = Some(Suspender(NonNull::from(yielder))) };
            let perform = || {
                loop {
                    yielder.suspend(Stop::Done);
                    let Some(job) = jobs.take() else { return };
                    job.perform();
                }
            };
            while let Err(panic) = catch_unwind(AssertUnwindSafe(perform)) {
                failed(panic);
            }
        });
        coroutine.resume(());
        suspender.map(|suspender| Box::new(Worker { coroutine, suspender, next }))
    }

    pub(crate) fn suspender(&self) -> Suspender {
        self.suspender
    }

    /// Begins a job, or goes on with it.
    #[inline(always)]
    fn run(&mut self, job: Option<Code>) -> Stop {
        if job.is_some() {
            self.next.set(job);
        }
        match self.coroutine.resume(()) {
            CoroutineResult::Yield(stop) => stop,
            CoroutineResult::Return(()) => Stop::Done,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Ends the loop of a worker without a job, so that dropping the coroutine unwinds nothing.
        // One with a job is never dropped.
        if !self.coroutine.done() {
            self.coroutine.resume(());
        }
    }
}

/// A worker that is running or about to: reached by pointer, because what it runs may move the
/// tables in which it is kept.
#[derive(Clone, Copy)]
pub(crate) struct Running(NonNull<Worker>);

impl Running {
    pub(crate) fn of(worker: &mut Box<Worker>) -> Running {
        Running(NonNull::from(&mut **worker))
    }

    /// Begins a job, or goes on with it.
    #[inline(always)]
    pub(crate) fn run(mut self, job: Option<Code>) -> Stop {
        // SAFETY: the runtime keeps the box of a worker where it is while the worker runs: boxes of
        // workers are taken out of a thread's entry only after its execution.
        unsafe { self.0.as_mut() }.run(job)
    }
}
