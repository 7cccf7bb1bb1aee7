//! The rules for Rust against the installed rustc, feature by feature: what they derive is accepted,
//! what violates a premise is rejected, what they derive they also accept as a given term.
//!
//! `STRAIT_TEST_SEED` fixes the seed.

#![expect(
    clippy::disallowed_methods,
    reason = "tidy: starts a process because a test binary cannot be the supervisor that the oracles run below"
)]

use std::collections::BTreeMap;
use std::process::Command;

use strait_clp::{Acceptance, Searcher, Wish};
use strait_typefuzz::{Case, Fuzzer, Language, Mode, Recipe, System};

fn seed() -> u64 {
    std::env::var("STRAIT_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(42)
}

/// Programs as modules of one file, and the line behind each.
fn unit(programs: &[String]) -> (String, Vec<usize>) {
    let mut text = String::from("pub type Alias<T> = T;\n");
    let mut ends = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        text += &format!("pub mod p{number} {{\nuse super::Alias;\n{program}\n}}\n");
        ends.push(text.lines().count() + 1);
    }
    (text, ends)
}

/// Which of the programs rustc says an error about, and all that it says.
fn rejected(programs: &[String]) -> (Vec<bool>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (text, ends) = unit(programs);
    std::fs::write(folder.path().join("all.rs"), text).expect("written");
    let output = Command::new("rustc")
        .args(["all.rs", "--emit=metadata", "--crate-type=lib", "--edition=2021"])
        .args(["--cap-lints=allow", "--error-format=short", "-o", "all.rmeta"])
        .current_dir(folder.path())
        .output()
        .expect("rustc runs");
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut rejected = vec![false; programs.len()];
    for message in messages.lines().filter(|line| line.contains(": error")) {
        let line = message.split(':').nth(1).and_then(|line| line.parse::<usize>().ok());
        if let Some(line) = line {
            let position = ends.partition_point(|end| *end <= line);
            if let Some(rejected) = rejected.get_mut(position) {
                *rejected = true;
            }
        }
    }
    (rejected, messages)
}

fn cases(mode: Mode, feature: &str, count: u64) -> (Recipe, std::sync::Arc<System>, Vec<Case>) {
    let fuzzer = Fuzzer::named(&[feature.to_owned()]).expect("a feature");
    let recipe = Recipe::new(seed(), mode, fuzzer);
    let system = recipe.system(0).expect("rules that compile");
    let cases = (0..count).filter_map(|index| recipe.case(&system, index)).collect();
    (recipe, system, cases)
}

#[test]
fn well_typed_programs_of_every_feature_are_accepted() {
    let mut programs = Vec::new();
    for (feature, _) in Language::Rust.features() {
        let (_, system, cases) = cases(Mode::Precision, feature, 12);
        assert!(cases.len() >= 9, "{feature}: {} of 12 searches succeeded", cases.len());
        programs.extend(cases.iter().map(|case| system.program.print(&case.tree)));
    }
    let (rejected, messages) = rejected(&programs);
    let faulty: Vec<&String> = programs
        .iter()
        .zip(&rejected)
        .filter(|(_, rejected)| **rejected)
        .map(|(text, _)| text)
        .collect();
    assert!(faulty.is_empty(), "seed {}: {faulty:#?}\n{messages}", seed());
    assert!(programs.len() > 180, "{}", programs.len());
}

#[test]
fn programs_with_a_violated_premise_are_rejected() {
    let mut programs = Vec::new();
    for feature in ["core", "traits", "enums", "borrows", "generics", "threads", "const_generics"] {
        let (_, system, cases) = cases(Mode::Soundness, feature, 15);
        for case in &cases {
            assert_eq!(case.violations.len(), 1);
            programs.push(system.program.print(&case.tree));
        }
    }
    let (rejected, messages) = rejected(&programs);
    let accepted: Vec<&String> = programs
        .iter()
        .zip(&rejected)
        .filter(|(_, rejected)| !**rejected)
        .map(|(text, _)| text)
        .collect();
    assert!(programs.len() > 60, "{}", programs.len());
    assert!(accepted.len() * 50 <= programs.len(), "seed {}: {accepted:#?}\n{messages}", seed());
}

