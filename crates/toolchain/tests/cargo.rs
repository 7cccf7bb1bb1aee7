//! The user's cargo: missing, strange, refusing, and the real one. What needs the registry is skipped
//! aloud when there is none.

#![expect(clippy::print_stdout, reason = "what is skipped is said aloud")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use strait_toolchain::{
    Built, Cache, Cargo, Dependency, Error, Harness, Launcher, Spec, Version, run, within,
};

fn launcher() -> Launcher {
    Launcher::of(env!("CARGO_BIN_EXE_strait-toolchain-subject"))
}

/// A cargo that follows a script. `$1` is the subcommand; it runs in the folder of the harness.
fn scripted(folder: &Path, script: &str) -> Cargo {
    let program = folder.join("cargo");
    let head = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo cargo 1.0.0; exit 0; fi\necho \"$@\" >> ../../../log\n";
    fs::write(&program, format!("{head}{script}")).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    Cargo::at(&launcher(), program).expect("it answers")
}

fn harness(name: &str, version: &str) -> Harness {
    Harness {
        name: "probe".into(),
        pinned: Dependency { alias: Some("target".into()), ..Dependency::new(name, version) },
        dependencies: String::new(),
        tables: String::new(),
        files: vec![("src/main.rs".into(), "fn main() { let (s, r) = target::unbounded(); s.send(7).unwrap(); println!(\"{:?}\", r.recv()); }".into())],
    }
}

#[test]
fn a_missing_or_strange_cargo_is_named() {
    let error = Cargo::at(&launcher(), "/no/such/cargo").expect_err("there is none");
    assert!(error.to_string().contains("cannot start /no/such/cargo"), "{error}");
    let error = Cargo::at(&launcher(), "echo").expect_err("that is echo");
    assert!(error.to_string().contains("set CARGO to a working cargo"), "{error}");
    let error = Error::NoCargo { tried: None }.to_string();
    assert!(error.contains("https://rustup.rs"), "{error}");
}

#[test]
fn a_refusal_becomes_one_clear_sentence() {
    let table = [
        (
            "error: Could not resolve host: index.crates.io",
            "x 1.2.3 is not in cargo's cache and the registry cannot be reached",
        ),
        ("error: no matching package named `x` found", "there is no crate `x` in the registry"),
        (
            "error: failed to select a version for the requirement `x = \"=1.2.3\"`",
            "there is no version 1.2.3 of `x`",
        ),
        (
            "error: something else",
            "cargo cannot resolve the dependencies of the harness for x 1.2.3",
        ),
    ];
    for (said, expected) in table {
        let folder = tempfile::tempdir().expect("a folder");
        let cargo =
            scripted(folder.path(), &format!("echo '{}' >&2; exit 101", said.replace('\'', "")));
        let error = cargo
            .build(&Cache::at(folder.path().join("cache")), &harness("x", "1.2.3"))
            .expect_err("refused");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

/// Refused as `=1.2.3`, locked as a newer one, then put right; the second time it is there.
const YANKED: &str = r#"
case "$1" in
generate-lockfile)
    if grep -q '"=' Cargo.toml; then
        echo 'error: failed to select a version for the requirement `x = "=1.2.3"`' >&2
        echo '  version 1.2.3 is yanked' >&2
        exit 101
    fi
    printf '[[package]]\nname = "probe"\nversion = "0.0.0"\ndependencies = ["x 1.9.0"]\n' > Cargo.lock
    printf '[[package]]\nname = "x"\nversion = "0.1.0"\n[[package]]\nname = "x"\nversion = "1.9.0"\n' >> Cargo.lock ;;
build)
    mkdir -p "$5/release"; printf '#!/bin/sh\necho built' > "$5/release/probe"; chmod +x "$5/release/probe"
    echo "{\"target\":{\"name\":\"probe\"},\"executable\":\"$5/release/probe\"}" ;;
esac
"#;

#[test]
fn a_yanked_version_is_put_into_the_lock_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cargo, cache) = (scripted(folder.path(), YANKED), Cache::at(folder.path().join("cache")));
    let harness = harness("x", "1.2.3");
    let built = cargo.build(&cache, &harness).expect("it works out");
    assert!(!built.reused);
    let said = run(&launcher(), &Spec::new(&built.program)).expect("it starts").stdout.text();
    assert_eq!(said, "built\n");
    assert!(cargo.build(&cache, &harness).expect("it is there").reused);
    let log = fs::read_to_string(folder.path().join("log")).expect("cargo ran");
    let commands: Vec<&str> =
        log.lines().map(|line| line.split(" --target-dir").next().unwrap_or(line)).collect();
    let expected = [
        "generate-lockfile",
        "generate-lockfile",
        "update --package x@1.9.0 --precise 1.2.3",
        "build --release --locked",
    ];
    assert_eq!(commands, expected);
}

#[test]
fn names_that_leave_the_cache_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cargo, cache) =
        (scripted(folder.path(), "exit 1"), Cache::at(folder.path().join("cache")));
    let mut outside = harness("x", "1.2.3");
    outside.files.push(("../../outside".into(), "x".into()));
    assert!(matches!(cargo.build(&cache, &outside), Err(Error::BadName { .. })));
    assert!(matches!(cargo.build(&cache, &harness("../x", "1.2.3")), Err(Error::BadName { .. })));
    assert!(matches!(cargo.build(&cache, &harness("x", "1.2")), Err(Error::BadVersion { .. })));
}

/// The result, unless there is no network.
fn with_network<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ Error::Offline { .. }) => {
            println!("skipped, no network: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_real_cargo_knows_all_versions_and_builds_a_yanked_one() {
    let cargo = Cargo::find(&launcher()).expect("these tests run with cargo");
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::at(folder.path());
    let Some(published) = with_network(cargo.published(&cache, "crossbeam-channel")) else {
        return;
    };
    let (from, to) = (Version::new(0, 5, 12), Version::new(0, 5, 15));
    let versions: Vec<String> =
        within(&published, &from, &to).iter().map(|one| one.version.to_string()).collect();
    assert_eq!(versions, ["0.5.12", "0.5.13", "0.5.14", "0.5.15"]);
    assert!(published.iter().any(|one| one.version == Version::new(0, 5, 13) && one.yanked));

    let error =
        cargo.build(&cache, &harness("crossbeam-channel", "0.5.999")).expect_err("there is none");
    assert!(matches!(error, Error::NoSuchVersion { .. }), "{error}");
    let error =
        cargo.published(&cache, "strait-no-such-crate-anywhere").expect_err("there is none");
    assert!(matches!(error, Error::NoSuchCrate { .. }), "{error}");

    let Some(Built { program, .. }) =
        with_network(cargo.build(&cache, &harness("crossbeam-channel", "0.5.13")))
    else {
        return;
    };
    let said =
        run(&launcher(), &Spec::new(PathBuf::from(&program))).expect("it starts").stdout.text();
    assert_eq!(said, "Ok(7)\n");

    let mut broken = harness("crossbeam-channel", "0.5.13");
    broken.files[0].1.push_str("fn f() -> u8 { \"no number\" }");
    let error = cargo.build(&cache, &broken).expect_err("it does not compile");
    assert!(error.to_string().contains("mismatched types"), "{error}");
}
