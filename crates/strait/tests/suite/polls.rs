//! Polls that no waker has asked for: `Builder::spurious_polls`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use strait::future::{block_on, spawn};
use strait::sync::{Arc, Mutex};
use strait::{Builder, Model, Outcome, thread};

/// What the two sides of a message share.
#[derive(Default)]
struct Slot {
    message: Option<u32>,
    waker: Option<Waker>,
}

/// What a receiver does when it is polled and there is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mistake {
    /// It leaves its waker, as it ought to.
    None,
    /// It takes a second poll for a sign that the message is there.
    Trusts,
    /// When it is polled again, it takes its waker back as if that had been used.
    Forgets,
}

struct Receive {
    slot: Arc<Mutex<Slot>>,
    mistake: Mistake,
    polled: bool,
}

impl Future for Receive {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        let again = std::mem::replace(&mut self.polled, true);
        let mut slot = self.slot.lock().unwrap();
        match slot.message.take() {
            Some(message) => return Poll::Ready(message),
            None if again && self.mistake == Mistake::Trusts => panic!("woken without a message"),
            None => {}
        }
        let waker = slot.waker.take();
        if waker.is_none() || self.mistake != Mistake::Forgets {
            slot.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

fn send(slot: &Mutex<Slot>) {
    let mut held = slot.lock().unwrap();
    held.message = Some(7);
    let waker = held.waker.take();
    drop(held);
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// A thread that sends, and a receiver that is performed by `block_on` or as a task of its own.
fn program(mistake: Mistake, spawns: bool) -> impl Fn() -> u32 + Send + Sync + Clone + 'static {
    move || {
        let slot = Arc::new(Mutex::new(Slot::default()));
        let theirs = slot.clone();
        let sender = thread::spawn(move || send(&theirs));
        let receive = Receive { slot, mistake, polled: false };
        let received = match spawns {
            true => block_on(spawn(receive)),
            false => block_on(receive),
        };
        sender.join().unwrap();
        received
    }
}

#[test]
fn a_correct_future_can_be_polled_at_any_time() {
    for spawns in [false, true] {
        let quiet = Builder::new().check(program(Mistake::None, spawns));
        let spurious = Builder::new().spurious_polls().check(program(Mistake::None, spawns));
        assert!(quiet.is_exhaustive() && spurious.is_exhaustive());
        assert_eq!(quiet.values(), [&7]);
        assert_eq!(spurious.values(), [&7]);
        assert!(spurious.executions > quiet.executions);
    }
}

/// Both mistakes are found only by polls without a reason, under every model, by every search, and the
/// replay string says all that is needed to show them again.
#[test]
fn mistakes_that_only_spurious_polls_show() {
    for mistake in [Mistake::Trusts, Mistake::Forgets] {
        for spawns in [false, true] {
            let program = program(mistake, spawns);
            for model in [Model::Sc, Model::Tso, Model::Rc11] {
                let builder = Builder::new().model(model);
                assert!(builder.clone().try_check(program.clone()).is_ok(), "{mistake:?}");
                let searches = [builder.clone(), builder.clone().bounded(), builder.surw(500, 1)];
                for search in searches {
                    let failure = search.spurious_polls().try_check(program.clone());
                    let failure = failure.expect_err("a poll without a reason shows it");
                    assert!(failure.search.ends_with(" with spurious polls"));
                    let (outcome, trace) = Builder::new()
                        .replay(&failure.trace.replay, program.clone())
                        .expect("the string fits");
                    let expected = match mistake {
                        Mistake::Forgets => matches!(outcome, Outcome::Deadlock(_)),
                        _ => outcome.is_panic(),
                    };
                    assert!(expected, "{outcome}");
                    assert_eq!(trace.to_string(), failure.trace.to_string());
                }
            }
        }
    }
}

/// A task that is never woken is still a deadlock: a poll without a reason does not have to come.
#[test]
fn spurious_polls_hide_no_deadlock() {
    let never_woken = || {
        let slot = Arc::new(Mutex::new(Slot::default()));
        block_on(Receive { slot, mistake: Mistake::None, polled: false })
    };
    let outcomes = Builder::new().spurious_polls().outcomes(never_woken);
    assert!(outcomes.is_exhaustive());
    assert!(outcomes.found.iter().all(|found| matches!(found.outcome, Outcome::Deadlock(_))));
    // Either no spurious poll or one.
    assert_eq!(outcomes.executions, 2);
}
