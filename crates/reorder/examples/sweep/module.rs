//! A published module as a folder: its newest version from the module proxy, copied, and the packages of
//! it that are worth fuzzing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use strait_golang::Go;

use crate::Result;

/// How long a module may take to be downloaded.
const DOWNLOAD: Duration = Duration::from_secs(300);
/// Of a large module so many packages are fuzzed, those with the most concurrency.
const PACKAGES: usize = 30;
/// What concurrency looks like in the text of a package. A word in a comment does no harm.
const WORDS: [&str; 6] = ["go func", "make(chan", "select {", ".Lock()", "sync.WaitGroup", "\tgo "];

/// A copy of a module.
pub struct Copy {
    /// Where.
    pub folder: PathBuf,
    /// Which version.
    pub version: String,
    /// Patterns of packages with tests and concurrency.
    pub packages: Vec<String>,
    /// How many packages with tests are left out.
    pub left_out: usize,
}

/// A module as a name of a file.
pub fn file_name(module: &str) -> String {
    module.replace('/', "_")
}

/// Downloads the newest version of a module and copies it, since tests may write into their folder.
pub fn fetch(go: &Go, module: &str, folder: &Path) -> Result<Copy> {
    let wanted = format!("{module}@latest");
    let spec = go.spec(["mod", "download", "-json"]).arguments([wanted]).directory(folder);
    let finished = go.run(spec.variable("GOFLAGS", "-mod=mod").wall(DOWNLOAD))?;
    let answer: Value = serde_json::from_str(&finished.stdout.text())?;
    let text = |name: &str| answer[name].as_str().map(ToOwned::to_owned);
    if let Some(problem) = text("Error") {
        return Err(problem.into());
    }
    let (version, from) = text("Version").zip(text("Dir")).ok_or("the module has no folder")?;
    let copy = folder.join("work").join(file_name(module));
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_folder(Path::new(&from), &copy)?;
    if !copy.join("go.mod").exists() {
        fs::write(copy.join("go.mod"), format!("module {module}\n"))?;
    }
    drop_local_replacements(go, &copy)?;
    let mut found = Vec::new();
    weigh(&copy, &copy, &mut found)?;
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let all = found.len();
    let chosen = found.into_iter().filter(|(weight, _)| *weight > 0).take(PACKAGES);
    let packages: Vec<String> = chosen.map(|(_, package)| package).collect();
    if packages.is_empty() {
        return Err(format!("{version} has no package with tests and goroutines").into());
    }
    let left_out = all - packages.len();
    Ok(Copy { folder: copy, version, packages, left_out })
}

/// Replacements by folders beside the module are not part of what is published, and users of a module do
/// not see its replacements.
fn drop_local_replacements(go: &Go, folder: &Path) -> Result<()> {
    let edit = |arguments: Vec<String>| {
        let spec = go.spec(["mod", "edit"]).arguments(arguments).directory(folder);
        go.run(spec.wall(DOWNLOAD))
    };
    let listed = edit(vec!["-json".to_owned()])?;
    let module: Value = serde_json::from_str(&listed.stdout.text())?;
    for replacement in module["Replace"].as_array().into_iter().flatten() {
        let text = |side: &str, name: &str| replacement[side][name].as_str();
        if text("New", "Path").is_none_or(|path| !path.starts_with('.')) {
            continue;
        }
        let old = text("Old", "Path").unwrap_or_default();
        let version = text("Old", "Version").map_or_else(String::new, |one| format!("@{one}"));
        edit(vec![format!("-dropreplace={old}{version}")])?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            // The cache of modules is read-only.
            fs::set_permissions(&target, fs::Permissions::from_mode(0o644))?;
        }
    }
    Ok(())
}

/// The packages with tests below a folder, each with how much concurrency its sources show.
fn weigh(module: &Path, folder: &Path, found: &mut Vec<(usize, String)>) -> Result<()> {
    let (mut weight, mut has_tests) = (0, false);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type()?.is_dir() {
            let ignored = name.starts_with(['.', '_']) || ["testdata", "vendor"].contains(&&*name);
            if !ignored && !path.join("go.mod").exists() {
                weigh(module, &path, found)?;
            }
        } else if name.ends_with("_test.go") {
            has_tests = true;
        } else if name.ends_with(".go") {
            let text = fs::read(&path)?;
            let text = String::from_utf8_lossy(&text);
            weight += WORDS.iter().map(|word| text.matches(word).count()).sum::<usize>();
        }
    }
    if has_tests {
        let below = folder.strip_prefix(module)?.display().to_string();
        let dot = if below.is_empty() { "." } else { "./" };
        found.push((weight, format!("{dot}{below}")));
    }
    Ok(())
}
