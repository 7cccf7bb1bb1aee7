//! The programs of the table, as one text that is compiled twice: against tokio and against strait-tokio. Each
//! gives a string that says what was observed.

use std::sync::Arc;
use std::time::Duration;

use super::{CancellationToken, tokio};

use tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

const MS: Duration = Duration::from_millis(1);

fn text<T: std::fmt::Debug>(value: T) -> String {
    format!("{value:?}")
}

// ---- order of senders ----

pub async fn two_unbounded_senders() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let other = tx.clone();
    tokio::spawn(async move { other.send(1) });
    tokio::spawn(async move { tx.send(2) });
    text((rx.recv().await, rx.recv().await, rx.recv().await))
}

pub async fn three_unbounded_senders() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for number in 1..=3 {
        let tx = tx.clone();
        tokio::spawn(async move { tx.send(number) });
    }
    text((rx.recv().await, rx.recv().await, rx.recv().await))
}

pub async fn two_bounded_senders() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    let other = tx.clone();
    tokio::spawn(async move { other.send(1).await });
    tokio::spawn(async move { tx.send(2).await });
    text((rx.recv().await, rx.recv().await, rx.recv().await))
}

pub async fn one_sender_keeps_its_order() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    tokio::spawn(async move {
        for number in 1..=3 {
            let _ = tx.send(number).await;
        }
    });
    let mut all = Vec::new();
    while let Some(number) = rx.recv().await {
        all.push(number);
    }
    text(all)
}

pub async fn try_recv_sees_a_message_or_none() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    tokio::spawn(async move { tx.send(1) });
    text(rx.try_recv())
}

pub async fn try_send_may_find_no_room() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(1).unwrap();
    let second = tokio::spawn(async move { tx.try_send(2).is_ok() });
    let first = rx.recv().await;
    text((first, second.await.unwrap()))
}

pub async fn room_is_taken_before_the_message_is_there() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    let sender = tx.clone();
    let sent = tokio::spawn(async move { sender.send(1).await.is_ok() });
    let full = tx.try_send(2).is_err();
    let seen = rx.try_recv().ok();
    drop(rx);
    text((full, seen, sent.await.unwrap()))
}

pub async fn a_permit_keeps_its_place() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    let permit = tx.clone().reserve_owned().await.unwrap();
    let other = tokio::spawn(async move { tx.send(2).await });
    permit.send(1);
    let first = rx.recv().await;
    let second = rx.recv().await;
    other.await.unwrap().unwrap();
    text((first, second))
}

pub async fn closing_lets_messages_through() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let sent = tokio::spawn(async move { (tx.send(1).is_ok(), tx.send(2).is_ok()) });
    rx.close();
    let mut all = Vec::new();
    while let Some(number) = rx.recv().await {
        all.push(number);
    }
    text((all, sent.await.unwrap()))
}

pub async fn a_closed_sender_is_told() -> String {
    let (tx, rx) = mpsc::channel::<i32>(1);
    let told = tokio::spawn(async move {
        tx.closed().await;
        tx.is_closed()
    });
    drop(rx);
    text(told.await.unwrap())
}

pub async fn a_weak_sender_may_come_too_late() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let weak = tx.downgrade();
    let other = tokio::spawn(async move { weak.upgrade().map(|tx| tx.send(1).is_ok()) });
    drop(tx);
    text((rx.recv().await, other.await.unwrap()))
}

// ---- oneshot ----

pub async fn a_dropped_receiver_gives_the_message_back() -> String {
    let (tx, rx) = oneshot::channel();
    let sent = tokio::spawn(async move { tx.send(1) });
    drop(rx);
    text(sent.await.unwrap())
}

pub async fn a_request_may_lose_its_answer() -> String {
    let (tx, mut rx) = mpsc::channel::<oneshot::Sender<i32>>(1);
    let server = tokio::spawn(async move {
        let request = rx.recv().await;
        request.map(|reply| reply.send(1).is_ok())
    });
    let (reply, answer) = oneshot::channel();
    tx.send(reply).await.unwrap();
    let answer = tokio::select! {
        biased;
        answer = answer => answer.ok(),
        _ = tokio::task::yield_now() => None,
    };
    text((answer, server.await.unwrap()))
}

// ---- notifications ----

