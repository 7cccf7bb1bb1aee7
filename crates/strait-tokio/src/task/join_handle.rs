//! Handles to tasks.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use strait::extend::{Object, ObjectId};

use super::{Id, JoinError, Outcome};
use crate::executor::{End, Task};
use crate::point::{Place, Waiting};
use crate::runtime::ModelHandle;

/// A started task: a future of its output.
pub struct JoinHandle<T>(Inner<T>);

enum Inner<T> {
    Real(tokio::task::JoinHandle<T>),
    Model(ModelJoin<T>),
}

/// A task under test.
struct ModelJoin<T> {
    task: Arc<Task>,
    outcome: Arc<Mutex<Option<Outcome<T>>>>,
    waiting: Waiting,
}

impl<T> JoinHandle<T> {
    pub(crate) fn real(handle: tokio::task::JoinHandle<T>) -> Self {
        JoinHandle(Inner::Real(handle))
    }

    /// The handle to a task under test, and what is to be called at its end.
    pub(crate) fn model(place: Place) -> (Self, Arc<Task>, impl FnOnce(End<T>) + use<T>) {
        let done: ObjectId = Object::new("end of task").number(place);
        let task = Task::new(done, place);
        let outcome = Arc::new(Mutex::new(None));
        let theirs = outcome.clone();
        let id = Id::model(task.number);
        let ended = move |end| {
            let outcome = Some(Outcome::new(id, end));
            *theirs.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
        };
        let waiting = Waiting::new(done, "join", place);
        let join = ModelJoin { task: task.clone(), outcome, waiting };
        (JoinHandle(Inner::Model(join)), task, ended)
    }

    /// Starts a task on a runtime under test.
    pub(crate) fn spawned<F>(runtime: &ModelHandle, future: F, place: Place) -> Self
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let (handle, task, ended) = Self::model(place);
        runtime.start(task, future, ended, place);
        handle
    }

    /// Starts a function that may block on a runtime under test.
    pub(crate) fn blocking<F>(runtime: &ModelHandle, function: F, place: Place) -> Self
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (handle, task, ended) = Self::model(place);
        runtime.start_blocking(task, function, ended);
        handle
    }

    /// Aborts the task: it ends where it waits next.
    #[track_caller]
    pub fn abort(&self) {
        match &self.0 {
            Inner::Real(handle) => handle.abort(),
            Inner::Model(join) => join.task.abort(Location::caller()),
        }
    }

    /// Is the task over?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Real(handle) => handle.is_finished(),
            Inner::Model(join) => join.task.is_finished(Location::caller()),
        }
    }

    /// A handle that can abort the task.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(match &self.0 {
            Inner::Real(handle) => AbortInner::Real(handle.abort_handle()),
            Inner::Model(join) => AbortInner::Model(join.task.clone()),
        })
    }

    /// The number of the task.
    pub fn id(&self) -> Id {
        match &self.0 {
            Inner::Real(handle) => Id::real(handle.id()),
            Inner::Model(join) => Id::model(join.task.number),
        }
    }
}

impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Real(handle) => Pin::new(handle).poll(context).map_err(JoinError::from),
            Inner::Model(ModelJoin { task, outcome, waiting }) => {
                let finished = waiting.poll(context, |context| task.poll_finished(context));
                finished.map(|()| {
                    let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
                    match outcome {
                        Some(outcome) => outcome.result(),
                        None => panic!("JoinHandle polled after completion"),
                    }
                })
            }
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Inner::Model(join) = &mut self.0 {
            join.waiting.cancel("stop waiting", || {});
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JoinHandle").field("id", &self.id()).finish()
    }
}

/// A handle that can abort a task.
#[derive(Clone)]
pub struct AbortHandle(AbortInner);

#[derive(Clone)]
enum AbortInner {
    Real(tokio::task::AbortHandle),
    Model(Arc<Task>),
}

impl AbortHandle {
    pub(crate) fn real(handle: tokio::task::AbortHandle) -> Self {
        AbortHandle(AbortInner::Real(handle))
    }

    pub(crate) fn model(task: Arc<Task>) -> Self {
        AbortHandle(AbortInner::Model(task))
    }

    /// Aborts the task: it ends where it waits next.
    #[track_caller]
    pub fn abort(&self) {
        match &self.0 {
            AbortInner::Real(handle) => handle.abort(),
            AbortInner::Model(task) => task.abort(Location::caller()),
        }
    }

    /// Is the task over?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            AbortInner::Real(handle) => handle.is_finished(),
            AbortInner::Model(task) => task.is_finished(Location::caller()),
        }
    }

    /// The number of the task.
    pub fn id(&self) -> Id {
        match &self.0 {
            AbortInner::Real(handle) => Id::real(handle.id()),
            AbortInner::Model(task) => Id::model(task.number),
        }
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AbortHandle").field("id", &self.id()).finish()
    }
}
