//! The selects of the sources, for words and for the order of cases, and where files are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use strait_golang::{CASE_DEFAULT, Goroutine, Select, Site, Step, Trace};

/// Where a campaign's sources are.
#[derive(Clone, Debug, Default)]
pub struct Selects {
    by_place: BTreeMap<(String, u32), Select>,
    /// GOROOT, whose frames are not the user's.
    root: PathBuf,
    /// The module or workspace; paths are shown relative to it.
    base: PathBuf,
}

impl Selects {
    /// For sources of a module.
    pub fn new(root: &Path, base: &Path) -> Self {
        Selects { by_place: BTreeMap::new(), root: root.to_owned(), base: base.to_owned() }
    }

    /// The folder that shown paths are relative to.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Adds selects that were found in sources.
    pub fn add(&mut self, selects: Vec<Select>) {
        for select in selects {
            self.by_place.insert((select.file.clone(), select.line), select);
        }
    }

    /// Does the place belong to the standard library? Packages from Go's build cache may name another
    /// GOROOT than the one at hand, so the package counts as well.
    pub fn is_standard(&self, site: &Site) -> bool {
        let source = self.root.join("src");
        if Path::new(&site.file).starts_with(&source) || site.file.ends_with("_testmain.go") {
            return true;
        }
        let package = package(&site.function);
        let folder = format!("/src/{package}/");
        site.file.contains(&folder) && source.join(package).is_dir()
    }

    /// `file:line`, relative to the module where possible.
    pub fn show(&self, site: &Site) -> String {
        let path = Path::new(&site.file);
        let relative = path.strip_prefix(&self.base).unwrap_or(path);
        format!("{}:{}", relative.display(), site.line)
    }

    /// The frame that a Go programmer would point at: the topmost outside the standard library, or the
    /// topmost outside the runtime.
    pub fn own<'a>(&self, frames: &'a [Site]) -> Option<&'a Site> {
        let inner = |site: &&Site| {
            ["runtime.", "internal/", "sync."].iter().any(|own| site.function.starts_with(own))
        };
        let user = frames.iter().find(|site| !self.is_standard(site));
        user.or_else(|| frames.iter().find(|site| !inner(site)))
    }

    /// Where a goroutine is: in the user's code, or started from there.
    pub fn place<'a>(&self, goroutine: &'a Goroutine) -> Option<&'a Site> {
        let mine = |site: &&Site| !self.is_standard(site);
        goroutine.frames.iter().find(mine).or_else(|| goroutine.created.as_ref().filter(mine))
    }

    /// A step in words: ``select at daemon.go:12 took `<-ch`, case 2 of 3``.
    pub fn tell(&self, trace: &Trace, step: &Step) -> Option<String> {
        self.tell_with(trace, step, "took")
    }

    /// The same with another verb.
    pub fn tell_with(&self, trace: &Trace, step: &Step, verb: &str) -> Option<String> {
        let site = trace.places.get(&step.site)?;
        let place = self.show(site);
        let select = self.by_place.get(&(site.file.clone(), site.line));
        let chosen = (step.chosen != CASE_DEFAULT).then_some(step.chosen);
        let (number, text) = select.and_then(|select| {
            let number = select.in_source(chosen)?;
            Some((number, in_one_line(&select.cases.get(number)?.text)))
        })?;
        let of = step.cases;
        Some(format!("select at {place} {verb} `{text}`, case {} of {of}", number + 1))
    }
}

/// A case of a select without line breaks, cut if it is long.
fn in_one_line(text: &str) -> String {
    const LONGEST: usize = 60;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The package of a function: everything before the dot that follows the last slash.
pub(crate) fn package(function: &str) -> &str {
    let slash = function.rfind('/').map_or(0, |slash| slash + 1);
    let dot = function[slash..].find('.').map_or(function.len(), |dot| slash + dot);
    &function[..dot]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_told_in_one_line() {
        let long = format!("c <- {}", "x".repeat(80));
        for (text, expected) in [
            ("<-c", "<-c".to_owned()),
            ("c <- job{\n\tid:\t1,\n}", "c <- job{ id: 1, }".to_owned()),
            (long.as_str(), format!("c <- {}…", "x".repeat(55))),
        ] {
            assert_eq!(in_one_line(text), expected);
        }
    }

    #[test]
    fn packages_of_functions() {
        for (function, expected) in [
            ("testing.(*T).Run", "testing"),
            ("net/http.(*Server).Serve.func1", "net/http"),
            ("example.com/m/pool.(*Pool[...]).get", "example.com/m/pool"),
            ("main", "main"),
        ] {
            assert_eq!(package(function), expected);
        }
    }
}
