//! Predicted faults looked for in real runs. Comes in: a test, or a `main` that is run as one, and
//! what is said to be wrong with it: who waits or panics where, and which cases of selects lead
//! there. Goes out: in how many of how many runs each was seen. That it was not seen proves nothing.
//!
//! Two searches take turns: runs that follow the predicted cases, and the search of `go fuzz` with its
//! feedback, clocks and undisturbed runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use strait_findings::Kind;
use strait_golang::{
    Build, Built, Go, Overlay, Request as RunRequest, Run, Select, Step, TestBinary, compile,
    packages,
};
use strait_toolchain::{Cache, Launcher, Scratch};

use crate::error::Error;
use crate::judge::{Certainty, Rules, judge};
use crate::order::Order;
use crate::plan::{Plan, Switches};
use crate::selects::Selects;
use crate::state::{Job, Progress};
use crate::subject::{Clock, Subject, TestPackage};

/// The test that calls `main`, as go test sees it.
const MAIN_TEST: &str = "TestStraitMain";
/// The flags of the test binary are not the program's.
const MAIN_SOURCE: &str = "package main\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n\
    func TestStraitMain(t *testing.T) {\n\tos.Args = os.Args[:1]\n\tmain()\n}\n";
const MAIN_FILE: &str = "strait_main_test.go";
/// What one run may take.
const LIMIT: Duration = Duration::from_secs(3);
/// The seed of the search.
const SEED: u64 = 1;
/// Everything has been seen often enough after so many times.
const ENOUGH: u64 = 2;

/// Where to look.
#[derive(Clone, Debug)]
pub struct Place {
    /// A folder of the module.
    pub directory: PathBuf,
    /// The import path of the package.
    pub package: String,
    /// Is it `main` that is to be run?
    pub main: bool,
    /// Build tags.
    pub tags: Option<String>,
}

/// A line of a file.
pub type Line = (PathBuf, u32);

/// What is expected to be seen.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// Does the program panic there, or does a goroutine wait there forever?
    pub panics: bool,
    /// Where; one of them is enough.
    pub at: Vec<Line>,
    /// The lines of the cases that selects take on the way, in order.
    pub cases: Vec<Line>,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sightings {
    /// How often each prediction came true.
    pub seen: Vec<u64>,
    /// Of how many runs.
    pub runs: u64,
}

/// A package that is ready to be looked at.
#[derive(Debug)]
pub struct Witness {
    go: Go,
    overlay: Overlay,
    tests: Arc<TestPackage>,
    selects: Selects,
    base: PathBuf,
    folder: Scratch,
}

impl Witness {
    /// Compiles the tests of the package, or a test that calls its `main`.
    pub fn open(
        place: &Place,
        launcher: &Launcher,
        cache: &Cache,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let go = Go::find(launcher, &place.directory)?.cancelled_by(Arc::clone(stop));
        let base = absolute(go.module().unwrap_or(&place.directory));
        let fast = Build { race: false, virtual_time: true, tags: place.tags.clone() };
        let listed = packages(&go, &fast, std::slice::from_ref(&place.package))?;
        let found = listed.into_iter().find(|one| one.problem.is_none());
        let package = found.ok_or_else(|| Error::NoSources(place.package.clone()))?;
        let folder = Scratch::new("go").map_err(Error::Folder)?;
        let mut overlay = Overlay::prepare(&go, cache)?;
        if place.main {
            let file = package.directory.join(MAIN_FILE);
            overlay = overlay.with_file(&file, MAIN_SOURCE, folder.path())?;
        }
        let real = Build { virtual_time: false, ..fast.clone() };
        let wanted = fast.clone();
        let mut refused = "there are no tests".to_owned();
        let mut binary = None;
        for build in [fast, real] {
            match compile(&go, &overlay, &package, &build, folder.path())? {
                Built::Binary(built) => binary = Some(built),
                Built::Empty => {}
                Built::Refused(said) => refused = said,
            }
            if binary.is_some() {
                break;
            }
        }
        let Some(binary) = binary else {
            let package = place.package.clone();
            return Err(Error::DoesNotCompile { package, said: refused });
        };
        let (fast, real) = match binary.virtual_time {
            true => (Some(binary), None),
            false => (None, Some(binary)),
        };
        let selects = Selects::new(overlay.root(&go), &base);
        let tests = TestPackage::new(package, fast, real, wanted, folder.path().to_owned());
        Ok(Witness { go, overlay, tests: Arc::new(tests), selects, base, folder })
    }

