//! What the helper answers, read and checked: its programs go through the parser and the checker
//! like anybody's.

use serde::Deserialize;
use strait_calculus::parse;

use super::{Assumption, Entry, Extraction, GoPosition, LoopInfo, Operations, Positions};
use crate::error::Error;
use crate::go::Go;

#[derive(Deserialize)]
struct Answer {
    /// Said instead of everything else when the packages cannot be loaded.
    #[serde(default)]
    error: String,
    #[serde(default)]
    entries: Vec<AnsweredEntry>,
    #[serde(default)]
    warnings: Vec<Assumption>,
    #[serde(default)]
    lines: u64,
}

#[derive(Deserialize)]
struct AnsweredEntry {
    name: String,
    position: GoPosition,
    text: String,
    /// The positions that `lines` counts.
    positions: Vec<GoPosition>,
    /// For each line of the text: 0, or one more than the index of its position.
    lines: Vec<usize>,
    #[serde(default)]
    assumptions: Vec<Assumption>,
    #[serde(default)]
    loops: Vec<LoopInfo>,
    migo: String,
    operations: Operations,
    #[serde(default)]
    truncated: bool,
}

/// Reads the helper's answer.
pub(super) fn read(go: &Go, answer: &str) -> Result<Extraction, Error> {
    let answer: Answer = serde_json::from_str(answer)
        .map_err(|source| Error::Helper { what: format!("its answer is no JSON: {source}") })?;
    if !answer.error.is_empty() {
        let directory = go.directory().to_owned();
        return Err(Error::Packages { directory, said: answer.error });
    }
    let mut entries = answer.entries.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    // The helper works on several at once.
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Extraction { entries, warnings: answer.warnings, lines: answer.lines })
}

fn entry(answered: AnsweredEntry) -> Result<Entry, Error> {
    let program = parse(&answered.text).map_err(|diagnostics| Error::Helper {
        what: format!("its program for {} is refused: {diagnostics}", answered.name),
    })?;
    let position_of =
        |line: &usize| line.checked_sub(1).and_then(|index| answered.positions.get(index)).cloned();
    let lines = answered.lines.iter().map(position_of).collect();
    let positions = Positions::new(&answered.text, lines);
    Ok(Entry {
        name: answered.name,
        position: answered.position,
        program,
        text: answered.text,
        positions,
        assumptions: answered.assumptions,
        loops: answered.loops,
        migo: answered.migo,
        operations: answered.operations,
        truncated: answered.truncated,
    })
}
