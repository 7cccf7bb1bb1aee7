//! The generator: its rules, its programs, its mutants, and the engines on all of them.

mod diagrams;
mod effects_terminate;
mod engines;
mod evidence;
mod explained;
mod golden;
mod mutants;
mod programs;
mod rules;
mod support;
