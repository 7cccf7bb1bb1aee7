//! What there is to check in a folder. In: the folder and the user's cargo. Out: the Go modules, and the cargo
//! workspaces with the packages that use the library and the channel crates in their locked versions. What
//! could not be read is a problem with a name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use strait_runtimes::TARGETS;
use strait_toolchain::{Cargo, Launcher, Spec, run};

/// How many levels of folders are searched for a manifest.
const LEVELS: usize = 3;
/// How long cargo may take to describe a workspace.
const DESCRIPTION: Duration = Duration::from_secs(120);
/// Folders with code of others or with no code.
const PASSED_OVER: [&str; 5] = ["vendor", "testdata", "node_modules", "target", "strait-out"];
/// The packages of the library: tests of packages that depend on one are tests of the library.
const LIBRARY: [&str; 4] = ["strait", "strait-loom", "strait-tokio", "strait-linearizability"];

/// What there is.
#[derive(Debug, Default)]
pub struct Project {
    /// Folders of Go modules.
    pub modules: Vec<PathBuf>,
    pub workspaces: Vec<RustWorkspace>,
    /// What is there and could not be read.
    pub problems: Vec<String>,
}

/// A cargo workspace, or a package of its own.
#[derive(Debug)]
pub struct RustWorkspace {
    pub folder: PathBuf,
    /// Packages whose tests use the library.
    pub tests: Vec<String>,
    pub crates: Vec<LockedCrate>,
}

/// A channel crate that the workspace depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedCrate {
    /// As `strait fuzz` names it.
    pub target: &'static str,
    pub version: String,
    /// The manifest that names it.
    pub manifest: PathBuf,
    /// The line that names it there.
    pub line: u32,
}

/// Looks around. A folder counts if it has the manifest, else the nearest folders below it do.
pub fn find(root: &Path, launcher: &Launcher) -> Project {
    let mut project = Project { modules: with_file(root, "go.mod", LEVELS), ..Project::default() };
    let manifests = with_file(root, "Cargo.toml", LEVELS);
    if manifests.is_empty() {
        return project;
    }
    let cargo = match Cargo::find(launcher) {
        Ok(cargo) => cargo,
        Err(error) => {
            project.problems.push(format!("Cargo.toml was found, but {error}"));
            return project;
        }
    };
    for folder in manifests {
        match workspace(&folder, &cargo, launcher) {
            Ok(workspace) => project.workspaces.push(workspace),
            Err(why) => {
                let manifest = folder.join("Cargo.toml");
                project.problems.push(format!("{} cannot be read: {why}", manifest.display()));
            }
        }
    }
    project
}

/// The folders with a file of this name: this one, or the nearest ones below it.
fn with_file(folder: &Path, name: &str, levels: usize) -> Vec<PathBuf> {
    if folder.join(name).is_file() {
        return vec![folder.to_owned()];
    }
    if levels == 0 {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    let is_ours = |folder: &PathBuf| {
        let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        !name.starts_with('.') && !PASSED_OVER.contains(&name.as_ref())
    };
    folders
        .iter()
        .filter(|one| is_ours(one))
        .flat_map(|one| with_file(one, name, levels - 1))
        .collect()
}

/// Asks cargo, which runs no code of the workspace for that and fetches nothing.
fn workspace(folder: &Path, cargo: &Cargo, launcher: &Launcher) -> Result<RustWorkspace, String> {
    let spec = Spec::new(cargo.program())
        .arguments(["metadata", "--no-deps", "--format-version", "1"])
        .directory(folder)
        .keep(64 << 20)
        .wall(DESCRIPTION);
    let finished = run(launcher, &spec).map_err(|error| error.to_string())?;
    if !finished.end.is_success() {
        return Err(format!("`cargo metadata` says {}", finished.stderr.last_lines(3)));
    }
    let described: Value =
        serde_json::from_str(&finished.stdout.text()).map_err(|error| error.to_string())?;
    let lock = described["workspace_root"].as_str().map_or(folder, Path::new).join("Cargo.lock");
    let locked = match std::fs::read_to_string(&lock) {
        Ok(text) => locked_versions(&text)?,
        Err(_) => Vec::new(),
    };
    Ok(read(folder, &described, &locked))
}

/// The packages and versions in a `Cargo.lock`.
fn locked_versions(text: &str) -> Result<Vec<(String, String)>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let packages = table.get("package").and_then(toml::Value::as_array);
    let named = packages.into_iter().flatten().filter_map(|package| {
        // What comes from a folder or from git is no published version.
        let source = package.get("source")?.as_str()?;
        let text = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        source.starts_with("registry+").then(|| Some((text("name")?, text("version")?)))?
    });
    Ok(named.collect())
}

