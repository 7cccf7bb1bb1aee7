//! What kind of fault it is: a set that later parts of Strait extend, held as checked text so that
//! they need not touch this crate.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;

const LONGEST: usize = 32;

/// A kind of finding. The known ones are constants; [`Kind::new`] makes others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Kind(Cow<'static, str>);

/// The known kinds, from the worst, each with its constant, its name and a sentence for people.
macro_rules! kinds {
    ($($constant:ident $name:literal $meaning:literal;)*) => {
        impl Kind {
            $(#[doc = $meaning] pub const $constant: Kind = Kind(Cow::Borrowed($name));)*

            /// All known kinds, from the worst.
            pub const KNOWN: &[Kind] = &[$(Kind::$constant),*];

            /// What it means, in a sentence; empty for a kind that this crate does not know.
            pub fn meaning(&self) -> &'static str {
                match self.as_str() {
                    $($name => $meaning,)*
                    _ => "",
                }
            }
        }
    };
}

kinds! {
    CRASH "crash" "The program or its runtime was ended by a signal, an abort or a panic.";
    WRONG_OUTCOME "wrong-outcome" "An answer that no schedule of the program allows.";
    HANG "hang" "No progress, although the program terminates under every schedule.";
    SOUNDNESS "soundness" "An ill-typed program was accepted.";
    COMPILER_CRASH "compiler-crash" "The compiler crashed or reported an internal error.";
    PANIC "panic" "The program under test panicked or died of a fatal error.";
    BLOCKING "blocking" "A goroutine is blocked forever.";
    DATA_RACE "data-race" "Two goroutines use the same memory without an order between them.";
    TIMEOUT "timeout" "A test does not end.";
    ASSERTION "assertion" "A test fails under some orders and passes under others.";
    CONSISTENCY "consistency" "Two programs that mean the same were judged differently.";
    DISAGREEMENT "disagreement" "Two tools judge the same program differently.";
    PRECISION "precision" "A well-typed program was rejected.";
    COMPILE_ERROR "compile-error" "The compiler rejected a valid program.";
    SLOWDOWN "slowdown" "One checker takes many times as long for a program as another one does.";
    PARSER "parser" "The parser rejected or misread a valid program.";
    WORKER_DEATH "worker-death" "Whoever ran it was killed: a fault of Strait, or too much for a machine.";
}

impl Kind {
    /// Any kind: lower-case letters, digits and `-`, a letter first.
    pub fn new(kind: &str) -> Result<Self, Error> {
        let allowed =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
        let starts_well = kind.starts_with(|char: char| char.is_ascii_lowercase());
        if kind.len() > LONGEST || !starts_well || !kind.chars().all(allowed) {
            return Err(Error::BadKind { kind: kind.to_owned() });
        }
        let known = Kind::KNOWN.iter().find(|known| known.as_str() == kind);
        Ok(known.cloned().unwrap_or_else(|| Kind(Cow::Owned(kind.to_owned()))))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its place in the order from the worst; unknown ones come last.
    pub(crate) fn rank(&self) -> usize {
        Kind::KNOWN.iter().position(|known| known == self).unwrap_or(Kind::KNOWN.len())
    }
}

impl TryFrom<String> for Kind {
    type Error = Error;

    fn try_from(kind: String) -> Result<Self, Error> {
        Kind::new(&kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_open_but_checked() {
        assert_eq!(Kind::new("crash").expect("known"), Kind::CRASH);
        assert_eq!(Kind::new("data-race").expect("new").to_string(), "data-race");
        assert!(Kind::KNOWN.iter().all(|kind| Kind::new(kind.as_str()).is_ok()));
        for bad in ["", "Crash", "a b", "-x", "../x", "<b>", &"x".repeat(33)] {
            assert!(Kind::new(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Kind>("\"<script>\"").is_err());
    }
}
