//! Where the sources of a finding are taken from. To run its test again, a Go module is compiled and
//! its test runs; a finding may come from another person, with Go code beside it. In: the finding's
//! directory, the folder that it says it was found in, and what the user has named. Out: the folder
//! in which `go` runs. Only a module that the user chose is compiled.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// What the user permits.
#[derive(Clone, Copy, Debug)]
pub struct Permitted<'a> {
    /// The folder of the module, if the user has named it.
    pub module: Option<&'a Path>,
    /// The current folder.
    pub here: &'a Path,
    /// Whether the module that the finding names may be compiled.
    pub trust: bool,
}

impl Permitted<'_> {
    /// Chooses the folder in which `go` runs for the finding in `folder`.
    ///
    /// Without a word of the user that is the current folder, if it belongs to a module which the
    /// finding did not bring along: the finding is elsewhere, or it is inside and was found there.
    pub fn choose(&self, folder: &Path, recorded: Option<&Path>) -> Result<PathBuf, Error> {
        if let Some(module) = self.module {
            return match module.is_dir() {
                true => Ok(module.to_owned()),
                false => Err(Error::NoSuchFolder(module.to_owned())),
            };
        }
        let recorded = recorded.filter(|path| path.is_absolute() && path.is_dir());
        if self.trust {
            return Ok(recorded.unwrap_or(self.here).to_owned());
        }
        let refuse = || Error::Untrusted { folder: folder.to_owned() };
        let canonical = |path: &Path| path.canonicalize().ok();
        let (finding, here) = canonical(folder).zip(canonical(self.here)).ok_or_else(refuse)?;
        let root = module_of(&here).filter(|_| !here.starts_with(&finding)).ok_or_else(refuse)?;
        if !finding.starts_with(root) {
            return Ok(self.here.to_owned());
        }
        let found_here = recorded.filter(|path| {
            canonical(path)
                .is_some_and(|path| path.starts_with(root) && !path.starts_with(&finding))
        });
        found_here.map(Path::to_owned).ok_or_else(refuse)
    }
}

/// The nearest folder above, or this one, that is the top of a module or a workspace.
fn module_of(folder: &Path) -> Option<&Path> {
    let is_top =
        |folder: &&Path| ["go.mod", "go.work"].iter().any(|name| folder.join(name).is_file());
    folder.ancestors().find(is_top)
}

/// Is this the import path of a package, and neither a flag nor a folder?
pub(crate) fn is_import_path(text: &str) -> bool {
    let allowed = |char: char| char.is_ascii_alphanumeric() || "-._~+".contains(char);
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with(['-', '.']) && part.chars().all(allowed);
    text.len() <= 1000 && text.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Folders for the user, whose project has a finding of its own, and for another person, whose
    /// finding brings a module along.
    fn folders() -> tempfile::TempDir {
        let top = tempfile::tempdir().expect("a folder");
        let make = |path: &str| fs::create_dir_all(top.path().join(path)).expect("made");
        for path in ["project/strait-out/findings/own", "project/sub", "elsewhere"] {
            make(path);
        }
        for path in ["bug/findings/f", "mail/finding/evil"] {
            make(path);
        }
        for module in ["project", "bug", "mail/finding"] {
            fs::write(top.path().join(module).join("go.mod"), "module m\n").expect("written");
        }
        top
    }

    #[test]
    fn only_a_module_that_the_user_chose_is_compiled() {
        let top = folders();
        let own = "project/strait-out/findings/own";
        // Current folder, finding, where it says it was found, --module, --trust, what is compiled.
        let table = [
            ("project", own, "project", "", false, "project"),
            ("project/sub", own, "project", "", false, "project"),
            ("project", own, "project/sub", "", false, "project/sub"),
            ("project", "bug/findings/f", "bug", "", false, "project"),
            ("project", "bug/findings/f", "", "", false, "project"),
            ("project", own, "gone", "", false, "refused"),
            ("project", own, "bug", "", false, "refused"),
            ("project", own, "gone", "project", false, "project"),
            (own, own, "project", "", false, "refused"),
            (own, own, "project", "project", false, "project"),
            ("elsewhere", own, "project", "", false, "refused"),
            ("elsewhere", own, "project", "", true, "project"),
            ("elsewhere", own, "gone", "", true, "elsewhere"),
            ("bug/findings/f", "bug/findings/f", "bug", "", false, "refused"),
            ("bug", "bug/findings/f", "project", "", false, "refused"),
            ("mail/finding", "mail/finding", "mail/finding", "", false, "refused"),
            ("mail/finding/evil", "mail/finding", "mail/finding", "", false, "refused"),
            ("project", "project", "project", "", false, "refused"),
            ("project", own, "project", "gone", false, "no folder"),
        ];
        for row @ (here, finding, recorded, module, trust, expected) in table {
            let path = |name: &str| top.path().join(name);
            let (here, module) = (path(here), Some(path(module)).filter(|_| !module.is_empty()));
            let permitted = Permitted { module: module.as_deref(), here: &here, trust };
            let recorded = Some(path(recorded)).filter(|_| !recorded.is_empty());
            let chosen = match permitted.choose(&path(finding), recorded.as_deref()) {
                Ok(chosen) => chosen.strip_prefix(top.path()).expect("below").display().to_string(),
                Err(Error::Untrusted { .. }) => "refused".to_owned(),
                Err(Error::NoSuchFolder(_)) => "no folder".to_owned(),
                Err(error) => error.to_string(),
            };
            assert_eq!(chosen, expected, "{row:?}");
        }
        let here = top.path().join("bug");
        let permitted = Permitted { module: None, here: &here, trust: true };
        let relative = permitted.choose(Path::new("f"), Some(Path::new("evil")));
        assert_eq!(relative.expect("the current folder"), here, "a relative path is not used");
    }

    #[test]
    fn a_package_is_neither_a_flag_nor_a_folder() {
        for path in ["m", "example.com/m", "example.com/m/v2/sub-package", "gopkg.in/x.v1"] {
            assert!(is_import_path(path), "{path}");
        }
        for path in
            ["", "-toolexec=./evil", "./evil", "/evil", "..", "m/../evil", "m//n", "m@v1", "a b"]
        {
            assert!(!is_import_path(path), "{path}");
        }
    }
}
