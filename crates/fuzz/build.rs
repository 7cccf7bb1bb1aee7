//! Which versions of the channel crates are built in: read from the Cargo.lock of the build, since
//! no crate tells its own version.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let lock = [here.as_path(), out.as_path()].into_iter().find_map(lock_above);
    let mut versions = lock.as_deref().map(read).unwrap_or_default();
    if let Some(lock) = &lock {
        println!("cargo:rerun-if-changed={}", lock.display());
    }
    if let Ok(rustc) = rustc_version::version() {
        versions.push(("std".to_owned(), rustc.to_string()));
    }
    let written = fs::write(out.join("versions.rs"), format!("&{versions:?}"));
    // Without the file the crate does not compile, and this says why.
    written.unwrap_or_else(|error| println!("cargo:warning=cannot write versions.rs: {error}"));
}

/// The nearest Cargo.lock in a folder or above it.
fn lock_above(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join("Cargo.lock")).find(|path| path.is_file())
}

/// Names and versions; the newest of each name.
fn read(lock: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(lock).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let packages = table.get("package").and_then(toml::Value::as_array).cloned();
    let field = |package: &toml::Value, name: &str| Some(package.get(name)?.as_str()?.to_owned());
    let packages = packages.unwrap_or_default();
    let registered = packages.iter().filter(|package| package.get("source").is_some());
    registered
        .filter_map(|package| Some((field(package, "name")?, field(package, "version")?)))
        .collect()
}
