//! `strait go fuzz --queue` with `strait worker`s, one of which is killed in the middle of a test, and a
//! nats-server that is killed and started again: what was executed and found is what a campaign on one
//! machine executes and finds, and a finding replays where the module is.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was tested is said aloud")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "../../queue/tests/support/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
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

fn strait(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command
}

/// Ends with the test, whatever happens.
struct Running(Child);

impl Running {
    fn worker(address: &str, directory: &Path, mark: Option<&Path>) -> Running {
        let arguments = ["worker", "--queue", address, "--jobs", "1", "--quiet"];
        let mut command = strait(&arguments, directory);
        if let Some(mark) = mark {
            command.env("STRAIT_TEST_MARK", mark);
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

fn write(directory: &Path) {
    for (name, content) in MODULE {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
        fs::write(path, content).expect("written");
    }
}

#[test]
fn workers_find_what_one_machine_finds() {
    if Command::new("go").arg("version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "go is missing");
        eprintln!("SKIPPED: go is missing");
        return;
    }
    let Some(mut server) = Server::start("127.0.0.1") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("there");
    let module = root.join("module");
    write(&module);
    fs::create_dir(root.join("temporary")).expect("a folder");
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
    // What it shared with the test is nobody's now.
    for folder in fs::read_dir(root.join("temporary")).expect("a folder").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let _ = fs::remove_file(format!("/dev/shm/{name}-0"));
    }
    assert!(campaign.0.try_wait().expect("ours").is_none(), "it was through before the kill");
    server.restart(Duration::from_millis(200));
    let _workers = [0, 1].map(|_| Running::worker(&address, &root, None));
    let stdout = campaign.0.stdout.take().expect("piped");
    let stdout = std::io::read_to_string(stdout).expect("text").into_bytes();
    let status = campaign.0.wait().expect("ours");
    let together = Output { status, stdout, stderr: Vec::new() };
    assert_eq!(told(&together), expected);
    assert_eq!(together.status.code(), alone.status.code());
    let version = document(&together)["go"].as_str().expect("a version").to_owned();
    assert_eq!(executed(&module.join("strait-out"), &version), [2, 1]);

    // A second time there is nothing to do, and the finding is still there.
    let again = strait(&fuzz, &module).args(queued).output().expect("it runs");
    assert_eq!((told(&again).2, document(&again)["runs"].as_u64()), (expected.2.clone(), Some(0)));

    let id = expected.2.first().expect("one");
    let finding = module.join("strait-out/findings").join(id);
    for file in fs::read_dir(&finding).expect("a finding") {
        let text = fs::read(file.expect("readable").path()).expect("readable");
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(!text.contains("strait-module-"), "a folder of the worker's: {text}");
    }
    let details = strait_findings::read(&finding).expect("a finding").details;
    assert_eq!(details["directory"].as_str(), module.to_str());
    let replay = strait(&["go", "replay", "--json"], &module).arg(&finding).output();
    assert_eq!(document(&replay.expect("it runs"))["again"], true);

    // What does not travel is refused.
    let refused = |what: &str| {
        let output = strait(&fuzz, &module).args(queued).output().expect("it runs");
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
