//! What it takes to show a finding again, read from its directory.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use crate::directory;
use crate::error::Error;
use crate::model::Finding;

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
        let original = text(directory, "program.strait")?;
        let program = text(directory, REDUCED)?.or_else(|| original.clone());
        let (schedule, observation) =
            (json(directory, "schedule.json")?, json(directory, "observation.json")?);
        Ok(Replay { finding, program, original, schedule, observation })
    }
}

fn text(directory: &Path, name: &str) -> Result<Option<String>, Error> {
    let path = directory.join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(Error::NotAFinding { path, reason: "it is no text".into() })
        }
        Err(error) => Err(Error::file("read", &path)(error)),
    }
}

fn json(directory: &Path, name: &str) -> Result<Option<Value>, Error> {
    let Some(text) = text(directory, name)? else { return Ok(None) };
    let not_json = |error: serde_json::Error| Error::NotAFinding {
        path: directory.join(name),
        reason: error.to_string(),
    };
    serde_json::from_str(&text).map(Some).map_err(not_json)
}
