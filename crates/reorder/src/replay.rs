//! A finding run again: the one test, with the recorded order and seed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use strait_findings::{Finding, Replay};
use strait_golang::{Request as RunRequest, TestBinary};
use strait_toolchain::{Cache, Launcher};

use crate::class::{Assessment, FindingClass};
use crate::discover::{causes, slow_places};
use crate::error::Error;
use crate::judge::{Certainty, Rules, Suspicion, judge};
use crate::order::Order;
use crate::plan::Plan;
use crate::prepare::{Prepared, Request, prepare};
use crate::selects::Selects;
use crate::sources::{Permitted, is_import_path};

/// Is this a finding of this crate's?
pub fn is_go(finding: &Finding) -> bool {
    finding.details.get("language").and_then(Value::as_str) == Some("go")
}

/// A finding, with what its test needs to run again.
#[derive(Debug)]
pub struct Exhibit {
    /// The finding.
    pub finding: Finding,
    /// The test.
    pub test: String,
    prepared: Prepared,
    binary: TestBinary,
    plan: Plan,
    limit: Duration,
    selects: Selects,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// How often it happened.
    pub failed: u64,
    /// Of how many runs.
    pub runs: u64,
    /// What it looked like, the first time.
    pub suspicion: Option<Suspicion>,
}

impl Exhibit {
    /// Reads a finding and compiles its tests, in a module that the user permits.
    pub fn open(
        folder: &Path,
        permitted: &Permitted<'_>,
        launcher: &Launcher,
        cache: &Cache,
        stop: &Arc<AtomicBool>,
        tell: &mut dyn FnMut(String),
    ) -> Result<Self, Error> {
        let replay = Replay::read(folder)?;
        let finding = replay.finding;
        let missing = |what: &str| Error::NotAGoFinding {
            path: folder.to_owned(),
            reason: format!("it has no {what}"),
        };
        let detail = |name: &str| finding.details.get(name).cloned().unwrap_or_default();
        let text = |name: &str| detail(name).as_str().map(ToOwned::to_owned);
        let package = text("package").filter(|path| is_import_path(path));
        let package = package.ok_or_else(|| missing("package with an import path"))?;
        let test = text("test").ok_or_else(|| missing("test"))?;
        let schedule = replay.schedule.ok_or_else(|| missing("schedule.json"))?;
        let plan = plan(&schedule).ok_or_else(|| missing("plan in schedule.json"))?;
        let virtual_time = detail("virtual_time").as_bool().unwrap_or_default();
        let recorded = text("directory").map(std::path::PathBuf::from);
        let directory = permitted.choose(folder, recorded.as_deref())?;
        let request = Request {
            directory,
            patterns: vec![package.clone()],
            run: Some("^$".to_owned()),
            race: detail("race").as_bool().unwrap_or_default(),
            virtual_time,
            tags: text("tags"),
        };
        let prepared = prepare(&request, launcher, cache, stop, tell)?;
        let binary = prepared.binary_of(&package, virtual_time)?;
        let limit = Duration::from_millis(detail("limit_ms").as_u64().unwrap_or(10_000));
        let selects = Selects::new(prepared.overlay.root(&prepared.go), &prepared.base);
        Ok(Exhibit { finding, test, prepared, binary, plan, limit, selects })
    }

    /// Runs the test with the recorded plan, `tries` times or until time is up.
    pub fn run(&self, tries: u64, time: Duration, stop: &AtomicBool) -> Result<Again, Error> {
        let assessment = Assessment::of(&self.finding.details);
        let class = assessment.map_or(FindingClass::Panic, |assessment| assessment.class);
        let kind = self.finding.kind.clone();
        let mut expected = Suspicion::new(kind, class, Certainty::Certain, String::new());
        expected.causes = causes(&self.finding.details).map(ToOwned::to_owned).collect();
        let lifecycle = assessment.is_some_and(|assessment| assessment.lifecycle);
        let rules = Rules { lifecycle, ..Rules::default() };
        let file = self.prepared.shared_file(0);
        let deadline = Instant::now() + time;
        let mut again = Again::default();
        // A finding from elsewhere may ask for any limit.
        let limit = self.limit.min(time);
        let wishes = self.plan.wishes(self.binary.virtual_time, limit, true);
        while again.runs < tries && Instant::now() < deadline && !stop.load(Ordering::SeqCst) {
            let processors = self.plan.processors;
            let request =
                RunRequest { test: &self.test, wishes: &wishes, verbose: false, processors };
            let run = self.binary.run(&self.prepared.go, &request, &file)?;
            again.runs += 1;
            let seen = judge(&run, &self.selects, &rules).into_iter().find(|one| {
                let counts = one.certainty > Certainty::Sensitive;
                (counts || class == FindingClass::DependsOnTime) && one.is_same(&expected)
            });
            again.failed += u64::from(seen.is_some());
            again.suspicion = again.suspicion.or(seen);
        }
        // It may never have been made.
        let _ = std::fs::remove_file(&file);
        Ok(again)
    }
}

fn plan(schedule: &Value) -> Option<Plan> {
    let number = |name: &str| schedule.get(name).and_then(Value::as_u64);
    Some(Plan {
        seed: number("seed")?,
        rate: u32::try_from(number("rate")?).ok()?,
        sited: schedule.get("sited").and_then(Value::as_bool).unwrap_or_default(),
        order: Order::from_json(schedule.get("order")?)?,
        patience: number("patience").and_then(|patience| u32::try_from(patience).ok())?,
        processors: number("processors").and_then(|count| u32::try_from(count.min(1024)).ok()),
        nap: number("nap_us").map(Duration::from_micros),
        slow: slow_places(schedule.get("slow")),
    })
}
