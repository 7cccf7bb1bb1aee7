//! A stack of two places; the faulty one takes its top without looking whether it is still the top.

use strait::sync::Mutex;
use strait::sync::atomic::{AtomicUsize, Ordering};
use strait_linearizability::{Linearizability, Model, Object};

use crate::{is_right, is_wrong};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Operation {
    Push(u8),
    Pop,
}

/// The values, and how many there are: a pair that must change together.
struct Stack<const CORRECT: bool> {
    values: Mutex<Vec<u8>>,
    height: AtomicUsize,
}

impl<const CORRECT: bool> Object for Stack<CORRECT> {
    type Operation = Operation;
    type Output = Option<u8>;

    fn make() -> Self {
        Stack { values: Mutex::new(Vec::new()), height: AtomicUsize::new(0) }
    }

    fn perform(&self, operation: &Operation) -> Option<u8> {
        match operation {
            Operation::Push(value) => {
                let mut values = self.values.lock().expect("no thread panics");
                values.push(*value);
                self.height.store(values.len(), Ordering::Release);
                None
            }
            Operation::Pop if CORRECT => {
                let mut values = self.values.lock().expect("no thread panics");
                let value = values.pop();
                self.height.store(values.len(), Ordering::Release);
                value
            }
            Operation::Pop => {
                // Looks at the height outside of the lock, and takes what stands there.
                let height = self.height.load(Ordering::Acquire).checked_sub(1)?;
                let mut values = self.values.lock().expect("no thread panics");
                let value = values.get(height).copied();
                values.truncate(height);
                self.height.store(values.len(), Ordering::Release);
                value
            }
        }
    }
}

#[derive(Clone, Default)]
struct Sequence(Vec<u8>);

impl<const CORRECT: bool> Model<Stack<CORRECT>> for Sequence {
    fn perform(&mut self, operation: &Operation) -> Option<u8> {
        match operation {
            Operation::Push(value) => {
                self.0.push(*value);
                None
            }
            Operation::Pop => self.0.pop(),
        }
    }
}

fn operations() -> Linearizability<Operation> {
    let operations = [Operation::Push(1), Operation::Push(2), Operation::Pop];
    Linearizability::new(operations).operations_per_thread(1).before(1).after(1)
}

#[test]
fn a_stack_that_takes_an_old_top_is_wrong() {
    is_wrong::<Stack<false>, Sequence>(&operations());
}

#[test]
fn a_stack_is_right() {
    is_right::<Stack<true>, Sequence>(&operations());
}
