//! Small programs over tokio's API with their exact sets of outcomes. The same text is compiled against tokio,
//! where it runs many times on several threads: what is seen there must be in the set.
#![allow(clippy::duplicate_mod, reason = "one text is compiled against both sides")]

mod controlled;
mod real;
mod table;
