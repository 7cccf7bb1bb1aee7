//! Selects as they stand in the source, and how the runtime numbers their cases: sends first, then
//! receives from the last to the first. The default is no case to the runtime.

use serde::Deserialize;

/// A select statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Select {
    /// Its file.
    pub file: String,
    /// The line of the word `select`.
    pub line: u32,
    /// Its cases in the order of the source.
    pub cases: Vec<Case>,
}

/// A case of a select statement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Case {
    /// `send`, `receive` or `default`.
    pub kind: String,
    /// Its line.
    pub line: u32,
    /// The communication as it is written.
    pub text: String,
}

impl Select {
    /// The place in the source of a case that the runtime numbers so; `None` means the default.
    pub fn in_source(&self, chosen: Option<u16>) -> Option<usize> {
        let places = |kind: &'static str| {
            let cases = self.cases.iter().enumerate();
            cases.filter(move |(_, case)| case.kind == kind).map(|(place, _)| place)
        };
        let Some(chosen) = chosen.map(usize::from) else { return places("default").next() };
        let sends = places("send").count();
        let receives = places("receive").count();
        if chosen < sends {
            return places("send").nth(chosen);
        }
        places("receive").nth((sends + receives).checked_sub(chosen + 1)?)
    }
}

/// One a line; what cannot be read is left out.
pub(crate) fn parse(lines: &str) -> Vec<Select> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn the_runtime_counts_sends_first_and_receives_backwards() {
        let kinds = ["receive", "send", "default", "receive", "send"];
        let case = |kind: &&str| Case { kind: (*kind).to_owned(), line: 0, text: String::new() };
        let select =
            Select { file: String::new(), line: 1, cases: kinds.iter().map(case).collect() };
        let table = [(Some(0), 1), (Some(1), 4), (Some(2), 3), (Some(3), 0), (None, 2)];
        for (chosen, expected) in table {
            assert_eq!(select.in_source(chosen), Some(expected), "{chosen:?}");
        }
        assert_eq!(select.in_source(Some(4)), None);
    }
}
