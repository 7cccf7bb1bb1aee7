//! Tasks that one thread performs in turns: those of a `LocalSet` and of a current-thread runtime. They change
//! places only where they wait; which of those that can go on is next is part of the search.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strait::extend::{self, Gate, Object, ObjectId};

use crate::executor::{End, Task, caught, poll_once};
use crate::point::Place;

/// A task without the type of its output: its future tells the output by itself.
struct Member<F: ?Sized, A: ?Sized> {
    task: Arc<Task>,
    /// Taken away while it is polled, and for good when it is over.
    future: Option<Pin<Box<F>>>,
    /// Was it never polled?
    is_new: bool,
    /// Tells that it was aborted.
    abort: Box<A>,
}

/// The tasks of one thread.
pub(crate) struct Members<F: ?Sized, A: ?Sized> {
    /// Where tasks that others start arrive.
    arrivals: ObjectId,
    members: Mutex<Vec<Member<F, A>>>,
}

/// The gate of `arrivals`.
const ARRIVED: u8 = 1;

impl<F: Future<Output = ()> + ?Sized, A: FnOnce() + ?Sized> Members<F, A> {
    pub(crate) fn new(place: Place) -> Self {
        let arrivals = Object::new("tasks of a thread").number(place);
        Members { arrivals, members: Mutex::default() }
    }

    fn members(&self) -> MutexGuard<'_, Vec<Member<F, A>>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task. `abort` tells that it was aborted.
    pub(crate) fn add(&self, task: Arc<Task>, future: Pin<Box<F>>, abort: Box<A>, place: Place) {
        self.arrivals.step("spawn", place);
        self.members().push(Member { task, future: Some(future), is_new: true, abort });
        self.arrivals.set_gates(ARRIVED, 0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// The gates that the tasks wait for.
    pub(crate) fn gates(&self, gates: &mut Vec<Gate>) {
        gates.push(Gate { object: self.arrivals, bits: ARRIVED, write: true });
        for member in &*self.members() {
            let mut own = Vec::new();
            member.task.gates(&mut own);
            own.into_iter().for_each(|gate| join_gate(gates, gate));
        }
    }

    /// The tasks that can go on; to be called in a step that accesses all gates.
    fn ready(&self) -> Vec<Arc<Task>> {
        self.arrivals.set_gates(0, ARRIVED);
        let members = self.members();
        let ready = members.iter().filter(|member| member.is_new || member.task.is_ready());
        ready.map(|member| member.task.clone()).collect()
    }

    /// Looks which tasks can go on, beside others that can, and lets one of them. Says which: a task that was
    /// polled, or one of the others.
    pub(crate) fn turn(
        &self,
        others: &[Arc<Task>],
        waits: bool,
        idle: Option<Gate>,
        place: Place,
    ) -> Turn {
        let mut gates = Vec::from_iter(idle);
        self.gates(&mut gates);
        for other in others {
            let mut own = Vec::new();
            other.gates(&mut own);
            own.into_iter().for_each(|gate| join_gate(&mut gates, gate));
        }
        let at_once =
            !waits || others.iter().any(|other| other.has_yielded()) || self.has_yielded();
        if at_once {
            gates.iter_mut().for_each(|gate| gate.bits = 0);
        }
        extend::wait(&gates, "take turns", place);
        let mut ready: Vec<Arc<Task>> =
            others.iter().filter(|other| other.is_ready()).cloned().collect();
        let outside = ready.len();
        ready.extend(self.ready());
        if ready.is_empty() {
            return Turn::None;
        }
        let chosen = strait::choose(ready.len() as u32) as usize;
        let task = ready.swap_remove(chosen);
        task.take_yielded();
        task.goes_on();
        if chosen < outside {
            return Turn::Other;
        }
        self.poll(&task);
        Turn::Member
    }

    fn has_yielded(&self) -> bool {
        self.members().iter().any(|member| member.is_new || member.task.has_yielded())
    }

    fn poll(&self, task: &Arc<Task>) {
        let number = task.number;
        let future = {
            let mut members = self.members();
            let member = members.iter_mut().find(|member| member.task.number == number);
            member.and_then(|member| {
                member.is_new = false;
                member.future.take()
            })
        };
        let Some(mut future) = future else { return };
        if task.is_aborted() {
            drop(future);
            self.remove(number);
            return;
        }
        match poll_once(task, future.as_mut()) {
            Some(()) => {
                let mut members = self.members();
                members.retain(|member| member.task.number != number);
            }
            None => {
                let mut members = self.members();
                let member = members.iter_mut().find(|member| member.task.number == number);
                if let Some(member) = member {
                    member.future = Some(future);
                }
            }
        }
    }

    /// Ends a task that was aborted; its future is dropped already.
    fn remove(&self, number: u64) {
        let member = {
            let mut members = self.members();
            let index = members.iter().position(|member| member.task.number == number);
            index.map(|index| members.remove(index))
        };
        if let Some(member) = member {
            (member.abort)();
        }
    }

    /// Ends all tasks.
    pub(crate) fn clear(&self) {
        loop {
            let member = self.members().pop();
            let Some(Member { future, abort, .. }) = member else { return };
            drop(future);
            abort();
        }
    }
}

fn join_gate(gates: &mut Vec<Gate>, gate: Gate) {
    match gates.iter_mut().find(|other| other.object == gate.object) {
        Some(other) => {
            other.bits |= gate.bits;
            other.write |= gate.write;
        }
        None => gates.push(gate),
    }
}

/// Which task had its turn.
pub(crate) enum Turn {
    /// None can go on.
    None,
    /// One of the thread's tasks, which was polled.
    Member,
    /// Another one, which can be polled now.
    Other,
}

/// A future that performs another one and tells how it has ended.
pub(crate) async fn telling<F: Future>(
    task: Arc<Task>,
    future: F,
    ended: impl FnOnce(End<F::Output>),
) {
    let mut future = Box::pin(future);
    let end = std::future::poll_fn(|context| {
        let mut polled = None;
        let end = caught(|| {
            polled = Some(future.as_mut().poll(context));
            End::Value(())
        });
        match (polled, end) {
            (Some(std::task::Poll::Pending), _) => std::task::Poll::Pending,
            (Some(std::task::Poll::Ready(output)), _) => std::task::Poll::Ready(End::Value(output)),
            (None, End::Panic(panic, thread)) => std::task::Poll::Ready(End::Panic(panic, thread)),
            (None, _) => std::task::Poll::Pending,
        }
    })
    .await;
    drop(future);
    task.finish(end, ended);
}
