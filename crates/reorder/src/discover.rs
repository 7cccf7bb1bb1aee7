//! A suspicion that counts, as the store keeps it.

use serde_json::{Value, json};
use strait_findings::{Discovery, Kind};
use strait_golang::{Run, Trace};

use crate::judge::{Certainty, Suspicion};
use crate::order::Order;
use crate::prepare::Prepared;
use crate::selects::Selects;
use crate::state::Job;
use crate::subject::{Clock, Subject};

/// The version of what seeds and orders mean.
pub const GENERATOR: u32 = 2;
/// How much of an order is told in words.
const TOLD: usize = 12;

/// Where a finding comes from.
pub struct Origin<'a> {
    pub prepared: &'a Prepared,
    pub subject: &'a Subject,
    pub job: &'a Job,
    pub run: &'a Run,
    pub selects: &'a Selects,
    pub seed: u64,
}

/// Puts a suspicion into words. It showed in `failed` of `runs` runs of the same plan.
pub fn discovery(origin: &Origin<'_>, suspicion: &Suspicion, failed: u64, runs: u64) -> Discovery {
    let Origin { prepared, subject, job, run, selects, seed } = origin;
    let package = &subject.bench.package;
    let kind = suspicion.kind.clone();
    let mut discovery =
        Discovery::new(kind, &package.path, prepared.go.version(), *seed, job.number);
    discovery.generator_version = GENERATOR;
    (discovery.failed, discovery.runs) = (failed, runs);
    discovery.fingerprint = letters(&suspicion.locations);
    discovery.title = format!("{}: {}", subject.test, suspicion.title);
    discovery.explanation = explanation(origin, suspicion);
    let (stdout, stderr) = (run.finished.stdout.text(), run.finished.stderr.text());
    discovery.output = format!("{stdout}\n--- stderr ---\n{stderr}").into_bytes();
    discovery.schedule = Some(json!({
        "seed": job.plan.seed,
        "rate": job.plan.rate,
        "sited": job.plan.sited,
        "patience": job.plan.patience,
        "processors": job.plan.processors,
        "order": job.plan.order.to_json(),
        "exercised": told(&run.trace, selects, usize::MAX),
    }));
    let virtual_time = job.clock == Clock::Virtual;
    let details = [
        ("language", Value::from("go")),
        ("test", Value::from(subject.test.as_str())),
        ("package", Value::from(package.path.as_str())),
        ("directory", Value::from(prepared.go.directory().display().to_string())),
        ("locations", Value::from(suspicion.locations.clone())),
        ("certain", Value::from(suspicion.certainty == Certainty::Certain)),
        ("virtual_time", Value::from(virtual_time)),
        ("race", Value::from(prepared.build.race)),
        ("tags", Value::from(prepared.build.tags.clone())),
        ("limit_ms", Value::from(job.limit.as_millis() as u64)),
    ];
    let directory = prepared.go.directory().display().to_string();
    discovery.replay_arguments = vec!["--module".to_owned(), directory];
    discovery.details = details.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    discovery
}

/// A test that is not run any more.
pub fn deadly(prepared: &Prepared, subject: &Subject, seed: u64, number: u64) -> Discovery {
    let (package, version) = (&subject.bench.package.path, prepared.go.version());
    let mut discovery = Discovery::new(Kind::WORKER_DEATH, package, version, seed, number)
        .fingerprint(&subject.test)
        .title(format!("{}: whoever runs this test is killed", subject.test));
    discovery.generator_version = GENERATOR;
    discovery.explanation = "Three times whoever ran this test was killed, so it is not run any \
        more: for the use of memory, by the test itself, or this is a fault of Strait.\n"
        .to_owned();
    discovery.details.insert("test".to_owned(), Value::from(subject.test.as_str()));
    discovery
}

fn explanation(origin: &Origin<'_>, suspicion: &Suspicion) -> String {
    let mut text = suspicion.facts.join("\n");
    let order = told(&origin.run.trace, origin.selects, TOLD);
    if !order.is_empty() {
        text.push_str("\n\nIn this run:\n");
        text.push_str(&order.iter().map(|line| format!("  {line}\n")).collect::<String>());
    }
    let clock = if origin.job.clock == Clock::Virtual { "virtual" } else { "real" };
    text.push_str(&format!("\nFound with {}, by the {clock} clock.\n", origin.job.plan.describe()));
    text
}

/// The order that was exercised, in words.
fn told(trace: &Trace, selects: &Selects, most: usize) -> Vec<String> {
    let order = Order::exercised(&trace.steps);
    let mut lines: Vec<String> = Vec::new();
    for line in order.0.iter().filter_map(|step| selects.tell(trace, step)) {
        if lines.len() >= most {
            lines.push("…".to_owned());
            break;
        }
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Locations as a fingerprint. Numbers are left out of fingerprints, and here lines tell faults
/// apart, so they are written with letters.
fn letters(locations: &[String]) -> String {
    let hash = locations.iter().flat_map(|location| location.bytes().chain([0])).fold(
        0x6c62_272e_07bb_0142_62b8_2175_6295_c58d,
        |hash: u128, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        },
    );
    let digits = format!("{hash:x}");
    let letter = |digit: char| char::from(b'g' + digit.to_digit(16).unwrap_or_default() as u8);
    format!("at {}", digits.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_faults_apart() {
        let one = strait_findings::normalise(&letters(&["a.go:12".to_owned()]));
        let other = strait_findings::normalise(&letters(&["a.go:13".to_owned()]));
        assert_ne!(one, other);
    }
}
