//! Threads that can be exchanged for each other.
//!
//! A search looks at one execution for each set of executions that differ only in which of these threads
//! does what: see `rt/symmetry.rs`.

use std::panic::Location;
use std::sync::Arc;

use crate::rt::current::{under_test, with};
use crate::thread::{JoinHandle, Result, spawn, spawn_model};

/// Threads that were started by [`spawn_symmetric`].
#[derive(Debug)]
#[must_use = "threads that are not joined may go on after the test"]
pub struct SymmetricThreads<T> {
    handles: Vec<JoinHandle<T>>,
}

/// Starts several threads with the same code, and lets a search exchange them for each other: of executions
/// that differ only in which of these threads does what, it looks at one or some, not at all.
///
/// The set of outcomes is complete up to such exchanges. So the code must not depend on which thread it is
/// run by. [`crate::thread::current`] is a fault there; values that threads have of their own must not differ,
/// and what is made of the results must not depend on their order, which a check cannot notice.
///
/// ```
/// use std::sync::Arc;
/// use strait::sync::atomic::{AtomicU32, Ordering};
///
/// # let three = |symmetric: bool| {
/// let outcomes = strait::Builder::new().outcomes(move || {
///     let shared = Arc::new(AtomicU32::new(0));
///     let theirs = shared.clone();
///     let code = move || theirs.store(theirs.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
/// #   if !symmetric {
/// #       let threads: Vec<_> = (0..3).map(|_| strait::thread::spawn(code.clone())).collect();
/// #       threads.into_iter().for_each(|thread| thread.join().unwrap());
/// #       return shared.load(Ordering::SeqCst);
/// #   }
///     for result in strait::thread::spawn_symmetric(3, code).join() {
///         result.unwrap();
///     }
///     shared.load(Ordering::SeqCst)
/// });
/// assert!(outcomes.is_exhaustive());
/// # outcomes
/// # };
/// # let (all, some) = (three(false), three(true));
/// # assert_eq!(all.found.len(), some.found.len());
/// # assert!(some.executions < all.executions);
/// ```
#[track_caller]
pub fn spawn_symmetric<F, T>(count: usize, code: F) -> SymmetricThreads<T>
where
    F: Fn() -> T + Send + Sync + 'static,
    T: Send + 'static,
{
    let code = Arc::new(code);
    let place = Location::caller();
    let mut previous = None;
    let start = |_| {
        let code = code.clone();
        if !under_test() {
            return spawn(move || code());
        }
        let handle = spawn_model(move || code(), None, place);
        if let Some(number) = handle.thread().number() {
            with(|world| world.note_alike(number, previous));
            previous = Some(number);
        }
        handle
    };
    SymmetricThreads { handles: (0..count).map(start).collect() }
}

impl<T> SymmetricThreads<T> {
    /// Waits for all threads to end. Gives what each returned, or its panic.
    #[track_caller]
    pub fn join(self) -> Vec<Result<T>> {
        self.handles.into_iter().map(JoinHandle::join).collect()
    }
}
