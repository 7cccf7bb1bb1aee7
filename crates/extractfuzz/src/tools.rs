//! The programs that are started: the user's own `go`, and the verifier.

use std::path::{Path, PathBuf};
use std::time::Duration;

use strait_toolchain::{Finished, Launcher, Spec, run};

use crate::error::Error;

/// The most output of a program that is kept.
const KEEP: usize = 256 << 20;

/// What is started, and how.
#[derive(Clone, Debug)]
pub struct Tools {
    launcher: Launcher,
    strait: PathBuf,
    go: PathBuf,
    race: bool,
}

impl Tools {
    /// With this verifier and the `go` in PATH.
    pub fn new(launcher: Launcher, strait: impl Into<PathBuf>) -> Self {
        Tools { launcher, strait: strait.into(), go: "go".into(), race: false }
    }

    /// The same with Go's race detector: a program with a data race is not asked about.
    pub fn with_race_detector(mut self) -> Self {
        self.race = true;
        self
    }

    /// Builds the package in this folder of a module as `programs`.
    pub fn build(&self, module: &Path, package: &str) -> Result<Finished, Error> {
        let mut arguments = vec!["build", "-gcflags=-e", "-o", "programs"];
        if self.race {
            arguments.push("-race");
        }
        arguments.push(package);
        self.go(module, &arguments)
    }

    /// Runs `go` in a folder.
    fn go(&self, directory: &Path, arguments: &[&str]) -> Result<Finished, Error> {
        let spec = Spec::new(&self.go).arguments(arguments).variable("GOFLAGS", "");
        self.start(spec, directory, Duration::from_secs(300))
    }

    /// Runs a built program in a folder.
    pub fn built(&self, directory: &Path, program: &str, from: usize) -> Result<Finished, Error> {
        let spec = Spec::new(directory.join(program)).arguments([from.to_string()]);
        let spec = spec.variable("GORACE", "halt_on_error=1");
        self.start(spec, directory, Duration::from_secs(300))
    }

    /// Runs the verifier in a folder, and ends it after some time.
    pub fn verifier(
        &self,
        directory: &Path,
        arguments: &[&str],
        wall: Duration,
    ) -> Result<Finished, Error> {
        let spec = Spec::new(&self.strait).arguments(arguments);
        self.start(spec, directory, wall)
    }

    /// Runs a Python program in a folder.
    pub fn python(&self, directory: &Path, script: &Path) -> Result<Finished, Error> {
        let spec = Spec::new("python3").arguments([script]);
        self.start(spec, directory, Duration::from_secs(60))
    }

    fn start(&self, spec: Spec, directory: &Path, wall: Duration) -> Result<Finished, Error> {
        Ok(run(&self.launcher, &spec.directory(directory).wall(wall).keep(KEEP))?)
    }
}
