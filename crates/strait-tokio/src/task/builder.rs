//! Tasks with names. The names are for people: under test they do not matter.

use std::future::Future;
use std::io::Result;
use std::marker::PhantomData;

use super::{JoinHandle, LocalSet, spawn, spawn_blocking, spawn_local};
use crate::runtime::Handle;

/// Starts a task with a name.
#[derive(Clone, Copy, Default, Debug)]
pub struct Builder<'a> {
    name: PhantomData<&'a str>,
}

impl<'a> Builder<'a> {
    /// A task without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Names the task.
    pub fn name(&self, name: &'a str) -> Self {
        let _for_people = name;
        Builder { name: PhantomData }
    }

    /// Starts the task on the current runtime.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(spawn(future))
    }

    /// Starts the task on a runtime.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(handle.spawn(future))
    }

    /// Starts the task on the current local set.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(spawn_local(future))
    }

    /// Starts the task on a local set.
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set.spawn_local(future))
    }

    /// Starts a function that may block on the current runtime.
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, function: F) -> Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Ok(spawn_blocking(function))
    }

    /// Starts a function that may block on a runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F, R>(self, function: F, handle: &Handle) -> Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Ok(handle.spawn_blocking(function))
    }
}
