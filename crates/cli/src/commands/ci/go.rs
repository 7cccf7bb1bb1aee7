//! The Go commands of `strait ci`. They know baselines and comments themselves: here their documents are read.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use strait_findings::Baseline;

use crate::commands::ci::sarif;
use crate::commands::ci::step::{
    Answered, CiFinding, CiStatus, Context, Step, StepCoverage, StepResult,
};

/// The longest time for one entry of `go verify`.
const ENTRY: Duration = Duration::from_secs(60);
/// Left over for what follows a fuzzing campaign: confirmation of what was just found, and the report.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// `strait go verify ./...`
pub fn verify(
    step: &Step,
    context: &mut Context<'_>,
    time: Duration,
) -> anyhow::Result<StepResult> {
    let entry = ENTRY.min(time).as_secs().max(1);
    let own = ["go", "verify", "./...", "--time", &format!("{entry}s")].map(str::to_owned);
    let answered = run(step, context, own.to_vec(), time)?;
    let mut result = read(step, context, &answered)?;
    let Some(document) = &answered.document else { return Ok(result) };
    let counts = &document["summary"];
    let count = |name: &str| counts[name].as_u64().unwrap_or(0);
    let (proved, violated, unknown) = (count("proved"), count("violated"), count("unknown"));
    result.summary = format!("{proved} proved, {violated} violated, {unknown} unknown");
    let mut left_out = Vec::new();
    if unknown > 0 {
        left_out.push(format!("{} could not be decided", plural(unknown, "entry", "entries")));
    }
    let warnings = document["warnings"].as_array().into_iter().flatten();
    left_out.extend(warnings.filter_map(|one| Some(one["message"].as_str()?.to_owned())));
    note(&mut result, left_out);
    Ok(result)
}

/// `strait go fuzz ./...`
pub fn fuzz(step: &Step, context: &mut Context<'_>, time: Duration) -> anyhow::Result<StepResult> {
    let out = step.out(context).display().to_string();
    let seed = context.seed.to_string();
    let limit = format!("{}s", time.as_secs().max(1));
    let own = ["go", "fuzz", "./...", "--time", &limit, "--seed", &seed, "--out", &out];
    let answered = run(step, context, own.map(str::to_owned).to_vec(), time + AFTERWARDS)?;
    let mut result = read(step, context, &answered)?;
    let Some(document) = &answered.document else { return Ok(result) };
    let count = |name: &str| document[name].as_u64().unwrap_or(0);
    result.summary = format!("{} tests, {} sampled runs", count("tests"), count("runs"));
    let all = |name: &str| document[name].as_array().map_or(0, Vec::len) as u64;
    let tests = |name: &str, what: &str| {
        let many = all(name);
        (many > 0).then(|| format!("{} {what}", plural(many, "test", "tests")))
    };
    let packages = document["left_out"].as_array().into_iter().flatten();
    let packages = packages.filter_map(|one| one["package"].as_str());
    let mut left_out: Vec<String> =
        packages.map(|package| format!("{package} could not be tested")).collect();
    left_out.extend(
        [
            tests("not_run", "had no run before the end"),
            tests("failing", "failed without any disturbance"),
            tests("exiting", "ended the process, so that nothing could be judged"),
            tests("over_limit", "used too much memory or too many processes"),
            tests("internal_errors", "had runs in which the hooks of Strait failed"),
        ]
        .into_iter()
        .flatten(),
    );
    note(&mut result, left_out);
    Ok(result)
}

/// Adds what the command takes in `strait ci`.
fn run(
    step: &Step,
    context: &Context<'_>,
    mut arguments: Vec<String>,
    time: Duration,
) -> anyhow::Result<Answered> {
    let name = step.kind.name();
    let sarif = context.scratch.path().join(format!("{name}.sarif"));
    arguments.extend(["--json", "--sarif"].map(str::to_owned));
    arguments.push(sarif.display().to_string());
    let baseline = context.scratch.path().join(format!("{name}-baseline.json"));
    if context.write_baseline {
        arguments.push("--write-baseline".to_owned());
        Baseline::default().write(&baseline)?;
    } else {
        // What another step has met is not known any more.
        context.baseline.clone().unwrap_or_default().write(&baseline)?;
    }
    arguments.extend(["--baseline".to_owned(), baseline.display().to_string()]);
    step.strait(context, &arguments, time)
}

fn read(step: &Step, context: &Context<'_>, answered: &Answered) -> anyhow::Result<StepResult> {
    let failure = answered.failure();
    let mut result = StepResult::failed(failure.clone().unwrap_or_default());
    if failure.is_none() {
        result.coverage = StepCoverage::Complete;
    }
    let Some(document) = &answered.document else { return Ok(result) };
    let found = document["findings"].as_array().into_iter().flatten();
    result.findings = found.map(|one| finding(step, one)).collect();
    let name = step.kind.name();
    let sarif = context.scratch.path().join(format!("{name}.sarif"));
    result.sarif = sarif::runs(&sarif, step)?;
    if context.write_baseline && failure.is_none() {
        let path = context.scratch.path().join(format!("{name}-baseline.json"));
        result.keys = Baseline::read(Path::new(&path))?;
    }
    Ok(result)
}

fn finding(step: &Step, one: &Value) -> CiFinding {
    let text = |name: &str| one[name].as_str().map(str::to_owned);
    let places = one["locations"].as_array().into_iter().flatten();
    let places = places.filter_map(|place| Some(step.place(place.as_str()?)));
    CiFinding {
        kind: text("class").or_else(|| text("kind")).unwrap_or_default(),
        title: text("message").or_else(|| text("title")).unwrap_or_default(),
        places: places.collect(),
        status: match one["status"].as_str() {
            Some("known") => CiStatus::Known,
            Some("suppressed") => CiStatus::Silenced,
            _ => CiStatus::New,
        },
        // Findings of `go verify` have no level: each fails the build.
        is_error: one["level"].as_str().is_none_or(|level| level == "error"),
        replay: text("dir").map(|dir| format!("strait go replay {dir}")),
    }
}

/// Notes what was left out, unless the whole step failed.
fn note(result: &mut StepResult, left_out: Vec<String>) {
    if result.coverage == StepCoverage::Complete && !left_out.is_empty() {
        result.coverage = StepCoverage::Partial(left_out);
    }
}

/// `1 test`, `2 tests`.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
