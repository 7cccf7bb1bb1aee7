//! What a worker has to say about a test besides findings, by name, as it travels with the results: and
//! back.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strait_findings::Kind;

use crate::campaign::{Ended, InternalError, Sensitive};
use crate::counters::Counters;
use crate::judge::{Certainty, Suspicion};

const RUNS: &str = "runs";
const VIRTUAL_RUNS: &str = "virtual runs";
const SUBTESTS: &str = "subtests";
const FAILING: &str = "failing";
const EXITING: &str = "exiting";
const REAL_TIME: &str = "real time";
const SENSITIVE: &str = "sensitive";
const SUSPECT: &str = "suspect";
const INTERNAL_ERROR: &str = "internal error";

/// What came of one test and its subtests.
pub fn counts(ended: &Ended, counters: &Counters) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::from([
        (RUNS.to_owned(), counters.runs()),
        (VIRTUAL_RUNS.to_owned(), counters.virtual_runs()),
        (SUBTESTS.to_owned(), ended.tests.saturating_sub(1)),
    ]);
    let named =
        [(FAILING, &ended.failing), (EXITING, &ended.exiting), (REAL_TIME, &ended.real_time)];
    let named = named
        .into_iter()
        .flat_map(|(word, tests)| tests.iter().map(move |test| format!("{word} {test}")));
    counts.extend(named.map(|name| (name, 1)));
    for one in &ended.sensitive {
        counts.insert(format!("{SENSITIVE} {}", json!(one)), 1);
    }
    for one in &ended.internal_errors {
        counts.insert(format!("{INTERNAL_ERROR} {}", json!(one)), 1);
    }
    for (test, one) in &ended.suspects {
        let told = json!({ "test": test, "title": one.title, "locations": one.locations });
        counts.insert(format!("{SUSPECT} {told}"), 1);
    }
    counts
}

/// Adds what came of a test elsewhere. What another version of Strait might say is not heard.
pub fn absorb(ended: &mut Ended, counters: &Counters, counts: &BTreeMap<String, u64>) {
    let number = |name: &str| counts.get(name).copied().unwrap_or_default();
    counters.add(number(RUNS), number(VIRTUAL_RUNS), number(SUBTESTS));
    for name in counts.keys() {
        let after = |word: &str| name.strip_prefix(word)?.strip_prefix(' ').map(ToOwned::to_owned);
        ended.failing.extend(after(FAILING));
        ended.exiting.extend(after(EXITING));
        ended.real_time.extend(after(REAL_TIME));
        let sensitive = after(SENSITIVE).and_then(|text| serde_json::from_str(&text).ok());
        ended.sensitive.extend::<Option<Sensitive>>(sensitive);
        let internal = after(INTERNAL_ERROR).and_then(|text| serde_json::from_str(&text).ok());
        ended.internal_errors.extend::<Option<InternalError>>(internal);
        if let Some((test, suspect)) = after(SUSPECT).as_deref().and_then(suspect) {
            let known = &mut ended.suspects;
            if !known.iter().any(|(_, one)| one.locations == suspect.locations) {
                known.push((test, suspect));
            }
        }
    }
}

fn suspect(text: &str) -> Option<(String, Suspicion)> {
    let told: Value = serde_json::from_str(text).ok()?;
    let locations = told["locations"].as_array()?.iter();
    let suspicion = Suspicion {
        kind: Kind::BLOCKING,
        certainty: Certainty::Suspect,
        locations: locations
            .map(|one| one.as_str().map(ToOwned::to_owned))
            .collect::<Option<_>>()?,
        title: told["title"].as_str()?.to_owned(),
        facts: Vec::new(),
    };
    Some((told["test"].as_str()?.to_owned(), suspicion))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_elsewhere_is_said_here() {
        let suspicion = Suspicion {
            kind: Kind::BLOCKING,
            certainty: Certainty::Suspect,
            locations: vec!["a.go:3".to_owned()],
            title: "a goroutine".to_owned(),
            facts: Vec::new(),
        };
        let sensitive = Sensitive {
            test: "TestC".to_owned(),
            package: "m/p".to_owned(),
            said: "c_test.go:7: \"too late\"".to_owned(),
            plan: "seed 3".to_owned(),
        };
        let internal = InternalError {
            test: "TestD".to_owned(),
            package: "m/p".to_owned(),
            what: "the Go runtime crashed".to_owned(),
            run: 4,
            plan: "seed 3".to_owned(),
            output: "fatal error".to_owned(),
        };
        let ended = Ended {
            tests: 3,
            internal_errors: vec![internal],
            failing: vec!["m/p TestA".to_owned()],
            exiting: vec!["m/p TestB".to_owned()],
            real_time: vec!["m/p TestB".to_owned(), "m/p TestC/x".to_owned()],
            sensitive: vec![sensitive],
            suspects: vec![("m/p TestA".to_owned(), suspicion)],
            ..Ended::default()
        };
        let counters = Counters::default();
        counters.add_run(true);
        counters.add_run(false);
        let (mut merged, all) = (Ended::default(), Counters::default());
        all.set_tests(2);
        let counts = counts(&ended, &counters);
        absorb(&mut merged, &all, &counts);
        assert_eq!((all.runs(), all.virtual_runs(), all.tests()), (2, 1, 4));
        assert_eq!(merged.failing, ended.failing);
        assert_eq!(merged.exiting, ended.exiting);
        assert_eq!(merged.real_time, ended.real_time);
        assert_eq!(merged.sensitive, ended.sensitive);
        assert_eq!(merged.internal_errors, ended.internal_errors);
        assert_eq!(merged.suspects, ended.suspects);
        // The same places again are not told twice.
        absorb(&mut merged, &all, &BTreeMap::from_iter(counts.into_iter().rev().take(1)));
        assert_eq!(merged.suspects.len(), 1);
    }
}
