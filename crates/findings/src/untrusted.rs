//! Files of a finding or a store, which may come from another person. In: a folder that the user has
//! named and the name of a file below it. Out: its content, of bounded length, at once.
//!
//! Only regular files are opened. A FIFO would block, a device may do anything, and a symbolic link
//! leads out of the folder. The file is looked at before it is opened and once more when it is open,
//! and no part of its name below the folder may be a link.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::error::Error;

/// The longest file that is read: a program, a schedule, a `finding.json`.
pub const LONGEST: u64 = 16 << 20;

/// What stands where a regular file should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A folder.
    Directory,
    /// A symbolic link, wherever it leads.
    SymbolicLink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Something that this system alone knows.
    Unknown,
}

impl FileKind {
    fn of(kind: fs::FileType) -> Option<FileKind> {
        if kind.is_file() {
            return None;
        }
        Some(match kind {
            kind if kind.is_dir() => FileKind::Directory,
            kind if kind.is_symlink() => FileKind::SymbolicLink,
            kind if kind.is_fifo() => FileKind::Fifo,
            kind if kind.is_socket() => FileKind::Socket,
            kind if kind.is_char_device() || kind.is_block_device() => FileKind::Device,
            _ => FileKind::Unknown,
        })
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Directory => "a folder",
            FileKind::SymbolicLink => "a symbolic link",
            FileKind::Fifo => "a named pipe",
            FileKind::Socket => "a socket",
            FileKind::Device => "a device",
            FileKind::Unknown => "not a regular file",
        })
    }
}

/// Opens a file below a folder; `None` if there is no such file. A name that leads out of the folder
/// is an error.
pub(crate) fn open_below(folder: &Path, name: &Path) -> Result<Option<File>, Error> {
    let path = folder.join(name);
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
        _ => Err(Error::file("read", &path)(error)),
    };
    let mut place = folder.to_owned();
    let mut parts = name.components().peekable();
    let flags = OFlags::CLOEXEC | OFlags::DIRECTORY;
    let mut parent = match openat(CWD, folder, flags, Mode::empty()) {
        Ok(parent) => parent,
        Err(error) => return failed(error.into()),
    };
    while let Some(part) = parts.next() {
        let Component::Normal(part) = part else {
            return Err(Error::LeadsOut { folder: folder.to_owned(), name: name.to_owned() });
        };
        place.push(part);
        let is_last = parts.peek().is_none();
        let kind = match fs::symlink_metadata(&place) {
            Ok(metadata) => FileKind::of(metadata.file_type()),
            Err(error) => return failed(error),
        };
        match (kind, is_last) {
            (None, true) | (Some(FileKind::Directory), false) => {}
            (None, false) => return Ok(None),
            (Some(kind), _) => return Err(Error::NotAFile { path: place, kind }),
        }
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = if is_last { flags } else { flags | OFlags::DIRECTORY };
        parent = match openat(&parent, part, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(error) => return failed(error.into()),
        };
    }
    let file = File::from(parent);
    let metadata = file.metadata().map_err(Error::file("read", &path))?;
    match FileKind::of(metadata.file_type()) {
        None => Ok(Some(file)),
        Some(kind) => Err(Error::NotAFile { path, kind }),
    }
}

/// Reads a file below a folder, up to [`LONGEST`]; `None` if there is none. A longer one is an error.
pub(crate) fn read_below(folder: &Path, name: impl AsRef<Path>) -> Result<Option<Vec<u8>>, Error> {
    let name = name.as_ref();
    match read_beginning(folder, name, LONGEST)? {
        Some((_, true)) => Err(Error::TooLong { path: folder.join(name), most: LONGEST }),
        Some((bytes, false)) => Ok(Some(bytes)),
        None => Ok(None),
    }
}

