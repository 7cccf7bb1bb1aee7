//! rust-analyzer, by its `diagnostics` command on a project made for the purpose. It has no borrow
//! checker and leaves much unsaid, so that its silence means little; what it rejects means more.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::{End, Launcher, Scratch, Spec, run};

use crate::error::Error;
use crate::language::Language;
use crate::oracle::diagnostics::Unit;
use crate::oracle::{Oracle, Profile, Question, Rejection, Run, RunResult, tool_version};

/// It reads the standard library before anything else, which takes it longer than rustc takes for all
/// programs.
const SLOWER: u32 = 4;
const KEEP: usize = 16 << 20;

struct RustAnalyzer {
    name: String,
    program: PathBuf,
    profile: Profile,
    edition: String,
    scratch: Scratch,
    version: String,
    launcher: Launcher,
    stop: Arc<AtomicBool>,
    wall: Duration,
}

/// rust-analyzer in PATH or by its path.
pub(super) fn at(question: &Question<'_>, program: &Path) -> Result<Box<dyn Oracle>, Error> {
    let version = tool_version(question, program)?.version;
    let mut editions = question.flags.iter().filter_map(|flag| flag.strip_prefix("--edition="));
    let edition = editions.next().unwrap_or("2021").to_owned();
    let oracle = RustAnalyzer {
        name: question.name.to_owned(),
        program: program.to_owned(),
        profile: Profile::of("rust-analyzer"),
        edition,
        scratch: Scratch::new("types").map_err(Error::TemporaryFolder)?,
        version,
        launcher: question.launcher.clone(),
        stop: Arc::clone(question.stop),
        wall: question.wall,
    };
    question.checked(Box::new(oracle), "pub fn f() {}")
}

impl Oracle for RustAnalyzer {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn language(&self) -> Option<Language> {
        Some(Language::Rust)
    }

    fn run(&self, programs: &[&str]) -> Result<RunResult, Error> {
        let unit = Unit::new(programs);
        let folder = tempfile::tempdir_in(self.scratch.path()).map_err(Error::TemporaryFolder)?;
        let source = folder.path().join("src");
        std::fs::create_dir(&source).map_err(Error::file(&source))?;
        let edition = &self.edition;
        let manifest = format!(
            "[package]\nname = \"programs\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n[workspace]\n"
        );
        for (path, text) in [
            (folder.path().join("Cargo.toml"), manifest.as_str()),
            (source.join("lib.rs"), unit.text.as_str()),
        ] {
            std::fs::write(&path, text).map_err(Error::file(&path))?;
        }
        // Neither build scripts nor procedural macros are part of any program.
        let spec = Spec::new(&self.program)
            .arguments(["diagnostics", "--disable-build-scripts", "--disable-proc-macros", "."])
            .directory(folder.path())
            .temporary(self.scratch.path())
            .wall(self.wall * SLOWER)
            .keep(KEEP)
            .cancel(Arc::clone(&self.stop));
        let finished = run(&self.launcher, &spec)?;
        let mut rejections = vec![None; programs.len()];
        for (line, code, message) in finished.stdout.text().lines().filter_map(complaint) {
            if let Some(program) = unit.at_line(line) {
                let rejection: &mut Rejection = rejections[program].get_or_insert_default();
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
            End::OverLimit(resource) => Some((format!("uses too {resource}"), String::new())),
        };
        let stopped = finished.end == End::Stopped;
        Ok(RunResult(Run { rejections, astray: None, crashed, stopped, cpu: None }))
    }
}

/// `at crate programs, file /…/lib.rs: Error RustcHardError("E0308") from LineCol { line: 3, col: 10
/// } to …: message`, the line counted from 0; older versions begin with `Error`.
fn complaint(line: &str) -> Option<(usize, String, String)> {
    let (_, rest) = line.split_once(": Error ").or_else(|| line.split_once("Error "))?;
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
        assert_eq!(complaint(line), Some(expected.clone()));
        let old = line.split_once(": ").expect("a place").1;
        assert_eq!(complaint(old), Some(expected));
        assert_eq!(complaint("processing crate: programs"), None);
    }
}
