//! Tasks, as in `tokio::task`.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use strait::extend;

use crate::executor;
use crate::registry;
use crate::runtime::Handle;

mod builder;
mod join_error;
mod join_handle;
mod join_model;
pub mod join_set;
mod local_set;
mod task_local;

pub use builder::Builder;
pub use join_error::{Id, JoinError};
pub use join_handle::{AbortHandle, JoinHandle};
pub use join_set::JoinSet;
pub use local_set::{LocalEnterGuard, LocalSet, spawn_local};
pub use task_local::{AccessError, LocalKey, TaskLocalFuture};
pub use tokio::task::coop::{Unconstrained, unconstrained};

pub(crate) use join_model::Outcome;
pub(crate) use local_set::LocalMembers;

/// Futures of this module.
pub mod futures {
    pub use super::TaskLocalFuture;
}

/// Co-operation with the scheduler. Under test a task is never made to wait because it has done much: it can
/// be interrupted at each step anyway.
pub mod coop {
    pub use super::consume_budget;
    pub use tokio::task::coop::{Unconstrained, has_budget_remaining, unconstrained};
}

/// Starts a task on the current runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Handle::current().spawn(future)
}

/// Starts a function that may block on the current runtime.
#[track_caller]
pub fn spawn_blocking<F, R>(function: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    Handle::current().spawn_blocking(function)
}

/// Performs a function that may block.
pub fn block_in_place<F: FnOnce() -> R, R>(function: F) -> R {
    if extend::under_test() { function() } else { tokio::task::block_in_place(function) }
}

/// Performs a future to its end on this thread, for operations that block.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    executor::block_on(future, Location::caller())
}

/// The number of the current task.
#[track_caller]
pub fn id() -> Id {
    match try_id() {
        Some(id) => id,
        None => panic!("Can't get a task id when not inside a task"),
    }
}

/// The number of the current task, if this is one.
pub fn try_id() -> Option<Id> {
    if extend::under_test() {
        registry::current_task().map(|(task, _)| Id::model(task.number))
    } else {
        tokio::task::try_id().map(Id::real)
    }
}

/// Lets other tasks go first.
pub async fn yield_now() {
    if extend::under_test() {
        YieldNow { is_polled: false }.await;
    } else {
        tokio::task::yield_now().await;
    }
}

/// Lets other tasks go first if this one has done much. Under test it never has.
pub async fn consume_budget() {
    if !extend::under_test() {
        tokio::task::coop::consume_budget().await;
    }
}

/// A future that is pending once.
struct YieldNow {
    is_polled: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.is_polled, true) {
            return Poll::Ready(());
        }
        match registry::current_task() {
            Some((task, waker)) if context.waker().will_wake(&waker) => task.yields(),
            _ => context.waker().wake_by_ref(),
        }
        Poll::Pending
    }
}
