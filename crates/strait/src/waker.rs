//! The waker of a task: wakes the thread that performs it, and notes when it was cloned, because a waker
//! that is kept where the library cannot see it makes a test worthless.
#![allow(unsafe_code, reason = "a waker that notes its clones is made of a table of functions")]

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::rt::op::Place;
use crate::rt::thread as model;
use crate::thread::{self, Thread};

/// Wakes the thread that performs a task.
pub(crate) struct Task {
    thread: Thread,
    /// Where the task is performed.
    place: Place,
    /// Was it woken? Under test the runtime knows.
    woken: AtomicBool,
    /// What its thread had done when the waker was last cloned there.
    cloned: AtomicU64,
    /// Was it polled without having been woken? That happens once at most, so that a search has an end.
    polled_spuriously: AtomicBool,
}

/// What a task has done before it is polled.
pub(crate) struct BeforePoll {
    wakers: usize,
}

const NEVER: u64 = u64::MAX;

const TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// SAFETY (all four): the pointer comes from `Arc::into_raw` of a task, and stands for one reference to it.
unsafe fn clone(task: *const ()) -> RawWaker {
    // SAFETY: the reference stays where it is.
    let kept = ManuallyDrop::new(unsafe { Arc::from_raw(task.cast::<Task>()) });
    kept.note_clone();
    let another = Arc::into_raw(Arc::clone(&kept));
    RawWaker::new(another.cast(), &TABLE)
}

unsafe fn wake(task: *const ()) {
    // SAFETY: the reference is used up.
    unsafe { Arc::from_raw(task.cast::<Task>()) }.wake();
}

unsafe fn wake_by_ref(task: *const ()) {
    // SAFETY: the reference stays where it is.
    ManuallyDrop::new(unsafe { Arc::from_raw(task.cast::<Task>()) }).wake();
}

unsafe fn drop_waker(task: *const ()) {
    // SAFETY: the reference is used up.
    drop(unsafe { Arc::from_raw(task.cast::<Task>()) });
}

impl Task {
    /// A task of the current thread.
    pub(crate) fn new(place: Place) -> Arc<Task> {
        Arc::new(Task {
            thread: thread::itself(),
            place,
            woken: AtomicBool::new(false),
            cloned: AtomicU64::new(NEVER),
            polled_spuriously: AtomicBool::new(false),
        })
    }

    pub(crate) fn waker(self: &Arc<Task>) -> Waker {
        let task = Arc::into_raw(Arc::clone(self));
        // SAFETY: the functions of the table do what those of a waker have to.
        unsafe { Waker::from_raw(RawWaker::new(task.cast(), &TABLE)) }
    }

    fn wake(&self) {
        if let Some(number) = self.thread.number() {
            model::wake_task(number, self.place);
        } else if !self.woken.swap(true, Ordering::SeqCst) {
            self.thread.unpark();
        }
    }

    fn note_clone(&self) {
        let own = self.thread.number();
        if let Some((thread, activity)) = model::activity()
            && own == Some(thread)
        {
            self.cloned.store(activity, Ordering::Relaxed);
        }
    }

    pub(crate) fn before_poll(self: &Arc<Task>) -> BeforePoll {
        self.cloned.store(NEVER, Ordering::Relaxed);
        BeforePoll { wakers: Arc::strong_count(self) }
    }

    /// Waits until the task is woken, after a poll that was pending; or does not wait, if the check asks
    /// for polls without a reason ([`crate::Builder::spurious_polls`]).
    ///
    /// The thread that is to wake the task has to learn of its waker, by a step that comes after the waker
    /// was cloned. If there was none, the waker is kept in something that is not controlled.
    pub(crate) fn wait(self: &Arc<Task>, before: &BeforePoll) {
        if self.thread.number().is_none() {
            while !self.woken.swap(false, Ordering::SeqCst) {
                thread::park();
            }
            return;
        }
        let given_away = Arc::strong_count(self) > before.wakers;
        let now = model::activity().map(|(_, activity)| activity);
        if given_away && now == Some(self.cloned.load(Ordering::Relaxed)) {
            model::note_uncontrolled_task(self.place);
        }
        let may_poll = !self.polled_spuriously.load(Ordering::Relaxed);
        if may_poll && model::polls_spuriously(self.place) {
            self.polled_spuriously.store(true, Ordering::Relaxed);
            return;
        }
        model::wait_for_waker(self.place);
    }
}
