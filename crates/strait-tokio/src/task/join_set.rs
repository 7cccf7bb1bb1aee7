//! A set of tasks whose outputs come in the order in which the tasks end.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use strait::extend::{self, Object, ObjectId};

use super::{AbortHandle, Id, JoinError, LocalSet, Outcome};
use crate::executor::{End, Task};
use crate::point::{Place, Waiting};
use crate::runtime::Handle;

/// A set of tasks. They are aborted when it is dropped.
pub struct JoinSet<T>(Inner<T>);

enum Inner<T> {
    Real(tokio::task::JoinSet<T>),
    Model(ModelSet<T>),
}

/// A set of tasks under test.
struct ModelSet<T> {
    object: ObjectId,
    /// The tasks whose outputs were not taken.
    tasks: HashMap<u64, Arc<Task>>,
    ended: Arc<Mutex<Ended<T>>>,
    waiting: Waiting,
}

/// The outputs that were not taken, the oldest first, and who waits for one.
struct Ended<T> {
    outcomes: VecDeque<Outcome<T>>,
    waker: Option<Waker>,
}

fn lock<T>(ended: &Mutex<Ended<T>>) -> MutexGuard<'_, Ended<T>> {
    ended.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> ModelSet<T> {
    fn new(place: Place) -> Self {
        let object = Object::new("JoinSet").number(place);
        let ended = Arc::new(Mutex::new(Ended { outcomes: VecDeque::new(), waker: None }));
        let waiting = Waiting::new(object, "join_next", place);
        ModelSet { object, tasks: HashMap::new(), ended, waiting }
    }

    /// A task of the set, and what is to be called at its end.
    fn add(&mut self, place: Place) -> (Arc<Task>, impl FnOnce(End<T>) + use<T>) {
        let task = Task::new(self.object, place);
        self.tasks.insert(task.number, task.clone());
        let (theirs, id) = (self.ended.clone(), Id::model(task.number));
        let ended = move |end| {
            let waker = {
                let mut ended = lock(&theirs);
                ended.outcomes.push_back(Outcome::new(id, end));
                ended.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        (task, ended)
    }

    fn taken(&mut self, outcome: Outcome<T>) -> Joined<T> {
        let id = outcome.id;
        self.tasks.retain(|&number, _| Id::model(number) != id);
        outcome.result().map(|value| (id, value))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Joined<T>>> {
        if self.tasks.is_empty() {
            return Poll::Ready(None);
        }
        let ended = self.ended.clone();
        let outcome = self.waiting.poll(context, |context| {
            let mut ended = lock(&ended);
            match ended.outcomes.pop_front() {
                Some(outcome) => Poll::Ready(outcome),
                None => {
                    ended.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        });
        outcome.map(|outcome| Some(self.taken(outcome)))
    }

    fn abort_all(&self, place: Place) {
        let mut numbers: Vec<&u64> = self.tasks.keys().collect();
        numbers.sort_unstable();
        numbers.into_iter().for_each(|number| self.tasks[number].abort(place));
    }
}

/// The output of a task with its number.
type Joined<T> = Result<(Id, T), JoinError>;

fn without_id<T>(joined: Joined<T>) -> Result<T, JoinError> {
    joined.map(|(_, value)| value)
}

impl<T> JoinSet<T> {
    /// An empty set.
    #[track_caller]
    pub fn new() -> Self {
        JoinSet(match extend::under_test() {
            false => Inner::Real(tokio::task::JoinSet::new()),
            true => Inner::Model(ModelSet::new(Location::caller())),
        })
    }

    /// The number of tasks whose outputs were not taken.
    pub fn len(&self) -> usize {
        match &self.0 {
            Inner::Real(set) => set.len(),
            Inner::Model(set) => set.tasks.len(),
        }
    }

    /// Were all outputs taken?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: 'static> JoinSet<T> {
    /// Starts a task on the current runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.spawn_on(future, &Handle::current())
    }

    /// Starts a task on a runtime.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let place = Location::caller();
        match (&mut self.0, handle.real(), handle.model()) {
            (Inner::Real(set), Some(handle), _) => AbortHandle::real(set.spawn_on(future, handle)),
            (Inner::Model(set), _, Some(runtime)) => {
                let (task, ended) = set.add(place);
                runtime.start(task.clone(), future, ended, place);
                AbortHandle::model(task)
            }
            _ => panic!("{MIXED}"),
        }
    }

    /// Starts a function that may block on the current runtime.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, function: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.spawn_blocking_on(function, &Handle::current())
    }

    /// Starts a function that may block on a runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, function: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let place = Location::caller();
        match (&mut self.0, handle.real(), handle.model()) {
            (Inner::Real(set), Some(handle), _) => {
                AbortHandle::real(set.spawn_blocking_on(function, handle))
            }
            (Inner::Model(set), _, Some(runtime)) => {
                let (task, ended) = set.add(place);
                runtime.start_blocking(task.clone(), function, ended);
                AbortHandle::model(task)
            }
            _ => panic!("{MIXED}"),
        }
    }

    /// Starts a task on the current local set.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let place = Location::caller();
        match &mut self.0 {
            Inner::Real(set) => AbortHandle::real(set.spawn_local(future)),
            Inner::Model(set) => {
                let (task, ended) = set.add(place);
                super::local_set::start_local(task.clone(), future, ended, place);
                AbortHandle::model(task)
            }
        }
    }

    /// Starts a task on a local set.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let place = Location::caller();
        match &mut self.0 {
            Inner::Real(set) => AbortHandle::real(local_set.real_spawn(set, future)),
            Inner::Model(set) => {
                let (task, ended) = set.add(place);
                local_set.start(task.clone(), future, ended, place);
                AbortHandle::model(task)
            }
        }
    }

    /// Waits for the next task that ends. Gives nothing if the set is empty.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        std::future::poll_fn(|context| self.poll_join_next(context)).await
    }

    /// As [`JoinSet::join_next`], with the number of the task.
    pub async fn join_next_with_id(&mut self) -> Option<Joined<T>> {
        std::future::poll_fn(|context| self.poll_join_next_with_id(context)).await
    }

    /// The output of a task that is over, if there is one.
    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// As [`JoinSet::try_join_next`], with the number of the task.
    #[track_caller]
    pub fn try_join_next_with_id(&mut self) -> Option<Joined<T>> {
        match &mut self.0 {
            Inner::Real(set) => {
                set.try_join_next_with_id().map(|joined| joined.map(real).map_err(JoinError::from))
            }
            Inner::Model(set) => {
                set.object.step("try_join_next", Location::caller());
                let outcome = lock(&set.ended).outcomes.pop_front()?;
                Some(set.taken(outcome))
            }
        }
    }

    /// Polls for the next task that ends.
    pub fn poll_join_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(context).map(|joined| joined.map(without_id))
    }

    /// Polls for the next task that ends, with its number.
    pub fn poll_join_next_with_id(&mut self, context: &mut Context<'_>) -> Poll<Option<Joined<T>>> {
        match &mut self.0 {
            Inner::Real(set) => set
                .poll_join_next_with_id(context)
                .map(|joined| joined.map(|joined| joined.map(real).map_err(JoinError::from))),
            Inner::Model(set) => set.poll(context),
        }
    }

    /// Aborts all tasks and waits for their ends.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Waits for all tasks. A panic of one of them goes on here.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined {
                Ok(output) => outputs.push(output),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        outputs
    }

    /// Aborts all tasks.
    #[track_caller]
    pub fn abort_all(&mut self) {
        match &mut self.0 {
            Inner::Real(set) => set.abort_all(),
            Inner::Model(set) => set.abort_all(Location::caller()),
        }
    }

    /// Removes all tasks without aborting them.
    pub fn detach_all(&mut self) {
        match &mut self.0 {
            Inner::Real(set) => set.detach_all(),
            Inner::Model(set) => set.tasks.clear(),
        }
    }
}

fn real<T>((id, value): (tokio::task::Id, T)) -> (Id, T) {
    (Id::real(id), value)
}

/// A set made inside a check is used outside of it, or the reverse.
pub(crate) const MIXED: &str =
    "what is made inside a check of strait cannot be used outside of it, nor the reverse";

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        JoinSet::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        if let Inner::Model(set) = &mut self.0
            && extend::under_test()
        {
            set.waiting.cancel("stop waiting", || {});
            set.abort_all(Location::caller());
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = JoinSet::new();
        futures.into_iter().for_each(|future| {
            set.spawn(future);
        });
        set
    }
}
