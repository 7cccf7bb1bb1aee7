//! `strait types` with stand-in compilers: one that hangs is recorded and the campaign goes on; what an
//! earlier campaign has found is no news; a campaign is taken up where it was left; what a killed one
//! leaves behind is removed by the next.

#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use strait_toolchain::{End, Launcher, Spec, run};

const STRAIT: &str = env!("CARGO_BIN_EXE_strait");

/// A script that has a version and does this with a file of programs, `$1`.
fn compiler(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo 'rustc 1.95.0'; exit 0;; esac\n{script}\n"
    );
    std::fs::write(&path, text).expect("written");
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, permissions).expect("executable");
    path
}

/// The exit code and the document of `strait --json types`.
fn types(folder: &Path, arguments: &[&str]) -> (End, Value) {
    let always = ["--json", "types", "--jobs", "1", "--out", "out"];
    let spec = Spec::new(STRAIT).arguments(always.iter().chain(arguments)).directory(folder);
    let finished = run(&Launcher::of(STRAIT), &spec).expect("strait starts");
    let document = serde_json::from_str(&finished.stdout.text());
    let document = document.unwrap_or_else(|error| panic!("{error}: {}", finished.stderr.text()));
    (finished.end, document)
}

fn sleeping(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(mark))
}

#[test]
fn a_hanging_compiler_is_one_finding_of_one_campaign() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = format!("86401{}", std::process::id());
    let script = format!("if grep -q 7i32 \"$1\"; then sleep {mark} & sleep {mark}; fi");
    let hanging = compiler(folder.path(), "hanging", &script);
    let hanging = hanging.to_str().expect("a plain path");
    let good = compiler(folder.path(), "good", "exit 0");
    let good = good.to_str().expect("a plain path");

    let common = ["--fuzzer", "core", "--count", "20", "--seed", "1"];
    let hang = [&common[..], &["--oracle", hanging, "--timeout", "4s"]].concat();
    let (end, told) = types(folder.path(), &hang);
    assert_eq!(end, End::Exited(1), "{told:#}");
    assert_eq!((&told["programs"], &told["earlier"]), (&20.into(), &0.into()), "{told:#}");
    let findings = told["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "{told:#}");
    assert_eq!(findings[0]["kind"], "crash");
    assert_eq!(findings[0]["known"], false);
    assert!(
        findings[0]["title"].as_str().is_some_and(|title| title.ends_with("hangs")),
        "{told:#}"
    );
    let begun = Instant::now();
    while sleeping(&mark) {
        assert!(begun.elapsed() < Duration::from_secs(60), "something still sleeps");
        std::thread::sleep(Duration::from_millis(20));
    }

    // Another campaign in the same folder, with nothing to find.
    let calm = [&common[..], &["--oracle", good]].concat();
    let (end, told) = types(folder.path(), &calm);
    assert_eq!(end, End::Exited(0), "{told:#}");
    assert_eq!(told["findings"], Value::Array(Vec::new()));
    assert_eq!(told["earlier"], 1);

    // The same one, with more to do. The compiler has to be named: the folder may come from another person.
    let arguments = ["types", "--out", "out", "--resume", "--count", "30"];
    let spec = Spec::new(STRAIT).arguments(arguments).directory(folder.path());
    let finished = run(&Launcher::of(STRAIT), &spec).expect("strait starts");
    let said = finished.stderr.text();
    assert_eq!(finished.end, End::Exited(2), "{said}");
    assert!(said.contains("name it with `--oracle PATH`"), "{said}");
    let (end, told) = types(folder.path(), &["--resume", "--count", "30", "--oracle", good]);
    assert_eq!(end, End::Exited(0), "{told:#}");
    assert_eq!((&told["programs"], &told["programs_before"]), (&10.into(), &20.into()), "{told:#}");
}

#[test]
fn a_summary_and_a_readme_say_how_to_show_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let reject = "echo '{\"$message_type\":\"diagnostic\",\"message\":\"no\",\"code\":null,\"level\":\"error\",\"spans\":[],\"children\":[],\"rendered\":\"no\"}' >&2; exit 134";
    let script = format!("if grep -q 7i32 \"$1\"; then {reject}; fi");
    let failing = compiler(folder.path(), "failing rustc", &script);
    let strait = |here: &Path, arguments: &[&str]| {
        let spec = Spec::new(STRAIT).arguments(arguments).directory(here);
        run(&Launcher::of(STRAIT), &spec).expect("strait starts")
    };
    let oracle = failing.to_str().expect("a plain path");
    let campaign =
        ["types", "--fuzzer", "core", "--count", "20", "--seed", "1", "--oracle", oracle];
    let found = strait(folder.path(), &campaign);
    assert_eq!(found.end, End::Exited(1), "{}", found.stderr.text());
    let summary = found.stdout.text();
    let expected = format!(" --oracle '{oracle}'");
    let line = summary.lines().find(|line| line.contains("strait replay ")).expect(&summary);
    assert!(line.ends_with(&expected), "{line}");
    let place = line.trim().trim_start_matches("strait replay ").trim_end_matches(&expected);
    let again = strait(folder.path(), &["replay", place, "--oracle", oracle]);
    assert_eq!(again.end, End::Exited(1), "{}", again.stderr.text());
    let readme = std::fs::read_to_string(folder.path().join(place).join("README.md"));
    let readme = readme.expect("a README");
    assert!(readme.contains(&format!("strait replay .{expected}")), "{readme}");
}

#[test]
fn a_killed_campaign_leaves_nothing_that_the_next_one_does_not_remove() {
    let folder = tempfile::tempdir().expect("a folder");
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).expect("made");
    std::fs::create_dir(temporary.join("strait-of-the-user")).expect("made");
    std::fs::write(temporary.join("strait-of-the-user/owner"), "").expect("written");
    let script = "mkdir \"$TMPDIR/rustc-tmp-$$\"; sleep 0.2";
    let slow = compiler(folder.path(), "slow", script);
    let campaign = |seed: &str| {
        let mut command = std::process::Command::new(STRAIT);
        let arguments = ["types", "--count", "400", "--quiet", "--out", "out", "--seed", seed];
        command.args(arguments).arg("--oracle").arg(&slow);
        command.current_dir(folder.path()).env("TMPDIR", &temporary);
        command
    };
    let mut left = 0;
    for round in 0..4 {
        let mut child = campaign(&round.to_string()).spawn().expect("strait starts");
        std::thread::sleep(Duration::from_millis(400 + 400 * round));
        child.kill().expect("SIGKILL");
        child.wait().expect("reaped");
        left += files(&temporary).len();
    }
    // More than the file of the user and the one that says whose folder it is, in each round.
    assert!(left > 2 * 4, "the kills came too early: {left}");
    // What the supervisors of the last one still have to end.
    std::thread::sleep(Duration::from_millis(500));
    assert!(campaign("9").status().expect("strait starts").success());
    let user = temporary.join("strait-of-the-user/owner");
    let rest: Vec<PathBuf> = files(&temporary).into_iter().filter(|path| *path != user).collect();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert!(rest[0].ends_with("STRAIT-TEMPORARY-FILES"), "{rest:?}");
    assert!(user.exists(), "a file of the user was removed");
}

/// All files and empty folders below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let inner = match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path()),
            _ => Vec::new(),
        };
        found.extend(if inner.is_empty() { vec![entry.path()] } else { inner });
    }
    found
}