fn read(folder: &Path, described: &Value, locked: &[(String, String)]) -> RustWorkspace {
    let mut tests = Vec::new();
    let mut crates: Vec<LockedCrate> = Vec::new();
    for package in described["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
        let named: BTreeSet<&str> = package["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|dependency| dependency["name"].as_str())
            .collect();
        if named.iter().any(|name| LIBRARY.contains(name)) && !name.is_empty() {
            tests.push(name.to_owned());
        }
        for target in TARGETS {
            let Some(package) = target.package.filter(|package| named.contains(package)) else {
                continue;
            };
            for (_, version) in locked.iter().filter(|(name, _)| name == package) {
                let known =
                    crates.iter().any(|one| one.target == target.name && one.version == *version);
                if !known {
                    let text = std::fs::read_to_string(&manifest).unwrap_or_default();
                    let line = line_of(&text, package);
                    let version = version.clone();
                    let manifest = manifest.clone();
                    crates.push(LockedCrate { target: target.name, version, manifest, line });
                }
            }
        }
    }
    RustWorkspace { folder: folder.to_owned(), tests, crates }
}

/// The line of a manifest that names a dependency; the first one if none does.
fn line_of(manifest: &str, package: &str) -> u32 {
    let names = |line: &str| {
        let line = line.trim_start_matches(['[', ' ', '"']);
        let line = line.rsplit_once("dependencies.").map_or(line, |(_, rest)| rest);
        let rest = line.strip_prefix(package);
        rest.is_some_and(|rest| rest.starts_with([' ', '=', '.', ']', '"']))
    };
    let place = manifest.lines().position(names);
    place.map_or(1, |place| place as u32 + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_nearest_manifests_count() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in ["a/go.mod", "a/inner/go.mod", "b/c/go.mod", "vendor/x/go.mod", ".git/go.mod"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, "module m\n").expect("written");
        }
        let found = with_file(folder.path(), "go.mod", LEVELS);
        assert_eq!(found, ["a", "b/c"].map(|path| folder.path().join(path)));
        assert_eq!(with_file(&folder.path().join("a"), "go.mod", LEVELS).len(), 1);
    }

    #[test]
    fn packages_and_crates_are_read_from_what_cargo_says() {
        let lock = "[[package]]\nname = \"flume\"\nversion = \"0.11.1\"\nsource = \"registry+x\"\n\n\
                    [[package]]\nname = \"flume\"\nversion = \"0.10.0\"\nsource = \"registry+x\"\n\n\
                    [[package]]\nname = \"kanal\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\nname = \"tokio\"\nversion = \"1.40.0\"\nsource = \"registry+x\"\n";
        let locked = locked_versions(lock).expect("a lock file");
        let dependency = |name: &str| json!({ "name": name });
        let described = json!({ "packages": [
            { "name": "one", "manifest_path": "/nowhere/Cargo.toml",
              "dependencies": [dependency("flume"), dependency("kanal"), dependency("strait")] },
            { "name": "two", "manifest_path": "/nowhere/Cargo.toml",
              "dependencies": [dependency("flume"), dependency("serde")] },
        ] });
        let workspace = read(Path::new("/nowhere"), &described, &locked);
        assert_eq!(workspace.tests, ["one"]);
        let crates: Vec<(&str, &str)> =
            workspace.crates.iter().map(|one| (one.target, one.version.as_str())).collect();
        // tokio is not named, and kanal comes from a folder.
        assert_eq!(crates, [("flume", "0.11.1"), ("flume", "0.10.0")]);
    }

    #[test]
    fn a_dependency_has_its_line() {
        let manifest = "[package]\nname = \"flume-user\"\n\n[dependencies]\nserde = \"1\"\nflume = \"0.11\"\n\n[dependencies.kanal]\nversion = \"0.1\"\n";
        for (package, line) in [("flume", 6), ("kanal", 8), ("tokio", 1)] {
            assert_eq!(line_of(manifest, package), line, "{package}");
        }
    }
}
