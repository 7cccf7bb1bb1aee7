//! Why a language cannot be used here. Each message is one sentence and the next step.

use std::path::PathBuf;

/// A toolchain that is not here, or not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// The program is not installed.
    #[error("{tool} is not found{}; {next}", looked.as_ref().map(|path| format!(" at {}", path.display())).unwrap_or_default())]
    NotInstalled {
        /// The program.
        tool: &'static str,
        /// Where it was looked for, if not in PATH.
        looked: Option<PathBuf>,
        /// What to do.
        next: &'static str,
    },
    /// It is there, but does not answer as it should.
    #[error("{tool} is there but does not work: {said}; run `{command}` by hand to see why")]
    Broken {
        /// The program.
        tool: &'static str,
        /// What was run.
        command: String,
        /// What it said.
        said: String,
    },
    /// There is no such version.
    #[error("there is no version {version} of {what}; see {list}. {said}")]
    NoSuchVersion {
        /// What was asked for.
        what: &'static str,
        /// The version.
        version: String,
        /// Where versions are listed.
        list: &'static str,
        /// What the tool said.
        said: String,
    },
    /// Only the version that is installed can be used.
    #[error("{what} {found} is here, not {wanted}; {next}")]
    OtherVersion {
        /// The language.
        what: &'static str,
        /// What was asked for.
        wanted: String,
        /// What there is.
        found: String,
        /// What to do.
        next: &'static str,
    },
    /// The registry cannot be reached and the tool's own cache does not have what is needed.
    #[error(
        "{what} {version} is not in the cache of {tool} and its registry cannot be reached; connect to the network (the proxy and mirror settings of {tool} are used) and try again. {said}"
    )]
    Offline {
        /// What was asked for.
        what: &'static str,
        /// The version.
        version: String,
        /// Who fetches it.
        tool: &'static str,
        /// What the tool said.
        said: String,
    },
    /// Our own interpreter or driver does not compile there.
    #[error("the interpreter for {what} does not compile; it is in {}. The compiler says:\n{said}", directory.display())]
    DoesNotBuild {
        /// The language and version.
        what: String,
        /// Where the sources are.
        directory: PathBuf,
        /// The last lines of the compiler.
        said: String,
    },
    /// The language cannot be used in this way.
    #[error("{what} has no {way}; {next}")]
    NoSuchWay {
        /// The language.
        what: &'static str,
        /// What was asked for.
        way: &'static str,
        /// What to do.
        next: &'static str,
    },
    /// A program cannot be written in the language.
    #[error(transparent)]
    Emit(#[from] crate::error::Error),
    /// Something with processes or the cache.
    #[error(transparent)]
    Toolchain(#[from] strait_toolchain::Error),
    /// A file of the cache cannot be used.
    #[error("cannot {action} {}: {source}; is the folder writable, and is there room on the disk?", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Does a tool complain about the network?
pub(crate) fn is_offline(said: &str) -> bool {
    const WORDS: [&str; 14] = [
        "dial tcp",
        "no such host",
        "connection refused",
        "Connection refused",
        "network is unreachable",
        "Network is unreachable",
        "i/o timeout",
        "Unknown host",
        "UnknownHostException",
        "toolchain not available",
        "Temporary failure in name resolution",
        "in offline mode",
        "Cannot access",
        "timed out",
    ];
    WORDS.iter().any(|word| said.contains(word))
}
