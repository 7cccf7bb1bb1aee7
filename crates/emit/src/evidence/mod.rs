//! What is read out of the words of others: goroutine dumps, thread dumps, stack overflows, and
//! whether a compiler refused a program or broke down over it.

mod compiler;

pub use compiler::{Complaint, complaint};
