//! What a program may see and change when its launcher has a sandbox: values only. How a program is put
//! into a sandbox is in [`crate::confine`].
//!
//! The rule is the same for every program: it reads the whole system except what belongs to the user
//! (home, temporary files, sockets of running services), changes nothing that is left after it, and
//! has no network. A [`crate::Spec`] names the exceptions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::child::{Spec, run};
use crate::error::Error;
use crate::launch::{Launcher, PROBE};

/// Places that hold files or sockets of users and of running services.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/var/run"];
/// Variables that programs inside have as ever. All others may hold secrets, such as the credentials of
/// the queue.
const VARIABLES: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "TZ",
    "TMPDIR",
    "CC",
    "CXX",
    "AR",
    "CARGO_HOME",
    "JAVA_HOME",
    "NO_COLOR",
    "SOURCE_DATE_EPOCH",
];
/// How the names of further ones begin.
const PREFIXES: [&str; 5] = ["LC_", "GO", "CGO_", "RUST", "XDG_"];
/// Exceptions: where `go` downloads from, and how it proves who it is there.
const SECRETS: [&str; 2] = ["GOPROXY", "GOAUTH"];
/// How long the check may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A sandbox for programs that are not trusted. It needs Linux with user namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders that are empty inside.
    hidden: Vec<PathBuf>,
    /// What is seen inside although it is below a hidden folder.
    readable: Vec<PathBuf>,
    disk: u64,
}

impl Sandbox {
    /// Hides what belongs to the user who runs this process. Everything that a program writes besides
    /// the folders that are named for it is kept in memory, `disk` bytes at most, and is gone with it.
    pub fn of_this_user(disk: u64) -> Self {
        let folder = |path: PathBuf| path.canonicalize().ok().filter(|path| path.is_dir());
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let scratch = crate::scratch::place(&std::env::temp_dir());
        let private = PRIVATE.iter().map(PathBuf::from);
        let hidden = private.chain(home.clone()).chain([scratch]).filter_map(folder);
        // A home at the root of the system belongs to a service, and there is nothing in it to hide.
        let hidden = hidden.filter(|path| path != Path::new("/")).collect();
        let mut readable: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|paths| std::env::split_paths(&paths).collect())
            .unwrap_or_default();
        let rustup = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
        readable.extend(rustup.or_else(|| Some(home?.join(".rustup"))));
        Sandbox { hidden, readable, disk }
    }

    /// Can programs be put into it here? Runs one that looks around in it; the error says what the
    /// system refuses.
    pub fn check(&self, launcher: &Launcher) -> Result<(), Error> {
        let launcher = launcher.clone().sandboxed(self.clone());
        let spec = Spec::new(launcher.program()).arguments([PROBE]).wall(PATIENCE);
        let spec = spec.arguments(std::env::var_os("HOME"));
        let unusable = |reason: String| Error::NoSandbox { reason };
        match run(&launcher, &spec) {
            Ok(finished) if finished.end.is_success() => Ok(()),
            Ok(finished) => Err(unusable(finished.stderr.text().trim().to_owned())),
            Err(Error::CannotStart { reason, .. }) => Err(unusable(reason)),
            Err(other) => Err(other),
        }
    }

    /// With what one program may use besides.
    pub(crate) fn around(
        &self,
        program: &Path,
        folders: &Folders,
        variables: &[(OsString, Option<OsString>)],
    ) -> Confinement {
        let mut readable = self.readable.clone();
        readable.extend(beside(program));
        readable.extend_from_slice(&folders.readable);
        let own = variables.iter().filter_map(|(name, _)| name.to_str()).map(ToOwned::to_owned);
        let harmless = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        Confinement {
            hidden: self.hidden.clone(),
            folders: Folders { readable, ..folders.clone() },
            disk: self.disk,
            variables: own.chain(harmless.filter(|name| is_harmless(name))).collect(),
        }
    }
}

/// The folder of a program, and the libraries that are installed with it.
fn beside(program: &Path) -> Vec<PathBuf> {
    let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let Some(folder) = program.parent().filter(|folder| folder.is_absolute()) else {
        return Vec::new();
    };
    let mut all = vec![folder.to_owned()];
    if let Some(prefix) = folder.parent().filter(|_| folder.ends_with("bin")) {
        all.extend(["lib", "lib64", "libexec"].map(|name| prefix.join(name)));
    }
    all
}

/// What one program may see and change although it is in a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Folders {
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    /// It changes a copy, which is gone with it.
    pub(crate) copied: Vec<PathBuf>,
}

/// Everything that a process has to know that puts a program into a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) folders: Folders,
    pub(crate) disk: u64,
    /// The names of variables that the program has; the others are removed.
    pub(crate) variables: Vec<String>,
}

/// May every program inside have this variable?
fn is_harmless(variable: &str) -> bool {
    let has_prefix = PREFIXES.iter().any(|prefix| variable.starts_with(prefix));
    VARIABLES.contains(&variable) || has_prefix && !SECRETS.contains(&variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_variables_and_those_that_were_set_are_kept() {
        let rows = [
            ("PATH", true),
            ("LC_ALL", true),
            ("GOFLAGS", true),
            ("GOPROXY", false),
            ("NATS_PASSWORD", false),
            ("PATHS", false),
            ("", false),
        ];
        for (name, expected) in rows {
            assert_eq!(is_harmless(name), expected, "{name}");
        }
        let set = [(OsString::from("STRAIT_MAP"), Some(OsString::from("x")))];
        let sandbox = Sandbox { hidden: Vec::new(), readable: Vec::new(), disk: 0 };
        let kept = sandbox.around(Path::new("x"), &Folders::default(), &set).variables;
        assert!(kept.iter().any(|name| name == "STRAIT_MAP"), "{kept:?}");
        assert!(kept.iter().any(|name| name == "PATH"), "{kept:?}");
        assert!(!kept.iter().any(|name| name == "CARGO_PKG_NAME"), "{kept:?}");
    }

    #[test]
    fn libraries_are_seen_beside_a_program_and_nothing_else() {
        let rows: [(&str, &[&str]); 3] = [
            ("/none/bin/rustc", &["/none/bin", "/none/lib", "/none/lib64", "/none/libexec"]),
            ("/none/me/rustc", &["/none/me"]),
            ("rustc", &[]),
        ];
        for (program, expected) in rows {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(beside(Path::new(program)), expected, "{program}");
        }
    }
}