/// Reads the beginning of a file below a folder, and whether there is more.
pub(crate) fn read_beginning(
    folder: &Path,
    name: &Path,
    most: u64,
) -> Result<Option<(Vec<u8>, bool)>, Error> {
    let Some(file) = open_below(folder, name)? else { return Ok(None) };
    let mut bytes = Vec::new();
    let path = folder.join(name);
    file.take(most + 1).read_to_end(&mut bytes).map_err(Error::file("read", &path))?;
    let cut = bytes.len() as u64 > most;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(Some((bytes, cut)))
}

/// Reads a text of a finding; `None` if there is no such file.
pub fn read_text(folder: &Path, name: &str) -> Result<Option<String>, Error> {
    let Some(bytes) = read_below(folder, name)? else { return Ok(None) };
    let not_text = |_| Error::NotAFinding {
        path: folder.join(name),
        reason: "it is not UTF-8 text".to_owned(),
    };
    String::from_utf8(bytes).map(Some).map_err(not_text)
}

/// Makes sure that there is a real folder here, or nothing.
pub(crate) fn check_folder(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path).map(|metadata| FileKind::of(metadata.file_type())) {
        Ok(Some(kind)) if kind != FileKind::Directory => {
            Err(Error::NotAFile { path: path.to_owned(), kind })
        }
        _ => Ok(()),
    }
}

/// Makes sure that there is a regular file of bounded length here, or nothing.
pub(crate) fn check_file(path: &Path, most: u64) -> Result<(), Error> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    match FileKind::of(metadata.file_type()) {
        Some(kind) => Err(Error::NotAFile { path: path.to_owned(), kind }),
        None if metadata.len() > most => Err(Error::TooLong { path: path.to_owned(), most }),
        None => Ok(()),
    }
}

/// Writes a new file. Whatever has its name is removed first, so that nothing is written through a
/// link.
pub(crate) fn create(path: &Path, content: &[u8]) -> Result<(), Error> {
    let failed = Error::file("write", path);
    let open = || OpenOptions::new().write(true).create_new(true).open(path);
    let opened = match open() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path).and_then(|()| open())
        }
        opened => opened,
    };
    let mut file = opened.map_err(&failed)?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(&failed)
}

