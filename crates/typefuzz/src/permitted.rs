//! Which compilers run for a finding. A finding may come from another person, and names the oracles
//! that it is about; an oracle can be a path to any program. In: those names, and what the user has
//! named. Out: for each name the compiler to run. Only oracles that are built in, which are found in
//! PATH, run without being named by the user.

use std::path::Path;

use crate::error::Error;
use crate::oracle::is_built_in;

/// What the user permits.
#[derive(Clone, Debug, Default)]
pub struct Permitted {
    /// Oracles that the user has named: a name or path, or `NAME=PATH` for a compiler that stands in
    /// for the one that the finding calls NAME.
    pub named: Vec<String>,
    /// Whether everything that the finding names may run.
    pub trust: bool,
}

/// An oracle of a finding, and what runs for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// What the finding calls it.
    pub name: String,
    /// The name or path of what runs.
    pub oracle: String,
}

impl Permitted {
    /// Chooses what runs for each of the oracles that the finding (or campaign) in `folder` names.
    pub fn choose(&self, folder: &Path, asked: &[&str]) -> Result<Vec<Chosen>, Error> {
        let stand_in = |name: &str| {
            let values = self.named.iter();
            let mut values = values.filter_map(|value| value.strip_prefix(name)?.strip_prefix('='));
            values.next()
        };
        let is_used = |value: &String| {
            asked.iter().any(|name| {
                value == name || value.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
            })
        };
        let spare: Vec<&String> = self.named.iter().filter(|value| !is_used(value)).collect();
        let is_allowed = |name: &str| {
            is_built_in(name) || self.named.iter().any(|value| value == name) || self.trust
        };
        let is_open = |name: &&&str| stand_in(name).is_none() && !is_allowed(name);
        let open: Vec<&&str> = asked.iter().filter(is_open).collect();
        // One compiler that was named without saying for which oracle stands in for the only one
        // that it can be meant for.
        let replaced = match (spare.as_slice(), open.as_slice(), asked) {
            ([], ..) => None,
            ([_], [one], _) => Some(**one),
            ([_], [], [one]) => Some(*one),
            _ => return Err(Error::WhichOracle { asked: asked.join(", ") }),
        };
        let choose = |name: &&str| {
            let spare = spare.first().filter(|_| replaced == Some(*name));
            let oracle = stand_in(name).or(spare.map(|value| value.as_str()));
            match oracle {
                Some(oracle) => Ok(oracle.to_owned()),
                None if is_allowed(name) => Ok((*name).to_owned()),
                None => Err(Error::Untrusted {
                    folder: folder.to_owned(),
                    compiler: (*name).to_owned(),
                }),
            }
        };
        let chosen = asked
            .iter()
            .map(|name| choose(name).map(|oracle| Chosen { name: (*name).to_owned(), oracle }));
        chosen.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(asked: &[&str], named: &[&str], trust: bool) -> String {
        let named = named.iter().map(|name| (*name).to_owned()).collect();
        match (Permitted { named, trust }).choose(Path::new("DIR"), asked) {
            Ok(chosen) => {
                chosen.iter().map(|one| one.oracle.as_str()).collect::<Vec<&str>>().join(" ")
            }
            Err(Error::Untrusted { compiler, .. }) => format!("refused: {compiler}"),
            Err(Error::WhichOracle { asked }) => format!("which of {asked}?"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn only_what_the_user_names_runs() {
        let table: &[(&[&str], &[&str], &str)] = &[
            (&["rustc"], &[], "rustc"),
            (&["rustc", "rust-analyzer"], &[], "rustc rust-analyzer"),
            (&["./source/rustc"], &[], "refused: ./source/rustc"),
            (&["/opt/rustc:-Zx=y"], &[], "refused: /opt/rustc:-Zx=y"),
            (&["rustc", "/opt/rustc"], &[], "refused: /opt/rustc"),
            (&["rustc:--edition=2024"], &[], "rustc:--edition=2024"),
            (&["rustc:-Clinker=x"], &[], "refused: rustc:-Clinker=x"),
            (&["rustc", "/opt/rustc"], &["/opt/rustc"], "rustc /opt/rustc"),
            (&["rustc", "/opt/rustc"], &["rustc", "/opt/rustc"], "rustc /opt/rustc"),
            (&["rustc", "/opt/rustc"], &["/my/rustc"], "rustc /my/rustc"),
            (&["rustc"], &["/my/rustc:-Zx=y"], "/my/rustc:-Zx=y"),
            (&["rustc", "next-solver"], &["/my/rustc"], "which of rustc, next-solver?"),
            (&["rustc", "next-solver"], &["rustc=/my/rustc"], "/my/rustc next-solver"),
            (&["/a/rustc", "/b/rustc"], &["/my/rustc"], "which of /a/rustc, /b/rustc?"),
            (&["/a/rustc", "/b/rustc"], &["/a/rustc"], "refused: /b/rustc"),
            (&["/a/rustc", "/b/rustc"], &["/a/rustc", "/c"], "/a/rustc /c"),
        ];
        for (asked, named, expected) in table {
            assert_eq!(chosen(asked, named, false), *expected, "{asked:?} {named:?}");
        }
        assert_eq!(chosen(&["./source/rustc"], &[], true), "./source/rustc");
    }
}
