//! Values that belong to a task. They are kept for each thread of the execution, since another thread may go
//! on in the middle of a poll.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::mem::swap;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Declares values that belong to tasks.
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty; $($rest:tt)*) => {
        $crate::task_local!($(#[$attribute])* $visibility static $name: $type);
        $crate::task_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty) => {
        $(#[$attribute])*
        $visibility static $name: $crate::task::LocalKey<$type> = {
            $crate::support::thread_local! {
                static KEPT: ::std::cell::RefCell<::std::option::Option<$type>> =
                    ::std::cell::RefCell::new(::std::option::Option::None);
            }
            $crate::task::LocalKey::from_kept(&KEPT)
        };
    };
}

/// A value that belongs to a task.
pub struct LocalKey<T: 'static> {
    kept: &'static strait::thread::LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn from_kept(kept: &'static strait::thread::LocalKey<RefCell<Option<T>>>) -> Self {
        LocalKey { kept }
    }

    /// A future within which the value is this one.
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { key: self, value: Some(value), future: Box::pin(future) }
    }

    /// Performs a function within which the value is this one.
    #[track_caller]
    pub fn sync_scope<F: FnOnce() -> R, R>(&'static self, value: T, function: F) -> R {
        let mut value = Some(value);
        let _within = Within::begin(self, &mut value);
        function()
    }

    /// Performs a function on the value.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn with<F: FnOnce(&T) -> R, R>(&'static self, function: F) -> R {
        match self.try_with(function) {
            Ok(result) => result,
            Err(_) => panic!("cannot access a task-local storage value without setting it first"),
        }
    }

    /// Performs a function on the value, if there is one.
    pub fn try_with<F: FnOnce(&T) -> R, R>(&'static self, function: F) -> Result<R, AccessError> {
        self.kept.with(|kept| kept.borrow().as_ref().map(function).ok_or(AccessError(())))
    }
}

impl<T: Clone + 'static> LocalKey<T> {
    /// A copy of the value.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn get(&'static self) -> T {
        self.with(T::clone)
    }

    /// A copy of the value, if there is one.
    pub fn try_get(&'static self) -> Result<T, AccessError> {
        self.try_with(T::clone)
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LocalKey { .. }")
    }
}

/// The value of a key is another one until this is dropped.
struct Within<'v, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'v mut Option<T>,
}

impl<'v, T: 'static> Within<'v, T> {
    fn begin(key: &'static LocalKey<T>, value: &'v mut Option<T>) -> Self {
        key.kept.with(|kept| swap(&mut *kept.borrow_mut(), value));
        Within { key, value }
    }
}

impl<T: 'static> Drop for Within<'_, T> {
    fn drop(&mut self) {
        self.key.kept.with(|kept| swap(&mut *kept.borrow_mut(), self.value));
    }
}

/// A future within which a task-local value is set.
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    value: Option<T>,
    future: Pin<Box<F>>,
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value away.
    pub fn take_value(mut self: Pin<&mut Self>) -> Option<T>
    where
        T: Unpin,
    {
        self.value.take()
    }
}

impl<T: Unpin + 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let TaskLocalFuture { key, value, future } = &mut *self;
        let _within = Within::begin(key, value);
        future.as_mut().poll(context)
    }
}

impl<T, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TaskLocalFuture").finish_non_exhaustive()
    }
}

/// There is no such value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("task-local value not set")
    }
}

impl std::error::Error for AccessError {}
