//! Which versions of a crate were published, yanked ones included.
//!
//! No command of cargo lists them: `cargo info` and `cargo search` show the newest, and a
//! requirement that nothing meets is answered with three. But to answer anything about a crate cargo
//! fetches the crate's whole page of the index, from wherever the user's settings send it, and leaves
//! it in its home. So cargo is asked to resolve the crate, and then its copy of the page is read. The
//! copy's head is cargo's private matter and is skipped: the entries are JSON documents between zero
//! bytes, one a version, as the index defines them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, check_name, write_if_changed};
use crate::cargo::{Cargo, Refusal};
use crate::error::Error;

/// One version of a crate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Published {
    /// The version.
    pub version: Version,
    /// Whether its authors have withdrawn it. It can be built all the same.
    pub yanked: bool,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    vers: Version,
    #[serde(default)]
    yanked: bool,
}

impl Cargo {
    /// All published versions, from the oldest to the newest. Without network: those that cargo
    /// knew when it last had one.
    pub fn published(&self, cache: &Cache, name: &str) -> Result<Vec<Published>, Error> {
        check_name(name)?;
        let directory = cache.folder(Path::new("ask").join(name))?;
        let manifest = format!(
            "[package]\nname = \"strait-ask\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{name} = \"*\"\n"
        );
        let finished = {
            let _held = cache.lock("ask", self.cancel())?;
            write_if_changed(&directory.join("Cargo.toml"), &manifest)?;
            write_if_changed(&directory.join("src/lib.rs"), "")?;
            self.run(&directory, &["update"])?
        };
        let refusal = (!finished.end.is_success()).then(|| Refusal::of(&finished, name));
        let said = finished.stderr.last_lines(6);
        if refusal == Some(Refusal::NoCrate) {
            return Err(Error::NoSuchCrate { name: name.to_owned(), said });
        }
        let index = home()?.join("registry").join("index");
        let published = read(&index, name);
        match refusal {
            _ if !published.is_empty() => Ok(published),
            Some(Refusal::Network) => {
                Err(Error::Offline { what: format!("the list of versions of {name}"), said })
            }
            _ => Err(Error::VersionsUnknown { name: name.to_owned(), looked_in: index }),
        }
    }
}

/// Those from one version to another, both included.
pub fn within(published: &[Published], from: &Version, to: &Version) -> Vec<Published> {
    published.iter().filter(|one| (from..=to).contains(&&one.version)).cloned().collect()
}

fn home() -> Result<PathBuf, Error> {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("CARGO_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".cargo")))
        .ok_or(Error::NoCache)
}

/// The pages about a crate in all registries cargo has used; where they disagree about a version,
/// the newest page counts.
fn read(index: &Path, name: &str) -> Vec<Published> {
    let registries = fs::read_dir(index).into_iter().flatten().flatten();
    let pages = registries.map(|registry| registry.path().join(".cache").join(page(name)));
    let mut pages: Vec<(SystemTime, Vec<u8>)> = pages
        .filter_map(|path| {
            Some((fs::metadata(&path).ok()?.modified().ok()?, fs::read(&path).ok()?))
        })
        .collect();
    pages.sort_by_key(|(modified, _)| *modified);
    let entries = pages.iter().flat_map(|(_, page)| entries(page, name));
    let versions: BTreeMap<Version, bool> =
        entries.map(|entry| (entry.vers, entry.yanked)).collect();
    versions.into_iter().map(|(version, yanked)| Published { version, yanked }).collect()
}

fn entries(page: &[u8], name: &str) -> Vec<Entry> {
    let documents = page.split(|byte| *byte == 0).filter(|part| part.first() == Some(&b'{'));
    let entries = documents.filter_map(|document| serde_json::from_slice::<Entry>(document).ok());
    entries.filter(|entry| entry.name.eq_ignore_ascii_case(name)).collect()
}

/// Where the index keeps the page about a crate.
fn page(name: &str) -> PathBuf {
    let name = name.to_lowercase();
    let part = |from: usize, to: usize| name.get(from..to).unwrap_or_default();
    match name.len() {
        1 => Path::new("1").join(&name),
        2 => Path::new("2").join(&name),
        3 => Path::new("3").join(part(0, 1)).join(&name),
        _ => Path::new(part(0, 2)).join(part(2, 4)).join(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_where_the_index_has_it() {
        let table = [("a", "1/a"), ("ab", "2/ab"), ("abc", "3/a/abc"), ("Flume", "fl/um/flume")];
        for (name, path) in table {
            assert_eq!(page(name), Path::new(path), "{name}");
        }
    }

    #[test]
    fn versions_are_read_whatever_stands_around_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("index.example-1234/.cache/fl/um/flume");
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        let content = b"\x03\x02\0\0\0etag: x\x000.10.0\0{\"name\":\"flume\",\"vers\":\"0.10.0\",\"deps\":[]}\x00\
            0.9.0\0{\"name\":\"flume\",\"vers\":\"0.9.0\",\"yanked\":true}\0\
            {\"name\":\"other\",\"vers\":\"7.0.0\"}\0{\"name\":\"flume\",\"vers\":\"0.11.0-pre1\"}\0{half";
        fs::write(&path, content).expect("written");
        let published = read(folder.path(), "flume");
        let shown: Vec<String> = published
            .iter()
            .map(|one| format!("{}{}", one.version, if one.yanked { " yanked" } else { "" }))
            .collect();
        assert_eq!(shown, ["0.9.0 yanked", "0.10.0", "0.11.0-pre1"]);
        let range = within(&published, &Version::new(0, 9, 0), &Version::new(0, 10, 0));
        assert_eq!(range.len(), 2);
    }
}
