//! Follows the first hours of the book literally, as a newcomer would.
//!
//! In: the name of a page in `docs/first-hour`. Out: passed if every command ends and says what the
//! page shows. A page starts in an empty folder that holds the checkout as `strait`, and its
//! commands share one shell's folder and variables. Nothing of the environment is handed on but
//! what finds tools and their caches. `cargo install` installs into `target/first-hours`, not into
//! the reader's own place; with `STRAIT_BIN` naming a binary that step is left out, and said.

mod expected;
mod page;

use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::step::{Class, Outcome, Step};
use crate::workspace::Workspace;
use page::Deed;

/// `cargo xtask first-hours`: one step a page.
pub const PAGES: &[Step] = &[
    Step::new("runtimes", Class::Rust, |workspace| follow(workspace, "runtimes")),
    Step::new("go-tests", Class::Go, |workspace| follow_with_go(workspace, "go-tests")),
    Step::new("go-proofs", Class::Go, |workspace| follow_with_go(workspace, "go-proofs")),
    Step::new("rust", Class::Rust, |workspace| follow(workspace, "rust")),
    Step::new("typecheckers", Class::Rust, |workspace| follow(workspace, "typecheckers")),
];

/// The binary to use instead of installing one.
const BINARY: &str = "STRAIT_BIN";

/// Longer than any command of a page takes, the installation on a busy machine included.
const PATIENCE: Duration = Duration::from_mins(30);

/// What commands may know of the reader's environment: where tools are and where they find theirs.
const HANDED_ON: [&str; 18] = [
    "HOME",
    "USER",
    "LANG",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "XDG_CACHE_HOME",
    "GOPATH",
    "GOCACHE",
    "GOMODCACHE",
    "GOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "GOPRIVATE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
];

fn follow_with_go(workspace: &Workspace, name: &str) -> Outcome {
    if workspace.has("go", &["version"]) {
        return follow(workspace, name);
    }
    Outcome::Skipped("there is no `go`; install Go 1.24 or newer from https://go.dev/dl".into())
}

/// Follows one page to its end, whatever happens on the way.
fn follow(workspace: &Workspace, name: &str) -> Outcome {
    let path = format!("docs/first-hour/{name}.md");
    let prepared = fs::read_to_string(workspace.root().join(&path))
        .map_err(|error| format!("{path} cannot be read: {error}"))
        .and_then(|text| page::deeds(&text).map_err(|what| format!("{path}: {what}")))
        .and_then(|deeds| Ok((deeds, Reader::new(workspace, name)?)));
    let (deeds, reader) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => return Outcome::Failed(message),
    };
    let mut failures = 0;
    for deed in &deeds {
        let (line, what) = match deed {
            Deed::Write { line, path, text } => (line, reader.write(path, text)),
            Deed::Run { line, command, exit, output } => {
                println!("$ {command}");
                (line, reader.run(command, *exit, output))
            }
        };
        if let Err(what) = what {
            failures += 1;
            println!("{path}:{line}: {what}");
        }
    }
    if failures > 0 {
        println!("The folder is left as it is: {}", reader.folder.display());
    }
    match failures {
        0 => reader.leave(),
        1 => Outcome::Failed("1 step is not as printed, shown above".into()),
        many => Outcome::Failed(format!("{many} steps are not as printed, shown above")),
    }
}

/// Somebody who follows a page: a folder of their own and a shell in it.
struct Reader {
    /// Where the page starts.
    folder: PathBuf,
    /// What the shell keeps from one command to the next, and where output goes.
    desk: PathBuf,
    path: OsString,
    installs: bool,
}

impl Reader {
    fn new(workspace: &Workspace, name: &str) -> Result<Self, String> {
        let root = fs::canonicalize(workspace.root()).map_err(|error| error.to_string())?;
        let room = root.join("target/first-hours");
        let desk = room.join(name);
        let folder = folder(&root);
        for place in [&desk, &folder] {
            if place.exists() {
                fs::remove_dir_all(place).map_err(|error| because(place, &error))?;
            }
            fs::create_dir_all(place).map_err(|error| because(place, &error))?;
        }
        let checkout = folder.join("strait");
        std::os::unix::fs::symlink(&root, &checkout).map_err(|error| because(&checkout, &error))?;
        let given = std::env::var_os(BINARY);
        let programs = room.join(if given.is_some() { "given" } else { "bin" });
        fs::create_dir_all(&programs).map_err(|error| because(&programs, &error))?;
        if let Some(binary) = &given {
            let binary = root.join(binary);
            fs::copy(&binary, programs.join("strait")).map_err(|error| because(&binary, &error))?;
        }
        let own = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(programs).chain(std::env::split_paths(&own));
        let path = std::env::join_paths(all).map_err(|error| error.to_string())?;
        Ok(Self { folder, desk, path, installs: given.is_none() })
    }

