//! Schedules as text, and performing them again.
//!
//! A schedule is the position of each chosen action in the order of `enabled`: `0.2.1`, with
//! repeats written once, `0x5.2.1`. It says nothing about actions, so it can be pasted into a
//! report and replayed on the same system.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::system::System;

/// The choices of one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// For each step the position of the action in the order of `enabled`.
    pub positions: Vec<u32>,
}

/// Why a text is no schedule, or a schedule does not fit a system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Something that is neither a digit nor one of `.` and `x` between numbers.
    #[error("character {offset} of the schedule is {found:?}, expected {expected}")]
    Character {
        /// Counted from 0.
        offset: usize,
        /// What stands there.
        found: char,
        /// What could.
        expected: &'static str,
    },
    /// The text ends where a number should follow.
    #[error("the schedule ends after a separator, expected a number")]
    Unfinished,
    /// A number or a repetition is too large to be meant.
    #[error("the number at character {offset} of the schedule is too large")]
    Number {
        /// Counted from 0.
        offset: usize,
    },
    /// A position that no enabled action has.
    #[error(
        "step {step} of the schedule takes action {position}, but only {enabled} are enabled; \
             was it made for another version of the program?"
    )]
    Position {
        /// Counted from 0.
        step: usize,
        /// The position asked for, counted from 0.
        position: u32,
        /// How many there are.
        enabled: usize,
    },
    /// The schedule is over, the execution is not.
    #[error("the schedule ends after {steps} steps, but {enabled} actions are still enabled")]
    TooShort {
        /// The length of the schedule.
        steps: usize,
        /// How many actions could follow.
        enabled: usize,
    },
    /// The execution is over, the schedule is not.
    #[error("the execution ends after {steps} steps, but the schedule has {length}")]
    TooLong {
        /// The length of the execution.
        steps: usize,
        /// The length of the schedule.
        length: usize,
    },
    /// A trace has an action that cannot happen there.
    #[error("step {step} of the trace is not possible: {action}")]
    Impossible {
        /// Counted from 0.
        step: usize,
        /// The action, as `Debug` shows it.
        action: String,
    },
}

/// No execution that is written down is longer.
const MOST_REPEATS: usize = 1 << 24;

impl fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut dot = "";
        for repeats in self.positions.chunk_by(|a, b| a == b) {
            write!(formatter, "{dot}{}", repeats[0])?;
            if repeats.len() > 1 {
                write!(formatter, "x{}", repeats.len())?;
            }
            dot = ".";
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut positions = Vec::new();
        let mut reader = Reader { rest: text.char_indices().peekable() };
        while reader.rest.peek().is_some() {
            let (_, position) = reader.number()?;
            let repeats = if reader.takes('x') {
                let (offset, repeats) = reader.number()?;
                let room = MOST_REPEATS.saturating_sub(positions.len());
                let fits = usize::try_from(repeats).ok().filter(|&count| count <= room);
                fits.ok_or(ScheduleError::Number { offset })?
            } else {
                1
            };
            positions.resize(positions.len() + repeats, position);
            if reader.takes('.') {
                if reader.rest.peek().is_none() {
                    return Err(ScheduleError::Unfinished);
                }
            } else if let Some(&(offset, found)) = reader.rest.peek() {
                let expected = "a digit, `.` or `x`";
                return Err(ScheduleError::Character { offset, found, expected });
            }
        }
        Ok(Schedule { positions })
    }
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::CharIndices<'t>>,
}

impl Reader<'_> {
    fn takes(&mut self, wanted: char) -> bool {
        self.rest.next_if(|&(_, next)| next == wanted).is_some()
    }

    /// A number and where it begins.
    fn number(&mut self) -> Result<(usize, u32), ScheduleError> {
        let &(start, first) = self.rest.peek().ok_or(ScheduleError::Unfinished)?;
        if !first.is_ascii_digit() {
            let expected = "a digit";
            return Err(ScheduleError::Character { offset: start, found: first, expected });
        }
        let mut number: u32 = 0;
        while let Some((_, next)) = self.rest.next_if(|(_, next)| next.is_ascii_digit()) {
            let digit = next as u32 - '0' as u32;
            let larger = number.checked_mul(10).and_then(|number| number.checked_add(digit));
            number = larger.ok_or(ScheduleError::Number { offset: start })?;
        }
        Ok((start, number))
    }
}

/// An execution that was performed again.
#[derive(Clone, Debug)]
pub struct Replay<Outcome, Action> {
    /// Its actions.
    pub trace: Vec<Action>,
    /// What it gave.
    pub outcomes: Vec<Outcome>,
}

/// Performs a schedule from the start to the end of the execution.
pub fn replay<S: System>(
    system: &S,
    schedule: &Schedule,
) -> Result<Replay<S::Outcome, S::Action>, ScheduleError> {
    let mut run = system.start();
    let (mut enabled, mut trace) = (Vec::new(), Vec::new());
    system.enabled(&mut run, &mut enabled);
    for (step, &position) in schedule.positions.iter().enumerate() {
        if enabled.is_empty() {
            let length = schedule.positions.len();
            return Err(ScheduleError::TooLong { steps: step, length });
        }
        if position as usize >= enabled.len() {
            return Err(ScheduleError::Position { step, position, enabled: enabled.len() });
        }
        let action = enabled.swap_remove(position as usize);
        system.step(&mut run, &action);
        trace.push(action);
        system.enabled(&mut run, &mut enabled);
    }
    if !enabled.is_empty() {
        return Err(ScheduleError::TooShort { steps: trace.len(), enabled: enabled.len() });
    }
    let mut outcomes = Vec::new();
    system.outcomes(&mut run, &mut outcomes);
    Ok(Replay { trace, outcomes })
}

/// The schedule of a trace, which need not be complete.
pub fn schedule_of<S: System>(system: &S, trace: &[S::Action]) -> Result<Schedule, ScheduleError> {
    let mut positions = Vec::with_capacity(trace.len());
    follow(system, trace, |_, position, _| positions.push(position as u32))?;
    Ok(Schedule { positions })
}

/// Performs a trace, showing before each step what was enabled, the position that is taken and the
/// step. Gives the run after it.
pub(crate) fn follow<S: System>(
    system: &S,
    trace: &[S::Action],
    mut each: impl FnMut(&[S::Action], usize, usize),
) -> Result<S::Run, ScheduleError> {
    let mut run = system.start();
    let mut enabled = Vec::new();
    for (step, action) in trace.iter().enumerate() {
        system.enabled(&mut run, &mut enabled);
        let Some(position) = enabled.iter().position(|other| other == action) else {
            return Err(ScheduleError::Impossible { step, action: format!("{action:?}") });
        };
        each(&enabled, position, step);
        system.step(&mut run, action);
    }
    Ok(run)
}
