//! Scoped threads, as `std::thread::scope`: threads that may borrow what lives longer than the scope.
#![allow(
    unsafe_code,
    reason = "the code of a scoped thread borrows from outside the scope, and the scope does not end \
              before all its threads have"
)]

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::exception::uninterruptible_mask;
use crate::rt::current::under_test;
use crate::thread::{self, Thread};

/// Where scoped threads are started.
pub struct Scope<'scope, 'env: 'scope> {
    /// Threads that the scope has to wait for.
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    /// How many threads have panicked unseen.
    unseen: Arc<AtomicUsize>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Where a scoped thread leaves what it gave.
struct Packet<T> {
    result: Mutex<Option<thread::Result<T>>>,
    done: Condvar,
    unseen: Arc<AtomicUsize>,
}

/// A started scoped thread.
pub struct ScopedJoinHandle<'scope, T> {
    packet: Arc<Packet<T>>,
    thread: Thread,
    scope: PhantomData<&'scope ()>,
}

/// Performs code that can start threads which borrow from outside; waits for all of them.
#[track_caller]
pub fn scope<'env, F, T>(code: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        threads: Mutex::new(Vec::new()),
        unseen: Arc::default(),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| code(&scope)));
    // An exception here would end the scope before its threads.
    uninterruptible_mask(|_| {
        loop {
            let next = scope.threads.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(thread) = next else { break };
            // What it gave, panics included, is in its packet.
            let _ = thread.join();
        }
    });
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(_) if scope.unseen.load(Ordering::SeqCst) > 0 => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, code: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match self.spawn_by(thread::Builder::new(), code, Location::caller()) {
            Ok(handle) => handle,
            // As std does.
            Err(error) => panic!("failed to spawn thread: {error}"),
        }
    }

    pub(crate) fn spawn_by<F, T>(
        &'scope self,
        builder: thread::Builder,
        code: F,
        place: &'static Location<'static>,
    ) -> std::io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let packet = Arc::new(Packet {
            result: Mutex::new(None),
            done: Condvar::new(),
            unseen: self.unseen.clone(),
        });
        let theirs = packet.clone();
        let job: Box<dyn FnOnce() + Send + 'scope> = Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(code));
            theirs.unseen.fetch_add(usize::from(result.is_err()), Ordering::SeqCst);
            *theirs.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            theirs.done.notify_all();
        });
        // SAFETY: `scope` waits for the thread, also when it is unwound itself, before anything
        // that the code borrows can end. When an execution under test ends early, none of its threads
        // goes on.
        let job: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(job) };
        let handle = thread::spawn_boxed(builder, job, place)?;
        let thread = handle.thread().clone();
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        Ok(ScopedJoinHandle { packet, thread, scope: PhantomData })
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread to end. Gives what it returned, or its panic.
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        if let Some(number) = self.thread.number() {
            crate::rt::thread::join(number, Location::caller());
        }
        let mut result = self.packet.result.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(result) = result.take() {
                self.packet.unseen.fetch_sub(usize::from(result.is_err()), Ordering::SeqCst);
                return result;
            }
            if under_test() {
                crate::rt::lock::gone();
            }
            result = self.packet.done.wait(result).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Is the thread over?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match self.thread.number() {
            Some(number) => crate::rt::thread::is_finished(number, Location::caller()),
            None => self.packet.result.lock().unwrap_or_else(PoisonError::into_inner).is_some(),
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl std::fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
