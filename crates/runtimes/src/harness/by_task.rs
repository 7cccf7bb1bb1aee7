//! A process as a task: operations are futures, a select polls several, a timeout drops them.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::actor::{Actor, Hold, Outcome, Request};
use super::by_thread::without_waiting;
use super::payload::Word;
use super::random::{Disturbance, spin};
use super::target::{Answer, Target};

/// Runs a process to its end as a task.
pub async fn drive<T: Target, W: Word>(mut actor: Actor<T, W>) {
    while !actor.instance().batch.is_open() {
        yield_once().await;
    }
    if actor.is_batched() && !actor.instance().keep_pace() {
        // Somebody has no thread.
        yield_once().await;
    }
    while let Some(at) = actor.next_wait() {
        match actor.disturbance() {
            Disturbance::Nothing => {}
            Disturbance::Spin(rounds) => spin(rounds),
            Disturbance::Yield(times) => {
                for _ in 0..times {
                    yield_once().await;
                }
            }
            Disturbance::Sleep(_) => std::thread::yield_now(),
        }
        let request = match actor.request(at) {
            Ok(request) => request,
            Err(why) => return actor.instance().job.go_astray(why),
        };
        actor.line_up(false);
        let outcome = perform(&mut actor, request).await;
        actor.answer(at, outcome);
    }
    actor.finish();
}

/// Lets other tasks run.
async fn yield_once() {
    let mut is_first = true;
    poll_fn(|context| {
        if !is_first {
            return Poll::Ready(());
        }
        is_first = false;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn perform<T: Target, W: Word>(
    actor: &mut Actor<T, W>,
    request: Request<T, W>,
) -> Outcome<W> {
    let Request { mut holds, has_default, has_timeout } = request;
    if has_default {
        return without_waiting(actor, holds);
    }
    let manner = has_timeout.then(|| actor.manner());
    if holds.len() > 1 {
        return select(actor, holds, manner).await;
    }
    let Some((case, hold)) = holds.pop() else {
        return Outcome::Timeout;
    };
    let answer = match hold {
        Hold::Put(sender, word) => {
            patiently(actor, pin!(T::put_task(&*sender, word)), manner).await
        }
        Hold::Get(receiver) => patiently(actor, pin!(T::get_task(&*receiver)), manner).await,
    };
    answer.map_or(Outcome::Timeout, |answer| Outcome::Done(case, answer))
}

/// How a task gives up an operation. In between it lets other tasks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// The future is polled once and so many times more, the last time right before it is dropped.
    Polled(u32),
    /// The future is polled once, and dropped without another poll when it has been woken, as `select!`
    /// and timeouts do whose other branch is ready; after so many rounds at the latest.
    Woken(u32),
    /// The future is polled once, and dropped after so many rounds, woken or not.
    Unpolled(u32),
}

/// Waits for a future, or gives it up: then it is dropped right after this.
async fn patiently<T: Target, W: Word, F: Future>(
    actor: &mut Actor<T, W>,
    mut future: Pin<&mut F>,
    manner: Option<Manner>,
) -> Option<F::Output> {
    let output = give_up(manner, |context| future.as_mut().poll(context)).await;
    if output.is_none() {
        actor.line_up(true);
    }
    output
}

/// Notes that a future was woken, and wakes its task.
struct Alarm {
    has_rung: AtomicBool,
    task: Waker,
}

impl Alarm {
    fn of(context: &Context<'_>) -> Alarm {
        Alarm { has_rung: AtomicBool::new(false), task: context.waker().clone() }
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.has_rung.store(true, Ordering::SeqCst);
        self.task.wake_by_ref();
    }
}

/// Polls until there is an output, or gives up: `None`.
async fn give_up<O>(
    manner: Option<Manner>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<O>,
) -> Option<O> {
    let Some(manner) = manner else { return Some(poll_fn(poll).await) };
    let (Manner::Polled(mut left) | Manner::Woken(mut left) | Manner::Unpolled(mut left)) = manner;
    let mut alarm: Option<Arc<Alarm>> = None;
    poll_fn(|context| {
        let polled = match (manner, &alarm) {
            (Manner::Polled(_), _) => poll(context),
            (_, None) => {
                let new = Arc::new(Alarm::of(context));
                let waker = Waker::from(Arc::clone(&new));
                alarm = Some(new);
                poll(&mut Context::from_waker(&waker))
            }
            (Manner::Woken(_), Some(alarm)) if alarm.has_rung.load(Ordering::SeqCst) => {
                return Poll::Ready(None);
            }
            _ => Poll::Pending,
        };
        if let Poll::Ready(output) = polled {
            return Poll::Ready(Some(output));
        }
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

type Pending<'a, W> = (usize, Pin<Box<dyn Future<Output = Answer<W>> + Send + 'a>>);

/// Polls all cases in turn until one is ready; the others are dropped.
async fn select<T: Target, W: Word>(
    actor: &mut Actor<T, W>,
    holds: Vec<(usize, Hold<T, W>)>,
    manner: Option<Manner>,
) -> Outcome<W> {
    let first = actor.rotation(holds.len());
    let mut ends = Vec::with_capacity(holds.len());
    for (case, hold) in holds {
        ends.push(match hold {
            Hold::Put(sender, word) => (case, Some(sender), None, Some(word)),
            Hold::Get(receiver) => (case, None, Some(receiver), None),
        });
    }
    let mut futures: Vec<Pending<'_, W>> = Vec::with_capacity(ends.len());
    for (case, sender, receiver, word) in &mut ends {
        match (sender, receiver, word.take()) {
            (Some(sender), _, Some(word)) => {
                futures.push((*case, Box::pin(T::put_task(&**sender, word))));
            }
            (_, Some(receiver), _) => futures.push((*case, Box::pin(T::get_task(&**receiver)))),
            _ => {}
        }
    }
    futures.rotate_left(first);
    let done = give_up(manner, |context| {
        for (case, future) in &mut futures {
            if let Poll::Ready(answer) = future.as_mut().poll(context) {
                return Poll::Ready((*case, answer));
            }
        }
        Poll::Pending
    })
    .await;
    if done.is_none() {
        actor.line_up(true);
    }
    drop(futures);
    done.map_or(Outcome::Timeout, |(case, answer)| Outcome::Done(case, answer))
}

/// Runs a future; if a poll panics, gives the message instead.
pub async fn catching<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(message_of(&*panic))),
        }
    })
    .await
}

/// What a panic said.
pub fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}
