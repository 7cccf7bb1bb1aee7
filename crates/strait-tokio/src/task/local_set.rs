//! Tasks that stay on one thread.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use strait::extend::{self, Gate};

use super::JoinHandle;
use crate::executor::{End, Task};
use crate::local::{Members, Turn, telling};
use crate::point::Place;
use crate::registry;
use crate::runtime::Runtime;

/// The tasks of a local set under test.
pub(crate) type LocalMembers = Members<dyn Future<Output = ()>, dyn FnOnce()>;

/// A set of tasks that one thread performs in turns.
pub struct LocalSet(Inner);

enum Inner {
    Real(tokio::task::LocalSet),
    Model(ModelSet),
}

struct ModelSet {
    members: Rc<LocalMembers>,
    /// The task that performs the set, and the gates that it waits for on behalf of the set.
    performer: Mutex<Option<(Arc<Task>, Vec<Gate>)>>,
    place: Place,
}

/// Starts a task on the current local set.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    if !extend::under_test() {
        return JoinHandle::real(tokio::task::spawn_local(future));
    }
    let place = Location::caller();
    let (handle, task, ended) = JoinHandle::model(place);
    start_local(task, future, ended, place);
    handle
}

/// Starts a task under test on the current local set.
#[track_caller]
pub(crate) fn start_local<F: Future + 'static>(
    task: Arc<Task>,
    future: F,
    ended: impl FnOnce(End<F::Output>) + 'static,
    place: Place,
) {
    let thread = registry::thread();
    let members = registry::with(|registry| registry.local_sets.get(&thread)?.last().cloned());
    match members {
        Some(members) => add(&members, task, future, ended, place),
        None => panic!(
            "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`"
        ),
    }
}

fn add<F: Future + 'static>(
    members: &LocalMembers,
    task: Arc<Task>,
    future: F,
    ended: impl FnOnce(End<F::Output>) + 'static,
    place: Place,
) {
    let ended = Rc::new(Mutex::new(Some(ended)));
    let theirs = ended.clone();
    let take =
        |ended: &Mutex<Option<_>>| ended.lock().unwrap_or_else(PoisonError::into_inner).take();
    let tell = move |end| {
        if let Some(ended) = take(&theirs) {
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

impl LocalSet {
    /// An empty set.
    #[track_caller]
    pub fn new() -> LocalSet {
        LocalSet(match extend::under_test() {
            false => Inner::Real(tokio::task::LocalSet::new()),
            true => {
                let place = Location::caller();
                let members = Rc::new(Members::new(place));
                Inner::Model(ModelSet { members, performer: Mutex::default(), place })
            }
        })
    }

    /// Starts a task on this set.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        match &self.0 {
            Inner::Real(set) => JoinHandle::real(set.spawn_local(future)),
            Inner::Model(set) => {
                let place = Location::caller();
                let (handle, task, ended) = JoinHandle::model(place);
                add(&set.members, task, future, ended, place);
                handle
            }
        }
    }

    pub(crate) fn start<F: Future + 'static>(
        &self,
        task: Arc<Task>,
        future: F,
        ended: impl FnOnce(End<F::Output>) + 'static,
        place: Place,
    ) {
        match &self.0 {
            Inner::Model(set) => add(&set.members, task, future, ended, place),
            Inner::Real(_) => panic!("{}", super::join_set::MIXED),
        }
    }

    pub(crate) fn real_spawn<F: Future + 'static>(
        &self,
        set: &mut tokio::task::JoinSet<F::Output>,
        future: F,
    ) -> tokio::task::AbortHandle {
        match &self.0 {
            Inner::Real(local) => set.spawn_local_on(future, local),
            Inner::Model(_) => panic!("{}", super::join_set::MIXED),
        }
    }

    /// Performs a future on a runtime, and the tasks of the set with it.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.run_until(future))
    }

    /// Performs a future, and the tasks of the set with it.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        match &self.0 {
            Inner::Real(set) => set.run_until(future).await,
            Inner::Model(set) => {
                let mut future = pin!(future);
                let until = |context: &mut Context<'_>| {
                    let _entered = enter(&set.members);
                    if let Poll::Ready(output) = future.as_mut().poll(context) {
                        return Poll::Ready(output);
                    }
                    // Before its tasks are performed: what they do may wake the future.
                    let polled = set.poll(context);
                    let _ = polled;
                    Poll::Pending
                };
                let output = std::future::poll_fn(until).await;
                set.stop_waiting();
                output
            }
        }
    }

    /// Tasks that are started by the current thread belong to the set until the guard is dropped.
    pub fn enter(&self) -> LocalEnterGuard {
        match &self.0 {
            Inner::Real(set) => LocalEnterGuard { _real: Some(set.enter()), _model: None },
            Inner::Model(set) => LocalEnterGuard { _real: None, _model: Some(enter(&set.members)) },
        }
    }
}

impl ModelSet {
    /// Performs tasks as long as one can go on.
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        self.stop_waiting();
        let performer = registry::current_task();
        let performer = performer.filter(|(_, waker)| context.waker().will_wake(waker));
        let Some((performer, _)) = performer else {
            extend::fault(NESTED.to_owned());
            return Poll::Pending;
        };
        loop {
            if self.members.is_empty() {
                return Poll::Ready(());
            }
            match self.members.turn(&[], false, None, self.place) {
                Turn::None => break,
                Turn::Member | Turn::Other => {}
            }
        }
        let mut gates = Vec::new();
        self.members.gates(&mut gates);
        for gate in &gates {
            performer.waits_at(gate.object, gate.bits, "local set", self.place);
        }
        let mut waits = self.performer.lock().unwrap_or_else(PoisonError::into_inner);
        *waits = Some((performer, gates));
        Poll::Pending
    }

    /// The task that performs the set does not wait on its behalf any more.
    fn stop_waiting(&self) {
        let waits = self.performer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((performer, gates)) = waits {
            for gate in gates {
                performer.waits_no_more(gate.object, gate.bits);
            }
        }
    }
}

const NESTED: &str = "a `LocalSet` is polled by a future that has wakers of its own, such as \
                      `FuturesUnordered`, which strait-tokio does not support";

/// The current thread starts local tasks on a set until this is dropped.
struct Entered(u32);

fn enter(members: &Rc<LocalMembers>) -> Entered {
    let thread = registry::thread();
    registry::with(|registry| {
        registry.local_sets.entry(thread).or_default().push(members.clone());
    });
    Entered(thread)
}

impl Drop for Entered {
    fn drop(&mut self) {
        if extend::under_test() {
            let left =
                registry::with(|registry| registry.local_sets.get_mut(&self.0).and_then(Vec::pop));
            drop(left);
        }
    }
}

impl Future for LocalSet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Inner::Real(set) => Pin::new(set).poll(context),
            Inner::Model(set) => {
                let _entered = enter(&set.members);
                set.poll(context)
            }
        }
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        if let Inner::Model(set) = &self.0
            && extend::under_test()
        {
            set.stop_waiting();
            set.members.clear();
        }
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        LocalSet::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LocalSet").finish_non_exhaustive()
    }
}

/// The current thread starts local tasks on a set as long as this is there.
pub struct LocalEnterGuard {
    _real: Option<tokio::task::LocalEnterGuard>,
    _model: Option<Entered>,
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LocalEnterGuard").finish_non_exhaustive()
    }
}
