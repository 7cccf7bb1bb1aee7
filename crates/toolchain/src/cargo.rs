//! The user's cargo: found, asked for its version, run. Its settings (mirrors, proxies, offline)
//! are the user's and stay as they are.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::child::{Finished, Spec, run};
use crate::error::Error;
use crate::launch::Launcher;
use crate::process::End;
use crate::scratch::Scratch;

/// A cargo that answered.
#[derive(Clone, Debug)]
pub struct Cargo {
    launcher: Launcher,
    program: PathBuf,
    version: String,
    cancel: Option<Arc<AtomicBool>>,
    /// For the temporary files of cargo and the compiler.
    scratch: Arc<Scratch>,
}

/// What cargo's refusal means, read from its words: there is no other way to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The registry cannot be reached.
    Network,
    /// There is no crate of this name.
    NoCrate,
    /// There is the crate, but no version that may be chosen: none such, or yanked.
    NoVersion,
    /// Anything else.
    Other,
}

impl Cargo {
    /// The cargo that `CARGO` names, or else the one in PATH.
    pub fn find(launcher: &Launcher) -> Result<Self, Error> {
        let named = std::env::var_os("CARGO").filter(|value| !value.is_empty()).map(PathBuf::from);
        let program = named.clone().unwrap_or_else(|| "cargo".into());
        Self::at(launcher, program).map_err(|error| match error {
            Error::CannotStart { .. } => Error::NoCargo { tried: named },
            other => other,
        })
    }

    /// This one.
    pub fn at(launcher: &Launcher, program: impl Into<PathBuf>) -> Result<Self, Error> {
        let program = program.into();
        let finished = run(
            launcher,
            &Spec::new(&program).arguments(["--version"]).wall(Duration::from_secs(60)),
        )?;
        let no_folder = |source| Error::NoTemporaryFolder { source };
        let not_cargo = |problem: String| Error::NotCargo { program: program.clone(), problem };
        if !finished.end.is_success() {
            return Err(not_cargo(format!(
                "ends with {}: {}",
                finished.end,
                finished.stderr.last_lines(3)
            )));
        }
        let said = finished.stdout.text().trim().to_owned();
        match said.strip_prefix("cargo ") {
            Some(version) => Ok(Cargo {
                launcher: launcher.clone(),
                program,
                version: version.to_owned(),
                cancel: None,
                scratch: Arc::new(Scratch::new("cargo").map_err(no_folder)?),
            }),
            None => Err(not_cargo(format!("says {said:?}"))),
        }
    }

    /// A flag that ends whatever cargo is doing.
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Its version, such as `1.95.0 (f2d3ce0bd 2026-03-21)`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its path, or its name if it was found in PATH.
    pub fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn cancel(&self) -> Option<&Arc<AtomicBool>> {
        self.cancel.as_ref()
    }

    /// Runs cargo in a folder. There is no time limit: a build takes what it takes, and can be
    /// cancelled.
    pub(crate) fn run(&self, directory: &Path, arguments: &[&str]) -> Result<Finished, Error> {
        let mut spec = Spec::new(&self.program)
            .arguments(arguments)
            .directory(directory)
            .temporary(self.scratch.path())
            .keep(1 << 20)
            .variable("CARGO_TERM_COLOR", "never")
            .variable("CARGO_TERM_PROGRESS_WHEN", "never");
        if let Some(flag) = &self.cancel {
            spec = spec.cancel(Arc::clone(flag));
        }
        let finished = run(&self.launcher, &spec)?;
        match finished.end {
            End::Stopped => {
                Err(Error::Cancelled { what: format!("running cargo {}", arguments.join(" ")) })
            }
            _ => Ok(finished),
        }
    }

    /// Runs another program for so long at most.
    pub(crate) fn run_for(&self, program: &Path, wall: Duration) -> Result<Finished, Error> {
        let mut spec = Spec::new(program).directory(self.scratch.path()).keep(1 << 16).wall(wall);
        if let Some(flag) = &self.cancel {
            spec = spec.cancel(Arc::clone(flag));
        }
        run(&self.launcher, &spec)
    }

    /// Runs cargo, and if the network is the reason that it fails, again with what cargo has.
    pub(crate) fn run_anywhere(
        &self,
        directory: &Path,
        arguments: &[&str],
        name: &str,
    ) -> Result<Finished, Error> {
        let finished = self.run(directory, arguments)?;
        if finished.end.is_success() || Refusal::of(&finished, name) != Refusal::Network {
            return Ok(finished);
        }
        let again = self.run(directory, &[arguments, &["--offline"]].concat())?;
        Ok(if again.end.is_success() { again } else { finished })
    }
}

impl Refusal {
    /// Reads the words about the crate `name`.
    pub(crate) fn of(finished: &Finished, name: &str) -> Self {
        let said = finished.stderr.text().to_lowercase();
        let network = [
            "resolve host",
            "failed to connect",
            "couldn't connect",
            "could not connect",
            "connection refused",
            "network failure",
            "network error",
            "unable to update registry",
            "failed to download",
            "download of config.json failed",
            "timed out",
            "timeout was reached",
            "--offline was specified",
            "offline mode",
        ];
        let name = name.to_lowercase();
        if network.iter().any(|words| said.contains(words)) {
            Refusal::Network
        } else if said.contains(&format!("no matching package named `{name}` found")) {
            Refusal::NoCrate
        } else if said.contains(&format!("for the requirement `{name} = ")) {
            Refusal::NoVersion
        } else {
            Refusal::Other
        }
    }
}
