//! rust-analyzer, by its `diagnostics` command on a project made for the purpose. It has no borrow
//! checker and leaves much unsaid, so that its silence means little; what it rejects means more.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::{End, Launcher, Scratch, Spec, run};

use crate::error::Error;
use crate::oracle::diagnostics::Unit;
use crate::oracle::{Oracle, Rejection, Run, RunResult};

/// It reads the standard library before anything else, which takes it longer than rustc takes for all
/// programs.
const SLOWER: u32 = 4;
/// The time for questions that are no programs.
const QUICK: Duration = Duration::from_secs(60);
const KEEP: usize = 16 << 20;

struct RustAnalyzer {
    name: String,
    scratch: Scratch,
    version: String,
    launcher: Launcher,
    stop: Arc<AtomicBool>,
    wall: Duration,
}

/// rust-analyzer in PATH.
pub(super) fn find(
    name: &str,
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
    wall: Duration,
) -> Result<Box<dyn Oracle>, Error> {
    let unusable = |why: String| Error::Unusable { name: name.to_owned(), why };
    let spec = Spec::new("rust-analyzer").arguments(["--version"]).wall(QUICK);
    let shown = run(launcher, &spec).map_err(|error| unusable(error.to_string()))?;
    if !shown.end.is_success() {
        let hint = "add it with `rustup component add rust-analyzer rust-src`";
        return Err(unusable(format!(
            "{}; {hint}",
            shown.stderr.text().lines().next().unwrap_or_default()
        )));
    }
    let version = shown.stdout.text().split_whitespace().nth(1).unwrap_or("unknown").to_owned();
    let scratch = Scratch::new("types").map_err(Error::TemporaryFolder)?;
    let (name, launcher, stop) = (name.to_owned(), launcher.clone(), Arc::clone(stop));
    Ok(Box::new(RustAnalyzer { name, scratch, version, launcher, stop, wall }))
}

impl Oracle for RustAnalyzer {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn run(&self, programs: &[&str]) -> Result<RunResult, Error> {
        let unit = Unit::new(programs);
        let folder = tempfile::tempdir_in(self.scratch.path()).map_err(Error::TemporaryFolder)?;
        let source = folder.path().join("src");
        std::fs::create_dir(&source).map_err(Error::file(&source))?;
        let manifest = "[package]\nname = \"programs\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
        for (path, text) in [
            (folder.path().join("Cargo.toml"), manifest),
            (source.join("lib.rs"), unit.text.as_str()),
        ] {
            std::fs::write(&path, text).map_err(Error::file(&path))?;
        }
        let spec = Spec::new("rust-analyzer")
            .arguments(["diagnostics", "."])
            .directory(folder.path())
            .temporary(self.scratch.path())
            .wall(self.wall * SLOWER)
            .keep(KEEP)
            .cancel(Arc::clone(&self.stop));
        let finished = run(&self.launcher, &spec)?;
        let mut told = vec![None; programs.len()];
        for (line, code, message) in finished.stdout.text().lines().filter_map(complaint) {
            if let Some(program) = unit.at_line(line) {
                let rejection: &mut Rejection = told[program].get_or_insert_default();
                if rejection.message.is_empty() {
                    message.clone_into(&mut rejection.message);
                }
                if !rejection.codes.contains(&code) {
                    rejection.codes.push(code);
                }
                rejection.rendered.push_str(&message);
                rejection.rendered.push('\n');
            }
        }
        let crashed = match &finished.end {
            End::Exited(0 | 1) | End::Stopped => None,
            End::Exited(code) => {
                Some((format!("exit code {code}"), finished.stderr.last_lines(40)))
            }
            End::Signalled(signal) => Some((signal.clone(), finished.stderr.last_lines(40))),
            End::TimedOut => Some(("hangs".to_owned(), String::new())),
        };
        let stopped = finished.end == End::Stopped;
        Ok(RunResult(Run { told, astray: None, crashed, stopped }))
    }
}

/// `at crate programs, file /…/lib.rs: Error RustcHardError("E0308") from LineCol { line: 3, col: 10
/// } to …: message`, the line counted from 0.
fn complaint(line: &str) -> Option<(usize, String, String)> {
    let (_, rest) = line.split_once(": Error ")?;
    let (kind, rest) = rest.split_once(" from LineCol { line: ")?;
    let (number, rest) = rest.split_once(',')?;
    let message = rest.rsplit_once(": ").map_or(rest, |(_, message)| message);
    let code = kind.split('"').nth(1).unwrap_or(kind);
    Some((number.trim().parse::<usize>().ok()? + 1, code.to_owned(), message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn a_line_of_its_output_is_understood() {
        let line = "at crate programs, file src/lib.rs: Error RustcHardError(\"E0308\") from LineCol { line: 3, col: 10 } to LineCol { line: 3, col: 11 }: expected i32, found bool";
        let expected = (4, "E0308".to_owned(), "expected i32, found bool".to_owned());
        assert_eq!(complaint(line), Some(expected));
        assert_eq!(complaint("processing crate: programs"), None);
    }
}