pub async fn a_stored_permit_is_not_lost() -> String {
    let notify = Arc::new(Notify::new());
    let theirs = notify.clone();
    let waiter = tokio::spawn(async move { theirs.notified().await });
    notify.notify_one();
    text(waiter.await.is_ok())
}

pub async fn notify_waiters_is_lost_if_no_task_waits() -> String {
    let notify = Arc::new(Notify::new());
    let theirs = notify.clone();
    let waiter = tokio::spawn(async move { theirs.notified().await });
    notify.notify_waiters();
    text(waiter.await.is_ok())
}

pub async fn a_notified_future_counts_from_its_making() -> String {
    let notify = Arc::new(Notify::new());
    let notified = notify.notified();
    let theirs = notify.clone();
    let notifier = tokio::spawn(async move { theirs.notify_waiters() });
    notified.await;
    text(notifier.await.is_ok())
}

pub async fn two_notifications_store_one_permit() -> String {
    let notify = Arc::new(Notify::new());
    let theirs = notify.clone();
    let waiter = tokio::spawn(async move {
        theirs.notified().await;
        theirs.notified().await;
    });
    notify.notify_one();
    notify.notify_one();
    text(waiter.await.is_ok())
}

pub async fn enabled_waiters_are_served_in_order() -> String {
    let notify = Notify::new();
    let (first, second) = (notify.notified(), notify.notified());
    let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
    let before = (first.as_mut().enable(), second.as_mut().enable());
    notify.notify_one();
    let after = (first.as_mut().enable(), second.as_mut().enable());
    text((before, after))
}

// ---- locks and semaphores ----

pub async fn a_lock_loses_no_update() -> String {
    let counter = Arc::new(Mutex::new(0));
    let theirs = counter.clone();
    let other = tokio::spawn(async move {
        let mut counter = theirs.lock().await;
        let before = *counter;
        tokio::task::yield_now().await;
        *counter = before + 1;
    });
    *counter.lock().await += 1;
    other.await.unwrap();
    text(*counter.lock().await)
}

pub async fn two_locks_in_both_orders_deadlock() -> String {
    let (left, right) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let (a, b) = (left.clone(), right.clone());
    let other = tokio::spawn(async move {
        let _right = b.lock().await;
        let _left = a.lock().await;
    });
    {
        let _left = left.lock().await;
        let _right = right.lock().await;
    }
    text(other.await.is_ok())
}

pub async fn a_lock_is_given_in_the_order_of_asking() -> String {
    let lock = Arc::new(Mutex::new(Vec::new()));
    let held = lock.clone().lock_owned().await;
    let (first, second) = (lock.clone(), lock.clone());
    let first = tokio::spawn(async move { first.lock().await.push(1) });
    let second = tokio::spawn(async move { second.lock().await.push(2) });
    drop(held);
    first.await.unwrap();
    second.await.unwrap();
    text(&*lock.lock().await)
}

pub async fn readers_share_and_a_writer_does_not() -> String {
    let lock = Arc::new(RwLock::new(0));
    let (writer, reader) = (lock.clone(), lock.clone());
    let writer = tokio::spawn(async move { *writer.write().await += 1 });
    let reader = tokio::spawn(async move { *reader.read().await });
    let mine = *lock.read().await;
    writer.await.unwrap();
    text((mine, reader.await.unwrap()))
}

pub async fn a_reader_behind_a_writer_deadlocks() -> String {
    let lock = Arc::new(RwLock::new(0));
    let theirs = lock.clone();
    let writer = tokio::spawn(async move { *theirs.write().await += 1 });
    {
        let _first = lock.read().await;
        // A writer that asks in between comes first, and waits for the first reader.
        let _second = lock.read().await;
    }
    text(writer.await.is_ok())
}

pub async fn permits_taken_one_by_one_deadlock() -> String {
    let semaphore = Arc::new(Semaphore::new(2));
    let theirs = semaphore.clone();
    let other = tokio::spawn(async move {
        let _first = theirs.acquire().await.unwrap();
        let _second = theirs.acquire().await.unwrap();
    });
    {
        let _first = semaphore.acquire().await.unwrap();
        let _second = semaphore.acquire().await.unwrap();
    }
    text(other.await.is_ok())
}

pub async fn permits_taken_at_once_do_not() -> String {
    let semaphore = Arc::new(Semaphore::new(2));
    let theirs = semaphore.clone();
    let other = tokio::spawn(async move { theirs.acquire_many_owned(2).await.is_ok() });
    drop(semaphore.acquire_many(2).await.unwrap());
    text(other.await.unwrap())
}

