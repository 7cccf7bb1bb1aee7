//! Runtimes: tokio's outside of a check, and inside one what says how tasks take turns.
//!
//! Under test, the tasks of a multi-thread runtime are threads of the execution, and those of a current-thread
//! runtime are performed by the thread that calls `block_on`, changing places only where they wait.

use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use strait::extend::{self, Object};
pub use tokio::runtime::RuntimeFlavor;

use crate::clock;
use crate::executor::{self, End, Task, poll_once};
use crate::local::{Members, Turn, telling};
use crate::point::{Place, Waiting};
use crate::registry;
pub use crate::runtime_builder::Builder;
use crate::task::JoinHandle;

/// The tasks of a current-thread runtime.
type SendMembers = Members<dyn Future<Output = ()> + Send, dyn FnOnce() + Send>;

/// A runtime under test.
pub(crate) struct ModelRuntime {
    /// The tasks, if one thread performs all of them.
    members: Option<SendMembers>,
    /// The tasks that have threads of their own.
    tasks: Mutex<Vec<Arc<Task>>>,
}

/// A runtime under test, as its tasks know it.
#[derive(Clone)]
pub(crate) struct ModelHandle(Arc<ModelRuntime>);

impl ModelHandle {
    pub(crate) fn new(is_current_thread: bool, place: Place) -> Self {
        let members = is_current_thread.then(|| Members::new(place));
        ModelHandle(Arc::new(ModelRuntime { members, tasks: Mutex::default() }))
    }

    pub(crate) fn is_current_thread(&self) -> bool {
        self.0.members.is_some()
    }

    /// Starts a task; its end is told to `ended`, in the step of its end.
    pub(crate) fn start<F>(
        &self,
        task: Arc<Task>,
        future: F,
        ended: impl FnOnce(End<F::Output>) + Send + 'static,
        place: Place,
    ) where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let Some(members) = &self.0.members else {
            self.remember(&task);
            return executor::spawn(task, self.clone(), future, ended);
        };
        let ended = Arc::new(Mutex::new(Some(ended)));
        let theirs = ended.clone();
        let tell = move |end| {
            let ended = theirs.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(ended) = ended {
                ended(end);
            }
        };
        let aborted = task.clone();
        let abort = move || {
            let ended = ended.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(ended) = ended {
                aborted.finish(End::Aborted, ended);
            }
        };
        let told = telling(task.clone(), future, tell);
        members.add(task, Box::pin(told), Box::new(abort), place);
    }

    /// Starts a function that may block.
    pub(crate) fn start_blocking<T: Send + 'static>(
        &self,
        task: Arc<Task>,
        function: impl FnOnce() -> T + Send + 'static,
        ended: impl FnOnce(End<T>) + Send + 'static,
    ) {
        executor::spawn_blocking(task, self.clone(), function, ended);
    }

    fn remember(&self, task: &Arc<Task>) {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(task.clone());
    }

    /// Performs a future to its end.
    pub(crate) fn block_on<F: Future>(&self, future: F, place: Place) -> F::Output {
        let _entered = enter_model(self.clone());
        match &self.0.members {
            None => executor::block_on(future, place),
            Some(members) => take_turns(members, future, place),
        }
    }

    /// Ends all tasks, and waits for that if asked to.
    pub(crate) fn shut_down(&self, waits: bool, place: Place) {
        if let Some(members) = &self.0.members {
            members.clear();
        }
        let tasks = {
            let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        tasks.iter().for_each(|task| task.abort(place));
        if waits {
            tasks.iter().for_each(|task| executor::block_on(ended(task, place), place));
        }
    }
}

/// The end of a task.
async fn ended(task: &Task, place: Place) {
    let mut waiting = Waiting::new(task.done, "shutdown", place);
    std::future::poll_fn(|context| waiting.poll(context, |context| task.poll_finished(context)))
        .await;
}

