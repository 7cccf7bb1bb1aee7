//! What judges programs: compilers, each given many programs at once and asked about each.
//!
//! An oracle answers with a [`Verdict`] for every program. That a compiler crashes, hangs or eats
//! memory is a verdict too.

mod batch;
mod diagnostics;
mod rust_analyzer;
mod rustc;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::Launcher;

use crate::error::Error;

pub use batch::judge_all;

/// What an oracle says about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted.
    Accepted,
    /// It is rejected.
    Rejected(Rejection),
    /// The compiler did not survive it.
    Crashed {
        /// How it ended: a signal, an internal error, a limit.
        how: String,
        /// What it wrote last.
        output: String,
    },
    /// We were asked to stop before it was judged.
    Unknown,
}

/// Why a program is rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejection {
    /// Error codes in the order they were given, each once; empty if it is the parser that rejects.
    pub codes: Vec<String>,
    /// The first message.
    pub message: String,
    /// What was written about it.
    pub rendered: String,
}

impl Verdict {
    /// Is it accepted?
    pub fn is_accepted(&self) -> bool {
        *self == Verdict::Accepted
    }

    /// In a word or two, for people and for grouping.
    pub fn word(&self) -> String {
        match self {
            Verdict::Accepted => "accepts".to_owned(),
            Verdict::Rejected(rejection) if rejection.codes.is_empty() => "rejects".to_owned(),
            Verdict::Rejected(rejection) => format!("rejects ({})", rejection.codes.join(", ")),
            Verdict::Crashed { how, .. } => format!("crashes ({how})"),
            Verdict::Unknown => "was stopped".to_owned(),
        }
    }
}

/// What one run of a compiler over several programs said.
pub(crate) struct Run {
    /// What was said about each program; `None` where nothing was.
    pub(crate) told: Vec<Option<Rejection>>,
    /// Errors that belong to no program.
    pub(crate) astray: Option<Rejection>,
    /// The compiler's own end, if that was none of its own choosing.
    pub(crate) crashed: Option<(String, String)>,
    /// We were asked to stop.
    pub(crate) stopped: bool,
}

/// A compiler that judges programs.
pub trait Oracle: Send + Sync {
    /// Its name, as given on the command line.
    fn name(&self) -> &str;
    /// Its version.
    fn version(&self) -> &str;
    /// Runs it once over all programs.
    #[doc(hidden)]
    fn run(&self, programs: &[&str]) -> Result<RunResult, Error>;
}

/// The result of [`Oracle::run`], opaque outside of this crate.
#[doc(hidden)]
pub struct RunResult(pub(crate) Run);

/// Names of the oracles that are built in.
pub const ORACLES: [&str; 5] =
    ["rustc", "next-solver", "polonius-next", "polonius-legacy", "rust-analyzer"];

/// How long an oracle may take for a hundred programs unless something else is said.
pub const WALL: Duration = Duration::from_secs(60);

/// Finds an oracle by name or by a path to a rustc.
pub fn find(
    name: &str,
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
) -> Result<Box<dyn Oracle>, Error> {
    find_within(name, launcher, stop, WALL)
}

/// The same; an oracle that takes longer than `wall` for a batch hangs.
pub fn find_within(
    name: &str,
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
    wall: Duration,
) -> Result<Box<dyn Oracle>, Error> {
    find_called(name, name, launcher, stop, wall)
}

/// The same for an oracle that is called by another name: it stands in for the one of that name.
pub(crate) fn find_called(
    name: &str,
    oracle: &str,
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
    wall: Duration,
) -> Result<Box<dyn Oracle>, Error> {
    let flags: &[&str] = match oracle {
        "rustc" => &[],
        "next-solver" => &["-Znext-solver=globally"],
        "polonius-next" => &["-Zpolonius=next"],
        "polonius-legacy" => &["-Zpolonius=legacy"],
        "rust-analyzer" => return rust_analyzer::find(name, launcher, stop, wall),
        _ => {
            let (path, flags) = oracle.split_once(':').unwrap_or((oracle, ""));
            if !path.contains('/') {
                return Err(Error::NoOracle { name: oracle.to_owned(), known: ORACLES.join(", ") });
            }
            let flags: Vec<&str> = flags.split(',').filter(|flag| !flag.is_empty()).collect();
            return rustc::at(name, path.as_ref(), &flags, launcher, stop, wall);
        }
    };
    rustc::installed(name, flags, launcher, stop, wall)
}
