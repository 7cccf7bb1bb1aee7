//! The items of shuttle-tokio 1.0 (shuttle-tokio-impl-inner 0.1.6) that are tokio's, each used once: it is enough
//! that this compiles, and that it runs on tokio itself.
//!
//! Left out: `Handle::dump` and the counters of `RuntimeMetrics`, which are unstable in tokio, and what belongs
//! to shuttle alone (`check`, `trigger_timeouts`, `clear_triggers`, configurations).

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use strait_tokio as tokio;
use strait_tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use strait_tokio::sync::{
    AcquireError, Barrier, BarrierWaitResult, CancellationToken, Mutex, MutexGuard, Notify,
    OnceCell, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit,
    RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit, SetError,
    TryAcquireError, TryLockError, broadcast, mpsc, oneshot, watch,
};
use strait_tokio::task::{AbortHandle, Id, JoinError, JoinHandle, JoinSet, LocalSet};
use strait_tokio::time::{
    Instant, Interval, MissedTickBehavior, Sleep, Timeout, advance, interval, interval_at, sleep,
    sleep_until, timeout, timeout_at,
};

const MS: Duration = Duration::from_millis(1);

strait_tokio::task_local! {
    static NUMBER: u32;
}

#[test]
fn runtimes() {
    let runtime: Runtime = Runtime::new().expect("a runtime");
    let handle: &Handle = runtime.handle();
    assert_eq!(handle.runtime_flavor(), RuntimeFlavor::MultiThread);
    assert_eq!(runtime.block_on(runtime.spawn(async { 1 })).expect("a task"), 1);
    assert_eq!(runtime.block_on(handle.spawn(async { 2 })).expect("a task"), 2);
    assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 3)).expect("a task"), 3);
    assert_eq!(runtime.block_on(handle.spawn_blocking(|| 4)).expect("a task"), 4);
    assert_eq!(handle.block_on(async { 5 }), 5);
    assert!(handle.metrics().num_workers() > 0);
    assert_eq!(handle.metrics().num_alive_tasks(), 0);
    assert!(Handle::try_current().is_err());
    {
        let _guard = runtime.enter();
        assert!(Handle::try_current().is_ok());
        let _current = Handle::current();
    }
    let built = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("worker")
        .thread_name_fn(|| "worker".to_owned())
        .enable_time()
        .enable_all()
        .build();
    built.expect("a runtime").shutdown_background();
    let paused = Builder::new_current_thread().enable_all().start_paused(true).build();
    paused.expect("a runtime").block_on(async { sleep(1000 * MS).await });
}

#[tokio::test]
async fn tasks() {
    let task: JoinHandle<u32> = tokio::spawn(async { 1 });
    let (handle, id): (AbortHandle, Id) = (task.abort_handle(), task.id());
    assert_eq!((task.await.ok(), handle.id()), (Some(1), id));
    assert!(handle.is_finished());
    handle.abort();
    let endless = tokio::spawn(std::future::pending::<()>());
    assert!(!endless.is_finished());
    endless.abort();
    let error: JoinError = endless.await.expect_err("it was aborted");
    assert!(error.is_cancelled() && !error.is_panic());
    assert!(error.try_into_panic().is_err());
    let panics = tokio::spawn(async { panic!("on purpose") }).await.expect_err("it panics");
    let _panic = panics.into_panic();
    assert!(tokio::task::try_id().is_some());
    let _id = tokio::task::id();
    tokio::task::yield_now().await;
    tokio::task::consume_budget().await;
    tokio::task::unconstrained(async {}).await;
    assert!(tokio::task::coop::has_budget_remaining());
    assert_eq!(tokio::task::spawn_blocking(|| 2).await.ok(), Some(2));
    let builder = tokio::task::Builder::new().name("task");
    assert!(builder.spawn(async {}).expect("a task").await.is_ok());
    let on = builder.spawn_on(async {}, &Handle::current());
    assert!(on.expect("a task").await.is_ok());
    assert!(builder.spawn_blocking(|| ()).expect("a task").await.is_ok());
    let on = builder.spawn_blocking_on(|| (), &Handle::current());
    assert!(on.expect("a task").await.is_ok());
    NUMBER.scope(1, async { assert_eq!(NUMBER.get(), 1) }).await;
    NUMBER.sync_scope(2, || assert_eq!(NUMBER.with(|number| *number), 2));
    assert!(NUMBER.try_with(|_| ()).is_err() && NUMBER.try_get().is_err());
}

#[tokio::test]
async fn join_sets() {
    let mut set: JoinSet<u32> = JoinSet::new();
    assert!(set.is_empty());
    set.spawn(async { 1 });
    set.spawn_on(async { 2 }, &Handle::current());
    set.spawn_blocking(|| 3);
    assert_eq!(set.len(), 3);
    let mut sum = 0;
    while let Some(number) = set.join_next().await {
        sum += number.expect("a task");
    }
    assert_eq!(sum, 6);
    set.spawn(std::future::pending());
    set.abort_all();
    set.shutdown().await;
    assert!(set.try_join_next().is_none());
    let local = LocalSet::new();
    let sum = local.run_until(async {
        set.spawn_local(async { 4 });
        set.join_next_with_id().await.expect("a task").expect("its output").1
    });
    assert_eq!(sum.await, 4);
    let task = local.run_until(async { tokio::task::spawn_local(async { Rc::new(5) }).await });
    assert_eq!(*task.await.expect("a task"), 5);
}

