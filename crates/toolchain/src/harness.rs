//! A small crate around one version of another crate, made in the cache and built with the user's
//! cargo.
//!
//! Cargo refuses a yanked version when it is asked for as `=1.2.3`, and old versions with faults are
//! often yanked. It takes one that stands in Cargo.lock, though, and `cargo update --precise` puts it
//! there if the requirement is loose enough. So three requirements are tried: exactly this version,
//! at least this one, at most this one; the latter two followed by `--precise`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;
use serde::Deserialize;

use crate::cache::{Cache, check_name, failed, source_key, write_if_changed};
use crate::cargo::{Cargo, Refusal};
use crate::child::Finished;
use crate::error::Error;
use crate::process::End;

/// The crate under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Its name in the registry.
    pub name: String,
    /// This version and no other.
    pub version: String,
    /// The folder of its sources, if they do not come from the registry.
    pub folder: Option<PathBuf>,
    /// Its name in the sources of the harness, if it is to be another.
    pub alias: Option<String>,
    /// Its features to turn on.
    pub features: Vec<String>,
    /// Whether its default features are on.
    pub default_features: bool,
}

impl Dependency {
    /// With default features and its own name.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Dependency {
            name: name.into(),
            version: version.into(),
            folder: None,
            alias: None,
            features: Vec::new(),
            default_features: true,
        }
    }
}

/// A crate to be made: one binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    /// The name of package and binary.
    pub name: String,
    /// The crate under test.
    pub pinned: Dependency,
    /// More lines of the table `[dependencies]`.
    pub dependencies: String,
    /// More tables of Cargo.toml.
    pub tables: String,
    /// Paths from the crate's root and contents; `src/main.rs` is among them.
    pub files: Vec<(String, String)>,
}

/// A harness that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The binary.
    pub program: PathBuf,
    /// The crate, for people who want to build it by hand.
    pub directory: PathBuf,
    /// Whether it was there already.
    pub reused: bool,
}

impl Cargo {
    /// Makes, resolves and builds a harness in release mode, or finds that this was done before
    /// with the same files, versions and cargo. Campaigns that build at once wait for each other.
    pub fn build(&self, cache: &Cache, harness: &Harness) -> Result<Built, Error> {
        let version = self.check(harness)?;
        if harness.pinned.folder.is_some() {
            return self.build_tree(cache, harness);
        }
        let key = harness.key(self.version());
        let folder = format!("harness/{}-{}-{key}", harness.pinned.name, version);
        let directory = cache.folder(&folder)?;
        let program = directory.join("bin").join(&harness.name);
        if program.is_file() {
            return Ok(Built { program, directory, reused: true });
        }
        let _held = cache.lock("build", self.cancel())?;
        if program.is_file() {
            return Ok(Built { program, directory, reused: true });
        }
        for (path, content) in &harness.files {
            write_if_changed(&directory.join(path), content)?;
        }
        self.resolve(&directory, harness, &version)?;
        let target = cache.folder("target")?;
        let made = self.compile(&directory, &target, harness)?;
        keep(&made, &program)?;
        Ok(Built { program, directory, reused: false })
    }

    /// Builds a harness around sources that may have changed since the last time, which cargo knows.
    fn build_tree(&self, cache: &Cache, harness: &Harness) -> Result<Built, Error> {
        let key = harness.key(self.version());
        let directory = cache.folder(format!("harness/{}-tree-{key}", harness.pinned.name))?;
        let program = directory.join("bin").join(&harness.name);
        let _held = cache.lock("build", self.cancel())?;
        for (path, content) in &harness.files {
            write_if_changed(&directory.join(path), content)?;
        }
        write_if_changed(&directory.join("Cargo.toml"), &harness.manifest(""))?;
        let finished =
            self.run_anywhere(&directory, &["generate-lockfile"], &harness.pinned.name)?;
        if !finished.end.is_success() {
            let refusal = Refusal::of(&finished, &harness.pinned.name);
            return Err(refused(refusal, harness, &finished));
        }
        let target = cache.folder("target")?;
        let made = self.compile(&directory, &target, harness)?;
        keep(&made, &program)?;
        Ok(Built { program, directory, reused: false })
    }

