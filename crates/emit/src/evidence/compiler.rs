//! A compile error against a compiler crash.

use strait_toolchain::{End, Finished};

use crate::language::Language;

/// What a compiler says about a program it does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// The program is wrong, it says.
    Error(String),
    /// It broke down itself.
    Crash(String),
}

impl Complaint {
    /// What was said.
    pub fn said(&self) -> &str {
        match self {
            Complaint::Error(said) | Complaint::Crash(said) => said,
        }
    }
}

/// Reads the output of a compiler that has failed.
pub fn complaint(finished: &Finished) -> Complaint {
    let text = format!("{}{}", finished.stderr.text(), finished.stdout.text());
    let is_crash = match &finished.end {
        End::Signalled(_) => true,
        End::Exited(_) => crashes().any(|words| text.contains(words)),
        End::TimedOut | End::Stopped | End::OverLimit(_) => false,
    };
    let said = if text.trim().is_empty() { finished.end.to_string() } else { text };
    if is_crash { Complaint::Crash(said) } else { Complaint::Error(said) }
}

/// Words that compilers use of themselves when they crash; the first is common to several.
fn crashes() -> impl Iterator<Item = &'static str> {
    let of_languages = Language::ALL.into_iter().flat_map(|language| language.crashes());
    ["internal compiler error"].into_iter().chain(of_languages.copied())
}
