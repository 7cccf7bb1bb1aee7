//! A compile error against a compiler crash.

use strait_toolchain::{End, Finished};

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

/// Words that a compiler uses of itself.
const CRASHES: [&str; 16] = [
    "internal compiler error",
    "the compiler unexpectedly panicked",
    "goroutine 1 [running]",
    "unexpected fault address",
    "Internal error in",
    "exception: java.lang.",
    "Exception while generating code",
    "Backend Internal error",
    "Frontend Internal error",
    "java.lang.StackOverflowError",
    "java.lang.VerifyError",
    "Exception in thread \"main\"",
    "you've found a bug in the Crystal compiler",
    "BUG: ",
    "Module validation failed",
    "Invalid memory access",
];

/// Reads the output of a compiler that has failed.
pub fn complaint(finished: &Finished) -> Complaint {
    let text = format!("{}{}", finished.stderr.text(), finished.stdout.text());
    let is_crash = match &finished.end {
        End::Signalled(_) => true,
        End::Exited(_) => CRASHES.iter().any(|words| text.contains(words)),
        End::TimedOut | End::Stopped | End::OverLimit(_) => false,
    };
    let said = if text.trim().is_empty() { finished.end.to_string() } else { text };
    if is_crash { Complaint::Crash(said) } else { Complaint::Error(said) }
}