pub async fn a_closed_semaphore_refuses() -> String {
    let semaphore = Arc::new(Semaphore::new(0));
    let theirs = semaphore.clone();
    let waiter = tokio::spawn(async move { theirs.acquire().await.is_ok() });
    semaphore.close();
    text(waiter.await.unwrap())
}

pub async fn a_large_request_holds_back_small_ones() -> String {
    let semaphore = Arc::new(Semaphore::new(1));
    let theirs = semaphore.clone();
    let large = tokio::spawn(async move { drop(theirs.acquire_many(2).await) });
    let small = semaphore.try_acquire().is_ok();
    semaphore.add_permits(1);
    large.await.unwrap();
    text(small)
}

pub async fn a_barrier_has_one_leader() -> String {
    let barrier = Arc::new(Barrier::new(2));
    let theirs = barrier.clone();
    let other = tokio::spawn(async move { theirs.wait().await.is_leader() });
    let mine = barrier.wait().await.is_leader();
    text((mine, other.await.unwrap()))
}

pub async fn a_cell_is_set_by_one_of_two() -> String {
    let cell = Arc::new(OnceCell::new());
    let theirs = cell.clone();
    let other = tokio::spawn(async move { *theirs.get_or_init(|| async { 1 }).await });
    let mine = *cell.get_or_init(|| async { 2 }).await;
    text((mine, other.await.unwrap()))
}

// ---- watch and broadcast ----

pub async fn a_watch_may_skip_values() -> String {
    let (tx, mut rx) = watch::channel(0);
    let sender = tokio::spawn(async move {
        let _ = tx.send(1);
        let _ = tx.send(2);
    });
    let mut seen = Vec::new();
    while rx.changed().await.is_ok() {
        let value = *rx.borrow_and_update();
        seen.push(value);
    }
    sender.await.unwrap();
    text(seen)
}

pub async fn a_value_that_was_sent_before_is_seen() -> String {
    let (tx, mut rx) = watch::channel(0);
    let theirs = tokio::spawn(async move { *rx.wait_for(|value| *value == 1).await.unwrap() });
    let _ = tx.send(1);
    text(theirs.await.unwrap())
}

pub async fn a_slow_receiver_lags() -> String {
    let (tx, mut rx) = broadcast::channel(2);
    let sender = tokio::spawn(async move {
        for number in 1..=3 {
            let _ = tx.send(number);
        }
    });
    let first = rx.recv().await;
    sender.await.unwrap();
    text(first)
}

pub async fn every_receiver_gets_every_message() -> String {
    let (tx, mut rx) = broadcast::channel(4);
    let mut other = tx.subscribe();
    let theirs = tokio::spawn(async move { (other.recv().await, other.recv().await.is_err()) });
    tx.send(1).unwrap();
    drop(tx);
    text((rx.recv().await, theirs.await.unwrap()))
}

pub async fn a_late_subscriber_misses_messages() -> String {
    let (tx, rx) = broadcast::channel(4);
    let theirs = tx.clone();
    let sender = tokio::spawn(async move { theirs.send(1).is_ok() });
    let mut late = tx.subscribe();
    drop((tx, rx));
    text((late.recv().await.ok(), sender.await.unwrap()))
}

// ---- select, cancellation ----

pub async fn select_takes_any_ready_branch() -> String {
    let (left, mut from_left) = mpsc::unbounded_channel();
    let (right, mut from_right) = mpsc::unbounded_channel();
    left.send(1).unwrap();
    right.send(2).unwrap();
    let first = tokio::select! {
        number = from_left.recv() => number,
        number = from_right.recv() => number,
    };
    text(first)
}

pub async fn biased_select_takes_the_first() -> String {
    let (left, mut from_left) = mpsc::unbounded_channel();
    let (right, mut from_right) = mpsc::unbounded_channel();
    left.send(1).unwrap();
    right.send(2).unwrap();
    let first = tokio::select! {
        biased;
        number = from_left.recv() => number,
        number = from_right.recv() => number,
    };
    text(first)
}

pub async fn a_cancelled_receive_loses_nothing() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    tokio::spawn(async move { tx.send(1).await });
    let first = tokio::select! {
        biased;
        number = rx.recv() => number,
        _ = tokio::task::yield_now() => None,
    };
    let second = if first.is_none() { rx.recv().await } else { None };
    text(first.or(second))
}

