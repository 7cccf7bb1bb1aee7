//! The published crates with loom tests, and how their tests are built on one side.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace::Workspace;

/// Who performs the tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Loom,
    Strait,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Loom => "loom",
            Side::Strait => "strait",
        }
    }
}

/// A published crate with loom tests.
pub struct Study {
    /// The package.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The arguments of `cargo test` that select and configure the test program.
    arguments: &'static [&'static str],
    /// The prefix of the names of its loom tests.
    prefix: &'static str,
    /// The line of its manifest that asks for a loom of another version than the current one.
    old_loom: Option<&'static str>,
}

/// The case studies.
pub const STUDIES: &[Study] = &[
    Study {
        name: "tokio",
        version: "1.54.1",
        // Its tests do not compile without debug assertions.
        arguments: &[
            "--lib",
            "--features",
            "full,test-util",
            "--config",
            "profile.release.package.tokio.debug-assertions=true",
        ],
        prefix: "sync::tests::loom_",
        old_loom: None,
    },
    Study {
        name: "concurrent-queue",
        version: "2.5.0",
        arguments: &["--test", "loom", "--features", "loom"],
        prefix: "",
        old_loom: None,
    },
    Study {
        name: "event-listener",
        version: "5.4.2",
        arguments: &["--test", "loom", "--features", "loom"],
        prefix: "",
        old_loom: None,
    },
    Study {
        name: "thingbuf",
        version: "0.1.6",
        arguments: &["--lib"],
        prefix: "",
        old_loom: Some("0.5.6"),
    },
];

impl Study {
    /// Has cargo download the package. Gives the folder of its sources.
    fn fetch(&self, folder: &Path) -> Result<PathBuf, String> {
        let wish = folder.join("fetch").join(self.name);
        write(&wish.join("src/lib.rs"), "")?;
        let manifest = format!(
            "[package]\nname = \"fetch\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             {} = {{ version = \"={}\", default-features = false }}\n\n[workspace]\n",
            self.name, self.version
        );
        write(&wish.join("Cargo.toml"), &manifest)?;
        let fetched =
            cargo(&wish).arg("fetch").status().map_err(|error| format!("cargo: {error}"))?;
        if !fetched.success() {
            return Err(format!("`cargo fetch` of {} ended with {fetched}", self.name));
        }
        let package = format!("{}-{}", self.name, self.version);
        let registries = registry_folder().ok_or("neither CARGO_HOME nor HOME is set")?;
        let found = std::fs::read_dir(&registries)
            .map_err(|error| format!("{}: {error}", registries.display()))?;
        let found = found.flatten().map(|registry| registry.path().join(&package));
        found
            .into_iter()
            .find(|path| path.is_dir())
            .ok_or_else(|| format!("{package} was not downloaded"))
    }

    /// Builds the test program on one side, in a copy of the sources below a folder, which `change` may
    /// change.
    pub fn build<T>(
        &self,
        workspace: &Workspace,
        folder: &Path,
        side: Side,
        change: impl FnOnce(&Path) -> Result<T, String>,
    ) -> Result<(PathBuf, T), String> {
        let sources = self.fetch(folder)?;
        let copy = folder.join(side.name()).join(self.name);
        if copy.is_dir() {
            std::fs::remove_dir_all(&copy)
                .map_err(|error| format!("{}: {error}", copy.display()))?;
        }
        copy_folder(&sources, &copy)?;
        let changes = change(&copy)?;
        let manifest = copy.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest)
            .map_err(|error| format!("{}: {error}", manifest.display()))?;
        write(&manifest, &self.manifest(&text, workspace, side))?;
        let target = folder.join("build");
        println!("building the loom tests of {} over {}", self.name, side.name());
        let mut command = cargo(&copy);
        command.args(["test", "--release", "--no-run"]).args(self.arguments);
        command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target);
        let output =
            command.stderr(Stdio::piped()).output().map_err(|error| format!("cargo: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!(
                "the tests of {} do not compile over {}:\n{said}",
                self.name,
                side.name()
            ));
        }
        // `Executable unittests src/lib.rs (PATH)`
        let program = said.lines().find_map(|line| {
            let line = line.trim().strip_prefix("Executable ")?;
            Some(line[line.rfind('(')? + 1..].trim_end_matches(')').to_owned())
        });
        let program = program.ok_or_else(|| format!("cargo names no test program:\n{said}"))?;
        Ok((PathBuf::from(program), changes))
    }

    /// The manifest of a copy.
    fn manifest(&self, text: &str, workspace: &Workspace, side: Side) -> String {
        let mut text = match self.old_loom {
            Some(version) => text.replace(&format!("version = \"{version}\""), "version = \"0.7\""),
            None => text.to_owned(),
        };
        text.push_str("\n[workspace]\n");
        if side == Side::Strait {
            let shim = workspace.root().join("shims/loom");
            text.push_str(&format!(
                "\n[patch.crates-io]\nloom = {{ path = {:?} }}\n",
                shim.display().to_string()
            ));
        }
        text
    }

    /// The names of the loom tests in a test program.
    pub fn tests(&self, program: &Path, filter: &str) -> Result<Vec<String>, String> {
        let mut command = Command::new(program);
        let output = command.args(["--list", "--format", "terse"]).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        let wanted = |test: &&str| test.starts_with(self.prefix) && test.contains(filter);
        Ok(tests.filter(wanted).map(str::to_owned).collect())
    }
}

/// Where cargo keeps the sources of packages.
fn registry_folder() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    Some(home?.join("registry/src"))
}

fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let explain = |error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(explain)?;
    for entry in std::fs::read_dir(from).map_err(explain)? {
        let path = entry.map_err(explain)?.path();
        let Some(name) = path.file_name() else { continue };
        match path.is_dir() {
            true => copy_folder(&path, &to.join(name))?,
            false => {
                std::fs::copy(&path, to.join(name)).map_err(explain)?;
            }
        }
    }
    Ok(())
}
