//! What judges programs: compilers, each given many programs at once and asked about each.
//!
//! An oracle answers with a [`Verdict`] for every program. That a compiler crashes, hangs or eats
//! memory is a verdict too.

mod batch;
mod checker;
mod command;
mod diagnostics;
mod mypy;
mod profile;
mod pyrefly;
mod pyright;
mod rust_analyzer;
mod rustc;
mod tsc;
mod ty;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_calculus::closest;
use strait_toolchain::{Launcher, Spec, run};

use crate::error::Error;
use crate::language::Language;

pub use batch::judge_all;
pub(crate) use batch::{cpu_time, judge_timed};
pub use command::is_command;
pub use profile::{Profile, Stage};

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
    /// Does the parser reject it?
    pub is_syntax: bool,
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
    pub(crate) rejections: Vec<Option<Rejection>>,
    /// Errors that belong to no program.
    pub(crate) astray: Option<Rejection>,
    /// The compiler's own end, if that was none of its own choosing.
    pub(crate) crashed: Option<(String, String)>,
    /// We were asked to stop.
    pub(crate) stopped: bool,
    /// The processor time that it took, if that is known.
    pub(crate) cpu: Option<Duration>,
}

/// A compiler that judges programs.
pub trait Oracle: Send + Sync {
    /// Its name, as given on the command line.
    fn name(&self) -> &str;
    /// Its version.
    fn version(&self) -> &str;
    /// What it is.
    fn profile(&self) -> &Profile;
    /// The language that it judges; `None` if that is not known.
    fn language(&self) -> Option<Language>;
    /// Runs it once over all programs.
    #[doc(hidden)]
    fn run(&self, programs: &[&str]) -> Result<RunResult, Error>;
}

/// The result of [`Oracle::run`], opaque outside of this crate.
#[doc(hidden)]
pub struct RunResult(pub(crate) Run);

/// Names of the oracles that are built in.
pub const ORACLES: [&str; 11] = [
    "rustc",
    "next-solver",
    "polonius-next",
    "polonius-legacy",
    "rust-analyzer",
    "tsc",
    "tsgo",
    "mypy",
    "pyright",
    "pyrefly",
    "ty",
];

/// How long an oracle may take for a hundred programs unless something else is said.
pub const WALL: Duration = Duration::from_secs(60);

/// Finds an oracle by name, by a path to a typechecker that is known with flags after a colon, or makes
/// one of a command with `{}` in the place of the program.
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

/// What was meant, or everything that can be asked.
fn unknown(oracle: &str, base: &str) -> Error {
    let others = [
        "a path to one of these",
        "each with flags after a `:` if wanted",
        "and a command with `{}` in the place of the program's file",
    ];
    let next = match closest(base, ORACLES) {
        Some(one) => format!("did you mean `{one}`?"),
        None => format!("known are {}, {}", ORACLES.join(", "), others.join(", ")),
    };
    Error::NoOracle { name: oracle.to_owned(), next }
}

/// The flags that an oracle stands for: those after its colon, and the one that it is named after.
pub(crate) fn flags_of(oracle: &str) -> Vec<String> {
    let (base, flags) = oracle.split_once(':').unwrap_or((oracle, ""));
    let own = match base {
        "next-solver" => Some("-Znext-solver=globally"),
        "polonius-next" => Some("-Zpolonius=next"),
        "polonius-legacy" => Some("-Zpolonius=legacy"),
        _ => None,
    };
    let given = flags.split(',').filter(|flag| !flag.is_empty());
    given.chain(own).map(str::to_owned).collect()
}