pub async fn a_cancelled_lock_is_passed_on() -> String {
    let lock = Arc::new(Mutex::new(()));
    let held = lock.clone().lock_owned().await;
    let theirs = lock.clone();
    let waiter = tokio::spawn(async move { drop(theirs.lock().await) });
    waiter.abort();
    drop(held);
    let ended = waiter.await.is_ok();
    let free = lock.try_lock().is_ok();
    text((ended, free))
}

pub async fn abort_may_come_too_late() -> String {
    let (tx, rx) = oneshot::channel();
    let task = tokio::spawn(async move {
        let _ = tx.send(1);
        tokio::task::yield_now().await;
        2
    });
    task.abort();
    text((rx.await.ok(), task.await.ok()))
}

pub async fn a_join_set_aborts_what_is_left() -> String {
    let mut set = JoinSet::new();
    set.spawn(async { 1 });
    set.spawn(async {
        std::future::pending::<()>().await;
        2
    });
    let first = set.join_next().await.unwrap().unwrap();
    set.abort_all();
    let second = set.join_next().await.unwrap().unwrap_err().is_cancelled();
    text((first, second, set.join_next().await.is_none()))
}

pub async fn a_join_set_gives_results_as_they_come() -> String {
    let mut set = JoinSet::new();
    for number in 1..=2 {
        set.spawn(async move { number });
    }
    let mut all = Vec::new();
    while let Some(number) = set.join_next().await {
        all.push(number.unwrap());
    }
    text(all)
}

pub async fn a_panic_comes_through_the_handle() -> String {
    let task: tokio::task::JoinHandle<()> = tokio::spawn(async { panic!("no") });
    let error: tokio::task::JoinError = task.await.unwrap_err();
    text(error.is_panic())
}

pub async fn a_token_stops_a_loop() -> String {
    let token = CancellationToken::new();
    let (tx, mut rx) = mpsc::unbounded_channel();
    let theirs = token.child_token();
    let task = tokio::spawn(async move {
        let mut count = 0;
        loop {
            tokio::select! {
                biased;
                _ = theirs.cancelled() => return count,
                message = rx.recv() => if message.is_some() { count += 1 },
            }
        }
    });
    tx.send(1).unwrap();
    token.cancel();
    text(task.await.unwrap())
}

pub async fn a_blocking_function_sends() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    let task = tokio::task::spawn_blocking(move || tx.blocking_send(1).is_ok());
    text((rx.recv().await, task.await.unwrap()))
}

// ---- time ----

pub async fn a_timeout_against_an_answer() -> String {
    let (tx, rx) = oneshot::channel();
    tokio::spawn(async move { tx.send(1) });
    text(timeout(10 * MS, rx).await.is_ok())
}

pub async fn a_timeout_against_nothing() -> String {
    text(timeout(MS, std::future::pending::<()>()).await.is_err())
}

pub async fn the_shorter_sleep_is_first() -> String {
    let (long, short) = (sleep(20 * MS), sleep(10 * MS));
    let (mut long, mut short) = (std::pin::pin!(long), std::pin::pin!(short));
    let first = tokio::select! {
        _ = &mut long => "long",
        _ = &mut short => "short",
    };
    text(first)
}

pub async fn sleeps_in_two_tasks_end_in_any_order() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for length in [10, 20] {
        let tx = tx.clone();
        tokio::spawn(async move {
            sleep(length * MS).await;
            tx.send(length)
        });
    }
    text((rx.recv().await, rx.recv().await))
}

pub async fn an_interval_ticks_until_stopped() -> String {
    let (tx, mut rx) = oneshot::channel::<()>();
    let ticker = tokio::spawn(async move {
        let mut ticks = interval(10 * MS);
        let mut count = 0;
        while count < 2 {
            tokio::select! {
                biased;
                _ = &mut rx => break,
                _ = ticks.tick() => count += 1,
            }
        }
        count
    });
    let _ = tx.send(());
    text(ticker.await.unwrap())
}

pub async fn a_lock_with_a_timeout() -> String {
    let lock = Arc::new(Mutex::new(()));
    let held = lock.clone().lock_owned().await;
    let theirs = lock.clone();
    let waiter = tokio::spawn(async move { timeout(MS, theirs.lock()).await.is_ok() });
    drop(held);
    text(waiter.await.unwrap())
}
