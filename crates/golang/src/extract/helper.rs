//! The helper: Go sources that travel in the binary, built by the user's `go` into the cache, once
//! for each version of Go and of the sources.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use strait_toolchain::{Cache, End, Finished, Spec};

use super::ExtractOptions;
use crate::error::Error;
use crate::go::Go;

/// The helper's module.
const SOURCES: &[(&str, &str)] = &[
    ("go.mod", include_str!("../../extract/go.mod")),
    ("go.sum", include_str!("../../extract/go.sum")),
    ("about.go", include_str!("../../extract/about.go")),
    ("arith.go", include_str!("../../extract/arith.go")),
    ("branches.go", include_str!("../../extract/branches.go")),
    ("builtins.go", include_str!("../../extract/builtins.go")),
    ("callgraph.go", include_str!("../../extract/callgraph.go")),
    ("calls.go", include_str!("../../extract/calls.go")),
    ("code.go", include_str!("../../extract/code.go")),
    ("collections.go", include_str!("../../extract/collections.go")),
    ("comm.go", include_str!("../../extract/comm.go")),
    ("comparison.go", include_str!("../../extract/comparison.go")),
    ("compute.go", include_str!("../../extract/compute.go")),
    ("driver.go", include_str!("../../extract/driver.go")),
    ("equality.go", include_str!("../../extract/equality.go")),
    ("errors.go", include_str!("../../extract/errors.go")),
    ("flow.go", include_str!("../../extract/flow.go")),
    ("forgetting.go", include_str!("../../extract/forgetting.go")),
    ("inert.go", include_str!("../../extract/inert.go")),
    ("inits.go", include_str!("../../extract/inits.go")),
    ("join.go", include_str!("../../extract/join.go")),
    ("limits.go", include_str!("../../extract/limits.go")),
    ("linknames.go", include_str!("../../extract/linknames.go")),
    ("load.go", include_str!("../../extract/load.go")),
    ("locks.go", include_str!("../../extract/locks.go")),
    ("loops.go", include_str!("../../extract/loops.go")),
    ("lower.go", include_str!("../../extract/lower.go")),
    ("main.go", include_str!("../../extract/main.go")),
    ("maps.go", include_str!("../../extract/maps.go")),
    ("marshalling.go", include_str!("../../extract/marshalling.go")),
    ("messages.go", include_str!("../../extract/messages.go")),
    ("migo.go", include_str!("../../extract/migo.go")),
    ("models.go", include_str!("../../extract/models.go")),
    ("models_atomic.go", include_str!("../../extract/models_atomic.go")),
    ("models_cond.go", include_str!("../../extract/models_cond.go")),
    ("models_context.go", include_str!("../../extract/models_context.go")),
    ("models_coroutine.go", include_str!("../../extract/models_coroutine.go")),
    ("models_errgroup.go", include_str!("../../extract/models_errgroup.go")),
    ("models_later.go", include_str!("../../extract/models_later.go")),
    ("models_list.go", include_str!("../../extract/models_list.go")),
    ("models_map.go", include_str!("../../extract/models_map.go")),
    ("models_once.go", include_str!("../../extract/models_once.go")),
    ("models_semaphore.go", include_str!("../../extract/models_semaphore.go")),
    ("models_signal.go", include_str!("../../extract/models_signal.go")),
    ("models_std.go", include_str!("../../extract/models_std.go")),
    ("models_testing.go", include_str!("../../extract/models_testing.go")),
    ("models_time.go", include_str!("../../extract/models_time.go")),
    ("names.go", include_str!("../../extract/names.go")),
    ("natives.go", include_str!("../../extract/natives.go")),
    ("normalise.go", include_str!("../../extract/normalise.go")),
    ("outside.go", include_str!("../../extract/outside.go")),
    ("callbacks.go", include_str!("../../extract/callbacks.go")),
    ("packages.go", include_str!("../../extract/packages.go")),
    ("panics.go", include_str!("../../extract/panics.go")),
    ("printable.go", include_str!("../../extract/printable.go")),
    ("printed_values.go", include_str!("../../extract/printed_values.go")),
    ("printing.go", include_str!("../../extract/printing.go")),
    ("ranges.go", include_str!("../../extract/ranges.go")),
    ("reach.go", include_str!("../../extract/reach.go")),
    ("refusals.go", include_str!("../../extract/refusals.go")),
    ("relevance.go", include_str!("../../extract/relevance.go")),
    ("relevance_needs.go", include_str!("../../extract/relevance_needs.go")),
    ("returns.go", include_str!("../../extract/returns.go")),
    ("scanning.go", include_str!("../../extract/scanning.go")),
    ("shapes.go", include_str!("../../extract/shapes.go")),
    ("share.go", include_str!("../../extract/share.go")),
    ("silent.go", include_str!("../../extract/silent.go")),
    ("simplify.go", include_str!("../../extract/simplify.go")),
    ("skip.go", include_str!("../../extract/skip.go")),
    ("state.go", include_str!("../../extract/state.go")),
    ("step.go", include_str!("../../extract/step.go")),
    ("strays.go", include_str!("../../extract/strays.go")),
    ("tables.go", include_str!("../../extract/tables.go")),
    ("typenames.go", include_str!("../../extract/typenames.go")),
    ("unknowns.go", include_str!("../../extract/unknowns.go")),
    ("unread.go", include_str!("../../extract/unread.go")),
    ("unsafes.go", include_str!("../../extract/unsafes.go")),
    ("value.go", include_str!("../../extract/value.go")),
    ("widths.go", include_str!("../../extract/widths.go")),
    ("world.go", include_str!("../../extract/world.go")),
];

