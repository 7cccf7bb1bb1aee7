//! The small program around one version of a channel crate, or around a working tree, built with the user's
//! cargo.

use std::path::PathBuf;

use strait_runtimes::{Flavour, HarnessSource, TargetInfo, harness_source, older_harness_sources};
use strait_toolchain::{Built, Cache, Cargo, Dependency, Harness, Version};

use crate::error::Error;
use crate::fuzz_target::package;

/// The small program, and the flavours that it has, if they are not those of the target.
pub(crate) struct CrateBuild {
    pub built: Built,
    pub flavours: Option<&'static [Flavour]>,
}

/// Builds the small program that runs plans on one version, from the registry or from a folder. If it
/// cannot be built, without what older versions may lack.
pub(crate) fn build(
    cargo: &Cargo,
    cache: &Cache,
    target: &TargetInfo,
    version: &Version,
    folder: Option<PathBuf>,
) -> Result<CrateBuild, Error> {
    let bug = || Error::Bug { what: format!("the harness of {}: no source", target.name) };
    let text = version.to_string();
    let newest = harness_source(target, &text).ok_or_else(bug)?;
    // What the newest lacks says more than what the others lack.
    let mut refused = None;
    for source in [newest].into_iter().chain(older_harness_sources(target, &text)) {
        let flavours = source.flavours;
        let mut harness = harness(target, version, source)?;
        harness.pinned.folder.clone_from(&folder);
        match cargo.build(cache, &harness) {
            Ok(built) => return Ok(CrateBuild { built, flavours }),
            Err(why @ strait_toolchain::Error::CannotBuild { .. }) => {
                refused.get_or_insert(why);
            }
            Err(other) => return Err(other.into()),
        }
    }
    Err(refused.map_or_else(bug, Error::from))
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