    /// Clears the folder after a page that was as printed.
    fn leave(&self) -> Outcome {
        match fs::remove_dir_all(&self.folder) {
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::Failed(because(&self.folder, &error)),
        }
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let place = self.folder.join(path);
        let parent = place.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(|error| because(parent, &error))?;
        fs::write(&place, text).map_err(|error| because(&place, &error))
    }

    fn run(&self, command: &str, exit: i32, output: &[String]) -> Result<(), String> {
        if command.starts_with("cargo install ") && !self.installs {
            println!("SKIPPED, because {BINARY} is set: the binary that it names is used");
            return Ok(());
        }
        let (code, seen) = self.give(command)?;
        let difference = expected::compare(output, &seen);
        if code == Some(exit) && difference.is_ok() {
            return Ok(());
        }
        let mut message = format!("`{command}`\n");
        if code != Some(exit) {
            let code = code.map_or("no exit code".into(), |code| format!("exit code {code}"));
            message
                .push_str(&format!("    the page promises exit code {exit}, there was {code}\n"));
        }
        match difference {
            Err(difference) => message.push_str(&difference.to_string()),
            Ok(()) => message.extend(seen.iter().map(|line| format!("      {line}\n"))),
        }
        Err(message)
    }

    /// Gives a command to the shell: its exit code, and what is seen.
    fn give(&self, command: &str) -> Result<(Option<i32>, Vec<String>), String> {
        let (state, seen) = (self.desk.join("state"), self.desk.join("seen"));
        let output = File::create(&seen).map_err(|error| because(&seen, &error))?;
        let errors = output.try_clone().map_err(|error| because(&seen, &error))?;
        let script = format!(
            "if [ -e \"$0\" ]; then . \"$0\"; fi\n{command}\ncode=$?\n\
             {{ export -p; printf 'cd %q\\n' \"$PWD\"; }} > \"$0\"\nexit $code\n"
        );
        let handed_on = HANDED_ON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let mut child = Command::new("bash")
            .args(["--norc", "-c", &script])
            .arg(&state)
            .current_dir(&self.folder)
            .env_clear()
            .envs(handed_on)
            .env("PATH", &self.path)
            .env("CARGO_INSTALL_ROOT", self.desk.parent().unwrap_or(&self.desk))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("bash does not start: {error}"))?;
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break status;
            }
            if started.elapsed() > PATIENCE {
                child.kill().map_err(|error| error.to_string())?;
                return Err(format!("`{command}` does not end; it was stopped"));
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let seen = fs::read(&seen).map_err(|error| because(&seen, &error))?;
        let seen = String::from_utf8_lossy(&seen);
        Ok((status.code(), seen.lines().map(|line| line.trim_end().to_string()).collect()))
    }
}

/// Where pages start: outside of the checkout, so that no workspace is found around it, and at the
/// same place for each page and each time, so that cargo builds Strait once for all of them.
fn folder(root: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    std::env::temp_dir().join(format!("strait-first-hour-{:016x}", hasher.finish()))
}

fn because(place: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", place.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows a page in a checkout that holds nothing else.
    fn follow_page(name: &str, text: &str) -> Outcome {
        let root = std::env::temp_dir().join(format!("strait-xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(root.join("docs/first-hour")).unwrap();
        fs::write(root.join(format!("docs/first-hour/{name}.md")), text).unwrap();
        let outcome = follow(&Workspace::at(&root), name);
        let left = folder(&fs::canonicalize(&root).unwrap());
        if left.exists() {
            fs::remove_dir_all(left).unwrap();
        }
        fs::remove_dir_all(&root).unwrap();
        outcome
    }

    #[test]
    fn a_page_is_one_shell_in_an_empty_folder() {
        let page = "```text name=a/b.txt\nhello\n```\n\
                    ```console\n$ ls\na\nstrait\n$ cd a\n$ export WHO=you\n$ cat b.txt; echo $WHO\n\
                    hello\nyou\n$ false\n? 1\n$ echo ${PWD##*/} >&2\na\n$ echo ${RUST_LOG-none}\n\
                    none\n```\n";
        assert_eq!(follow_page("shell", page), Outcome::Passed);
    }

    #[test]
    fn what_is_not_as_printed_fails_and_the_rest_is_followed() {
        let page = "```console\n$ echo one\ntwo\n$ false\n$ echo three\nthree\n```\n";
        let expected = "2 steps are not as printed, shown above";
        assert_eq!(follow_page("wrong", page), Outcome::Failed(expected.into()));
    }
}