/// Performs a future to its end, and the tasks of its thread in turns with it.
fn take_turns<F: Future>(members: &SendMembers, future: F, place: Place) -> F::Output {
    let task = Task::new(Object::new("end of task").number(place), place);
    let mut future = pin!(future);
    loop {
        if let Some(output) = poll_once(&task, future.as_mut()) {
            return output;
        }
        loop {
            let others = std::slice::from_ref(&task);
            match members.turn(others, true, clock::idle_gate(), place) {
                Turn::Other => break,
                Turn::Member => {}
                Turn::None => {
                    clock::notice_other_threads();
                    clock::advance(None, place);
                }
            }
        }
    }
}

/// A thread belongs to a runtime until this is dropped.
pub(crate) struct Entered(u32);

/// The current thread belongs to a runtime.
pub(crate) fn enter_model(handle: ModelHandle) -> Entered {
    let thread = registry::thread();
    registry::with(|registry| registry.entered.entry(thread).or_default().push(handle));
    Entered(thread)
}

impl Drop for Entered {
    fn drop(&mut self) {
        if extend::under_test() {
            let left =
                registry::with(|registry| registry.entered.get_mut(&self.0).and_then(Vec::pop));
            drop(left);
        }
    }
}

/// The runtime that the current thread belongs to, if it is under test and there is one.
pub(crate) fn current_model() -> Option<ModelHandle> {
    let thread = registry::thread();
    registry::with(|registry| registry.entered.get(&thread)?.last().cloned())
}

/// Performs the main future of a test: the tasks that it leaves behind go on until they wait, but time does
/// not.
#[doc(hidden)]
#[track_caller]
pub fn perform_main<F: Future>(
    is_current_thread: bool,
    start_paused: bool,
    future: F,
) -> F::Output {
    let place = Location::caller();
    let handle = ModelHandle::new(is_current_thread, place);
    if start_paused {
        clock::pause(place);
    }
    let output = handle.block_on(future, place);
    clock::end(place);
    // What the tasks that are left own must not be dropped as if the runtime were shut down.
    std::mem::forget(handle);
    output
}

/// A runtime.
pub struct Runtime {
    real: Option<tokio::runtime::Runtime>,
    handle: Handle,
}

impl Runtime {
    /// A multi-thread runtime.
    #[track_caller]
    pub fn new() -> std::io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    pub(crate) fn real(runtime: tokio::runtime::Runtime) -> Runtime {
        let handle = Handle { inner: HandleInner::Real(runtime.handle().clone()) };
        Runtime { real: Some(runtime), handle }
    }

    pub(crate) fn model(handle: ModelHandle) -> Runtime {
        Runtime { real: None, handle: Handle { inner: HandleInner::Model(handle) } }
    }

    /// A handle to the runtime.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Starts a function that may block.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, function: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(function)
    }

    /// Performs a future to its end.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        match &self.real {
            Some(runtime) => runtime.block_on(future),
            None => self.handle.block_on(future),
        }
    }

    /// The current thread belongs to the runtime until the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Shuts the runtime down. Under test, the time is taken to be long enough.
    #[track_caller]
    pub fn shutdown_timeout(mut self, duration: Duration) {
        match self.real.take() {
            Some(runtime) => runtime.shutdown_timeout(duration),
            None => self.shut_down(true, Location::caller()),
        }
    }

    /// Shuts the runtime down without waiting for that.
    #[track_caller]
    pub fn shutdown_background(mut self) {
        match self.real.take() {
            Some(runtime) => runtime.shutdown_background(),
            None => self.shut_down(false, Location::caller()),
        }
    }

    /// What the runtime counts.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    fn shut_down(&self, waits: bool, place: Place) {
        if let HandleInner::Model(handle) = &self.handle.inner
            && extend::under_test()
        {
            handle.shut_down(waits, place);
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shut_down(true, Location::caller());
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Runtime").finish_non_exhaustive()
    }
}

/// A handle to a runtime.
#[derive(Clone)]
pub struct Handle {
    inner: HandleInner,
}

#[derive(Clone)]
enum HandleInner {
    Real(tokio::runtime::Handle),
    Model(ModelHandle),
}

