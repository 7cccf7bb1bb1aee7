//! `cargo xtask compilers`: the Rust compilers and rust-analyzers that Debian packages, unpacked into a
//! folder and installed nowhere, as oracles for `strait types`.
//!
//! In: the package archive of three Debian suites, with a list of sources of its own. Out: for each
//! version V the programs `bin/rustc-V` and `bin/rust-analyzer-V`. They are scripts that start the
//! unpacked program with the dynamic linker and the libraries that were unpacked beside it, because
//! those of the machine may be older.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::Outcome;

/// Each suite of Debian that has another compiler, the newest last. Libraries come from `LIBRARIES`,
/// because a program runs with newer libraries than it was built with, and not with older ones.
const SUITES: [&str; 3] = ["trixie", "sid", "experimental"];
const LIBRARIES: &str = "sid";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The packages of one version, besides `libstd-rust-V`.
const PACKAGES: [&str; 4] = ["rustc", "libstd-rust-dev", "rust-analyzer", "rust-src"];

/// Unpacks all compilers below `folder`; what is there already stays as it is.
pub fn unpack(folder: &Path) -> Outcome {
    match Archive::open(folder).and_then(|archive| archive.unpack()) {
        Ok(versions) => {
            for version in versions {
                for program in ["rustc", "rust-analyzer"] {
                    println!(
                        "{}",
                        folder.join("bin").join(format!("{program}-{version}")).display()
                    );
                }
            }
            Outcome::Passed
        }
        Err(message) => Outcome::Failed(message),
    }
}

/// The folder that is used if none is named.
pub fn default_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = named("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(named("HOME")?).join(".cache")))?;
    Some(cache.join("strait/compilers"))
}

/// Debian's package archive, as seen from a folder that nothing else uses.
struct Archive {
    folder: PathBuf,
    options: Vec<String>,
}

