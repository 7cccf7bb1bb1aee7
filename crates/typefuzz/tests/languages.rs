//! The rules for TypeScript and Python: what they derive, and what each typechecker says about it, where one is in
//! PATH. A checker that is not there is skipped, aloud.
//!
//! `STRAIT_TEST_SEED` fixes the seed.

#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::Launcher;
use strait_typefuzz::{Error, Fuzzer, Language, Mode, Oracle, Recipe, find_within, judge_all};

const SUBJECT: &str = env!("CARGO_BIN_EXE_strait-typefuzz-subject");
const OTHERS: [Language; 2] = [Language::TypeScript, Language::Python];

fn seed() -> u64 {
    std::env::var("STRAIT_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(42)
}

/// Programs of each feature of a language.
fn programs(language: Language, mode: Mode, each: u64) -> Vec<String> {
    let mut texts = Vec::new();
    for (feature, _) in language.features() {
        let fuzzer = Fuzzer::named(&[(*feature).to_owned()]).expect("a feature");
        let recipe = Recipe::new(seed(), mode, fuzzer);
        let system = recipe.system(0).expect("rules that compile");
        let cases: Vec<_> = (0..each).filter_map(|index| recipe.case(&system, index)).collect();
        assert!(cases.len() as u64 * 2 > each, "{feature}: {} of {each}", cases.len());
        for case in cases {
            let violated = case.violations.len();
            match mode {
                Mode::Precision => assert_eq!(violated, 0, "{feature} {}", case.index),
                Mode::Soundness => assert_eq!(violated, 1, "{feature} {}", case.index),
                Mode::Consistency => assert!(case.other.is_some(), "{feature} {}", case.index),
            }
            texts.push(system.program.print(&case.tree));
            texts.extend(case.other.map(|other| system.program.print(&other.tree)));
        }
    }
    texts
}

/// The checker of this name, if it is in PATH.
fn checker(name: &str) -> Option<Box<dyn Oracle>> {
    let stop = Arc::new(AtomicBool::new(false));
    match find_within(name, &Launcher::of(SUBJECT), &stop, Duration::from_secs(120)) {
        Ok(oracle) => Some(oracle),
        Err(Error::Unusable { why, .. }) => {
            eprintln!("SKIPPED: {name} does not judge these rules here: {why}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_feature_makes_programs_in_every_mode() {
    for language in OTHERS {
        for mode in [Mode::Precision, Mode::Soundness, Mode::Consistency] {
            let texts = programs(language, mode, 4);
            assert!(texts.len() >= 2 * language.features().len(), "{language}");
        }
    }
}

#[test]
fn checkers_say_what_the_rules_say() {
    for (language, name) in [
        (Language::TypeScript, "tsc"),
        (Language::TypeScript, "tsgo"),
        (Language::Python, "mypy"),
        (Language::Python, "pyright"),
        (Language::Python, "pyrefly"),
        (Language::Python, "ty"),
    ] {
        let Some(oracle) = checker(name) else { continue };
        assert_eq!(oracle.language(), Some(language));
        let (good, bad) =
            (programs(language, Mode::Precision, 3), programs(language, Mode::Soundness, 3));
        let texts: Vec<&str> = good.iter().chain(&bad).map(String::as_str).collect();
        let verdicts = judge_all(oracle.as_ref(), &texts).expect("all are judged");
        for (place, (text, verdict)) in texts.iter().zip(verdicts).enumerate() {
            let is_right = verdict.is_accepted() == (place < good.len());
            assert!(is_right, "seed {}: {name} {}:\n{text}", seed(), verdict.word());
        }
    }
}

#[test]
fn a_checker_that_is_not_there_says_how_to_get_it() {
    let stop = Arc::new(AtomicBool::new(false));
    let launcher = Launcher::of(SUBJECT);
    for (name, how) in [("tsgo", "npm install"), ("ty", "pip install ty")] {
        if let Err(error) = find_within(name, &launcher, &stop, Duration::from_secs(60)) {
            let error = error.to_string();
            assert!(error.contains(how), "{error}");
        }
    }
}
