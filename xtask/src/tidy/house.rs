//! The files of a checkout as the rules see them: slash-separated paths from the root, the text,
//! and for Rust files the bare code (see [`code::bare`]).
//!
//! They are the files git knows or would add; without git, everything outside `target` and hidden
//! build or version-control directories.

use std::fs;
use std::path::Path;

use super::{Complaint, code};
use crate::workspace::Workspace;

/// All files, sorted by path.
pub struct House {
    files: Vec<File>,
}

/// One file.
pub struct File {
    /// From the root, with slashes.
    pub path: String,
    /// All of it; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The text of a Rust file with comments and literals blanked; empty for other files.
    pub code: String,
}

impl House {
    /// Reads the checkout.
    pub fn read(workspace: &Workspace) -> Result<Self, String> {
        let listed =
            workspace.git(&["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
        let mut paths = match listed {
            Some(bytes) => split(&bytes),
            None => {
                let mut paths = Vec::new();
                walk(workspace.root(), "", &mut paths)
                    .map_err(|error| format!("the checkout cannot be listed: {error}"))?;
                paths
            }
        };
        paths.sort();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let place = workspace.root().join(&path);
            // Git still lists what was deleted and not yet committed.
            if place.is_file() {
                let bytes =
                    fs::read(&place).map_err(|error| format!("{path} cannot be read: {error}"))?;
                files.push(File::new(&path, &String::from_utf8_lossy(&bytes)));
            }
        }
        Ok(Self { files })
    }

    /// A house made up for a test.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| File::new(path, text)).collect() }
    }

    /// Every file.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The Rust files of the crates and of xtask.
    pub fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.is_rust() && (file.is_in("crates") || file.is_in("xtask")))
    }

    /// The Go files of the crates that are no programs under test.
    pub fn go_files(&self) -> impl Iterator<Item = &File> {
        let is_go = |file: &&File| file.path.ends_with(".go") && file.is_in("crates");
        self.files().filter(is_go).filter(|file| !file.is_for_tests())
    }

    /// The file at this path.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files().find(|file| file.path == path)
    }

    /// The names of the directories under `crates/` that hold a package.
    pub fn crates(&self) -> impl Iterator<Item = &str> {
        self.files().filter_map(|file| {
            let name = file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
            (!name.contains('/')).then_some(name)
        })
    }
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") { code::bare(text) } else { String::new() };
        Self { path: path.into(), text: text.into(), code }
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Does it lie in this directory or below?
    pub fn is_in(&self, directory: &str) -> bool {
        self.path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Is all of it there for tests or measurements, or to show something, and no part of a crate
    /// that others use?
    pub fn is_for_tests(&self) -> bool {
        let mut parts = self.path.split('/').skip_while(|part| *part == "crates").skip(1);
        match parts.next() {
            Some("tests" | "benches" | "examples" | "fuzz") => true,
            _ => parts.any(|part| part == "tests" || part == "tests.rs"),
        }
    }

    /// Is it the build script of a package, which talks to cargo on stdout?
    pub fn is_build_script(&self) -> bool {
        self.path.ends_with("/build.rs") && !self.path.contains("/src/")
    }

    /// A complaint about the line that holds the byte at `offset`.
    pub fn complain_at(&self, offset: usize, what: String, todo: &'static str) -> Complaint {
        let before = self.text.as_bytes().iter().take(offset);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        self.complain(line, what, todo)
    }

    /// A complaint about a line, counted from one.
    pub fn complain(&self, line: usize, what: String, todo: &'static str) -> Complaint {
        Complaint { path: self.path.clone(), line, what, todo }
    }
}

fn split(listing: &[u8]) -> Vec<String> {
    let paths = listing.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

fn walk(directory: &Path, prefix: &str, paths: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            if name != "target" && name != ".git" {
                walk(&entry.path(), &format!("{path}/"), paths)?;
            }
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_split_at_zero_bytes() {
        assert_eq!(split(b"README.md\0crates/a b.rs\0"), ["README.md", "crates/a b.rs"]);
        assert_eq!(split(b""), [""; 0]);
    }

    #[test]
    fn crates_are_the_packages_right_under_crates() {
        let house = House::of(&[
            ("crates/calculus/Cargo.toml", ""),
            ("crates/calculus/fuzz/Cargo.toml", ""),
            ("crates/empty/README.md", ""),
            ("xtask/Cargo.toml", ""),
        ]);
        assert_eq!(house.crates().collect::<Vec<_>>(), ["calculus"]);
    }

    #[test]
    fn files_for_tests_are_known_by_their_path() {
        let is_for_tests = |path: &str| File::new(path, "").is_for_tests();
        assert!(is_for_tests("crates/cli/tests/explore.rs"));
        assert!(is_for_tests("crates/explore/benches/philosophers.rs"));
        assert!(is_for_tests("crates/calculus/src/parser/tests.rs"));
        assert!(is_for_tests("crates/calculus/fuzz/fuzz_targets/parser.rs"));
        assert!(!is_for_tests("crates/calculus/src/contests.rs"));
        assert!(!is_for_tests("crates/fuzz/src/campaign.rs"));
        assert!(!is_for_tests("crates/cli/src/fuzz/mod.rs"));
    }

    #[test]
    fn without_git_the_directory_is_walked() {
        let mut paths = Vec::new();
        let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
        walk(directory, "", &mut paths).expect("the sources of this test can be listed");
        assert!(paths.iter().any(|path| path == "src/tidy/house.rs"), "{paths:?}");
    }
}
