//! The overlay: the user's own runtime, sync and testing with Strait's hooks in them, for
//! `go test -overlay`. Derived from the sources of the `go` at hand by a helper that this very `go`
//! runs, once a version, and kept in the cache. Nothing is written into GOROOT.

mod layout;
mod selects;
mod trace;

use std::ffi::OsStr;
use std::fs;
use std::hash::Hasher;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fnv::FnvHasher;
use strait_toolchain::{Cache, Spec};

pub use layout::{Pause, Wishes};
pub(crate) use layout::{read_shared, write_wishes};
pub use selects::{Case, Select};
pub(crate) use trace::read_trace;
pub use trace::{
    CASE_DEFAULT, Channel, ClosedChannel, Direction, Failure, Goroutine, Held, LockOrder, Made,
    Object, Site, State, Status, Step, Trace,
};

use crate::error::Error;
use crate::go::Go;

/// The oldest minor version of Go 1 that has been tried.
const OLDEST: u32 = 24;
/// To compile and run the helper, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The helper's sources, compiled by the user's `go`.
const HELPER: [(&str, &str); 7] = [
    ("go.mod", include_str!("../../overlay/helper/go.mod")),
    ("main.go", include_str!("../../overlay/helper/main.go")),
    ("overlay.go", include_str!("../../overlay/helper/overlay.go")),
    ("changes.go", include_str!("../../overlay/helper/changes.go")),
    ("edit.go", include_str!("../../overlay/helper/edit.go")),
    ("version.go", include_str!("../../overlay/helper/version.go")),
    ("selects.go", include_str!("../../overlay/helper/selects.go")),
];

/// The files that are added to packages of the standard library.
const HOOKS: [(&str, &str); 8] = [
    ("runtime_map.go", include_str!("../../overlay/hooks/runtime_map.go")),
    ("runtime_hooks.go", include_str!("../../overlay/hooks/runtime_hooks.go")),
    ("runtime_select.go", include_str!("../../overlay/hooks/runtime_select.go")),
    ("runtime_locks.go", include_str!("../../overlay/hooks/runtime_locks.go")),
    ("runtime_judge.go", include_str!("../../overlay/hooks/runtime_judge.go")),
    ("sync_strait.go", include_str!("../../overlay/hooks/sync_strait.go")),
    ("syscall_strait_linux.go", include_str!("../../overlay/hooks/syscall_strait_linux.go")),
    ("testing_strait.go", include_str!("../../overlay/hooks/testing_strait.go")),
];

/// An overlay that is ready to be used, and the `go` that belongs to it.
#[derive(Clone, Debug)]
pub struct Overlay {
    folder: PathBuf,
    /// Another way to the same GOROOT, if its own path may not be overlaid.
    root: Option<PathBuf>,
    /// The file for `-overlay`, if it is not the one in the folder.
    extended: Option<PathBuf>,
}

impl Overlay {
    /// Makes the overlay for this `go`, or finds it in the cache.
    pub fn prepare(go: &Go, cache: &Cache) -> Result<Self, Error> {
        if !new_enough(go.version()) {
            return Err(Error::TooOld { version: go.version().to_owned() });
        }
        let name = format!("golang/{}-{:016x}", safe(go.version()), fingerprint(go.root()));
        let folder = cache.folder(&name)?;
        let root = needs_other_root(go.root()).then(|| folder.join("goroot"));
        let overlay = Overlay { folder, root, extended: None };
        let _lock = cache.lock(&name.replace('/', "-"), None)?;
        if !overlay.file().is_file() {
            overlay.make(go)?;
        }
        Ok(overlay)
    }

    /// The file for `-overlay`.
    pub fn file(&self) -> PathBuf {
        self.extended.clone().unwrap_or_else(|| self.folder.join("overlay.json"))
    }

    /// The same overlay with one more source file, which is not written where it seems to be but into
    /// a folder of ours.
    pub fn with_file(&self, seems: &Path, text: &str, folder: &Path) -> Result<Self, Error> {
        let written = folder.join(seems.file_name().unwrap_or_default());
        fs::write(&written, text).map_err(Error::file("write", &written))?;
        let own = self.file();
        let known = fs::read(&own).map_err(Error::file("read", &own))?;
        let damaged = |_| Error::Helper { what: format!("{} is damaged", own.display()) };
        let mut document: serde_json::Value = serde_json::from_slice(&known).map_err(damaged)?;
        document["Replace"][seems.to_string_lossy().as_ref()] =
            serde_json::Value::String(written.to_string_lossy().into_owned());
        let extended = folder.join("overlay.json");
        fs::write(&extended, document.to_string()).map_err(Error::file("write", &extended))?;
        Ok(Overlay { extended: Some(extended), ..self.clone() })
    }

    /// The GOROOT as binaries that are compiled with the overlay name it.
    pub fn root<'a>(&'a self, go: &'a Go) -> &'a Path {
        self.root.as_deref().unwrap_or(go.root())
    }

