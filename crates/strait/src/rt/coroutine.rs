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
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::code_buffer::Code;
#[cfg(all(target_arch = "x86_64", unix))]
use super::current::with;

/// The stack of a model thread. Pages that are never touched take no memory.
const STACK: usize = 1 << 20;

/// The guard page has at least this size.
#[cfg(target_os = "linux")]
const GUARD: usize = 4096;

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

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

/// Deeper stacks are not looked at.
#[cfg(all(target_arch = "x86_64", unix))]
const DEEPEST: usize = 64 << 10;

/// Hands the frames of the caller and of those that have called it to [`World::note_frames`], with the
/// registers that a function must not change: at a call, every value that the caller still needs is in one
/// or the other. So this must be a call, and it must come from the frame of the code under test itself.
///
/// Nothing is noted where the calling convention is not known.
///
/// [`World::note_frames`]: super::world::World::note_frames
#[inline(always)]
pub(crate) fn note_frames() {
    #[cfg(all(target_arch = "x86_64", unix))]
    push_registers();
}

/// Pushes the registers rbx, rbp and r12 to r15, and calls [`note_frames_from`] with the stack pointer.
#[cfg(all(target_arch = "x86_64", unix))]
#[unsafe(naked)]
extern "C" fn push_registers() {
    core::arch::naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rdi, rsp",
        // Calls want a stack pointer that is a multiple of 16.
        "sub rsp, 8",
        "call {note}",
        // The function has left the registers as they were.
        "add rsp, 56",
        "ret",
        note = sym note_frames_from,
    )
}

#[cfg(all(target_arch = "x86_64", unix))]
extern "C" fn note_frames_from(stack_pointer: usize) {
    with(|world| world.note_frames(stack_pointer));
}

/// Clears the registers in which the code that has resumed the coroutine may have left something: functions
/// save them on their stacks, which should depend on nothing but the code that runs there.
#[inline(always)]
fn clear_registers() {
    #[cfg(all(target_arch = "x86_64", unix))]
    // SAFETY: the switch of stacks, just before, has overwritten these registers anyway.
    unsafe {
        std::arch::asm!(
            "xor r12d, r12d",
            "xor r13d, r13d",
            "xor r14d, r14d",
            "xor r15d, r15d",
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            options(nomem, nostack),
        );
    }
}

/// Copies a part of a stack. By the processor itself, since parts of it were never written, or belong to no
/// variable: neither the compiler nor a sanitizer takes such a read for granted.
///
/// # Safety
///
/// There must be memory of this length at both places, and nothing else may write to it meanwhile.
#[cfg(all(target_arch = "x86_64", unix))]
#[inline(always)]
unsafe fn copy_stack(from: usize, to: *mut u8, length: usize) {
    // SAFETY: as the caller promises; the direction flag is clear, as the calling convention says.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") length => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Overwrites the part of the stack that the caller will use next, where earlier jobs have left
/// something.
#[inline(never)]
pub(crate) fn scrub() {
    let mut unused = [0u8; 16 << 10];
    std::hint::black_box(&mut unused);
}

/// Why a coroutine stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// It waits in the middle of its job.
    Suspended,
    /// Its job is done.
    Done,
}

/// A way back to the code that resumed the coroutine, to be used on the coroutine only.
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
        clear_registers();
    }
}

type Jobs = Coroutine<(), Stop, (), Staggered>;

/// A stack with a loop on it that performs jobs.
pub(crate) struct Worker {
    /// There, except while a worker is made or dropped.
    coroutine: ManuallyDrop<Jobs>,
    suspender: Suspender,
    /// The job to begin when it is resumed next; none there ends the loop. In a box, because the loop
    /// reaches it by a pointer.
    next: Box<Cell<Option<Code>>>,
    failed: Failed,
    /// Where the stack ends, its guard page included.
    #[cfg(target_os = "linux")]
    limit: usize,
}

