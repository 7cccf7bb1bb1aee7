//! Each property with and without reduction, and by definition, on random programs and the corpus.

use std::collections::BTreeMap;
use std::path::Path;

use strait_calculus::{Program, parse};
use strait_explore::{Coverage, System};
use strait_verify::{Budget, InText, Nowhere, Property, Reduction, verify};

use crate::definitions::by_definition;
use crate::random;

/// Programs with more states are left out of the comparison with the definitions.
const LIMIT: usize = 1500;

fn verdicts(program: &Program, reduction: Reduction, text: &str) -> BTreeMap<Property, bool> {
    let budget = Budget { reduction, ..Budget::default() };
    let found = verify(program, &Property::ALL, &budget, &Nowhere);
    assert_eq!(*found.coverage(), Coverage::Exhaustive, "{text}");
    for (property, verdict) in &found.verdicts {
        let Some(trace) = &verdict.trace else { continue };
        // Every trace is an execution.
        let machine = &found.model.machine;
        let mut state = machine.start();
        let mut enabled = Vec::new();
        for action in &trace.actions {
            machine.enabled(&mut state, &mut enabled);
            assert!(enabled.contains(action), "{property}: {text}");
            machine.step(&mut state, action);
        }
    }
    found
        .verdicts
        .iter()
        .map(|(property, verdict)| (*property, verdict.holds() == Some(true)))
        .collect()
}

fn compare(program: &Program, text: &str) -> Option<BTreeMap<Property, bool>> {
    let expected = by_definition(program, LIMIT)?;
    for reduction in [Reduction::Never, Reduction::Always] {
        let mut found = verdicts(program, reduction, text);
        found.retain(|property, _| expected.contains_key(property));
        assert_eq!(found, expected, "{reduction:?} on\n{text}");
    }
    Some(expected)
}

#[test]
fn random_programs_have_the_properties_that_their_definitions_say() {
    let first: u64 = std::env::var("STRAIT_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let count: u64 =
        std::env::var("STRAIT_CASES").map_or(1500, |count| count.parse().expect("a number"));
    let mut compared = 0;
    let mut refuted: BTreeMap<Property, u32> = BTreeMap::new();
    for seed in first..first + count {
        let text = random::program(seed);
        let program = parse(&text).unwrap_or_else(|errors| {
            panic!("seed {seed} (STRAIT_SEED): {}", errors.render("random", &text))
        });
        let Some(found) = compare(&program, &format!("seed {seed} (STRAIT_SEED)\n{text}")) else {
            continue;
        };
        compared += 1;
        for (property, _) in found.into_iter().filter(|(_, holds)| !holds) {
            *refuted.entry(property).or_default() += 1;
        }
    }
    assert!(compared > count * 4 / 5, "{compared} of {count}");
    for property in Property::ALL {
        let broken = refuted.get(&property).copied().unwrap_or(0);
        assert!(broken > 20 && u64::from(broken) < compared - 20, "{property}: {refuted:?}");
    }
}

#[test]
fn the_corpus_has_the_properties_that_its_verdicts_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut programs = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "strait") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let program = parse(&text).expect("a program");
        let verdict = text.lines().find_map(|line| line.strip_prefix("// verdict: "));
        let verdict = verdict.expect("a verdict").trim();
        let found = verify(&program, &Property::ALL, &Budget::default(), &InText(&text));
        let holds: BTreeMap<Property, bool> = found
            .verdicts
            .iter()
            .map(|(property, one)| (*property, one.holds() == Some(true)))
            .collect();
        let name = path.display();
        compare(&program, &name.to_string());
        let faults = [Property::ChannelSafe, Property::MutexSafe, Property::WaitGroupSafe];
        match verdict {
            "terminates" => {
                assert!(holds[&Property::Live] && holds[&Property::NoDeadlock], "{name}")
            }
            "deadlock" => {
                assert!(!holds[&Property::NoDeadlock] && !holds[&Property::Live], "{name}")
            }
            "leak" => assert!(!holds[&Property::Live], "{name}"),
            "diverges" => assert!(!holds[&Property::NoCycle] && holds[&Property::Live], "{name}"),
            "panic" => {
                let deliberate = text.contains("panic \"") || text.contains("nil");
                assert!(deliberate || faults.iter().any(|fault| !holds[fault]), "{name}")
            }
            other => panic!("{name}: {other}"),
        }
        programs += 1;
    }
    assert!(programs > 90, "{programs}");
}
