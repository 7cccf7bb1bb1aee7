//! `strait targets`: what can be fuzzed here, and how to get the rest.

use clap::Args;
use serde_json::{Value, json};
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
            ui.document(&json!({ "targets": targets }))?;
            return Ok(Status::Clean);
        }
        let width = TARGETS.iter().map(|target| target.name.len()).max().unwrap_or(0);
        let head =
            format!("{:width$}  {:<10}  {:<20}  other versions", "target", "built in", "run by");
        ui.line(ui.paint(Paint::Bold, head))?;
        for target in TARGETS {
            let (name, version) = (target.name, built_in_version(target));
            let flavours = flavours(target).join(", ");
            let others = match target.package {
                Some(_) => format!("strait fuzz {name}@VERSION"),
                None => "those of the compiler that builds Strait".to_owned(),
            };
            ui.line(format!("{name:width$}  {version:<10}  {flavours:<20}  {others}"))?;
        }
        Ok(Status::Clean)
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
