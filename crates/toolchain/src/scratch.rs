//! Temporary folders: test binaries, unpacked modules, files that are shared with a process, and the
//! temporary files of compilers.
//!
//! All of them are in one folder of ours, `strait-UID` where the system keeps temporary files, which
//! only this user can read or write. A temporary folder is removed when it is dropped; if Strait was
//! killed, the next run removes it. Nothing outside our folder is ever removed, and inside it only
//! what has the content that Strait writes. The owner of a temporary folder holds a lock, so that no
//! folder of a living process is removed.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::cache::Lock;

/// In our folder: says whose it is.
const TAG: &str = "STRAIT-TEMPORARY-FILES";
/// In a temporary folder: the file whose lock the owner holds. It never has this name without the
/// lock.
const OWNER: &str = "owner";
/// The content of both files.
const CONTENT: &[u8] =
    b"Temporary files of strait. They can be removed when no strait process is running.\n";
/// How the name of a folder begins that is being removed.
const REMOVED: &str = "removed-";
/// A folder without an owner is one that was killed while it was made. This long is surely enough
/// to make one.
const UNFINISHED: Duration = Duration::from_secs(3600);
/// A place in memory, where there is one.
const MEMORY: &str = "/dev/shm";

/// A temporary folder.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Another one, in memory, made when it is first needed; `None` if it cannot be made.
    in_memory: OnceLock<Option<Box<Scratch>>>,
    _owner: Lock,
}

impl Scratch {
    /// A new one where the system has its temporary files; `kind` is part of its name.
    pub fn new(kind: &str) -> io::Result<Self> {
        Self::within(&std::env::temp_dir(), kind)
    }

    /// A new one in our folder in this place.
    pub fn within(place: &Path, kind: &str) -> io::Result<Self> {
        let ours = our_folder(&place.canonicalize()?)?;
        sweep(&ours);
        let path = fresh(&ours, kind)?;
        let (unowned, owned) = (path.join("unowned"), path.join(OWNER));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&unowned)?;
        file.lock()?;
        file.write_all(CONTENT)?;
        fs::rename(unowned, owned)?;
        Ok(Scratch { path, in_memory: OnceLock::new(), _owner: Lock::held(file) })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder inside for the temporary files of other programs, see [`crate::Spec::temporary`].
    pub fn temporary(&self) -> io::Result<PathBuf> {
        let path = self.path.join("tmp");
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => Ok(path),
        }
    }

    /// A path for a file that is written all the time: in memory, if there is such a place. It goes
    /// with the folder.
    pub fn in_memory(&self, name: &str) -> PathBuf {
        let make = || Scratch::within(Path::new(MEMORY), "memory").ok().map(Box::new);
        let memory = self.in_memory.get_or_init(make);
        memory.as_ref().map_or(&self.path, |memory| &memory.path).join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Where our folder is in a folder for temporary files.
pub(crate) fn place(temporary: &Path) -> PathBuf {
    temporary.join(format!("strait-{}", rustix::process::geteuid().as_raw()))
}

/// Our folder in this place, made if need be. It must be a folder that only this user can write to,
/// and that Strait has made: otherwise what is in it is not ours to use or to remove.
fn our_folder(place: &Path) -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let path = self::place(place);
    match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(&path)?;
    let refuse = |why: &str| {
        let text = format!("{} {why}; remove it, or set TMPDIR to another folder", path.display());
        Err(io::Error::new(ErrorKind::PermissionDenied, text))
    };
    if !metadata.is_dir() {
        return refuse("is not a folder");
    }
    if metadata.uid() != user {
        return refuse("belongs to another user");
    }
    if metadata.mode() & 0o077 != 0 {
        return refuse("can be used by other users");
    }
    let tag = path.join(TAG);
    if !is_ours(&tag) {
        if fs::read_dir(&path)?.flatten().any(|entry| entry.file_name() != TAG) {
            return refuse("was not made by strait");
        }
        // Two processes may write it at once, and they write the same.
        fs::write(&tag, CONTENT)?;
    }
    Ok(path)
}

/// Opens a file only if it is a regular file with the content that Strait writes.
fn open_ours(path: &Path) -> Option<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).ok()?;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let mut content = Vec::new();
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let most = CONTENT.len() as u64 + 1;
    let is_ours =
        is_file && (&mut file).take(most).read_to_end(&mut content).is_ok() && content == CONTENT;
    is_ours.then_some(file)
}

fn is_ours(path: &Path) -> bool {
    open_ours(path).is_some()
}

