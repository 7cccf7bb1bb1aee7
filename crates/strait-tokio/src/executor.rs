//! Tasks under test: a future, the gates that it waits for, and the loop that polls it.
//!
//! A task is performed by a thread of the execution. When its future is pending, the thread waits for one of
//! the gates that the pending operations in it hold, or for the gate of the task itself, which is opened by
//! its waker and by `abort`. So a task becomes ready in the step that makes it so.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use strait::extend::{self, Gate, Object, ObjectId};

use crate::point::{Place, call_wakers, foreign_wakers};
use crate::registry;
use crate::runtime::{ModelHandle, enter_model};

/// The gate of a task's own object.
const WOKEN: u8 = 1;

/// A task of an execution.
pub(crate) struct Task {
    pub(crate) number: u64,
    execution: u64,
    object: ObjectId,
    /// Where the end of the task is a step.
    pub(crate) done: ObjectId,
    place: Place,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waits: Vec<Wait>,
    /// Does a future in the task wait for a waker that is not the task's?
    waits_elsewhere: bool,
    /// Has the thread just made the step by which the task went on?
    fresh: bool,
    yielded: bool,
    aborted: bool,
    finished: bool,
    /// Those who wait for its end.
    joiners: Vec<Waker>,
}

/// One gate that a task waits for.
#[derive(Clone, Copy)]
struct Wait {
    object: ObjectId,
    gate: u8,
    label: &'static str,
    place: Place,
    /// Was the gate open when the task last went on? Unless the operation is polled again after that, the
    /// task does not wait for it any more, as with a waker that was used.
    is_used: bool,
}

impl Task {
    /// A task of the current execution whose end is a step at an object.
    pub(crate) fn new(done: ObjectId, place: Place) -> Arc<Task> {
        let object = Object::new("task").number(place);
        Arc::new(Task {
            number: registry::with(|registry| registry.next_task()),
            execution: extend::execution().unwrap_or(0),
            object,
            done,
            place,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task waits for a gate.
    pub(crate) fn waits_at(&self, object: ObjectId, gate: u8, label: &'static str, place: Place) {
        self.state().waits.push(Wait { object, gate, label, place, is_used: false });
    }

    /// The task does not wait for a gate any more.
    pub(crate) fn waits_no_more(&self, object: ObjectId, gate: u8) {
        self.state().waits.retain(|wait| (wait.object, wait.gate) != (object, gate));
    }

    /// A future in the task waits for a waker that is not the task's.
    pub(crate) fn waits_elsewhere(&self) {
        self.state().waits_elsewhere = true;
    }

    /// The task wants to be polled again after others.
    pub(crate) fn yields(&self) {
        self.state().yielded = true;
    }

    /// Was the step by which the task went on one at this object, and is it not used up?
    pub(crate) fn takes_step(&self, object: ObjectId) -> bool {
        let is_fresh = std::mem::take(&mut self.state().fresh);
        is_fresh && extend::is_in_step_at(object)
    }

    /// Ends the task where it waits next.
    pub(crate) fn abort(&self, place: Place) {
        if extend::execution() == Some(self.execution) {
            self.object.step("abort", place);
            self.state().aborted = true;
            self.object.set_gates(WOKEN, 0);
        }
    }

    /// Is the task over? A step.
    pub(crate) fn is_finished(&self, place: Place) -> bool {
        self.done.look("is_finished", place);
        self.state().finished
    }

    /// The task is over. A step, in which its end is made known.
    pub(crate) fn finish<T>(&self, end: End<T>, ended: impl FnOnce(End<T>)) {
        self.done.step("end of task", self.place);
        ended(end);
        let joiners = {
            let mut state = self.state();
            state.finished = true;
            std::mem::take(&mut state.joiners)
        };
        joiners.into_iter().for_each(Waker::wake);
        call_wakers(self.place);
    }

    /// Is the task over? To be called in a step at its end.
    pub(crate) fn poll_finished(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.finished {
            return Poll::Ready(());
        }
        state.joiners.push(context.waker().clone());
        Poll::Pending
    }

    /// The gates that the task waits for, those of the first pending operation first.
    pub(crate) fn gates(&self, gates: &mut Vec<Gate>) -> Option<(&'static str, Place)> {
        let mut state = self.state();
        state.waits.retain(|wait| !wait.is_used);
        for wait in &state.waits {
            match gates.iter_mut().find(|gate| gate.object == wait.object) {
                Some(gate) => gate.bits |= wait.gate,
                None => {
                    let write = gates.is_empty();
                    gates.push(Gate { object: wait.object, bits: wait.gate, write });
                }
            }
        }
        gates.push(Gate { object: self.object, bits: WOKEN, write: true });
        if state.waits_elsewhere {
            gates.push(Gate { object: foreign_wakers(), bits: 0, write: true });
        }
        state.waits.first().map(|wait| (wait.label, wait.place))
    }

    /// The task has gone on, in a step that writes its object and accesses all that it waits for.
    pub(crate) fn goes_on(&self) {
        let mut state = self.state();
        for wait in &mut state.waits {
            wait.is_used = wait.object.gates() & wait.gate != 0;
        }
        state.fresh = true;
        state.waits_elsewhere = false;
        self.object.set_gates(0, WOKEN);
    }

    /// Is one of the gates open that the task waits for?
    pub(crate) fn is_ready(&self) -> bool {
        let state = self.state();
        let is_open = |wait: &Wait| !wait.is_used && wait.object.gates() & wait.gate != 0;
        self.object.gates() & WOKEN != 0 || state.yielded || state.waits.iter().any(is_open)
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.state().aborted
    }

    pub(crate) fn has_yielded(&self) -> bool {
        self.state().yielded
    }

    pub(crate) fn take_yielded(&self) -> bool {
        std::mem::take(&mut self.state().yielded)
    }

    /// Waits until the task can go on. If it has to stop instead, says so.
    pub(crate) fn wait(&self) -> Stops {
        let mut gates = Vec::new();
        let (label, place) = self.gates(&mut gates).unwrap_or(("wait for a waker", self.place));
        if self.take_yielded() {
            extend::yield_at(self.place);
            gates.iter_mut().for_each(|gate| gate.bits = 0);
        }
        extend::wait(&gates, label, place);
        self.goes_on();
        if self.is_aborted() { Stops::Yes } else { Stops::No }
    }
}

/// Does a task stop before its end?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stops {
    Yes,
    No,
}

/// The waker of a task.
struct TaskWaker(Arc<Task>);

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let task = &self.0;
        if extend::execution() == Some(task.execution) {
            task.object.step("wake", task.place);
            task.object.set_gates(WOKEN, 0);
        }
    }
}

