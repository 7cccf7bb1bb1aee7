//! `strait go verify` ends soon when its time is up and after SIGTERM, while packages
//! are read as well as while an entry is checked.
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it is sent signals")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const STRAIT: &str = env!("CARGO_BIN_EXE_strait");

/// When it has to be over after that, on a machine that does many other things too.
const SOON: Duration = Duration::from_secs(10);

/// The `go` of this machine; nothing, loudly, without one.
fn go() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join("go")).find(|go| go.is_file());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "SKIPPED, which CI needs: there is no go");
        eprintln!("SKIPPED: there is no go");
    }
    found
}

/// A `go` that takes a minute to list packages, and says so in a file.
fn slow_go(folder: &Path, go: &Path) {
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = list ]; then echo $$ > {}/listing; sleep 60; fi\nexec {} \"$@\"\n",
        folder.display(),
        go.display()
    );
    let path = folder.join("go");
    fs::write(&path, script).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script that runs");
}

/// `strait go verify` in the corpus, with another folder before those of PATH.
fn start(arguments: &[&str], before: Option<&Path>) -> Child {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = before.map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("folders");
    Command::new(STRAIT)
        .args(["go", "verify"])
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/go"))
        .env("PATH", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("strait starts")
}

/// How it ended, in how much time, and what it said.
fn end(child: Child, since: Instant) -> (Option<i32>, Duration, String) {
    let output = child.wait_with_output().expect("it ends");
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (output.status.code(), since.elapsed(), said.concat())
}

fn terminate(child: &Child) -> Instant {
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    Instant::now()
}

fn wait_for(file: &Path) -> Instant {
    let started = Instant::now();
    // The helper may have to be built first.
    while !file.exists() {
        assert!(started.elapsed() < Duration::from_secs(300), "{} is not there", file.display());
        thread::sleep(Duration::from_millis(20));
    }
    Instant::now()
}

fn is_alive(process: &str) -> bool {
    let sent = Command::new("kill").args(["-0", process]).stderr(Stdio::null()).status();
    sent.expect("kill is there").success()
}

#[test]
fn reading_packages_ends_in_time() {
    let Some(go) = go() else { return };
    // Once without a limit, so that the helper is there.
    let (code, _, said) = end(start(&["./sieve", "--states", "10"], None), Instant::now());
    assert_eq!(code, Some(0), "{said}");
    for (arguments, signal, expected) in [
        (&["--extraction-time", "3s"][..], false, "reading the packages takes longer than 3s"),
        (&[], true, "interrupted while the packages were read"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        slow_go(folder.path(), &go);
        let started = Instant::now();
        let child = start(&[&["./sieve"], arguments].concat(), Some(folder.path()));
        let listing = folder.path().join("listing");
        let began = wait_for(&listing);
        let since = if signal { terminate(&child) } else { began };
        let (code, took, said) = end(child, since);
        let limit = if signal { SOON } else { Duration::from_secs(3) + SOON };
        assert!(took < limit, "{took:?} of {:?}: {said}", started.elapsed());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
        let process = fs::read_to_string(&listing).expect("a number");
        assert!(!is_alive(process.trim()), "go list is still there");
    }
}

#[test]
fn checking_an_entry_ends_in_time() {
    if go().is_none() {
        return;
    }
    let endless =
        ["./sieve", "--states", "1000000000", "--no-reduction", "--extraction-time", "5m"];
    // The time of the entry, and some seconds for reading the package.
    let reading = Instant::now();
    end(start(&["./sieve", "--states", "10"], None), Instant::now());
    let reading = reading.elapsed() * 2;
    let (_, took, said) =
        end(start(&[&endless[..], &["--time", "2s"]].concat(), None), Instant::now());
    assert!(took < reading + Duration::from_secs(2) + SOON, "{took:?}: {said}");
    assert!(said.contains("1 unknown (time 1)"), "{said}");
    let child = start(&[&endless[..], &["--time", "10m"]].concat(), None);
    thread::sleep(reading + Duration::from_secs(1));
    let since = terminate(&child);
    let (code, took, said) = end(child, since);
    assert!(took < SOON, "{took:?}: {said}");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 unknown (interrupted 1)"), "{said}");
}
