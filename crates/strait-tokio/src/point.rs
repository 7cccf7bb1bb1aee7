//! Steps at objects of tokio. An operation is one step at its object, in which tokio's own code does the work;
//! a future that tokio's code leaves pending holds a gate of the object, which the step that wakes it opens.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use strait::extend::{self, Object, ObjectId};

use crate::executor::Task;
use crate::registry;

/// A place in the source of the code under test.
pub(crate) type Place = &'static Location<'static>;

/// Where the operations of one channel, lock or the like meet.
#[derive(Debug)]
pub(crate) struct Point(Object);

impl Point {
    #[track_caller]
    pub(crate) fn new(kind: &'static str) -> Self {
        Point(Object::new(kind))
    }

    pub(crate) const fn new_static(kind: &'static str) -> Self {
        Point(Object::new_static(kind))
    }

    /// The object, if this is code under test.
    pub(crate) fn object(&self, place: Place) -> Option<ObjectId> {
        extend::under_test().then(|| self.0.number(place))
    }

    /// An operation that does not wait.
    pub(crate) fn operation<R>(
        &self,
        label: &'static str,
        place: Place,
        action: impl FnOnce() -> R,
    ) -> R {
        match self.object(place) {
            None => action(),
            Some(object) => {
                object.step(label, place);
                let result = action();
                call_wakers(place);
                result
            }
        }
    }

    /// An operation that changes nothing.
    pub(crate) fn look<R>(
        &self,
        label: &'static str,
        place: Place,
        action: impl FnOnce() -> R,
    ) -> R {
        if let Some(object) = self.object(place) {
            object.look(label, place);
        }
        action()
    }

    /// Drops something, which others notice only if it `matters`. If the current thread has just made a step at
    /// this object, the answer depends on the order of steps at the object alone, and what does not matter
    /// needs no step of its own.
    pub(crate) fn drop_if<R>(
        &self,
        label: &'static str,
        place: Place,
        dropped: R,
        matters: impl Fn(&R) -> bool,
    ) {
        let Some(object) = self.object(place) else { return drop(dropped) };
        if extend::is_in_step_at(object) && !matters(&dropped) {
            drop(dropped);
        } else {
            self.operation(label, place, || drop(dropped));
        }
    }

    /// An operation that may wait, performed by a future of tokio's.
    pub(crate) fn wait<F: Future>(
        &self,
        label: &'static str,
        place: Place,
        future: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let object = self.object(place);
        async move {
            match object {
                None => future.await,
                Some(object) => Leaf::new(Waiting::new(object, label, place), future).await,
            }
        }
    }
}

/// Handles are counted. To clone one is no step, so not every order of that is tried.
pub(crate) fn counts_handles() {
    extend::leaves_out("handles of a channel were counted, and to clone a handle is no step");
}

/// Calls the wakers that an operation has found and that are not those of tasks. They may do anything, so the
/// order in which they are called matters.
pub(crate) fn call_wakers(place: Place) {
    let wakers = registry::with(|registry| std::mem::take(&mut registry.to_wake));
    for waker in wakers {
        foreign_wakers().step("call a waker", place);
        waker.wake();
    }
}

/// Stands for all wakers that are not those of tasks.
pub(crate) fn foreign_wakers() -> ObjectId {
    extend::common_object(17, "wakers")
}

/// A future that waits at an object, or is about to.
pub(crate) struct Waiting {
    object: ObjectId,
    label: &'static str,
    place: Place,
    held: Option<Held>,
    /// Has tokio's future begun to wait without being polled?
    is_begun: bool,
}

/// What a pending future holds.
struct Held {
    waker: Arc<GateWaker>,
    /// The task that waits for the gate, if its own waker was given.
    task: Option<Arc<Task>>,
}

/// What a check says about futures with wakers of their own.
const FOREIGN: &str = "an operation is polled by a future that has wakers of its own, such as \
                       `FuturesUnordered`, inside of a task: strait-tokio cannot see in which order those \
                       are called; use `select!`, `join!` or a `JoinSet`";

/// Opens a gate, or calls a waker that is not that of a task.
struct GateWaker {
    execution: u64,
    object: ObjectId,
    gate: u8,
    foreign: Option<Waker>,
    /// Is the future still pending?
    waits: AtomicBool,
}

impl Wake for GateWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Called by tokio's code in a step that writes the object.
    fn wake_by_ref(self: &Arc<Self>) {
        if !self.waits.load(Ordering::Relaxed) || extend::execution() != Some(self.execution) {
            return;
        }
        match &self.foreign {
            Some(waker) => registry::with(|registry| registry.to_wake.push(waker.clone())),
            None => self.object.set_gates(self.gate, 0),
        }
    }
}

impl Waiting {
    pub(crate) fn new(object: ObjectId, label: &'static str, place: Place) -> Self {
        Waiting { object, label, place, held: None, is_begun: false }
    }

