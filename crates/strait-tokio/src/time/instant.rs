//! Moments: tokio's, or those of the clock of an execution.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::panic::Location;
use std::time::Duration;

use strait::extend;

use crate::clock::{self, MomentId, nanoseconds};

/// A moment.
#[derive(Clone, Copy)]
pub struct Instant(pub(super) Kind);

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Real(tokio::time::Instant),
    /// Nanoseconds since the beginning of the execution.
    Model(i64),
    /// So many nanoseconds after a moment at which the clock was looked at while it ran. Which time that was
    /// is open until it matters.
    After(MomentId, i64),
    /// The moment of a tick of a clock that runs.
    Tick,
}

impl Kind {
    /// Nanoseconds since the beginning of the execution, if it is a moment of one. From now on this is the
    /// time of the moment.
    #[track_caller]
    fn time(self) -> Result<i64, tokio::time::Instant> {
        match self {
            Kind::Real(instant) => Err(instant),
            Kind::Model(time) => Ok(time),
            Kind::After(moment, offset) => Ok(clock::fix(moment, Location::caller()) + offset),
            Kind::Tick => Ok(clock::now(Location::caller())),
        }
    }
}

fn duration(nanoseconds: i64) -> Duration {
    Duration::from_nanos(nanoseconds.max(0) as u64)
}

impl Instant {
    /// The present. Under test, if the clock runs, it stays open which time this is, until it is compared with
    /// another moment. Then the earliest one is taken, and the check is not called exhaustive.
    #[track_caller]
    pub fn now() -> Instant {
        Instant(match extend::under_test() {
            false => Kind::Real(tokio::time::Instant::now()),
            true => match clock::look(Location::caller()) {
                Ok(time) => Kind::Model(time),
                Err(moment) => Kind::After(moment, 0),
            },
        })
    }

    /// A moment of the standard library. Not under test.
    pub fn from_std(instant: std::time::Instant) -> Instant {
        Instant(Kind::Real(tokio::time::Instant::from_std(instant)))
    }

    /// The moment as one of the standard library.
    ///
    /// # Panics
    ///
    /// Under test, where it has none.
    #[track_caller]
    pub fn into_std(self) -> std::time::Instant {
        match self.0 {
            Kind::Real(instant) => instant.into_std(),
            _ => panic!("a moment under test has no time of the standard library"),
        }
    }

    /// The time since an earlier moment; zero if it is later.
    #[track_caller]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// The time since an earlier moment, if it is earlier.
    #[track_caller]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        match (self.0.time(), earlier.0.time()) {
            (Err(later), Err(earlier)) => later.checked_duration_since(earlier),
            (Ok(later), Ok(earlier)) => (later >= earlier).then(|| duration(later - earlier)),
            _ => None,
        }
    }

    /// The time since an earlier moment; zero if it is later.
    #[track_caller]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// The time that has passed since this moment.
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }

    /// A later moment, if it can be represented.
    #[track_caller]
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Kind::Real(instant) => Kind::Real(instant.checked_add(duration)?),
            Kind::After(moment, offset) => {
                Kind::After(moment, offset.checked_add(nanoseconds(duration))?)
            }
            kind => Kind::Model(kind.time().ok()?.checked_add(nanoseconds(duration))?),
        }))
    }

    /// An earlier moment, if it can be represented.
    #[track_caller]
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Kind::Real(instant) => Kind::Real(instant.checked_sub(duration)?),
            Kind::After(moment, offset) => {
                Kind::After(moment, offset.checked_sub(nanoseconds(duration))?)
            }
            kind => Kind::Model(kind.time().ok()?.checked_sub(nanoseconds(duration))?),
        }))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    #[track_caller]
    fn add(self, duration: Duration) -> Instant {
        match self.checked_add(duration) {
            Some(instant) => instant,
            None => panic!("overflow when adding duration to instant"),
        }
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    #[track_caller]
    fn sub(self, duration: Duration) -> Instant {
        match self.checked_sub(duration) {
            Some(instant) => instant,
            None => panic!("overflow when subtracting duration from instant"),
        }
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Ord for Instant {
    #[track_caller]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0.time(), other.0.time()) {
            (Err(mine), Err(theirs)) => mine.cmp(&theirs),
            (Ok(mine), Ok(theirs)) => mine.cmp(&theirs),
            (Err(_), Ok(_)) => Ordering::Less,
            (Ok(_), Err(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Instant {
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Instant {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Instant {}

impl Hash for Instant {
    #[track_caller]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match self.0.time() {
            Ok(time) => time.hash(hasher),
            Err(instant) => instant.hash(hasher),
        }
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Real(instant) => instant.fmt(formatter),
            Kind::Model(time) => write!(formatter, "Instant({:?})", duration(time)),
            Kind::After(..) | Kind::Tick => formatter.write_str("Instant"),
        }
    }
}

impl From<std::time::Instant> for Instant {
    fn from(instant: std::time::Instant) -> Self {
        Instant::from_std(instant)
    }
}

impl From<Instant> for std::time::Instant {
    #[track_caller]
    fn from(instant: Instant) -> Self {
        instant.into_std()
    }
}
