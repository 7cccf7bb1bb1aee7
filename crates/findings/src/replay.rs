//! What it takes to show a finding again, read from its directory.

use std::path::Path;

use serde_json::Value;

use crate::directory;
use crate::error::Error;
use crate::model::Finding;
use crate::untrusted::read_text;

/// A finding with its program, schedule and observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// What was found.
    pub finding: Finding,
    /// The program as `.strait`: the reduced one, if there is one.
    pub program: Option<String>,
    /// The program as it was found.
    pub original: Option<String>,
    /// The schedule or order that shows it.
    pub schedule: Option<Value>,
    /// What was observed.
    pub observation: Option<Value>,
}

/// The name under which a reduced program is attached to its finding.
pub const REDUCED: &str = "reduced.strait";

impl Replay {
    /// Reads a finding's directory. It may have been moved or come from another machine.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let finding = directory::read(directory)?;
        let original = read_text(directory, "program.strait")?;
        let program = read_text(directory, REDUCED)?.or_else(|| original.clone());
        let (schedule, observation) =
            (json(directory, "schedule.json")?, json(directory, "observation.json")?);
        Ok(Replay { finding, program, original, schedule, observation })
    }
}

fn json(directory: &Path, name: &str) -> Result<Option<Value>, Error> {
    let Some(text) = read_text(directory, name)? else { return Ok(None) };
    let not_json = |error: serde_json::Error| Error::NotAFinding {
        path: directory.join(name),
        reason: error.to_string(),
    };
    serde_json::from_str(&text).map(Some).map_err(not_json)
}
