//! The standard library's own tests, run once by plain Go and once under the overlay with yields.
//! Packages come in, every test whose result differs goes out, with its explanation if one is known:
//! `cargo xtask go-standard-tests [PACKAGE…]`. A crash or a hang under the overlay, and a difference
//! without an explanation, make the command fail.
//!
//! `STRAIT_SEED` chooses the yields (1 by default) and `STRAIT_RATE` how many of 1024 operations yield
//! (64 by default).
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use strait_golang::{Build, Built, Error, Go, Overlay, Package, Wishes, compile, packages};
use strait_toolchain::{Cache, End, Entry, Finished, Launcher, Scratch, Spec, entry};

const PACKAGES: [&str; 7] = ["runtime", "sync", "time", "net", "net/http", "os/exec", "context"];
/// How long the tests of one package may take.
const LIMIT: Duration = Duration::from_secs(1200);
const KEEP: usize = 64 << 20;

/// Differences that are known: package, beginning of the test's name, explanation.
const EXPLAINED: &[(&str, &str, &str)] =
    &[("runtime", "TestSizeof", "the overlay adds a field to the type of goroutines")];

/// The result of a test, as `-test.v` prints it: `PASS`, `FAIL`, `SKIP`.
type Results = BTreeMap<String, String>;

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    let mut chosen: Vec<String> = std::env::args().skip(1).collect();
    if chosen.is_empty() {
        chosen = PACKAGES.iter().map(ToString::to_string).collect();
    }
    match compare_all(&chosen) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(unexplained) => {
            eprintln!("{unexplained} differences have no explanation");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Compares the packages and counts differences without an explanation.
fn compare_all(chosen: &[String]) -> Result<usize, Box<dyn std::error::Error>> {
    let launcher = Launcher::this_program()?;
    let folder = Scratch::new("standard")?;
    let go = Go::find(&launcher, folder.path())?;
    let overlay = Overlay::prepare(&go, &Cache::find()?)?;
    let mut unexplained = 0;
    for package in packages(&go, &Build::default(), chosen)? {
        unexplained += compare(&go, &overlay, &package, folder.path())?;
    }
    Ok(unexplained)
}

fn compare(go: &Go, overlay: &Overlay, package: &Package, folder: &Path) -> Result<usize, Error> {
    let plain = run_plain(go, package, folder)?;
    let Some(hooked) = run_hooked(go, overlay, package, folder)? else {
        println!("{}: the tests do not compile with the overlay", package.path);
        return Ok(1);
    };
    let (before, after) = (results(&plain), results(&hooked));
    println!(
        "{}: {} tests, {} without the overlay and {} with it; {:.1} s and {:.1} s",
        package.path,
        before.len(),
        plain.end,
        hooked.end,
        plain.wall.as_secs_f64(),
        hooked.wall.as_secs_f64()
    );
    let mut unexplained = 0;
    for (test, result) in &before {
        let other = after.get(test).map_or("no result", String::as_str);
        if result == other {
            continue;
        }
        let explanation = explanation(&package.path, test);
        unexplained += usize::from(explanation.is_none());
        println!(
            "  {test}: {result}, {other} with the overlay; {}",
            explanation.unwrap_or("unexplained")
        );
    }
    let ended = |finished: &Finished| matches!(finished.end, End::Exited(0 | 1));
    if ended(&plain) && !ended(&hooked) {
        println!(
            "  the run with the overlay did not end as it should:\n{}",
            hooked.stderr.last_lines(30)
        );
        unexplained += 1;
    }
    Ok(unexplained)
}

fn explanation(package: &str, test: &str) -> Option<&'static str> {
    let known = EXPLAINED.iter().find(|(of, name, _)| *of == package && test.starts_with(name));
    known.map(|(_, _, explanation)| *explanation)
}

fn arguments() -> Vec<String> {
    let all = ["-test.v=true", "-test.short=true", "-test.timeout=0"];
    all.iter().map(ToString::to_string).collect()
}

fn run_plain(go: &Go, package: &Package, folder: &Path) -> Result<Finished, Error> {
    let binary = folder.join("plain.test");
    let build = go.spec(["test", "-c", "-o"]).arguments([&binary]).arguments([&package.path]);
    let built = go.run(build.wall(LIMIT))?;
    if !built.end.is_success() {
        return Err(go.failure("test -c", &built));
    }
    let spec = Spec::new(&binary).arguments(arguments()).directory(&package.directory);
    go.run_cancellable(spec.keep(KEEP).wall(LIMIT))
}

/// `None` if the tests do not compile.
fn run_hooked(
    go: &Go,
    overlay: &Overlay,
    package: &Package,
    folder: &Path,
) -> Result<Option<Finished>, Error> {
    let binary = match compile(go, overlay, package, &Build::default(), folder)? {
        Built::Binary(binary) => binary,
        Built::Empty => return Ok(None),
        Built::Refused(said) => {
            println!("{said}");
            return Ok(None);
        }
    };
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let wishes = Wishes {
        seed: number("STRAIT_SEED", 1),
        rate: u32::try_from(number("STRAIT_RATE", 64)).unwrap_or(64),
        sanitize: false,
        limit: LIMIT,
        ..Wishes::default()
    };
    let run = binary.run_with(go, &arguments(), &wishes, &folder.join("map"))?;
    Ok(Some(run.finished))
}

/// Tests with their results, subtests left out.
fn results(finished: &Finished) -> Results {
    let text = finished.stdout.text();
    let lines = text.lines().filter_map(|line| {
        let (result, rest) = line.strip_prefix("--- ")?.split_once(": ")?;
        Some((rest.split_whitespace().next()?.to_owned(), result.to_owned()))
    });
    lines.collect()
}
