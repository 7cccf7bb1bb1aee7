#![doc = include_str!("../README.md")]

mod build;
mod error;
mod evidence;
mod language;
mod source;

pub use build::{Compilation, Compiled, Missing, Platform, Toolchain, UnknownPlatform, Workshop};
pub use error::{Error, Refusal};
pub use evidence::{
    Complaint, GoDump, Goroutine, JavaThread, JvmDump, complaint, go_dump, jvm_dump, stack_overflow,
};
pub use language::{Era, Language, UnknownLanguage};
pub use source::{
    Files, Messages, Processes, Standalone, batch, emit, emit_kotlin, functions, standalone,
    writable,
};
