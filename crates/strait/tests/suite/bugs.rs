//! Classical faults: each is found, replayed from its string, and shown by a simplified trace.

use std::sync::Arc;
use std::time::Duration;

use strait::cell::UnsafeCell;
use strait::stm::{self, TVar, atomically};
use strait::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use strait::sync::{Condvar, Mutex};
use strait::{Builder, Failure, Outcome, thread};

/// Looks for a fault, replays it from its string, and gives the report.
fn found<T: strait::Value>(
    builder: Builder,
    program: impl Fn() -> T + Send + Sync + Clone + 'static,
    is_it: impl Fn(&Outcome<T>) -> bool,
) -> Failure {
    let failure = match builder.try_check(program.clone()) {
        Ok(outcomes) => panic!("no fault found: {outcomes}"),
        Err(failure) => *failure,
    };
    let (outcome, trace) = builder.replay(&failure.trace.replay, program).expect("it replays");
    assert!(is_it(&outcome), "replayed: {outcome}");
    assert_eq!(trace.lines, failure.trace.lines);
    assert_eq!(trace.compact, failure.trace.compact);
    let text = failure.to_string();
    assert!(text.contains("STRAIT_REPLAY='"), "{text}");
    failure
}

fn preemptions(failure: &Failure) -> usize {
    failure.trace.compact.matches('P').count()
}

fn dine(philosophers: usize) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..philosophers).map(|_| Mutex::new(())).collect());
    let sit = |seat: usize| {
        let forks = forks.clone();
        let eat = move || {
            let _left = forks[seat].lock().unwrap();
            let _right = forks[(seat + 1) % forks.len()].lock().unwrap();
        };
        thread::Builder::new().name(format!("philosopher {seat}")).spawn(eat).unwrap()
    };
    let all: Vec<_> = (0..philosophers).map(sit).collect();
    all.into_iter().for_each(|philosopher| philosopher.join().unwrap());
}

#[test]
fn eight_philosophers_deadlock() {
    let failure = found(Builder::new(), || dine(8), Outcome::is_deadlock);
    assert!(failure.message.contains("philosopher 7 waits for: lock Mutex@bugs.rs"), "{failure}");
    // Each has to be left once with one fork in hand, but for the last.
    assert_eq!(failure.trace.lines.len(), 8, "{failure}");
}

#[test]
fn a_notification_can_be_lost() {
    let program = || {
        let shared = Arc::new((Mutex::new(()), AtomicBool::new(false), Condvar::new()));
        let theirs = shared.clone();
        let waiter = thread::spawn(move || {
            let guard = theirs.0.lock().unwrap();
            // The flag is not protected by the lock: it can be set between the test and the wait.
            if !theirs.1.load(Ordering::SeqCst) {
                drop(theirs.2.wait(guard).unwrap());
            }
        });
        shared.1.store(true, Ordering::SeqCst);
        shared.2.notify_one();
        waiter.join().unwrap();
    };
    let failure = found(Builder::new(), program, Outcome::is_deadlock);
    assert!(failure.message.contains("waits for: a notification"), "{failure}");
    assert!(failure.message.contains("main waits for: another thread to end"), "{failure}");
    assert!(preemptions(&failure) <= 1, "{failure}");
}

/// A stack as a linked list of indices, with a head that is changed by compare-and-swap and no
/// protection against A-B-A.
struct Stack {
    head: AtomicUsize,
    next: [AtomicUsize; 4],
}

const END: usize = usize::MAX;

impl Stack {
    fn push(&self, node: usize) {
        loop {
            let head = self.head.load(Ordering::SeqCst);
            self.next[node].store(head, Ordering::SeqCst);
            let swap = self.head.compare_exchange(head, node, Ordering::SeqCst, Ordering::SeqCst);
            if swap.is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Ordering::SeqCst);
            if head == END {
                return None;
            }
            let next = self.next[head].load(Ordering::SeqCst);
            let swap = self.head.compare_exchange(head, next, Ordering::SeqCst, Ordering::SeqCst);
            if swap.is_ok() {
                return Some(head);
            }
        }
    }
}

#[test]
fn a_stack_without_counters_loses_nodes_to_aba() {
    let program = || {
        let next = [
            AtomicUsize::new(1),
            AtomicUsize::new(END),
            AtomicUsize::new(END),
            AtomicUsize::new(END),
        ];
        let stack = Arc::new(Stack { head: AtomicUsize::new(0), next });
        let theirs = stack.clone();
        let other = thread::spawn(move || {
            let first = theirs.pop();
            let second = theirs.pop();
            if let Some(node) = first {
                theirs.push(node);
            }
            second
        });
        let mine = stack.pop();
        let theirs = other.join().unwrap();
        assert!(mine.is_none() || mine != theirs, "both popped {mine:?}");
        let left = stack.pop();
        assert!(left.is_none() || left != theirs, "{left:?} was popped and is still there");
    };
    let failure = found(Builder::new(), program, Outcome::is_panic);
    assert!(failure.message.contains("still there") || failure.message.contains("both popped"));
    assert!(preemptions(&failure) <= 2, "{failure}");
}

