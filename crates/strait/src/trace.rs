//! A trace that people can read.

use std::fmt;

use crate::rt::describe::short;
use crate::rt::log::Line;
use crate::rt::world::World;

/// One step of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceLine {
    /// The thread's name.
    pub thread: String,
    /// What it did: `load`, `lock`, `send`.
    pub action: String,
    /// What it did that to.
    pub object: Option<String>,
    /// What came of it.
    pub details: Vec<String>,
    /// File and line.
    pub place: String,
}

/// The steps of one execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// In the order in which they happened.
    pub lines: Vec<TraceLine>,
    /// The compact form: each block of steps of one thread begins with `P` if it pre-empts the
    /// thread before it and with `S` otherwise, names its thread and has one dash a step.
    pub compact: String,
    /// The schedule, to be performed again with [`crate::Builder::replay`].
    pub replay: String,
}

impl Trace {
    pub(crate) fn lines_of(world: &World) -> Vec<TraceLine> {
        let log = world.log.as_ref();
        let lines = log.map_or(&[][..], |log| &log.lines);
        lines.iter().map(|line| Trace::line_of(world, line)).collect()
    }

    pub(crate) fn line_of(world: &World, line: &Line) -> TraceLine {
        TraceLine {
            thread: world.describe_thread(line.thread),
            action: line.label.to_owned(),
            object: line.object.map(|object| world.describe_object(object)),
            details: line.details.iter().map(|detail| detail.text.clone()).collect(),
            place: short(line.place),
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: fn(&TraceLine) -> usize| self.lines.iter().map(text).max().unwrap_or(0);
        let threads = width(|line| line.thread.chars().count());
        let actions = width(|line| line.what().chars().count());
        for line in &self.lines {
            let what = line.what();
            let place = &line.place;
            writeln!(formatter, "    {:threads$}  {what:actions$}  {place}", line.thread)?;
        }
        Ok(())
    }
}

impl fmt::Display for TraceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}  {}  {}", self.thread, self.what(), self.place)
    }
}

impl TraceLine {
    fn what(&self) -> String {
        let mut what = self.action.clone();
        if let Some(object) = &self.object {
            what.push(' ');
            what.push_str(object);
        }
        if !self.details.is_empty() {
            what.push_str(": ");
            what.push_str(&self.details.join(", "));
        }
        what
    }
}
