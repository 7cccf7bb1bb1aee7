//! A suspicion that counts, as the store keeps it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use strait_findings::{Discovery, Kind};
use strait_golang::{Go, Pause, Run, Trace};

use crate::class::{Assessment, UndisturbedRuns};
use crate::diagram::diagram;
use crate::judge::{Certainty, Suspicion};
use crate::order::Order;
use crate::prepare::Prepared;
use crate::quote::Quotes;
use crate::selects::Selects;
use crate::state::Job;
use crate::subject::{Clock, Subject};

/// The version of what seeds and orders mean.
pub const GENERATOR: u32 = 3;
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
    pub undisturbed: UndisturbedRuns,
}

/// How findings name the version of Go, which is not that of the package.
pub fn version_of(go: &Go) -> String {
    format!("go{}", go.version())
}

/// Puts a suspicion into words. It showed in `failed` of `runs` runs of the same plan.
pub fn discovery(origin: &Origin<'_>, suspicion: &Suspicion, failed: u64, runs: u64) -> Discovery {
    let Origin { prepared, subject, job, run, selects, seed, undisturbed } = origin;
    let package = &subject.tests.package;
    let kind = suspicion.kind.clone();
    // One cause is one finding, whichever package's tests show it.
    let target = suspicion.package.as_ref().unwrap_or(&package.path);
    let version = version_of(&prepared.go);
    let mut discovery = Discovery::new(kind, target, version, *seed, job.number);
    discovery.generator_version = GENERATOR;
    (discovery.failed, discovery.runs) = (failed, runs);
    discovery.fingerprint = letters(&suspicion.causes);
    discovery.title = without_folders(&format!("{}: {}", subject.test, suspicion.title), prepared);
    discovery.explanation = without_folders(&explanation(origin, suspicion), prepared);
    let (stdout, stderr) = (run.finished.stdout.text(), run.finished.stderr.text());
    discovery.output = format!("{stdout}\n--- stderr ---\n{stderr}").into_bytes();
    discovery.schedule = Some(json!({
        "seed": job.plan.seed,
        "rate": job.plan.rate,
        "sited": job.plan.sited,
        "patience": job.plan.patience,
        "processors": job.plan.processors,
        "order": job.plan.order.to_json(),
        "nap_us": job.plan.nap.map(|nap| nap.as_micros() as u64),
        "slow": slow_to_json(&job.plan.slow),
        "exercised": told(&run.trace, selects, usize::MAX),
    }));
    let virtual_time = job.clock == Clock::Virtual;
    let details = [
        ("language", Value::from("go")),
        ("test", Value::from(subject.test.as_str())),
        ("package", Value::from(package.path.as_str())),
        ("directory", Value::from(prepared.go.directory().display().to_string())),
        ("locations", Value::from(suspicion.locations.clone())),
        ("causes", Value::from(suspicion.causes.clone())),
        ("virtual_time", Value::from(virtual_time)),
        ("race", Value::from(prepared.build.race)),
        ("tags", Value::from(prepared.build.tags.clone())),
        ("limit_ms", Value::from(job.limit.as_millis() as u64)),
    ];
    let directory = prepared.go.directory().display().to_string();
    discovery.replay_arguments = vec!["--module".to_owned(), directory];
    discovery.details = details.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let assessment = Assessment {
        class: suspicion.class,
        certain: suspicion.certainty == Certainty::Certain,
        needs_timeout: suspicion.needs_timeout,
        undisturbed: *undisturbed,
        library: suspicion.library,
        sending: suspicion.sending,
        idle: suspicion.idle,
        lifecycle: suspicion.lifecycle,
    };
    discovery.details.insert("level".to_owned(), json!(assessment.level()));
    discovery.details.insert("weight".to_owned(), json!(assessment.weight()));
    if let Value::Object(fields) = json!(assessment) {
        discovery.details.extend(fields);
    }
    let mut quotes = Quotes::new(selects.base());
    discovery.details.insert("quoted".to_owned(), quotes.around(&suspicion.locations));
    let (title, places) = (discovery.title.clone(), &suspicion.locations);
    discovery.diagram = diagram(&run.trace, selects, &mut quotes, &title, places);
    discovery
}

/// A test that is not run any more.
pub fn deadly(prepared: &Prepared, subject: &Subject, seed: u64, number: u64) -> Discovery {
    let (package, version) = (&subject.tests.package.path, version_of(&prepared.go));
    let mut discovery = Discovery::new(Kind::WORKER_DEATH, package, version, seed, number)
        .fingerprint(&subject.test)
        .title(format!("{}: the process that runs this test is killed", subject.test));
    discovery.generator_version = GENERATOR;
    discovery.explanation =
        "The process that ran this test was killed three times, so the test is \
        not run any more. The reason is its use of memory, the test itself, or a fault of Strait.\n"
            .to_owned();
    let details = [("test", &subject.test), ("package", &subject.tests.package.path)];
    for (name, value) in details {
        discovery.details.insert(name.to_owned(), Value::from(value.as_str()));
    }
    discovery
}

