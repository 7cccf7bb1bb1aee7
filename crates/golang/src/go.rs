//! The user's own `go`, as it answers in one folder: which version it is there, and where its
//! sources are. Settings stay the user's; what Strait adds is added to single commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use strait_toolchain::{Finished, Launcher, Scratch, Spec, run};

use crate::error::Error;

/// The `go` that serves a folder.
#[derive(Clone, Debug)]
pub struct Go {
    launcher: Launcher,
    directory: PathBuf,
    cancel: Option<Arc<AtomicBool>>,
    answer: Answer,
    /// Where its temporary files are, in a folder that goes with the last clone.
    temporary: PathBuf,
    _scratch: Arc<Scratch>,
}

#[derive(Clone, Debug, Deserialize)]
struct Answer {
    #[serde(rename = "GOVERSION")]
    version: String,
    #[serde(rename = "GOROOT")]
    root: PathBuf,
    /// The module's `go.mod`: empty outside modules in old versions, the null device in others.
    #[serde(rename = "GOMOD")]
    module: PathBuf,
    /// The `go.work` in use: empty if there is none, `off` if none is wanted.
    #[serde(rename = "GOWORK", default)]
    workspace: PathBuf,
    /// What was compiled.
    #[serde(rename = "GOCACHE", default)]
    build_cache: PathBuf,
    /// What was downloaded.
    #[serde(rename = "GOMODCACHE", default)]
    module_cache: PathBuf,
    /// The file with the user's settings.
    #[serde(rename = "GOENV", default)]
    settings: PathBuf,
}

impl Go {
    /// Asks `go` in the folder. A module may ask for a toolchain of its own, which `go` then brings.
    pub fn find(launcher: &Launcher, directory: &Path) -> Result<Self, Error> {
        let answer = Answer {
            version: String::new(),
            root: PathBuf::new(),
            module: PathBuf::new(),
            workspace: PathBuf::new(),
            build_cache: PathBuf::new(),
            module_cache: PathBuf::new(),
            settings: PathBuf::new(),
        };
        // The user may have chosen a larger disk for this.
        let chosen = std::env::var_os("GOTMPDIR").filter(|folder| !folder.is_empty());
        let place = chosen.map_or_else(std::env::temp_dir, PathBuf::from);
        let scratch = Scratch::within(&place, "gotmp");
        let scratch = scratch.map_err(Error::file("make a folder in", &place))?;
        let temporary = scratch.temporary().map_err(Error::file("make a folder in", &place))?;
        let mut go = Go {
            launcher: launcher.clone(),
            directory: directory.to_owned(),
            cancel: None,
            answer,
            temporary,
            _scratch: Arc::new(scratch),
        };
        let names = "GOVERSION GOROOT GOMOD GOWORK GOCACHE GOMODCACHE GOENV";
        let arguments: Vec<&str> = ["env", "-json"].into_iter().chain(names.split(' ')).collect();
        // It may have to bring another version of itself.
        let finished = go.run(go.spec(&arguments).outside_sandbox())?;
        let answer = serde_json::from_str(&finished.stdout.text());
        go.answer = match answer {
            Ok(answer) if finished.end.is_success() => answer,
            _ => return Err(go.failure(&arguments.join(" "), &finished)),
        };
        if launcher.is_sandboxed() && !go.answer.build_cache.as_os_str().is_empty() {
            // It is shown in the sandbox if it is there; without it everything is compiled again.
            let _ = std::fs::create_dir_all(&go.answer.build_cache);
        }
        Ok(go)
    }

    /// A flag that ends whatever `go` is doing.
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Has the flag been set?
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::SeqCst))
    }

    /// Its version, such as `1.26.8`.
    pub fn version(&self) -> &str {
        self.answer.version.strip_prefix("go").unwrap_or(&self.answer.version)
    }

    /// Its GOROOT.
    pub fn root(&self) -> &Path {
        &self.answer.root
    }

    /// Where modules are that were downloaded.
    pub fn module_cache(&self) -> &Path {
        &self.answer.module_cache
    }

    /// The folder of the module, if the folder belongs to one.
    pub fn module(&self) -> Option<&Path> {
        let file = &self.answer.module;
        file.ends_with("go.mod").then(|| file.parent()).flatten()
    }

    /// The `go.work` that is in use.
    pub fn workspace(&self) -> Option<&Path> {
        let file = self.answer.workspace.as_path();
        (!file.as_os_str().is_empty() && file != "off").then_some(file)
    }

    /// Where it runs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Who starts its processes.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// A command of `go` in its folder, to which limits and variables can be added.
    pub fn spec(&self, arguments: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>) -> Spec {
        self.program("go").arguments(arguments)
    }

    /// Another program in its folder, which the same flag ends.
    pub fn program(&self, program: impl Into<PathBuf>) -> Spec {
        let spec =
            Spec::new(program).directory(&self.directory).temporary(&self.temporary).keep(1 << 20);
        let spec = self.with_module(spec).readable(&self.answer.settings);
        // What it compiles is compiled once.
        let cache = Some(&self.answer.build_cache).filter(|cache| cache.is_dir());
        let spec = cache.into_iter().fold(spec, Spec::writable);
        match &self.cancel {
            Some(flag) => spec.cancel(Arc::clone(flag)),
            None => spec,
        }
    }

    /// In a sandbox: the program sees Go, the module and what was downloaded, and may change a copy of
    /// the module.
    pub(crate) fn with_module(&self, spec: Spec) -> Spec {
        let module = self.module().unwrap_or(&self.directory);
        spec.copied(module).readable(self.root()).readable(&self.answer.module_cache)
    }

    /// Runs such a command to its end. That it fails is no error here.
    pub fn run(&self, spec: Spec) -> Result<Finished, Error> {
        run(&self.launcher, &spec).map_err(|error| match error {
            strait_toolchain::Error::CannotStart { .. } => Error::NotInstalled,
            other => other.into(),
        })
    }

    /// Runs any program to its end, or to the one that the flag brings about.
    pub fn run_cancellable(&self, spec: Spec) -> Result<Finished, Error> {
        let spec = match &self.cancel {
            Some(flag) => spec.cancel(Arc::clone(flag)),
            None => spec,
        };
        Ok(run(&self.launcher, &spec)?)
    }

    /// The error for a command that had to succeed.
    pub fn failure(&self, command: &str, finished: &Finished) -> Error {
        Error::Fails {
            command: command.to_owned(),
            directory: self.directory.clone(),
            said: finished.stderr.last_lines(3).replace('\n', " "),
        }
    }
}
