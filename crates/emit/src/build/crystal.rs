//! Crystal: the one in PATH, or the one that `STRAIT_CRYSTAL` names.

use std::path::{Path, PathBuf};

use strait_toolchain::{Error, Spec};

use super::missing::Missing;
use super::workshop::{Workshop, write_files};
use super::{Compilation, Compiled, refusal_of};
use crate::source::Files;

/// Names the compiler.
pub(super) const VARIABLE: &str = "STRAIT_CRYSTAL";

const NEXT: &str =
    "install it (https://crystal-lang.org/install), or set STRAIT_CRYSTAL to the compiler";

/// A Crystal compiler.
#[derive(Clone, Debug)]
pub(super) struct Crystal {
    compiler: PathBuf,
    pub(super) version: String,
}

impl Crystal {
    /// The compiler that is here; a version that was asked for has to be the one it has.
    pub(super) fn find(workshop: &Workshop, wanted: Option<&str>) -> Result<Crystal, Missing> {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let compiler = named.clone().unwrap_or_else(|| "crystal".into());
        let finished = match workshop.run(Spec::new(&compiler).arguments(["--version"])) {
            Err(Error::CannotStart { .. }) => {
                return Err(Missing::NotInstalled { tool: "crystal", looked: named, next: NEXT });
            }
            other => other?,
        };
        let said = finished.stdout.text();
        let mut words = said.split_ascii_whitespace();
        let found = words.next().filter(|word| *word == "Crystal").and_then(|_| words.next());
        let Some(found) = found.filter(|_| finished.end.is_success()) else {
            let command = format!("{} --version", compiler.display());
            let said = finished.stderr.last_lines(2);
            return Err(Missing::Broken { tool: "crystal", command, said });
        };
        if wanted.is_some_and(|wanted| wanted != found) {
            return Err(Missing::OtherVersion {
                what: "Crystal",
                wanted: wanted.unwrap_or_default().to_owned(),
                found: found.to_owned(),
                next: "set STRAIT_CRYSTAL to the compiler of that version",
            });
        }
        Ok(Crystal { compiler, version: found.to_owned() })
    }

    /// Compiles a batch in a folder of its own.
    pub(super) fn compile(
        &self,
        workshop: &Workshop,
        files: &Files,
        folder: PathBuf,
    ) -> Result<Compilation, Missing> {
        write_files(&folder, files)?;
        // Crystal keeps parts of earlier batches; none is ever the same again.
        let cache = folder.join("cache");
        let finished = workshop.run(
            Spec::new(&self.compiler)
                .arguments(["build", "--no-color", "--no-debug", "-o", "program", "batch.cr"])
                .variable("CRYSTAL_CACHE_DIR", cache.as_os_str())
                .directory(&folder),
        )?;
        let _ = std::fs::remove_dir_all(&cache);
        if finished.end.is_success() {
            return Ok(Compilation::Ready(Compiled { command: command(&folder), folder }));
        }
        Ok(refusal_of(&finished, folder))
    }
}

fn command(folder: &Path) -> Vec<std::ffi::OsString> {
    vec![folder.join("program").into_os_string()]
}
