//! What can go wrong with the fuzzer itself. That a program crashes, or that the verifier is wrong
//! about it, is a result and no error.

use std::io;
use std::path::PathBuf;

/// The fuzzer could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a folder cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A program cannot be started.
    #[error(transparent)]
    Toolchain(#[from] strait_toolchain::Error),
    /// A gadget file is not well formed.
    #[error("{family}.gadgets:{line}: {reason}")]
    Gadget {
        /// The family.
        family: &'static str,
        /// The line of the file.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A generated program does not compile, so a gadget is wrong.
    #[error("a generated program does not compile; correct its gadget:\n{0}")]
    DoesNotCompile(String),
    /// The verifier gave no answer to a single program.
    #[error("`strait go verify` ended with {end} and printed no JSON: {stderr}")]
    Verifier {
        /// How it ended.
        end: String,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
    /// A program that writes cases failed.
    #[error("`{script}` ended with {end}: {stderr}")]
    Script {
        /// The program.
        script: String,
        /// How it ended.
        end: String,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
    /// A case does not say whether it has a bug.
    #[error(
        "{0} has no known truth; let its name end in `_ok` or `_bug`, or write a comment \
         `// truth: …` above the function"
    )]
    NoTruth(String),
    /// No family has this name.
    #[error("there is no family `{0}`; the families are {1}")]
    NoFamily(String, String),
}

impl Error {
    /// For `map_err` on file operations.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { path, source }
    }
}