fn fresh(ours: &Path, kind: &str) -> io::Result<PathBuf> {
    let mut number = 0_u64;
    loop {
        let path = ours.join(format!("{kind}-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Removes what no living process owns.
fn sweep(ours: &Path) {
    for entry in fs::read_dir(ours).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let is_abandoned = match open_ours(&path.join(OWNER)) {
            Some(owner) => owner.try_lock().is_ok(),
            None => is_removed(&path) || is_unfinished(&path),
        };
        if is_abandoned {
            remove(&path);
        }
    }
}

fn is_removed(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(REMOVED))
}

/// Was it made long ago, and never got more than the file that was to become [`OWNER`]?
fn is_unfinished(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let age = age.ok().and_then(|modified| modified.elapsed().ok());
    let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
    age.is_some_and(|age| age > UNFINISHED) && entries.all(|entry| entry.file_name() == "unowned")
}

/// It gets another name first: if we are killed in the middle, the next run knows that the rest is to
/// go. What cannot be removed now is tried again by the next run.
fn remove(path: &Path) {
    let mut target = path.to_owned();
    if let Some(name) = path.file_name().filter(|_| !is_removed(path)) {
        let mut removed = std::ffi::OsString::from(REMOVED);
        removed.push(name);
        let renamed = path.with_file_name(removed);
        if fs::rename(path, &renamed).is_ok() {
            target = renamed;
        }
    }
    if fs::remove_dir_all(&target).is_err() {
        make_writable(&target);
        let _ = fs::remove_dir_all(&target);
    }
}

/// Programs may have left folders that cannot be written to, as Go's module cache is.
fn make_writable(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("there").flatten();
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// As after `kill -9`: the lock is gone, and nothing else.
    fn killed(scratch: Scratch) -> PathBuf {
        let path = scratch.path().to_owned();
        scratch._owner.release();
        if let Some(Some(memory)) = scratch.in_memory.get() {
            memory._owner.release();
        }
        std::mem::forget(scratch);
        path
    }

    #[test]
    fn folders_of_killed_processes_are_removed_and_those_of_living_ones_are_not() {
        let place = tempfile::tempdir().expect("a folder");
        let living = Scratch::within(place.path(), "test").expect("made");
        let dead = Scratch::within(place.path(), "test").expect("made");
        let shared = dead.in_memory("map");
        fs::write(&shared, "x").expect("written");
        let stuck = dead.temporary().expect("made").join("read-only");
        fs::create_dir(&stuck).expect("made");
        fs::write(stuck.join("file"), "x").expect("written");
        fs::set_permissions(&stuck, Permissions::from_mode(0o500)).expect("changed");
        let left = killed(dead);
        let ours = left.parent().expect("our folder").to_owned();
        // One that was killed while it was removed.
        fs::create_dir_all(ours.join("removed-test-1-1/tmp")).expect("made");
        let third = Scratch::within(place.path(), "test").expect("made");
        // The third one may have got the same name.
        assert!(!left.join("tmp").exists(), "it is still there");
        third.in_memory("map");
        assert!(!shared.exists(), "it is still in memory");
        let name = |scratch: &Scratch| {
            scratch.path().file_name().expect("a name").to_string_lossy().into_owned()
        };
        let mut expected = vec![TAG.to_owned(), name(&living), name(&third)];
        expected.sort();
        assert_eq!(names(&ours), expected);
        drop(living);
        drop(third);
        assert_eq!(names(&ours), [TAG]);
    }

    #[test]
    fn nothing_that_belongs_to_the_user_is_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let first = Scratch::within(place.path(), "test").expect("made");
        let ours = first.path().parent().expect("our folder").to_owned();
        // What was removed before: a folder of the user's with a file called `owner`.
        for folder in [place.path().join("strait-thesis"), ours.join("thesis")] {
            fs::create_dir(&folder).expect("made");
            fs::write(folder.join(OWNER), "me").expect("written");
            fs::write(folder.join("chapter-1"), "It was").expect("written");
        }
        fs::create_dir(ours.join("empty")).expect("made");
        let elsewhere = place.path().join("elsewhere");
        fs::create_dir(&elsewhere).expect("made");
        fs::write(elsewhere.join(OWNER), CONTENT).expect("written");
        std::os::unix::fs::symlink(&elsewhere, ours.join("link")).expect("linked");
        let second = Scratch::within(place.path(), "test").expect("made");
        for path in ["strait-thesis/chapter-1", "elsewhere/owner"] {
            assert!(place.path().join(path).is_file(), "{path} is gone");
        }
        for path in ["thesis/chapter-1", "empty", "link"] {
            assert!(ours.join(path).exists(), "{path} is gone");
        }
        drop((first, second));
    }

    #[test]
    fn a_folder_that_is_not_ours_is_not_used() {
        let user = rustix::process::geteuid().as_raw();
        type Prepare = fn(&Path);
        let rows: [(&str, Prepare); 4] = [
            ("is not a folder", |path| fs::write(path, "x").expect("written")),
            ("is not a folder", |path| {
                std::os::unix::fs::symlink("/tmp", path).expect("linked");
            }),
            ("can be used by other users", |path| {
                fs::create_dir(path).expect("made");
                fs::set_permissions(path, Permissions::from_mode(0o777)).expect("changed");
            }),
            ("was not made by strait", |path| {
                DirBuilder::new().mode(0o700).create(path).expect("made");
                fs::write(path.join("letter"), "Dear").expect("written");
            }),
        ];
        for (expected, prepare) in rows {
            let place = tempfile::tempdir().expect("a folder");
            prepare(&place.path().join(format!("strait-{user}")));
            let error = Scratch::within(place.path(), "test").expect_err(expected).to_string();
            assert!(error.contains(expected) && error.contains("TMPDIR"), "{error}");
        }
    }
}
