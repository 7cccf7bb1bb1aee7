//! What can go wrong with starting, ending and finding programs. That a program fails, hangs or
//! crashes is a result ([`crate::End`]) and no error.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Strait could not do its part with another program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path of the running binary is unknown, so it cannot start itself again.
    #[error(
        "cannot find the running program to start it again: {source}; start Strait by its full path"
    )]
    NoOwnPath {
        /// What the system says.
        source: io::Error,
    },
    /// A program cannot be started.
    #[error("cannot start {}: {reason}; is it installed, and is its folder in PATH?", program.display())]
    CannotStart {
        /// The program.
        program: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The folder a program should run in is not there.
    #[error("cannot start {} in {}: there is no such folder", program.display(), directory.display())]
    NoDirectory {
        /// The program.
        program: PathBuf,
        /// The folder.
        directory: PathBuf,
    },
    /// The system refuses a pipe, a thread or a signal.
    #[error(
        "the system refuses {what}: {source}; too many processes or open files? (see `ulimit -a`)"
    )]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A temporary folder cannot be made.
    #[error("cannot make a temporary folder: {source}; is there room, and is TMPDIR right?")]
    NoTemporaryFolder {
        /// What the system says.
        source: io::Error,
    },
    /// A limit cannot be set.
    #[error(
        "cannot limit {what} to {limit}: {source}; a lower limit may be set already (see `ulimit -a`)"
    )]
    CannotLimit {
        /// The resource.
        what: &'static str,
        /// The wanted limit, in the resource's unit.
        limit: u64,
        /// What the system says.
        source: io::Error,
    },
    /// Programs cannot be put into a sandbox on this machine.
    #[error("programs cannot be put into a sandbox on this machine: {reason}")]
    NoSandbox {
        /// What the system refuses.
        reason: String,
    },
    /// The supervisor of a program ended without a word; the program has been ended too.
    #[error("the supervisor of {} ended without a report, so the program was ended; was it killed by hand, or is memory short?", program.display())]
    SupervisorLost {
        /// The program.
        program: PathBuf,
    },
    /// The supervisor does not speak our language: the binary that was started is not Strait, or
    /// does not call [`crate::entry`] first.
    #[error("{} does not behave as a supervisor: its `main` has to call `entry` first; it said {said:?}", program.display())]
    NotASupervisor {
        /// The binary.
        program: PathBuf,
        /// What came instead of a report.
        said: String,
    },
    /// A worker takes no more input within the time it was given.
    #[error("the worker {} takes no input for {} s; it hangs, end it and start another", program.display(), waited.as_secs_f32())]
    WorkerIsDeaf {
        /// The binary.
        program: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The user asked to stop.
    #[error("stopped while {what}, as asked")]
    Cancelled {
        /// What was going on.
        what: String,
    },
    /// No cargo on this machine.
    #[error("cargo is not found, neither in CARGO nor in PATH{}; install Rust from https://rustup.rs, or set CARGO to the program", tried.as_ref().map(|path| format!(" (tried {})", path.display())).unwrap_or_default())]
    NoCargo {
        /// The value of `CARGO`, if it was set.
        tried: Option<PathBuf>,
    },
    /// Something called cargo does not answer as cargo does.
    #[error("{} --version {problem}; set CARGO to a working cargo", program.display())]
    NotCargo {
        /// The program.
        program: PathBuf,
        /// What it did.
        problem: String,
    },
    /// The registry cannot be reached and cargo's own cache does not have what is needed.
    #[error(
        "{what} is not in cargo's cache and the registry cannot be reached; connect to the network (cargo's proxy and mirror settings are used) and try again. cargo says: {said}"
    )]
    Offline {
        /// The crate and version.
        what: String,
        /// The last lines of cargo.
        said: String,
    },
    /// The registry has no such crate.
    #[error("there is no crate `{name}` in the registry; check the spelling. cargo says: {said}")]
    NoSuchCrate {
        /// The crate.
        name: String,
        /// The last lines of cargo.
        said: String,
    },
    /// The crate has no such version.
    #[error(
        "there is no version {version} of `{name}`; see https://crates.io/crates/{name}/versions. cargo says: {said}"
    )]
    NoSuchVersion {
        /// The crate.
        name: String,
        /// The version.
        version: String,
        /// The last lines of cargo.
        said: String,
    },
    /// Not a version number.
    #[error(
        "`{version}` is not a version: write it as in Cargo.toml, for example 1.2.3 or 0.1.0-pre1"
    )]
    BadVersion {
        /// What was given.
        version: String,
    },
    /// Cargo resolved the crate but did not leave the list of its versions where it can be read.
    #[error("cargo knows `{name}` but its list of versions cannot be read in {}; name the versions one by one", looked_in.display())]
    VersionsUnknown {
        /// The crate.
        name: String,
        /// Where the list was expected.
        looked_in: PathBuf,
    },
    /// Cargo cannot find versions of all dependencies that fit together.
    #[error("cargo cannot resolve the dependencies of {what}: {said}")]
    CannotResolve {
        /// The harness.
        what: String,
        /// The last lines of cargo.
        said: String,
    },
    /// The harness does not compile.
    #[error("{what} does not compile; the crate is in {} (run `cargo build --release` there). The compiler says:\n{said}", directory.display())]
    CannotBuild {
        /// The harness.
        what: String,
        /// Where it is.
        directory: PathBuf,
        /// The last lines of cargo.
        said: String,
    },
    /// No place for files that are worth keeping.
    #[error("no cache folder: neither {variable}, XDG_CACHE_HOME nor HOME is set; set {variable}", variable = crate::CACHE_VARIABLE)]
    NoCache,
    /// A name of a harness or of one of its files that would leave its folder.
    #[error(
        "`{name}` cannot be used as a name in the cache: only letters, digits, `-`, `_`, `.` and inner `/` are"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// A file or folder of the cache cannot be used.
    #[error("cannot {action} {}: {source}; check that the folder is writable and the disk not full, or choose another with {variable}", path.display(), variable = crate::CACHE_VARIABLE)]
    CacheFile {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
