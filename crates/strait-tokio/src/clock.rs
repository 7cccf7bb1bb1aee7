//! The clock of an execution. It stands still, or it runs.
//!
//! A clock that runs is a thread of its own: whenever a timer is set, its next step may be that time passes up
//! to the next deadline, and every order of deadlines is tried that the order of operations on the clock
//! allows (`zone.rs`). A timer fires at its deadline, rounded up to a whole millisecond as tokio's are; what
//! its task does after that may come arbitrarily late.
//!
//! A clock that stands still is moved by `advance`, and by a current-thread runtime whose tasks all wait.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use strait::extend::{self, Gate, ObjectId};

use crate::point::{Place, call_wakers};
use crate::registry::{self, RESERVED};
use crate::zone::{Moment, NOW, START, Zone};

/// The gate that is open while a timer may fire.
const DUE: u8 = RESERVED;

/// Deadlines are whole milliseconds.
const TICK: i64 = 1_000_000;

/// A timer of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimerId(usize);

/// A moment at which the clock was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MomentId(usize);

/// What a deadline is counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// The present.
    Now,
    /// The beginning of the execution.
    Start,
    /// The deadline of a timer.
    Timer(TimerId),
    /// A moment at which the clock was looked at.
    Moment(MomentId),
}

struct Timer {
    deadline: Moment,
    /// The deadline as it was asked for, if the clock stands still.
    exact: i64,
    state: TimerState,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TimerState {
    Set,
    Fired,
    Dropped,
}

/// The clock of one execution.
#[derive(Default)]
pub(crate) struct Clock {
    zone: Zone,
    timers: Vec<Timer>,
    /// The moments at which the clock was looked at while it ran.
    moments: Vec<Moment>,
    /// The time that a clock shows that stands still.
    stopped_at: Option<i64>,
    is_started: bool,
    is_over: bool,
    /// How many blocking functions are performed: while there are any, a clock that stands still is not moved.
    blocking: i32,
}

/// The object of the clock.
#[track_caller]
pub(crate) fn object() -> ObjectId {
    extend::common_object(16, "clock")
}

/// Nanoseconds, at most those of a hundred years.
pub(crate) fn nanoseconds(duration: Duration) -> i64 {
    const CENTURY: u128 = 100 * 365 * 24 * 3600 * 1_000_000_000;
    duration.as_nanos().min(CENTURY) as i64
}

fn round_up(time: i64) -> i64 {
    time.div_euclid(TICK) * TICK + if time.rem_euclid(TICK) == 0 { 0 } else { TICK }
}

impl Clock {
    /// The deadlines that have not fired.
    fn deadlines(&self) -> Vec<(usize, Moment)> {
        let timers = self.timers.iter().enumerate();
        let set = timers.filter(|(_, timer)| timer.state == TimerState::Set);
        set.map(|(index, timer)| (index, timer.deadline)).collect()
    }

    fn pass(&mut self) {
        let deadlines: Vec<Moment> =
            self.deadlines().into_iter().map(|(_, moment)| moment).collect();
        self.zone.pass(&deadlines);
    }

    /// The timers of which each may be the next to fire, with the zone in which it does.
    fn next(&self) -> Vec<(usize, Zone)> {
        let deadlines = self.deadlines();
        let fires = |&(index, deadline): &(usize, Moment)| {
            let others = deadlines.iter().filter(|other| other.0 != index).map(|other| other.1);
            let others: Vec<Moment> = others.collect();
            self.zone.fired(deadline, &others).map(|zone| (index, zone))
        };
        deadlines.iter().filter_map(fires).collect()
    }

    fn set(&mut self, base: Base, after: i64) -> TimerId {
        let (deadline, exact) = match (self.stopped_at, base) {
            (Some(now), Base::Now) => (START, now + after),
            (Some(_), Base::Start) => (START, after),
            (Some(_), Base::Timer(timer)) => (START, self.timers[timer.0].exact + after),
            (Some(_), Base::Moment(moment)) => {
                (START, self.zone.earliest(self.moments[moment.0]) + after)
            }
            (None, Base::Moment(moment)) => {
                (self.zone.after(self.moments[moment.0], after, after + TICK - 1), 0)
            }
            (None, Base::Now) => (self.zone.after(NOW, after, after + TICK - 1), 0),
            (None, Base::Start) => (self.zone.after(START, after, after + TICK - 1), 0),
            (None, Base::Timer(timer)) => {
                let deadline = self.timers[timer.0].deadline;
                (self.zone.after(deadline, after, after), 0)
            }
        };
        self.timers.push(Timer { deadline, exact, state: TimerState::Set, waker: None });
        TimerId(self.timers.len() - 1)
    }

    /// Is the deadline of a timer that has just been set certainly over, in the zone or without it?
    fn may_be_over(&self, timer: TimerId, is_over: bool) -> Option<Zone> {
        let mut zone = self.zone.clone();
        let deadline = self.timers[timer.0].deadline;
        let is_possible = match is_over {
            true => zone.restrict(deadline, NOW, -1),
            false => zone.restrict(NOW, deadline, 0),
        };
        is_possible.then_some(zone)
    }

