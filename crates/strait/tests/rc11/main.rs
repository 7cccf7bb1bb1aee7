//! RC11, the memory model of Rust's atomics without load buffering: the library beside the axioms.

mod agreement;
mod axioms;
mod cpp20;
mod enumerated;
mod interpreter;
mod library;
mod litmus;
mod mixed;
mod performed;
mod program;
mod published;
mod relation;
mod waiting;
