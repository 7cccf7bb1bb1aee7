//! Treiber's stack: nodes by index, a head with a counter that makes each compare-and-swap fail that
//! has missed something. Without the counter it suffers from A-B-A (see the tests of the library).
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use strait::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const END: u32 = u32::MAX;

/// A stack of the numbers below its size.
pub struct Stack {
    /// The first node below, the counter above.
    head: AtomicU64,
    next: Vec<AtomicU32>,
}

fn pack(counter: u32, node: u32) -> u64 {
    u64::from(counter) << 32 | u64::from(node)
}

fn unpack(head: u64) -> (u32, u32) {
    ((head >> 32) as u32, head as u32)
}

impl Stack {
    /// An empty stack for numbers below `size`.
    pub fn new(size: u32) -> Self {
        let next = (0..size).map(|_| AtomicU32::new(END)).collect();
        Stack { head: AtomicU64::new(pack(0, END)), next }
    }

    /// Puts a number that is not in the stack on top.
    pub fn push(&self, node: u32) {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let (counter, first) = unpack(head);
            self.next[node as usize].store(first, Ordering::Release);
            let new = pack(counter.wrapping_add(1), node);
            match self.head.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes the number on top.
    pub fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let (counter, first) = unpack(head);
            if first == END {
                return None;
            }
            let next = self.next[first as usize].load(Ordering::Acquire);
            let new = pack(counter.wrapping_add(1), next);
            match self.head.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(first),
                Err(now) => head = now,
            }
        }
    }
}

fn main() {
    let stack = Stack::new(2);
    stack.push(0);
    stack.push(1);
    println!("{:?} {:?} {:?}", stack.pop(), stack.pop(), stack.pop());
}

#[cfg(test)]
mod tests {
    use super::Stack;
    use std::sync::Arc;
    use strait::{Builder, Model, thread};

    #[test]
    fn nothing_is_lost_or_doubled_where_aba_threatens() {
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            Builder::new().model(model).check(|| {
                let stack = Arc::new(Stack::new(2));
                stack.push(1);
                stack.push(0);
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
                let theirs = other.join().expect("no panics");
                let mut all: Vec<u32> = mine.into_iter().chain(theirs).collect();
                while let Some(node) = stack.pop() {
                    all.push(node);
                }
                all.sort_unstable();
                assert_eq!(all, [0, 1]);
            });
        }
    }
}
