#![doc = include_str!("../README.md")]

pub mod ast;
mod check;
mod diagnostic;
pub mod effect;
mod index;
pub mod lambda_chan;
mod lexer;
mod parser;
mod printer;
mod scope;
mod span;

pub use ast::Program;
pub use check::check;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use effect::{ChannelName, Effect, SelectEffect};
pub use index::{FuncId, Idx, IndexVec, ObjectId, Pc, ProcId, VarId};
pub use parser::{parse, parse_bytes, parse_unchecked};
pub use printer::{print, print_expression, print_statement, print_type};
pub use span::Span;
