//! `strait go fuzz` on a small module: exit code, SARIF and JSON follow the class of what was found,
//! comments and a baseline silence it, and `--first` stops.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use strait_toolchain::{End, Launcher, Spec, run};

const STRAIT: &str = env!("CARGO_BIN_EXE_strait");

const ASK: &str = "package m

func Ask() int {
	answers := make(chan int)
	for i := range 2 {
		go func() {
			answers <- i
		}()
	}
	return <-answers
}
";

const TESTS: &str = "package m

import (
	\"testing\"
	\"time\"
)

func TestAsk(t *testing.T) { Ask() }

var requests = make(chan int)

func serve() {
	for range requests {
		time.Sleep(time.Hour)
	}
}

func TestServe(t *testing.T) { go serve() }
";

/// Exit code and JSON document; nothing, loudly, without go.
fn fuzzed(folder: &Path, arguments: &[&str]) -> Option<(i32, Value)> {
    let out = tempfile::tempdir().expect("a folder");
    let spec = Spec::new(STRAIT)
        .arguments(["--json", "go", "fuzz", "--runs", "4", "--seed", "1", "--out"])
        .arguments([out.path()])
        .arguments(arguments)
        .directory(folder)
        .keep(64 << 20);
    let finished = run(&Launcher::of(STRAIT), &spec).expect("strait starts");
    let complaint = finished.stderr.text();
    if complaint.contains("go was not found") || complaint.contains("no go ") {
        assert!(std::env::var_os("CI").is_none(), "SKIPPED, which CI needs: {complaint}");
        eprintln!("SKIPPED strait go fuzz: {complaint}");
        return None;
    }
    let document = serde_json::from_str(&finished.stdout.text());
    let document = document.unwrap_or_else(|error| panic!("{error}: {complaint}"));
    let End::Exited(code) = finished.end else { panic!("{}: {complaint}", finished.end) };
    Some((code, document))
}

/// `class level status` of each finding.
fn findings(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().expect("a list").iter();
    let text = |finding: &Value, name: &str| finding[name].as_str().expect("a text").to_owned();
    findings
        .map(|one| format!("{} {} {}", text(one, "class"), text(one, "level"), text(one, "status")))
        .collect()
}

#[test]
fn a_package_that_cannot_be_tested_is_no_clean_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("go.mod", "module example.com/m\n\ngo 1.24\n");
    fs::create_dir(folder.path().join("broken")).expect("a folder");
    write("fine_test.go", "package m\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) {}\n");
    let Some((code, document)) = fuzzed(folder.path(), &["./..."]) else { return };
    assert_eq!((code, &document["left_out"]), (0, &json!([])));
    write("broken/broken_test.go", "package broken\n\nfunc TestBroken() { missing() }\n");
    let Some((code, document)) = fuzzed(folder.path(), &["./..."]) else { return };
    let left_out = document["left_out"].as_array().map(Vec::len);
    assert_eq!((code, left_out, findings(&document)), (2, Some(1), Vec::new()));
}

#[test]
fn exit_code_and_reports_follow_the_class() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("written");
    };
    write("go.mod", "module example.com/m\n\ngo 1.24\n");
    write("ask.go", ASK);
    write("m_test.go", TESTS);
    let Some((code, document)) = fuzzed(folder.path(), &["--sarif", "found.sarif"]) else { return };
    if ["1.24", "1.25"]
        .iter()
        .any(|old| document["go"].as_str().is_some_and(|go| go.starts_with(old)))
    {
        eprintln!("SKIPPED: this version of Go cannot prove leaks");
        return;
    }
    assert_eq!((code, findings(&document)), (1, vec!["leak-in-every-run error new".to_owned()]));
    let finding = &document["findings"][0];
    assert_eq!(finding["locations"], json!(["ask.go:7"]));
    assert_eq!((&finding["library"], &finding["test"]), (&json!(true), &json!("TestAsk")));
    assert_eq!((&document["stopped"], &document["not_run"]), (&Value::Null, &json!([])));
    let sarif = fs::read(folder.path().join("found.sarif")).expect("written");
    let sarif: Value = serde_json::from_slice(&sarif).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["level"]),
        (&json!("leak-in-every-run"), &json!("error"))
    );

    // The baseline knows it.
    let baseline = ["--baseline", "known.json"];
    let written = fuzzed(folder.path(), &[baseline[0], baseline[1], "--write-baseline"]);
    assert_eq!(written.expect("go").0, 0);
    let (code, document) = fuzzed(folder.path(), &baseline).expect("go");
    assert_eq!((code, findings(&document)), (0, vec!["leak-in-every-run error known".to_owned()]));

    // The other goroutine could go on, so it is no finding unless nothing may be left.
    let left = ["--lifecycle", "--run", "TestServe"];
    let (code, document) = fuzzed(folder.path(), &left).expect("go");
    assert_eq!((code, findings(&document)), (1, vec!["left-running error new".to_owned()]));
    let allowed = [&left[..], &["--allow", "m.serve"]].concat();
    let (code, document) = fuzzed(folder.path(), &allowed).expect("go");
    assert_eq!((code, findings(&document)), (0, Vec::new()));

    // It stops at once.
    let (code, document) = fuzzed(folder.path(), &["--first"]).expect("go");
    assert_eq!((code, &document["stopped"]), (1, &json!("first-finding")));

    // A comment with a reason silences it.
    write("ask.go", &ASK.replace("<- i\n", "<- i //strait:ignore leak the asker is gone\n"));
    let (code, document) = fuzzed(folder.path(), &[]).expect("go");
    let expected = vec!["leak-in-every-run error suppressed".to_owned()];
    assert_eq!((code, findings(&document)), (0, expected));
}

#[test]
fn a_campaign_that_is_terminated_names_the_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("go.mod", "module example.com/m\n\ngo 1.24\n");
    write("fine_test.go", "package m\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) {}\n");
    // When the time is over, the process gets SIGTERM, and has a minute to end.
    let spec = Spec::new(STRAIT)
        .arguments(["go", "fuzz", "--time", "10m", "--out", "out"])
        .directory(folder.path())
        .wall(Duration::from_secs(10))
        .grace(Duration::from_secs(60));
    let finished = run(&Launcher::of(STRAIT), &spec).expect("strait starts");
    let (said, complaint) = (finished.stdout.text(), finished.stderr.text());
    if complaint.contains("go was not found") || complaint.contains("no go ") {
        assert!(std::env::var_os("CI").is_none(), "SKIPPED, which CI needs: {complaint}");
        eprintln!("SKIPPED strait go fuzz: {complaint}");
        return;
    }
    assert!(complaint.contains("stopping because of SIGTERM"), "{complaint}");
    assert!(said.contains("Stopped early by SIGTERM."), "{said}\n{complaint}");
}
