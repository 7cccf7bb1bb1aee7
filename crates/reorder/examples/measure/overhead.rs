//! What a run under the hooks costs, compared with a plain run of the same tests in the same minutes:
//! packages of the standard library as a whole, and a test of a millisecond in a process of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use strait_golang::{
    Build, Built, Go, Overlay, Package, Request, TestBinary, Wishes, compile, packages,
};
use strait_toolchain::{Cache, Launcher, Scratch, Spec};

use crate::campaign::Outcome;

const PACKAGES: [&str; 3] = ["encoding/json", "go/printer", "net/http/httputil"];
/// How long the tests of one package may take.
const LIMIT: Duration = Duration::from_secs(300);
/// Processes per round of the small test.
const PROCESSES: u32 = 100;

/// It computes for about a millisecond, by whatever clock. Each step needs the one before, so that it takes
/// the same time wherever the linker puts the loop.
const SMALL: &str = "package small

import \"testing\"

var sum int

func TestSmall(t *testing.T) {
	done := make(chan int)
	go func() {
		own := 0
		for i := range 750000 {
			own = own*31 + i
		}
		done <- own
	}()
	sum = <-done
}
";

/// Prints the ratios.
pub fn report(rounds: u64) -> Outcome<()> {
    let launcher = Launcher::this_program()?;
    let folder = Scratch::new("overhead")?;
    let go = Go::find(&launcher, folder.path())?;
    let overlay = Overlay::prepare(&go, &Cache::find()?)?;
    let chosen = PACKAGES.map(str::to_owned);
    for package in packages(&go, &Build::default(), &chosen)? {
        whole_package(&go, &overlay, &package, folder.path(), rounds)?;
    }
    small_test(&launcher, folder.path(), rounds)
}

/// Processor time of all tests of a package.
fn whole_package(
    go: &Go,
    overlay: &Overlay,
    package: &Package,
    folder: &Path,
    rounds: u64,
) -> Outcome<()> {
    let plain = plain_binary(go, &package.path, folder)?;
    let hooked = hooked_binary(go, overlay, package, &Build::default(), folder)?;
    let arguments = ["-test.short=true", "-test.timeout=0"].map(str::to_owned);
    let map = folder.join("map");
    let (mut before, mut idle, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let spec = |binary: &Path| {
            Spec::new(binary).arguments(&arguments).directory(&package.directory).wall(LIMIT)
        };
        before.push(cpu(go.run_cancellable(spec(&plain))?.cpu));
        idle.push(cpu(go.run_cancellable(spec(&hooked.path))?.cpu));
        let wishes = Wishes { limit: LIMIT, ..Wishes::default() };
        after.push(cpu(hooked.run_with(go, &arguments, &wishes, &map)?.finished.cpu));
    }
    let (before, idle, after) = (median(before), median(idle), median(after));
    println!(
        "{}: {before:.2} CPU-seconds plain; overlay idle {:.2} times, hooks and judgement {:.2} times",
        package.path,
        idle / before,
        after / before
    );
    Ok(())
}

/// A process for each run of a test of a millisecond, started by a shell and by Strait.
fn small_test(launcher: &Launcher, folder: &Path, rounds: u64) -> Outcome<()> {
    let module = folder.join("small");
    std::fs::create_dir_all(&module)?;
    std::fs::write(module.join("go.mod"), "module example.com/small\n\ngo 1.24\n")?;
    std::fs::write(module.join("small_test.go"), SMALL)?;
    let go = Go::find(launcher, &module)?;
    let overlay = Overlay::prepare(&go, &Cache::find()?)?;
    let listed = packages(&go, &Build::default(), &["./...".to_owned()])?;
    let plain = plain_binary(&go, "example.com/small", folder)?;
    let wishes = Wishes::default();
    let request = Request { test: "TestSmall", wishes: &wishes, verbose: false, processors: None };
    let map = folder.join("map");
    for virtual_time in [false, true] {
        let build = Build { virtual_time, ..Build::default() };
        let hooked = hooked_binary(&go, &overlay, &listed[0], &build, folder)?;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let script = format!(
                "for i in $(seq {PROCESSES}); do {} -test.run='^TestSmall$' -test.timeout=0 || exit 1; done",
                plain.display()
            );
            let spec = Spec::new("sh").arguments(["-c", &script]).directory(&module).wall(LIMIT);
            let finished = go.run_cancellable(spec)?;
            if !finished.end.is_success() {
                return Err(format!("the plain test fails: {}", finished.stderr.text()).into());
            }
            before.push((finished.wall.as_secs_f64(), cpu(finished.cpu)));
            // A launcher per round: what its supervisor has used counts when the supervisor has ended.
            let launcher = Launcher::this_program()?;
            let own = Go::find(&launcher, &module)?;
            let (begun, used) = (Instant::now(), used()?);
            for _ in 0..PROCESSES {
                hooked.run(&own, &request, &map)?;
            }
            let wall = begun.elapsed().as_secs_f64();
            drop((own, launcher));
            after.push((wall, self::used()? - used));
        }
        let of = |all: &[(f64, f64)], cpu: bool| {
            let values = all.iter().map(|one| if cpu { one.1 } else { one.0 });
            median(values.collect()) / f64::from(PROCESSES) * 1e3
        };
        let clock = if virtual_time { "virtual" } else { "real" };
        for (what, is_cpu) in [("wall", false), ("CPU", true)] {
            let (one, other) = (of(&before, is_cpu), of(&after, is_cpu));
            println!(
                "a test of 1 ms, {clock} clock: {one:.2} ms {what} in a plain process, {other:.2} ms \
                 under Strait, {:.2} times",
                other / one
            );
        }
    }
    Ok(())
}

fn plain_binary(go: &Go, package: &str, folder: &Path) -> Outcome<std::path::PathBuf> {
    let binary = folder.join("plain.test");
    let spec = go.spec(["test", "-c", "-o"]).arguments([&binary]).arguments([package]);
    let built = go.run(spec.wall(LIMIT))?;
    match built.end.is_success() {
        true => Ok(binary),
        false => Err(built.stderr.text().into()),
    }
}

fn hooked_binary(
    go: &Go,
    overlay: &Overlay,
    package: &Package,
    build: &Build,
    folder: &Path,
) -> Outcome<TestBinary> {
    match compile(go, overlay, package, build, folder)? {
        Built::Binary(binary) => Ok(binary),
        Built::Empty => Err("there are no tests".into()),
        Built::Refused(said) => Err(said.into()),
    }
}

fn cpu(time: Option<Duration>) -> f64 {
    time.unwrap_or_default().as_secs_f64()
}

/// Processor seconds of this process and of all that it has waited for.
fn used() -> Outcome<f64> {
    /// The unit of the file, on Linux.
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: f64 = fields[11..15].iter().filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
