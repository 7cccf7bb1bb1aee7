//! The language: the tree, its text form, its types and effects. In: text, or a tree that was built.
//! Out: a checked tree, or diagnostics with places. Nothing here runs a program.

pub mod ast;
pub(crate) mod check;
pub(crate) mod diagnostic;
pub mod effect;
pub(crate) mod excerpt;
pub(crate) mod index;
pub mod lambda_chan;
pub(crate) mod lexer;
pub(crate) mod parser;
pub(crate) mod printer;
pub(crate) mod scope;
pub(crate) mod shape;
pub(crate) mod similar;
pub(crate) mod span;
