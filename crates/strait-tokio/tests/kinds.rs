//! Kinds of runtimes, local sets, clocks that stand still, wakers of other crates, many waiting tasks, statics:
//! what the table of small programs does not reach.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use strait::{Builder, Outcome, Outcomes};
use strait_tokio::Search;
use strait_tokio::runtime::Runtime;
use strait_tokio::sync::{Mutex, Notify, Semaphore, mpsc, oneshot};
use strait_tokio::task::{JoinSet, LocalSet, spawn_local, yield_now};
use strait_tokio::time::{Instant, interval, sleep, timeout};

const MS: Duration = Duration::from_millis(1);

fn values<T: strait::Value + Ord>(outcomes: &Outcomes<T>) -> BTreeSet<T> {
    let value = |outcome: &Outcome<T>| match outcome {
        Outcome::Value(value) => value.clone(),
        failure => panic!("{failure}"),
    };
    outcomes.found.iter().map(|found| value(&found.outcome)).collect()
}

/// Two tasks that each add to a number in two steps, with nothing to wait for in between.
async fn two_additions() -> u32 {
    let number = Arc::new(strait::sync::atomic::AtomicU32::new(0));
    let add = |number: Arc<strait::sync::atomic::AtomicU32>| async move {
        let before = number.load(strait::sync::atomic::Ordering::SeqCst);
        number.store(before + 1, strait::sync::atomic::Ordering::SeqCst);
    };
    let (first, second) =
        (strait_tokio::spawn(add(number.clone())), strait_tokio::spawn(add(number.clone())));
    first.await.expect("no panic");
    second.await.expect("no panic");
    number.load(strait::sync::atomic::Ordering::SeqCst)
}

#[test]
fn tasks_of_one_thread_change_places_only_where_they_wait() {
    let search = Search::new(Builder::new());
    let several = search.outcomes(two_additions);
    assert_eq!(values(&several), BTreeSet::from([1, 2]));
    let one = search.clone().current_thread().outcomes(two_additions);
    assert_eq!(values(&one), BTreeSet::from([2]));
    assert!(several.is_exhaustive() && one.is_exhaustive());
}

#[test]
fn tasks_of_one_thread_take_turns_in_any_order() {
    let outcomes = Search::new(Builder::new()).current_thread().outcomes(|| async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        for number in 1..=2 {
            let tx = tx.clone();
            strait_tokio::spawn(async move {
                let _ = tx.send(number);
                yield_now().await;
                let _ = tx.send(10 * number);
            });
        }
        drop(tx);
        let mut all = Vec::new();
        while let Some(number) = rx.recv().await {
            all.push(number);
        }
        all
    });
    let wanted = [
        vec![1, 2, 10, 20],
        vec![1, 2, 20, 10],
        vec![1, 10, 2, 20],
        vec![2, 1, 10, 20],
        vec![2, 1, 20, 10],
        vec![2, 20, 1, 10],
    ];
    assert_eq!(values(&outcomes), BTreeSet::from(wanted));
}

#[test]
fn local_tasks_share_what_cannot_be_sent() {
    let outcomes = strait_tokio::outcomes(|| async {
        let local = LocalSet::new();
        let number = Rc::new(Cell::new(0));
        let theirs = number.clone();
        local
            .run_until(async move {
                let add = move |number: Rc<Cell<u32>>| async move {
                    let before = number.get();
                    number.set(before + 1);
                };
                let first = spawn_local(add(theirs.clone()));
                let second = spawn_local(add(theirs.clone()));
                first.await.expect("no panic");
                second.await.expect("no panic");
            })
            .await;
        number.get()
    });
    assert_eq!(values(&outcomes), BTreeSet::from([2]));
}

#[strait_tokio::test(start_paused = true)]
async fn a_clock_that_stands_still_is_exact() {
    let start = Instant::now();
    let slow = strait_tokio::spawn(async { sleep(20 * MS).await });
    sleep(10 * MS).await;
    assert_eq!(start.elapsed(), 10 * MS);
    slow.await.expect("no panic");
    assert_eq!(start.elapsed(), 20 * MS);
    assert!(timeout(5 * MS, std::future::pending::<()>()).await.is_err());
    assert_eq!(start.elapsed(), 25 * MS);
    strait_tokio::time::advance(7 * MS).await;
    assert_eq!(start.elapsed(), 32 * MS);
}

/// Time is moved while a thread that is no task could still send, so not every order is tried.
#[test]
fn a_clock_that_stands_still_beside_other_threads_is_not_exhaustive() {
    let search = Search::new(Builder::new()).start_paused();
    let outcomes = search.clone().outcomes(|| async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        strait::thread::spawn(move || tx.send(1).is_ok());
        timeout(MS, rx.recv()).await.is_ok()
    });
    assert!(!outcomes.is_exhaustive(), "{:?}", outcomes.coverage);
    let outcomes = search.outcomes(|| async {
        let blocking = strait_tokio::task::spawn_blocking(|| 1);
        sleep(MS).await;
        blocking.await.is_ok()
    });
    assert_eq!(values(&outcomes), BTreeSet::from([true]));
    assert!(outcomes.is_exhaustive(), "{:?}", outcomes.coverage);
}

#[test]
fn a_clock_that_is_read_is_not_exhaustive() {
    let outcomes = strait_tokio::outcomes(|| async {
        let start = Instant::now();
        sleep(MS).await;
        start.elapsed() >= MS
    });
    assert_eq!(values(&outcomes), BTreeSet::from([true]));
    assert!(!outcomes.is_exhaustive(), "{:?}", outcomes.coverage);
    let outcomes = strait_tokio::outcomes(|| async {
        // To set a deadline does not read the clock.
        strait_tokio::time::sleep_until(Instant::now() + MS).await;
    });
    assert!(outcomes.is_exhaustive(), "{:?}", outcomes.coverage);
}

