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
    pub(crate) steps: Steps,
}

/// Which steps are made.
pub(crate) enum Steps {
    /// By their positions among those that are possible.
    Positions(Schedule),
    /// By the threads that make them, numbered in the order of their births, and the ways in which they
    /// are taken: what is known in a crash.
    Births(Vec<(u32, u32)>),
}

/// What a replay string begins with.
pub(crate) fn head(model: Model, features: Features) -> impl fmt::Display {
    struct Head(&'static str, u16);
    impl fmt::Display for Head {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "{}{}", self.0, self.1)
        }
    }
    let known = MODELS.iter().find(|(_, known)| *known == model);
    Head(known.map_or("", |entry| entry.0), features.number())
}

const MODELS: [(&str, Model); 4] =
    [("sc", Model::Sc), ("tso", Model::Tso), ("pso", Model::Pso), ("rc11-", Model::Rc11)];

impl fmt::Display for Script {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/", head(self.model, self.features))?;
        match &self.steps {
            Steps::Positions(schedule) => write!(formatter, "{schedule}"),
            Steps::Births(steps) => {
                let texts = steps.iter().map(|(birth, choice)| format!("{birth}:{choice}"));
                write!(formatter, "@{}", texts.collect::<Vec<_>>().join("."))
            }
        }
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let head = || ScriptError::Head(text.to_owned());
        let (first, schedule) = text.trim().split_once('/').ok_or_else(head)?;
        let known = MODELS.iter().find_map(|(name, model)| {
            let number = first.strip_prefix(name)?;
            Some((*model, Features::numbered(number.parse().ok()?)))
        });
        let (model, features) = known.ok_or_else(head)?;
        let steps = match schedule.strip_prefix('@') {
            Some(births) => Steps::Births(births_of(births).ok_or_else(head)?),
            None => Steps::Positions(schedule.parse()?),
        };
        Ok(Script { model, features, steps })
    }
}

/// `0.2:1.0` as steps of threads.
fn births_of(text: &str) -> Option<Vec<(u32, u32)>> {
    let step = |text: &str| {
        let (birth, choice) = text.split_once(':').unwrap_or((text, "0"));
        Some((birth.parse().ok()?, choice.parse().ok()?))
    };
    text.split('.').map(step).collect()
}
