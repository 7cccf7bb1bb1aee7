//! Programs that run: the checked tree is compiled to code, the code becomes a system of states and
//! steps for the search, and what the search finds is told in the words of the program.

pub(crate) mod action;
pub(crate) mod code;
pub(crate) mod compact;
pub(crate) mod compile;
pub(crate) mod enabled;
pub(crate) mod flow;
pub(crate) mod guards;
pub(crate) mod inspect;
pub(crate) mod local;
pub(crate) mod menu;
pub(crate) mod moves;
pub(crate) mod narrate;
pub(crate) mod object;
pub(crate) mod outcome;
pub(crate) mod program;
pub(crate) mod reduction;
pub(crate) mod schedule;
pub(crate) mod system;
pub(crate) mod tables;
pub(crate) mod value;
