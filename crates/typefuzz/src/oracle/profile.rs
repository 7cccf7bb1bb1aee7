//! What an oracle is, whatever a user calls it: the tool, and the parts of it that its flags choose.
//! Known classes of differences and the grouping of findings go by this.

use crate::oracle::Rejection;

/// What an oracle is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    tool: String,
    /// For rustc: the trait solver.
    solver: Option<&'static str>,
    /// For rustc: the borrow checker.
    borrows: Option<&'static str>,
    edition: Option<String>,
}

/// The part of a checker that a rejection comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Types and traits.
    Types,
    /// Moves, borrows and lifetimes.
    Borrows,
}

impl Profile {
    /// A tool without parts that matter.
    pub(crate) fn of(tool: &str) -> Self {
        Profile { tool: tool.to_owned(), solver: None, borrows: None, edition: None }
    }

    /// rustc with these flags.
    pub(crate) fn rustc(flags: &[String]) -> Self {
        let value = |name: &str| {
            let mut values = flags.iter().filter_map(|flag| flag.strip_prefix(name));
            values.next().map(|value| value.trim_start_matches('='))
        };
        let solver = match value("-Znext-solver") {
            None | Some("no" | "coherence") => "old-solver",
            Some(_) => "next-solver",
        };
        let borrows = match value("-Zpolonius") {
            None | Some("off") => "nll",
            Some("legacy") => "polonius-legacy",
            Some(_) => "polonius-next",
        };
        let edition = value("--edition").map(str::to_owned);
        Profile { solver: Some(solver), borrows: Some(borrows), edition, ..Profile::of("rustc") }
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What stands around names and types in its messages.
    pub(crate) fn quote(&self) -> char {
        match self.tool.as_str() {
            "tsc" | "tsgo" => '\'',
            "mypy" | "pyright" => '"',
            _ => '`',
        }
    }

    /// Does a word of `known.toml` describe it?
    pub(crate) fn is(&self, word: &str) -> bool {
        let parts = [Some(self.tool.as_str()), self.solver, self.borrows];
        let edition = self.edition.as_ref().map(|edition| format!("edition-{edition}"));
        word == "*"
            || parts.into_iter().flatten().any(|part| part == word)
            || edition.is_some_and(|edition| edition == word)
            || word == "polonius" && self.borrows.is_some_and(|part| part.starts_with(word))
    }

    /// The part that a rejection comes from.
    pub(crate) fn side(&self, stage: Stage) -> &str {
        let part = match stage {
            Stage::Types => self.solver,
            Stage::Borrows => self.borrows,
        };
        part.unwrap_or(&self.tool)
    }
}

/// Codes of moves, borrows and lifetimes.
const BORROWS: [&str; 24] = [
    "E0373", "E0381", "E0382", "E0384", "E0499", "E0501", "E0502", "E0503", "E0505", "E0506",
    "E0507", "E0508", "E0509", "E0510", "E0515", "E0520", "E0521", "E0594", "E0596", "E0597",
    "E0621", "E0712", "E0713", "E0716",
];
/// The same without a code, by how rustc begins what it says.
const BORROW_MESSAGES: [&str; 2] = ["lifetime may not live long enough", "borrowed data escapes"];

impl Rejection {
    /// The part of a compiler that it comes from.
    pub fn stage(&self) -> Stage {
        let is_borrow = match self.codes.as_slice() {
            [] => BORROW_MESSAGES.iter().any(|beginning| self.message.starts_with(beginning)),
            codes => codes.iter().all(|code| BORROWS.contains(&code.as_str())),
        };
        if is_borrow { Stage::Borrows } else { Stage::Types }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_what_an_oracle_is() {
        let table: [(&[&str], &[&str], &[&str]); 5] = [
            (&[], &["rustc", "old-solver", "nll", "*"], &["next-solver", "polonius"]),
            (&["-Znext-solver=globally"], &["next-solver", "nll"], &["old-solver"]),
            (&["-Znext-solver=no"], &["old-solver"], &["next-solver"]),
            (&["-Zpolonius=next"], &["polonius", "polonius-next"], &["nll", "polonius-legacy"]),
            (&["-Zpolonius=legacy", "--edition=2024"], &["polonius", "edition-2024"], &["2024"]),
        ];
        for (flags, is, is_not) in table {
            let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
            let profile = Profile::rustc(&flags);
            assert!(is.iter().all(|word| profile.is(word)), "{flags:?}");
            assert!(!is_not.iter().any(|word| profile.is(word)), "{flags:?}");
        }
    }

    #[test]
    fn a_rejection_comes_from_one_part() {
        let stage = |codes: &[&str], message: &str| {
            let codes = codes.iter().map(ToString::to_string).collect();
            Rejection { codes, message: message.to_owned(), ..Rejection::default() }.stage()
        };
        assert_eq!(stage(&["E0499"], "x"), Stage::Borrows);
        assert_eq!(stage(&["E0499", "E0277"], "x"), Stage::Types);
        assert_eq!(stage(&[], "lifetime may not live long enough"), Stage::Borrows);
        assert_eq!(stage(&[], "x"), Stage::Types);
    }
}
