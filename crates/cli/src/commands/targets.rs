//! `strait targets`: what can be fuzzed here, and how to get the rest.

use clap::Args;
use serde_json::{Value, json};
use strait_emit::Platform;
use strait_fuzz::built_in_version;
use strait_runtimes::{TARGETS, TargetInfo};

use crate::ui::{Paint, Status, Ui};

/// List what can be fuzzed here
#[derive(Args)]
pub struct TargetsArgs {}

impl TargetsArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        if ui.json {
            let targets: Vec<Value> = TARGETS.iter().map(document).collect();
            let languages: Vec<&str> = Platform::ALL.map(Platform::name).to_vec();
            ui.document(&json!({ "targets": targets, "languages": languages }))?;
            return Ok(Status::Clean);
        }
        let width = TARGETS.iter().map(|target| target.name.len()).max().unwrap_or(0);
        let head =
            format!("{:width$}  {:<10}  {:<21}  other versions", "target", "built in", "run by");
        ui.line(ui.paint(Paint::Bold, head))?;
        for target in TARGETS {
            let (name, version) = (target.name, built_in_version(target));
            let flavours = flavours(target).join(", ");
            let others = match target.package {
                Some(_) => format!("strait fuzz {name}@VERSION"),
                None => "those of the compiler that builds Strait".to_owned(),
            };
            ui.line(format!("{name:width$}  {version:<10}  {flavours:<21}  {others}"))?;
        }
        for platform in Platform::ALL {
            let (name, how) = (platform.name(), how(platform));
            ui.line(format!("{name:width$}  {:<10}  {:<21}  {how}", "-", "tasks"))?;
        }
        Ok(Status::Clean)
    }
}

/// How a language is had.
fn how(platform: Platform) -> &'static str {
    match platform {
        Platform::Go => "strait fuzz go@VERSION, brought by your go (install: https://go.dev/dl)",
        Platform::Kotlin => {
            "strait fuzz kotlin@VERSION of kotlinx.coroutines, by your mvn and java"
        }
        Platform::CoreAsync => "strait fuzz core-async@VERSION, by your mvn and java",
        Platform::Crystal => "strait gen --format crystal; campaigns need an interpreter",
        Platform::Flix => "strait gen --format flix; campaigns need an interpreter",
    }
}

fn flavours(target: &TargetInfo) -> Vec<&'static str> {
    target.flavours().into_iter().map(|flavour| flavour.word()).collect()
}

fn document(target: &TargetInfo) -> Value {
    json!({
        "target": target.name,
        "version": built_in_version(target),
        "package": target.package,
        "run_by": flavours(target),
    })
}
