#![doc = include_str!("../README.md")]

mod analyse;
mod ast;
mod builtin;
mod compile;
mod constraint;
mod error;
mod lexer;
mod machine;
mod parser;
mod perform;
mod plan;
mod program;
mod scope;
mod search;
mod stream;
mod symbol;
mod term;
mod transfer;
mod tree;
mod unfold;

pub use compile::{compile, needs};
pub use error::{Error, Source};
pub use program::Program;
pub use search::{Acceptance, Sample, Searcher, Violation, Wish, everywhere, is_list};
pub use stream::Stream;
pub use symbol::{Functor, Functors};
pub use term::MAX_INTEGER;
pub use tree::Tree;