#[test]
fn an_invariant_over_two_transactions_is_missed() {
    let program = || {
        let (from, to) = (TVar::new(1), TVar::new(0));
        let (theirs_from, theirs_to) = (from.clone(), to.clone());
        let mover = thread::spawn(move || {
            // One transaction each, where it should be one for both.
            atomically(|transaction| transaction.modify(&theirs_from, |amount: i32| amount - 1));
            atomically(|transaction| transaction.modify(&theirs_to, |amount: i32| amount + 1));
        });
        let sum = atomically(|transaction| Ok(transaction.read(&from)? + transaction.read(&to)?));
        assert_eq!(sum, 1, "money is neither made nor lost");
        mover.join().unwrap();
    };
    let failure = found(Builder::new(), program, Outcome::is_panic);
    assert!(failure.message.contains("money is neither made nor lost"), "{failure}");
}

#[test]
fn one_transaction_keeps_the_invariant() {
    strait::check(|| {
        let (from, to) = (TVar::new(1), TVar::new(0));
        let (theirs_from, theirs_to) = (from.clone(), to.clone());
        let mover = thread::spawn(move || {
            atomically(|transaction| {
                let amount = transaction.read(&theirs_from)?;
                stm::check(amount > 0)?;
                transaction.write(&theirs_from, amount - 1)?;
                transaction.modify(&theirs_to, |amount: i32| amount + 1)
            });
        });
        let sum = atomically(|transaction| Ok(transaction.read(&from)? + transaction.read(&to)?));
        assert_eq!(sum, 1);
        mover.join().unwrap();
    });
}

struct Racy {
    ready: AtomicBool,
    data: UnsafeCell<u32>,
}

// SAFETY: this is what the test is about; under test the accesses are checked.
#[allow(unsafe_code, reason = "code with a data race needs unsafe to be written at all")]
unsafe impl Sync for Racy {}

#[allow(unsafe_code, reason = "code with a data race needs unsafe to be written at all")]
fn publish(store: Ordering, load: Ordering) -> u32 {
    let racy = Arc::new(Racy { ready: AtomicBool::new(false), data: UnsafeCell::new(0) });
    let theirs = racy.clone();
    let writer = thread::spawn(move || {
        // SAFETY: not given if `store` does not release.
        theirs.data.with_mut(|data| unsafe { *data = 42 });
        theirs.ready.store(true, store);
    });
    let mut seen = 0;
    if racy.ready.load(load) {
        // SAFETY: not given if `load` does not acquire.
        seen = racy.data.with(|data| unsafe { *data });
    }
    writer.join().unwrap();
    seen
}

#[test]
fn a_flag_that_does_not_release_is_a_data_race() {
    for (store, load) in
        [(Ordering::Relaxed, Ordering::Acquire), (Ordering::Release, Ordering::Relaxed)]
    {
        let failure = found(
            Builder::new(),
            move || publish(store, load),
            |outcome| matches!(outcome, Outcome::Fault(_)),
        );
        assert!(failure.message.contains("data race on UnsafeCell@bugs.rs"), "{failure}");
    }
    let outcomes = strait::check(|| publish(Ordering::Release, Ordering::Acquire));
    assert_eq!(outcomes.values().len(), 2);
}

#[test]
fn a_cycle_of_arcs_is_a_leak() {
    use strait::sync::Arc as Counted;
    struct Node(Mutex<Option<Counted<Node>>>);
    let failure = Builder::new().try_check(|| {
        let node = Counted::new(Node(Mutex::new(None)));
        *node.0.lock().unwrap() = Some(node.clone());
    });
    assert!(
        failure.expect_err("it leaks").message.contains("1 Arcs or allocations were never dropped")
    );
    strait::check(|| {
        let node = Counted::new(Mutex::new(0));
        let theirs = node.clone();
        thread::spawn(move || *theirs.lock().unwrap() += 1).join().unwrap();
        assert_eq!(*node.lock().unwrap(), 1);
    });
}

#[test]
fn a_wait_with_a_timeout_goes_on_without_a_notification() {
    let outcomes = strait::check(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = shared.clone();
        let setter = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        });
        let guard = shared.0.lock().unwrap();
        let (guard, over) = shared.1.wait_timeout(guard, Duration::from_millis(1)).unwrap();
        let seen = (*guard, over.timed_out());
        drop(guard);
        setter.join().unwrap();
        seen
    });
    let mut values: Vec<_> = outcomes.values().into_iter().copied().collect();
    values.sort_unstable();
    assert_eq!(values, [(false, true), (true, false), (true, true)]);
}