    /// Runs a test of the package, or its `main`, until everything has been seen, or so many times,
    /// or until time is up.
    pub fn look_for(
        &self,
        test: Option<&str>,
        predictions: &[Prediction],
        tries: u64,
        time: Duration,
        stop: &AtomicBool,
    ) -> Result<Sightings, Error> {
        let files = predictions.iter().flat_map(|one| &one.cases).map(|(file, _)| file.clone());
        let mut files: Vec<PathBuf> = files.collect();
        files.sort();
        files.dedup();
        let selects = self.overlay.selects(&self.go, &files)?;
        let orders: Vec<Order> =
            predictions.iter().map(|one| order(&one.cases, &selects)).collect();
        let mut sightings = Sightings { seen: vec![0; predictions.len()], runs: 0 };
        let deadline = Instant::now() + time;
        let file = self.folder.path().join("map");
        let test = test.unwrap_or(MAIN_TEST).to_owned();
        let subject = Subject { tests: Arc::clone(&self.tests), test, subtest: 0 };
        let mut search = Progress::new(subject);
        for number in 0.. {
            let over = Instant::now() >= deadline || stop.load(Ordering::SeqCst);
            if sightings.runs >= tries || over {
                break;
            }
            let searched = number % 2 == 0;
            let next = if searched { search.next(SEED, Switches::default()) } else { None };
            let job = next.unwrap_or_else(|| self.directed(number / 2, &orders));
            let Some(run) = self.run(&search.subject.test, &job, &file)? else { break };
            if searched {
                let judged = predictions.iter().any(|one| self.came_true(one, &run));
                search.learn(&job, &run, judged);
            }
            sightings.runs += 1;
            for (prediction, seen) in predictions.iter().zip(&mut sightings.seen) {
                *seen += u64::from(self.came_true(prediction, &run));
            }
            if sightings.seen.iter().all(|seen| *seen >= ENOUGH) {
                break;
            }
        }
        Ok(sightings)
    }

    /// A run that follows the predicted cases.
    fn directed(&self, number: u64, orders: &[Order]) -> Job {
        let clock = if self.tests.fast.is_some() { Clock::Virtual } else { Clock::Real };
        Job { number, plan: plan(number, orders), clock, limit: LIMIT }
    }

    /// Makes a run; `None` if there is no binary for its clock.
    fn run(&self, test: &str, job: &Job, file: &Path) -> Result<Option<Run>, Error> {
        let binary: Option<TestBinary> = match (job.clock, &self.tests.fast) {
            (Clock::Virtual, Some(binary)) => Some(binary.clone()),
            _ => self.tests.real(&self.go, &self.overlay)?.ok(),
        };
        let Some(binary) = binary else { return Ok(None) };
        let wishes = job.plan.wishes(binary.virtual_time, job.limit, true);
        let processors = job.plan.processors;
        let request = RunRequest { test, wishes: &wishes, verbose: false, processors };
        Ok(Some(binary.run(&self.go, &request, file)?))
    }

