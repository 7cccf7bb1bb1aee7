//! What is fuzzed: one target at one version, what programs it takes, and how its worker processes are
//! started. In: what the user wrote, `NAME`, `NAME@VERSION` or `NAME@FROM..TO`. Out: targets; channel
//! crates are built in or built with the user's cargo, interpreters of other languages with the user's own
//! tools.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use strait_calculus::suggestion;
use strait_emit::{Toolchain, Workshop};
use strait_generate::Capabilities;
use strait_runtimes::{Flavour, Promise, TARGETS, TargetInfo, target};
use strait_toolchain::{
    BuildMetadata, Cache, Cargo, Launcher, Limits, Version, WorkerSpec, limit_self, within,
};

use crate::crate_build::{CrateBuild, build};
use crate::dialect::Dialect;
use crate::error::Error;

/// What the worker's command line says after the hidden word that makes it a worker.
const RUNTIMES: &str = "runtimes";
/// Address space of a worker. A faulty channel may ask for all there is.
const ADDRESS_SPACE: u64 = 64 << 30;
/// The largest file a worker may write: it has no business to write any.
const FILE_SIZE: u64 = 64 << 20;
/// How many versions an error names.
const NAMED: usize = 8;

/// Names and versions of all crates that this one was built with.
const VERSIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/versions.rs"));

/// A target at a version.
#[derive(Clone, Debug)]
pub struct FuzzTarget {
    /// The target's name.
    pub target: String,
    /// Its version.
    pub version: String,
    /// Whether this version is the one built in.
    pub is_built_in: bool,
    /// Who can run the processes, and what programs may do then.
    pub flavours: Vec<(Flavour, Capabilities)>,
    /// The same for programs with operations about which the target promises little.
    pub loose: Vec<(Flavour, Capabilities)>,
    /// How programs get to run there.
    pub backend: Backend,
}

/// How programs get to run.
#[derive(Clone, Debug)]
pub enum Backend {
    /// Plans are sent to workers.
    Worker(WorkerSpec),
    /// Many programs at once are written in the target's language and compiled.
    Compiler(Box<Toolchain>),
}

impl FuzzTarget {
    /// The version that is built in.
    pub fn built_in(target: &TargetInfo) -> FuzzTarget {
        FuzzTarget {
            target: target.name.to_owned(),
            version: built_in_version(target),
            is_built_in: true,
            flavours: flavours(target, Promise::Full),
            loose: flavours(target, Promise::Loose),
            backend: Backend::Worker(WorkerSpec::own([RUNTIMES])),
        }
    }

    /// `flume 0.12.0`
    pub fn name(&self) -> String {
        format!("{} {}", self.target, self.version)
    }

    /// As a user would ask for this very version. What has no versions to choose from is its name.
    pub(crate) fn asked(&self) -> String {
        let has_versions = target(&self.target).map_or(true, |info| info.package.is_some());
        if has_versions { format!("{}@{}", self.target, self.version) } else { self.target.clone() }
    }

    /// Targets with the same key can share a worker.
    pub(crate) fn worker_key(&self) -> String {
        if self.is_built_in { String::new() } else { self.name() }
    }
}

fn flavours(target: &TargetInfo, promise: Promise) -> Vec<(Flavour, Capabilities)> {
    let flavours = target.flavours().into_iter();
    let capabilities = |flavour| Some((flavour, target.capabilities_to(promise, flavour)?));
    flavours.filter_map(capabilities).collect()
}

/// The version of a target that is part of this binary.
pub fn built_in_version(target: &TargetInfo) -> String {
    let name = target.package.unwrap_or(target.name);
    let known = VERSIONS.iter().rev().find(|(package, _)| *package == name);
    // The channels of the tests have no version of their own.
    known.map_or(env!("CARGO_PKG_VERSION"), |(_, version)| version).to_owned()
}

