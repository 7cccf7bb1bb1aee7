//! Flix: a `flix.jar` that the user brings, in `STRAIT_FLIX_JAR` or given by path.

use std::path::{Path, PathBuf};

use strait_toolchain::Spec;

use super::maven::java;
use super::missing::Missing;
use super::workshop::{Workshop, write_files};
use super::{Compilation, Compiled, refusal_of};
use crate::source::Files;

/// Names the jar.
const VARIABLE: &str = "STRAIT_FLIX_JAR";

const NEXT: &str =
    "download flix.jar from https://flix.dev and name it with --flix-jar or STRAIT_FLIX_JAR";

/// A Flix compiler.
#[derive(Clone, Debug)]
pub(super) struct Flix {
    java: PathBuf,
    jar: PathBuf,
    pub(super) version: String,
}

impl Flix {
    /// The jar of the user; a version that was asked for has to be the one it has.
    pub(super) fn find(
        workshop: &Workshop,
        jar: Option<&Path>,
        wanted: Option<&str>,
    ) -> Result<Flix, Missing> {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let jar = jar.map(Path::to_owned).or(named);
        let is_there = jar.as_ref().is_some_and(|jar| jar.is_file());
        let Some(jar) = jar.clone().filter(|_| is_there) else {
            return Err(Missing::NotInstalled { tool: "flix.jar", looked: jar, next: NEXT });
        };
        let jar = std::path::absolute(&jar).unwrap_or(jar);
        let java = java(workshop)?;
        let spec = Spec::new(&java).arguments(["-jar".as_ref(), jar.as_os_str()]);
        let finished = workshop.run(spec.arguments(["--version"]))?;
        let said = finished.stdout.text();
        let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
        let words = said.split_ascii_whitespace().map(|word| word.trim_start_matches('v'));
        let Some(found) = words.into_iter().find(is_version) else {
            let command = format!("java -jar {} --version", jar.display());
            let said = finished.stderr.last_lines(2);
            return Err(Missing::Broken { tool: "flix.jar", command, said });
        };
        if wanted.is_some_and(|wanted| wanted != found) {
            return Err(Missing::OtherVersion {
                what: "Flix",
                wanted: wanted.unwrap_or_default().to_owned(),
                found: found.to_owned(),
                next: "name the jar of that version with --flix-jar",
            });
        }
        Ok(Flix { java, jar, version: found.to_owned() })
    }

    /// Compiles a batch as a project of its own.
    pub(super) fn compile(
        &self,
        workshop: &Workshop,
        files: &Files,
        folder: PathBuf,
    ) -> Result<Compilation, Missing> {
        let flix = |command: &str| {
            let spec = Spec::new(&self.java).arguments(["-Xss16m", "-jar"]);
            workshop
                .run(spec.arguments([self.jar.as_os_str(), command.as_ref()]).directory(&folder))
        };
        for command in ["init", "build-jar"] {
            if command != "init" {
                write_files(&folder, files)?;
            }
            let finished = flix(command)?;
            if !finished.end.is_success() {
                return Ok(refusal_of(&finished, folder.clone()));
            }
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let jar = folder.join("artifact").join(format!("{name}.jar"));
        let command = vec![self.java.clone().into_os_string(), "-jar".into(), jar.into_os_string()];
        Ok(Compilation::Ready(Compiled { command, folder }))
    }
}
