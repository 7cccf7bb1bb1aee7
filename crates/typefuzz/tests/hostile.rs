//! Compilers that hang, eat memory, fill the disk or do not stop talking: each is stopped, the program
//! at fault is found among those that are compiled with it, and the others get their verdicts.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use strait_findings::{Discovery, Kind, Recorded, Store};
use strait_queue::Shard;
use strait_toolchain::Launcher;
use strait_typefuzz::{
    Campaign, Counters, Fuzzer, Mode, Oracle, Recipe, Verdict, find_within, judge_all,
};

const SUBJECT: &str = env!("CARGO_BIN_EXE_strait-typefuzz-subject");

fn oracle(wall: Duration) -> Box<dyn Oracle> {
    let stop = Arc::new(AtomicBool::new(false));
    find_within(SUBJECT, &Launcher::of(SUBJECT), &stop, wall).expect("the stand-in runs")
}

/// The word for each verdict, crashes by how they are.
fn words(wall: Duration, programs: &[&str]) -> Vec<String> {
    let verdicts = judge_all(oracle(wall).as_ref(), programs).expect("all are judged");
    verdicts.iter().map(Verdict::word).collect()
}

/// Processes with this in their command line.
fn running(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

#[test]
fn one_that_hangs_is_ended_with_all_that_it_started() {
    let mark = format!("86400{}", std::process::id());
    let hanging = format!("fn hangs_{mark}() {{}}");
    let programs = ["fn a() {}", &hanging, "fn rejected() {}", "fn b() {}"];
    assert_eq!(
        words(Duration::from_secs(8), &programs),
        ["accepts", "crashes (hangs)", "rejects (E0308)", "accepts"]
    );
    let begun = Instant::now();
    while running(&mark) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "something still sleeps");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn one_that_eats_memory_is_stopped() {
    let programs = ["fn a() {}", "fn hungry() {}", "fn rejected() {}"];
    assert_eq!(
        words(Duration::from_secs(60), &programs),
        ["accepts", "crashes (needs more than 6 GiB of memory)", "rejects (E0308)"]
    );
}

#[test]
fn one_that_writes_too_much_is_stopped() {
    let programs = ["fn a() {}", "fn greedy() {}", "fn talkative() {}", "fn rejected() {}"];
    assert_eq!(
        words(Duration::from_secs(60), &programs),
        [
            "accepts",
            "crashes (writes a file of more than 64 MiB)",
            "crashes (writes more than 48 MiB of messages)",
            "rejects (E0308)"
        ]
    );
}

#[test]
fn one_that_fails_at_nothing_is_not_used() {
    let stop = Arc::new(AtomicBool::new(false));
    let found = find_within("/bin/false", &Launcher::of(SUBJECT), &stop, Duration::from_secs(9));
    let why = found.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("does not run here"), "{why}");
}

/// An oracle that the rules never heard of: every program with an `i32` in it makes the stand-in hungry.
struct Partial(Box<dyn Oracle>);

impl Oracle for Partial {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> &str {
        self.0.version()
    }

    fn run(&self, programs: &[&str]) -> Result<strait_typefuzz::RunResult, strait_typefuzz::Error> {
        let spoilt: Vec<String> =
            programs.iter().map(|program| program.replace("7i32", "hungry")).collect();
        self.0.run(&spoilt.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

#[test]
fn a_campaign_goes_on_and_keeps_what_it_saw() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(folder.path()).expect("a store");
    let id = store.campaign(1, 1, "test").expect("a campaign");
    let recipe = Recipe::new(1, Mode::Precision, Fuzzer::Features(vec!["core".to_owned()]));
    let oracles: Vec<Box<dyn Oracle>> = vec![Box::new(Partial(oracle(Duration::from_secs(60))))];
    let counters = Counters::default();
    let campaign = Campaign {
        recipe: &recipe,
        oracles: &oracles,
        count: Some(40),
        deadline: None,
        jobs: 1,
        shard: Shard::default(),
        stop: &AtomicBool::new(false),
        counters: &counters,
    };
    let mut told = Vec::new();
    let mut found = |_: &Recorded, discovery: &Discovery| told.push(discovery.kind.clone());
    campaign.run(&mut store, id, &mut found).expect("it comes to its end");
    assert_eq!(told, [Kind::CRASH]);
    let findings: Vec<_> = store.findings().collect();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].title.contains("needs more than 6 GiB of memory"), "{}", findings[0].title);
    assert!(findings[0].count > 1, "several programs have a 7i32");
    let programs = store.totals(id).expect("totals")[0].programs;
    assert_eq!(programs, 40);
}
