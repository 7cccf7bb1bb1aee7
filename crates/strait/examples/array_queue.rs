//! A bounded queue for many producers and consumers, by D. Vyukov's algorithm as published in
//! crossbeam-queue's `ArrayQueue`, written anew: each slot has a stamp that says whose turn it is.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use strait::cell::UnsafeCell;
use strait::sync::atomic::{AtomicUsize, Ordering};

struct Slot<T> {
    /// The position of the push that may fill the slot, or one more once it is filled.
    stamp: AtomicUsize,
    value: UnsafeCell<Option<T>>,
}

/// A bounded queue.
pub struct ArrayQueue<T> {
    slots: Vec<Slot<T>>,
    head: AtomicUsize,
    tail: AtomicUsize,
}

// SAFETY: a slot is accessed only by the thread whose turn it is; stamps hand it on by release and
// acquire.
#[allow(unsafe_code, reason = "the slots are shared cells")]
unsafe impl<T: Send> Sync for ArrayQueue<T> {}
// SAFETY: the queue owns its values.
#[allow(unsafe_code, reason = "the slots are shared cells")]
unsafe impl<T: Send> Send for ArrayQueue<T> {}

impl<T> ArrayQueue<T> {
    /// A queue for so many values, at least 2.
    pub fn new(capacity: usize) -> Self {
        let slot = |index| Slot { stamp: AtomicUsize::new(index), value: UnsafeCell::new(None) };
        ArrayQueue {
            slots: (0..capacity.max(2)).map(slot).collect(),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    /// Appends a value, or gives it back if the queue is full.
    #[allow(unsafe_code, reason = "the slots are shared cells")]
    pub fn push(&self, value: T) -> Result<(), T> {
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            let slot = &self.slots[tail % self.slots.len()];
            let stamp = slot.stamp.load(Ordering::Acquire);
            if stamp == tail {
                let order = (Ordering::SeqCst, Ordering::Relaxed);
                match self.tail.compare_exchange(tail, tail + 1, order.0, order.1) {
                    Ok(_) => {
                        // SAFETY: the stamp says that the slot is empty, the exchange that it is ours.
                        slot.value.with_mut(|place| unsafe { *place = Some(value) });
                        slot.stamp.store(tail + 1, Ordering::Release);
                        return Ok(());
                    }
                    Err(now) => tail = now,
                }
            } else if stamp < tail {
                return Err(value);
            } else {
                tail = self.tail.load(Ordering::Relaxed);
            }
        }
    }

    /// Takes the oldest value.
    #[allow(unsafe_code, reason = "the slots are shared cells")]
    pub fn pop(&self) -> Option<T> {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let slot = &self.slots[head % self.slots.len()];
            let stamp = slot.stamp.load(Ordering::Acquire);
            if stamp == head + 1 {
                let order = (Ordering::SeqCst, Ordering::Relaxed);
                match self.head.compare_exchange(head, head + 1, order.0, order.1) {
                    Ok(_) => {
                        // SAFETY: the stamp says that the slot is full, the exchange that it is ours.
                        let value = slot.value.with_mut(|place| unsafe { (*place).take() });
                        slot.stamp.store(head + self.slots.len(), Ordering::Release);
                        return value;
                    }
                    Err(now) => head = now,
                }
            } else if stamp <= head {
                return None;
            } else {
                head = self.head.load(Ordering::Relaxed);
            }
        }
    }
}

fn main() {
    let queue = ArrayQueue::new(2);
    println!("{:?} {:?} {:?}", queue.push(1), queue.push(2), queue.push(3));
    println!("{:?} {:?} {:?}", queue.pop(), queue.pop(), queue.pop());
}

#[cfg(test)]
mod tests {
    use super::ArrayQueue;
    use std::sync::Arc;
    use strait::{Builder, Model, thread};

    #[test]
    fn values_come_out_once_and_in_order() {
        for model in [Model::Tso, Model::Pso] {
            Builder::new().model(model).check(|| {
                let queue = Arc::new(ArrayQueue::new(2));
                let theirs = queue.clone();
                let producer = thread::spawn(move || {
                    theirs.push(1).expect("there is room");
                    theirs.push(2).expect("there is room");
                });
                let mut seen: Vec<i32> = queue.pop().into_iter().collect();
                producer.join().expect("no panics");
                while let Some(value) = queue.pop() {
                    seen.push(value);
                }
                assert_eq!(seen, [1, 2]);
            });
        }
    }

    #[test]
    fn two_consumers_never_get_the_same() {
        Builder::new().check(|| {
            let queue = Arc::new(ArrayQueue::new(2));
            queue.push(1).expect("there is room");
            let theirs = queue.clone();
            let other = thread::spawn(move || theirs.pop());
            let mine = queue.pop();
            let theirs = other.join().expect("no panics");
            assert_eq!(mine.into_iter().chain(theirs).collect::<Vec<i32>>(), [1]);
        });
    }
}
