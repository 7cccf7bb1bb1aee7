//! What is read out of the words of others: goroutine dumps, thread dumps, stack overflows, and
//! whether a compiler refused a program or broke down over it.

mod compiler;
mod goroutines;
mod jvm;

pub use compiler::{Complaint, complaint};
pub use goroutines::{GoDump, Goroutine, go_dump};
pub use jvm::{JavaThread, JvmDump, jvm_dump, stack_overflow};
