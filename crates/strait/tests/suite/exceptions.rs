//! Exceptions to other threads, and masks against them.

use std::sync::Arc;

use strait::exception::{self, ThreadKilled, catch, kill, mask, throw_to, uninterruptible_mask};
use strait::mvar::MVar;
use strait::sync::atomic::{AtomicUsize, Ordering};
use strait::{Builder, Model, results, thread};

/// For programs with atomic variables: exceptions are not searched under RC11 then.
fn sequential() -> Builder {
    Builder::new().model(Model::Sc)
}

#[test]
fn a_killed_thread_may_have_got_anywhere() {
    let got = results(|| {
        let log = Arc::new(MVar::new(0));
        let theirs = log.clone();
        let worker = thread::spawn(move || {
            let _ = catch::<ThreadKilled, _>(|| {
                for _ in 0..2 {
                    mask(|_| theirs.put(theirs.take() + 1));
                }
            });
        });
        kill(worker.thread());
        // Where it returns, nothing catches the exception any more.
        let _ = worker.join();
        log.take()
    });
    assert_eq!(got, [Ok(0), Ok(1), Ok(2)]);
}

#[test]
fn without_a_mask_a_value_can_be_lost() {
    let outcomes = strait::outcomes(|| {
        let log = Arc::new(MVar::new(0));
        let theirs = log.clone();
        let worker = thread::spawn(move || {
            let _ = catch::<ThreadKilled, _>(|| theirs.put(theirs.take() + 1));
        });
        kill(worker.thread());
        let _ = worker.join();
        log.take()
    });
    assert!(outcomes.failures().iter().any(|failure| failure.is_deadlock()), "{outcomes}");
}

#[test]
fn a_masked_thread_is_interrupted_where_it_waits() {
    let got = results(|| {
        let empty = Arc::new(MVar::<()>::empty());
        let worker =
            thread::spawn(move || mask(|_| catch::<ThreadKilled, _>(|| empty.take()).is_err()));
        kill(worker.thread());
        worker.join().ok()
    });
    // Killed before it has masked anything, it ends without a result; the rest is caught.
    assert_eq!(got, [Ok(None), Ok(Some(true))]);
}

#[test]
fn an_uninterruptible_thread_is_not_interrupted() {
    let got = results(|| {
        let shared = Arc::new((MVar::empty(), MVar::empty()));
        let theirs = shared.clone();
        let worker = thread::spawn(move || {
            uninterruptible_mask(|_| {
                theirs.0.put(());
                let value = theirs.1.take();
                theirs.0.put(());
                value
            })
        });
        shared.0.take();
        let target = worker.thread().clone();
        let killer = thread::spawn(move || kill(&target));
        shared.1.put(7);
        shared.0.take();
        killer.join().unwrap();
        worker.join().ok()
    });
    assert_eq!(got, [Ok(None), Ok(Some(7))]);
}

#[test]
fn other_exceptions_pass_through() {
    let got = results(|| {
        let worker = thread::spawn(|| catch::<ThreadKilled, _>(thread::park).is_err());
        throw_to(worker.thread(), "something else");
        let panic = worker.join().expect_err("it is not caught");
        panic.downcast_ref::<&str>().copied()
    });
    assert_eq!(got, [Ok(Some("something else"))]);
}

#[test]
fn for_real_exceptions_are_taken_where_asked_for() {
    let worker = thread::spawn(|| {
        catch::<ThreadKilled, ()>(|| {
            loop {
                exception::interruption_point();
                thread::yield_now();
            }
        })
    });
    kill(worker.thread());
    assert_eq!(worker.join().unwrap(), Err(ThreadKilled));
}

/// Counts how often it was dropped: a step, while the stack may be unwound.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_thread_whose_stack_is_unwound_takes_no_further_exception() {
    // A destructor that is interrupted while another exception unwinds the stack would end the
    // process.
    let got = sequential().results(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counts = Counts(dropped.clone());
        let victim = thread::spawn(move || {
            let caught = catch::<ThreadKilled, _>(move || {
                let _counts = counts;
                exception::interruption_point();
            });
            caught.is_err()
        });
        let (one, other) = (victim.thread().clone(), victim.thread().clone());
        let killers = [thread::spawn(move || kill(&one)), thread::spawn(move || kill(&other))];
        killers.into_iter().for_each(|killer| killer.join().unwrap());
        let ended = victim.join().is_err();
        (ended, dropped.load(Ordering::SeqCst))
    });
    // The destructor's own step may be where the first exception is taken. The second one is taken
    // where the thread returns, or comes too late.
    assert_eq!(got, [Ok((false, 0)), Ok((false, 1)), Ok((true, 0)), Ok((true, 1))]);
}

#[test]
fn a_killed_thread_that_nobody_joins_is_no_failure() {
    let got = results(|| {
        let gate = Arc::new(MVar::<()>::empty());
        let theirs = gate.clone();
        let worker = thread::spawn(move || theirs.take());
        kill(worker.thread());
        drop(worker);
        gate.try_take().is_none()
    });
    assert_eq!(got, [Ok(true)]);
}

#[test]
fn a_killed_thread_does_not_hide_a_deadlock() {
    let outcomes = strait::outcomes(|| {
        let gate = Arc::new(MVar::<()>::empty());
        let theirs = gate.clone();
        let worker = thread::spawn(move || theirs.take());
        kill(worker.thread());
        drop(worker);
        gate.take();
    });
    assert_eq!(outcomes.found.len(), 1);
    assert!(outcomes.found[0].outcome.is_deadlock(), "{outcomes}");
}

#[test]
fn unmasking_and_returning_are_interruption_points() {
    // Killed before the mask, at `unmask`, or after the last step.
    let got = results(|| {
        let worker = thread::spawn(|| mask(|outer| outer.unmask(|| 1)));
        kill(worker.thread());
        worker.join().ok()
    });
    assert_eq!(got, [Ok(None), Ok(Some(1))]);
    // At `unmask` and nowhere else: the code inside does nothing.
    let got = results(|| {
        let inside = Arc::new(MVar::empty());
        let theirs = inside.clone();
        let worker = thread::spawn(move || {
            uninterruptible_mask(|outer| {
                theirs.put(());
                catch::<ThreadKilled, _>(|| outer.unmask(|| ())).is_err()
            })
        });
        inside.take();
        kill(worker.thread());
        worker.join().ok()
    });
    assert!(got.contains(&Ok(Some(true))), "{got:?}");
    // A thread that returns without a step can be killed before it does.
    let got = sequential().results(|| {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = number.clone();
        let worker = thread::spawn(move || theirs.fetch_add(1, Ordering::SeqCst));
        kill(worker.thread());
        (worker.join().ok(), number.load(Ordering::SeqCst))
    });
    assert_eq!(got, [Ok((None, 0)), Ok((None, 1)), Ok((Some(0), 1))]);
}

#[test]
fn exceptions_beside_atomics_are_refused_under_rc11() {
    let got = results(|| {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = number.clone();
        let worker = thread::spawn(move || theirs.fetch_add(1, Ordering::SeqCst));
        kill(worker.thread());
        worker.join().ok()
    });
    let [Err(message)] = &got[..] else { panic!("{got:?}") };
    assert!(message.contains("are not searched under RC11"), "{message}");
}
