//! The extraction against programs whose behaviour is known: a corpus written by hand, and
//! generated programs that went out as Go and come back.

mod corpus;
mod helper;
mod mutants;
mod refusals;
mod support;
