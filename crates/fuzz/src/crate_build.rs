//! The small program around one version of a channel crate, or around a working tree, built with the user's
//! cargo.

use std::path::PathBuf;

use strait_runtimes::{HarnessSource, TargetInfo, harness_source, older_harness_source};
use strait_toolchain::{Built, Cache, Cargo, Dependency, Harness, Version};

use crate::error::Error;
use crate::fuzz_target::package;

/// Builds the small program that runs plans on one version, from the registry or from a folder. If it
/// cannot be built, without what older versions may lack.
pub(crate) fn build(
    cargo: &Cargo,
    cache: &Cache,
    target: &TargetInfo,
    version: &Version,
    folder: Option<PathBuf>,
) -> Result<Built, Error> {
    let bug = || Error::Bug { what: format!("the harness of {}: no source", target.name) };
    let text = version.to_string();
    let mut newest = harness(target, version, harness_source(target, &text).ok_or_else(bug)?)?;
    newest.pinned.folder.clone_from(&folder);
    let refused = match cargo.build(cache, &newest) {
        Err(refused @ strait_toolchain::Error::CannotBuild { .. }) => refused,
        other => return Ok(other?),
    };
    let Some(older) = older_harness_source(target, &text) else { return Err(refused.into()) };
    let mut older = harness(target, version, older)?;
    older.pinned.folder = folder;
    // What the newest lacks says more than what is left.
    cargo.build(cache, &older).map_err(|_| refused.into())
}

/// A harness as the toolchain builds it.
fn harness(
    target: &TargetInfo,
    version: &Version,
    source: HarnessSource,
) -> Result<Harness, Error> {
    let package = package(target)?;
    let bug = |what: &str| Error::Bug { what: format!("the harness of {}: {what}", target.name) };
    let (manifests, files): (Vec<_>, Vec<_>) =
        source.files.into_iter().partition(|(path, _)| path == "Cargo.toml");
    let manifest = manifests.first().ok_or_else(|| bug("no manifest"))?;
    let mut manifest: toml::Table = manifest.1.parse().map_err(|error| bug(&format!("{error}")))?;
    let dependencies = manifest.remove("dependencies");
    let Some(toml::Value::Table(mut dependencies)) = dependencies else {
        return Err(bug("no dependencies"));
    };
    let features = dependencies.remove(package).and_then(|entry| {
        let features = entry.get("features")?.as_array()?.clone();
        Some(features.iter().filter_map(|feature| Some(feature.as_str()?.to_owned())).collect())
    });
    manifest.retain(|table, _| table == "profile");
    Ok(Harness {
        name: "strait-harness".to_owned(),
        pinned: Dependency {
            features: features.unwrap_or_default(),
            ..Dependency::new(package, version.to_string())
        },
        dependencies: dependencies.to_string(),
        tables: manifest.to_string(),
        files,
    })
}
