//! The compact form of a trace (Déjà Fu, Haskell 2015, section 6.1): `S0---P1-S2--`. Each block of steps of
//! one thread begins with `P` if it pre-empts the thread before it and with `S` otherwise, names
//! its thread and has one dash a step.

use std::fmt::Write;

use crate::bounds::preempts;
use crate::replay::{ScheduleError, follow};
use crate::system::System;

/// The compact form of a trace from the start.
pub fn compact<S: System>(system: &S, trace: &[S::Action]) -> Result<String, ScheduleError> {
    let mut text = String::new();
    let mut last = None;
    follow(system, trace, |enabled, position, _| {
        let action = &enabled[position];
        let thread = system.thread(action);
        if last != Some(thread) {
            let head = if preempts(system, last, enabled, action) { 'P' } else { 'S' };
            // Writing into a string cannot fail.
            let _ = write!(text, "{head}{}", thread.0);
        }
        text.push('-');
        last = Some(thread);
    })?;
    Ok(text)
}
