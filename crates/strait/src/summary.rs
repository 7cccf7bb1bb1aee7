//! What a check says about itself when it is over: one line for people, and one line of a file for
//! scripts if `STRAIT_SUMMARY` names one.

use std::fmt::Write as _;
use std::io::Write as _;

use strait_explore::{Coverage, Interleavings};

use crate::check::{Builder, test_name};
use crate::report::Outcomes;
use crate::rt::op::Place;

impl Builder {
    /// Says how much a check that passed has seen.
    pub(crate) fn summarise<T>(&self, outcomes: &Outcomes<T>, place: Place) {
        tell(&format!("strait: {}: {}", named(place), self.counted(outcomes)));
        let Outcomes { coverage, executions, steps, .. } = outcomes;
        let bounded_by = match coverage {
            Coverage::Bounded(by) => quoted(by),
            Coverage::Exhaustive | Coverage::Sampled(_) => "null".to_owned(),
        };
        let coverage = coverage.word();
        let mut seen = format!(
            r#""executions":{executions},"steps":{steps},"coverage":"{coverage}","bounded_by":{bounded_by}"#
        );
        if let Some(Interleavings { seen: pairs, known }) = outcomes.interleavings {
            // Writing into a string cannot fail.
            let _ = write!(seen, r#","interleavings":{{"seen":{pairs},"known":{known}}}"#);
        }
        self.add_line("passed", &seen, place);
    }

    /// `4 executions, exhaustive`, or `100 executions, sampled by POS under RC11, 3 of 6 ordered pairs of
    /// conflicting operations seen`.
    fn counted<T>(&self, outcomes: &Outcomes<T>) -> String {
        let executions = outcomes.executions;
        let plural = if executions == 1 { "" } else { "s" };
        let counted = format!("{executions} execution{plural}");
        match (&outcomes.coverage, self.sampling()) {
            (Coverage::Sampled(_), Some((sampling, model))) => {
                let pairs = outcomes.interleavings.map_or(String::new(), |all| format!(", {all}"));
                format!("{counted}, sampled {} under {model}{pairs}", sampling.sampler)
            }
            (Coverage::Sampled(_), None) => format!("{counted}, sampled"),
            (coverage, _) => format!("{counted}, {coverage}"),
        }
    }

    /// Takes down that a check has failed in an execution.
    pub(crate) fn summarise_failure(&self, executions: u64, place: Place) {
        self.add_line("failed", &format!(r#""executions":{executions}"#), place);
    }

    /// Adds a JSON object on one line to the summary, if one is asked for.
    fn add_line(&self, result: &str, seen: &str, place: Place) {
        let Some(file) = std::env::var_os("STRAIT_SUMMARY") else { return };
        let test = quoted(&named(place));
        let search = quoted(&self.describe());
        let place = quoted(&format!("{}:{}", place.file(), place.line()));
        let line = format!(
            r#"{{"test":{test},"place":{place},"result":"{result}",{seen},"search":{search}}}"#
        );
        // One write of one line: tests that run at the same time do not mix theirs.
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(&file);
        let written = opened.and_then(|mut opened| opened.write_all((line + "\n").as_bytes()));
        if let Err(error) = written {
            tell(&format!("strait: cannot write {}: {error}", file.display()));
        }
    }
}

/// The test's name, or where the check stands.
fn named(place: Place) -> String {
    test_name().unwrap_or_else(|| format!("{}:{}", place.file(), place.line()))
}

/// Prints where the test runner captures it.
#[allow(clippy::print_stderr, reason = "what a test prints is shown by `--nocapture` only")]
fn tell(text: &str) {
    eprintln!("{text}");
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            character if character < ' ' => {
                // Writing into a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", character as u32);
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