    fn helper(&self) -> PathBuf {
        self.folder.join("helper.exe")
    }

    /// A `go` command to which the overlay can be given.
    pub fn spec(&self, go: &Go, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Spec {
        let spec = go.spec(arguments);
        match &self.root {
            Some(root) => spec
                .program(root.join("bin").join("go"))
                .variable("GOROOT", root)
                .variable("GOTOOLCHAIN", "local"),
            None => spec,
        }
    }

    /// In a sandbox: the program sees the overlay.
    pub(crate) fn visible(&self, spec: Spec) -> Spec {
        let extended = self.extended.as_deref().and_then(Path::parent);
        extended.into_iter().fold(spec.readable(&self.folder), Spec::readable)
    }

    /// The select statements of source files.
    pub fn selects(&self, go: &Go, files: &[PathBuf]) -> Result<Vec<Select>, Error> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        // A part of Strait, which runs nothing of what it reads.
        let spec = Spec::new(self.helper()).arguments(["selects"]).arguments(files);
        let spec = spec.outside_sandbox();
        let finished = go.run_cancellable(spec.wall(PATIENCE).keep(64 << 20))?;
        Ok(selects::parse(&finished.stdout.text()))
    }

    fn make(&self, go: &Go) -> Result<(), Error> {
        let work = self.folder.join("helper");
        let hooks = self.folder.join("hooks");
        let files = self.folder.join("files");
        for (folder, sources) in [(&work, &HELPER[..]), (&hooks, &HOOKS[..]), (&files, &[][..])] {
            write_sources(folder, sources)?;
        }
        if let Some(root) = &self.root {
            mirror(go.root(), root)?;
        }
        // The helper is a module of its own, whatever settings the user's module has.
        let build = self
            .spec(go, ["build", "-o"])
            .arguments([self.helper()])
            .directory(&work)
            .variable("GOFLAGS", "")
            .variable("GOWORK", "off")
            .variable("GO111MODULE", "on")
            .variable("CGO_ENABLED", "0")
            .outside_sandbox()
            .wall(PATIENCE);
        let built = go.run(build)?;
        if !built.end.is_success() {
            return Err(go.failure("build (of Strait's helper)", &built));
        }
        let derive = Spec::new(self.helper())
            .arguments(["overlay"])
            .arguments([self.root(go), &hooks, &files])
            .outside_sandbox()
            .wall(PATIENCE);
        let derived = go.run_cancellable(derive)?;
        if !derived.end.is_success() {
            let (version, said) = (go.version().to_owned(), derived.stderr.last_lines(3));
            return Err(Error::DoesNotFit { version, said });
        }
        // Only now is the overlay there.
        let (from, to) = (files.join("overlay.json"), self.file());
        fs::rename(&from, &to).map_err(Error::file("write", to))
    }
}

fn write_sources(folder: &Path, sources: &[(&str, &str)]) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    for (name, text) in sources {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Error::file("write", &path))?;
    }
    Ok(())
}

/// `go` refuses overlays of files beneath its module cache, where GOTOOLCHAIN puts toolchains.
fn needs_other_root(root: &Path) -> bool {
    root.components().any(|part| part.as_os_str().to_string_lossy().starts_with("toolchain@"))
}

/// A folder that looks like a GOROOT and holds links only.
fn mirror(root: &Path, folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    for entry in fs::read_dir(root).map_err(Error::file("read", root))? {
        let entry = entry.map_err(Error::file("read", root))?;
        let link = folder.join(entry.file_name());
        if !link.exists() {
            symlink(entry.path(), &link).map_err(Error::file("make", link))?;
        }
    }
    Ok(())
}

/// `1.24` or newer; versions under development count as new.
fn new_enough(version: &str) -> bool {
    let Some(rest) = version.strip_prefix("1.") else { return true };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().map_or(true, |minor: u32| minor >= OLDEST)
}

/// A version as a part of a path.
fn safe(version: &str) -> String {
    let kept = |char: char| if char.is_ascii_alphanumeric() || char == '.' { char } else { '_' };
    version.chars().map(kept).collect()
}

/// FNV-1a over everything the overlay is made of.
fn fingerprint(root: &Path) -> u64 {
    let sources = HELPER.iter().chain(&HOOKS).flat_map(|(name, text)| [*name, *text]);
    let parts = sources.map(str::as_bytes).chain([root.as_os_str().as_encoded_bytes()]);
    let mut hash = FnvHasher::default();
    parts.for_each(|part| hash.write(part));
    hash.finish()
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn versions_that_can_be_used() {
        for (version, expected) in [
            ("1.23.4", false),
            ("1.9", false),
            ("1.24.13", true),
            ("1.30rc1", true),
            ("2.0", true),
            ("devel go1.28-abc", true),
        ] {
            assert_eq!(new_enough(version), expected, "{version}");
        }
        assert_eq!(safe("devel/x 1"), "devel_x_1");
    }
}
