//! Go: the user's own `go`, which brings other versions by `GOTOOLCHAIN`.

use std::path::{Path, PathBuf};

use semver::Version;
use strait_toolchain::{Error, Finished, Spec, WorkerSpec, source_key};

use super::missing::{Missing, is_offline};
use super::workshop::{Workshop, write_files};
use super::{Compilation, Compiled, refusal_of};
use crate::source::Files;

const NEXT: &str = "install Go from https://go.dev/dl, or put its folder into PATH";

/// Settings of the user's `go` that our commands keep: where modules come from and where they lie.
/// All other settings are turned off, since older versions stumble over flags of newer ones.
const KEPT: [&str; 8] = [
    "GOPROXY",
    "GOMODCACHE",
    "GOCACHE",
    "GOSUMDB",
    "GONOSUMDB",
    "GOPRIVATE",
    "GONOPROXY",
    "GOINSECURE",
];

/// One version of Go.
#[derive(Clone, Debug)]
pub(super) struct Go {
    settings: Vec<(String, String)>,
    pub(super) version: String,
}

impl Go {
    /// The installed version, or another one that `go` knows how to bring.
    pub(super) fn find(workshop: &Workshop, wanted: Option<&str>) -> Result<Go, Missing> {
        let mut go = Go { settings: settings(workshop)?, version: String::new() };
        let name = match wanted {
            None => "local".to_owned(),
            Some(version) => release_name(version),
        };
        go.settings.push(("GOTOOLCHAIN".to_owned(), name.clone()));
        let finished = go.run(workshop, Path::new("/"), &["version"])?;
        let said = finished.stdout.text();
        let found = said.split_ascii_whitespace().nth(2).and_then(|word| word.strip_prefix("go"));
        let is_wanted = wanted.is_none() || found == name.strip_prefix("go");
        match found {
            Some(found) if finished.end.is_success() && is_wanted => {
                go.version = found.to_owned();
                Ok(go)
            }
            _ => Err(refused(wanted, &finished)),
        }
    }

    fn run(
        &self,
        workshop: &Workshop,
        directory: &Path,
        arguments: &[&str],
    ) -> Result<Finished, Missing> {
        let mut spec = Spec::new("go")
            .arguments(arguments)
            .directory(directory)
            .variable("GOENV", "off")
            .variable("GOFLAGS", "")
            .variable("GOWORK", "off")
            .variable("GO111MODULE", "on")
            .variable("CGO_ENABLED", "0")
            // Compilers have memory enough; this makes them a quarter faster.
            .variable("GOGC", "800");
        for (name, value) in &self.settings {
            spec = spec.variable(name, value);
        }
        workshop.run(spec).map_err(not_installed)
    }

    /// Builds what is in the folder. DWARF is left out: it takes a third of the time.
    fn build(&self, workshop: &Workshop, directory: &Path) -> Result<Finished, Missing> {
        // `-trimpath` is younger than some versions that can be had.
        let arguments = ["build", "-gcflags=-dwarf=false", "-ldflags=-w", "-o", "program", "."];
        self.run(workshop, directory, &arguments)
    }

    /// The interpreter, built once for each version.
    pub(super) fn interpreter(&self, workshop: &Workshop) -> Result<WorkerSpec, Missing> {
        let files = crate::language::go::interpreter();
        let name = format!("go-{}-{}", self.version, files_key(&files));
        let folder = workshop.folder(&name, |folder| {
            write_files(folder, &files)?;
            let finished = self.build(workshop, folder)?;
            if finished.end.is_success() {
                return Ok(());
            }
            Err(Missing::DoesNotBuild {
                what: format!("Go {}", self.version),
                directory: folder.to_owned(),
                said: finished.stderr.last_lines(40),
            })
        })?;
        Ok(WorkerSpec::foreign(folder.join("program"), [""; 0]))
    }

    /// Compiles a batch in a folder of its own.
    pub(super) fn compile(
        &self,
        workshop: &Workshop,
        files: &Files,
        folder: PathBuf,
    ) -> Result<Compilation, Missing> {
        write_files(&folder, files)?;
        let finished = self.build(workshop, &folder)?;
        if finished.end.is_success() {
            let command = vec![folder.join("program").into_os_string()];
            return Ok(Compilation::Ready(Compiled { command, folder }));
        }
        Ok(refusal_of(&finished, folder))
    }
}

/// `1.21.0` is called go1.21.0, but 1.20.0 is called go1.20.
fn release_name(version: &str) -> String {
    match Version::parse(version) {
        Ok(parsed) if parsed.major == 1 && parsed.minor < 21 && parsed.patch == 0 => {
            format!("go1.{}", parsed.minor)
        }
        _ => format!("go{version}"),
    }
}

fn settings(workshop: &Workshop) -> Result<Vec<(String, String)>, Missing> {
    let spec = Spec::new("go").arguments(["env"]).arguments(KEPT).variable("GOTOOLCHAIN", "local");
    let finished = workshop.run(spec).map_err(not_installed)?;
    if !finished.end.is_success() {
        let command = format!("go env {}", KEPT.join(" "));
        return Err(Missing::Broken { tool: "go", command, said: said_by(&finished) });
    }
    let text = finished.stdout.text();
    let lines = text.lines().map(str::to_owned);
    Ok(KEPT.iter().map(|name| (*name).to_owned()).zip(lines).collect())
}

fn not_installed(error: Error) -> Missing {
    match error {
        Error::CannotStart { .. } => Missing::NotInstalled { tool: "go", looked: None, next: NEXT },
        other => other.into(),
    }
}

fn said_by(finished: &Finished) -> String {
    format!("go says: {}", finished.stderr.last_lines(3).replace('\n', " "))
}

fn refused(wanted: Option<&str>, finished: &Finished) -> Missing {
    let said = said_by(finished);
    let Some(version) = wanted else {
        return Missing::Broken { tool: "go", command: "go version".to_owned(), said };
    };
    let version = version.to_owned();
    if is_offline(&said) {
        return Missing::Offline { what: "Go", version, tool: "go", said };
    }
    Missing::NoSuchVersion { what: "Go", version, list: "https://go.dev/dl", said }
}

pub(super) fn files_key(files: &Files) -> String {
    source_key(files.iter().flat_map(|(name, content)| [name.as_str(), content.as_str()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_before_1_21_have_no_zero() {
        let names = ["1.21.0", "1.20.0", "1.16.15", "1.7.0", "1.22rc1"];
        let releases = names.map(release_name);
        assert_eq!(releases, ["go1.21.0", "go1.20", "go1.16.15", "go1.7", "go1.22rc1"]);
    }
}