/// Makes sure that a file that is changed where it is has no other name: a hard link may be a file of the
/// user's that lies elsewhere.
pub(crate) fn check_single_name(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.nlink() > 1 => {
            Err(Error::HardLink { path: path.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Opens a file for writing that may be there already, unless it is no regular file, or has another name.
pub(crate) fn open_to_write(path: &Path, options: &mut OpenOptions) -> Result<File, Error> {
    check_file(path, u64::MAX)?;
    check_single_name(path)?;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = options.custom_flags(flags).open(path).map_err(Error::file("open", path))?;
    let metadata = file.metadata().map_err(Error::file("open", path))?;
    match FileKind::of(metadata.file_type()) {
        None => Ok(file),
        Some(kind) => Err(Error::NotAFile { path: path.to_owned(), kind }),
    }
}

/// The files below a folder, each with its path from there. Everything has to be a folder or a
/// regular file, and there are limits to their number, their size and their depth.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    const MOST_FILES: usize = 1000;
    const DEEPEST: usize = 8;
    let mut found = Vec::new();
    let mut waiting = vec![(PathBuf::new(), 0)];
    while let Some((inner, depth)) = waiting.pop() {
        let place = folder.join(&inner);
        let failed = Error::file("read", &place);
        for entry in fs::read_dir(&place).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            let name = inner.join(entry.file_name());
            match FileKind::of(entry.file_type().map_err(&failed)?) {
                None => {
                    check_file(&entry.path(), LONGEST)?;
                    found.push(name);
                }
                Some(FileKind::Directory) if depth < DEEPEST => waiting.push((name, depth + 1)),
                Some(kind) => return Err(Error::NotAFile { path: entry.path(), kind }),
            }
            if found.len() + waiting.len() > MOST_FILES {
                return Err(Error::TooManyFiles { path: folder.to_owned(), most: MOST_FILES });
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Can this be the name of a finding's directory? Then it is one part of a path, and leads nowhere
/// else.
pub(crate) fn is_directory_name(name: &str) -> bool {
    let allowed = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    !name.is_empty() && name.len() <= 255 && !name.starts_with('.') && name.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use rustix::fs::{FileType, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_below_the_folder_are_read() {
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("secret"), "secret").expect("written");
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("source")).expect("made");
        fs::write(path("source/program.rs"), "fn f() {}").expect("written");
        let fifo = mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RWXU, 0);
        fifo.expect("a named pipe");
        let _socket = UnixListener::bind(path("socket")).expect("a socket");
        let link = |to: &Path, name| std::os::unix::fs::symlink(to, path(name)).expect("linked");
        link(&outside.path().join("secret"), "link");
        link(outside.path(), "away");
        link(Path::new("source"), "inside");
        link(Path::new("/dev/zero"), "device");
        let sparse = File::create(path("huge")).expect("made");
        sparse.set_len(8 << 30).expect("as long as that");
        let rows = [
            ("source/program.rs", "fn f() {}"),
            ("source/missing.rs", "none"),
            ("nowhere/program.rs", "none"),
            ("source/program.rs/more", "none"),
            ("source", "is a folder"),
            ("fifo", "is a named pipe"),
            ("socket", "is a socket"),
            ("link", "is a symbolic link"),
            ("away/secret", "is a symbolic link"),
            ("inside/program.rs", "is a symbolic link"),
            ("device", "is a symbolic link"),
            ("huge", "longer than 16 MiB"),
            ("../secret", "leads out of"),
            ("/etc/passwd", "leads out of"),
            ("source/../fifo", "leads out of"),
        ];
        for (name, expected) in rows {
            let started = std::time::Instant::now();
            let said = match read_text(folder.path(), name) {
                Ok(text) => text.unwrap_or_else(|| "none".to_owned()),
                Err(error) => error.to_string(),
            };
            assert!(said.contains(expected), "{name}: {said}");
            assert!(started.elapsed().as_secs() < 1, "{name} took {:?}", started.elapsed());
        }
        let error = open_below(Path::new("/dev"), Path::new("null")).expect_err("a device");
        assert!(error.to_string().contains("is a device"), "{error}");
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (kept, link) = (folder.path().join("kept"), folder.path().join("link"));
        fs::write(&kept, "mine").expect("written");
        std::os::unix::fs::symlink(&kept, &link).expect("linked");
        let error = open_to_write(&link, OpenOptions::new().write(true)).expect_err("a link");
        assert!(error.to_string().contains("is a symbolic link"), "{error}");
        create(&link, b"theirs").expect("written");
        assert_eq!(fs::read_to_string(&kept).expect("there"), "mine");
        assert_eq!(fs::read_to_string(&link).expect("there"), "theirs");
    }

    #[test]
    fn a_file_with_another_name_is_not_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (kept, link) = (folder.path().join("kept"), folder.path().join("link"));
        fs::write(&kept, "mine").expect("written");
        fs::hard_link(&kept, &link).expect("linked");
        let error = open_to_write(&link, OpenOptions::new().write(true)).expect_err("a link");
        assert!(error.to_string().contains("has another name"), "{error}");
        create(&link, b"theirs").expect("written");
        assert_eq!(fs::read_to_string(&kept).expect("there"), "mine");
    }

    #[test]
    fn names_of_directories_lead_nowhere_else() {
        for name in ["crash-flume-0.12.0-0123abcd", "a", "types_x"] {
            assert!(is_directory_name(name), "{name}");
        }
        let long = "x".repeat(300);
        for name in ["", ".", "..", "a/b", "../a", ".incomplete-a", "/a", "a\nb", &long] {
            assert!(!is_directory_name(name), "{name}");
        }
    }
}
