//! Tasks: futures that are performed by threads which wait for their wakers. The same code runs for
//! real, where each task has an operating system thread.

use std::future::Future;
use std::panic::{Location, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::rt::op::Place;
use crate::rt::thread as model;
use crate::thread;
use crate::waker::Task;

/// Performs a future to its end on this thread.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_at(future, Location::caller())
}

fn block_on_at<F: Future>(future: F, place: Place) -> F::Output {
    let mut future = pin!(future);
    let task = Task::new(place);
    let waker = task.waker();
    let mut context = Context::from_waker(&waker);
    loop {
        let before = task.before_poll();
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        task.wait(&before);
    }
}

/// Where a task leaves its output, and who waits for it.
struct Finish<T> {
    output: Option<thread::Result<T>>,
    waker: Option<Waker>,
}

/// A started task. It is a future of the task's output.
pub struct JoinHandle<T> {
    finish: Arc<crate::sync::Mutex<Finish<T>>>,
    thread: thread::JoinHandle<()>,
}

/// Starts a task.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let place = Location::caller();
    let finish = Arc::new(crate::sync::Mutex::new(Finish { output: None, waker: None }));
    let theirs = finish.clone();
    let thread = thread::spawn(move || {
        let output = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            block_on_at(future, place)
        }));
        if let Err(panic) = &output {
            model::note_panic(&**panic);
        }
        let waker = {
            let mut finish = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            finish.output = Some(output);
            finish.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    JoinHandle { finish, thread }
}

impl<T> JoinHandle<T> {
    /// Waits for the task without being a task.
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        let JoinHandle { finish, thread } = self;
        let number = thread.thread().number();
        thread.join()?;
        let mut finish = finish.lock().unwrap_or_else(PoisonError::into_inner);
        match finish.output.take() {
            Some(output) => {
                seen(&output, number);
                output
            }
            None => crate::rt::lock::gone(),
        }
    }
}

/// The panic of a task, if it is one, was seen.
fn seen<T>(output: &thread::Result<T>, number: Option<u32>) {
    if let (Err(_), Some(number)) = (output, number) {
        model::seen_panic(number);
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    /// A panic of the task goes on here.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut finish = self.finish.lock().unwrap_or_else(PoisonError::into_inner);
        match finish.output.take() {
            Some(Ok(output)) => Poll::Ready(output),
            Some(Err(panic)) => {
                drop(finish);
                seen(&Err::<T, _>(Box::new(())), self.thread.thread().number());
                resume_unwind(panic)
            }
            None => {
                finish.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// A future that is pending once: lets other tasks go first.
#[derive(Debug, Default)]
pub struct YieldNow {
    polled: bool,
}

/// Lets other tasks go first.
pub fn yield_now() -> YieldNow {
    YieldNow::default()
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.polled {
            return Poll::Ready(());
        }
        self.polled = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
