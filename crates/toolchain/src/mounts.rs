//! The folders of a sandbox: everything can be read and nothing written, what belongs to the user is
//! empty, and the exceptions that the confinement names are put back. The caller is in a mount
//! namespace of its own and has all rights in it.
//!
//! What is written besides goes into one file system in memory with a limit, so that a program that
//! fills the disk fills that.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change,
    mount_remount, move_mount, open_tree,
};

use crate::sandbox::{Confinement, Folders};

/// The devices that programs expect. None of them reaches hardware.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Where the file system in memory is mounted. It is covered by the new devices.
const STAGE: &str = "/dev";
/// Files in memory, for each megabyte.
const FILES_PER_MEGABYTE: u64 = 256;
/// The list of mounts.
const MOUNTS: &str = "/proc/self/mountinfo";

type Tree = (PathBuf, OwnedFd);

/// Arranges the folders.
pub(crate) fn arrange(confinement: &Confinement) -> io::Result<()> {
    let Confinement { hidden, folders, disk, .. } = confinement;
    let failed = |what: &str, path: &Path, error: io::Error| {
        let text = format!("cannot {what} {} in the sandbox: {error}", path.display());
        io::Error::new(error.kind(), text)
    };
    let root = Path::new("/");
    mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|errno| failed("separate", root, errno.into()))?;
    // Taken while they can be written to.
    let writable = take(&folders.writable, hidden).map_err(|(path, e)| failed("open", &path, e))?;
    let devices = DEVICES.map(|name| PathBuf::from("/dev").join(name));
    let devices = take(&devices, hidden).map_err(|(path, error)| failed("open", &path, error))?;
    for path in mount_points(&fs::read_to_string(MOUNTS)?) {
        forbid_writing(&path).map_err(|error| failed("protect", &path, error))?;
    }
    let readable: Vec<PathBuf> =
        wanted(folders, hidden).filter(|path| path.exists()).map(Path::to_owned).collect();
    let readable = take(&readable, hidden).map_err(|(path, e)| failed("open", &path, e))?;
    let copied = open(&folders.copied, hidden).map_err(|(path, e)| failed("open", &path, e))?;
    let memory = Memory::mount(*disk).map_err(|error| failed("mount", Path::new(STAGE), error))?;
    memory.devices(&devices).map_err(|error| failed("make", Path::new("/dev"), error))?;
    for path in outermost(hidden) {
        memory.cover(path, 0o1777).map_err(|error| failed("hide", path, error))?;
    }
    for path in hidden {
        fs::create_dir_all(path).map_err(|error| failed("make", path, error))?;
    }
    for tree in readable {
        put(&tree).map_err(|error| failed("show", &tree.0, error))?;
    }
    for folder in copied {
        memory.copy(&folder).map_err(|error| failed("copy", &folder.0, error))?;
    }
    for tree in writable {
        let put = put(&tree).and_then(|()| allow_writing(&tree.0));
        put.map_err(|error| failed("show", &tree.0, error))?;
    }
    Ok(())
}

/// Readable paths that are hidden otherwise, and not part of another exception.
fn wanted<'a>(folders: &'a Folders, hidden: &'a [PathBuf]) -> impl Iterator<Item = &'a Path> {
    let others = folders.writable.iter().chain(&folders.copied);
    let others: Vec<&PathBuf> = others.collect();
    let is_part = move |path: &Path| others.iter().any(|other| path.starts_with(other));
    let is_new = |path: &&PathBuf| {
        let above = |one: &&PathBuf| path.starts_with(one) && one != path;
        !folders.readable.iter().any(|one| above(&one))
    };
    let paths = folders.readable.iter().filter(is_new).map(PathBuf::as_path);
    let mut seen = Vec::new();
    paths.filter(move |path| !is_part(path) && is_below(&target(path, hidden), hidden)).filter(
        move |path| {
            let is_first = !seen.contains(path);
            seen.push(*path);
            is_first
        },
    )
}

