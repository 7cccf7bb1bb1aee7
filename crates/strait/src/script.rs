//! The replay string: under which memory model, with which features, and which choices.
//!
//! `tso0/0x4.1` is total store order, no features, and a schedule as `strait-explore` writes it.

use std::fmt;
use std::str::FromStr;

use strait_explore::{Schedule, ScheduleError};

use crate::rt::features::Features;
use crate::rt::memory::Model;

/// Why a replay string cannot be performed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ScriptError {
    /// It does not begin with a memory model, a number and a slash.
    Head(String),
    /// What follows is no schedule, or does not fit the program.
    Schedule(ScheduleError),
    /// The execution gave nothing.
    Empty,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Head(text) => write!(
                formatter,
                "{text:?} is no replay string: it should look like `tso0/0x4.1`, as a failed check \
                 prints it"
            ),
            ScriptError::Schedule(error) => write!(formatter, "cannot replay: {error}"),
            ScriptError::Empty => write!(formatter, "cannot replay: the execution gave nothing"),
        }
    }
}

impl std::error::Error for ScriptError {}

impl From<ScheduleError> for ScriptError {
    fn from(error: ScheduleError) -> Self {
        ScriptError::Schedule(error)
    }
}

pub(crate) struct Script {
    pub(crate) model: Model,
    pub(crate) features: Features,
    pub(crate) schedule: Schedule,
}

const MODELS: [(&str, Model); 3] = [("sc", Model::Sc), ("tso", Model::Tso), ("pso", Model::Pso)];

impl fmt::Display for Script {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            MODELS.iter().find(|(_, model)| *model == self.model).map_or("", |entry| entry.0);
        write!(formatter, "{name}{}/{}", self.features.number(), self.schedule)
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let head = || ScriptError::Head(text.to_owned());
        let (first, schedule) = text.trim().split_once('/').ok_or_else(head)?;
        let known = MODELS.iter().find_map(|(name, model)| {
            let number = first.strip_prefix(name)?;
            Some((*model, Features::numbered(number.parse().ok()?)?))
        });
        let (model, features) = known.ok_or_else(head)?;
        Ok(Script { model, features, schedule: schedule.parse()? })
    }
}
