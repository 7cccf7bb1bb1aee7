//! Which packages match the user's patterns, as `go list` sees them: modules, workspaces, vendoring
//! and build tags included.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::Build;
use crate::error::Error;
use crate::go::Go;

const PATIENCE: Duration = Duration::from_secs(300);
/// The list of a very large module.
const LONGEST: usize = 256 << 20;

/// A package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its import path.
    pub path: String,
    /// Its folder, where its tests run.
    pub directory: PathBuf,
    /// Does it have tests?
    pub has_tests: bool,
    /// Why it cannot be loaded.
    pub problem: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct Listed {
    import_path: String,
    dir: PathBuf,
    test_go_files: Vec<String>,
    #[serde(rename = "XTestGoFiles")]
    x_test_go_files: Vec<String>,
    error: Option<Problem>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Problem {
    err: String,
}

/// Lists the packages. `go` downloads what they need meanwhile, which it cannot do in a sandbox later.
pub fn packages(go: &Go, build: &Build, patterns: &[String]) -> Result<Vec<Package>, Error> {
    let fields = "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Error";
    let spec = go.spec(["list", "-e", fields]).arguments(build.tag_flags(&[]));
    let spec = spec.arguments(["--"]).arguments(patterns).outside_sandbox();
    let finished = go.run(spec.wall(PATIENCE).keep(LONGEST))?;
    let text = finished.stdout.text();
    let listed: Result<Vec<Listed>, _> =
        serde_json::Deserializer::from_str(&text).into_iter().collect();
    let listed = match listed {
        Ok(listed) if finished.end.is_success() => listed,
        _ => return Err(go.failure(&format!("list {}", patterns.join(" ")), &finished)),
    };
    if go.launcher().is_sandboxed() {
        download(go, build, patterns)?;
    }
    Ok(listed.into_iter().map(Package::from).collect())
}

/// Has `go` look for everything that the tests import, so that it downloads what is missing. What cannot
/// be found is said by the compiler.
fn download(go: &Go, build: &Build, patterns: &[String]) -> Result<(), Error> {
    let spec = go.spec(["list", "-e", "-deps", "-test", "-f="]).arguments(build.tag_flags(&[]));
    let spec = spec.arguments(["--"]).arguments(patterns).outside_sandbox();
    go.run(spec.wall(PATIENCE)).map(|_| ())
}

impl From<Listed> for Package {
    fn from(listed: Listed) -> Self {
        Package {
            has_tests: !listed.test_go_files.is_empty() || !listed.x_test_go_files.is_empty(),
            path: listed.import_path,
            directory: listed.dir,
            problem: listed.error.map(|problem| problem.err),
        }
    }
}
