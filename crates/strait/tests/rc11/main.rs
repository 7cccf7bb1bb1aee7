//! RC11, the memory model of Rust's atomics without load buffering: the library beside the axioms.

mod agreement;
mod axioms;
mod enumerated;
mod interpreter;
mod program;
mod relation;
