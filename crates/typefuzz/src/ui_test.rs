//! A finding as files with the annotations of rustc's ui tests. In: a finding and the verdict of the rules. Out: a
//! file that a correct compiler accepts (`//@ check-pass`) or rejects (`//@ check-fail`), and whether the
//! compilers at hand do that.

use crate::discover::standalone;
use crate::error::Error;
use crate::exhibit::Exhibit;
use crate::judge::RULES;
use crate::language::Language;
use crate::oracle::{Verdict, flags_of, is_command, judge_all};

/// A test in the form of rustc's ui suite.
#[derive(Clone, Debug)]
pub struct UiTest {
    /// File names and texts: one, or two programs that have to be treated alike.
    pub files: Vec<(String, String)>,
    /// The flags of the compiler that is wrong.
    pub flags: Vec<String>,
    /// What is expected, in full sentences.
    pub about: String,
    expectation: Expectation,
}

/// What a correct compiler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expectation {
    /// It accepts every file.
    Pass,
    /// It rejects every file.
    Fail,
}

/// Makes the test.
pub fn ui_test(exhibit: &Exhibit) -> Result<UiTest, Error> {
    let details = &exhibit.details;
    // The compiler that is wrong is the one that does not say what the rules say.
    let expectation = match details.violations.is_empty() {
        true => Expectation::Pass,
        false => Expectation::Fail,
    };
    let wrong = match expectation {
        Expectation::Pass => &details.oracle_b,
        Expectation::Fail => &details.oracle_a,
    };
    let named = if wrong == RULES { &details.oracle_a } else { wrong };
    let is_rust = details.language() == Some(Language::Rust);
    if !is_rust || is_command(named) || named.starts_with("rust-analyzer") {
        let why = format!("rustc's ui tests are for rustc, and this one is about {named}");
        return Err(Error::NotReplayable { folder: exhibit.folder.clone(), why });
    }
    let flags = flags_of(named);
    let programs = [Some(exhibit.program.as_str()), exhibit.rewritten.as_deref()];
    let programs: Vec<&str> = programs.into_iter().flatten().collect();
    let name = |number: usize| match programs.len() {
        1 => "test.rs".to_owned(),
        _ => format!("test-{}.rs", number + 1),
    };
    let title = strait_findings::visible(&exhibit.finding.title);
    let files = programs
        .iter()
        .enumerate()
        .map(|(number, program)| (name(number), text(program, expectation, &flags, &title)));
    let about = match (expectation, programs.len()) {
        (Expectation::Pass, 1) => "The program is well typed: a correct compiler accepts it.",
        (Expectation::Fail, 1) => {
            "The program violates a typing rule: a correct compiler rejects it."
        }
        (Expectation::Pass, _) => "Both programs are well typed: a correct compiler accepts both.",
        (Expectation::Fail, _) => {
            "Both programs violate a typing rule: a correct compiler rejects both."
        }
    };
    Ok(UiTest { files: files.collect(), flags, about: about.to_owned(), expectation })
}

fn text(program: &str, expectation: Expectation, flags: &[String], title: &str) -> String {
    let (edition, flags): (Vec<&String>, Vec<&String>) =
        flags.iter().partition(|flag| flag.starts_with("--edition"));
    let edition = edition.first().and_then(|flag| flag.split_once('='));
    let edition = edition.map_or("2021", |(_, edition)| edition);
    let mut text = format!("// {}\n", title.replace(['\n', '\r'], " "));
    text += match expectation {
        Expectation::Pass => "//@ check-pass\n",
        Expectation::Fail => "//@ check-fail\n",
    };
    text += &format!("//@ edition: {edition}\n//@ compile-flags: --crate-type=lib");
    for flag in flags {
        text += &format!(" {flag}");
    }
    if expectation == Expectation::Fail {
        // The rules say that there is an error, not where a compiler shows it.
        text += "\n//~? ERROR";
    }
    format!("{text}\n\n{}\n", standalone(program).trim_end())
}

impl UiTest {
    /// The names of the files.
    pub fn file_names(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Does the test fail with one of the finding's compilers?
    pub fn fails(&self, exhibit: &Exhibit) -> Result<bool, Error> {
        for oracle in &exhibit.oracles {
            // One at a time: what is wrong with one file is not blamed on another.
            for (_, text) in &self.files {
                let verdicts = judge_all(oracle.as_ref(), &[text.as_str()])?;
                let is_met = verdicts.iter().all(|verdict| match (verdict, self.expectation) {
                    (Verdict::Accepted, Expectation::Pass) => true,
                    (Verdict::Rejected(_), Expectation::Fail) => true,
                    // Nothing was judged.
                    (Verdict::Unknown, _) => true,
                    _ => false,
                });
                if !is_met {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_say_what_is_expected() {
        let flags = ["--edition=2024".to_owned(), "-Znext-solver=globally".to_owned()];
        let passing = text("pub fn f() {}\n", Expectation::Pass, &flags, "it is\nrejected");
        let expected = "// it is rejected\n//@ check-pass\n//@ edition: 2024\n\
                        //@ compile-flags: --crate-type=lib -Znext-solver=globally\n\npub fn f() {}\n";
        assert_eq!(passing, expected);
        let failing = text("pub fn f() {}\n", Expectation::Fail, &[], "it is accepted");
        assert!(failing.contains("//@ check-fail\n//@ edition: 2021\n"), "{failing}");
        assert!(failing.contains("//~? ERROR\n"), "{failing}");
    }
}
