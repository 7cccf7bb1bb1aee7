//! rustc, the installed one or any other, with any flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_toolchain::{End, Finished, Launcher, Limits, Spec, run};

use crate::error::Error;
use crate::oracle::diagnostics::{Told, Unit};
use crate::oracle::{Oracle, Run, RunResult};

/// A compiler that takes longer for a batch hangs.
const WALL: Duration = Duration::from_secs(180);
const CPU: Duration = Duration::from_secs(90);
const MEMORY: u64 = 6 << 30;
const LARGEST_FILE: u64 = 64 << 20;
/// The most that is kept of the beginning and of the end of the messages.
const KEEP: usize = 48 << 20;
const FILE: &str = "programs.rs";

struct Rustc {
    name: String,
    version: String,
    program: PathBuf,
    flags: Vec<String>,
    launcher: Launcher,
    stop: Arc<AtomicBool>,
    /// Unstable flags are for tests of the compiler, which this is.
    unstable: bool,
    is_old: bool,
}

/// The rustc in PATH, or the one behind it if that is rustup's.
pub(super) fn installed(
    name: &str,
    flags: &[&str],
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
) -> Result<Box<dyn Oracle>, Error> {
    let shown = run(launcher, &Spec::new("rustc").arguments(["--print", "sysroot"]).wall(WALL));
    let unusable = |why: String| Error::Unusable { name: name.to_owned(), why };
    let shown = shown.map_err(|error| unusable(error.to_string()))?;
    let sysroot = PathBuf::from(shown.stdout.text().trim());
    let direct = sysroot.join("bin").join("rustc");
    let program = if direct.is_file() { direct } else { PathBuf::from("rustc") };
    at(name, &program, flags, launcher, stop)
}

/// A rustc by its path.
pub(super) fn at(
    name: &str,
    program: &Path,
    flags: &[&str],
    launcher: &Launcher,
    stop: &Arc<AtomicBool>,
) -> Result<Box<dyn Oracle>, Error> {
    let unusable = |why: String| Error::Unusable { name: name.to_owned(), why };
    let spec = Spec::new(program).arguments(["--version"]).wall(WALL);
    let shown = run(launcher, &spec).map_err(|error| unusable(error.to_string()))?;
    let text = shown.stdout.text();
    let version = text.split_whitespace().nth(1).unwrap_or_default().to_owned();
    if !shown.end.is_success() || version.is_empty() {
        return Err(unusable(format!("`{} --version` says nothing", program.display())));
    }
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok());
    let oracle = Rustc {
        name: name.to_owned(),
        program: program.to_owned(),
        unstable: flags.iter().any(|flag| flag.starts_with("-Z")),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        launcher: launcher.clone(),
        stop: Arc::clone(stop),
        is_old: minor.is_some_and(|minor| minor < 56),
        version,
    };
    // Flags that this compiler does not know would look like rejected programs.
    let checked = oracle.run(&["pub fn f() {}"])?.0;
    match checked.astray.map(|rejection| rejection.message).or(checked.crashed.map(|end| end.0)) {
        Some(why) => Err(unusable(why)),
        None => Ok(Box::new(oracle)),
    }
}

impl Oracle for Rustc {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn run(&self, programs: &[&str]) -> Result<RunResult, Error> {
        let unit = Unit::new(programs);
        let folder = tempfile::tempdir().map_err(Error::file(&std::env::temp_dir()))?;
        let path = folder.path().join(FILE);
        std::fs::write(&path, &unit.text).map_err(Error::file(&path))?;
        let edition = if self.is_old { "2018" } else { "2021" };
        let mut spec = Spec::new(&self.program)
            .arguments([FILE, "--emit=metadata", "--crate-type=lib", "--edition", edition])
            .arguments(["--error-format=json", "--cap-lints=allow", "-o", "programs.rmeta"])
            .arguments(&self.flags)
            .directory(folder.path())
            .limits(Limits {
                cpu: Some(CPU),
                address_space: Some(MEMORY),
                file_size: Some(LARGEST_FILE),
            })
            .wall(WALL)
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
    let told = Told::read(unit, FILE, &output);
    let last = || finished.stderr.last_lines(60);
    let crashed = match (&finished.end, told.internal) {
        (End::Stopped, _) => None,
        (_, Some(message)) => Some((format!("internal error: {message}"), last())),
        (End::Exited(0 | 1), None) => None,
        // 101 is a panic of the compiler.
        (End::Exited(code), None) => Some((panic_line(&output, *code), last())),
        (End::Signalled(signal), None) => Some((signal.clone(), last())),
        (End::TimedOut, None) => Some(("hangs".to_owned(), last())),
    };
    let silent = finished.end == End::Exited(1)
        && told.astray.is_none()
        && told.about.iter().all(Option::is_none);
    // Rejected without a word that we understand: that is nobody's rejection and must not be lost.
    let astray = told.astray.or_else(|| {
        silent.then(|| crate::oracle::Rejection {
            message: finished.stderr.last_lines(3),
            rendered: last(),
            ..Default::default()
        })
    });
    Run { told: told.about, astray, crashed, stopped: finished.end == End::Stopped }
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
