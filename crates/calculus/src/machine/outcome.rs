//! How an execution ended and what was seen in it.

use std::fmt;

use crate::explain::observation::{Event, Observation};
use crate::language::index::{FuncId, ProcId, VarId};
use crate::machine::local::Status;
use crate::machine::program::{Machine, State};
use crate::machine::tables::Tables;

/// How bad an ending is; the greater, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Every process finishes.
    Terminates,
    /// Nothing went wrong in what was seen, but not everything was seen. A verdict on a program, never
    /// on one execution.
    Unknown,
    /// It goes on forever.
    Diverges,
    /// A process is blocked forever although main has finished or others go on.
    Leak,
    /// Nothing moves and main has not finished.
    Deadlock,
    /// A process panics.
    Panic,
}

impl Verdict {
    /// The word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Terminates => "terminates",
            Verdict::Unknown => "unknown",
            Verdict::Diverges => "diverges",
            Verdict::Leak => "leak",
            Verdict::Deadlock => "deadlock",
            Verdict::Panic => "panic",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

/// One thing that a process saw, with the name of the variable that was bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sighting {
    /// What.
    pub event: Event,
    /// The variable.
    pub label: Option<String>,
}

impl fmt::Display for Sighting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.label.as_deref().unwrap_or("_");
        match self.event {
            Event::Received(seen) => write!(formatter, "{label}={seen}"),
            Event::Closed => write!(formatter, "{label}=closed"),
            Event::Chose(case) => write!(formatter, "#{case}"),
            Event::Defaulted => write!(formatter, "#default"),
            Event::TimedOut => write!(formatter, "#timeout"),
            Event::Observed(seen) => write!(formatter, "saw {seen}"),
        }
    }
}

/// What one process saw.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// Its place in the tree of processes: `main.1.2`.
    pub path: String,
    /// What people call it: the name given at its spawn, or the path.
    pub name: String,
    /// What it saw.
    pub sightings: Vec<Sighting>,
}

/// The end of one execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// Who panicked and why.
    pub panic: Option<(String, String)>,
    /// Who went beyond which limit: the search did not follow that process any further.
    pub limit: Option<(String, &'static str)>,
    /// What the processes saw; nothing in case of a panic, which may come at any moment of the
    /// others' lives.
    pub accounts: Vec<Account>,
}

impl Outcome {
    /// What was seen, without names of variables.
    pub fn observation(&self) -> Observation {
        let accounts = self.accounts.iter();
        let processes = accounts.map(|account| {
            let events = account.sightings.iter().map(|sighting| sighting.event).collect();
            (account.path.clone(), events)
        });
        let finished = self.verdict == Verdict::Terminates;
        Observation { processes: processes.collect(), finished }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:<10}", self.verdict)?;
        if let Some((name, message)) = &self.panic {
            return write!(formatter, "  {name}: {message}");
        }
        for (position, account) in self.accounts.iter().enumerate() {
            write!(formatter, "{}{}:", if position == 0 { "  " } else { " | " }, account.name)?;
            for sighting in &account.sightings {
                write!(formatter, " {sighting}")?;
            }
        }
        Ok(())
    }
}

impl Machine {
    /// The outcomes that a final state stands for: one, or one for each process that panicked.
    pub(crate) fn collect_outcomes(&self, state: &State, outcomes: &mut Vec<Outcome>) {
        let before = outcomes.len();
        self.collect_panics(state, outcomes);
        if outcomes.len() > before {
            return;
        }
        let cache = self.warm_cache(state);
        let tables = self.tables();
        let mut verdict = Verdict::Terminates;
        let mut limit = None;
        let goes_on = |status: &Status| matches!(status, Status::Spinning(_) | Status::Runaway(..));
        let others_go_on =
            state.processes().any(|(process, number)| goes_on(&cache.menu(process, number).status));
        for (process, number) in state.processes() {
            let found = match &cache.menu(process, number).status {
                Status::Done => Verdict::Terminates,
                Status::Waiting if process == ProcId(0) && !others_go_on => Verdict::Deadlock,
                Status::Waiting | Status::Refuted => Verdict::Leak,
                Status::Spinning(_) => Verdict::Diverges,
                Status::Runaway(what, _) => {
                    limit = Some((tables.name(process), *what));
                    Verdict::Diverges
                }
                Status::Panicked(..) => Verdict::Panic,
            };
            verdict = verdict.max(found);
        }
        let mut accounts: Vec<(Vec<u32>, Account)> = Vec::new();
        for (process, number) in state.processes() {
            let menu = cache.menu(process, number);
            if matches!(menu.status, Status::Spinning(_)) {
                // It goes on seeing things forever; where it was stopped means nothing.
                continue;
            }
            let sightings = self.sightings(&tables, menu.history);
            if !sightings.is_empty() {
                let (path, name) = (tables.path(process), tables.name(process));
                accounts.push((tables.path_numbers(process), Account { path, name, sightings }));
            }
        }
        accounts.sort_by(|a, b| a.0.cmp(&b.0));
        let accounts = accounts.into_iter().map(|(_, account)| account).collect();
        outcomes.push(Outcome { verdict, panic: None, limit, accounts });
    }

    /// An outcome for each process that has panicked.
    pub(crate) fn collect_panics(&self, state: &State, outcomes: &mut Vec<Outcome>) {
        let cache = self.warm_cache(state);
        for (process, number) in state.processes() {
            if let Status::Panicked(message, _) = &cache.menu(process, number).status {
                let panic = Some((self.tables().name(process), message.to_string()));
                let verdict = Verdict::Panic;
                outcomes.push(Outcome { verdict, panic, limit: None, accounts: vec![] });
            }
        }
    }

    fn sightings(&self, tables: &Tables, history: u32) -> Vec<Sighting> {
        if self.shared.recording.refutes() {
            return vec![];
        }
        let named = |label: Option<(FuncId, VarId)>| {
            label.map(|(function, var)| self.code().variable(function, var).to_string())
        };
        let events = tables.events(history).into_iter();
        events.map(|(event, label)| Sighting { event, label: named(label) }).collect()
    }
}