    fn came_true(&self, prediction: &Prediction, run: &Run) -> bool {
        let expected = |shown: &str| {
            let (file, line) = shown.rsplit_once(':').unwrap_or((shown, ""));
            let file = absolute(&self.base.join(file));
            prediction.at.iter().any(|(path, number)| *path == file && number.to_string() == line)
        };
        judge(run, &self.selects, &Rules::default()).iter().any(|suspicion| {
            let wanted = match prediction.panics {
                true => suspicion.kind == Kind::PANIC,
                false => suspicion.kind == Kind::BLOCKING || suspicion.kind == Kind::TIMEOUT,
            };
            // A goroutine may wait inside a package that was called at the line in question.
            let within = run.trace.goroutines.iter().any(|goroutine| {
                let place = self.selects.place(goroutine).map(|site| self.selects.show(site));
                let suspected = place.is_some_and(|place| suspicion.locations.contains(&place));
                suspected && goroutine.frames.iter().any(|site| expected(&self.selects.show(site)))
            });
            let there = suspicion.locations.iter().any(|location| expected(location));
            let counts = suspicion.certainty > Certainty::Sensitive;
            wanted && counts && (there || !prediction.panics && within)
        })
    }
}

/// The same file has one path.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The runs take turns: the order alone, with yields here and there, with slow places; on one
/// processor now and then.
fn plan(number: u64, orders: &[Order]) -> Plan {
    const ARMS: [(u32, bool, bool); 8] = [
        (0, false, true),
        (256, false, true),
        (256, true, true),
        (512, false, true),
        (512, true, true),
        (0, false, false),
        (384, true, false),
        (128, false, true),
    ];
    let (rate, sited, ordered) = ARMS[(number % ARMS.len() as u64) as usize];
    let order = match orders.is_empty() || !ordered {
        true => Order::default(),
        false => orders[(number as usize / 2) % orders.len()].clone(),
    };
    let processors = (number % 3 == 2).then_some(1);
    let plain = Plan::plain(number + 1);
    Plan { rate, sited, order, patience: 1, processors, ..plain }
}

/// The preferences that make selects take these cases. What is not clear is left free: two cases on
/// one line, a default.
fn order(cases: &[Line], selects: &[Select]) -> Order {
    let steps = cases.iter().filter_map(|(file, line)| {
        let around = selects.iter().filter(|select| {
            Path::new(&select.file) == file && select.cases.iter().any(|case| case.line == *line)
        });
        let select = around.max_by_key(|select| select.line)?;
        let mut at = select.cases.iter().enumerate().filter(|(_, case)| case.line == *line);
        let (position, case) = at.next().filter(|(_, case)| case.kind != "default")?;
        let alone = at.next().is_none() && !case.kind.is_empty();
        let count = u16::try_from(select.cases.len()).ok()?;
        let chosen = (0..count).find(|number| select.in_source(Some(*number)) == Some(position))?;
        alone.then(|| Step { site: site(file, select.line), cases: count, chosen })
    });
    Order(steps.collect())
}

/// What the hooks know a line by if all that is known of it is its file: FNV-1a over path and line.
fn site(file: &Path, line: u32) -> u64 {
    let step = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    let bytes = file.as_os_str().as_encoded_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| step(hash, u64::from(*byte)));
    step(hash, u64::from(line))
}

#[cfg(test)]
mod tests {
    use strait_golang::Case;

    use super::*;

    fn select(line: u32, cases: &[(&str, u32)]) -> Select {
        let case = |(kind, line): &(&str, u32)| Case {
            kind: (*kind).to_owned(),
            line: *line,
            text: String::new(),
        };
        Select { file: "/m/a.go".to_owned(), line, cases: cases.iter().map(case).collect() }
    }

    #[test]
    fn lines_of_cases_become_preferences() {
        let selects = [
            select(10, &[("receive", 11), ("send", 12), ("default", 13)]),
            select(20, &[("receive", 20), ("receive", 20)]),
        ];
        let at = |line| (PathBuf::from("/m/a.go"), line);
        let order = order(&[at(12), at(11), at(13), at(20), at(99)], &selects);
        let steps: Vec<(u16, u16)> = order.0.iter().map(|step| (step.cases, step.chosen)).collect();
        // Sends are counted first; the default, an unclear line and an unknown one are left free.
        assert_eq!(steps, [(3, 0), (3, 1)]);
        assert_eq!(order.0[0].site, site(Path::new("/m/a.go"), 10));
    }
}
