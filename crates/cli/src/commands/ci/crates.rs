//! Channel crates in their locked versions, in `strait ci`. A finding is shown at the line of the manifest that names
//! the crate; a comment `# strait:ignore KIND reason` there silences it.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use strait_findings::{Baseline, BaselineKey, BaselinePlace};

use crate::commands::ci::project::LockedCrate;
use crate::commands::ci::sarif;
use crate::commands::ci::step::{
    CiFinding, CiStatus, Context, Step, StepCoverage, StepResult, silenced,
};

/// Left over for what follows a campaign.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// `strait fuzz CRATE@VERSION…`
pub fn fuzz(step: &Step, context: &mut Context<'_>, time: Duration) -> anyhow::Result<StepResult> {
    let mut arguments = vec!["fuzz".to_owned()];
    arguments.extend(step.crates.iter().map(|one| format!("{}@{}", one.target, one.version)));
    let limit = format!("{}s", time.as_secs().max(1));
    let (seed, out) = (context.seed.to_string(), step.out(context).display().to_string());
    let rest = ["--time", &limit, "--seed", &seed, "--out", &out, "--json"];
    arguments.extend(rest.map(str::to_owned));
    let answered = step.strait(context, &arguments, time + AFTERWARDS)?;
    let failure = answered.failure();
    let mut result = StepResult::failed(failure.clone().unwrap_or_default());
    if failure.is_none() {
        result.coverage = StepCoverage::Complete;
    }
    let Some(document) = &answered.document else { return Ok(result) };
    let programs = document["programs"].as_u64().unwrap_or(0);
    result.summary = format!("{programs} sampled programs");
    let mut keys = Vec::new();
    for one in document["findings"].as_array().into_iter().flatten() {
        let (finding, key) = read(step, context, one)?;
        if finding.status != CiStatus::Silenced {
            keys.push(key);
        }
        result.findings.push(finding);
    }
    result.keys = Baseline::of(keys);
    result.sarif = vec![sarif::run_of(step, &result.findings)];
    Ok(result)
}

fn read(
    step: &Step,
    context: &mut Context<'_>,
    one: &Value,
) -> anyhow::Result<(CiFinding, BaselineKey)> {
    let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
    let (kind, dir) = (text("kind"), text("dir"));
    // A fault is the same in all versions of a crate.
    let group = strait_findings::read(Path::new(&dir))?.group;
    let (target, version) = (text("target"), text("version"));
    let key = BaselineKey::new(&kind, vec![BaselinePlace::new("Cargo.toml", &target, &group)]);
    let named = step.crates.iter().find(|one| one.target == target && one.version == version);
    let manifest = named.map(|one| std::fs::read_to_string(&one.manifest).unwrap_or_default());
    let comment = named.zip(manifest.as_deref());
    let comment = comment.and_then(|(one, text)| silenced(text, one.line, &[kind.as_str()]));
    let status = match comment {
        Some(_) => CiStatus::Silenced,
        None => context.status(&key),
    };
    let finding = CiFinding {
        kind,
        title: format!("{target} {version}: {}", text("title")),
        places: named.map(|one| place(step, one)).into_iter().collect(),
        status,
        is_error: true,
        replay: Some(format!("strait replay {dir}")),
    };
    Ok((finding, key))
}

/// Where the manifest names the crate, as seen from the folder that is checked.
fn place(step: &Step, named: &LockedCrate) -> String {
    let manifest = named.manifest.strip_prefix(&step.folder);
    let manifest = manifest.map_or(Path::new("Cargo.toml"), |path| path);
    step.place(&format!("{}:{}", manifest.display(), named.line))
}
