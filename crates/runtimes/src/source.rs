//! The source of a small program that runs plans on one version of one crate: the files of this
//! crate's `harness`, one file of `targets`, a manifest and a `main`.

use crate::harness::target::Flavour;
use crate::registry::TargetInfo;

/// A program to be built with cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessSource {
    /// Its files: path and content.
    pub files: Vec<(String, String)>,
    /// The crate whose version is to be pinned, with `cargo update -p PACKAGE --precise VERSION`:
    /// the manifest asks for this version or a compatible one, because cargo refuses an exact
    /// requirement on a yanked version but takes a precise update.
    pub pin: Option<(String, String)>,
    /// The flavours that it has, if they are not those of the target.
    pub flavours: Option<&'static [Flavour]>,
}

/// Lists files of the harness with their content.
macro_rules! harness_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("harness/", $name)))),*]
    };
}

const HARNESS: [(&str, &str); 24] = harness_files![
    "actor.rs",
    "by_task.rs",
    "by_thread.rs",
    "cell.rs",
    "actor_pool.rs",
    "executor.rs",
    "instance.rs",
    "actor_queue.rs",
    "mod.rs",
    "parts.rs",
    "payload.rs",
    "plan.rs",
    "process.rs",
    "random.rs",
    "record.rs",
    "runner.rs",
    "session.rs",
    "target.rs",
    "text.rs",
    "uses.rs",
    "std_names.rs",
    "watch.rs",
    "wire.rs",
    "worker.rs",
];

/// Methods of a target that older versions of its crate may lack, as its file writes them. All have a
/// default in the trait: not offered.
const OPTIONAL: &str = "    std_names! { close }\n";

/// The program for a target at a version of its crate; `None` when the target is no crate.
pub fn harness_source(target: &TargetInfo, version: &str) -> Option<HarnessSource> {
    source(target, version, target.source.text.to_owned(), None)
}

/// Programs for versions that the first one does not fit: without methods that they may lack, then from
/// files of their own.
pub fn older_harness_sources(target: &TargetInfo, version: &str) -> Vec<HarnessSource> {
    let text = target.source.text;
    let without = text.contains(OPTIONAL).then(|| (text.replace(OPTIONAL, ""), None));
    let editions = target.source.older.iter();
    let editions = editions.map(|edition| (edition.text.to_owned(), Some(edition.flavours)));
    let all = without.into_iter().chain(editions);
    all.filter_map(|(text, flavours)| source(target, version, text, flavours)).collect()
}

fn source(
    target: &TargetInfo,
    version: &str,
    text: String,
    flavours: Option<&'static [Flavour]>,
) -> Option<HarnessSource> {
    let package = target.package?;
    let mut files: Vec<(String, String)> = HARNESS
        .iter()
        .map(|(name, text)| (format!("src/harness/{name}"), (*text).to_owned()))
        .collect();
    let module = target.source.module;
    files.push((format!("src/targets/{module}.rs"), text));
    files.push((
        "src/targets/mod.rs".to_owned(),
        format!("//! One version of one crate.\n\npub mod {module};\n"),
    ));
    files.push(("src/main.rs".to_owned(), main_file(target)));
    files.push(("Cargo.toml".to_owned(), manifest(target, package, version)));
    let pin = Some((package.to_owned(), version.to_owned()));
    Some(HarnessSource { files, pin, flavours })
}

fn manifest(target: &TargetInfo, package: &str, version: &str) -> String {
    let features = target.source.features;
    let more = target.source.dependencies;
    format!(
        r#"[package]
name = "strait-harness"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
{package} = {{ version = "{version}"{features} }}
{more}
[profile.release]
debug = "line-tables-only"
incremental = false

[workspace]
"#
    )
}

fn main_file(target: &TargetInfo) -> String {
    let (name, module, value) = (target.name, target.source.module, target.source.value);
    format!(
        r#"//! Runs plans on one version of one crate. Written by Strait.
#![forbid(unsafe_code)]
#![allow(dead_code)]

mod harness;
mod targets;

use std::process::ExitCode;

use harness::runner::{{Runner, Sessions}};

fn main() -> ExitCode {{
    let open = |name: &str| -> Option<Box<dyn Runner>> {{
        if name == "{name}" {{
            Some(Box::new(Sessions::new(targets::{module}::{value})))
        }} else {{
            None
        }}
    }};
    match harness::worker::serve(std::io::stdin().lock(), std::io::stdout(), &open) {{
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }}
}}
"#
    )
}
