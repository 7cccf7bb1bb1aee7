//! Go packages in, programs of the language out (Lange et al., ICSE 2018, Algorithms 1 and 2, on today's Go).
//!
//! The work is done by a helper written in Go, because only Go's own libraries read Go: it is
//! embedded here, built once with the user's `go`, and answers with one program an entry as text.
//! Each line of that text holds one statement and has one position in the Go source, so that
//! whatever is later said about the program can be said about Go lines.

mod about;
mod answer;
mod helper;
mod position;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_calculus::Program;
use strait_toolchain::Cache;

use crate::error::Error;
use crate::go::Go;

use self::helper::HelperTime;

pub use about::About;
pub use position::{GoPosition, Positions};

/// What is extracted, and from what.
#[derive(Clone, Debug, Default)]
pub struct ExtractOptions {
    /// Patterns of packages as `go list` understands them; none means `./...`.
    pub packages: Vec<String>,
    /// Only these functions: `NAME`, `NA*`, `package/path.NAME`, `package/path.(*Type).NAME`. None means
    /// every `main` and every test.
    pub entries: Vec<String>,
    /// Leave tests out.
    pub without_tests: bool,
    /// Build tags, as `go build -tags` takes them.
    pub tags: Vec<String>,
    /// How long it may take in all, the build of the helper included.
    pub wall: Option<Duration>,
    /// Where the helper is kept; the user's cache if not said.
    pub cache: Option<Cache>,
}

/// Everything that was extracted.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// One program an entry.
    pub entries: Vec<Entry>,
    /// What concerns no single entry: packages that do not compile, names that were not found.
    pub warnings: Vec<Assumption>,
    /// How many lines of Go the packages have.
    pub lines: u64,
}

/// One way into the packages, as a program.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Such as `example.com/m.main` or `example.com/m.TestX`.
    pub name: String,
    /// Where the function stands.
    pub position: GoPosition,
    /// What it does, as far as other goroutines can notice.
    pub program: Program,
    /// The program as text; spans of the program point into it.
    pub text: String,
    /// Where each statement comes from. What has no position is a device of the extraction, such
    /// as the one-place channel that stands for a shared variable: no property is about it.
    pub positions: Positions,
    /// The Go names of the program's functions and objects.
    pub names: BTreeMap<String, String>,
    /// What was abstracted, with its line.
    pub assumptions: Vec<Assumption>,
    /// The loops that remain in the program, or were cut short.
    pub loops: Vec<LoopInfo>,
    /// The behavioural types as MiGo text.
    pub migo: String,
    /// How many operations of Go's concurrency the entry reaches, and how many are lowered exactly.
    pub operations: Operations,
    /// Was the entry too large, so that a part of it is missing? Then nothing is sure.
    pub truncated: bool,
    /// Is the entry a test? Then it must come to an end.
    pub test: bool,
    /// The same entry with less data: for when the states of the program have no end.
    pub coarse: Option<Box<Entry>>,
}

/// How much of what an entry does is in its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operations {
    /// Places in the source with an operation on a channel, lock or wait group, or a `go`.
    pub reached: u64,
    /// Those of them that no assumption touches.
    pub exact: u64,
}

/// On which side the program errs where an assumption was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approximation {
    /// The program can do more than the Go code: what is proved holds, a violation may be spurious.
    Over,
    /// The Go code can do more than the program: a violation is real, a proof may miss something.
    Under,
    /// Either may be.
    Either,
}

/// Something that was not lowered as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Assumption {
    /// Where.
    pub position: Option<GoPosition>,
    /// What it is about.
    pub about: About,
    /// The function, variable or message that it is about, if it is about one.
    #[serde(default)]
    pub subject: String,
    /// On which side the program errs.
    pub approximation: Approximation,
}

impl Assumption {
    /// What is assumed, in words, without the place.
    pub fn text(&self) -> String {
        AssumptionText(self).to_string()
    }
}

struct AssumptionText<'a>(&'a Assumption);

impl fmt::Display for AssumptionText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.about.tell(&self.0.subject, formatter)
    }
}

impl fmt::Display for Assumption {
    /// In a line, with the place if there is one.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(formatter, "{}:{}: ", position.file, position.line)?;
        }
        self.about.tell(&self.subject, formatter)
    }
}

/// A loop of the Go code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LoopInfo {
    /// Where it begins.
    pub position: GoPosition,
    /// Is there a linear ranking, so that the loop ends if each round does?
    pub bounded: bool,
    /// The ranking, or what stands against one.
    pub why: String,
}

/// Loads the packages and extracts a program from each entry.
pub fn extract(go: &Go, options: &ExtractOptions) -> Result<Extraction, Error> {
    let cache = match &options.cache {
        Some(cache) => cache.clone(),
        None => Cache::find()?,
    };
    let time = HelperTime::start(options.wall);
    let helper = helper::build(go, &cache, &time)?;
    answer::read(go, &helper::ask(go, &helper, options, &time)?)
}