#[tokio::test]
async fn channels_for_many() {
    let (tx, mut rx) = mpsc::channel::<u32>(2);
    tx.send(1).await.expect("room");
    tx.try_send(2).expect("room");
    assert_eq!((tx.capacity(), tx.max_capacity(), rx.len(), rx.is_empty()), (0, 2, 2, false));
    assert!(tx.try_reserve().is_err());
    assert_eq!((rx.recv().await, rx.try_recv().ok()), (Some(1), Some(2)));
    tx.reserve().await.expect("room").send(3);
    let permit = tx.clone().reserve_owned().await.expect("room");
    assert!(permit.same_channel_as_sender(&tx));
    let other: mpsc::Sender<u32> = permit.send(4);
    assert!(other.same_channel(&tx) && !other.is_closed());
    assert_eq!((rx.recv().await, rx.recv().await), (Some(3), Some(4)));
    let _sender = tx.clone().try_reserve_owned().expect("room").release();
    assert_eq!(tx.reserve_many(2).await.expect("room").len(), 2);
    assert!(tx.downgrade().upgrade().is_some() && tx.strong_count() > 0 && tx.weak_count() == 0);
    rx.close();
    assert!(rx.is_closed());
    tx.closed().await;
    let polled = std::future::poll_fn(|context| rx.poll_recv(context)).await;
    assert_eq!(polled, None);
    let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
    tx.send(1).expect("a receiver");
    assert_eq!((rx.len(), rx.is_empty(), rx.is_closed()), (1, false, false));
    let mut all = Vec::new();
    assert_eq!(rx.recv_many(&mut all, 10).await, 1);
    assert!(tx.same_channel(&tx.clone()) && !tx.is_closed());
    drop(rx);
    tx.closed().await;
    let blocking = tokio::task::spawn_blocking(|| {
        let (tx, mut rx) = mpsc::channel(1);
        (tx.blocking_send(1).is_ok(), rx.blocking_recv())
    });
    assert_eq!(blocking.await.ok(), Some((true, Some(1))));
}

#[tokio::test]
async fn other_channels() {
    let (mut tx, mut rx) = oneshot::channel::<u32>();
    assert!(!tx.is_closed() && rx.try_recv() == Err(oneshot::error::TryRecvError::Empty));
    rx.close();
    tx.closed().await;
    std::future::poll_fn(|context| tx.poll_closed(context)).await;
    assert_eq!(tx.send(1), Err(1));
    assert!(rx.await.is_err());

    let (tx, mut rx) = watch::channel(0);
    tx.send(1).expect("a receiver");
    assert!(rx.has_changed().expect("a sender"));
    assert_eq!(*rx.borrow(), 1);
    assert_eq!(*rx.borrow_and_update(), 1);
    tx.send_modify(|value| *value += 1);
    rx.changed().await.expect("a sender");
    assert!(tx.send_if_modified(|value| *value == 2));
    assert_eq!(tx.send_replace(3), 2);
    assert_eq!(*rx.wait_for(|value| *value == 3).await.expect("a sender"), 3);
    assert_eq!((*tx.borrow(), tx.receiver_count(), tx.is_closed()), (3, 1, false));
    assert!(rx.same_channel(&tx.subscribe()));
    drop(rx);
    tx.closed().await;

    let (tx, mut rx) = broadcast::channel(2);
    let mut other = rx.resubscribe();
    assert_eq!(tx.send(1).ok(), Some(2));
    assert_eq!((tx.len(), tx.is_empty(), rx.len(), rx.is_empty()), (1, false, 1, false));
    assert_eq!((rx.recv().await, other.try_recv()), (Ok(1), Ok(1)));
    assert!(tx.subscribe().try_recv().is_err());
}

#[tokio::test]
async fn locks() {
    let lock = Arc::new(Mutex::new(0));
    let guard: MutexGuard<'_, i32> = lock.lock().await;
    let error: Result<_, TryLockError> = lock.try_lock();
    assert!(error.is_err());
    drop(guard);
    let owned: OwnedMutexGuard<i32> = lock.clone().lock_owned().await;
    assert!(lock.clone().try_lock_owned().is_err());
    drop(owned);
    let lock = Arc::new(RwLock::with_max_readers(0, 4));
    let read: RwLockReadGuard<'_, i32> = lock.read().await;
    assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    drop(read);
    let write: RwLockWriteGuard<'_, i32> = lock.write().await;
    drop(write.downgrade());
    let read: OwnedRwLockReadGuard<i32> = lock.clone().read_owned().await;
    assert!(lock.clone().try_read_owned().is_ok() && lock.clone().try_write_owned().is_err());
    drop(read);
    let write: OwnedRwLockWriteGuard<i32> = lock.clone().write_owned().await;
    drop(write.downgrade());
    let blocking = tokio::task::spawn_blocking(move || {
        let read = *lock.blocking_read();
        read + *lock.blocking_write()
    });
    assert_eq!(blocking.await.ok(), Some(0));
    assert_eq!((Mutex::new(1).into_inner(), RwLock::new(2).into_inner()), (1, 2));
    assert_eq!((*Mutex::new(1).get_mut(), *RwLock::new(2).get_mut()), (1, 2));
}