#[test]
fn every_rewrite_changes_programs_and_keeps_them_well_typed() {
    let mut rewritten: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (feature, _) in Language::Rust.features() {
        let fuzzer = Fuzzer::named(&[(*feature).to_owned()]).expect("a feature");
        let recipe = Recipe::new(seed(), Mode::Precision, fuzzer);
        let system = recipe.system(0).expect("rules that compile");
        let mut searcher = Searcher::new(&system.program, Wish::default());
        let mut names: Vec<&str> = system.program.rewrites().collect();
        names.dedup();
        for index in 0..500 {
            let few: Vec<&str> = names
                .iter()
                .copied()
                .filter(|name| rewritten.entry((*name).to_owned()).or_default().len() < 8)
                .collect();
            let case = if few.is_empty() { None } else { recipe.case(&system, index) };
            let Some(case) = case else { continue };
            let before = system.program.print(&case.tree);
            for name in few {
                let results = searcher.rewritings(&case.tree, name, seed(), case.index);
                let texts = results.iter().map(|tree| system.program.print(tree));
                let of_name = rewritten.entry(name.to_owned()).or_default();
                of_name.extend(texts.filter(|text| *text != before).take(1));
            }
        }
    }
    let seldom: Vec<(&String, usize)> = rewritten
        .iter()
        .map(|(name, programs)| (name, programs.len()))
        .filter(|(_, count)| *count < 3)
        .collect();
    assert!(seldom.is_empty(), "seed {}: {seldom:?}", seed());
    // What one solver says about these is what consistency is about.
    let disputed = ["redundant_projection", "redundant_family", "implied_static", "project_bound"];
    let undisputed = rewritten.iter().filter(|(name, _)| !disputed.contains(&name.as_str()));
    let programs: Vec<(&String, &String)> = undisputed
        .flat_map(|(name, programs)| programs.iter().map(move |program| (name, program)))
        .collect();
    let texts: Vec<String> = programs.iter().map(|(_, program)| (*program).clone()).collect();
    let (rejected, messages) = rejected(&texts);
    let faulty: Vec<&(&String, &String)> = programs
        .iter()
        .zip(&rejected)
        .filter(|(_, rejected)| **rejected)
        .map(|(program, _)| program)
        .collect();
    assert!(faulty.is_empty(), "seed {}: {faulty:#?}\n{messages}", seed());
}

#[test]
fn what_was_derived_is_accepted_by_the_rules_again() {
    let (mut accepted, mut all) = (0, 0);
    for feature in ["core", "records", "enums", "traits", "borrows", "lifetimes"] {
        let (_, system, cases) = cases(Mode::Precision, feature, 8);
        let mut searcher = Searcher::new(&system.program, Wish::default());
        for case in &cases {
            all += 1;
            match searcher.accepts(&case.tree, 2_000_000) {
                Acceptance::Accepted(_) => accepted += 1,
                // It may take longer to see than to make.
                Acceptance::Unknown => {}
                Acceptance::Rejected => {
                    panic!("seed {}, {feature}: {}", seed(), system.program.print(&case.tree))
                }
            }
        }
    }
    assert!(accepted * 10 >= all * 9, "{accepted} of {all}");
}

#[test]
fn a_case_depends_on_seed_and_index_alone() {
    let (recipe, system, _) = cases(Mode::Consistency, "traits", 0);
    let told = |index| {
        let case = recipe.case(&system, index)?;
        let other = case.other.map(|other| (other.rewrite, system.program.print(&other.tree)));
        Some((system.program.print(&case.tree), other))
    };
    let once: Vec<_> = (0..10).map(told).collect();
    let again: Vec<_> = (0..10).rev().map(told).collect();
    assert!(once.iter().eq(again.iter().rev()));
    assert!(once.iter().any(Option::is_some));
}
