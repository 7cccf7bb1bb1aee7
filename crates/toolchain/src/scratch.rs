//! A folder that is of no use without us: test binaries, unpacked modules, files that are shared with a
//! process. It is removed when it is dropped; if we were killed, the next one that is made in the same
//! place removes it. Its owner holds a lock, so that nothing is taken from the living.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::cache::Lock;

/// The file whose lock the owner holds. It never has this name without the lock.
const OWNER: &str = "owner";
/// All names begin so.
const PREFIX: &str = "strait-";
/// A place in memory, where there is one.
const MEMORY: &str = "/dev/shm";

/// Such a folder.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _owner: Lock,
}

impl Scratch {
    /// A new one where the system has its temporary files; `kind` is part of its name.
    pub fn new(kind: &str) -> io::Result<Self> {
        Self::within(&std::env::temp_dir(), kind)
    }

    /// A new one in this folder.
    pub fn within(place: &Path, kind: &str) -> io::Result<Self> {
        sweep(place);
        let path = fresh(&place.canonicalize()?, kind)?;
        let (unowned, owned) = (path.join("unowned"), path.join(OWNER));
        let file = OpenOptions::new().write(true).create_new(true).open(&unowned)?;
        file.lock()?;
        fs::rename(unowned, owned)?;
        Ok(Scratch { path, _owner: Lock::held(file) })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path for a file that is written all the time: in memory, if there is such a place. It goes
    /// with the folder.
    pub fn in_memory(&self, name: &str) -> PathBuf {
        let memory = Path::new(MEMORY);
        match memory.is_dir() {
            true => memory.join(in_memory_prefix(&self.path) + name),
            false => self.path.join(name),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn fresh(place: &Path, kind: &str) -> io::Result<PathBuf> {
    let mut number = 0_u64;
    loop {
        let path = place.join(format!("{PREFIX}{kind}-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn in_memory_prefix(folder: &Path) -> String {
    format!("{}-", folder.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes what nobody owns any more. What cannot be looked at is somebody else's.
fn sweep(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        let ours = rustix::process::geteuid().as_raw();
        let is_ours = fs::symlink_metadata(&path)
            .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == ours);
        let Some(owner) = is_ours.then(|| File::open(path.join(OWNER)).ok()).flatten() else {
            continue;
        };
        if owner.try_lock().is_ok() {
            remove(&path);
        }
    }
}

/// What cannot be removed now is removed by whoever comes next.
fn remove(path: &Path) {
    let prefix = in_memory_prefix(path);
    for entry in fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir_all(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_leave_is_removed_and_what_the_living_have_is_not() {
        let place = tempfile::tempdir().expect("a folder");
        let names = || {
            let entries = fs::read_dir(place.path()).expect("there").flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.path()).collect();
            names.sort();
            names
        };
        let living = Scratch::within(place.path(), "test").expect("made");
        let dead = Scratch::within(place.path(), "test").expect("made");
        let shared = dead.in_memory("map");
        fs::write(&shared, "x").expect("written");
        fs::create_dir(dead.path().join("sub")).expect("made");
        let left = dead.path().to_owned();
        // As after `kill -9`: the lock is gone, and nothing else.
        let Scratch { path: _, _owner: owner } = &dead;
        owner.release();
        std::mem::forget(dead);
        let stranger = place.path().join("strait-of-somebody");
        fs::create_dir(&stranger).expect("made");
        let third = Scratch::within(place.path(), "test").expect("made");
        assert!(!left.join("sub").exists() && !shared.exists(), "it is still there");
        let mut expected = vec![living.path().to_owned(), third.path().to_owned(), stranger];
        expected.sort();
        assert_eq!(names(), expected);
        drop(living);
        drop(third);
        assert_eq!(names().len(), 1);
    }
}
