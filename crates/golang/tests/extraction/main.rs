//! The extraction against programs whose behaviour is known: a corpus written by hand, and
//! generated programs that went out as Go and come back.

mod assumptions;
mod corpus;
#[path = "../support/published.rs"]
mod files;
mod helper;
mod mutants;
mod published;
mod refusals;
mod support;