/// A timer that was set later and is shorter may fire after one that was set earlier, even if other tasks know
/// that it was set: time may have passed before that.
#[test]
fn a_shorter_timer_that_is_set_later_may_fire_later() {
    let outcomes = strait_tokio::outcomes(|| async {
        let (set, is_set) = oneshot::channel();
        let (fired, mut has_fired) = oneshot::channel();
        let long = strait_tokio::spawn(async move {
            let mut long = std::pin::pin!(sleep(10 * MS));
            // The short timer is set before the long one fires.
            let was_set = strait_tokio::select! {
                biased;
                _ = &mut long => false,
                set = is_set => set.is_ok(),
            };
            long.await;
            let _ = fired.send(was_set);
        });
        let mut short = std::pin::pin!(sleep(5 * MS));
        let _ = set.send(());
        let first = strait_tokio::select! {
            biased;
            _ = &mut short => "short",
            was_set = &mut has_fired => if was_set == Ok(true) { "long, with the short one set" } else { "long" },
        };
        long.await.expect("no panic");
        first
    });
    let wanted = BTreeSet::from(["long", "long, with the short one set", "short"]);
    assert_eq!(values(&outcomes), wanted);
    assert!(outcomes.is_exhaustive());
}

#[test]
fn an_interval_that_is_left_behind_does_not_go_on_forever() {
    let search = Search::new(Builder::new().random(50, 3));
    let outcomes = search.outcomes(|| async {
        strait_tokio::spawn(async {
            let mut ticks = interval(MS);
            loop {
                ticks.tick().await;
            }
        });
        sleep(3 * MS).await;
    });
    assert_eq!(values(&outcomes), BTreeSet::from([()]));
    assert!(outcomes.doubt.is_none() && outcomes.cut == 0, "{:?}", outcomes.doubt);
}

#[test]
fn futures_with_wakers_of_their_own_are_refused() {
    let outcomes = strait_tokio::outcomes(|| async {
        let (first_tx, first_rx) = oneshot::channel();
        let (second_tx, second_rx) = oneshot::channel();
        strait_tokio::spawn(async move { first_tx.send(1) });
        strait_tokio::spawn(async move { second_tx.send(2) });
        let mut all: FuturesUnordered<_> = [first_rx, second_rx].into_iter().collect();
        (all.next().await.and_then(Result::ok), all.next().await.and_then(Result::ok))
    });
    let is_refused = |outcome: &Outcome<_>| matches!(outcome, Outcome::Fault(_));
    assert!(outcomes.found.iter().all(|found| is_refused(&found.outcome)));
}

/// More tasks than an object has gates.
#[test]
fn twenty_tasks_wait_for_one_permit() {
    let search = Search::new(Builder::new().random(20, 7));
    let outcomes = search.outcomes(|| async {
        let semaphore = Arc::new(Semaphore::new(0));
        let mut set = JoinSet::new();
        for _ in 0..20 {
            let semaphore = semaphore.clone();
            set.spawn(async move { semaphore.acquire_owned().await.is_ok() });
        }
        semaphore.add_permits(1);
        set.join_all().await.len()
    });
    assert_eq!(values(&outcomes), BTreeSet::from([20]));
}

#[test]
fn a_static_lock_works_in_every_execution() {
    static LOCK: Mutex<u32> = Mutex::const_new(0);
    let outcomes = strait_tokio::outcomes(|| async {
        let other = strait_tokio::spawn(async { LOCK.lock().await.checked_add(0).is_some() });
        let mine = LOCK.lock().await.checked_add(0).is_some();
        (mine, other.await.expect("no panic"))
    });
    assert_eq!(values(&outcomes), BTreeSet::from([(true, true)]));
}

#[test]
fn a_runtime_that_is_dropped_ends_its_tasks() {
    let outcomes = Builder::new().outcomes(|| {
        let dropped = Arc::new(Notify::new());
        struct Guard(Arc<std::sync::atomic::AtomicBool>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.store(true, std::sync::atomic::Ordering::SeqCst);
            }
        }
        let flag = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let guard = Guard(flag.clone());
        let runtime = Runtime::new().expect("a runtime");
        let theirs = dropped.clone();
        runtime.spawn(async move {
            let _guard = guard;
            theirs.notified().await;
        });
        drop(runtime);
        flag.load(std::sync::atomic::Ordering::SeqCst)
    });
    assert_eq!(values(&outcomes), BTreeSet::from([true]));
}

#[test]
fn another_executor_may_wait_for_a_channel() {
    let outcomes = Builder::new().outcomes(|| {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let sender = strait::thread::spawn(move || tx.send(1).is_ok());
        let received = strait::future::block_on(rx.recv());
        (received, sender.join().expect("no panic"))
    });
    assert_eq!(values(&outcomes), BTreeSet::from([(Some(1), true)]));
    assert!(outcomes.is_exhaustive());
}

/// A failing test says what happened.
#[test]
fn a_lost_notification_is_a_report() {
    async fn lost() {
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        let waiter = strait_tokio::spawn(async move { theirs.notified().await });
        notify.notify_waiters();
        waiter.await.expect("no panic");
    }
    fn main<F: Future>(future: F) -> F::Output {
        strait_tokio::support::perform_main(false, false, future)
    }
    let failure = Builder::new().try_check(|| main(lost())).expect_err("it is lost").to_string();
    assert!(failure.contains("deadlock") && failure.contains("notify_waiters Notify"), "{failure}");
}