    /// Polls tokio's future in a step at the object.
    pub(crate) fn poll<R>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        let current = registry::current_task();
        // Before the step, by which others learn of it.
        let outer = context.waker().clone();
        let is_made = current.as_ref().is_some_and(|(task, _)| task.takes_step(self.object));
        let is_in_task = current.is_some();
        let task = current.filter(|(_, waker)| outer.will_wake(waker));
        if is_in_task && task.is_none() {
            // Which wakers were called, and in which order, is known to the future around this one alone.
            extend::fault(FOREIGN.to_owned());
        }
        if !is_made {
            self.object.step(self.label, self.place);
        }
        self.let_go();
        // If all gates are taken, the task is woken in a step of its own.
        let gate = registry::with(|registry| registry.take_gate(self.object));
        let task = task.filter(|_| gate.is_some());
        let waker = Arc::new(GateWaker {
            execution: extend::execution().unwrap_or(0),
            object: self.object,
            gate: gate.unwrap_or(0),
            foreign: task.is_none().then_some(outer),
            waits: AtomicBool::new(true),
        });
        let polled = poll(&mut Context::from_waker(&Waker::from(waker.clone())));
        self.held = Some(Held { waker, task: task.map(|(task, _)| task) });
        match polled {
            Poll::Ready(_) => {
                self.is_begun = false;
                self.let_go();
            }
            Poll::Pending => self.hold_on(),
        }
        call_wakers(self.place);
        polled
    }

    /// The task waits for the gate.
    fn hold_on(&self) {
        match &self.held {
            Some(Held { waker, task: Some(task) }) => {
                task.waits_at(self.object, waker.gate, self.label, self.place);
            }
            Some(Held { task: None, .. }) | None => {
                if let Some((task, _)) = registry::current_task() {
                    task.waits_elsewhere();
                }
            }
        }
    }

    /// Nothing waits for the gate any more. To be called in a step at the object.
    fn let_go(&mut self) {
        if let Some(Held { waker, task }) = self.held.take() {
            waker.waits.store(false, Ordering::Relaxed);
            self.object.set_gates(0, waker.gate);
            registry::with(|registry| registry.free_gate(self.object, waker.gate));
            if let Some(task) = task {
                task.waits_no_more(self.object, waker.gate);
            }
        }
    }

    /// Does something else with tokio's future, in a step.
    pub(crate) fn act<R>(&mut self, label: &'static str, act: impl FnOnce() -> R) -> R {
        self.object.step(label, self.place);
        let result = act();
        self.is_begun = true;
        call_wakers(self.place);
        result
    }

    /// Is tokio's future pending, or has it begun to wait without being polled?
    fn is_pending(&self) -> bool {
        self.held.is_some() || self.is_begun
    }

    /// Ends the wait, in a step, by an action that drops tokio's future.
    pub(crate) fn cancel(&mut self, label: &'static str, drop_future: impl FnOnce()) {
        if self.is_pending() && extend::under_test() {
            self.object.step(label, self.place);
            self.let_go();
            drop_future();
            call_wakers(self.place);
        } else {
            drop_future();
        }
    }
}

/// A future of tokio's, polled in steps.
pub(crate) struct Leaf<F: Future> {
    waiting: Waiting,
    /// On the heap, because tokio links waiting futures with each other, and the stack of a thread that is
    /// abandoned with its execution is used again.
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Leaf<F> {
    pub(crate) fn new(waiting: Waiting, future: F) -> Self {
        Leaf { waiting, future: Some(Box::pin(future)) }
    }
}

impl<F: Future> Future for Leaf<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Leaf { waiting, future } = &mut *self;
        match future {
            Some(future) => waiting.poll(context, |context| future.as_mut().poll(context)),
            None => Poll::Pending,
        }
    }
}

impl<F: Future> Drop for Leaf<F> {
    fn drop(&mut self) {
        let future = self.future.take();
        self.waiting.cancel("stop waiting", || drop(future));
    }
}

/// Tokio's part of a handle, which is dropped in a step.
#[derive(Debug)]
pub(crate) struct Real<R>(Option<R>);

impl<R> Real<R> {
    pub(crate) const fn new(real: R) -> Self {
        Real(Some(real))
    }

    /// Takes it away, to be dropped; it is not used again.
    pub(crate) fn take(&mut self) -> Option<R> {
        self.0.take()
    }
}

impl<R> std::ops::Deref for Real<R> {
    type Target = R;

    fn deref(&self) -> &R {
        match &self.0 {
            Some(real) => real,
            None => unreachable!("what is dropped is not used"),
        }
    }
}

impl<R> std::ops::DerefMut for Real<R> {
    fn deref_mut(&mut self) -> &mut R {
        match &mut self.0 {
            Some(real) => real,
            None => unreachable!("what is dropped is not used"),
        }
    }
}

/// An operation that is polled without a future of its own.
#[derive(Default)]
pub(crate) struct Polling(Option<Waiting>);

impl Polling {
    /// Polls in a step.
    pub(crate) fn poll<R>(
        &mut self,
        point: &Point,
        label: &'static str,
        context: &mut Context<'_>,
        place: Place,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        match point.object(place) {
            None => poll(context),
            Some(object) => {
                let waiting = self.0.get_or_insert_with(|| Waiting::new(object, label, place));
                waiting.poll(context, poll)
            }
        }
    }

    /// Ends the wait, in a step if there is one.
    pub(crate) fn cancel(&mut self) {
        if let Some(mut waiting) = self.0.take() {
            waiting.cancel("stop waiting", || {});
        }
    }
}

impl std::fmt::Debug for Polling {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Polling")
    }
}
