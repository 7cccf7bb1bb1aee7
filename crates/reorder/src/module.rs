//! A module as it travels: all files below the folder of its go.mod go in, bytes come out, and the other
//! way round. The same files give the same bytes, so that their digest says whether anything has changed.
//!
//! What does not travel: version control, the folder of findings, links to folders or to places outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use strait_golang::Go;
use strait_queue::{Job, Link};

use crate::error::Error;

/// What the bytes begin with.
const MAGIC: &[u8] = b"strait module 1\n";
/// The most that travels, in megabytes.
const MOST: u64 = 256;
/// Folders that no test needs.
const HISTORY: [&str; 5] = [".git", ".hg", ".svn", ".bzr", ".jj"];

/// A module that can travel.
#[derive(Clone)]
pub struct Packed {
    /// The files.
    pub(crate) bytes: Vec<u8>,
    /// What tells it from others.
    pub digest: String,
}

impl Packed {
    /// Keeps it in the queue for the workers of a campaign.
    pub fn keep(&self, link: &Link, job: &Job) -> Result<(), strait_queue::Error> {
        link.keep(job, &self.digest, &self.bytes)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoMod {
    #[serde(default)]
    replace: Option<Vec<Replace>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Replace {
    old: Module,
    new: Module,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    path: String,
    #[serde(default)]
    version: Option<String>,
}

impl Packed {
    /// Packs the module that `go` serves, without one folder.
    pub fn of(go: &Go, without: &Path) -> Result<Packed, Error> {
        if let Some(file) = go.workspace() {
            return Err(Error::Workspace(file.to_owned()));
        }
        let root = go.module().ok_or_else(|| Error::NoModule(go.directory().to_owned()))?;
        let root = root.canonicalize().map_err(file(root))?;
        if let Some((module, path)) = elsewhere(go, &root)? {
            return Err(Error::Elsewhere { module, path });
        }
        let without = without.canonicalize().ok();
        let mut files = Vec::new();
        walk(&root, &root, without.as_deref(), &mut files)?;
        let mut bytes = MAGIC.to_vec();
        for path in files {
            pack(&root, &path, &mut bytes)?;
        }
        Ok(Packed { digest: digest(&bytes), bytes })
    }
}

/// A module that another folder, outside of this module, takes the place of.
fn elsewhere(go: &Go, root: &Path) -> Result<Option<(String, PathBuf)>, Error> {
    let finished = go.run(go.spec(["mod", "edit", "-json"]))?;
    let known = serde_json::from_str::<GoMod>(&finished.stdout.text());
    let Some(known) = known.ok().filter(|_| finished.end.is_success()) else {
        return Err(go.failure("mod edit -json", &finished).into());
    };
    let replaced = known.replace.unwrap_or_default().into_iter();
    let mut outside = replaced.filter(|one| one.new.version.is_none()).filter_map(|one| {
        let path = root.join(&one.new.path);
        let inside = path.canonicalize().is_ok_and(|path| path.starts_with(root))
            && Path::new(&one.new.path).is_relative();
        (!inside).then_some((one.old.path, path))
    });
    Ok(outside.next())
}

/// The files below a folder, sorted.
fn walk(
    root: &Path,
    folder: &Path,
    without: Option<&Path>,
    files: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(file(folder))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(file(&path))?;
        if kind.is_dir() {
            let history = HISTORY.iter().any(|name| entry.file_name() == *name);
            if !history && without != Some(path.as_path()) {
                walk(root, &path, without, files)?;
            }
        } else if kind.is_file() {
            files.push(path);
        } else if kind.is_symlink() {
            // The content travels, unless it is none of the module's.
            let own = path.canonicalize().is_ok_and(|to| to.is_file() && to.starts_with(root));
            files.extend(own.then_some(path));
        }
    }
    Ok(())
}

fn pack(root: &Path, path: &Path, bytes: &mut Vec<u8>) -> Result<(), Error> {
    let meta = fs::metadata(path).map_err(file(path))?;
    let too_large = || Error::TooLarge { folder: root.to_owned(), most: MOST };
    if bytes.len() as u64 + meta.len() > MOST << 20 {
        return Err(too_large());
    }
    let content = fs::read(path).map_err(file(path))?;
    let name = path.strip_prefix(root).unwrap_or(path).to_str().ok_or_else(|| Error::File {
        path: path.to_owned(),
        why: std::io::Error::other("its name is not UTF-8"),
    })?;
    let length = u32::try_from(name.len()).map_err(|_| too_large())?;
    bytes.extend(length.to_be_bytes());
    bytes.extend(name.as_bytes());
    bytes.push(u8::from(meta.permissions().mode() & 0o111 != 0));
    bytes.extend((content.len() as u64).to_be_bytes());
    bytes.extend(content);
    Ok(())
}

/// Puts the files below a folder, after a look at whether they are those of the digest.
pub fn unpack(bytes: &[u8], expected: &str, folder: &Path) -> Result<(), Error> {
    if digest(bytes) != expected {
        return Err(Error::Damaged("its digest is another one"));
    }
    let mut rest = bytes.strip_prefix(MAGIC).ok_or(Error::Damaged("it does not begin like one"))?;
    while !rest.is_empty() {
        let length = u32::from_be_bytes(array(&mut rest)?);
        let name = take(&mut rest, u64::from(length))?;
        let name = std::str::from_utf8(name).map_err(|_| Error::Damaged("a name is not UTF-8"))?;
        let [executable] = array(&mut rest)?;
        let length = u64::from_be_bytes(array(&mut rest)?);
        let content = take(&mut rest, length)?;
        // Nothing is written anywhere else.
        let clean = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !clean || name.is_empty() {
            return Err(Error::Damaged("a file would lie outside of it"));
        }
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(file(parent))?;
        fs::write(&path, content).map_err(file(&path))?;
        if executable == 1 {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, mode).map_err(file(&path))?;
        }
    }
    Ok(())
}

fn take<'b>(rest: &mut &'b [u8], length: u64) -> Result<&'b [u8], Error> {
    let length = usize::try_from(length).ok();
    let parts = length.and_then(|length| rest.split_at_checked(length));
    let (taken, left) = parts.ok_or(Error::Damaged("it ends too early"))?;
    *rest = left;
    Ok(taken)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Error> {
    let taken = take(rest, N as u64)?;
    taken.try_into().map_err(|_| Error::Damaged("it ends too early"))
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    |why| Error::File { path: path.to_owned(), why }
}