fn is_below(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Where a path is inside. Links in hidden folders are gone, so the path itself has to be there.
fn target(path: &Path, hidden: &[PathBuf]) -> PathBuf {
    if is_below(path, hidden) {
        return path.to_owned();
    }
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

type Failed = (PathBuf, io::Error);

/// Takes hold of files and folders, with where they are put later.
fn take(paths: &[PathBuf], hidden: &[PathBuf]) -> Result<Vec<Tree>, Failed> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let take = |path: &PathBuf| match open_tree(CWD, path, flags) {
        Ok(tree) => Ok((target(path, hidden), tree)),
        Err(errno) => Err((path.clone(), errno.into())),
    };
    let mut trees: Vec<Tree> = paths.iter().map(take).collect::<Result<_, _>>()?;
    // Outer folders first: inner ones are put into them.
    trees.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(trees)
}

/// Opens folders.
fn open(paths: &[PathBuf], hidden: &[PathBuf]) -> Result<Vec<(PathBuf, File)>, Failed> {
    let open = |path: &PathBuf| {
        let file = open_folder(path).map_err(|error| (path.clone(), error))?;
        Ok((target(path, hidden), file))
    };
    paths.iter().map(open).collect()
}

fn open_folder(path: &Path) -> io::Result<File> {
    let flags =
        i32::try_from((OFlags::PATH | OFlags::DIRECTORY).bits()).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Puts what was taken in its place, which is made if need be.
fn put((path, tree): &Tree) -> io::Result<()> {
    if !path.exists() {
        let is_folder = fs::metadata(through(tree)).is_ok_and(|metadata| metadata.is_dir());
        if is_folder {
            fs::create_dir_all(path)?;
        } else {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, "")?;
        }
    }
    attach(tree, path)
}

fn attach(tree: &OwnedFd, path: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(tree, "", CWD, path, flags)?)
}

