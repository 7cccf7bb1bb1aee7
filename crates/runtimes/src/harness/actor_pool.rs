//! The threads and tasks that run processes, and the job they work on.
//!
//! Process `main.1` of every instance of a job runs in the same queue, in the order of the
//! instances; so a queue never waits for a later instance before an earlier one is through, and a
//! batch ends if each of its instances does. A child enters its queue when its parent's spawn
//! statement is performed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use super::actor::Actor;
use super::actor_queue::ActorQueue;
use super::by_task::{catching, message_of};
use super::executor::{Executor, lock};
use super::instance::{Batch, Instance};
use super::payload::{Payload, Word};
use super::plan::Plan;
use super::random::{Perturbation, Random};
use super::record::Path;
use super::target::{Contract, Flavour, Promise, Target};
use super::uses::Uses;
use super::watch::Watch;
use super::{by_task, by_thread};

/// The most processes of one instance.
const MAX_QUEUES: usize = 256;

/// How a program is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// One instance after the other.
    #[default]
    Plain,
    /// Many fresh instances at once; every queue walks through all of them with jitter.
    Batched,
    /// Many fresh instances at once; before each operation, processes of an instance are lined up in pairs
    /// and go on a few nanoseconds apart.
    Barrier,
}

impl Style {
    /// Are there many instances at once?
    pub fn is_batched(self) -> bool {
        match self {
            Style::Plain => false,
            Style::Batched | Style::Barrier => true,
        }
    }
}

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// How it is repeated.
    pub style: Style,
    /// Who runs the processes.
    pub flavour: Flavour,
    /// Which contract the program keeps to.
    pub promise: Promise,
    /// What the messages are.
    pub payload: Payload,
    /// Where decisions come from.
    pub seed: u64,
    /// How often.
    pub repetitions: u64,
    /// How much disturbance there is.
    pub perturbation: Perturbation,
    /// How long nothing may happen before it is called a hang.
    pub patience: Duration,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            style: Style::default(),
            flavour: Flavour::default(),
            promise: Promise::default(),
            payload: Payload::default(),
            seed: 0,
            repetitions: 10,
            perturbation: Perturbation::default(),
            patience: Duration::from_secs(5),
        }
    }
}

/// Why a job could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The target panicked.
    Panicked(String),
    /// The program is not one for this target; the fault is ours.
    Astray(String),
}

/// A program that is being run.
pub struct Job<T: Target, W: Word> {
    /// The target.
    pub target: T,
    /// The program.
    pub plan: Arc<Plan>,
    /// What its processes use, if that can be told.
    pub uses: Option<Arc<Uses>>,
    /// How it is run.
    pub options: RunOptions,
    /// What the target promises.
    pub contract: Contract,
    /// Signs of life.
    pub watch: Arc<Watch>,
    pool: Arc<ActorPool<T, W>>,
    queues: Mutex<HashMap<Path, usize>>,
    /// Processes of a batch that has not begun, by queue.
    waiting: Mutex<Vec<Waiting<T, W>>>,
    trouble: Mutex<Option<Trouble>>,
    is_troubled: AtomicBool,
    refusals: AtomicU64,
    first_refusal: AtomicU64,
    /// The instances that are under way.
    pub current: Mutex<Vec<Arc<Instance<T, W>>>>,
}

impl<T: Target, W: Word> Job<T, W> {
    /// A job for a pool.
    pub fn new(
        pool: Arc<ActorPool<T, W>>,
        plan: Plan,
        options: RunOptions,
        contract: Contract,
        watch: Arc<Watch>,
    ) -> Arc<Self> {
        Arc::new(Job {
            target: pool.target.clone(),
            uses: Uses::of(&plan).map(Arc::new),
            plan: Arc::new(plan),
            options,
            contract,
            watch,
            pool,
            queues: Mutex::default(),
            waiting: Mutex::default(),
            trouble: Mutex::default(),
            is_troubled: AtomicBool::new(false),
            refusals: AtomicU64::new(0),
            first_refusal: AtomicU64::new(u64::MAX),
            current: Mutex::default(),
        })
    }

    /// Can the job not go on?
    pub fn is_troubled(&self) -> bool {
        self.is_troubled.load(Ordering::Acquire)
    }

    /// Why it cannot.
    pub fn trouble(&self) -> Option<Trouble> {
        lock(&self.trouble).clone()
    }

    /// Gives the job up: the program does what it should not.
    pub fn go_astray(&self, why: &str) {
        self.give_up(Trouble::Astray(why.to_owned()));
    }

    /// Gives the job up.
    pub fn give_up(&self, trouble: Trouble) {
        lock(&self.trouble).get_or_insert(trouble);
        self.is_troubled.store(true, Ordering::Release);
        let current = lock(&self.current).first().cloned();
        current.iter().for_each(|instance| instance.batch.wake());
    }