/// What `main` does in a worker process: serves jobs until there are no more. The arguments are those
/// that the launcher gave, the rest is the process's own input and output.
pub fn worker_main(
    _arguments: &[OsString],
    input: impl BufRead,
    output: impl Write + Send,
    mut complaints: impl Write,
) -> ExitCode {
    let limits = Limits {
        address_space: Some(ADDRESS_SPACE),
        file_size: Some(FILE_SIZE),
        ..Limits::default()
    };
    if let Err(error) = limit_self(&limits) {
        let _ = writeln!(complaints, "{error}");
        return ExitCode::from(2);
    }
    let open = |name: &str| target(name).ok().map(TargetInfo::runner);
    match strait_runtimes::serve(input, output, &open) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// What the user asked for.
#[derive(Clone, Debug)]
enum Wanted {
    BuiltIn(&'static TargetInfo),
    Version(&'static TargetInfo, Version),
    Range(&'static TargetInfo, Version, Version),
    /// Another language, at the version that is installed or the newest known, at one, or at all
    /// known ones of a range.
    Language(Dialect, Option<String>),
    Languages(Dialect, Version, Version),
}

/// Makes targets of what users write.
#[derive(Debug)]
pub struct TargetFinder<'a> {
    launcher: &'a Launcher,
    stop: Arc<AtomicBool>,
    cargo: Option<(Cargo, Cache)>,
    flix_jar: Option<PathBuf>,
    /// The folder that crates come from instead of the registry.
    tree: Option<PathBuf>,
    /// Versions of a range that do not build, and why.
    pub unbuilt: Vec<(String, String)>,
    /// Targets that cannot be had here, and why.
    pub missing: Vec<(String, Error)>,
}

impl<'a> TargetFinder<'a> {
    /// Nothing is looked for until it is needed. The flag ends whatever cargo is doing.
    pub fn new(launcher: &'a Launcher, stop: Arc<AtomicBool>) -> Self {
        let (unbuilt, missing) = (Vec::new(), Vec::new());
        TargetFinder { launcher, stop, cargo: None, flix_jar: None, tree: None, unbuilt, missing }
    }

    /// The `flix.jar` that the user has.
    pub fn with_flix_jar(mut self, jar: Option<PathBuf>) -> Self {
        self.flix_jar = jar;
        self
    }

    /// A working tree: crates come from this folder, whatever version is asked for.
    pub fn with_tree(mut self, folder: Option<PathBuf>) -> Self {
        self.tree = folder;
        self
    }

    /// Every target that is built in.
    pub fn all() -> Vec<FuzzTarget> {
        TARGETS.iter().map(FuzzTarget::built_in).collect()
    }

    /// What is asked for, in its order. `tell` hears about builds that take a while. A target that
    /// cannot be had does not keep the others from being fuzzed; it is an error if none is left.
    pub fn resolve(
        &mut self,
        asked: &[String],
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<FuzzTarget>, Error> {
        // What is misspelt is said before anything is built.
        let wanted =
            asked.iter().map(|text| parse(text)).collect::<Result<Vec<Wanted>, Error>>()?;
        let mut targets: Vec<FuzzTarget> = Vec::new();
        for (text, wanted) in asked.iter().zip(wanted) {
            match self.one(wanted, tell) {
                Ok(found) => {
                    for target in found {
                        if !targets.iter().any(|known| known.name() == target.name()) {
                            targets.push(target);
                        }
                    }
                }
                Err(error @ Error::Toolchain(strait_toolchain::Error::Cancelled { .. })) => {
                    return Err(error);
                }
                Err(error) => self.missing.push((text.clone(), error)),
            }
        }
        match (targets.is_empty(), self.missing.is_empty()) {
            (true, false) => Err(self.missing.remove(0).1),
            _ => Ok(targets),
        }
    }

    fn one(
        &mut self,
        wanted: Wanted,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<FuzzTarget>, Error> {
        match wanted {
            Wanted::BuiltIn(target) if self.tree.is_none() => {
                Ok(vec![FuzzTarget::built_in(target)])
            }
            Wanted::BuiltIn(target) => Ok(vec![self.tree(target, tell)?]),
            Wanted::Version(target, _) | Wanted::Range(target, ..) if self.tree.is_some() => {
                Err(Error::VersionOfTree { name: target.name.to_owned() })
            }
            Wanted::Version(target, version) => Ok(vec![self.version(target, &version, tell)?]),
            Wanted::Range(target, from, to) => self.range(target, &from, &to, tell),
            Wanted::Language(dialect, version) => {
                Ok(vec![self.language(dialect, version.as_deref(), tell)?])
            }
            Wanted::Languages(dialect, from, to) => self.languages(dialect, &from, &to, tell),
        }
    }

    /// Another language, its interpreter built if need be.
    pub fn language(
        &mut self,
        dialect: Dialect,
        version: Option<&str>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<FuzzTarget, Error> {
        // A version becomes part of commands and of files for build tools, and a finding or a queue
        // from elsewhere may say anything.
        if let Some(version) = version.filter(|version| !is_version(version)) {
            let given = format!("{}@{version}", dialect.name());
            return Err(Error::BadTarget {
                given,
                problem: format!("`{version}` is not a version"),
            });
        }
        let shown = version.map_or(String::new(), |version| format!(" {version}"));
        tell(&format!("looking for {}{shown}", dialect.platform.name()));
        let mut workshop =
            Workshop::new(self.launcher.clone(), Cache::find()?).cancel(Arc::clone(&self.stop));
        if let Some(jar) = &self.flix_jar {
            workshop = workshop.with_flix_jar(jar);
        }
        let toolchain = Toolchain::find(&workshop, dialect.platform, version)?;
        // Goroutines, coroutines and go blocks are tasks: none of them is a thread.
        let flavours = vec![(Flavour::Tasks, toolchain.capabilities())];
        Ok(FuzzTarget {
            target: dialect.name(),
            version: toolchain.version().to_owned(),
            is_built_in: false,
            flavours,
            loose: Vec::new(),
            backend: if dialect.is_compiled {
                Backend::Compiler(Box::new(toolchain))
            } else {
                Backend::Worker(toolchain.interpreter()?)
            },
        })
    }

    fn languages(
        &mut self,
        dialect: Dialect,
        from: &Version,
        to: &Version,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<FuzzTarget>, Error> {
        let (mut targets, platform) = (Vec::new(), dialect.platform);
        for version in platform.known_versions() {
            if !loose_version(version).is_some_and(|version| (from..=to).contains(&&version)) {
                continue;
            }
            match self.language(dialect, Some(version), tell) {
                Ok(target) => targets.push(target),
                Err(Error::Missing(missing)) => {
                    let name = format!("{} {version}", dialect.name());
                    tell(&format!("{name} cannot be had and is left out: {missing}"));
                    self.unbuilt.push((name, missing.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        if targets.is_empty() && self.unbuilt.is_empty() {
            return Err(Error::EmptyRange {
                name: dialect.name(),
                from: from.to_string(),
                to: to.to_string(),
                known: platform.known_versions().iter().map(|&known| known.to_owned()).collect(),
            });
        }
        Ok(targets)
    }

    /// The working tree of a crate, built anew if it has changed.
    fn tree(
        &mut self,
        target: &TargetInfo,
        tell: &mut dyn FnMut(&str),
    ) -> Result<FuzzTarget, Error> {
        let package = package(target)?;
        let Some(folder) = self.tree.clone() else {
            return Err(Error::Bug { what: "no working tree".to_owned() });
        };
        let (cargo, cache) = self.cargo()?;
        let found = cargo.package_in(&folder, package)?;
        let Some((place, mut version)) = found else {
            let (name, package) = (target.name.to_owned(), package.to_owned());
            return Err(Error::NotInTree { name, package, folder });
        };
        tell(&format!("building {} {version} in {}", target.name, place.display()));
        let built = build(cargo, cache, target, &version, Some(place))?;
        version.build = tree_mark();
        Ok(foreign(target, &version, built))
    }

    /// One version, built if need be; the working tree if there is one.
    pub fn version(
        &mut self,
        target: &TargetInfo,
        version: &Version,
        tell: &mut dyn FnMut(&str),
    ) -> Result<FuzzTarget, Error> {
        if self.tree.is_some() {
            return self.tree(target, tell);
        }
        if version.build == tree_mark() {
            return Err(Error::TreeNotNamed { name: target.name.to_owned() });
        }
        if version.to_string() == built_in_version(target) {
            return Ok(FuzzTarget::built_in(target));
        }
        tell(&format!("building {} {version}", target.name));
        let (cargo, cache) = self.cargo()?;
        let built = build(cargo, cache, target, version, None)?;
        Ok(foreign(target, version, built))
    }

    fn range(
        &mut self,
        target: &TargetInfo,
        from: &Version,
        to: &Version,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<FuzzTarget>, Error> {
        let package = package(target)?;
        let (cargo, cache) = self.cargo()?;
        let published = cargo.published(cache, package)?;
        let chosen = within(&published, from, to);
        if chosen.is_empty() {
            let newest = published.iter().rev().take(NAMED).rev();
            return Err(Error::EmptyRange {
                name: target.name.to_owned(),
                from: from.to_string(),
                to: to.to_string(),
                known: newest.map(|one| one.version.to_string()).collect(),
            });
        }
        let mut targets = Vec::new();
        for one in chosen {
            match self.version(target, &one.version, tell) {
                Ok(target) => targets.push(target),
                // An old version may lack what our harness uses; the others go on.
                Err(Error::Toolchain(
                    error @ (strait_toolchain::Error::CannotBuild { .. }
                    | strait_toolchain::Error::CannotResolve { .. }),
                )) => {
                    let name = format!("{} {}", target.name, one.version);
                    tell(&format!("{name} cannot be built with the harness and is left out"));
                    self.unbuilt.push((name, error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(targets)
    }

    fn cargo(&mut self) -> Result<&(Cargo, Cache), Error> {
        if self.cargo.is_none() {
            let cargo = Cargo::find(self.launcher)?.cancelled_by(Arc::clone(&self.stop));
            self.cargo = Some((cargo, Cache::find()?));
        }
        self.cargo.as_ref().ok_or_else(|| Error::Bug { what: "no cargo".to_owned() })
    }
}

/// What the version of a working tree ends with, after a plus sign.
fn tree_mark() -> BuildMetadata {
    BuildMetadata::new("tree").unwrap_or_default()
}

/// A target in a program of its own.
fn foreign(target: &TargetInfo, version: &Version, build: CrateBuild) -> FuzzTarget {
    let has = |flavour: Flavour| build.flavours.is_none_or(|all| all.contains(&flavour));
    let had = |promise: Promise| {
        let all = flavours(target, promise).into_iter();
        all.filter(|(flavour, _)| has(*flavour)).collect()
    };
    let limits = Limits {
        address_space: Some(ADDRESS_SPACE),
        file_size: Some(FILE_SIZE),
        ..Limits::default()
    };
    FuzzTarget {
        target: target.name.to_owned(),
        version: version.to_string(),
        is_built_in: false,
        flavours: had(Promise::Full),
        loose: if build.flavours.is_none() { had(Promise::Loose) } else { Vec::new() },
        backend: Backend::Worker(WorkerSpec::foreign(build.built.program, [""; 0]).limits(limits)),
    }
}

pub(crate) fn package(target: &TargetInfo) -> Result<&'static str, Error> {
    target.package.ok_or_else(|| Error::NoVersions {
        name: target.name.to_owned(),
        why: if target.name == "std" {
            "it comes with the compiler that built Strait"
        } else {
            "it is part of Strait"
        },
    })
}

/// What was meant, or everything that can be fuzzed.
fn unknown(name: &str) -> Error {
    let languages: Vec<String> = Dialect::all().map(Dialect::name).collect();
    let crates = TARGETS.iter().map(|target| target.name);
    let next = suggestion(name, crates.chain(languages.iter().map(String::as_str)));
    Error::NoTarget { name: name.to_owned(), next }
}

/// Is what the user wrote the name of a target, a version, a range? Nothing is built for the answer.
pub fn check_targets(asked: &[String]) -> Result<(), Error> {
    asked.iter().try_for_each(|text| parse(text).map(drop))
}

/// Numbers with dots, and maybe letters as in `1.27rc1` or `1.0.0-alpha.1`.
fn is_version(text: &str) -> bool {
    let allowed = |char: char| char.is_ascii_alphanumeric() || ".-".contains(char);
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(allowed)
        && !text.contains("..")
}

/// Languages write `0.19` where crates write `0.19.0`.
fn loose_version(text: &str) -> Option<Version> {
    Version::parse(text).or_else(|_| Version::parse(&format!("{text}.0"))).ok()
}

fn parse(text: &str) -> Result<Wanted, Error> {
    let bad = |problem: String| Error::BadTarget { given: text.to_owned(), problem };
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let range = |version: &str, read: &dyn Fn(&str) -> Result<Version, Error>| {
        let Some((from, to)) = version.split_once("..") else { return Ok(None) };
        let (from, to) = (read(from)?, read(to.trim_start_matches('='))?);
        if from > to {
            return Err(bad(format!("{from} is newer than {to}")));
        }
        Ok(Some((from, to)))
    };
    if let Some(dialect) = Dialect::of(name) {
        let read = |text: &str| {
            loose_version(text).ok_or_else(|| bad(format!("`{text}` is not a version")))
        };
        let Some(version) = version else { return Ok(Wanted::Language(dialect, None)) };
        return match range(version, &read)? {
            Some((from, to)) => Ok(Wanted::Languages(dialect, from, to)),
            None => read(version).map(|_| Wanted::Language(dialect, Some(version.to_owned()))),
        };
    }
    let target = target(name).map_err(|_| unknown(name))?;
    let Some(version) = version else { return Ok(Wanted::BuiltIn(target)) };
    package(target)?;
    let read = |text: &str| {
        Version::parse(text).map_err(|error| bad(format!("`{text}` is not a version ({error})")))
    };
    match range(version, &read)? {
        Some((from, to)) => Ok(Wanted::Range(target, from, to)),
        None => Ok(Wanted::Version(target, read(version)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match parse(text) {
            Ok(Wanted::BuiltIn(target)) => target.name.to_owned(),
            Ok(Wanted::Version(target, version)) => format!("{} at {version}", target.name),
            Ok(Wanted::Range(target, from, to)) => format!("{} from {from} to {to}", target.name),
            Ok(Wanted::Language(dialect, None)) => format!("{}, any", dialect.name()),
            Ok(Wanted::Language(dialect, Some(version))) => {
                format!("{}, {version}", dialect.name())
            }
            Ok(Wanted::Languages(dialect, from, to)) => {
                format!("{}, {from} to {to}", dialect.name())
            }
            Err(error) => error.to_string(),
        };
        assert!(shown.starts_with(expected), "{text}: {shown}");
    }

    #[test]
    fn targets_are_read_as_users_write_them() {
        check("flume", "flume");
        check("kanal@0.1.0-pre1", "kanal at 0.1.0-pre1");
        check("flume@0.10.0..0.12.0", "flume from 0.10.0 to 0.12.0");
        check("flume@0.10.0..=0.12.0", "flume from 0.10.0 to 0.12.0");
        check("flume@", "`flume@` is no target: `` is not a version");
        check("flume@1", "`flume@1` is no target: `1` is not a version");
        check("flume@0.12.0..0.10.0", "`flume@0.12.0..0.10.0` is no target: 0.12.0 is newer");
        check("go", "go, any");
        check("go-compiled@1.21.0", "go-compiled, 1.21.0");
        check("crystal", "crystal, any");
        check("crystal-compiled", "there is no target `crystal-compiled`");
        check("core-async-compiled", "there is no target `core-async-compiled`");
        check("kotlin@0.25.3", "kotlin, 0.25.3");
        check("kotlin@0.19..1.11.0", "kotlin, 0.19.0 to 1.11.0");
        check("kotlin@new", "`kotlin@new` is no target: `new` is not a version");
        check("flum", "there is no target `flum`; did you mean `flume`?");
        check(
            "crossbeam@0.5.14",
            "there is no target `crossbeam`; did you mean `crossbeam-channel`?",
        );
        check("kotlni", "there is no target `kotlni`; did you mean `kotlin`?");
        check("mpsc", "there is no target `mpsc`; known are async-channel, ");
        check("std@1.70.0", "std has no versions to choose from: it comes with the compiler");
        check("reference@1.0.0", "reference has no versions to choose from: it is part of Strait");
    }

    #[test]
    fn a_version_is_no_path_and_no_markup() {
        for version in ["1.26.8", "0.19", "1.27rc1", "1.3.0-RC2", "1.6.681"] {
            assert!(is_version(version), "{version}");
        }
        for version in ["", "1/../../evil", "1</version>", "evil", "1..2", "1 2", "-1", "1\n"] {
            assert!(!is_version(version), "{version}");
        }
    }

    #[test]
    fn every_crate_knows_its_version() {
        for target in TARGETS {
            assert_ne!(built_in_version(target), env!("CARGO_PKG_VERSION"), "{}", target.name);
        }
    }
}
