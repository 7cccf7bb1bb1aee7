//! A library in the style of Haskell's `async`: computations that run concurrently, are waited for,
//! raced against each other, and cancelled.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::sync::Arc;

use strait::exception::{self, ThreadKilled};
use strait::mvar::MVar;
use strait::thread::{self, Thread};

/// A computation that runs.
pub struct Async<T> {
    thread: Thread,
    result: Arc<MVar<Option<T>>>,
}

impl<T: Clone + Send + 'static> Async<T> {
    /// Starts a computation. Between its start and its end it can be cancelled.
    pub fn start(compute: impl FnOnce() -> T + Send + 'static) -> Self {
        let result = Arc::new(MVar::empty());
        let theirs = result.clone();
        let handle = exception::uninterruptible_mask(|outer| {
            thread::spawn(move || {
                let value = exception::catch::<ThreadKilled, _>(|| outer.unmask(compute)).ok();
                theirs.put(value);
            })
        });
        Async { thread: handle.thread().clone(), result }
    }

    /// Waits for the result; `None` if it was cancelled.
    pub fn wait(&self) -> Option<T> {
        self.result.read()
    }

    /// Ends the computation if it still runs.
    pub fn cancel(&self) {
        exception::kill(&self.thread);
    }
}

fn main() {
    let program = || {
        let task = Async::start(|| 42);
        task.cancel();
        task.wait()
    };
    println!("{}", strait::outcomes(program));
}

#[cfg(test)]
mod tests {
    use super::Async;
    use std::sync::Arc;
    use strait::mvar::MVar;
    use strait::{Builder, gives, gives_only};

    #[test]
    fn a_result_is_waited_for() {
        strait::autocheck(|| (Async::start(|| 1).wait(), Async::start(|| 2).wait()));
    }

    #[test]
    fn a_cancelled_computation_gives_its_result_or_nothing() {
        let program = || {
            let task = Async::start(|| 42);
            task.cancel();
            task.wait()
        };
        let verdicts = Builder::new().test(program, &[gives_only([None, Some(42)])]);
        assert!(verdicts[0].holds(), "{}", verdicts[0]);
    }

    #[test]
    fn a_computation_that_waits_for_ever_can_be_cancelled() {
        let program = || {
            let never = Arc::new(MVar::<u8>::empty());
            let task = Async::start(move || never.take());
            task.cancel();
            task.wait()
        };
        assert!(Builder::new().test(program, &[gives([None])])[0].holds());
    }
}
