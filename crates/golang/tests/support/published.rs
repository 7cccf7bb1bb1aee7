//! A published module in, a copy of it that may be written out: the module cache is read-only, and
//! loading may have to complete a `go.sum`.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use strait_golang::Go;

/// The copy's folder, inside the folder where `go` runs.
pub const COPY: &str = "module";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    version: String,
    dir: PathBuf,
}

/// Fetches `MODULE@VERSION` through the user's `go` and copies it; the answer is the version.
pub fn fetch(go: &Go, module: &str) -> Result<String, Box<dyn Error>> {
    let finished = go.run(go.spec(["mod", "download", "-json", module]))?;
    let downloaded: Downloaded = serde_json::from_str(&finished.stdout.text())?;
    copy_tree(&downloaded.dir, &go.directory().join(COPY))?;
    Ok(downloaded.version)
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        let target = to.join(file.file_name());
        if file.file_type()?.is_dir() {
            copy_tree(&file.path(), &target)?;
        } else {
            fs::write(target, fs::read(file.path())?)?;
        }
    }
    Ok(())
}
