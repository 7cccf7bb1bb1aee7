//! `strait types` with stand-in compilers: one that hangs is recorded and the campaign goes on; what an
//! earlier campaign has found is no news; a campaign is taken up where it was left.

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

    // The same one, with more to do.
    let (end, told) = types(folder.path(), &["--resume", "--count", "30"]);
    assert_eq!(end, End::Exited(0), "{told:#}");
    assert_eq!((&told["programs"], &told["programs_before"]), (&10.into(), &20.into()), "{told:#}");
}