    /// A send was refused although there are receivers.
    pub fn refused(&self, instance: u64) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
        self.first_refusal.fetch_min(instance, Ordering::Relaxed);
    }

    /// How many sends were refused, and in which instance first.
    pub fn refusals(&self) -> (u64, u64) {
        (self.refusals.load(Ordering::Relaxed), self.first_refusal.load(Ordering::Relaxed))
    }

    /// Is the process with this path a thread?
    pub fn is_thread(&self, path: &[u32]) -> bool {
        match self.options.flavour {
            Flavour::Threads => true,
            Flavour::Tasks => false,
            Flavour::Mixed => Random::new(self.options.seed, u64::MAX, path).below(2) == 0,
        }
    }

    /// Hands a process to its queue.
    pub fn dispatch(self: Arc<Self>, actor: Actor<T, W>) {
        let number = {
            let mut queues = lock(&self.queues);
            let next = queues.len();
            *queues.entry(actor.path().to_vec()).or_insert(next)
        };
        if number >= MAX_QUEUES {
            return self.go_astray("there are too many processes");
        }
        let queue = if self.is_thread(actor.path()) {
            self.pool.thread_queue(number)
        } else {
            self.pool.task_queue(number)
        };
        let queue = match queue {
            Ok(queue) => queue,
            Err(error) => return self.go_astray(&format!("no thread can be started: {error}")),
        };
        if actor.instance().batch.is_open() {
            return queue.push(actor);
        }
        // Nobody is woken before the batch begins: those who wait for it would take the processor
        // from who prepares it.
        let mut waiting = lock(&self.waiting);
        match waiting.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &queue)) {
            Some((_, actors)) => actors.push(actor),
            None => waiting.push((queue, vec![actor])),
        }
    }

    /// Hands all processes of a batch to their queues, and lets them begin together.
    pub fn release(&self, batch: &Batch) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        let queues: Vec<_> = waiting
            .into_iter()
            .map(|(queue, actors)| {
                queue.fill(actors);
                queue
            })
            .collect();
        batch.open();
        queues.iter().for_each(|queue| queue.wake());
    }
}

type ActorQueues<T, W> = Mutex<Vec<Arc<ActorQueue<Actor<T, W>>>>>;
type Waiting<T, W> = (Arc<ActorQueue<Actor<T, W>>>, Vec<Actor<T, W>>);

/// Threads and tasks that wait for processes. They live as long as the session.
pub struct ActorPool<T: Target, W: Word> {
    target: T,
    threads: ActorQueues<T, W>,
    tasks: ActorQueues<T, W>,
    handles: Mutex<Vec<JoinHandle<()>>>,
    executor: OnceLock<Arc<dyn Executor>>,
}

impl<T: Target, W: Word> ActorPool<T, W> {
    /// Nobody yet.
    pub fn new(target: T) -> Arc<Self> {
        Arc::new(ActorPool {
            target,
            threads: Mutex::default(),
            tasks: Mutex::default(),
            handles: Mutex::default(),
            executor: OnceLock::new(),
        })
    }

    fn thread_queue(&self, number: usize) -> Result<Arc<ActorQueue<Actor<T, W>>>, std::io::Error> {
        let mut queues = lock(&self.threads);
        while queues.len() <= number {
            let queue: Arc<ActorQueue<Actor<T, W>>> = Arc::default();
            let own = queue.clone();
            let builder = std::thread::Builder::new().name(format!("queue-{}", queues.len()));
            let handle = builder.spawn(move || {
                while let Some(actor) = own.take() {
                    run_on_thread(actor);
                }
            })?;
            lock(&self.handles).push(handle);
            queues.push(queue);
        }
        Ok(queues[number].clone())
    }

    fn task_queue(&self, number: usize) -> Result<Arc<ActorQueue<Actor<T, W>>>, std::io::Error> {
        let executor = match self.executor.get() {
            Some(executor) => executor.clone(),
            None => {
                let started = self.target.executor()?;
                self.executor.get_or_init(|| started).clone()
            }
        };
        let mut queues = lock(&self.tasks);
        while queues.len() <= number {
            let queue: Arc<ActorQueue<Actor<T, W>>> = Arc::default();
            let own = queue.clone();
            executor.spawn(Box::pin(async move {
                while let Some(actor) = own.take_task().await {
                    let job = actor.instance().job.clone();
                    if let Err(message) = catching(by_task::drive(actor)).await {
                        job.give_up(Trouble::Panicked(message));
                    }
                }
            }));
            queues.push(queue);
        }
        Ok(queues[number].clone())
    }

    /// Ends all threads and tasks; waits for them unless some are stuck.
    pub fn dismiss(&self, are_stuck: bool) {
        let queues = [&self.threads, &self.tasks];
        queues.into_iter().for_each(|queues| lock(queues).iter().for_each(|queue| queue.end()));
        if are_stuck {
            return;
        }
        for handle in lock(&self.handles).drain(..) {
            let _ = handle.join();
        }
        self.executor.get().into_iter().for_each(|executor| executor.stop());
    }
}

/// Runs a process on this thread; a panic of the target ends the job, not the thread.
pub fn run_on_thread<T: Target, W: Word>(actor: Actor<T, W>) {
    let job = actor.instance().job.clone();
    let driven = catch_unwind(AssertUnwindSafe(|| by_thread::drive(actor)));
    if let Err(panic) = driven {
        job.give_up(Trouble::Panicked(message_of(&*panic)));
    }
}
