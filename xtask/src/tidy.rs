//! The house rules that neither rustc nor clippy checks, one file per rule.
//!
//! In: the files of the checkout ([`House`]). Out: complaints, each with a place, what is wrong
//! and what to do. A rule is a function from the house to its complaints and does no IO.

mod code;
mod crates_are_mapped;
mod crates_can_be_published;
mod files_are_short;
mod files_say_what_they_are;
mod functions_are_short;
mod house;
mod links_lead_somewhere;
mod no_machine_paths;
mod nothing_is_written_twice;
mod nothing_unfinished;
mod only_cli_prints;
mod only_toolchain_starts_processes;
mod readme_has_two_commands;
mod shown_code_is_real;
mod words_are_plain;

use std::fmt;

use self::house::House;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// A rule of the house.
type Rule = fn(&House) -> Vec<Complaint>;

const RULES: &[Rule] = &[
    crates_are_mapped::check,
    crates_can_be_published::check,
    files_are_short::check,
    files_say_what_they_are::check,
    functions_are_short::check,
    links_lead_somewhere::check,
    no_machine_paths::check,
    nothing_is_written_twice::check,
    nothing_unfinished::check,
    only_cli_prints::check,
    only_toolchain_starts_processes::check,
    readme_has_two_commands::check,
    shown_code_is_real::check,
    words_are_plain::check,
];

/// A breach of a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Complaint {
    path: String,
    line: usize,
    what: String,
    todo: &'static str,
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what, todo } = self;
        write!(formatter, "{path}:{line}: {what}\n    {todo}")
    }
}

/// Applies every rule to the checkout.
pub fn run(workspace: &Workspace) -> Outcome {
    let house = match House::read(workspace) {
        Ok(house) => house,
        Err(message) => return Outcome::Failed(message),
    };
    let mut complaints: Vec<Complaint> = RULES.iter().flat_map(|rule| rule(&house)).collect();
    complaints.sort();
    for complaint in &complaints {
        println!("{complaint}");
    }
    match complaints.len() {
        0 => Outcome::Passed,
        1 => Outcome::Failed("1 complaint, shown above".into()),
        many => Outcome::Failed(format!("{many} complaints, shown above")),
    }
}

/// What the tests of the rules share.
#[cfg(test)]
mod fixture {
    use super::{House, Rule};

    /// Applies one rule to a house of these files; the complaints must be exactly at these places.
    #[track_caller]
    pub fn check(rule: Rule, files: &[(&str, &str)], expected: &[&str]) {
        let house = House::of(files);
        let found: Vec<String> = rule(&house)
            .iter()
            .map(|complaint| format!("{}:{}: {}", complaint.path, complaint.line, complaint.what))
            .collect();
        assert_eq!(found, expected);
    }
}
