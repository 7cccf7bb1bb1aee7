//! Values that are set once and can be waited for, as `tokio::sync::SetOnce`.

use std::fmt;
use std::future::Future;
use std::panic::Location;

pub use tokio::sync::SetOnceError;

use crate::point::Point;

/// A value that is set once.
pub struct SetOnce<T> {
    real: tokio::sync::SetOnce<T>,
    point: Point,
}

impl<T> SetOnce<T> {
    /// Not set.
    #[track_caller]
    pub fn new() -> Self {
        Self::new_with(None)
    }

    /// For a `static`, not set.
    pub const fn const_new() -> Self {
        SetOnce { real: tokio::sync::SetOnce::const_new(), point: Point::new_static("SetOnce") }
    }

    /// With this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        SetOnce { real: tokio::sync::SetOnce::new_with(value), point: Point::new("SetOnce") }
    }

    /// Is it set?
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.point.look("initialized", Location::caller(), || self.real.initialized())
    }

    /// The value, if it is set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.point.look("get", Location::caller(), || self.real.get())
    }

    /// Sets the value, unless it is set.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.point.operation("set", Location::caller(), || self.real.set(value))
    }

    /// Waits for the value.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> + '_ {
        self.point.wait("wait", Location::caller(), self.real.wait())
    }

    /// The value, if it is set.
    pub fn into_inner(self) -> Option<T> {
        self.real.into_inner()
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        SetOnce::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SetOnce").finish_non_exhaustive()
    }
}