/// What becomes of the panic of a job.
pub(crate) type Failed = fn(Box<dyn Any + Send>);

/// Begins the loop that performs jobs, up to where it waits for the first one.
fn begin(stack: Staggered, jobs: NonNull<Cell<Option<Code>>>, failed: Failed) -> (Jobs, Suspender) {
    let mut suspender = None;
    let place: *mut Option<Suspender> = &mut suspender;
    let mut coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
        // SAFETY: the first resume, below, runs up to the suspension and no further.
        unsafe { *place = Some(Suspender(NonNull::from(yielder))) };
        let perform = || {
            loop {
                yielder.suspend(Stop::Done);
                clear_registers();
                // SAFETY: the box belongs to the worker, which outlives its coroutine.
                let Some(job) = unsafe { jobs.as_ref() }.take() else { return };
                job.perform();
            }
        };
        while let Err(panic) = catch_unwind(AssertUnwindSafe(perform)) {
            failed(panic);
        }
    });
    coroutine.resume(());
    match suspender {
        Some(suspender) => (coroutine, suspender),
        None => unreachable!("the loop runs up to where it waits for a job"),
    }
}

impl Worker {
    /// A worker that waits for its first job; `None` if the system has no memory for a stack.
    /// Workers with different numbers keep out of each other's way.
    pub(crate) fn new(number: u32, failed: Failed) -> Option<Box<Worker>> {
        let next = Box::new(Cell::new(None::<Code>));
        let stack = Staggered::new(number)?;
        #[cfg(target_os = "linux")]
        let limit = stack.limit().get();
        let (coroutine, suspender) = begin(stack, NonNull::from(&*next), failed);
        Some(Box::new(Worker {
            coroutine: ManuallyDrop::new(coroutine),
            suspender,
            next,
            failed,
            #[cfg(target_os = "linux")]
            limit,
        }))
    }

    /// Is this the address of an access beyond the end of the stack?
    #[cfg(target_os = "linux")]
    pub(crate) fn overflows_at(&self, address: usize) -> bool {
        (self.limit..self.limit + GUARD).contains(&address)
    }

    /// Leaves the job that is suspended on the stack for good: nothing of it is dropped, and what it owns
    /// elsewhere stays as it is. Its stack is used for the next job. Gives the new way out.
    pub(crate) fn abandon(&mut self) -> Suspender {
        // SAFETY: the coroutine is replaced below.
        let mut coroutine = unsafe { ManuallyDrop::take(&mut self.coroutine) };
        // SAFETY: as with `longjmp`, no code may come back to the frames of the job. Their only owner is the
        // execution, which has ended: its threads are all abandoned at the same time, and nothing of them
        // runs again. Objects that outlive an execution must not borrow from its stacks.
        unsafe { coroutine.force_reset() };
        self.next.set(None);
        let jobs = NonNull::from(&*self.next);
        let (coroutine, suspender) = begin(coroutine.into_stack(), jobs, self.failed);
        self.coroutine = ManuallyDrop::new(coroutine);
        self.suspender = suspender;
        suspender
    }

    /// Copies the frames of the running job from this one on.
    #[cfg(all(target_arch = "x86_64", unix))]
    pub(crate) fn copy_frames(&self, stack_pointer: usize, copy: &mut Vec<u8>) {
        copy.clear();
        let end = self.suspender.0.addr().get();
        let length = end.checked_sub(stack_pointer).filter(|length| *length <= DEEPEST);
        let Some(length) = length else { return };
        copy.resize(length, 0);
        // SAFETY: all of this lies between the yielder, which is at the bottom of the stack, and a frame that
        // waits for this call to return. The copy has room for as much.
        unsafe { copy_stack(stack_pointer, copy.as_mut_ptr(), length) };
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
        // SAFETY: the worker is dropped once, and the coroutine is not used after this.
        unsafe { ManuallyDrop::drop(&mut self.coroutine) };
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
