//! Whole campaigns over small modules. One process, so that the standard library is compiled once.

mod bugs;
mod classes;
mod flaky;
mod no_alarms;
mod support;
