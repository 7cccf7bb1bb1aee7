//! `strait go fuzz --queue` with `strait worker`s, one of which is killed in the middle of a test, and a
//! nats-server that is killed and started again: what was executed and found is what a campaign on one
//! machine executes and finds, and a finding replays where the module is.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was tested is said aloud")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "../../queue/tests/support/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use server::Server;
use strait_findings::Store;

/// Whoever asks gives up after a while, and the answer is for nobody then. Its test says that it runs,
/// so that a worker can be killed at it.
const MODULE: &[(&str, &str)] = &[
    ("go.mod", "module example.com/queued\n\ngo 1.24\n"),
    (
        "inner/lookup.go",
        "package inner

import \"time\"

func Lookup(patience time.Duration) int {
	answer := make(chan int)
	go func() {
		time.Sleep(time.Millisecond)
		answer <- 1
	}()
	select {
	case value := <-answer:
		return value
	case <-time.After(patience):
		return 0
	}
}
",
    ),
    (
        "inner/lookup_test.go",
        "package inner

import (
	\"testing\"
	\"time\"
)

func TestLookup(t *testing.T) { Lookup(time.Second) }
",
    ),
    (
        "fine_test.go",
        "package queued

import (
	\"os\"
	\"testing\"
)

func TestMain(m *testing.M) {
	if mark := os.Getenv(\"STRAIT_TEST_MARK\"); mark != \"\" && len(os.Args) > 2 {
		os.WriteFile(mark, nil, 0o600)
	}
	os.Exit(m.Run())
}

func TestFine(t *testing.T) {
	answer := make(chan int, 1)
	go func() { answer <- 1 }()
	<-answer
}

func TestParts(t *testing.T) {
	t.Run(\"one\", func(t *testing.T) {})
	t.Run(\"two\", func(t *testing.T) {})
}
",
    ),
];

/// One test kills the worker that runs it, another one what stands between them.
const DEADLY: &[(&str, &str)] = &[
    ("go.mod", "module example.com/deadly\n\ngo 1.24\n"),
    (
        "deadly_test.go",
        "package deadly

import (
	\"bytes\"
	\"fmt\"
	\"os\"
	\"strconv\"
	\"syscall\"
	\"testing\"
	\"time\"
)

func parent(process int) int {
	stat, _ := os.ReadFile(fmt.Sprintf(\"/proc/%d/stat\", process))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

func TestFine(t *testing.T) {}

func TestKillsSupervisor(t *testing.T) {
	syscall.Kill(os.Getppid(), syscall.SIGKILL)
	time.Sleep(time.Minute)
}

func TestKillsWorker(t *testing.T) {
	syscall.Kill(parent(os.Getppid()), syscall.SIGKILL)
	time.Sleep(time.Minute)
}
",
    ),
];

fn strait(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command
}

/// Ends with the test, whatever happens.
struct Running(Child);

impl Running {
    /// Its tests can kill it.
    fn unprotected(address: &str, directory: &Path) -> Running {
        Running::worker(address, directory, Some(Path::new("/dev/null")))
    }

    fn worker(address: &str, directory: &Path, mark: Option<&Path>) -> Running {
        let arguments = ["worker", "--queue", address, "--jobs", "1", "--quiet", "--accept", "go"];
        let mut command = strait(&arguments, directory);
        if let Some(mark) = mark {
            // In a sandbox its tests could not make the file.
            command.env("STRAIT_TEST_MARK", mark).arg("--no-sandbox");
        }
        command.env("TMPDIR", directory.join("temporary"));
        Running(command.stdout(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // That is kill -9.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn document(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// What a campaign that was started with pipes says in the end.
fn end_of(campaign: &mut Running) -> Output {
    let stdout = campaign.0.stdout.take().expect("piped");
    let stdout = std::io::read_to_string(stdout).expect("text").into_bytes();
    let status = campaign.0.wait().expect("ours");
    Output { status, stdout, stderr: Vec::new() }
}

/// Tests, those that were not done, and findings.
fn told(output: &Output) -> (u64, usize, BTreeSet<String>) {
    let document = document(output);
    let findings = document["findings"].as_array().expect("findings").iter();
    let findings = findings.map(|finding| finding["id"].as_str().expect("an id").to_owned());
    let undone = document["undone"].as_array().expect("a list").len();
    (document["tests"].as_u64().expect("a number"), undone, findings.collect())
}

/// The places of the tests that a campaign in a queue has executed.
fn executed(folder: &Path, version: &str) -> Vec<u64> {
    let mut store = Store::open(folder).expect("a store");
    let known = store.last_campaign().expect("readable").expect("a campaign");
    let id = store.campaign(known.seed, known.generator_version, &known.settings).expect("known");
    ["example.com/queued", "example.com/queued/inner"]
        .map(|package| store.executed(id, package, version).expect("readable").len())
        .to_vec()
}

fn write(directory: &Path, module: &[(&str, &str)]) {
    for (name, content) in module {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        fs::write(path, content).expect("written");
    }
}

/// A folder that ends with the test, a module in it, and a folder for what workers unpack.
fn home_of(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("there");
    let module = root.join("module");
    write(&module, files);
    fs::create_dir(root.join("temporary")).expect("a folder");
    (folder, root, module)
}

fn has_go() -> bool {
    let found = Command::new("go").arg("version").output().is_ok();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "go is missing");
        eprintln!("SKIPPED: go is missing");
    }
    found
}

#[test]
fn workers_find_what_one_machine_finds() {
    if !has_go() {
        return;
    }
    let Some(mut server) = Server::start("127.0.0.1") else { return };
    let (_folder, root, module) = home_of(MODULE);
    let fuzz = ["go", "fuzz", "--runs", "24", "--seed", "5", "--json"];
    let alone = strait(&fuzz, &module).args(["--out", "../alone"]).output().expect("it runs");
    let expected = told(&alone);
    assert_eq!((expected.0, expected.2.len()), (5, 1), "{expected:?}");

    // The same folder again: what is known there is shown again.
    let twice = strait(&fuzz, &module).args(["--out", "../alone"]).output().expect("it runs");
    assert_eq!((told(&twice), twice.status.code()), (told(&alone), Some(1)));

    let address = server.address("go");
    let queued = ["--queue", &address, "--lease", "2s", "--out", "strait-out"];
    let mut campaign = strait(&fuzz, &module);
    campaign.args(queued).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut campaign = Running(campaign.spawn().expect("it starts"));
    let mark = root.join("mark");
    let victim = Running::worker(&address, &root, Some(&mark));
    let deadline = Instant::now() + Duration::from_secs(600);
    while !mark.is_file() {
        assert!(Instant::now() < deadline, "no test was begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(victim);
    // What it leaves is nobody's now, and the next one removes it.
    let ours = fs::read_dir(root.join("temporary")).expect("a folder").flatten();
    let inside = ours.flat_map(|entry| fs::read_dir(entry.path()).expect("a folder").flatten());
    let left: Vec<PathBuf> =
        inside.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    assert!(left.iter().any(|path| path.join("module").is_dir()), "no module: {left:?}");
    assert!(campaign.0.try_wait().expect("ours").is_none(), "it was through before the kill");
    server.restart(Duration::from_millis(200));
    let _workers = [0, 1].map(|_| Running::worker(&address, &root, None));
    let together = end_of(&mut campaign);
    assert_eq!(told(&together), expected);
    assert_eq!(together.status.code(), alone.status.code());
    let version = format!("go{}", document(&together)["go"].as_str().expect("a version"));
    assert_eq!(executed(&module.join("strait-out"), &version), [2, 1]);
    for path in &left {
        assert!(!path.exists(), "{} is still there", path.display());
        let name = path.file_name().expect("a name").to_string_lossy();
        let process = name.split('-').nth(1).expect("a process");
        let ours = path.parent().and_then(Path::file_name).expect("our folder");
        let memory = Path::new("/dev/shm").join(ours).join(format!("memory-{process}-0"));
        assert!(!memory.exists(), "{} is in memory", memory.display());
    }

    // It is not begun a second time. Resumed, there is nothing to do, and the finding is still there.
    let again = strait(&fuzz, &module).args(queued).output().expect("it runs");
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    let again = strait(&fuzz, &module).args(queued).arg("--resume").output().expect("it runs");
    assert_eq!((told(&again).2, document(&again)["runs"].as_u64()), (expected.2.clone(), Some(0)));

    let id = expected.2.first().expect("one");
    let finding = module.join("strait-out/findings").join(id);
    for file in fs::read_dir(&finding).expect("a finding") {
        let text = fs::read(file.expect("readable").path()).expect("readable");
        let text = String::from_utf8_lossy(&text).into_owned();
        let worker = root.join("temporary").display().to_string();
        assert!(!text.contains(&worker), "a folder of the worker's: {text}");
    }
    let details = strait_findings::read(&finding).expect("a finding").details;
    assert_eq!(details["directory"].as_str(), module.to_str());
    let replay = strait(&["go", "replay", "--json"], &module).arg(&finding).output();
    assert_eq!(document(&replay.expect("it runs"))["again"], true);

    // What does not travel is refused.
    let refused = |what: &str| {
        let output = strait(&fuzz, &module).args(queued).arg("--resume").output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.code() == Some(2) && said.contains(what), "{said}");
    };
    fs::write(module.join("go.work"), "go 1.24\n\nuse .\n").expect("written");
    refused("GOWORK=off");
    fs::remove_file(module.join("go.work")).expect("ours");
    let replaced = "module example.com/queued\n\ngo 1.24\n\nreplace example.com/x => ../x\n";
    fs::write(module.join("go.mod"), replaced).expect("written");
    refused("in place of example.com/x");
    println!("{} tests, each executed once; {} finding, as alone", expected.0, expected.2.len());
}

/// A `go` that claims to be another version.
fn other_go(folder: &Path, real: &Path) {
    let script = format!(
        "#!/bin/sh\n{} \"$@\" | sed 's/\"GOVERSION\": \"go[^\"]*/\"GOVERSION\": \"go1.25.999/'\n",
        real.display()
    );
    fs::create_dir(folder).expect("a folder");
    fs::write(folder.join("go"), script).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.join("go"), mode).expect("ours");
}

#[test]
fn tests_that_kill_workers_are_findings_and_workers_that_cannot_leave_it_to_others() {
    if !has_go() {
        return;
    }
    let Some(server) = Server::start("127.0.0.1") else { return };
    let (_folder, root, module) = home_of(DEADLY);
    let address = server.address("deadly");
    let mut campaign = strait(&["go", "fuzz", "--runs", "2", "--seed", "5", "--json"], &module);
    campaign.args(["--queue", &address, "--lease", "1s", "--out", "../out"]);
    campaign.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut campaign = Running(campaign.spawn().expect("it starts"));

    // Nobody else is there: what they leave is done later.
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let real = std::env::split_paths(&paths).map(|path| path.join("go")).find(|go| go.is_file());
    let (other, none) = (root.join("other"), root.join("none"));
    other_go(&other, &real.expect("it is in PATH"));
    fs::create_dir(&none).expect("a folder");
    for (place, word) in [(other, "here is 1.25.999"), (none, "go is not found")] {
        let arguments = ["worker", "--queue", &address, "--idle", "20s", "--accept", "go"];
        let mut worker = strait(&arguments, &root);
        let system = std::env::split_paths(&paths).filter(|path| !path.join("go").is_file());
        let path = std::env::join_paths([place].into_iter().chain(system)).expect("paths");
        worker.env("PATH", path).env("TMPDIR", root.join("temporary"));
        worker.stderr(Stdio::piped()).stdout(Stdio::null());
        let mut worker = Running(worker.spawn().expect("it starts"));
        let said = std::io::BufReader::new(worker.0.stderr.take().expect("piped"));
        let mut lines = std::io::BufRead::lines(said).map_while(Result::ok);
        let refusal = lines.find(|line| line.contains("is left to others"));
        let refusal = refusal.expect("a refusal");
        assert!(refusal.contains(word), "{refusal}");
        assert!(campaign.0.try_wait().expect("ours").is_none(), "it went on without them");
    }

    let mut worker = Running::unprotected(&address, &root);
    let mut deaths = 0;
    while campaign.0.try_wait().expect("ours").is_none() {
        if worker.0.try_wait().expect("ours").is_some() {
            deaths += 1;
            assert!(deaths < 10, "workers die and die");
            worker = Running::unprotected(&address, &root);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = end_of(&mut campaign);
    let document = document(&ended);
    let findings = document["findings"].as_array().expect("findings").iter();
    let mut found: Vec<(&str, &str)> = findings
        .map(|one| (one["kind"].as_str().expect("a kind"), one["test"].as_str().expect("a test")))
        .collect();
    found.sort_unstable();
    let expected = [("worker-death", "TestKillsSupervisor"), ("worker-death", "TestKillsWorker")];
    assert_eq!((found.as_slice(), ended.status.code()), (expected.as_slice(), Some(1)));
    assert_eq!(told(&ended).1, 0, "all tests are done");
    // One without a watching worker, and one at the test; after that it is tried alone.
    assert_eq!(deaths, 2);
}

#[test]
fn merged_shares_of_tests_are_all_tests() {
    if !has_go() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().canonicalize().expect("there").join("module");
    write(&module, MODULE);
    let fuzz = ["go", "fuzz", "--runs", "24", "--seed", "5", "--json"];
    let run = |more: &[&str]| told(&strait(&fuzz, &module).args(more).output().expect("it runs"));
    let whole = run(&["--out", "../whole"]);
    let shares = [0, 1, 2].map(|share| {
        run(&["--shard", &format!("{share}/3"), "--out", &format!("../share-{share}")])
    });
    // Three tests, of which one has two subtests, are in three shares.
    assert_eq!((shares.iter().map(|share| share.0).sum::<u64>(), whole.0), (5, 5));
    let merge = ["merge", "../share-0", "../share-1", "../share-2", "--out", "../all", "--quiet"];
    assert_eq!(strait(&merge, &module).status().expect("it runs").code(), Some(1));
    let store = Store::open(folder.path().join("all")).expect("a store");
    let merged: BTreeSet<String> = store.findings().map(|finding| finding.id.clone()).collect();
    assert_eq!(merged, whole.2);
}

/// Two goroutines write to one variable.
const RACY: &[(&str, &str)] = &[
    ("go.mod", "module example.com/racy\n\ngo 1.24\n"),
    (
        "racy_test.go",
        "package racy

import \"testing\"

func TestRacy(t *testing.T) {
	total, done := 0, make(chan int)
	for range 2 {
		go func() { total++; done <- 1 }()
	}
	<-done
	<-done
}
",
    ),
];

#[test]
fn workers_find_data_races() {
    if !has_go() {
        return;
    }
    // The race detector needs cgo, and that a compiler for C.
    if Command::new("cc").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "cc is missing");
        eprintln!("SKIPPED --race: cc is missing");
        return;
    }
    let Some(server) = Server::start("127.0.0.1") else { return };
    let (_folder, root, module) = home_of(RACY);
    let address = server.address("races");
    let _worker = Running::worker(&address, &root, None);
    let mut campaign = strait(&["go", "fuzz", "--race", "--runs", "8", "--seed", "5"], &module);
    campaign.args(["--json", "--queue", &address, "--out", "../out"]);
    let ended = campaign.output().expect("it runs");
    let found = &document(&ended)["findings"];
    assert_eq!((found[0]["kind"].as_str(), ended.status.code()), (Some("data-race"), Some(1)));
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn what_was_found_in_a_test_that_is_never_done_is_kept() {
    if !has_go() {
        return;
    }
    let Some(server) = Server::start("127.0.0.1") else { return };
    let (_folder, root, module) = home_of(MODULE);
    let address = server.address("partial");
    let mut campaign = strait(&["go", "fuzz", "--runs", "1000000", "--seed", "5"], &module);
    campaign.args(["--run", "TestLookup", "--json", "--queue", &address, "--out", "../out"]);
    campaign.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut campaign = Running(campaign.spawn().expect("it starts"));
    let _worker = Running::worker(&address, &root, None);
    let findings = root.join("out/findings");
    let deadline = Instant::now() + Duration::from_secs(600);
    while fs::read_dir(&findings).is_ok_and(|mut some| some.next().is_none()) || !findings.is_dir()
    {
        assert!(Instant::now() < deadline, "nothing was found");
        assert!(campaign.0.try_wait().expect("ours").is_none(), "a million runs in no time");
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = campaign.0.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().expect("kill is there");
    assert!(sent.success());
    let ended = end_of(&mut campaign);
    let (_, undone, found) = told(&ended);
    assert_eq!((undone, found.len(), ended.status.code()), (1, 1, Some(1)));
}