/// What a finding is known by, as its details say; findings of earlier versions have only places.
pub fn causes(details: &BTreeMap<String, Value>) -> impl Iterator<Item = &str> {
    let list = |name: &str| details.get(name).and_then(Value::as_array);
    let known = list("causes").or_else(|| list("locations"));
    known.into_iter().flatten().filter_map(Value::as_str)
}

fn slow_to_json(slow: &BTreeMap<u64, Pause>) -> Value {
    let places = slow.iter().map(|(id, pause)| {
        json!([format!("{id:016x}"), pause.length.as_micros() as u64, pause.times])
    });
    Value::Array(places.collect())
}

/// Slow places from a finding's `schedule.json`; what cannot be read is left out.
pub fn slow_places(value: Option<&Value>) -> BTreeMap<u64, Pause> {
    let place = |place: &Value| {
        let id = u64::from_str_radix(place.get(0)?.as_str()?, 16).ok()?;
        let length = Duration::from_micros(place.get(1)?.as_u64()?);
        let times = u32::try_from(place.get(2)?.as_u64()?).ok()?;
        Some((id, Pause { length, times }))
    };
    value.and_then(Value::as_array).into_iter().flatten().filter_map(place).collect()
}

fn explanation(origin: &Origin<'_>, suspicion: &Suspicion) -> String {
    let mut text = suspicion.facts.join("\n");
    let order = told(&origin.run.trace, origin.selects, TOLD);
    if !order.is_empty() {
        text.push_str("\n\nIn this run:\n");
        text.push_str(&order.iter().map(|line| format!("  {line}\n")).collect::<String>());
    }
    let clock = if origin.job.clock == Clock::Virtual { "virtual" } else { "real" };
    let UndisturbedRuns { failed, runs } = origin.undisturbed;
    if runs > 0 && !origin.job.plan.is_plain() {
        text.push_str(&format!("\nUndisturbed runs that showed it: {failed} of {runs}.\n"));
    }
    text.push_str(&format!("\nFound with {}, by the {clock} clock.\n", origin.job.plan.describe()));
    text
}

/// Sources of other modules and of the standard library by their import paths: where they lie on this
/// machine tells a reader nothing.
fn without_folders(text: &str, prepared: &Prepared) -> String {
    let standard = prepared.overlay.root(&prepared.go).join("src");
    let folders = [prepared.go.module_cache(), standard.as_path()];
    let mut text = text.to_owned();
    for folder in folders.iter().filter(|folder| folder.is_absolute()) {
        text = text.replace(&format!("{}/", folder.display()), "");
    }
    text
}

/// The order that was exercised, in words: the last selects, each once.
fn told(trace: &Trace, selects: &Selects, most: usize) -> Vec<String> {
    let order = Order::exercised(&trace.steps);
    let lines = order.0.iter().filter_map(|step| selects.tell(trace, step)).collect();
    collapsed(lines, most)
}

/// The last lines, each once, with how often it stands there.
fn collapsed(lines: Vec<String>, most: usize) -> Vec<String> {
    let mut kept: Vec<(String, usize)> = Vec::new();
    let mut left_out = false;
    for line in lines.into_iter().rev() {
        let room = kept.len() < most;
        match kept.iter_mut().find(|(known, _)| *known == line) {
            Some((_, count)) => *count += 1,
            None if room => kept.push((line, 1)),
            None => left_out = true,
        }
    }
    let shown = kept.into_iter().rev().map(|(line, count)| match count {
        1 => line,
        count => format!("{line} ({count} times)"),
    });
    left_out.then(|| "…".to_owned()).into_iter().chain(shown).collect()
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

    #[test]
    fn the_last_selects_are_told_once() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (order, most, expected) in
            [("a b a b a b", 9, "a (3 times)|b (3 times)"), ("a b c", 2, "…|b|c"), ("a", 1, "a")]
        {
            assert_eq!(collapsed(lines(order), most).join("|"), expected, "{order}");
        }
    }

    #[test]
    fn slow_places_are_read_as_they_are_written() {
        let pause = Pause { length: Duration::from_millis(3), times: 2 };
        let slow = BTreeMap::from([(7, pause), (u64::MAX, pause)]);
        assert_eq!(slow_places(Some(&slow_to_json(&slow))), slow);
        assert_eq!(slow_places(Some(&json!([["x", 1, 1], [1], 2]))), BTreeMap::new());
    }
}