    /// Forgets a timer. Gives its waker.
    fn drop_timer(&mut self, timer: TimerId) -> Option<Waker> {
        let Timer { deadline, state, .. } = self.timers[timer.0];
        if state != TimerState::Dropped && deadline != START {
            self.zone.remove(deadline);
            for timer in &mut self.timers {
                timer.deadline = timer.deadline.without(deadline);
            }
            for moment in &mut self.moments {
                *moment = moment.without(deadline);
            }
        }
        self.timers[timer.0].state = TimerState::Dropped;
        self.timers[timer.0].waker.take()
    }

    /// Fires a timer. Gives its waker.
    fn fire(&mut self, index: usize) -> Option<Waker> {
        self.timers[index].state = TimerState::Fired;
        self.timers[index].waker.take()
    }
}

/// Tells the search in how many ways time can pass now.
fn refresh() {
    let ways = registry::with(|registry| {
        let clock = &registry.clock;
        let is_set = || clock.timers.iter().any(|timer| timer.state == TimerState::Set);
        match clock.stopped_at {
            _ if clock.is_over => 0,
            Some(_) => usize::from(clock.blocking == 0 && is_set()),
            None => clock.next().len(),
        }
    });
    let object = object();
    object.set_ways(ways as u32);
    let (open, close) = if ways > 0 { (DUE, 0) } else { (0, DUE) };
    object.set_gates(open, close);
}

/// An operation on the clock, before which any time may have passed.
pub(crate) fn operation<R>(
    label: &'static str,
    place: Place,
    action: impl FnOnce(&mut Clock) -> R,
) -> R {
    object().step(label, place);
    let result = registry::with(|registry| {
        if registry.clock.stopped_at.is_none() {
            registry.clock.pass();
        }
        let result = action(&mut registry.clock);
        if registry.clock.stopped_at.is_none() {
            registry.clock.pass();
        }
        result
    });
    refresh();
    call_wakers(place);
    result
}

/// Sets a timer.
pub(crate) fn set(base: Base, after: Duration, place: Place) -> TimerId {
    let after = nanoseconds(after);
    if base == Base::Now {
        let timer = operation("set timer", place, |clock| clock.set(base, after));
        start(place);
        return timer;
    }
    // The deadline may be over already, or not.
    let is_running = registry::with(|registry| registry.clock.stopped_at.is_none());
    let wants_over = is_running && strait::choose(2) == 1;
    let timer = operation("set timer", place, |clock| {
        let timer = clock.set(base, after);
        if let Some(now) = clock.stopped_at {
            if clock.timers[timer.0].exact <= now {
                clock.fire(timer.0);
            }
            return timer;
        }
        let wanted = clock.may_be_over(timer, wants_over).map(|zone| (zone, wants_over));
        let other = || clock.may_be_over(timer, !wants_over).map(|zone| (zone, !wants_over));
        if let Some((zone, is_over)) = wanted.or_else(other) {
            clock.zone = zone;
            if is_over {
                clock.fire(timer.0);
            }
        }
        timer
    });
    start(place);
    timer
}

/// Starts the thread that lets time pass, unless there is one.
fn start(place: Place) {
    let starts = registry::with(|registry| {
        let clock = &mut registry.clock;
        let runs = clock.stopped_at.is_none() && !clock.is_over;
        runs && !std::mem::replace(&mut clock.is_started, true)
    });
    if starts {
        let code = move || {
            loop {
                let choice = extend::wait_and_choose(object(), DUE, "time passes", place);
                let fired = registry::with(|registry| {
                    let clock = &mut registry.clock;
                    let (index, zone) = clock.next().into_iter().nth(choice as usize)?;
                    clock.zone = zone;
                    let waker = clock.fire(index);
                    clock.pass();
                    waker
                });
                if let Some(waker) = fired {
                    waker.wake();
                }
                refresh();
                call_wakers(place);
            }
        };
        extend::spawn_here(Some("clock".to_owned()), code, place);
    }
}

/// Looks whether a timer has fired; to be called in a step at the clock.
pub(crate) fn poll(timer: TimerId, context: &mut Context<'_>) -> Poll<()> {
    let waker = context.waker().clone();
    let (polled, unused) = registry::with(|registry| {
        let timer = &mut registry.clock.timers[timer.0];
        match timer.state {
            TimerState::Set => (Poll::Pending, timer.waker.replace(waker)),
            TimerState::Fired | TimerState::Dropped => (Poll::Ready(()), Some(waker)),
        }
    });
    // To drop a waker may run other code.
    drop(unused);
    polled
}

/// Has a timer fired?
pub(crate) fn has_fired(timer: TimerId, place: Place) -> bool {
    object().look("is_elapsed", place);
    registry::with(|registry| registry.clock.timers[timer.0].state == TimerState::Fired)
}

/// Forgets a timer; a step, unless it is known to have fired.
pub(crate) fn forget(timer: TimerId, is_known_to_have_fired: bool, place: Place) {
    let unused = match is_known_to_have_fired {
        true => registry::with(|registry| registry.clock.drop_timer(timer)),
        false => operation("drop timer", place, |clock| clock.drop_timer(timer)),
    };
    drop(unused);
}

/// The time since the beginning of the execution.
pub(crate) fn now(place: Place) -> i64 {
    operation("read clock", place, |clock| match clock.stopped_at {
        Some(now) => now,
        None => read(clock, NOW),
    })
}

/// The time that a clock shows that stands still, or the moment at which it was looked at.
pub(crate) fn look(place: Place) -> Result<i64, MomentId> {
    operation("look at clock", place, |clock| match clock.stopped_at {
        Some(now) => Ok(now),
        None => {
            let moment = clock.zone.after(NOW, 0, 0);
            clock.moments.push(moment);
            Err(MomentId(clock.moments.len() - 1))
        }
    })
}

/// The time of a moment, which is fixed by this.
pub(crate) fn fix(moment: MomentId, place: Place) -> i64 {
    operation("read clock", place, |clock| {
        let moment = clock.moments[moment.0];
        read(clock, moment)
    })
}

/// The deadline of a timer, since the beginning of the execution.
pub(crate) fn deadline(timer: TimerId, place: Place) -> i64 {
    operation("read deadline", place, |clock| {
        let Timer { deadline, exact, .. } = clock.timers[timer.0];
        if clock.stopped_at.is_some() { exact } else { read(clock, deadline) }
    })
}

/// Fixes a moment at the earliest time that is possible. Others are not looked at.
fn read(clock: &mut Clock, moment: Moment) -> i64 {
    extend::leaves_out(
        "of the times that the clock could show where it was read, the earliest one was tried",
    );
    let earliest = clock.zone.earliest(moment);
    clock.zone.restrict(moment, START, earliest);
    earliest
}

/// Stops the clock. Says whether it ran.
pub(crate) fn pause(place: Place) -> bool {
    operation("pause clock", place, |clock| {
        let runs = clock.stopped_at.is_none();
        if runs {
            let now = if clock.is_started { read(clock, NOW) } else { 0 };
            for index in 0..clock.timers.len() {
                let deadline = clock.timers[index].deadline;
                clock.timers[index].exact = clock.zone.earliest(deadline);
            }
            clock.stopped_at = Some(now);
        }
        runs
    })
}

/// Lets the clock run again. Says whether it stood still.
pub(crate) fn resume(place: Place) -> bool {
    let stood = operation("resume clock", place, |clock| {
        let Some(now) = clock.stopped_at.take() else { return false };
        clock.moments.iter_mut().for_each(|moment| *moment = START);
        clock.zone = Zone::default();
        let present = clock.zone.after(START, now, now);
        clock.zone.pass(&[present]);
        clock.zone.restrict(present, NOW, 0);
        for timer in &mut clock.timers {
            timer.deadline = clock.zone.after(START, timer.exact, timer.exact + TICK - 1);
        }
        true
    });
    if stood {
        start(place);
    }
    stood
}

/// Moves a clock that stands still up to a time, or to the next deadline. Says whether it was moved.
pub(crate) fn advance(to: Option<Duration>, place: Place) -> bool {
    let wakers = operation("advance clock", place, |clock| {
        let now = clock.stopped_at?;
        if to.is_none() && clock.blocking > 0 {
            return None;
        }
        let deadlines = clock.timers.iter().filter(|timer| timer.state == TimerState::Set);
        let next = deadlines.map(|timer| round_up(timer.exact)).min();
        let target = match to {
            Some(by) => now + nanoseconds(by),
            None => next?.max(now),
        };
        clock.stopped_at = Some(target);
        let mut wakers = Vec::new();
        for index in 0..clock.timers.len() {
            let timer = &clock.timers[index];
            if timer.state == TimerState::Set && round_up(timer.exact) <= target {
                wakers.extend(clock.fire(index));
            }
        }
        Some(wakers)
    });
    let Some(wakers) = wakers else { return false };
    wakers.into_iter().for_each(Waker::wake);
    call_wakers(place);
    true
}

/// The gate that is open while a clock that stands still may be moved by a runtime, if it stands still.
pub(crate) fn idle_gate() -> Option<Gate> {
    stands_still().then(|| Gate { object: object(), bits: DUE, write: true })
}

/// A clock that stands still is about to be moved because all tasks wait. A thread that is no task could wake one
/// before, and that order is not tried.
pub(crate) fn notice_other_threads() {
    let others = extend::other_threads();
    let is_foreign =
        |number: &u32| registry::with(|registry| !registry.blocking_threads.contains(number));
    if others.iter().any(is_foreign) {
        extend::leaves_out(
            "a clock that stands still was moved beside other threads, which could have woken a task before",
        );
    }
}

/// A blocking function begins or ends.
pub(crate) fn blocks(change: i32, place: Place) {
    operation("blocking function", place, |clock| clock.blocking += change);
}

/// Does the clock stand still?
pub(crate) fn stands_still() -> bool {
    registry::with(|registry| registry.clock.stopped_at.is_some())
}

/// The main task of the execution is over: time ends.
pub(crate) fn end(place: Place) {
    operation("end of main task", place, |clock| clock.is_over = true);
}
