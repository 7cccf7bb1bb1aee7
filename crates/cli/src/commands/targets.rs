//! `strait targets`: what can be fuzzed here, and how to get the rest.

use clap::Args;
use serde_json::{Value, json};
use strait_fuzz::{Dialect, built_in_version};
use strait_runtimes::{TARGETS, TargetInfo};

use crate::ui::{Paint, Status, Ui};

/// List the targets of `strait fuzz`
#[derive(Args)]
pub struct TargetsArgs {}

impl TargetsArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        if ui.json {
            let targets: Vec<Value> = TARGETS.iter().map(document).collect();
            let languages: Vec<String> = Dialect::all().map(Dialect::name).collect();
            ui.document(&json!({ "targets": targets, "languages": languages }))?;
            return Ok(Status::Clean);
        }
        let languages: Vec<(String, &str)> = Dialect::all()
            .map(|dialect| (dialect.name(), dialect.platform.how_to_get(dialect.is_compiled)))
            .collect();
        let names = TARGETS.iter().map(|target| target.name);
        let names = names.chain(languages.iter().map(|(name, _)| name.as_str()));
        let width = names.map(str::len).max().unwrap_or(0);
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
        for (name, how) in languages {
            ui.line(format!("{name:width$}  {:<10}  {:<21}  {how}", "-", "tasks"))?;
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
