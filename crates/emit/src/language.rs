//! The languages, and what programs each of them can take.

use std::fmt;
use std::str::FromStr;

use strait_generate::Capabilities;

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

impl Language {
    /// All of them.
    pub const ALL: [Language; 5] =
        [Language::Go, Language::Kotlin, Language::Crystal, Language::Flix, Language::Rust];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Language::Go => "go",
            Language::Kotlin => "kotlin",
            Language::Crystal => "crystal",
            Language::Flix => "flix",
            Language::Rust => "rust",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Language::Go => "Go",
            Language::Kotlin => "Kotlin",
            Language::Crystal => "Crystal",
            Language::Flix => "Flix",
            Language::Rust => "Rust",
        }
    }

    /// How its files end, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Go => "go",
            Language::Kotlin => "kt",
            Language::Crystal => "cr",
            Language::Flix => "flix",
            Language::Rust => "rs",
        }
    }

    /// How a line of comment begins.
    pub fn comment(self) -> &'static str {
        match self {
            Language::Crystal => "#",
            _ => "//",
        }
    }

    /// What its newest version can take and our writer can say.
    pub fn capabilities(self) -> Capabilities {
        let common = Capabilities {
            buffered: true,
            integers: true,
            loops: true,
            recursion: true,
            channels_over_channels: true,
            shared_ends: true,
            max_processes: Some(24),
            ..Capabilities::default()
        };
        match self {
            Language::Go => {
                Capabilities { close: true, put_and_get_in_select: true, ..with_ways_out(common) }
            }
            // Since 1.7 a select may not name one channel twice; `build::jvm` knows the versions.
            Language::Kotlin => Capabilities {
                unbounded: true,
                close: true,
                same_channel_twice: false,
                ..with_ways_out(common)
            },
            Language::Crystal => {
                Capabilities { close: true, put_and_get_in_select: true, ..with_ways_out(common) }
            }
            // Selects are over gets alone.
            Language::Flix => Capabilities {
                select_puts: false,
                loops: false,
                recursion: false,
                channels_over_channels: false,
                ..common
            },
            Language::Rust => Capabilities {
                unbounded: true,
                put_and_get_in_select: true,
                ..with_ways_out(common)
            },
        }
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
#[error("there is no language `{name}`; known are go, kotlin, crystal, flix, rust")]
pub struct UnknownLanguage {
    /// The name.
    pub name: String,
}
