//! A counter; the faulty one loads and stores.

use strait::sync::atomic::{AtomicU32, Ordering};
use strait_linearizability::{Linearizability, Model, Object};

use crate::{is_right, is_wrong};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Operation {
    Increment,
    Get,
}

struct Counter<const CORRECT: bool>(AtomicU32);

impl<const CORRECT: bool> Object for Counter<CORRECT> {
    type Operation = Operation;
    type Output = u32;

    fn make() -> Self {
        Counter(AtomicU32::new(0))
    }

    fn perform(&self, operation: &Operation) -> u32 {
        match operation {
            Operation::Get => self.0.load(Ordering::SeqCst),
            Operation::Increment if CORRECT => self.0.fetch_add(1, Ordering::SeqCst),
            Operation::Increment => {
                let before = self.0.load(Ordering::SeqCst);
                self.0.store(before + 1, Ordering::SeqCst);
                before
            }
        }
    }
}

#[derive(Clone, Default)]
struct Number(u32);

impl<const CORRECT: bool> Model<Counter<CORRECT>> for Number {
    fn perform(&mut self, operation: &Operation) -> u32 {
        let before = self.0;
        self.0 += u32::from(*operation == Operation::Increment);
        before
    }
}

fn operations() -> Linearizability<Operation> {
    Linearizability::new([Operation::Increment, Operation::Get]).before(0).after(1)
}

#[test]
fn a_counter_that_loses_updates_is_wrong() {
    is_wrong::<Counter<false>, Number>(&operations());
}

#[test]
fn a_counter_is_right() {
    is_right::<Counter<true>, Number>(&operations());
}
