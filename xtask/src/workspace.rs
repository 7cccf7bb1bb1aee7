//! The checkout that the chores work on, and the programs they start in it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::Outcome;

/// The server of the queue's tests, where no package can be installed.
const NATS_SERVER: &str = "github.com/nats-io/nats-server/v2@v2.11.8";

/// The root of the checkout.
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The checkout around the current directory.
    pub fn find() -> Result<Self, String> {
        let here = std::env::current_dir()
            .map_err(|error| format!("the current directory cannot be read: {error}"))?;
        let root = here.ancestors().find(|directory| directory.join("xtask/Cargo.toml").is_file());
        root.map(Self::at).ok_or_else(|| {
            format!("{} is not inside a checkout of Strait: change into one", here.display())
        })
    }

    /// The checkout at `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs cargo with its output on the terminal.
    pub fn cargo(&self, arguments: &[&str]) -> Outcome {
        self.cargo_with(arguments, &[])
    }

    /// Runs cargo with more environment variables.
    pub fn cargo_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        let shown = format!("cargo {}", arguments.join(" "));
        println!("{shown}");
        let mut command = self.command(cargo());
        match command.args(arguments).envs(variables.iter().copied()).status() {
            Ok(status) if status.success() => Outcome::Passed,
            Ok(status) => Outcome::Failed(format!("`{shown}` ended with {status}")),
            Err(error) => Outcome::Failed(format!("`{shown}` did not start: {error}")),
        }
    }

    /// Makes sure that a component of the Rust toolchain is there, which brings the cargo
    /// subcommand `subcommand`: installs it with rustup if it is not.
    pub fn component(&self, component: &str, subcommand: &str) -> Result<(), String> {
        let is_there = || self.succeeds(cargo(), &[subcommand, "--version"]);
        if is_there() {
            return Ok(());
        }
        println!("{component} is missing: rustup component add {component}");
        self.succeeds("rustup".into(), &["component", "add", component]);
        if is_there() {
            return Ok(());
        }
        Err(format!(
            "{component} is missing and rustup could not add it; install it with the package \
             manager that brought cargo"
        ))
    }

    /// A program that cargo can install: the one in PATH, or one of our own in `target/tools`.
    pub fn tool(&self, name: &str) -> Result<OsString, String> {
        if self.succeeds(name.into(), &["--version"]) {
            return Ok(name.into());
        }
        let tools = self.root.join("target/tools");
        let program = tools.join("bin").join(name).into_os_string();
        if !self.succeeds(program.clone(), &["--version"]) {
            let root = tools.display().to_string();
            self.cargo(&["install", "--locked", "--root", &root, name]);
        }
        if self.succeeds(program.clone(), &["--version"]) {
            return Ok(program);
        }
        Err(format!("{name} is missing and `cargo install {name}` fails"))
    }

    /// Makes sure that there is a nats-server, in PATH, in /usr/sbin or in `target/tools`: Debian's
    /// package if we may install it, else its sources by `go install`.
    pub fn nats_server(&self) -> Result<(), String> {
        let tools = self.root.join("target/tools/bin");
        let own = tools.join("nats-server").into_os_string();
        let is_there = || {
            let places = ["nats-server".into(), "/usr/sbin/nats-server".into(), own.clone()];
            places.into_iter().any(|place: OsString| self.succeeds(place, &["--version"]))
        };
        if is_there() {
            return Ok(());
        }
        println!("nats-server is missing: apt-get install nats-server");
        // A fresh machine has no lists of packages.
        self.succeeds("apt-get".into(), &["update", "--quiet"]);
        self.succeeds("apt-get".into(), &["install", "--yes", "--quiet", "nats-server"]);
        if is_there() {
            return Ok(());
        }
        println!("nats-server is missing: go install {NATS_SERVER}");
        let mut command = self.command("go".into());
        let built = command.args(["install", NATS_SERVER]).env("GOBIN", &tools).status();
        if built.is_ok_and(|status| status.success()) && is_there() {
            return Ok(());
        }
        Err("nats-server is missing, and neither apt-get nor go could bring it".into())
    }

    /// The version that the workspace promises as `rust-version`, and a cargo of that version.
    pub fn oldest_compiler(&self) -> Result<(String, OsString), String> {
        let manifest = std::fs::read_to_string(self.root.join("Cargo.toml"))
            .map_err(|error| format!("Cargo.toml cannot be read: {error}"))?;
        let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
        let version = line.map(|value| value.trim_matches('"').to_owned());
        let version = version.ok_or("Cargo.toml has no rust-version")?;
        let active = self.command(cargo()).arg("--version").output();
        let active = active.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        if active.is_ok_and(|active| active.starts_with(&format!("cargo {version}."))) {
            return Ok((version, cargo()));
        }
        let toolchain = ["toolchain", "install", "--profile", "minimal", &version];
        if !self.succeeds("rustup".into(), &toolchain) {
            return Err(format!("rustup cannot bring Rust {version}"));
        }
        let found = self
            .command("rustup".into())
            .args(["which", "--toolchain", &version, "cargo"])
            .output();
        let path = found.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        path.map(|path| (version, path.into())).map_err(|error| error.to_string())
    }

    /// Makes sure that the standard library for a target is there; it is not downloaded.
    pub fn target_library(&self, target: &str) -> Result<(), String> {
        let mut command = self.command("rustc".into());
        let output = command.args(["--print", "target-libdir", "--target", target]).output();
        let folder = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        match folder {
            Ok(folder) if !folder.is_empty() && Path::new(&folder).is_dir() => Ok(()),
            _ => Err(format!("the standard library is missing: rustup target add {target}")),
        }
    }

    /// The platform that the compiler itself runs on.
    pub fn host(&self) -> Result<String, String> {
        let output = self.command("rustc".into()).arg("-vV").output();
        let text = output.map_err(|error| format!("rustc did not start: {error}"))?;
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        host.map(ToString::to_string).ok_or_else(|| "`rustc -vV` names no host".to_owned())
    }

    /// Runs a program with its output on the terminal.
    pub fn run(&self, program: &OsString, arguments: &[&str]) -> Outcome {
        let shown = format!("{} {}", program.display(), arguments.join(" "));
        println!("{shown}");
        match self.command(program.clone()).args(arguments).status() {
            Ok(status) if status.success() => Outcome::Passed,
            Ok(status) => Outcome::Failed(format!("`{shown}` ended with {status}")),
            Err(error) => Outcome::Failed(format!("`{shown}` did not start: {error}")),
        }
    }

    /// What `strait` with these arguments writes: the binary that `STRAIT_BIN` names, or the one of
    /// this checkout, which is built first.
    pub fn strait(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = match std::env::var_os("STRAIT_BIN") {
            Some(binary) => {
                let mut command = self.command(self.root.join(binary).into_os_string());
                command.arg0("strait");
                command
            }
            None => {
                let mut command = self.command(cargo());
                command.args(["run", "--quiet", "--package", "strait-cli", "--"]);
                command
            }
        };
        let shown = format!("strait {}", arguments.join(" "));
        let output =
            command.args(arguments).output().map_err(|error| format!("{shown}: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`{shown}` ended with {}: {}", output.status, said.trim_end()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Where cargo puts what it builds.
    pub fn target(&self) -> PathBuf {
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        self.root.join(target)
    }

    /// Is there a program that takes these arguments?
    pub fn has(&self, program: &str, arguments: &[&str]) -> bool {
        self.succeeds(program.into(), arguments)
    }

    /// What `git` with these arguments writes, or nothing where there is no git or no repository.
    pub fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let output = self.command("git".into()).args(arguments).stderr(Stdio::null()).output();
        output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
    }

    fn succeeds(&self, program: OsString, arguments: &[&str]) -> bool {
        let mut command = self.command(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn command(&self, program: OsString) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }
}

/// The cargo that started this program, so that both use one toolchain.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
