//! Barriers, as `tokio::sync::Barrier`.

use std::fmt;
use std::future::Future;
use std::panic::Location;

pub use tokio::sync::BarrierWaitResult;

use crate::point::Point;

/// Lets tasks go on when so many have come.
pub struct Barrier {
    real: tokio::sync::Barrier,
    point: Point,
}

impl Barrier {
    /// A barrier for so many tasks.
    #[track_caller]
    pub fn new(count: usize) -> Barrier {
        Barrier { real: tokio::sync::Barrier::new(count), point: Point::new("Barrier") }
    }

    /// Waits until enough tasks have come. The last of them is the leader.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> + '_ {
        self.point.wait("wait", Location::caller(), self.real.wait())
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Barrier").finish_non_exhaustive()
    }
}
