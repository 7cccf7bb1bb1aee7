#![doc = include_str!("../README.md")]

mod campaign;
mod cases;
mod cases_summary;
mod corpus;
mod error;
mod expand;
mod expression;
mod family;
mod generate;
mod go;
mod judge;
mod print;
mod reduce;
mod statement;
mod summary;
mod template;
#[cfg(test)]
mod tests;
mod tools;
mod tree;
mod verifier;

pub use campaign::{Campaign, Finished, check_programs};
pub use cases::{Case, CaseResult, JudgedCase, Truth, check_cases};
pub use cases_summary::CasesSummary;
pub use corpus::{CorpusAnswer, CorpusFile, Expected, check_corpus, corpus_text, read_corpus};
pub use error::Error;
pub use family::Family;
pub use generate::{Options, program};
pub use judge::{Category, Judged};
pub use reduce::reduce;
pub use summary::Summary;
pub use tools::Tools;
pub use tree::Program;