/// The same for an oracle that is called by another name: it stands in for the one of that name.
pub(crate) fn find_called(
    name: &str,
    oracle: &str,
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
    wall: Duration,
) -> Result<Box<dyn Oracle>, Error> {
    if is_command(oracle) {
        let question = Question { name, base: oracle, flags: &[], launcher, stop, wall };
        return command::at(&question, oracle);
    }
    let base = oracle.split_once(':').map_or(oracle, |(base, _)| base);
    if !ORACLES.contains(&base) && !base.contains('/') {
        return Err(unknown(oracle, base));
    }
    let flags = flags_of(oracle);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let question = Question { name, base, flags: &flags, launcher, stop, wall };
    match base {
        "rust-analyzer" => rust_analyzer::at(&question, base.as_ref()),
        path if path.contains('/') => {
            let ToolVersion { tool, version } = tool_version(&question, path.as_ref())?;
            match (tool.as_str(), checker::of_tool(&tool, &version)) {
                ("rust-analyzer", _) => rust_analyzer::at(&question, path.as_ref()),
                (_, Some(checker)) => {
                    // It runs in a folder of its own.
                    let path = std::path::absolute(path).map_err(Error::file(path.as_ref()))?;
                    checker::at(&question, checker, &path, version)
                }
                _ => rustc::at(&question, path.as_ref(), version),
            }
        }
        base => match checker::named(base) {
            Some(checker) => checker::installed(&question, checker),
            None => rustc::installed(&question),
        },
    }
}

/// The language of an oracle by its name. What a path leads to is known when it is started.
pub(crate) fn language_of(name: &str) -> Option<Language> {
    let base = name.split_once(':').map_or(name, |(base, _)| base);
    match checker::named(base) {
        Some(checker) => Some(checker.language),
        None => ORACLES.contains(&base).then_some(Language::Rust),
    }
}

/// Is an oracle found in PATH by its name, with no flags but the edition?
pub fn is_built_in(name: &str) -> bool {
    let (base, flags) = name.split_once(':').unwrap_or((name, ""));
    let is_edition = |flag: &str| {
        flag.strip_prefix("--edition=").is_some_and(|year| year.parse::<u16>().is_ok())
    };
    !is_command(name)
        && ORACLES.contains(&base)
        && flags.split(',').all(|flag| flag.is_empty() || is_edition(flag))
}

/// How an oracle is to be found and run.
struct Question<'a> {
    /// What it is called.
    name: &'a str,
    /// What is to be run: a name or a path, without flags.
    base: &'a str,
    flags: &'a [&'a str],
    launcher: &'a Launcher,
    stop: &'a Arc<AtomicBool>,
    wall: Duration,
}

impl Question<'_> {
    fn unusable(&self, why: impl Into<String>) -> Error {
        Error::Unusable { name: self.name.to_owned(), why: why.into() }
    }

    /// Refuses an oracle that fails at a program with nothing in it: it would fail at everything, and
    /// flags that it does not know would look like rejected programs.
    fn checked(&self, oracle: Box<dyn Oracle>, program: &str) -> Result<Box<dyn Oracle>, Error> {
        let Run { mut rejections, astray, crashed, .. } = oracle.run(&[program])?.0;
        let said = astray.or_else(|| rejections.pop().flatten()).map(|rejection| rejection.message);
        match said.or(crashed.map(|(how, output)| format!("{how} {}", last_line(&output)))) {
            Some(why) => {
                Err(self.unusable(format!("it fails at an empty program: {}", why.trim())))
            }
            None => Ok(oracle),
        }
    }
}

fn last_line(output: &str) -> &str {
    output.trim_end().lines().last().unwrap_or_default()
}

/// The time for questions that are no programs.
const QUICK: Duration = Duration::from_secs(60);

/// What a program says about itself.
struct ToolVersion {
    tool: String,
    version: String,
}

fn tool_version(question: &Question<'_>, program: &Path) -> Result<ToolVersion, Error> {
    let spec = Spec::new(program).arguments(["--version"]).wall(QUICK);
    let shown =
        run(question.launcher, &spec).map_err(|error| question.unusable(error.to_string()))?;
    let text = shown.stdout.text();
    let mut words = text.split_whitespace().map(str::to_owned);
    match (shown.end.is_success(), words.next(), words.next()) {
        (true, Some(tool), Some(version)) => Ok(ToolVersion { tool, version }),
        _ => {
            let program_shown = program.display();
            let hint = match program.ends_with("rust-analyzer") {
                true => "; add it with `rustup component add rust-analyzer rust-src`",
                false => "",
            };
            Err(question.unusable(format!("`{program_shown} --version` says no version{hint}")))
        }
    }
}
