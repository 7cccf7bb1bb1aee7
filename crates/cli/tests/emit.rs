//! `strait emit` and `strait fixed`: what is emitted fails without Strait, nothing is compiled or run that only the
//! finding names, and a patch is judged by what happens.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use strait_toolchain::{End, Finished, Launcher, Spec, run};

const STRAIT: &str = env!("CARGO_BIN_EXE_strait");

/// Two locks in opposite orders: only some orders deadlock.
const LOCKS: &str = "package m

import (
	\"sync\"
	\"testing\"
)

func move(from, to *sync.Mutex) {
	from.Lock()
	defer from.Unlock()
	to.Lock()
	defer to.Unlock()
}

func TestMove(t *testing.T) {
	var a, b sync.Mutex
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); move(&a, &b) }()
	go func() { defer wg.Done(); move(&b, &a) }()
	wg.Wait()
}
";

fn strait(folder: &Path, arguments: &[&str]) -> Finished {
    let spec = Spec::new(STRAIT).arguments(arguments).directory(folder).keep(16 << 20);
    run(&Launcher::of(STRAIT), &spec).expect("strait starts")
}

fn document(finished: &Finished) -> Value {
    let document = serde_json::from_str(&finished.stdout.text());
    document.unwrap_or_else(|error| panic!("{error}: {}", finished.stderr.text()))
}

/// Is there a `go`? If not, that is said.
fn has_go() -> bool {
    let found = run(&Launcher::of(STRAIT), &Spec::new("go").arguments(["version"])).is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "SKIPPED, which CI needs: no go");
    if !found {
        eprintln!("SKIPPED strait emit on Go findings: no go");
    }
    found
}

/// A module with a deadlock that was found: its folder, and the directory of the finding.
fn found_deadlock(folder: &Path) -> (PathBuf, String) {
    let module = folder.join("module");
    fs::create_dir(&module).expect("made");
    fs::write(module.join("go.mod"), "module m\n\ngo 1.24\n").expect("written");
    fs::write(module.join("m_test.go"), LOCKS).expect("written");
    let fuzz =
        ["go", "fuzz", "--runs", "200", "--seed", "1", "--first", "--out", "../out", "--json"];
    let found = document(&strait(&module, &fuzz));
    let place = found["findings"][0]["dir"].as_str().expect("a finding").to_owned();
    let place = module.join(place).canonicalize().expect("a directory");
    (module, place.to_str().expect("a plain path").to_owned())
}

#[test]
fn a_patch_is_judged_by_what_happens_and_not_by_line_numbers() {
    if !has_go() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (module, place) = found_deadlock(folder.path());
    let fixed = |text: &str| {
        fs::write(module.join("m_test.go"), text).expect("written");
        let finished =
            strait(&module, &["fixed", &place, "--module", ".", "--runs", "200", "--json"]);
        let fate = serde_json::from_str::<Value>(&finished.stdout.text()).unwrap_or_default();
        (finished.end.clone(), fate["fate"].as_str().unwrap_or_default().to_owned())
    };
    let moved_lines = LOCKS.replace("func move", "// One.\n// Two.\n// Three.\nfunc move");
    let in_order = LOCKS.replace("move(&b, &a)", "move(&a, &b)");
    let other = LOCKS.replace("wg.Wait()", "wg.Wait()\n\tvar c chan int\n\tc <- 1");
    let other = other.replace("move(&b, &a)", "move(&a, &b)");
    let gone_test = LOCKS.replace("TestMove", "TestOther");
    for (text, expected) in [
        (LOCKS, (End::Exited(1), "still-there")),
        (moved_lines.as_str(), (End::Exited(1), "still-there")),
        (in_order.as_str(), (End::Exited(0), "gone")),
        (other.as_str(), (End::Exited(1), "moved")),
        (gone_test.as_str(), (End::Exited(2), "")),
        ("package m\n\nfunc broken(", (End::Exited(2), "")),
    ] {
        let (end, fate) = fixed(text);
        assert_eq!((end, fate.as_str()), expected, "{text}");
    }
}

