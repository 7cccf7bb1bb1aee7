//! Case study of Déjà Fu, Haskell 2015, section 6.3: a scheduler for deterministic parallelism. Values are
//! written once ([`IVar`]); two workers take tasks from their own deque or steal from the other.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::collections::VecDeque;
use std::sync::Arc;

use strait::sync::{Condvar, Mutex};
use strait::thread;

type Task = Box<dyn FnOnce(&Arc<Scheduler>, usize) + Send>;

/// A variable that is written once; reading waits for that.
pub struct IVar<T>(Arc<(Mutex<Option<T>>, Condvar)>);

impl<T> Clone for IVar<T> {
    fn clone(&self) -> Self {
        IVar(self.0.clone())
    }
}

impl<T: Clone> IVar<T> {
    fn new() -> Self {
        IVar(Arc::new((Mutex::new(None), Condvar::new())))
    }

    fn put(&self, value: T) {
        let mut slot = self.0.0.lock().expect("no panics");
        assert!(slot.is_none(), "an IVar is written once");
        *slot = Some(value);
        self.0.1.notify_all();
    }

    /// Waits for the value.
    pub fn get(&self) -> T {
        let slot = self.0.0.lock().expect("no panics");
        let slot = self.0.1.wait_while(slot, |slot| slot.is_none()).expect("no panics");
        slot.clone().expect("it was waited for")
    }
}

/// Two deques of tasks.
pub struct Scheduler {
    pools: [Mutex<VecDeque<Task>>; 2],
}

impl Scheduler {
    fn next(&self, worker: usize) -> Option<Task> {
        let own = self.pools[worker].lock().expect("no panics").pop_back();
        own.or_else(|| self.pools[1 - worker].lock().expect("no panics").pop_front())
    }

    /// Schedules a computation; gives the variable that its value will be in.
    pub fn fork<T: Clone + Send + 'static>(
        self: &Arc<Self>,
        worker: usize,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> IVar<T> {
        let result = IVar::new();
        let theirs = result.clone();
        let task: Task = Box::new(move |_, _| theirs.put(compute()));
        self.pools[worker].lock().expect("no panics").push_back(task);
        result
    }
}

/// Maps a function over a list in parallel.
pub fn par_map(items: &[u32], map: fn(u32) -> u32) -> Vec<u32> {
    let pools = [Mutex::new(VecDeque::new()), Mutex::new(VecDeque::new())];
    let scheduler = Arc::new(Scheduler { pools });
    let results: Vec<IVar<u32>> =
        items.iter().map(|&item| scheduler.fork(0, move || map(item))).collect();
    let start = |worker: usize| {
        let scheduler = scheduler.clone();
        thread::spawn(move || {
            while let Some(task) = scheduler.next(worker) {
                task(&scheduler, worker);
            }
        })
    };
    let workers: Vec<_> = (0..2).map(start).collect();
    let values = results.iter().map(IVar::get).collect();
    workers.into_iter().for_each(|worker| worker.join().expect("no panics"));
    values
}

fn main() {
    println!("{}", strait::outcomes(|| par_map(&[1, 2], |item| item * 10)));
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_result_does_not_depend_on_the_schedule() {
        strait::autocheck(|| super::par_map(&[1, 2], |item| item * 10));
    }
}