#[tokio::test]
async fn counting_and_notifying() {
    let semaphore = Arc::new(Semaphore::new(3));
    let mut permit: SemaphorePermit<'_> = semaphore.acquire_many(2).await.expect("open");
    let split = permit.split(1).expect("two permits");
    permit.merge(split);
    assert_eq!((permit.num_permits(), semaphore.available_permits()), (2, 1));
    drop(permit);
    let owned: OwnedSemaphorePermit = semaphore.clone().acquire_owned().await.expect("open");
    let many = semaphore.clone().acquire_many_owned(2).await.expect("open");
    assert_eq!(owned.semaphore().available_permits(), 0);
    assert!(matches!(semaphore.try_acquire(), Err(TryAcquireError::NoPermits)));
    assert!(semaphore.try_acquire_many(2).is_err());
    assert!(semaphore.clone().try_acquire_owned().is_err());
    assert!(semaphore.clone().try_acquire_many_owned(2).is_err());
    owned.forget();
    drop(many);
    semaphore.add_permits(1);
    semaphore.close();
    let error: Result<_, AcquireError> = semaphore.acquire().await;
    assert!(error.is_err() && semaphore.is_closed());
    static ONE: Semaphore = Semaphore::const_new(1);
    assert!(ONE.acquire().await.is_ok());

    let leader: BarrierWaitResult = Barrier::new(1).wait().await;
    assert!(leader.is_leader());
    let notify = Notify::new();
    notify.notify_one();
    let mut notified = std::pin::pin!(notify.notified());
    assert!(notified.as_mut().enable());
    notified.await;
    notify.notify_waiters();

    let mut cell: OnceCell<u32> = OnceCell::new();
    assert!(!cell.initialized() && cell.get().is_none() && cell.get_mut().is_none());
    assert!(cell.get_or_try_init(|| async { Err(()) }).await.is_err());
    assert_eq!(*cell.get_or_init(|| async { 1 }).await, 1);
    let error: Result<(), SetError<u32>> = cell.set(2);
    assert!(error.expect_err("it is set").is_already_init_err());
    assert_eq!((cell.take(), OnceCell::new_with(Some(3)).into_inner()), (Some(1), Some(3)));

    let token = CancellationToken::new();
    let child = token.child_token();
    token.clone().drop_guard().disarm().cancel();
    assert!(child.is_cancelled());
    child.cancelled().await;
    child.clone().cancelled_owned().await;
    assert_eq!(child.run_until_cancelled(std::future::pending::<()>()).await, None);
}

/// Drawn, since with so many timers there are too many orders.
#[tokio::test(search = strait::Builder::new().random(10, 1))]
async fn moments() {
    let now = Instant::now();
    let mut delay: std::pin::Pin<Box<Sleep>> = Box::pin(sleep(MS));
    delay.as_mut().await;
    assert!(delay.is_elapsed());
    delay.as_mut().reset(now + MS);
    let _deadline = delay.deadline();
    sleep_until(now + MS).await;
    let waited: Timeout<_> = timeout(MS, std::future::pending::<()>());
    assert!(waited.await.is_err());
    assert!(timeout_at(now + MS, std::future::pending::<()>()).await.is_err());
    let mut ticks: Interval = interval(MS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    assert_eq!((ticks.missed_tick_behavior(), ticks.period()), (MissedTickBehavior::Burst, MS));
    let _tick = ticks.tick().await;
    ticks.reset();
    std::future::poll_fn(|context| ticks.poll_tick(context)).await;
    interval_at(now + MS, MS).tick().await;
    assert!(Instant::now() >= now && now.elapsed() >= Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_stands_still() {
    let start = Instant::now();
    sleep(10 * MS).await;
    assert_eq!(start.elapsed(), 10 * MS);
    advance(5 * MS).await;
    assert_eq!(start.elapsed(), 15 * MS);
    tokio::time::resume();
    tokio::time::pause();
}

#[tokio::test]
async fn macros() {
    let (a, b) = tokio::join!(async { 1 }, async { 2 });
    let both: Result<(i32, i32), ()> = tokio::try_join!(async { Ok(a) }, async { Ok(b) });
    assert_eq!(both, Ok((1, 2)));
    let ready = async { 3 };
    tokio::pin!(ready);
    let number = tokio::select! {
        number = &mut ready, if a == 1 => number,
        _ = std::future::pending::<()>() => 4,
        else => 5,
    };
    assert_eq!(number, 3);
    let (tx, mut rx) = mpsc::unbounded_channel::<Option<u32>>();
    tx.send(None).expect("a receiver");
    let other = tokio::select! {
        Some(Some(number)) = rx.recv() => number,
        else => 6,
    };
    assert_eq!(other, 6);
}