/// A path to what is open.
fn through(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// The mount points in the list of mounts (proc_pid_mountinfo(5)), each once.
fn mount_points(list: &str) -> Vec<PathBuf> {
    let mut points: Vec<PathBuf> =
        list.lines().filter_map(|line| Some(unescape(line.split(' ').nth(4)?))).collect();
    points.sort();
    points.dedup();
    points
}

/// The list writes some characters as a backslash and three octal digits.
fn unescape(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let number = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match number.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// The flags of a mount, which cannot be taken back if the system has set them.
fn flags_of(path: &Path) -> io::Result<MountFlags> {
    let has = rustix::fs::statvfs(path)?.f_flag;
    let pairs = [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let set = pairs.into_iter().filter(|(known, _)| has.contains(*known));
    Ok(set.fold(MountFlags::empty(), |all, (_, flag)| all | flag))
}

fn forbid_writing(path: &Path) -> io::Result<()> {
    let more = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    let remounted = flags_of(path).and_then(|flags| remount(path, flags | more));
    match remounted {
        // Nobody gets there: it is covered by another mount, or in a folder that is closed to us.
        Err(error)
            if [Errno::NOENT, Errno::NOTDIR, Errno::ACCESS, Errno::INVAL]
                .iter()
                .any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) =>
        {
            Ok(())
        }
        other => other,
    }
}

fn allow_writing(path: &Path) -> io::Result<()> {
    let flags = flags_of(path)? | MountFlags::NOSUID | MountFlags::NODEV;
    remount(path, flags)
}

fn remount(path: &Path, flags: MountFlags) -> io::Result<()> {
    Ok(mount_remount(path, MountFlags::BIND | flags, "")?)
}

/// Folders that are not inside another one of them.
fn outermost(folders: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    let is_inside =
        |path: &PathBuf| folders.iter().any(|other| path.starts_with(other) && path != other);
    let mut seen = Vec::new();
    folders.iter().filter(move |path| !is_inside(path)).filter(move |path| {
        let is_first = !seen.contains(path);
        seen.push(*path);
        is_first
    })
}

/// The file system in memory.
struct Memory {
    root: File,
}

impl Memory {
    fn mount(bytes: u64) -> io::Result<Self> {
        let files = (bytes >> 20).max(1) * FILES_PER_MEGABYTE;
        let options = format!("size={bytes},nr_inodes={files},mode=0755");
        let options = std::ffi::CString::new(options).map_err(io::Error::other)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("strait", STAGE, "tmpfs", flags, Some(options.as_c_str()))?;
        Ok(Memory { root: open_folder(Path::new(STAGE))? })
    }

    /// A new folder in memory.
    fn folder(&self, mode: u32) -> io::Result<PathBuf> {
        let root = through(&self.root);
        let path = root.join(fs::read_dir(&root)?.count().to_string());
        fs::create_dir(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(mode))?;
        Ok(path)
    }

    /// Puts an empty folder over another one.
    fn cover(&self, path: &Path, mode: u32) -> io::Result<()> {
        let folder = self.folder(mode)?;
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        attach(&open_tree(CWD, folder, flags)?, path)
    }

    /// Shows a folder whose changes are kept in memory. Where the system cannot do this, the folder
    /// cannot be written to.
    fn copy(&self, (path, original): &(PathBuf, File)) -> io::Result<()> {
        fs::create_dir_all(path)?;
        let (changes, work) = (self.folder(0o755)?, self.folder(0o755)?);
        let options = format!(
            "lowerdir={},upperdir={},workdir={},userxattr",
            through(original).display(),
            changes.display(),
            work.display()
        );
        let options = std::ffi::CString::new(options).map_err(io::Error::other)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        if mount("strait", path, "overlay", flags, Some(options.as_c_str())).is_ok() {
            return Ok(());
        }
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        attach(&open_tree(CWD, through(original), flags)?, path)
    }

    /// Puts a folder with harmless devices over the devices of the machine.
    fn devices(&self, devices: &[Tree]) -> io::Result<()> {
        self.cover(Path::new(STAGE), 0o755)?;
        for (path, tree) in devices {
            fs::write(path, "")?;
            attach(tree, path)?;
            let flags = flags_of(path)? | MountFlags::NOSUID | MountFlags::NOEXEC;
            remount(path, flags)?;
        }
        for (name, number) in [("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2"), ("fd", "")] {
            symlink(format!("/proc/self/fd{number}"), Path::new(STAGE).join(name))?;
        }
        let shared = Path::new(STAGE).join("shm");
        fs::create_dir(&shared)?;
        fs::set_permissions(&shared, Permissions::from_mode(0o1777))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_from_the_list() {
        let list = "22 27 0:21 / /proc rw - proc proc rw\n\
                    28 27 0:25 / /a\\040b\\134 ro,nosuid - tmpfs x ro\n\
                    29 27 0:26 / /proc rw - proc proc rw\n";
        assert_eq!(mount_points(list), [Path::new("/a b\\"), Path::new("/proc")]);
    }

    #[test]
    fn only_hidden_paths_that_are_no_part_of_another_exception_are_put_back() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let hidden = paths(&["/none/home", "/none/tmp"]);
        let folders = Folders {
            readable: paths(&[
                "/none/home/sdk",
                "/none/home/sdk/bin",
                "/none/home/sdk",
                "/none/usr/bin",
                "/none/tmp/out/file",
            ]),
            writable: paths(&["/none/tmp/out"]),
            copied: Vec::new(),
        };
        let wanted: Vec<&Path> = wanted(&folders, &hidden).collect();
        assert_eq!(wanted, [Path::new("/none/home/sdk")]);
        let nested = paths(&["/none/a", "/none/a/b", "/none/ab", "/none/a"]);
        let outer: Vec<&PathBuf> = outermost(&nested).collect();
        assert_eq!(outer, [&nested[0], &nested[2]]);
    }
}
