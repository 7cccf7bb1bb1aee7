//! Toolchains: found, built with, cached. [`Toolchain::find`] resolves one version of one platform
//! with the user's own `go`, `mvn`, `crystal` or `flix.jar`; then programs can be *interpreted*
//! ([`Toolchain::interpreter`]: a worker for the lines of `strait-runtimes`, built once a version)
//! or *compiled* ([`Toolchain::compile`]: a batch of them in one run of the compiler).

mod crystal;
mod flix;
mod go;
mod jvm;
mod maven;
mod missing;
mod workshop;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_calculus::Program;
use strait_generate::Capabilities;
use strait_toolchain::{Finished, WorkerSpec};

pub use missing::Missing;
pub use workshop::Workshop;

use crate::evidence::{Complaint, complaint};
use crate::language::{Era, Language};
use crate::source::batch;
use crystal::Crystal;
use flix::Flix;
use go::Go;
use jvm::Jvm;

/// What runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Platform {
    /// Go.
    Go,
    /// Kotlin; the version is that of kotlinx.coroutines.
    Kotlin,
    /// Clojure's core.async.
    CoreAsync,
    /// Crystal.
    Crystal,
    /// Flix.
    Flix,
}

impl Platform {
    /// All of them.
    pub const ALL: [Platform; 5] =
        [Platform::Go, Platform::Kotlin, Platform::CoreAsync, Platform::Crystal, Platform::Flix];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Platform::Go => "go",
            Platform::Kotlin => "kotlin",
            Platform::CoreAsync => "core-async",
            Platform::Crystal => "crystal",
            Platform::Flix => "flix",
        }
    }

    /// Versions that are known to work here, from the oldest: what a range of versions walks
    /// through. Others can be asked for one by one.
    pub fn known_versions(self) -> &'static [&'static str] {
        match self {
            Platform::Go => &[
                "1.16.15", "1.17.13", "1.18.10", "1.19.13", "1.20.14", "1.21.0", "1.22.0",
                "1.23.0", "1.24.0", "1.25.0", "1.26.0", "1.27.0",
            ],
            Platform::Kotlin => &[
                "0.19", "0.22.5", "0.25.3", "0.26.0", "1.0.0", "1.3.0", "1.3.2", "1.3.3", "1.6.4",
                "1.11.0",
            ],
            Platform::CoreAsync => &["1.6.681"],
            Platform::Crystal | Platform::Flix => &[],
        }
    }

    /// Where it comes from, for people; `is_compiled` if programs are compiled instead of interpreted.
    pub fn how_to_get(self, is_compiled: bool) -> &'static str {
        match (self, is_compiled) {
            (Platform::Go | Platform::Kotlin, true) => {
                "the same, through the compiler, 100 programs at a time"
            }
            (Platform::Go, false) => {
                "strait fuzz go@VERSION, brought by your go (install: https://go.dev/dl)"
            }
            (Platform::Kotlin, false) => {
                "strait fuzz kotlin@VERSION of kotlinx.coroutines, by your mvn and java"
            }
            (Platform::CoreAsync, _) => "strait fuzz core-async@VERSION, by your mvn and java",
            (Platform::Crystal, _) => {
                "the crystal in PATH or STRAIT_CRYSTAL (install: the package `crystal`)"
            }
            (Platform::Flix, _) => "strait fuzz flix --flix-jar FILE (https://flix.dev)",
        }
    }

    /// Is there an interpreter of ours in that language?
    pub fn interprets(self) -> bool {
        matches!(self, Platform::Go | Platform::Kotlin | Platform::CoreAsync)
    }

    /// The language that compiled programs are written in.
    pub fn language(self) -> Option<Language> {
        match self {
            Platform::Go => Some(Language::Go),
            Platform::Kotlin => Some(Language::Kotlin),
            Platform::CoreAsync => None,
            Platform::Crystal => Some(Language::Crystal),
            Platform::Flix => Some(Language::Flix),
        }
    }
}

impl FromStr for Platform {
    type Err = UnknownPlatform;

    fn from_str(name: &str) -> Result<Self, UnknownPlatform> {
        let found = Platform::ALL.into_iter().find(|platform| platform.name() == name);
        found.ok_or_else(|| UnknownPlatform { name: name.to_owned() })
    }
}

/// Not the name of a platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no platform `{name}`; known are {}", Platform::ALL.map(Platform::name).join(", "))]
pub struct UnknownPlatform {
    /// The name.
    pub name: String,
}

/// One version of a platform that can be used here.
#[derive(Clone, Debug)]
pub struct Toolchain {
    workshop: Workshop,
    platform: Platform,
    tools: Tools,
}

#[derive(Clone, Debug)]
enum Tools {
    Go(Go),
    Jvm(Jvm),
    Crystal(Crystal),
    Flix(Flix),
}

