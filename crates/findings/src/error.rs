//! What can go wrong with the store. Nothing that was found before is lost by any of it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::untrusted::FileKind;

/// The store cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The baseline cannot be read.
    #[error("cannot read the baseline {}: {source}; --write-baseline makes one", path.display())]
    ReadBaseline {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The baseline cannot be written.
    #[error("cannot write the baseline {}: {source}", path.display())]
    WriteBaseline {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not a baseline.
    #[error("{} is not a baseline of Strait ({what}); write it again with --write-baseline", path.display())]
    WrongBaseline {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// No room for another finding or for the index.
    #[error("the disk is full: cannot write {}; make room and resume, everything written before is kept", path.display())]
    DiskFull {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// The folder cannot be written to.
    #[error("{} cannot be written to ({reason}); change its permissions or choose another folder with --out", path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Another Strait writes into this folder.
    #[error("{} is in use by another run of Strait{}; wait for it, or choose another folder with --out", path.display(), holder.as_ref().map(|holder| format!(" (process {holder})")).unwrap_or_default())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process that holds it, if it said so.
        holder: Option<String>,
    },
    /// Another program holds the index.
    #[error("the index {} is locked by another program; close it (a database browser?) and try again", path.display())]
    Locked {
        /// The index.
        path: PathBuf,
    },
    /// The index was damaged while it was open, or cannot be read for a report.
    #[error("the index {} is damaged ({reason}); resume the campaign: the damaged file is moved aside and the index rebuilt from the finding directories", path.display())]
    Damaged {
        /// The index.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
    /// The store was written by another version of Strait.
    #[error("{} has format {found}, this version of Strait knows formats up to {known}; use the version that wrote it, or choose another folder with --out", path.display())]
    OtherVersion {
        /// The index or the finding.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// There is an SQLite file of this name, and it is somebody else's.
    #[error("{} is a database of another program; choose another folder with --out", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// There are no findings here, nor an index.
    #[error("there is no campaign in {}; give the folder that was named with --out, or strait-out", path.display())]
    NoCampaign {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has no `finding.json`.
    #[error("there is no finding in {}; give a folder below `findings` of a campaign, as its summary names it", path.display())]
    NoFinding {
        /// The folder.
        path: PathBuf,
    },
    /// A finding that cannot be read.
    #[error("{} is no finding: {reason}; if it is damaged, remove its directory and resume to find it again", path.display())]
    NotAFinding {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file of a finding or a store is something else.
    #[error("{} is {kind}, and strait reads only regular files of findings; remove it, or ask for a complete copy", path.display())]
    NotAFile {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        kind: FileKind,
    },
    /// A file that is changed where it is has another name elsewhere.
    #[error("{} has another name (it is a hard link), and a change of it would change the other file too; copy the folder without hard links", path.display())]
    HardLink {
        /// The file.
        path: PathBuf,
    },
    /// A file of a finding or a store is too long.
    #[error("{} is longer than {} MiB, which no file of a finding is; remove it, or ask for a complete copy", path.display(), most >> 20)]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The longest that is read, in bytes.
        most: u64,
    },
    /// A finding has too many files.
    #[error("{} holds more than {most} files, which no finding does; remove those that do not belong there", path.display())]
    TooManyFiles {
        /// The directory.
        path: PathBuf,
        /// The most there may be.
        most: usize,
    },
    /// A name in a finding leads out of its directory.
    #[error("the name {} leads out of {}; strait reads only files in that folder", name.display(), folder.display())]
    LeadsOut {
        /// The directory.
        folder: PathBuf,
        /// The name.
        name: PathBuf,
    },
    /// A kind with characters that would not be safe everywhere.
    #[error(
        "`{kind}` is no kind of finding: use lower-case letters, digits and `-`, at most 32, a letter first"
    )]
    BadKind {
        /// What was given.
        kind: String,
    },
    /// A number that SQLite cannot hold.
    #[error("{what} is {value}, and the index holds numbers up to {}; use a smaller one", i64::MAX)]
    TooLarge {
        /// Which number.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// There can be no folder of this name.
    #[error("{} cannot be a folder: {source}; choose another one with --out", path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file that fails in an unexpected way.
    #[error("cannot {action} {}: {source}; check the disk and resume", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The index fails in an unexpected way.
    #[error("the index {} fails: {source}; check the disk and resume", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
}

impl Error {
    /// For a file operation.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| {
            let path = path.clone();
            match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Error::DiskFull { path }
                }
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                    Error::ReadOnly { path, reason: source.to_string() }
                }
                io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                    Error::NoFolder { path, source }
                }
                _ => Error::File { action, path, source },
            }
        }
    }

    /// For an operation of the index.
    pub(crate) fn index(path: &Path) -> impl Fn(rusqlite::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| {
            let path = path.clone();
            let (code, extended) = match &source {
                rusqlite::Error::SqliteFailure(failure, _) => (failure.code, failure.extended_code),
                _ => return Error::Index { path, source },
            };
            match code {
                ErrorCode::DiskFull => Error::DiskFull { path },
                // The shared-memory file beside the index cannot grow.
                ErrorCode::SystemIoFailure if extended == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => {
                    Error::DiskFull { path }
                }
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
                    Error::ReadOnly { path, reason: source.to_string() }
                }
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed => Error::Locked { path },
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                    Error::Damaged { path, reason: source.to_string() }
                }
                _ => Error::Index { path, source },
            }
        }
    }
}
