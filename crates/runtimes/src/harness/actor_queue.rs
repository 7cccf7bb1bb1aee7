//! A queue of processes that one long-lived thread or task runs one after the other.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::{Poll, Waker};

use super::executor::lock;

/// How often a thread looks before it sleeps.
const SPINS: u32 = 100;

/// A queue with one reader.
pub struct ActorQueue<J> {
    queue: Mutex<VecDeque<J>>,
    length: AtomicUsize,
    ready: Condvar,
    waker: Mutex<Option<Waker>>,
    over: AtomicBool,
}

impl<J> Default for ActorQueue<J> {
    fn default() -> Self {
        ActorQueue {
            queue: Mutex::default(),
            length: AtomicUsize::new(0),
            ready: Condvar::new(),
            waker: Mutex::default(),
            over: AtomicBool::new(false),
        }
    }
}

impl<J> ActorQueue<J> {
    /// Adds one.
    pub fn push(&self, job: J) {
        let mut queue = lock(&self.queue);
        queue.push_back(job);
        self.length.store(queue.len(), Ordering::SeqCst);
        drop(queue);
        self.wake();
    }

    /// Adds several and wakes nobody yet.
    pub fn fill(&self, jobs: impl IntoIterator<Item = J>) {
        let mut queue = lock(&self.queue);
        queue.extend(jobs);
        self.length.store(queue.len(), Ordering::SeqCst);
    }

    /// Says that there will be no more.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        drop(lock(&self.queue));
        self.wake();
    }

    /// Wakes the reader.
    pub fn wake(&self) {
        self.ready.notify_one();
        let waker = lock(&self.waker).take();
        waker.into_iter().for_each(Waker::wake);
    }

    fn pop(&self) -> Option<J> {
        if self.length.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut queue = lock(&self.queue);
        let job = queue.pop_front();
        self.length.store(queue.len(), Ordering::SeqCst);
        job
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Waits for the next one on a thread; `None` at the end.
    pub fn take(&self) -> Option<J> {
        for round in 0..SPINS {
            if self.length.load(Ordering::Acquire) > 0 {
                break;
            }
            if round % 32 == 31 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.pop_front() {
                self.length.store(queue.len(), Ordering::SeqCst);
                return Some(job);
            }
            if self.is_over() {
                return None;
            }
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the next one in a task; `None` at the end.
    pub async fn take_task(&self) -> Option<J> {
        poll_fn(|context| {
            if let Some(job) = self.pop() {
                return Poll::Ready(Some(job));
            }
            *lock(&self.waker) = Some(context.waker().clone());
            // Something may have come between the look and the note.
            match self.pop() {
                Some(job) => Poll::Ready(Some(job)),
                None if self.is_over() => Poll::Ready(None),
                None => Poll::Pending,
            }
        })
        .await
    }
}