    /// Builds a crate of these files, which has one binary of this name, in release mode.
    pub fn build_folder(
        &self,
        cache: &Cache,
        files: &[(String, String)],
        name: &str,
    ) -> Result<PathBuf, Error> {
        files.iter().try_for_each(|(path, _)| check_name(path))?;
        let directory = cache.folder(format!("programs/{name}"))?;
        let _held = cache.lock("build", self.cancel())?;
        for (path, content) in files {
            write_if_changed(&directory.join(path), content)?;
        }
        let target = cache.folder("target")?;
        let target = target.to_string_lossy();
        let format = "--message-format=json-render-diagnostics";
        let arguments = ["build", "--release", "--target-dir", &target, format];
        let finished = self.run_anywhere(&directory, &arguments, name)?;
        let cannot = |said: String| Error::CannotBuild {
            what: format!("the program {name}"),
            directory: directory.clone(),
            said,
        };
        if !finished.end.is_success() {
            return Err(cannot(finished.stderr.last_lines(60)));
        }
        let made = executable(&finished, name).ok_or_else(|| cannot("no binary".to_owned()))?;
        let program = directory.join("bin").join(name);
        keep(&made, &program)?;
        Ok(program)
    }

    /// Runs a program that was built here; how it ended.
    pub fn run_program(&self, program: &Path, wall: Duration) -> Result<End, Error> {
        Ok(self.run_for(program, wall)?.end)
    }

    /// The folder and the version of a package that stands in a folder or in its workspace; `None` if it
    /// does not.
    pub fn package_in(
        &self,
        folder: &Path,
        package: &str,
    ) -> Result<Option<(PathBuf, Version)>, Error> {
        let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
        let finished = self.run(folder, &arguments)?;
        let unreadable = |said: String| Error::CannotResolve {
            what: format!("the package {package} in {}", folder.display()),
            said,
        };
        if !finished.end.is_success() {
            return Err(unreadable(finished.stderr.last_lines(6)));
        }
        let metadata: Metadata = serde_json::from_str(finished.stdout.text().trim())
            .map_err(|error| unreadable(error.to_string()))?;
        let found = metadata.packages.into_iter().find(|known| known.name == package);
        Ok(found.and_then(|found| Some((found.manifest_path.parent()?.to_owned(), found.version))))
    }

    fn check(&self, harness: &Harness) -> Result<Version, Error> {
        let names = [&harness.name, &harness.pinned.name];
        let mut names = names.into_iter().chain(harness.pinned.alias.as_ref());
        let is_bad = |name: &&String| check_name(name).is_err() || name.contains(['/', '.']);
        if let Some(name) = names.find(is_bad) {
            return Err(Error::BadName { name: name.clone() });
        }
        harness.files.iter().try_for_each(|(path, _)| check_name(path))?;
        let version = &harness.pinned.version;
        Version::parse(version).map_err(|_| Error::BadVersion { version: version.clone() })
    }

    /// Leaves a Cargo.lock with the pinned version.
    fn resolve(&self, directory: &Path, harness: &Harness, version: &Version) -> Result<(), Error> {
        let name = &harness.pinned.name;
        let (manifest, lock) = (directory.join("Cargo.toml"), directory.join("Cargo.lock"));
        let mut last_words = String::new();
        for requirement in ["=", ">=", "<="] {
            write_if_changed(&manifest, &harness.manifest(&format!("{requirement}{version}")))?;
            if lock.exists() {
                fs::remove_file(&lock).map_err(failed("remove", &lock))?;
            }
            let finished = self.run_anywhere(directory, &["generate-lockfile"], name)?;
            if !finished.end.is_success() {
                last_words = finished.stderr.last_lines(6);
                match Refusal::of(&finished, name) {
                    Refusal::NoVersion => continue,
                    refusal => return Err(refused(refusal, harness, &finished)),
                }
            }
            let locked = locked_version(&lock, harness)?;
            if locked == version.to_string() {
                return Ok(());
            }
            let (package, precise) = (format!("{name}@{locked}"), version.to_string());
            let arguments = ["update", "--package", &package, "--precise", &precise];
            let finished = self.run_anywhere(directory, &arguments, name)?;
            if finished.end.is_success() {
                return Ok(());
            }
            last_words = finished.stderr.last_lines(6);
            // Cargo speaks of a missing package when it is the version that is missing.
            match Refusal::of(&finished, name) {
                Refusal::NoVersion | Refusal::NoCrate => {}
                refusal => return Err(refused(refusal, harness, &finished)),
            }
        }
        Err(Error::NoSuchVersion {
            name: name.clone(),
            version: version.to_string(),
            said: last_words,
        })
    }

