//! Small programs with everything that they may show: by RC11, by C++20, in loom, and in this library.
//!
//! A row is a program in the notation of `program.rs` with its outcomes by RC11, why these, and what
//! C++20 and loom say otherwise. An outcome is written as the registers of all threads in a row, `-` for
//! a read that was not performed, and after `/` the last values of all variables where they matter. A
//! program with a data race has the outcome `race` and no other, since its values mean nothing.
//!
//! The axioms (`axioms.rs`, `cpp20.rs`) and loom give their columns on their own. The library must show
//! the same as the axioms, by one execution for each execution graph.

mod algorithms;
mod coherence;
mod messages;
mod ordering;

use std::collections::BTreeSet;
use std::sync::Arc;

use strait::Model;

use crate::axioms::{Allowed, Axioms, executions};
use crate::library;
use crate::program::{Program, SKIPPED, Shown};

/// A program with what it may show.
struct Row {
    name: &'static str,
    text: &'static str,
    rc11: &'static str,
    /// By C++20, if that is something else.
    cpp20: Option<&'static str>,
    /// In loom, if that is something else.
    loom: Option<&'static str>,
    /// Why RC11 says so.
    why: &'static str,
    /// Are the last values part of the outcome?
    last: bool,
    /// Which outcomes are looked at.
    filter: fn(&str) -> bool,
}

const fn row(name: &'static str, text: &'static str, rc11: &'static str, why: &'static str) -> Row {
    Row { name, text, rc11, cpp20: None, loom: None, why, last: false, filter: |_| true }
}

impl Row {
    const fn cpp20(self, outcomes: &'static str) -> Row {
        Row { cpp20: Some(outcomes), ..self }
    }

    const fn loom(self, outcomes: &'static str) -> Row {
        Row { loom: Some(outcomes), ..self }
    }

    const fn last(self) -> Row {
        Row { last: true, ..self }
    }

    const fn only(self, filter: fn(&str) -> bool) -> Row {
        Row { filter, ..self }
    }

    /// An outcome in one word.
    fn word(&self, shown: &Shown) -> String {
        let digit = |value: &u8| match *value {
            SKIPPED => "-".to_owned(),
            value => value.to_string(),
        };
        let (values, threads) = shown.split_last().expect("the last values");
        let mut word: String = threads.iter().flatten().map(digit).collect();
        if self.last {
            word.push('/');
            word.extend(values.iter().map(digit));
        }
        word
    }

    /// The outcomes that are looked at.
    fn words<'s>(&self, shown: impl IntoIterator<Item = &'s Shown>) -> String {
        let words = shown.into_iter().map(|shown| self.word(shown));
        let words: BTreeSet<String> = words.filter(|word| (self.filter)(word)).collect();
        Vec::from_iter(words).join(" ")
    }

    fn allowed(&self, allowed: &Allowed) -> String {
        if allowed.races > 0 { RACE.to_owned() } else { self.words(&allowed.shown) }
    }

    /// As a line of the table in the guide.
    fn line(&self) -> String {
        let cell = |outcomes: Option<&str>| match outcomes {
            Some(outcomes) => format!("**{outcomes}**"),
            None => "=".to_owned(),
        };
        let text = self.text.replace('|', "∥");
        let (cpp20, loom) = (cell(self.cpp20), cell(self.loom));
        let Row { name, rc11, why, .. } = self;
        format!("| {name} | `{text}` | {rc11} | {cpp20} | {loom} | = | {why} |")
    }
}

const RACE: &str = "race";

fn tables() -> impl Iterator<Item = &'static Row> {
    [messages::ROWS, ordering::ROWS, coherence::ROWS, algorithms::ROWS].into_iter().flatten()
}

/// Compares each row with what is expected, and reports all that are different.
fn compare(what: &str, found: impl Fn(&Row) -> (String, String)) {
    let different: Vec<String> = tables()
        .filter_map(|row| {
            let (found, expected) = found(row);
            let name = row.name;
            (found != expected).then(|| format!("{name}: {found}, expected {expected}"))
        })
        .collect();
    assert!(different.is_empty(), "{what}:\n{}", different.join("\n"));
}

#[test]
fn the_axioms_allow_what_was_argued() {
    assert!(tables().count() >= 40);
    for axioms in [Axioms::Rc11, Axioms::Cpp20] {
        compare(&format!("{axioms:?}"), |row| {
            let found = row.allowed(&executions(&Program::parse(row.text), axioms));
            let other = row.cpp20.filter(|_| axioms == Axioms::Cpp20);
            (found, other.unwrap_or(row.rc11).to_owned())
        });
    }
}

#[test]
fn the_library_shows_what_rc11_allows() {
    compare("strait", |row| {
        let program = Arc::new(Program::parse(row.text));
        let outcomes = library::outcomes(&program, Model::Rc11);
        if !outcomes.failures().is_empty() {
            let races = outcomes.failures().iter().all(|fault| library::is_race(fault));
            let found = if races { RACE.to_owned() } else { outcomes.to_string() };
            return (found, row.rc11.to_owned());
        }
        let graphs = executions(&program, Axioms::Rc11).graphs;
        let found = format!("{} by {}", row.words(outcomes.values()), outcomes.executions);
        (found, format!("{} by {graphs}", row.rc11))
    });
}

#[test]
fn loom_shows_what_the_table_says() {
    compare("loom", |row| {
        let loom = library::loom(&Arc::new(Program::parse(row.text)));
        let found = if loom.race { RACE.to_owned() } else { row.words(&loom.shown) };
        (found, row.loom.unwrap_or(row.rc11).to_owned())
    });
}

/// The table in the guide has exactly these rows.
#[test]
fn the_guide_shows_the_table() {
    let guide = include_str!("../../../../docs/memory-models.md");
    let lines: BTreeSet<&str> =
        guide.lines().filter(|line| line.starts_with("| ") && line.contains("∥")).collect();
    let missing: Vec<String> =
        tables().map(Row::line).filter(|line| !lines.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "docs/memory-models.md lacks:\n{}", missing.join("\n"));
    let known: BTreeSet<String> = tables().map(Row::line).collect();
    let other: Vec<&&str> = lines.iter().filter(|line| !known.contains(**line)).collect();
    assert!(other.is_empty(), "docs/memory-models.md has other rows: {other:#?}");
}