/// A thread performs a task until this is dropped.
pub(crate) struct Performing {
    thread: u32,
    pub(crate) waker: Waker,
}

impl Performing {
    pub(crate) fn begin(task: &Arc<Task>) -> Performing {
        let (thread, waker) = (registry::thread(), Waker::from(Arc::new(TaskWaker(task.clone()))));
        registry::with(|registry| registry.begin(thread, task.clone(), waker.clone()));
        Performing { thread, waker }
    }
}

impl Drop for Performing {
    fn drop(&mut self) {
        if extend::under_test() {
            registry::with(|registry| registry.end(self.thread));
        }
    }
}

/// Performs a future to its end on the current thread, which is under test.
pub(crate) fn block_on<F: Future>(future: F, place: Place) -> F::Output {
    let task = Task::new(Object::new("end of task").number(place), place);
    let mut future = pin!(future);
    loop {
        if let Some(output) = poll_once(&task, future.as_mut()) {
            return output;
        }
        task.wait();
    }
}

/// Polls the future of a task.
pub(crate) fn poll_once<F: Future + ?Sized>(
    task: &Arc<Task>,
    future: Pin<&mut F>,
) -> Option<F::Output> {
    let performing = Performing::begin(task);
    match future.poll(&mut Context::from_waker(&performing.waker)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// How a task has ended.
pub(crate) enum End<T> {
    Value(T),
    Aborted,
    /// By a panic, in this thread.
    Panic(Box<dyn std::any::Any + Send>, u32),
}

/// Starts a thread that performs a task.
pub(crate) fn spawn<F>(
    task: Arc<Task>,
    runtime: ModelHandle,
    future: F,
    ended: impl FnOnce(End<F::Output>) + 'static,
) where
    F: Future + 'static,
{
    let place = task.place;
    let code = move || {
        let _entered = enter_model(runtime);
        let end = caught(|| perform(&task, future));
        task.finish(end, ended);
    };
    extend::spawn_here(None, code, place);
}

/// Starts a thread that performs a function which may block.
pub(crate) fn spawn_blocking<T: 'static>(
    task: Arc<Task>,
    runtime: ModelHandle,
    function: impl FnOnce() -> T + 'static,
    ended: impl FnOnce(End<T>) + 'static,
) {
    let place = task.place;
    crate::clock::blocks(1, place);
    let code = move || {
        let _entered = enter_model(runtime);
        let own = registry::thread();
        registry::with(|registry| registry.blocking_threads.insert(own));
        task.object.step("begin", place);
        let end = match task.is_aborted() {
            true => End::Aborted,
            false => caught(|| End::Value(function())),
        };
        task.finish(end, ended);
        crate::clock::blocks(-1, place);
    };
    extend::spawn_here(None, code, place);
}

/// Performs a task to its end. Its future is dropped before this returns.
fn perform<F: Future>(task: &Arc<Task>, future: F) -> End<F::Output> {
    task.object.step("begin", task.place);
    if task.is_aborted() {
        return End::Aborted;
    }
    // On the heap: what waits in it may be known to objects that outlive the execution.
    let mut future = Box::pin(future);
    loop {
        if let Some(output) = poll_once(task, future.as_mut()) {
            return End::Value(output);
        }
        if task.wait() == Stops::Yes {
            return End::Aborted;
        }
    }
}

/// Performs code; a panic of it is an end.
pub(crate) fn caught<T>(code: impl FnOnce() -> End<T>) -> End<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(end) => end,
        Err(panic) if extend::is_end_of_execution(&*panic) => resume_unwind(panic),
        Err(panic) => {
            let thread = extend::caught_panic(&*panic);
            End::Panic(panic, thread)
        }
    }
}
