//! A small executor in std: a few threads that take tasks from one queue. A task that wakes itself
//! goes to the end of the queue.
//!
//! Threads spin for a moment before they sleep: a rendezvous between tasks would otherwise cost
//! two system calls.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::thread::JoinHandle;

/// How many threads run tasks. One more than the two processors that the bars are measured on, so
/// that a task can be interrupted at any instruction.
pub const WORKERS: usize = 3;

/// How often a thread looks at the queue before it sleeps.
const SPINS: u32 = 100;

/// A task.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs tasks on threads.
pub trait Executor: Send + Sync {
    /// Runs a task to its end.
    fn spawn(&self, task: Task);
    /// Ends the threads; tasks that have not finished are dropped or forgotten.
    fn stop(&self);
}

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
const WOKEN: u8 = 3;

struct Node {
    task: Mutex<Option<Task>>,
    state: AtomicU8,
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    nodes: Mutex<VecDeque<Arc<Node>>>,
    length: AtomicUsize,
    sleepers: AtomicUsize,
    ready: Condvar,
    over: AtomicBool,
}

/// The executor.
pub struct Workers {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Nothing in here panics while it holds a lock; if a target does, what it left is still a queue.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    /// Starts so many threads.
    pub fn start(threads: usize) -> Result<Arc<Workers>, std::io::Error> {
        let queue = Arc::new(Queue::default());
        let mut handles = Vec::new();
        for number in 0..threads {
            let queue = queue.clone();
            let builder = std::thread::Builder::new().name(format!("tasks-{number}"));
            handles.push(builder.spawn(move || queue.work())?);
        }
        Ok(Arc::new(Workers { queue, threads: Mutex::new(handles) }))
    }
}

impl Executor for Workers {
    fn spawn(&self, task: Task) {
        let node = Node {
            task: Mutex::new(Some(task)),
            state: AtomicU8::new(QUEUED),
            queue: self.queue.clone(),
        };
        self.queue.push(Arc::new(node));
    }

    fn stop(&self) {
        self.queue.over.store(true, Ordering::SeqCst);
        drop(lock(&self.queue.nodes));
        self.queue.ready.notify_all();
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
    }
}

impl Queue {
    fn push(&self, node: Arc<Node>) {
        let mut nodes = lock(&self.nodes);
        nodes.push_back(node);
        self.length.store(nodes.len(), Ordering::Release);
        drop(nodes);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.ready.notify_one();
        }
    }

    fn pop(&self) -> Option<Arc<Node>> {
        for round in 0..SPINS {
            if self.length.load(Ordering::Acquire) > 0 || self.over.load(Ordering::Relaxed) {
                break;
            }
            if round % 32 == 31 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        let mut nodes = lock(&self.nodes);
        loop {
            if let Some(node) = nodes.pop_front() {
                self.length.store(nodes.len(), Ordering::Release);
                return Some(node);
            }
            if self.over.load(Ordering::SeqCst) {
                return None;
            }
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            nodes = self.ready.wait(nodes).unwrap_or_else(PoisonError::into_inner);
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn work(&self) {
        while let Some(node) = self.pop() {
            Node::run(node);
        }
    }
}

impl Node {
    fn run(node: Arc<Node>) {
        node.state.store(RUNNING, Ordering::SeqCst);
        let waker = Waker::from(node.clone());
        let mut slot = lock(&node.task);
        let Some(task) = slot.as_mut() else { return };
        let is_done = task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        if is_done {
            *slot = None;
            return;
        }
        drop(slot);
        let rested = node.state.compare_exchange(RUNNING, IDLE, Ordering::SeqCst, Ordering::SeqCst);
        if rested.is_err() {
            node.state.store(QUEUED, Ordering::SeqCst);
            node.queue.clone().push(node);
        }
    }
}

impl Wake for Node {
    fn wake(self: Arc<Node>) {
        loop {
            let (from, to) = match self.state.load(Ordering::SeqCst) {
                IDLE => (IDLE, QUEUED),
                RUNNING => (RUNNING, WOKEN),
                _ => return,
            };
            let moved = self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
            if moved.is_ok() {
                if to == QUEUED {
                    self.queue.clone().push(self);
                }
                return;
            }
        }
    }
}
