//! A channel for one message, by the state machine of the crate `oneshot`, written anew: one atomic
//! state, the message in a cell, and the receiver parked until it comes.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::sync::Arc;

use strait::cell::UnsafeCell;
use strait::sync::atomic::{AtomicU8, Ordering};
use strait::thread::{self, Thread};

const EMPTY: u8 = 0;
const WAITING: u8 = 1;
const MESSAGE: u8 = 2;
const CLOSED: u8 = 3;

struct Channel<T> {
    state: AtomicU8,
    message: UnsafeCell<Option<T>>,
    waiter: UnsafeCell<Option<Thread>>,
}

// SAFETY: who may access which cell follows from the state, which is handed on by release and
// acquire: the receiver writes the waiter before it says WAITING, the sender the message before it
// says MESSAGE.
#[allow(unsafe_code, reason = "the cells are shared")]
unsafe impl<T: Send> Sync for Channel<T> {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "the cells are shared")]
unsafe impl<T: Send> Send for Channel<T> {}

/// Sends the message.
pub struct Sender<T>(Arc<Channel<T>>);
/// Receives the message.
pub struct Receiver<T>(Arc<Channel<T>>);

/// A channel for one message.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel {
        state: AtomicU8::new(EMPTY),
        message: UnsafeCell::new(None),
        waiter: UnsafeCell::new(None),
    });
    (Sender(channel.clone()), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends the message.
    #[allow(unsafe_code, reason = "the cells are shared")]
    pub fn send(self, message: T) {
        // SAFETY: the message is not read before the state says MESSAGE.
        self.0.message.with_mut(|place| unsafe { *place = Some(message) });
        self.finish(MESSAGE);
    }

    #[allow(unsafe_code, reason = "the cells are shared")]
    fn finish(&self, state: u8) {
        if self.0.state.swap(state, Ordering::AcqRel) == WAITING {
            // SAFETY: the receiver wrote the waiter before it said WAITING, and waits since.
            let waiter = self.0.waiter.with_mut(|place| unsafe { (*place).take() });
            if let Some(waiter) = waiter {
                waiter.unpark();
            }
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.0.state.load(Ordering::Relaxed) != MESSAGE {
            self.finish(CLOSED);
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for the message; `None` if the sender is gone without one.
    #[allow(unsafe_code, reason = "the cells are shared")]
    pub fn recv(self) -> Option<T> {
        let channel = &self.0;
        if channel.state.load(Ordering::Acquire) == EMPTY {
            // SAFETY: the waiter is not read before the state says WAITING.
            channel.waiter.with_mut(|place| unsafe { *place = Some(thread::current()) });
            let order = (Ordering::AcqRel, Ordering::Acquire);
            if channel.state.compare_exchange(EMPTY, WAITING, order.0, order.1).is_ok() {
                while channel.state.load(Ordering::Acquire) == WAITING {
                    thread::park();
                }
            }
        }
        // SAFETY: the state is MESSAGE or CLOSED, so the sender no longer accesses the message.
        channel.message.with_mut(|place| unsafe { (*place).take() })
    }
}

fn main() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || sender.send(42));
    println!("{:?}", receiver.recv());
    other.join().expect("no panics");
}

#[cfg(test)]
mod tests {
    use super::channel;
    use strait::{Builder, Model, thread};

    #[test]
    fn the_message_arrives_under_every_schedule() {
        for model in [Model::Tso, Model::Pso] {
            let outcomes = Builder::new().model(model).check(|| {
                let (sender, receiver) = channel();
                let other = thread::spawn(move || sender.send(42));
                let got = receiver.recv();
                other.join().expect("no panics");
                got
            });
            assert_eq!(outcomes.values(), [&Some(42)]);
        }
    }

    #[test]
    fn a_dropped_sender_is_noticed() {
        let outcomes = Builder::new().check(|| {
            let (sender, receiver) = channel::<u8>();
            let other = thread::spawn(move || drop(sender));
            let got = receiver.recv();
            other.join().expect("no panics");
            got
        });
        assert_eq!(outcomes.values(), [&None]);
    }
}
