//! Tests of packages that use the library, in `strait ci`. The library writes a line for each check into the file of
//! STRAIT_SUMMARY; a test that fails for another reason is not reported as a finding, and the step says so.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use strait_findings::{Baseline, BaselineKey, BaselinePlace};
use strait_toolchain::{Cargo, End, Finished, Spec};

use crate::commands::ci::go::plural;
use crate::commands::ci::sarif;
use crate::commands::ci::step::{
    CiFinding, CiStatus, Context, Step, StepCoverage, StepResult, quoted, silenced,
};

/// What a failed check is called in baselines, comments and SARIF.
const KIND: &str = "failed-check";

/// A check, as the library writes it down.
#[derive(Debug, PartialEq, Eq)]
struct Check {
    test: String,
    /// `file:line`
    place: String,
    has_failed: bool,
    is_exhaustive: bool,
}

/// `cargo test --no-fail-fast -p PACKAGE…`
pub fn run_tests(
    step: &Step,
    context: &mut Context<'_>,
    time: Duration,
) -> anyhow::Result<StepResult> {
    let cargo = Cargo::find(context.launcher)?;
    let file = context.scratch.path().join("checks.jsonl");
    let packages = step.packages.iter().flat_map(|package| ["-p", package]);
    let arguments = ["test", "--no-fail-fast", "--color", "never"].into_iter().chain(packages);
    let spec = Spec::new(cargo.program()).arguments(arguments).variable("STRAIT_SUMMARY", &file);
    let finished = step.finish(context, spec, time)?;
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let checks: Vec<Check> = text.lines().filter_map(check).collect();
    let (findings, keys) = findings(step, context, &checks);
    let failed = checks.iter().filter(|check| check.has_failed).count() as u64;
    let done = plural(checks.len() as u64, "check", "checks");
    Ok(StepResult {
        coverage: coverage(&finished, &checks),
        summary: format!("{done}, {failed} failed"),
        sarif: vec![sarif::run_of(step, &findings)],
        findings,
        keys,
        seconds: 0.0,
    })
}

/// What the tests have shown and what not.
fn coverage(finished: &Finished, checks: &[Check]) -> StepCoverage {
    let others = other_failures(&finished.stdout.text(), checks);
    let has_failed = checks.iter().any(|check| check.has_failed);
    match &finished.end {
        End::Exited(0) => {}
        End::TimedOut => {
            return StepCoverage::Failed("its time was over (see --time)".to_owned());
        }
        _ if !others.is_empty() => {
            let names = others.join(", ");
            return StepCoverage::Failed(format!("tests fail outside of Strait's checks: {names}"));
        }
        End::Exited(_) if has_failed => {}
        _ => return StepCoverage::Failed(quoted(finished)),
    }
    if checks.is_empty() {
        let why = "no test ran a check of Strait, so nothing was checked";
        return StepCoverage::Partial(vec![why.to_owned()]);
    }
    let bounded = checks.iter().filter(|check| !check.has_failed && !check.is_exhaustive);
    match bounded.count() as u64 {
        0 => StepCoverage::Complete,
        many => StepCoverage::Partial(vec![format!(
            "{} did not see every execution",
            plural(many, "check", "checks")
        )]),
    }
}

/// A line of the file.
fn check(line: &str) -> Option<Check> {
    let line: Value = serde_json::from_str(line).ok()?;
    Some(Check {
        test: line["test"].as_str()?.to_owned(),
        place: line["place"].as_str()?.to_owned(),
        has_failed: line["result"].as_str()? == "failed",
        is_exhaustive: line["coverage"].as_str() == Some("exhaustive"),
    })
}

/// Tests that the test harness reports as failed and in which no check has failed.
fn other_failures(output: &str, checks: &[Check]) -> Vec<String> {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    for check in checks.iter().filter(|check| check.has_failed) {
        *known.entry(check.test.as_str()).or_default() += 1;
    }
    let failed = output.lines().filter_map(|line| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.strip_suffix(" - should panic").unwrap_or(name))
    });
    let mut others = Vec::new();
    for name in failed {
        match known.get_mut(name) {
            Some(count) if *count > 0 => *count -= 1,
            _ => others.push(name.to_owned()),
        }
    }
    others
}

fn findings(
    step: &Step,
    context: &mut Context<'_>,
    checks: &[Check],
) -> (Vec<CiFinding>, Baseline) {
    let mut findings = Vec::new();
    let mut keys = Vec::new();
    for check in checks.iter().filter(|check| check.has_failed) {
        let (file, line) = check.place.rsplit_once(':').unwrap_or((&check.place, "1"));
        let line: u32 = line.parse().unwrap_or(1);
        let text = source(&step.folder, file);
        let shown = text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
        let key = BaselineKey::new(KIND, vec![BaselinePlace::new(file, &check.test, shown)]);
        let status = match silenced(&text, line, &[KIND]) {
            Some(_) => CiStatus::Silenced,
            None => context.status(&key),
        };
        if status != CiStatus::Silenced {
            keys.push(key);
        }
        findings.push(CiFinding {
            kind: KIND.to_owned(),
            title: format!("the check in test {} failed", check.test),
            places: vec![step.place(&check.place)],
            status,
            is_error: true,
            replay: Some(format!("cargo test {}", check.test)),
        });
    }
    (findings, Baseline::of(keys))
}

/// A source file that a test named; empty if it is not in the folder.
fn source(folder: &Path, file: &str) -> String {
    let is_inside = !Path::new(file).is_absolute() && !file.split('/').any(|part| part == "..");
    let path = folder.join(file);
    if is_inside { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_checks_and_of_other_tests_are_told_apart() {
        let lines = [
            r#"{"test":"queue","place":"tests/a.rs:7","result":"failed","executions":3,"search":"dpor"}"#,
            r#"{"test":"pool","place":"tests/a.rs:9","result":"passed","coverage":"bounded"}"#,
            "no JSON",
        ];
        let checks: Vec<Check> = lines.iter().filter_map(|line| check(line)).collect();
        assert_eq!(checks.len(), 2);
        assert!(checks[0].has_failed && !checks[1].has_failed && !checks[1].is_exhaustive);
        let output =
            "running 3 tests\ntest queue ... FAILED\ntest pool ... ok\ntest other ... FAILED\n";
        assert_eq!(other_failures(output, &checks), ["other"]);
        // The same name in another binary is another test.
        let twice = "test queue ... FAILED\ntest queue ... FAILED\n";
        assert_eq!(other_failures(twice, &checks), ["queue"]);
    }
}
