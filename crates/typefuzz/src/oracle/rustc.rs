//! rustc, the installed one or any other, with any flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::{Captured, End, Finished, Launcher, Limits, Scratch, Spec, run};

use crate::error::Error;
use crate::language::Language;
use crate::oracle::diagnostics::{LONGEST, Unit, UnitDiagnostics};
use crate::oracle::{Oracle, Profile, QUICK, Question, Run, RunResult, tool_version};
use crate::recipe::BATCH;

const MEMORY: u64 = 6 << 30;
const LARGEST_FILE: u64 = 64 << 20;
/// The most that is kept of the beginning and of the end of the messages. Who writes more than both
/// does not come to an end, for all practical purposes.
const KEEP: usize = 24 << 20;
const FILE: &str = "programs.rs";

struct Rustc {
    name: String,
    version: String,
    program: PathBuf,
    flags: Vec<String>,
    launcher: Launcher,
    /// Programs and the temporary files of the compiler.
    scratch: Scratch,
    stop: Arc<AtomicBool>,
    /// Unstable flags are for tests of the compiler, which this is.
    unstable: bool,
    profile: Profile,
    /// The edition, unless the flags name one.
    edition: Option<&'static str>,
    /// A compiler that takes longer for [`BATCH`] programs hangs.
    wall: Duration,
}

/// The rustc in PATH, or the one behind it if that is rustup's.
pub(super) fn installed(question: &Question<'_>) -> Result<Box<dyn Oracle>, Error> {
    let spec = Spec::new("rustc").arguments(["--print", "sysroot"]).wall(QUICK);
    let shown = run(question.launcher, &spec);
    let shown = shown.map_err(|error| question.unusable(error.to_string()))?;
    let sysroot = PathBuf::from(shown.stdout.text().trim());
    let direct = sysroot.join("bin").join("rustc");
    let program = if direct.is_file() { direct } else { PathBuf::from("rustc") };
    let version = tool_version(question, &program)?.version;
    at(question, &program, version)
}

/// A rustc by its path.
pub(super) fn at(
    question: &Question<'_>,
    program: &Path,
    version: String,
) -> Result<Box<dyn Oracle>, Error> {
    let flags: Vec<String> = question.flags.iter().map(|flag| (*flag).to_owned()).collect();
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    let has_edition = flags.iter().any(|flag| flag.starts_with("--edition"));
    let oracle = Rustc {
        name: question.name.to_owned(),
        program: program.to_owned(),
        unstable: flags.iter().any(|flag| flag.starts_with("-Z")),
        profile: Profile::rustc(&flags),
        edition: match minor {
            _ if has_edition => None,
            Some(minor) if minor < 56 => Some("2018"),
            _ => Some("2021"),
        },
        flags,
        launcher: question.launcher.clone(),
        scratch: Scratch::new("types").map_err(Error::TemporaryFolder)?,
        stop: Arc::clone(question.stop),
        version,
        wall: question.wall,
    };
    question.checked(Box::new(oracle), "pub fn f() {}")
}

impl Rustc {
    /// A part of a batch gets a part of the time, so that who hangs at one program is found among a
    /// hundred before long.
    fn wall_for(&self, programs: usize) -> Duration {
        let part = (programs as f64 / BATCH as f64).clamp(0.25, 1.0);
        self.wall.mul_f64(part)
    }
}

impl Oracle for Rustc {
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
        let path = folder.path().join(FILE);
        std::fs::write(&path, &unit.text).map_err(Error::file(&path))?;
        let wall = self.wall_for(programs.len());
        let edition = self.edition.map(|edition| format!("--edition={edition}"));
        let mut spec = Spec::new(&self.program)
            .arguments([FILE, "--emit=metadata", "--crate-type=lib"])
            .arguments(edition)
            .arguments(["--error-format=json", "--cap-lints=allow", "-o", "programs.rmeta"])
            .arguments(&self.flags)
            .directory(folder.path())
            .temporary(folder.path())
            .limits(Limits {
                cpu: Some(wall),
                address_space: Some(MEMORY),
                file_size: Some(LARGEST_FILE),
                ..Limits::default()
            })
            .wall(wall)
            .keep(KEEP)
            .cancel(Arc::clone(&self.stop))
            .without_variable("RUSTFLAGS")
            .variable("RUST_BACKTRACE", "1");
        if self.unstable {
            spec =
                spec.variable("RUSTC_BOOTSTRAP", "1").arguments(["-Zwrite-long-types-to-disk=no"]);
        }
        let finished = run(&self.launcher, &spec)?;
        Ok(RunResult(read(&unit, &finished)))
    }
}

/// What a run of the compiler says.
fn read(unit: &Unit, finished: &Finished) -> Run {
    let output = finished.stderr.text();
    let diagnostics = UnitDiagnostics::read(unit, FILE, &output);
    let last = || {
        let lines = finished.stderr.last_lines(60);
        let end = lines.len().saturating_sub(LONGEST);
        lines[lines.ceil_char_boundary(end)..].to_owned()
    };
    let crashed = match (&finished.end, diagnostics.internal) {
        (End::Stopped, _) => None,
        (_, Some(message)) => Some(format!("internal error: {message}")),
        (end, None) => misdeed(end, &finished.stderr, &output),
    };
    let crashed = crashed.map(|how| (how, last()));
    let silent = finished.end == End::Exited(1)
        && diagnostics.astray.is_none()
        && diagnostics.about.iter().all(Option::is_none);
    // Rejected without a word that we understand: that is no rejection and must not be lost.
    let astray = diagnostics.astray.or_else(|| {
        silent.then(|| crate::oracle::Rejection {
            message: finished.stderr.last_lines(3),
            rendered: last(),
            ..Default::default()
        })
    });
    Run {
        rejections: diagnostics.about,
        astray,
        crashed,
        stopped: finished.end == End::Stopped,
        cpu: finished.cpu,
    }
}

/// What a compiler did besides accepting and rejecting, if anything.
fn misdeed(end: &End, messages: &Captured, output: &str) -> Option<String> {
    let megabytes = |bytes: u64| bytes >> 20;
    let how = match end {
        _ if messages.left_out > 0 => {
            format!("writes more than {} MiB of messages", megabytes(2 * KEEP as u64))
        }
        End::Exited(0 | 1) | End::Stopped => return None,
        End::TimedOut => "hangs".to_owned(),
        End::OverLimit(resource) => format!("uses too {resource}"),
        End::Signalled(signal) => match signal.as_str() {
            "SIGXCPU" => "hangs".to_owned(),
            "SIGXFSZ" => format!("writes a file of more than {} MiB", megabytes(LARGEST_FILE)),
            _ if output.contains("memory allocation of ") => {
                format!("needs more than {} GiB of memory", megabytes(MEMORY) >> 10)
            }
            signal => signal.to_owned(),
        },
        // 101 is a panic of the compiler.
        End::Exited(code) => panic_line(output, *code),
    };
    Some(how)
}

/// Where the compiler panicked, or its exit code.
fn panic_line(output: &str, code: i32) -> String {
    let mut lines = output.lines().skip_while(|line| !line.contains("panicked at"));
    match (lines.next(), lines.next()) {
        (Some(place), Some(message)) => {
            let place = place.split("panicked at").nth(1).unwrap_or(place).trim();
            format!("panic at {place} {message}")
        }
        _ => format!("exit code {code}"),
    }
}
