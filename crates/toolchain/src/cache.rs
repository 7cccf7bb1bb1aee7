//! The folder where things are kept that took long to make and can be made again: harnesses and
//! what cargo built for them. Two campaigns may use it at once: whoever makes something holds a lock.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fnv::FnvHasher;

use crate::error::Error;

/// Names the cache folder, above every other place.
pub const CACHE_VARIABLE: &str = "STRAIT_CACHE";

const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Changes with each of these sources, for the name of a folder in the cache. FNV-1a: the same on every
/// machine and in every version.
pub fn source_key<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = FnvHasher::default();
    for part in parts {
        hash.write(part.as_bytes());
        hash.write(&[0]);
    }
    format!("{:016x}", hash.finish())
}

/// The cache folder. It is made when something is put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// A folder the user has named.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        // A relative path would mean another place for programs that run elsewhere.
        Cache { root: std::path::absolute(&root).unwrap_or(root) }
    }

    /// The folder that [`CACHE_VARIABLE`] names, or the place the system has for such things.
    pub fn find() -> Result<Self, Error> {
        let variable = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        let place = variable(CACHE_VARIABLE)
            .or_else(|| {
                variable("XDG_CACHE_HOME")
                    .filter(|path| path.is_absolute())
                    .map(|path| path.join("strait"))
            })
            .or_else(|| variable("HOME").map(|path| path.join(home).join("strait")));
        place.map(Self::at).ok_or(Error::NoCache)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes a folder in the cache.
    pub fn folder(&self, name: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let path = self.root.join(name);
        fs::create_dir_all(&path).map_err(failed("make", &path))?;
        Ok(path)
    }

    /// Waits until nobody else holds the lock. It is released when the file is dropped, also by
    /// `kill -9`.
    pub fn lock(&self, name: &str, cancel: Option<&Arc<AtomicBool>>) -> Result<Lock, Error> {
        let path = self.folder("locks")?.join(name);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(failed("open", &path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(source)) => return Err(failed("lock", &path)(source)),
            }
            if cancel.is_some_and(|flag| flag.load(Ordering::SeqCst)) {
                return Err(Error::Cancelled { what: format!("waiting for {}", path.display()) });
            }
            thread::sleep(BETWEEN_TRIES);
        }
    }
}

/// A lock that is released when dropped. To close the file is not enough: a child that another thread
/// is just starting has the file as well, until it becomes its program.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Of a file that is locked.
    pub(crate) fn held(file: File) -> Self {
        Lock(file)
    }

    /// If it fails, closing the file does it a moment later.
    pub(crate) fn release(&self) {
        let _ = self.0.unlock();
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.release();
    }
}

/// The error for a file of the cache.
pub(crate) fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::CacheFile { action, path: path.clone(), source }
}

/// Writes a file unless it is there with this content: what is older than its source is built anew.
pub(crate) fn write_if_changed(path: &Path, content: &str) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|present| present == content.as_bytes()) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed("make", parent))?;
    }
    fs::write(path, content).map_err(failed("write", path))
}

/// Whether a name stays in its folder: parts of letters, digits, `-`, `_` and `.`, none of which
/// starts with a dot.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let allowed = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let good = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(allowed);
    if name.split('/').all(good) { Ok(()) } else { Err(Error::BadName { name: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for good in ["src/main.rs", "kanal", "a-b_c.d/e"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "/etc/passwd", "../x", "a/../b", "a//b", ".hidden", "a b", "x\0"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_lock_keeps_others_out_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path());
        let held = cache.lock("build", None).expect("free");
        let stop = Arc::new(AtomicBool::new(true));
        assert!(matches!(cache.lock("build", Some(&stop)), Err(Error::Cancelled { .. })));
        assert!(cache.lock("other", Some(&stop)).is_ok());
        drop(held);
        assert!(cache.lock("build", Some(&stop)).is_ok());
    }
}