/// What tokio says as well where there is no runtime.
const NO_RUNTIME: &str =
    "there is no reactor running, must be called from the context of a Tokio 1.x runtime";

impl Handle {
    /// The runtime that the current code belongs to.
    #[track_caller]
    pub fn current() -> Self {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(_) => panic!("{NO_RUNTIME}"),
        }
    }

    /// The runtime that the current code belongs to, if there is one.
    pub fn try_current() -> Result<Self, TryCurrentError> {
        if extend::under_test() {
            let handle = current_model().ok_or(TryCurrentError(()))?;
            return Ok(Handle { inner: HandleInner::Model(handle) });
        }
        let handle = tokio::runtime::Handle::try_current().map_err(|_| TryCurrentError(()))?;
        Ok(Handle { inner: HandleInner::Real(handle) })
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match &self.inner {
            HandleInner::Real(handle) => JoinHandle::real(handle.spawn(future)),
            HandleInner::Model(handle) => JoinHandle::spawned(handle, future, Location::caller()),
        }
    }

    /// Starts a function that may block.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, function: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        match &self.inner {
            HandleInner::Real(handle) => JoinHandle::real(handle.spawn_blocking(function)),
            HandleInner::Model(handle) => {
                JoinHandle::blocking(handle, function, Location::caller())
            }
        }
    }

    /// Performs a future to its end.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        match &self.inner {
            HandleInner::Real(handle) => handle.block_on(future),
            HandleInner::Model(handle) => handle.block_on(future, Location::caller()),
        }
    }

    /// The current thread belongs to the runtime until the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        let model = self.model().map(|handle| enter_model(handle.clone()));
        EnterGuard { _real: self.real().map(|handle| handle.enter()), _model: model }
    }

    /// Which kind of runtime it is.
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        match &self.inner {
            HandleInner::Real(handle) => handle.runtime_flavor(),
            HandleInner::Model(handle) if handle.is_current_thread() => {
                RuntimeFlavor::CurrentThread
            }
            HandleInner::Model(_) => RuntimeFlavor::MultiThread,
        }
    }

    /// What the runtime counts.
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics { handle: self.clone() }
    }

    pub(crate) fn model(&self) -> Option<&ModelHandle> {
        match &self.inner {
            HandleInner::Model(handle) => Some(handle),
            HandleInner::Real(_) => None,
        }
    }

    pub(crate) fn real(&self) -> Option<&tokio::runtime::Handle> {
        match &self.inner {
            HandleInner::Real(handle) => Some(handle),
            HandleInner::Model(_) => None,
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Handle").finish_non_exhaustive()
    }
}

/// The current thread belongs to a runtime as long as this is there.
#[must_use = "the thread belongs to the runtime until the guard is dropped"]
pub struct EnterGuard<'a> {
    _real: Option<tokio::runtime::EnterGuard<'a>>,
    _model: Option<Entered>,
}

impl std::fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// There is no runtime.
#[derive(Debug)]
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Was there no runtime?
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Was the thread about to end?
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl std::fmt::Display for TryCurrentError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(NO_RUNTIME)
    }
}

impl std::error::Error for TryCurrentError {}

/// What a runtime counts. Under test, only the number of workers is known.
#[derive(Clone, Debug)]
pub struct RuntimeMetrics {
    handle: Handle,
}

impl RuntimeMetrics {
    /// The number of threads that perform tasks; 2 under test, unless it is a current-thread runtime.
    pub fn num_workers(&self) -> usize {
        match self.handle.real() {
            Some(handle) => handle.metrics().num_workers(),
            None if self.handle.runtime_flavor() == RuntimeFlavor::CurrentThread => 1,
            None => 2,
        }
    }

    /// The number of tasks that are not over; 0 under test, where it is not counted.
    pub fn num_alive_tasks(&self) -> usize {
        self.handle.real().map_or(0, |handle| handle.metrics().num_alive_tasks())
    }
}
