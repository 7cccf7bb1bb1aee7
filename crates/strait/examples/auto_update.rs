//! Case study of Déjà Fu, Haskell 2015, section 6.1: a value that a worker computes at most once in a while.
//!
//! Two faults were found in the library by its users, and both are found here: the reader can wait
//! forever, and with a read that is a take and a put, an old value can be returned.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::sync::Arc;

use strait::cref::CRef;
use strait::mvar::MVar;
use strait::thread;

/// Whether reading an `MVar` is one step, or a take and a put as it once was.
#[derive(Clone, Copy)]
pub enum Reading {
    /// One step.
    Atomic,
    /// Two steps.
    TakeAndPut,
}

/// The reader's side: `currRef`, `needsRunning` and `lastValue` of Fig. 1.
pub struct AutoUpdate<T> {
    current: CRef<Option<T>>,
    needs_running: MVar<()>,
    last_value: MVar<T>,
    reading: Reading,
}

impl<T: Clone + Send + Sync + 'static> AutoUpdate<T> {
    /// Starts the worker (`mkAutoUpdate`).
    pub fn new(reading: Reading, update: impl Fn() -> T + Send + 'static) -> Arc<Self> {
        let auto = Arc::new(AutoUpdate {
            current: CRef::new(None),
            needs_running: MVar::empty(),
            last_value: MVar::empty(),
            reading,
        });
        let worker = auto.clone();
        thread::spawn(move || {
            loop {
                worker.needs_running.take();
                let value = update();
                worker.current.write(Some(value.clone()));
                worker.last_value.try_take();
                worker.last_value.put(value);
                thread::sleep(std::time::Duration::from_secs(1));
                worker.current.write(None);
                worker.last_value.take();
            }
        });
        auto
    }

    /// The value, computed now if there is none.
    pub fn get(&self) -> T {
        if let Some(value) = self.current.read() {
            return value;
        }
        // A caller may have asked already.
        let _ = self.needs_running.try_put(());
        match self.reading {
            Reading::Atomic => self.last_value.read(),
            Reading::TakeAndPut => {
                let value = self.last_value.take();
                self.last_value.put(value.clone());
                value
            }
        }
    }
}

/// The first test of the paper: make the worker, read once.
pub fn read_once() {
    AutoUpdate::new(Reading::Atomic, || ()).get();
}

/// The second test of the paper: count the updates, read twice.
pub fn read_twice() -> u32 {
    let counter = Arc::new(CRef::new(0));
    let theirs = counter.clone();
    let auto =
        AutoUpdate::new(Reading::TakeAndPut, move || theirs.modify(|count| (count + 1, *count)));
    auto.get();
    auto.get()
}

fn main() {
    println!("{}", strait::outcomes(read_once));
    println!("{}", strait::Builder::new().preemptions(3).outcomes(read_twice));
}

#[cfg(test)]
mod tests {
    use strait::{Builder, always_same, never_deadlocks, never_panics};

    #[test]
    fn the_reader_can_wait_for_ever() {
        let verdicts = Builder::new()
            .bounded()
            .test(super::read_once, &[never_deadlocks(), never_panics(), always_same()]);
        let holds: Vec<bool> = verdicts.iter().map(strait::Verdict::holds).collect();
        assert_eq!(holds, [false, true, false]);
        let failure = verdicts[0].failure.as_ref().expect("a deadlock");
        assert!(!failure.trace.compact.contains('P'), "no pre-emption is needed: {failure}");
    }

    #[test]
    fn three_preemptions_show_different_results() {
        let outcomes = Builder::new().preemptions(3).outcomes(super::read_twice);
        let mut values: Vec<u32> = outcomes.values().into_iter().copied().collect();
        values.sort_unstable();
        assert_eq!(values, [0, 1]);
    }
}
