//! Compilers that hang, eat memory, fill the disk or do not stop talking: each is stopped, the program
//! at fault is found among those that are compiled with it, and the others get their verdicts.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use strait_campaign::{Campaign, Counters, Stop};
use strait_findings::{Discovery, Kind, Recorded, Store};
use strait_queue::Shard;
use strait_toolchain::Launcher;
use strait_typefuzz::{
    Error, Exhibit, Fuzzer, Mode, Oracle, Permitted, Programs, Recipe, Reducer, Slowdown, Verdict,
    find_within, judge_all,
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
    let folder = tempfile::tempdir().expect("a folder");
    let script = |name: &str, tool: &str, does: &str| {
        let path = folder.path().join(name);
        let version = format!("case \"$1\" in --version) echo '{tool} 1.98.1'; exit 0;; esac");
        std::fs::write(&path, format!("#!/bin/sh\n{version}\n{does}\n")).expect("written");
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, permissions).expect("executable");
        path.display().to_string()
    };
    let unknown_flag = r#"echo '{"level":"error","message":"unknown option","code":null,"spans":[],"children":[]}' >&2; exit 1"#;
    let table = [
        ("/bin/false".to_owned(), "`/bin/false --version` says no version"),
        (script("a", "rustc", unknown_flag), "it fails at an empty program: unknown option"),
        (script("b", "rust-analyzer", "kill -PIPE $$"), "it fails at an empty program: SIGPIPE"),
        (script("c", "rust-analyzer", "exit 101"), "it fails at an empty program: exit code 101"),
    ];
    for (name, expected) in table {
        let found = find_within(&name, &Launcher::of(SUBJECT), &stop, Duration::from_secs(9));
        let why = found.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why.contains("does not run here"), "{why}");
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn a_campaign_goes_on_and_what_it_saw_is_replayed_and_reduced() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(folder.path()).expect("a store");
    let id = store.campaign(1, 1, "test").expect("a campaign");
    let recipe =
        Recipe::new(1, Mode::Precision, Fuzzer::named(&["core".to_owned()]).expect("a feature"));
    let (launcher, stop) = (Launcher::of(SUBJECT), Arc::new(AtomicBool::new(false)));
    let name = format!("{SUBJECT}:--hungry-at=7i32");
    let oracle = find_within(&name, &launcher, &stop, Duration::from_secs(60));
    let oracles = vec![oracle.expect("the stand-in runs")];
    let campaign = Campaign {
        workload: &Programs::new(recipe, oracles).expect("programs"),
        count: Some(40),
        shard: Shard::default(),
        jobs: 1,
        stop: &Stop::default(),
        counters: &Counters::default(),
    };
    let mut told = Vec::new();
    let mut found = |_: &Recorded, discovery: &Discovery| told.push(discovery.kind.clone());
    campaign.run(&mut store, id, &mut found).expect("it comes to its end");
    assert_eq!(told, [Kind::CRASH]);
    let findings: Vec<_> = store.findings().collect();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].title.contains("needs more than 6 GiB of memory"), "{}", findings[0].title);
    assert!(findings[0].count > 1, "several programs have a 7i32");
    assert_eq!(store.totals(id).expect("totals")[0].programs, 40);

    let directory = store.directory(&findings[0].id);
    let refused = Exhibit::open(&directory, &Permitted::default(), &launcher, &stop).err();
    assert!(matches!(refused, Some(Error::Untrusted { .. })), "{refused:?}");
    let permitted = Permitted { named: vec![name], trust: false };
    let exhibit =
        Exhibit::open(&directory, &permitted, &launcher, &stop).expect("a finding of ours");
    assert!(exhibit.rerun().expect("it is judged again").is_some());
    let reducer = Reducer { time: Duration::from_secs(60), stop: &|| false, tell: &|_, _| {} };
    let reduced = reducer.reduce(&exhibit).expect("it is reduced").expect("it still shows");
    assert!(reduced.after < reduced.before, "{} of {}", reduced.after, reduced.before);
    assert!(reduced.program.contains("7i32"), "{}", reduced.program);
    assert_eq!(reduced.program.matches("pub fn").count(), 1, "{}", reduced.program);
}

#[test]
fn one_that_takes_many_times_as_long_as_the_same_with_another_flag_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(folder.path()).expect("a store");
    let id = store.campaign(1, 1, "test").expect("a campaign");
    let recipe =
        Recipe::new(1, Mode::Precision, Fuzzer::named(&["core".to_owned()]).expect("a feature"));
    let (launcher, stop) = (Launcher::of(SUBJECT), Arc::new(AtomicBool::new(false)));
    let names = [SUBJECT.to_owned(), format!("{SUBJECT}:--slow-at=7i32")];
    let find = |name: &String| find_within(name, &launcher, &stop, Duration::from_secs(60));
    let oracles = names.iter().map(find).collect::<Result<_, _>>().expect("the stand-in runs");
    let slowdown = Slowdown { least: Duration::from_millis(60), factor: 5 };
    let campaign = Campaign {
        workload: &Programs::new(recipe, oracles).expect("programs").slowdown(slowdown),
        count: Some(40),
        shard: Shard::default(),
        jobs: 1,
        stop: &Stop::default(),
        counters: &Counters::default(),
    };
    let mut told = Vec::new();
    let mut found = |_: &Recorded, discovery: &Discovery| told.push(discovery.kind.clone());
    campaign.run(&mut store, id, &mut found).expect("it comes to its end");
    assert_eq!(told, [Kind::SLOWDOWN]);
    let findings: Vec<_> = store.findings().collect();
    let title = &findings[0].title;
    assert!(title.contains("takes more than 5 times as long as"), "{title}");
    let permitted = Permitted { named: names.to_vec(), trust: false };
    let directory = store.directory(&findings[0].id);
    let mut exhibit = Exhibit::open(&directory, &permitted, &launcher, &stop).expect("a finding");
    exhibit.slowdown = slowdown;
    assert!(exhibit.program.contains("7i32"), "{}", exhibit.program);
    assert!(exhibit.rerun().expect("it is measured again").is_some());
    exhibit.program = exhibit.program.replace("7i32", "8i32");
    assert!(exhibit.rerun().expect("it is measured again").is_none());
}
