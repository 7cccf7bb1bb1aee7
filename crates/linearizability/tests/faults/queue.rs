//! A queue with a ring of slots; the faulty one gives two producers the same slot.

use strait::sync::Mutex;
use strait::sync::atomic::{AtomicUsize, Ordering};
use strait_linearizability::{Linearizability, Model, Object};

use crate::{is_right, is_wrong};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Operation {
    Put(u8),
    Take,
}

struct Queue<const CORRECT: bool> {
    slots: Mutex<[Option<u8>; 8]>,
    tail: AtomicUsize,
    head: Mutex<usize>,
}

impl<const CORRECT: bool> Object for Queue<CORRECT> {
    type Operation = Operation;
    type Output = Option<u8>;

    fn make() -> Self {
        Queue { slots: Mutex::new([None; 8]), tail: AtomicUsize::new(0), head: Mutex::new(0) }
    }

    fn perform(&self, operation: &Operation) -> Option<u8> {
        match operation {
            Operation::Put(value) => {
                if CORRECT {
                    let mut slots = self.slots.lock().expect("no thread panics");
                    let tail = self.tail.fetch_add(1, Ordering::AcqRel);
                    slots[tail] = Some(*value);
                } else {
                    let tail = self.tail.load(Ordering::Acquire);
                    self.slots.lock().expect("no thread panics")[tail] = Some(*value);
                    self.tail.store(tail + 1, Ordering::Release);
                }
                None
            }
            Operation::Take => {
                let mut head = self.head.lock().expect("no thread panics");
                let mut slots = self.slots.lock().expect("no thread panics");
                let value = slots[*head].take();
                *head += usize::from(value.is_some());
                value
            }
        }
    }
}

#[derive(Clone, Default)]
struct Sequence(std::collections::VecDeque<u8>);

impl<const CORRECT: bool> Model<Queue<CORRECT>> for Sequence {
    fn perform(&mut self, operation: &Operation) -> Option<u8> {
        match operation {
            Operation::Put(value) => {
                self.0.push_back(*value);
                None
            }
            Operation::Take => self.0.pop_front(),
        }
    }
}

fn operations() -> Linearizability<Operation> {
    let operations = [Operation::Put(1), Operation::Put(2), Operation::Take];
    Linearizability::new(operations).operations_per_thread(1).before(0).after(2)
}

#[test]
fn a_queue_that_gives_a_slot_twice_is_wrong() {
    is_wrong::<Queue<false>, Sequence>(&operations());
}

#[test]
fn a_queue_is_right() {
    is_right::<Queue<true>, Sequence>(&operations());
}
