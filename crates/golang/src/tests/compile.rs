//! The tests of a package as one binary, compiled with the overlay. That a package does not compile
//! is a result, not an error.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fnv::FnvHasher;
use strait_toolchain::End;

use super::{Package, TestBinary};
use crate::error::Error;
use crate::go::Go;
use crate::overlay::Overlay;

/// The first time the standard library is compiled as well.
const PATIENCE: Duration = Duration::from_secs(1800);

/// How a binary is built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// With the race detector.
    pub race: bool,
    /// With the clock that jumps when no goroutine can go on.
    pub virtual_time: bool,
    /// Build tags, separated by commas, besides those of GOFLAGS.
    pub tags: Option<String>,
}

impl Build {
    /// `-tags` with the user's and these; what GOFLAGS says would be overruled by it.
    pub(crate) fn tag_flags(&self, further: &[&str]) -> Vec<String> {
        let flags = std::env::var("GOFLAGS").unwrap_or_default();
        let inherited = flags.split_whitespace().rev().find_map(|flag| {
            flag.trim_start_matches('-').strip_prefix("tags=").map(ToOwned::to_owned)
        });
        let own = self.tags.clone().into_iter().chain(further.iter().map(ToString::to_string));
        let own: Vec<String> = own.collect();
        if own.is_empty() {
            return Vec::new();
        }
        vec![format!("-tags={}", inherited.into_iter().chain(own).collect::<Vec<_>>().join(","))]
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Built {
    /// A binary.
    Binary(TestBinary),
    /// There is nothing to test.
    Empty,
    /// It does not compile; what the compiler says.
    Refused(String),
}

/// Compiles the tests of a package into a folder.
pub fn compile(
    go: &Go,
    overlay: &Overlay,
    package: &Package,
    build: &Build,
    folder: &Path,
) -> Result<Built, Error> {
    let binary = folder.join(name(&package.path, build));
    let mut spec = overlay
        // What vet says about a test is no reason not to run it.
        .spec(go, ["test", "-c", "-vet=off"])
        .arguments([format!("-overlay={}", overlay.file().display())])
        .arguments([format!("-o={}", binary.display())]);
    if build.race {
        spec = spec.arguments(["-race"]);
    }
    if build.virtual_time {
        spec = spec.arguments(build.tag_flags(&["faketime"])).variable("CGO_ENABLED", "0");
    } else {
        spec = spec.arguments(build.tag_flags(&[]));
    }
    let mut spec = overlay.visible(spec).writable(folder);
    if go.launcher().is_sandboxed() {
        // There is no network, and this is how `go` says so.
        spec = spec.variable("GOPROXY", "off");
    }
    let finished = go.run(spec.arguments([&package.path]).wall(PATIENCE))?;
    if !finished.end.is_success() {
        let said = finished.stderr.text();
        return Ok(Built::Refused(match &finished.end {
            End::Exited(_) => said.trim().to_owned(),
            end => format!("{}\n`go` was {end}", said.trim()).trim().to_owned(),
        }));
    }
    if !binary.is_file() {
        return Ok(Built::Empty);
    }
    let (race, virtual_time) = (build.race, build.virtual_time);
    let directory = package.directory.clone();
    Ok(Built::Binary(TestBinary { path: binary, directory, race, virtual_time }))
}

/// A file name that no other package has in this campaign.
fn name(path: &str, build: &Build) -> PathBuf {
    let plain = |char: char| if char.is_ascii_alphanumeric() || char == '.' { char } else { '_' };
    let safe: String = path.chars().map(plain).collect();
    // Paths that differ in what was replaced, and very long ones.
    let mut hash = FnvHasher::default();
    hash.write(path.as_bytes());
    let hash = hash.finish();
    let short: String = safe.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
    let clock = if build.virtual_time { "virtual" } else { "real" };
    PathBuf::from(format!("{short}-{hash:08x}-{clock}.test"))
}
