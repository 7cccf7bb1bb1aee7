//! What the helper answers, read and checked: its programs go through the parser and the checker
//! as the programs of users do.

use std::collections::BTreeMap;

use serde::Deserialize;
use strait_calculus::parse;

use super::{
    About, Approximation, Assumption, Entry, Extraction, GoPosition, LoopInfo, Operations,
    Positions,
};
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
    #[serde(default)]
    test: bool,
    /// The same with less data.
    #[serde(default)]
    coarse: Option<Box<AnsweredEntry>>,
    #[serde(default)]
    names: BTreeMap<String, String>,
}

/// A program that does nothing.
const NOTHING: &str = "main {\n}\n";

/// Reads the helper's answer.
pub(super) fn read(go: &Go, answer: &str) -> Result<Extraction, Error> {
    let answer: Answer = serde_json::from_str(answer)
        .map_err(|source| Error::Helper { what: format!("its answer is no JSON: {source}") })?;
    if !answer.error.is_empty() {
        let directory = go.directory().to_owned();
        return Err(Error::Packages { directory, said: answer.error });
    }
    let mut entries: Vec<Entry> = answer.entries.into_iter().map(entry).collect();
    // The helper works on several at once.
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Extraction { entries, warnings: answer.warnings, lines: answer.lines })
}

/// The entry of an answer. A program that the checker refuses is a fault of the helper, which must
/// not hide the other entries: such an entry is one that could not be followed. If it was cut off, what
/// had been learned of its messages may not have reached all of it, and that is no fault.
fn entry(mut answered: AnsweredEntry) -> Entry {
    let program = match parse(&answered.text) {
        Ok(program) => program,
        Err(diagnostics) => {
            if !answered.truncated {
                let refused = diagnostics.to_string();
                let first = refused.lines().next().unwrap_or_default();
                answered.assumptions.push(Assumption {
                    position: Some(answered.position.clone()),
                    about: About::Refused,
                    subject: format!("its program is refused: {first}"),
                    approximation: Approximation::Either,
                });
                answered.operations.exact = 0;
            }
            answered.truncated = true;
            answered.text = NOTHING.to_owned();
            answered.lines = vec![0; NOTHING.lines().count()];
            parse(NOTHING).expect("the program that does nothing is a program")
        }
    };
    let position_of =
        |line: &usize| line.checked_sub(1).and_then(|index| answered.positions.get(index)).cloned();
    let lines = answered.lines.iter().map(position_of).collect();
    let positions = Positions::new(&answered.text, lines);
    Entry {
        name: answered.name,
        position: answered.position,
        program,
        text: answered.text,
        positions,
        names: answered.names,
        assumptions: answered.assumptions,
        loops: answered.loops,
        migo: answered.migo,
        operations: answered.operations,
        truncated: answered.truncated,
        test: answered.test,
        coarse: answered.coarse.map(|coarse| Box::new(entry(*coarse))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_program_does_not_hide_the_other_entries() {
        let answered = |name: &str, text: &str| AnsweredEntry {
            name: name.to_owned(),
            position: GoPosition {
                file: "m.go".to_owned(),
                line: 3,
                column: 1,
                daemon: false,
                recovered: false,
                imprecise: false,
            },
            text: text.to_owned(),
            positions: Vec::new(),
            lines: vec![0; text.lines().count()],
            assumptions: Vec::new(),
            loops: Vec::new(),
            migo: String::new(),
            operations: Operations { reached: 2, exact: 2 },
            truncated: false,
            test: false,
            coarse: None,
            names: BTreeMap::new(),
        };
        let fine = entry(answered("m.Fine", "main {\n    mutex m\n    lock m\n}\n"));
        assert!(!fine.truncated && fine.assumptions.is_empty());
        let refused = entry(answered("m.Refused", "main {\n    lock m\n}\n"));
        assert!(refused.truncated);
        assert_eq!(refused.operations, Operations { reached: 2, exact: 0 });
        let said = refused.assumptions[0].text();
        assert!(said.contains("is refused: ") && said.contains("`m`"), "{said}");
        let mut cut_off = answered("m.CutOff", "main {\n    lock m\n}\n");
        cut_off.truncated = true;
        let cut_off = entry(cut_off);
        assert!(cut_off.truncated && cut_off.assumptions.is_empty());
    }
}