impl Archive {
    fn open(folder: &Path) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| told(folder, &error))?;
        let folder = folder.canonicalize().map_err(|error| told(folder, &error))?;
        for part in ["apt/lists/partial", "apt/cache/archives/partial", "packages", "bin"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(|error| told(&part, &error))?;
        }
        let sources: String = SUITES
            .iter()
            .map(|suite| {
                format!("deb [signed-by={KEYRING}] http://deb.debian.org/debian {suite} main\n")
            })
            .collect();
        write(&folder.join("apt/sources.list"), &sources, 0o644)?;
        let place = |name: &str| folder.join(name).display().to_string();
        let options = vec![
            format!("Dir::Etc::sourcelist={}", place("apt/sources.list")),
            "Dir::Etc::sourceparts=-".to_owned(),
            format!("Dir::State::lists={}", place("apt/lists")),
            format!("Dir::Cache={}", place("apt/cache")),
            // The sandbox user of apt cannot write into a folder of ours.
            "APT::Sandbox::User=root".to_owned(),
        ];
        Ok(Archive { folder, options })
    }

    fn unpack(&self) -> Result<Vec<String>, String> {
        self.apt("apt-get", &["update"])?;
        let mut versions = Vec::new();
        for suite in SUITES {
            let package = self.newest("rustc", suite)?;
            let version = minor(&package);
            self.unpack_version(&version, &package)?;
            versions.push(version);
        }
        Ok(versions)
    }

    /// One compiler with its rust-analyzer and the source of its standard library.
    fn unpack_version(&self, version: &str, package: &str) -> Result<(), String> {
        let runtime = format!("libstd-rust-{version}");
        let place = self.folder.join(version);
        for name in PACKAGES.into_iter().chain([runtime.as_str()]) {
            self.unpack_package(&format!("{name}={package}"), &place)?;
        }
        // Debian's source of the standard library lies where rust-analyzer does not look for it.
        let found = self.library_source(&place);
        let source = found.ok_or_else(|| format!("rust-src {package} has no folder `library`"))?;
        let libraries = self.folder.join("libraries");
        let mut seen = BTreeSet::new();
        let shown = self.apt("apt-cache", &["show", &format!("{runtime}={package}")])?;
        self.unpack_libraries(&shown, &libraries, &mut seen)?;
        let start = |program: &Path| {
            let linker = libraries.join("usr/lib64/ld-linux-x86-64.so.2");
            let linker =
                if linker.exists() { linker } else { libraries.join("lib64/ld-linux-x86-64.so.2") };
            let folders = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
            let own = place.join(folders[0]);
            let folders = folders.map(|name| libraries.join(name).display().to_string()).join(":");
            format!(
                "exec {} --library-path {}:{folders} {}",
                linker.display(),
                own.display(),
                program.display()
            )
        };
        let program = |name: &str| start(&place.join("usr/bin").join(name));
        let rustc = self.folder.join("bin").join(format!("rustc-{version}"));
        let sysroot = place.join("usr");
        let script = format!("{} --sysroot {} \"$@\"", program("rustc"), sysroot.display());
        write(&rustc, &format!("#!/bin/sh\n{script}\n"), 0o755)?;
        let analyzer = self.folder.join("bin").join(format!("rust-analyzer-{version}"));
        let script = format!(
            "#!/bin/sh\nexport RUSTC={} RUST_SRC_PATH={}\n{} \"$@\"\n",
            rustc.display(),
            source.display(),
            program("rust-analyzer")
        );
        write(&analyzer, &script, 0o755)?;
        // rust-analyzer starts this one by itself, and ends by a signal if it does not run.
        let server = sysroot.join("libexec/rust-analyzer-proc-macro-srv");
        let moved = server.with_extension("program");
        if server.exists() && !moved.exists() {
            fs::rename(&server, &moved).map_err(|error| told(&server, &error))?;
            write(&server, &format!("#!/bin/sh\n{} \"$@\"\n", start(&moved)), 0o755)?;
        }
        Ok(())
    }

    fn library_source(&self, place: &Path) -> Option<PathBuf> {
        let entries = fs::read_dir(place.join("usr/src")).ok()?;
        let mut folders = entries.flatten().map(|entry| entry.path().join("library"));
        folders.find(|folder| folder.join("core").is_dir())
    }

    /// The shared libraries that a package needs, and those that they need.
    fn unpack_libraries(
        &self,
        shown: &str,
        place: &Path,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        for name in dependencies(shown) {
            if !seen.insert(name.clone()) || !name.starts_with("lib") && name != "zlib1g" {
                continue;
            }
            let package = format!("{name}={}", self.newest(&name, LIBRARIES)?);
            self.unpack_package(&package, place)?;
            let shown = self.apt("apt-cache", &["show", &package])?;
            self.unpack_libraries(&shown, place, seen)?;
        }
        Ok(())
    }

    /// Unpacks a package, unless it was unpacked before.
    fn unpack_package(&self, package: &str, place: &Path) -> Result<(), String> {
        let mark = self.folder.join("packages").join(format!("{package}.unpacked"));
        if mark.exists() {
            return Ok(());
        }
        println!("{package}");
        let packages = self.folder.join("packages");
        self.apt_in(&packages, "apt-get", &["download", package])?;
        let name = package.split('=').next().unwrap_or(package);
        let entries = fs::read_dir(&packages).map_err(|error| told(&packages, &error))?;
        let file = entries.flatten().map(|entry| entry.path()).find(|path| {
            let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
            file.starts_with(&format!("{name}_")) && file.ends_with(".deb")
        });
        let file = file.ok_or_else(|| format!("apt-get did not download {package}"))?;
        fs::create_dir_all(place).map_err(|error| told(place, &error))?;
        let arguments = ["-x".as_ref(), file.as_os_str(), place.as_os_str()];
        captured(Command::new("dpkg-deb").args(arguments))?;
        fs::remove_file(&file).map_err(|error| told(&file, &error))?;
        write(&mark, "", 0o644)
    }

    /// The version of a package in a suite.
    fn newest(&self, package: &str, suite: &str) -> Result<String, String> {
        let shown = self.apt("apt-cache", &["madison", package])?;
        let line = shown.lines().find(|line| line.contains(&format!(" {suite}/main")));
        let version =
            line.and_then(|line| line.split('|').nth(1)).map(|text| text.trim().to_owned());
        version.ok_or_else(|| format!("Debian {suite} has no package {package}"))
    }

    fn apt(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        self.apt_in(&self.folder, program, arguments)
    }

    fn apt_in(&self, folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(program);
        for option in &self.options {
            command.args(["-o", option]);
        }
        captured(command.args(arguments).current_dir(folder))
    }
}

/// `1.98` of `1.98.1+dfsg1-1`.
fn minor(package: &str) -> String {
    package.split('.').take(2).collect::<Vec<&str>>().join(".")
}

/// The packages that a package depends on.
fn dependencies(shown: &str) -> Vec<String> {
    let line = shown.lines().find_map(|line| line.strip_prefix("Depends: ")).unwrap_or_default();
    let names = line.split(", ").filter_map(|one| one.split([' ', ':']).next());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn captured(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(|error| format!("{shown} did not start: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!(
        "{shown} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    fs::write(path, text).map_err(|error| told(path, &error))?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|error| told(path, &error))
}

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_dependencies_are_read() {
        assert_eq!(minor("1.98.1+dfsg1-1~exp1"), "1.98");
        let shown = "Package: libllvm22\nDepends: libc6 (>= 2.38), libz3-4:any, zlib1g\nSize: 1\n";
        assert_eq!(dependencies(shown), ["libc6", "libz3-4", "zlib1g"]);
        assert_eq!(dependencies("Package: x\n"), Vec::<String>::new());
    }
}
