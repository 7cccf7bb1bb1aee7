//! The languages, one file each: a [`Description`] of what programs it can take and how they are written.
//! How the functions of a program look in a language is in `source`.

mod crystal;
mod flix;
pub(crate) mod go;
pub(crate) mod kotlin;
mod rust;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use strait_calculus::Program;
use strait_generate::Capabilities;

use crate::error::Error;
use crate::source::{Files, Naming};

/// Which API a Kotlin source is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// kotlinx.coroutines 0.19 to 0.30: `kotlinx.coroutines.experimental`.
    Experimental,
    /// 1.0 to 1.4: `offer`, `poll`, `receiveOrNull`.
    Classic,
    /// 1.5 and later: `trySend`, `tryReceive`, `receiveCatching`.
    Modern,
    /// Clojure's core.async, called from Kotlin.
    CoreAsync,
}

impl Era {
    /// The era of a version of kotlinx.coroutines.
    pub fn of(version: &str) -> Option<Era> {
        let version = parse_version(version)?;
        Some(match (version.major, version.minor) {
            (0, _) => Era::Experimental,
            (1, ..5) => Era::Classic,
            _ => Era::Modern,
        })
    }
}

/// Reads a version; `0.19` is as good as `0.19.0`.
pub(crate) fn parse_version(text: &str) -> Option<semver::Version> {
    semver::Version::parse(text).or_else(|_| semver::Version::parse(&format!("{text}.0"))).ok()
}

/// A language that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Go.
    Go,
    /// Kotlin with kotlinx.coroutines.
    Kotlin,
    /// Crystal.
    Crystal,
    /// Flix.
    Flix,
    /// Rust with crossbeam-channel.
    Rust,
}

/// What is known of a language, apart from how its compiler is started.
pub(crate) struct Description {
    /// The name on the command line.
    name: &'static str,
    /// The name for people.
    title: &'static str,
    /// What is written, for the help of the command line.
    about: &'static str,
    /// How its files end, without the dot.
    extension: &'static str,
    /// How a line of comment begins.
    comment: &'static str,
    /// What its newest version can take and our writer can say, from what all languages have in common.
    capabilities: fn(Capabilities) -> Capabilities,
    /// Words that its compiler uses of itself when it crashes.
    crashes: &'static [&'static str],
    /// The functions of a program.
    pub(crate) functions: fn(&Program, Naming, Era) -> Result<String, Error>,
    /// A program with these functions as a file of its own.
    pub(crate) alone: fn(&Program, &str, Era) -> String,
    /// Many programs as one unit: imports, the part that remembers what processes saw, and a `main`.
    pub(crate) together: fn(&Batch<'_>) -> Parts,
}

/// Files of a unit: names and contents.
pub(crate) type Parts = Vec<(&'static str, String)>;

/// Programs of one unit.
pub(crate) struct Batch<'a> {
    /// The programs with their functions.
    pub programs: &'a [(Cow<'a, Program>, String)],
    /// For which API; it matters for Kotlin alone.
    pub era: Era,
}

impl Batch<'_> {
    /// The functions of all programs.
    fn text(&self) -> String {
        let texts: Vec<&str> = self.programs.iter().map(|(_, text)| text.as_str()).collect();
        texts.join("\n")
    }

    /// What the programs are called.
    fn names(&self) -> Vec<String> {
        (0..self.programs.len()).map(|number| Naming::Numbered(number).main()).collect()
    }

    /// One line for each program.
    fn listed(&self, prefix: &str, suffix: &str) -> String {
        self.names().iter().map(|name| format!("{prefix}{name}{suffix}\n")).collect()
    }
}

/// Files as they are.
fn files(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 5] =
        [Language::Go, Language::Kotlin, Language::Crystal, Language::Flix, Language::Rust];

    pub(crate) const fn description(self) -> &'static Description {
        match self {
            Language::Go => &go::GO,
            Language::Kotlin => &kotlin::KOTLIN,
            Language::Crystal => &crystal::CRYSTAL,
            Language::Flix => &flix::FLIX,
            Language::Rust => &rust::RUST,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        self.description().title
    }

    /// What is written, for the help of the command line.
    pub fn about(self) -> &'static str {
        self.description().about
    }

    /// How its files end, without the dot.
    pub fn extension(self) -> &'static str {
        self.description().extension
    }

    /// How a line of comment begins.
    pub fn comment(self) -> &'static str {
        self.description().comment
    }

    /// Words that its compiler uses of itself when it crashes.
    pub(crate) fn crashes(self) -> &'static [&'static str] {
        self.description().crashes
    }

    /// What its newest version can take and our writer can say.
    pub fn capabilities(self) -> Capabilities {
        (self.description().capabilities)(Capabilities {
            buffered: true,
            integers: true,
            loops: true,
            recursion: true,
            channels_over_channels: true,
            shared_ends: true,
            max_processes: Some(24),
            ..Capabilities::default()
        })
    }

    /// What is wanted, as far as the language has it.
    pub fn restrict(self, wanted: &Capabilities) -> Capabilities {
        both(wanted, &self.capabilities())
    }
}

/// With operations that do not wait, or not for long.
fn with_ways_out(capabilities: Capabilities) -> Capabilities {
    Capabilities {
        default_gets: true,
        default_puts: true,
        timeout_gets: true,
        timeout_puts: true,
        ..capabilities
    }
}

/// What both of two targets can take.
pub fn both(one: &Capabilities, other: &Capabilities) -> Capabilities {
    let smaller = |one: Option<u32>, other| one.into_iter().chain(other).min();
    Capabilities {
        rendezvous: one.rendezvous && other.rendezvous,
        buffered: one.buffered && other.buffered,
        max_capacity: smaller(one.max_capacity, other.max_capacity),
        unbounded: one.unbounded && other.unbounded,
        close: one.close && other.close,
        select_puts: one.select_puts && other.select_puts,
        select_gets: one.select_gets && other.select_gets,
        same_channel_twice: one.same_channel_twice && other.same_channel_twice,
        put_and_get_in_select: one.put_and_get_in_select && other.put_and_get_in_select,
        default_gets: one.default_gets && other.default_gets,
        default_puts: one.default_puts && other.default_puts,
        timeout_gets: one.timeout_gets && other.timeout_gets,
        timeout_puts: one.timeout_puts && other.timeout_puts,
        abandon: one.abandon && other.abandon,
        channels_over_channels: one.channels_over_channels && other.channels_over_channels,
        recursion: one.recursion && other.recursion,
        loops: one.loops && other.loops,
        integers: one.integers && other.integers,
        owned_payloads: one.owned_payloads && other.owned_payloads,
        shared_ends: one.shared_ends && other.shared_ends,
        many_receivers: one.many_receivers && other.many_receivers,
        many_senders: one.many_senders && other.many_senders,
        one_message: one.one_message || other.one_message,
        max_processes: smaller(one.max_processes, other.max_processes),
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        let found = Language::ALL.into_iter().find(|language| language.name() == name);
        found.ok_or_else(|| UnknownLanguage { name: name.to_owned() })
    }
}

/// Not the name of a language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no language `{name}`; known are {}", Language::ALL.map(Language::name).join(", "))]
pub struct UnknownLanguage {
    /// The name.
    pub name: String,
}
