//! One run of one test: wishes go in, how it ended, what it wrote and what happened inside come out.
//! When a run returns, nothing that the test started is left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use strait_toolchain::{End, Finished, Spec};

use crate::error::Error;
use crate::go::Go;
use crate::overlay::{Trace, Wishes, read_shared, read_trace, write_wishes};

/// What is kept of each end of an output.
const KEEP: usize = 128 * 1024;
/// The same, if all tests of a package print.
const KEEP_ALL: usize = 64 << 20;
/// Beyond its own limit a run gets this long to write down its goroutines.
const GRACE: Duration = Duration::from_secs(5);
/// To list tests, the package's own initialisation included.
const LISTING: Duration = Duration::from_secs(60);

/// A compiled test package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestBinary {
    /// The binary.
    pub path: PathBuf,
    /// Where its tests run.
    pub directory: PathBuf,
    /// Has it the race detector?
    pub race: bool,
    /// Has it the virtual clock?
    pub virtual_time: bool,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The name of a test, `TestX` or `TestX/sub`.
    pub test: &'a str,
    /// What is wished for.
    pub wishes: &'a Wishes,
    /// Print the names of tests as they run.
    pub verbose: bool,
    /// GOMAXPROCS, if not that of the machine.
    pub processors: Option<u32>,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended, what it wrote, what it used.
    pub finished: Finished,
    /// What the hooks wrote down.
    pub trace: Trace,
}

impl TestBinary {
    /// The names of its tests, examples and fuzz targets.
    /// Only those that the pattern matches, a regular expression of Go.
    pub fn tests(&self, go: &Go, pattern: &str) -> Result<Result<Vec<String>, String>, Error> {
        let spec = Spec::new(&self.path)
            .arguments([format!("-test.list={pattern}")])
            .directory(&self.directory)
            .keep(16 << 20)
            .wall(LISTING);
        let finished = go.run_cancellable(go.with_module(spec))?;
        if !finished.end.is_success() {
            let said = finished.stderr.last_lines(3);
            return Ok(Err(format!("its tests cannot be listed, {}: {said}", finished.end)));
        }
        let known = ["Test", "Example", "Fuzz"];
        let text = finished.stdout.text();
        let names = text.lines().filter(|line| known.iter().any(|known| line.starts_with(known)));
        Ok(Ok(names.map(ToOwned::to_owned).collect()))
    }

    /// Runs one test. `file` is where the shared file is made, one for each run at a time.
    pub fn run(&self, go: &Go, request: &Request<'_>, file: &Path) -> Result<Run, Error> {
        let mut spec = Spec::new(&self.path)
            .arguments([format!("-test.run={}", pattern(request.test))])
            .arguments(["-test.timeout=0"])
            .keep(KEEP);
        if request.verbose {
            spec = spec.arguments(["-test.v=true"]);
        }
        if let Some(processors) = request.processors {
            spec = spec.variable("GOMAXPROCS", processors.to_string());
        }
        if self.virtual_time {
            // Rule R2 looks at channels of timers, which modules with an old go line do not have.
            let debug = std::env::var("GODEBUG").unwrap_or_default();
            let comma = if debug.is_empty() { "" } else { "," };
            spec = spec.variable("GODEBUG", format!("{debug}{comma}asynctimerchan=0"));
        }
        self.run_spec(go, spec, request.wishes, file)
    }

    /// Runs the binary with arguments of the caller's choice.
    pub fn run_with(
        &self,
        go: &Go,
        arguments: &[String],
        wishes: &Wishes,
        file: &Path,
    ) -> Result<Run, Error> {
        let spec = Spec::new(&self.path).arguments(arguments).keep(KEEP_ALL);
        self.run_spec(go, spec, wishes, file)
    }

    fn run_spec(&self, go: &Go, spec: Spec, wishes: &Wishes, file: &Path) -> Result<Run, Error> {
        write_wishes(file, wishes)?;
        let spec = spec
            .directory(&self.directory)
            .variable("STRAIT_MAP", file)
            .writable(file)
            .wall(wishes.limit + GRACE)
            .grace(Duration::from_millis(100));
        // The hooks see to it, where the system has a way.
        let spec = if cfg!(target_os = "linux") { spec.ends_with_parent() } else { spec };
        let finished = go.run_cancellable(go.with_module(spec))?;
        Ok(Run { trace: read_trace(&read_shared(file)?), finished })
    }
}

impl Run {
    /// Did the test pass, as far as `go test` can see?
    pub fn passed(&self) -> bool {
        self.finished.end.is_success()
    }

    /// Was it ended from outside?
    pub fn was_killed(&self) -> bool {
        matches!(self.finished.end, End::TimedOut | End::Stopped)
    }
}

/// The pattern that matches this test alone.
fn pattern(test: &str) -> String {
    let parts = test.split('/').map(|part| format!("^{}$", quote(part)));
    parts.collect::<Vec<_>>().join("/")
}

fn quote(text: &str) -> String {
    let mut quoted = String::new();
    for char in text.chars() {
        if r"\.+*?()|[]{}^$".contains(char) {
            quoted.push('\\');
        }
        quoted.push(char);
    }
    quoted
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn patterns_match_one_test() {
        for (test, expected) in [
            ("TestA", "^TestA$"),
            ("TestA/b_c", "^TestA$/^b_c$"),
            ("TestA/x(1)+", r"^TestA$/^x\(1\)\+$"),
        ] {
            assert_eq!(pattern(test), expected);
        }
    }
}
