//! `strait ci` on small projects: new findings fail, known and silenced ones do not, and what could not run is named.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use strait_toolchain::{End, Finished, Launcher, Spec, run};

const STRAIT: &str = env!("CARGO_BIN_EXE_strait");

const LEAK: &str = "package m

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

const TEST: &str = "package m

import \"testing\"

func TestAsk(t *testing.T) { Ask() }
";

fn ci(folder: &Path, arguments: &[&str]) -> Finished {
    let spec = Spec::new(STRAIT)
        .arguments(["ci", "--time", "60s", "--only", "go-verify"])
        .arguments(arguments)
        .variable("GITHUB_STEP_SUMMARY", folder.join("summary.md"))
        .directory(folder)
        .keep(16 << 20);
    run(&Launcher::of(STRAIT), &spec).expect("strait starts")
}

/// A module in the folder `service`; nothing, loudly, without go.
fn project() -> Option<tempfile::TempDir> {
    if run(&Launcher::of(STRAIT), &Spec::new("go").arguments(["version"])).is_err() {
        assert!(std::env::var_os("CI").is_none(), "SKIPPED, which CI needs: no go");
        eprintln!("SKIPPED strait ci: no go");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("service");
    fs::create_dir(&module).expect("made");
    for (name, text) in [("go.mod", "module m\n\ngo 1.24\n"), ("m.go", LEAK), ("m_test.go", TEST)] {
        fs::write(module.join(name), text).expect("written");
    }
    Some(folder)
}

#[test]
fn new_findings_fail_and_known_ones_do_not() {
    let Some(folder) = project() else { return };
    let found = ci(folder.path(), &["--sarif", "all.sarif"]);
    let said = format!("{}{}", found.stdout.text(), found.stderr.text());
    assert_eq!(found.end, End::Exited(1), "{said}");
    assert!(said.contains("## Strait: 1 new finding\n"), "{said}");
    assert!(said.contains("**leak** at service/m.go:7"), "{said}");
    let summary = fs::read_to_string(folder.path().join("summary.md")).expect("a summary");
    assert_eq!(summary, found.stdout.text());
    let sarif = fs::read_to_string(folder.path().join("all.sarif")).expect("a file");
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    let [run] = sarif["runs"].as_array().expect("runs").as_slice() else { panic!("{sarif:#}") };
    assert_eq!(run["automationDetails"]["id"], "strait/go-verify/service/");
    let place = &run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "service/m.go");
    assert_eq!(
        fs::read_to_string(folder.path().join("strait-out/.gitignore")).expect("a file"),
        "*\n"
    );

    let written = ci(folder.path(), &["--write-baseline"]);
    assert_eq!(written.end, End::Exited(0), "{}", written.stderr.text());
    let known = ci(folder.path(), &[]);
    assert_eq!(known.end, End::Exited(0), "{}", known.stdout.text());
    assert!(known.stdout.text().contains("| 0 | 1 | 0 |"), "{}", known.stdout.text());

    // Lines move, and another fault is new.
    let twice = LEAK.replace("package m", "package m\n\n// Ask asks.")
        + &LEAK.replace("package m\n", "").replace("Ask", "AskAgain");
    fs::write(folder.path().join("service/m.go"), twice).expect("written");
    let test = TEST.replace("{ Ask() }", "{ Ask(); AskAgain() }");
    fs::write(folder.path().join("service/m_test.go"), test).expect("written");
    let new = ci(folder.path(), &["--json"]);
    let document: Value = serde_json::from_str(&new.stdout.text()).expect("JSON");
    assert_eq!(new.end, End::Exited(1), "{document:#}");
    assert_eq!(document["new"], 1, "{document:#}");
}

#[test]
fn comments_silence_findings() {
    let Some(folder) = project() else { return };
    let text = LEAK.replace("<- i", "<- i //strait:ignore no-leak the second answer is not needed");
    fs::write(folder.path().join("service/m.go"), text).expect("written");
    let found = ci(folder.path(), &[]);
    assert_eq!(found.end, End::Exited(0), "{}", found.stdout.text());
    assert!(found.stdout.text().contains("| 0 | 0 | 1 |"), "{}", found.stdout.text());
}

#[test]
fn what_could_not_run_is_named_and_is_no_success() {
    let Some(folder) = project() else { return };
    fs::write(folder.path().join("service/m.go"), "package m\n\nfunc Ask() { nothing() }\n")
        .expect("written");
    let failed = ci(folder.path(), &[]);
    let said = failed.stdout.text();
    assert_eq!(failed.end, End::Exited(2), "{said}");
    assert!(said.contains("## Strait: no new findings, 1 command failed"), "{said}");
    assert!(said.contains("### Not checked") && said.contains("undefined: nothing"), "{said}");
    let refused = ci(folder.path(), &["--write-baseline"]);
    assert_eq!(refused.end, End::Exited(2), "{}", refused.stdout.text());
    assert!(!folder.path().join("strait-baseline.json").exists());
}

#[test]
fn a_folder_with_nothing_to_check_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let nothing = ci(folder.path(), &[]);
    assert_eq!(nothing.end, End::Exited(2), "{}", nothing.stdout.text());
    assert!(nothing.stderr.text().contains("does not apply"), "{}", nothing.stderr.text());
}