/// What came of compiling a batch.
#[derive(Clone, Debug)]
pub enum Compilation {
    /// It can be run.
    Ready(Compiled),
    /// The compiler refuses it, or crashes over it.
    Refused {
        /// Which of the two, and how it was said.
        complaint: Complaint,
        /// Where the sources are.
        folder: PathBuf,
    },
}

/// A compiled batch.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) command: Vec<OsString>,
    pub(crate) folder: PathBuf,
}

impl Compiled {
    /// A worker that takes no jobs: it runs the programs from number `first` on, each so many times,
    /// and reports on them as `strait-runtimes` does, the number of a job being that of the program.
    pub fn worker(&self, repetitions: u64, patience: Duration, first: usize) -> WorkerSpec {
        let numbers = [repetitions as u128, patience.as_millis(), first as u128];
        let numbers = numbers.map(|number| OsString::from(number.to_string()));
        let mut command = self.command.iter().cloned();
        let program = command.next().unwrap_or_default();
        WorkerSpec::foreign(Path::new(&program), command.chain(numbers))
    }

    /// Where sources and results are. They stay until [`Compiled::remove`], since a finding may
    /// want the sources.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes everything.
    pub fn remove(self) {
        // What cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Toolchain {
    /// Finds a version of a platform; without a version the one that is installed, or the newest
    /// one that is known to work.
    pub fn find(
        workshop: &Workshop,
        platform: Platform,
        version: Option<&str>,
    ) -> Result<Toolchain, Missing> {
        let tools = match platform {
            Platform::Go => Tools::Go(Go::find(workshop, version)?),
            Platform::Kotlin => Tools::Jvm(Jvm::coroutines(workshop, version)?),
            Platform::CoreAsync => Tools::Jvm(Jvm::core_async(workshop, version)?),
            Platform::Crystal => Tools::Crystal(Crystal::find(workshop, version)?),
            Platform::Flix => Tools::Flix(Flix::find(workshop, workshop.flix_jar(), version)?),
        };
        Ok(Toolchain { workshop: workshop.clone(), platform, tools })
    }

    /// The platform.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// The version, exactly.
    pub fn version(&self) -> &str {
        match &self.tools {
            Tools::Go(go) => &go.version,
            Tools::Jvm(jvm) => &jvm.version,
            Tools::Crystal(crystal) => &crystal.version,
            Tools::Flix(flix) => &flix.version,
        }
    }

    /// What programs it can take, by its contract.
    pub fn capabilities(&self) -> Capabilities {
        match &self.tools {
            Tools::Go(_) => Language::Go.capabilities(),
            Tools::Jvm(jvm) => jvm.capabilities(),
            Tools::Crystal(_) => Language::Crystal.capabilities(),
            Tools::Flix(_) => Language::Flix.capabilities(),
        }
    }

    /// The same, with a flag that ends whatever it is doing.
    pub fn cancelled_by(&self, flag: Arc<AtomicBool>) -> Toolchain {
        Toolchain { workshop: self.workshop.clone().cancel(flag), ..self.clone() }
    }

    /// The interpreter as a worker; builds it if it was not built before.
    pub fn interpreter(&self) -> Result<WorkerSpec, Missing> {
        match &self.tools {
            Tools::Go(go) => go.interpreter(&self.workshop),
            Tools::Jvm(jvm) => jvm.interpreter(&self.workshop),
            Tools::Crystal(_) | Tools::Flix(_) => Err(Missing::NoSuchWay {
                what: self.platform.name(),
                way: "interpreter",
                next: "compile the programs instead",
            }),
        }
    }

    /// The API that Kotlin sources are written for.
    fn era(&self) -> Era {
        match &self.tools {
            Tools::Jvm(jvm) => jvm.era(),
            Tools::Go(_) | Tools::Crystal(_) | Tools::Flix(_) => Era::Modern,
        }
    }

    /// Compiles programs as one unit.
    pub fn compile(&self, programs: &[&Program]) -> Result<Compilation, Missing> {
        let Some(language) = self.platform.language() else {
            let way = "compiler of its own";
            let next = "interpret the programs instead";
            return Err(Missing::NoSuchWay { what: self.platform.name(), way, next });
        };
        let files = batch(language, self.era(), programs)?;
        let folder = self.workshop.scratch()?;
        match &self.tools {
            Tools::Go(go) => go.compile(&self.workshop, &files, folder),
            Tools::Jvm(jvm) => jvm.compile(&self.workshop, &files, folder),
            Tools::Crystal(crystal) => crystal.compile(&self.workshop, &files, folder),
            Tools::Flix(flix) => flix.compile(&self.workshop, &files, folder),
        }
    }
}

/// What a compiler that failed has to say.
fn refusal_of(finished: &Finished, folder: PathBuf) -> Compilation {
    Compilation::Refused { complaint: complaint(finished), folder }
}