/// FNV-1a with 128 bits: against accidents, not against people.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let basis: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let hash = bytes.iter().fold(basis, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn packed(root: &Path, without: &Path) -> Vec<u8> {
        let mut files = Vec::new();
        walk(root, root, Some(without), &mut files).expect("readable");
        let mut bytes = MAGIC.to_vec();
        files.iter().for_each(|path| pack(root, path, &mut bytes).expect("readable"));
        bytes
    }

    #[test]
    fn a_module_arrives_as_it_left() {
        let (from, to, other) = (folder(), folder(), folder());
        let root = from.path().canonicalize().expect("there");
        let write = |name: &str, content: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
            fs::write(path, content).expect("written");
        };
        write("go.mod", "module m\n");
        write("a/testdata/run.sh", "#!/bin/sh\n");
        write("a/empty.go", "");
        write("a/.git/config", "secret");
        write("out/findings/x", "old");
        write("out2/x", "kept");
        fs::write(other.path().join("key"), "secret").expect("written");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(root.join("a/testdata/run.sh"), mode).expect("ours");
        symlink("../go.mod", root.join("a/link")).expect("a link");
        symlink(other.path().join("key"), root.join("a/key")).expect("a link");
        symlink("..", root.join("a/up")).expect("a link");
        let bytes = packed(&root, &root.join("out"));
        unpack(&bytes, &digest(&bytes), to.path()).expect("whole");
        let mut files = Vec::new();
        walk(to.path(), to.path(), None, &mut files).expect("readable");
        let names: Vec<&Path> =
            files.iter().map(|path| path.strip_prefix(to.path()).expect("inside")).collect();
        let expected = ["a/empty.go", "a/link", "a/testdata/run.sh", "go.mod", "out2/x"];
        assert_eq!(names, expected.map(Path::new));
        assert_eq!(fs::read(to.path().join("a/link")).expect("a file"), b"module m\n");
        assert_eq!(packed(to.path(), Path::new("")), bytes, "packed again it is the same");
    }

    #[test]
    fn nothing_is_written_outside() {
        let to = folder();
        for name in ["../x", "/x", "a/../../x", ".", ""] {
            let mut bytes = MAGIC.to_vec();
            bytes.extend((name.len() as u32).to_be_bytes());
            bytes.extend(name.as_bytes());
            bytes.push(0);
            bytes.extend(0u64.to_be_bytes());
            let refused = unpack(&bytes, &digest(&bytes), &to.path().join("in"));
            assert!(matches!(refused, Err(Error::Damaged(_))), "{name}: {refused:?}");
        }
        assert_eq!(fs::read_dir(to.path()).expect("there").count(), 0);
    }

    #[test]
    fn what_is_cut_off_is_noticed() {
        let from = folder();
        fs::write(from.path().join("go.mod"), "module m\n").expect("written");
        let bytes = packed(from.path(), Path::new(""));
        for length in MAGIC.len() + 1..bytes.len() {
            let (cut, to) = (&bytes[..length], folder());
            assert!(unpack(cut, &digest(cut), to.path()).is_err(), "{length}");
        }
        assert!(unpack(&bytes, &digest(MAGIC), folder().path()).is_err());
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_read() {
        let from = folder();
        let path = from.path().join("large");
        let large = fs::File::create(&path).expect("made");
        large.set_len(MOST << 20).expect("a hole");
        let mut bytes = MAGIC.to_vec();
        let refused = pack(from.path(), &path, &mut bytes).expect_err("too large").to_string();
        assert!(refused.contains("more than 256 MB") && refused.contains("--shard"), "{refused}");
        assert_eq!(bytes, MAGIC);
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }
}