#[test]
fn a_deadlock_in_some_orders_becomes_a_test_that_fails_without_strait() {
    if !has_go() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (module, place) = found_deadlock(folder.path());
    let place = place.as_str();

    // Another folder: the module has to be named.
    let refused = strait(folder.path(), &["emit", place]);
    assert_eq!(refused.end, End::Exited(2), "{}", refused.stderr.text());
    assert!(refused.stderr.text().contains("--module"), "{}", refused.stderr.text());
    assert!(!Path::new(place).join("emitted").exists(), "nothing is written");

    let emit = ["emit", place, "--module", ".", "--runs", "4", "--json"];
    let finished = strait(&module, &emit);
    let emitted = document(&finished);
    assert_eq!(finished.end, End::Exited(0), "{emitted:#}");
    assert_eq!((&emitted["failed"], &emitted["runs"]), (&4.into(), &4.into()), "{emitted:#}");
    let names: Vec<String> = fs::read_dir(&module)
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "nothing in the module is changed: {names:?}");

    // The Go tools alone.
    let overlay = Path::new(place).join("emitted/overlay.json");
    let test = |run_only: &str| {
        let spec = Spec::new("go")
            .arguments(["test", "-count=1", "-overlay"])
            .arguments([&overlay])
            .arguments(["-run", run_only, "."])
            .directory(&module);
        run(&Launcher::of(STRAIT), &spec).expect("go starts")
    };
    let failed = test("^TestStraitEmitted$");
    let said = format!("{}{}", failed.stdout.text(), failed.stderr.text());
    assert_eq!(failed.end, End::Exited(1), "{said}");
    assert!(said.contains("TestMove does not end") && said.contains("m_test.go:11"), "{said}");
}

#[test]
fn a_leak_of_another_class_is_refused_by_name() {
    if !has_go() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("go.mod"), "module m\n\ngo 1.24\n").expect("written");
    let test = "package m\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestTick(t *testing.T) {\n\tgo func() {\n\t\tfor {\n\t\t\ttime.Sleep(time.Hour)\n\t\t}\n\t}()\n}\n";
    fs::write(folder.path().join("m_test.go"), test).expect("written");
    let fuzz = ["go", "fuzz", "--lifecycle", "--runs", "4", "--seed", "1", "--json"];
    let found = document(&strait(folder.path(), &fuzz));
    assert_eq!(found["findings"][0]["class"], "left-running", "{found:#}");
    let place = found["findings"][0]["dir"].as_str().expect("a finding");
    let refused = strait(folder.path(), &["emit", place]);
    assert_eq!(refused.end, End::Exited(2), "{}", refused.stderr.text());
    let said = refused.stderr.text();
    assert!(
        said.contains("no standalone test can be made") && said.contains("left-running"),
        "{said}"
    );
}

/// A script that has a version and rejects programs with this text.
fn compiler(folder: &Path, rejected: &str) -> PathBuf {
    let path = folder.join("rustc");
    let message = "{\"$message_type\":\"diagnostic\",\"message\":\"no\",\"code\":null,\"level\":\"error\",\"spans\":[],\"children\":[],\"rendered\":\"no\"}";
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo 'rustc 1.95.0'; exit 0;; esac\n\
         if grep -q {rejected} \"$1\"; then echo '{message}' >&2; exit 1; fi\n"
    );
    fs::write(&path, text).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

#[test]
fn a_finding_about_a_compiler_becomes_a_ui_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = compiler(folder.path(), "7i32");
    let oracle = path.to_str().expect("a plain path");
    let campaign =
        ["types", "--fuzzer", "core", "--count", "20", "--seed", "1", "--json", "--oracle", oracle];
    let found = document(&strait(folder.path(), &campaign));
    let place = found["findings"][0]["dir"].as_str().unwrap_or_else(|| panic!("{found:#}"));

    let refused = strait(folder.path(), &["emit", place]);
    assert_eq!(refused.end, End::Exited(2), "{}", refused.stderr.text());
    assert!(refused.stderr.text().contains("--oracle"), "{}", refused.stderr.text());

    let finished = strait(folder.path(), &["emit", place, "--oracle", oracle, "--json"]);
    let emitted = document(&finished);
    assert_eq!(finished.end, End::Exited(0), "{emitted:#}");
    assert_eq!((&emitted["failed"], &emitted["runs"]), (&5.into(), &5.into()), "{emitted:#}");
    let text = fs::read_to_string(folder.path().join(place).join("emitted/test.rs"));
    let text = text.expect("a test");
    assert!(
        text.contains("//@ check-pass\n//@ edition: 2021\n//@ compile-flags: --crate-type=lib\n"),
        "{text}"
    );

    // A compiler that accepts everything shows no fault, and that is said.
    compiler(folder.path(), "no-such-text");
    let repaired = strait(folder.path(), &["emit", place, "--oracle", oracle]);
    assert_eq!(repaired.end, End::Exited(1), "{}", repaired.stderr.text());
    assert!(repaired.stdout.text().contains("failed in 0 of 5 runs"), "{}", repaired.stdout.text());
}