/// The most a helper may answer.
const ANSWER: usize = 1 << 30;

/// How long to wait before a lock is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// How much time there is for the helper, its build included.
pub(super) struct HelperTime {
    wall: Option<Duration>,
    started: Instant,
}

impl HelperTime {
    /// The time begins now.
    pub(super) fn start(wall: Option<Duration>) -> HelperTime {
        HelperTime { wall, started: Instant::now() }
    }

    /// What is left of it.
    fn left(&self) -> Option<Duration> {
        self.wall.map(|wall| wall.saturating_sub(self.started.elapsed()))
    }

    /// Runs a command in the time that is left. That it fails is no error, that it was ended is one.
    fn run(&self, go: &Go, spec: Spec) -> Result<Finished, Error> {
        let spec = match self.left() {
            Some(left) => spec.wall(left),
            None => spec,
        };
        let finished = go.run(spec)?;
        match (&finished.end, self.wall) {
            (End::TimedOut, Some(wall)) => Err(Error::Slow { wall }),
            (End::Stopped, _) => Err(Error::Interrupted),
            _ => Ok(finished),
        }
    }
}

/// The helper as an executable.
pub(super) fn build(go: &Go, cache: &Cache, time: &HelperTime) -> Result<PathBuf, Error> {
    let folder = cache.root().join("go-extract").join(format!("{}-{:016x}", go.version(), stamp()));
    let executable = folder.join("strait-extract");
    if executable.is_file() {
        return Ok(executable);
    }
    fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
    let _held = lock(go, &folder.join("lock"), time)?;
    // Another process may have built it meanwhile.
    if executable.is_file() {
        return Ok(executable);
    }
    for (name, source) in SOURCES {
        let path = folder.join(name);
        fs::write(&path, source).map_err(failed("write", &path))?;
    }
    let half = folder.join("strait-extract.new");
    let arguments = ["build", "-mod=readonly", "-o"].map(std::ffi::OsString::from);
    let arguments = arguments.into_iter().chain([half.clone().into(), ".".into()]);
    let spec = go.spec(arguments).directory(&folder);
    // The user's flags and workspaces are about the user's modules, not about this one.
    let spec = spec.variable("GOFLAGS", "").variable("GOWORK", "off");
    let finished = time.run(go, spec)?;
    if !finished.end.is_success() {
        return Err(Error::HelperBuild { said: finished.stderr.last_lines(5), folder });
    }
    fs::rename(&half, &executable).map_err(failed("rename", &half))?;
    Ok(executable)
}

/// Asks the helper; its answer is JSON.
pub(super) fn ask(
    go: &Go,
    helper: &Path,
    options: &ExtractOptions,
    time: &HelperTime,
) -> Result<String, Error> {
    let mut arguments = Vec::new();
    for entry in &options.entries {
        arguments.extend(["-entry".to_owned(), entry.clone()]);
    }
    if options.without_tests {
        arguments.push("-no-tests".to_owned());
    }
    if !options.tags.is_empty() {
        arguments.extend(["-tags".to_owned(), options.tags.join(",")]);
    }
    arguments.push("--".to_owned());
    arguments.extend(options.packages.iter().cloned());
    let finished = time.run(go, go.program(helper).arguments(arguments).keep(ANSWER))?;
    if !finished.end.is_success() {
        let what = format!("it ends badly: {}", finished.stderr.last_lines(8));
        return Err(Error::Helper { what });
    }
    Ok(finished.stdout.text())
}

/// A number that changes when the sources do.
fn stamp() -> u64 {
    let mut hasher = DefaultHasher::new();
    SOURCES.hash(&mut hasher);
    hasher.finish()
}

/// Waits until no other process builds here. Released when the file is dropped.
fn lock(go: &Go, path: &Path, time: &HelperTime) -> Result<File, Error> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(failed("open", path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(failed("lock", path)(source)),
        }
        match (go.is_cancelled(), time.left(), time.wall) {
            (true, ..) => return Err(Error::Interrupted),
            (_, Some(Duration::ZERO), Some(wall)) => return Err(Error::Slow { wall }),
            _ => thread::sleep(BETWEEN_TRIES),
        }
    }
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Cache { action, path: path.clone(), source }
}