    fn compile(
        &self,
        directory: &Path,
        target: &Path,
        harness: &Harness,
    ) -> Result<PathBuf, Error> {
        let target = target.to_string_lossy();
        let format = "--message-format=json-render-diagnostics";
        let arguments = ["build", "--release", "--locked", "--target-dir", &target, format];
        let finished = self.run_anywhere(directory, &arguments, &harness.pinned.name)?;
        if !finished.end.is_success() {
            return Err(match Refusal::of(&finished, &harness.pinned.name) {
                Refusal::Network => refused(Refusal::Network, harness, &finished),
                _ => {
                    let said = finished.stderr.last_lines(60);
                    Error::CannotBuild {
                        what: harness.what(),
                        directory: directory.to_owned(),
                        said,
                    }
                }
            });
        }
        executable(&finished, &harness.name).ok_or_else(|| Error::CannotBuild {
            what: harness.what(),
            directory: directory.to_owned(),
            said: format!("nothing of a binary `{}`; is there a src/main.rs?", harness.name),
        })
    }
}

impl Harness {
    fn what(&self) -> String {
        format!("the harness for {} {}", self.pinned.name, self.pinned.version)
    }

    /// Cargo.toml. It is a workspace of its own: the cache may lie inside somebody's workspace.
    fn manifest(&self, requirement: &str) -> String {
        let Dependency { name, folder, alias, features, default_features, .. } = &self.pinned;
        let place = match folder {
            Some(folder) => format!("path = {:?}", folder.display().to_string()),
            None => format!("version = \"{requirement}\""),
        };
        let features: Vec<String> = features.iter().map(|feature| format!("{feature:?}")).collect();
        format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
             [dependencies]\n{} = {{ package = \"{name}\", {place}, features = [{}], default-features = {default_features} }}\n{}\n\n{}\n",
            self.name,
            alias.as_ref().unwrap_or(name),
            features.join(", "),
            self.dependencies.trim(),
            self.tables.trim(),
        )
    }

    /// Changes with everything the binary depends on.
    fn key(&self, cargo: &str) -> String {
        let manifest = self.manifest(&self.pinned.version);
        let files = self.files.iter().flat_map(|(path, content)| [path.as_str(), content.as_str()]);
        let parts = [cargo, manifest.as_str()].into_iter().chain(files);
        source_key(parts)
    }
}

fn refused(refusal: Refusal, harness: &Harness, finished: &Finished) -> Error {
    let Dependency { name, version, .. } = &harness.pinned;
    let (name, said) = (name.clone(), finished.stderr.last_lines(6));
    match refusal {
        Refusal::Network => Error::Offline { what: format!("{name} {version}"), said },
        Refusal::NoCrate => Error::NoSuchCrate { name, said },
        Refusal::NoVersion => Error::NoSuchVersion { name, version: version.clone(), said },
        Refusal::Other => Error::CannotResolve { what: harness.what(), said },
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    version: Version,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// The version of the pinned crate that the harness itself depends on; others may depend on
/// another one.
fn locked_version(path: &Path, harness: &Harness) -> Result<String, Error> {
    let text = fs::read_to_string(path).map_err(failed("read", path))?;
    let unreadable = |said: String| Error::CannotResolve { what: harness.what(), said };
    let lock: Lock = toml::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    let name = &harness.pinned.name;
    let root = lock.package.iter().find(|package| package.name == harness.name);
    let direct = root.and_then(|root| {
        // `name`, or `name version` where there are several.
        let mut lines = root.dependencies.iter().map(|line| line.split(' ').collect::<Vec<&str>>());
        lines
            .find(|line| line.first() == Some(&name.as_str()))?
            .get(1)
            .map(|version| (*version).to_owned())
    });
    let only = || {
        lock.package
            .iter()
            .find(|package| package.name == *name)
            .map(|package| package.version.clone())
    };
    direct.or_else(only).ok_or_else(|| unreadable(format!("Cargo.lock does not mention {name}")))
}

/// The path that cargo reports for the binary: settings of the user may have moved it.
fn executable(finished: &Finished, name: &str) -> Option<PathBuf> {
    let text = finished.stdout.text();
    let messages =
        text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut executables = messages.filter(|message| message["target"]["name"] == name);
    executables.find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// Copies the binary out of cargo's folder, where the next harness will overwrite it. It appears
/// under its name only when it is complete.
fn keep(made: &Path, program: &Path) -> Result<(), Error> {
    if let Some(parent) = program.parent() {
        fs::create_dir_all(parent).map_err(failed("make", parent))?;
    }
    let half = program.with_extension("incomplete");
    fs::copy(made, &half).map_err(failed("write", &half))?;
    fs::rename(&half, program).map_err(failed("rename", &half))
}
