//! What `strait-loom` needs beyond the interface of std. No part of the public interface: it may change in
//! any version.

use std::panic::Location;

use crate::rt::current::{under_test, with};
use crate::rt::thread as model;
use crate::thread::{JoinHandle, spawn_model};

/// Is the calling thread part of a check?
pub fn is_under_test() -> bool {
    under_test()
}

/// Starts a thread of a check. What it captures need not be `Send`, because all threads of an execution run
/// on one thread of the operating system.
///
/// # Panics
///
/// If the caller is not part of a check.
#[track_caller]
pub fn spawn_local<F, T>(code: F, name: Option<String>) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    assert!(under_test(), "threads can only be started within a model");
    let code = || {
        note_activity();
        code()
    };
    spawn_model(code, name, Location::caller())
}

/// The current thread may do nothing that the library controls.
pub fn note_activity() {
    with(|world| world.me().operated = true);
}

/// Waits until all threads of the execution are over that the current thread and its descendants have
/// started. One that can never go on makes this a deadlock.
#[track_caller]
pub fn join_descendants() {
    let place = Location::caller();
    let Some(current) = with(|world| world.current) else { return };
    let mut parents = vec![current];
    while let Some(parent) = parents.pop() {
        // The children of a thread that is over are known, whatever the schedule was.
        let count = with(|world| world.threads[parent as usize].children).unwrap_or(0);
        for index in 0..count {
            let Some(child) = with(|world| world.names.child(parent, index)) else { return };
            model::join(child, place);
            parents.push(child);
        }
    }
}
