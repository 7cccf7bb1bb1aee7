//! The check: all programs up to a size, each explored, each history explained.

use std::fmt;
use std::sync::Arc;

use strait::sync::atomic::{AtomicUsize, Ordering};
use strait::{Builder, thread};

use crate::history::{Event, History, is_explained};
use crate::program::{Program, Size, programs};
use crate::{Model, Object};

/// What to check: which operations, how many of them, and how to search.
#[derive(Clone, Debug)]
pub struct Linearizability<P> {
    operations: Vec<P>,
    size: Size,
    builder: Builder,
}

/// What was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The number of programs.
    pub programs: usize,
    /// The number of executions of all of them.
    pub executions: u64,
    /// Was every program searched exhaustively?
    pub is_exhaustive: bool,
}

/// A program that does something that no sequential order explains, or that fails in another way.
#[derive(Clone, Debug)]
pub struct Failure {
    program: String,
    failure: Box<strait::Failure>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the program\n{}{}", self.program, self.failure)
    }
}

impl std::error::Error for Failure {}

impl<P: Clone + fmt::Debug + Send + Sync + 'static> Linearizability<P> {
    /// Programs of two threads with up to two of these operations each, after up to one and before up to one.
    pub fn new(operations: impl Into<Vec<P>>) -> Self {
        let size = Size { before: 1, threads: 2, each: 2, after: 1 };
        Linearizability { operations: operations.into(), size, builder: Builder::new() }
    }

    /// So many threads.
    pub fn threads(mut self, threads: usize) -> Self {
        self.size.threads = threads.max(1);
        self
    }

    /// Up to so many operations in each thread.
    pub fn operations_per_thread(mut self, count: usize) -> Self {
        self.size.each = count.max(1);
        self
    }

    /// Up to so many operations before the threads start.
    pub fn before(mut self, count: usize) -> Self {
        self.size.before = count;
        self
    }

    /// Up to so many operations after all threads have ended.
    pub fn after(mut self, count: usize) -> Self {
        self.size.after = count;
        self
    }

    /// How to search each program.
    pub fn search(mut self, builder: Builder) -> Self {
        self.builder = builder;
        self
    }

    /// Checks an object against its model. Panics with a report otherwise.
    ///
    /// # Panics
    ///
    /// If there is a history that no sequential order explains.
    #[track_caller]
    pub fn check<O: Object<Operation = P>, M: Model<O>>(&self) -> Report {
        match self.try_check::<O, M>() {
            Ok(report) => report,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// As [`Linearizability::check`], with the failure as a value. Stops at the first program that fails; smaller
    /// programs come first.
    #[track_caller]
    pub fn try_check<O: Object<Operation = P>, M: Model<O>>(&self) -> Result<Report, Failure> {
        let mut report = Report { programs: 0, executions: 0, is_exhaustive: true };
        for program in programs(&self.operations, self.size) {
            let text = program.to_string();
            let program = Arc::new(program);
            let checked = self.builder.try_check(move || perform::<O, M>(&program));
            let outcomes = checked.map_err(|failure| Failure { program: text, failure })?;
            report.programs += 1;
            report.executions += outcomes.executions;
            report.is_exhaustive &= outcomes.is_exhaustive();
        }
        Ok(report)
    }
}

/// Performs a program under test and looks whether its history is explained.
fn perform<O: Object, M: Model<O>>(program: &Arc<Program<O::Operation>>) {
    let object = Arc::new(O::make());
    let threads = program.threads.len();
    let mut history: History<O> = Vec::with_capacity(threads + 2);
    let act = |operation: &O::Operation, returned: &[usize]| Event::<O> {
        operation: operation.clone(),
        output: object.perform(operation),
        returned: returned.to_vec(),
    };
    // The operations of the main thread are before or after all others.
    history.push(program.before.iter().map(|operation| act(operation, &[])).collect());
    // How many operations of each thread have returned. What has returned before an operation is called is
    // what happens before it; in other executions the count is an old one, and nothing is known.
    let counters = (0..threads).map(|_| AtomicUsize::new(0)).collect();
    let returned: Arc<Vec<AtomicUsize>> = Arc::new(counters);
    let started: Vec<_> = (0..threads)
        .map(|number| {
            let (program, object, returned) = (program.clone(), object.clone(), returned.clone());
            thread::spawn(move || perform_thread(&program, &*object, &returned, number))
        })
        .collect();
    for handle in started {
        match handle.join() {
            Ok(events) => history.push(events),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    let all: Vec<usize> = history.iter().map(Vec::len).collect();
    history.push(program.after.iter().map(|operation| act(operation, &all)).collect());
    assert!(
        is_explained::<O, M>(&history),
        "no sequential order of these operations gives these results: {history:?}"
    );
}

/// Performs the operations of one thread.
fn perform_thread<O: Object>(
    program: &Program<O::Operation>,
    object: &O,
    returned: &[AtomicUsize],
    number: usize,
) -> Vec<Event<O>> {
    let mut events = Vec::new();
    for operation in &program.threads[number] {
        // The main thread's operations come first; those of the thread itself are in its order anyway.
        let mut known = vec![program.before.len()];
        for (other, counter) in returned.iter().enumerate() {
            let count =
                if other == number { events.len() } else { counter.load(Ordering::Acquire) };
            known.push(count);
        }
        let output = object.perform(operation);
        events.push(Event { operation: operation.clone(), output, returned: known });
        returned[number].store(events.len(), Ordering::Release);
    }
    events
}
