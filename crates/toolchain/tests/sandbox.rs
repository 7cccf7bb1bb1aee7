//! Programs in a sandbox: what they can do as ever, and what they cannot. Where the system has no user
//! namespaces the tests say so and check that nothing runs without them.

#![allow(clippy::print_stderr, reason = "what cannot be tested is said aloud")]

mod support;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strait_toolchain::{End, Error, Finished, Launcher, Limits, Resource, Sandbox, Spec, run};
use support::{eventually, launcher, mark, marked};

/// Bytes that a program can write besides what is named for it.
const DISK: u64 = 16 << 20;

/// A launcher with a sandbox, or nothing where there is none.
fn sandboxed() -> Option<Launcher> {
    let sandbox = Sandbox::of_this_user(DISK);
    match sandbox.check(&launcher()) {
        Ok(()) => Some(launcher().sandboxed(sandbox)),
        Err(Error::NoSandbox { reason }) => {
            assert!(std::env::var_os("CI").is_none(), "no sandbox: {reason}");
            eprintln!("SKIPPED: {reason}");
            let refused = run(&launcher().sandboxed(sandbox), &shell("echo it runs"));
            assert!(matches!(refused, Err(Error::CannotStart { .. })), "{refused:?}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn shell(script: &str) -> Spec {
    Spec::new("sh").arguments(["-c", script])
}

fn finish(launcher: &Launcher, spec: &Spec) -> Finished {
    run(launcher, spec).expect("it can be started")
}

fn said(launcher: &Launcher, spec: &Spec) -> String {
    let finished = finish(launcher, spec);
    format!("{}{}{}", finished.stdout.text(), finished.stderr.text(), finished.end)
}

#[test]
fn an_end_is_the_same_value_inside() {
    let Some(launcher) = sandboxed() else { return };
    let table = [
        ("true", "exit code 0"),
        ("exit 7", "exit code 7"),
        ("exit 127", "exit code 127"),
        ("exit 255", "exit code 255"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("kill -BUS $$", "SIGBUS"),
        ("kill -ABRT $$", "SIGABRT"),
        ("kill -KILL $$", "SIGKILL"),
        ("kill -TERM $$", "SIGTERM"),
    ];
    for (script, end) in table {
        assert_eq!(finish(&launcher, &shell(script)).end.to_string(), end, "{script}");
    }
    let missing = run(&launcher, &Spec::new("/none/such"));
    assert!(matches!(missing, Err(Error::CannotStart { .. })), "{missing:?}");
}

#[test]
fn input_output_folder_and_environment_arrive() {
    let Some(launcher) = sandboxed() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("there");
    let spec = shell("cat; pwd; echo $WORD; echo problem >&2; echo x > written; exit 3")
        .input("given\n")
        .directory(&folder)
        .writable(&folder)
        .variable("WORD", "two words");
    // Cargo has set this one, and no program inside needs it.
    let secret = shell("echo ${CARGO_PKG_NAME:-nothing}; cat /proc/1/environ");
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "run it with cargo");
    assert_eq!(finish(&launcher, &secret).stdout.text(), "nothing\n");
    let finished = finish(&launcher, &spec);
    assert_eq!(finished.stdout.text(), format!("given\n{}\ntwo words\n", folder.display()));
    assert_eq!((finished.stderr.text().as_str(), finished.end), ("problem\n", End::Exited(3)));
    assert_eq!(fs::read_to_string(folder.join("written")).expect("written"), "x\n");
}

/// A folder below the user's home, which is removed at the end.
fn below_home() -> Option<(PathBuf, tempfile::TempDir)> {
    let home = PathBuf::from(std::env::var_os("HOME")?).canonicalize().ok()?;
    let folder = tempfile::Builder::new().prefix(".strait-test-").tempdir_in(&home).ok()?;
    Some((home, folder))
}

#[test]
fn nothing_is_written_that_was_not_named() {
    let Some(launcher) = sandboxed() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("there");
    fs::write(folder.join("kept"), "old").expect("written");
    let temporary = std::env::temp_dir().join(format!("strait-outside-{}", std::process::id()));
    let name = temporary.file_name().expect("a name").to_string_lossy().into_owned();
    let (home, secret) = below_home().expect("a home that can be written to");
    fs::write(secret.path().join("key"), "secret").expect("written");
    let key = secret.path().join("key").display().to_string();
    let rows = [
        // In private places a program can write, and what it writes is its own.
        (format!("echo x > /tmp/{name} && cat /tmp/{name}"), "x\nexit code 0"),
        (
            format!("echo x > {}/{name} && cat {}/{name}", home.display(), home.display()),
            "x\nexit code 0",
        ),
        (format!("cat {key} 2>/dev/null || echo hidden"), "hidden\nexit code 0"),
        (format!("echo x 2>/dev/null > /etc/{name} || echo refused"), "refused\nexit code 0"),
        (format!("echo x 2>/dev/null > /usr/{name} || echo refused"), "refused\nexit code 0"),
        ("mount -o remount,rw / 2>/dev/null || echo refused".to_owned(), "refused\nexit code 0"),
        ("unshare -Ur true 2>/dev/null || echo refused".to_owned(), "refused\nexit code 0"),
        (
            "echo 1 2>/dev/null > /proc/sys/kernel/panic || echo refused".to_owned(),
            "refused\nexit code 0",
        ),
        (
            "ls /dev | tr '\\n' ' '".to_owned(),
            "fd full null random shm stderr stdin stdout urandom zero exit code 0",
        ),
        // A copy can be changed, and the original stays.
        ("echo new > kept; echo more > added; cat kept added".to_owned(), "new\nmore\nexit code 0"),
    ];
    for (script, expected) in rows {
        let spec = shell(&script).directory(&folder).copied(&folder);
        // The shell says first what it cannot open.
        let all = said(&launcher, &spec);
        let told: Vec<&str> = all.lines().filter(|line| !line.contains("cannot create")).collect();
        assert_eq!(told.join("\n"), expected, "{script}");
    }
    for place in [Path::new("/tmp"), &home, Path::new("/etc"), Path::new("/usr")] {
        assert!(!place.join(&name).exists(), "it is in {}", place.display());
    }
    assert_eq!(fs::read_to_string(folder.join("kept")).expect("there"), "old");
    assert!(!folder.join("added").exists());
}

#[test]
fn what_is_named_can_be_read_below_a_hidden_folder_and_not_be_written() {
    let Some(launcher) = sandboxed() else { return };
    let (_, folder) = below_home().expect("a home that can be written to");
    let file = folder.path().join("file");
    fs::write(&file, "text").expect("written");
    let script = format!("cat {0}; echo x 2>/dev/null > {0} || echo ' refused'", file.display());
    let spec = shell(&script).readable(folder.path());
    assert!(said(&launcher, &spec).starts_with("text refused\n"), "{}", said(&launcher, &spec));
    assert_eq!(fs::read_to_string(&file).expect("there"), "text");
}

#[test]
fn the_network_inside_is_another_one() {
    let Some(launcher) = sandboxed() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached");
    let spec = Spec::new("bash").arguments(["-c", &connect]);
    let outside = finish(&launcher, &spec.clone().outside_sandbox());
    assert_eq!(outside.stdout.text(), "reached\n", "without the sandbox it is reached");
    let inside = finish(&launcher, &spec);
    assert_eq!((inside.stdout.text().as_str(), inside.end), ("", End::Exited(1)));
    assert!(inside.stderr.text().contains("refused"), "{}", inside.stderr.text());
}

#[test]
fn processes_outside_cannot_be_seen_or_ended() {
    let Some(launcher) = sandboxed() else { return };
    let spec = shell(&format!(
        "kill -9 {} 2>/dev/null || echo safe; ls -d /proc/[0-9]*",
        std::process::id()
    ));
    let finished = finish(&launcher, &spec);
    let text = finished.stdout.text();
    assert!(text.starts_with("safe\n"), "{text}");
    assert!(text.lines().count() < 10, "{text}");
}

#[test]
fn too_much_is_contained_and_named() {
    let Some(launcher) = sandboxed() else { return };
    // The file system in memory is full after a moment, and the program goes on.
    let large = format!("/tmp/strait-large-{}", std::process::id());
    let script = format!("head -c 200000000 /dev/zero > {large}; echo $?; stat -c %s {large}");
    let full = finish(&launcher, &shell(&script));
    let text = full.stdout.text();
    let mut lines = text.lines();
    assert_ne!(lines.next(), Some("0"), "{text}");
    let size: u64 = lines.next().and_then(|size| size.parse().ok()).expect("a size");
    assert!(size <= DISK, "{size}");
    assert!(!Path::new(&large).exists(), "it is on the disk");

    let limits = Limits { memory: Some(200 << 20), family: Some(50), ..Limits::default() };
    let patient = Duration::from_secs(60);
    let rows = [
        // A shell that doubles a text.
        ("x=xxxxxxxx; while true; do x=$x$x; done", Resource::Memory),
        ("f() { f | f & }; f; sleep 2", Resource::Processes),
        (
            "f() { setsid sh -c 'while true; do sleep 60 & done' & }; f; f; sleep 60",
            Resource::Processes,
        ),
    ];
    for (script, resource) in rows {
        let started = Instant::now();
        let spec = shell(script).limits(limits).wall(patient);
        let finished = finish(&launcher, &spec);
        // The system may refuse a process before the supervisor looks, and the program gives up.
        let gave_up = resource == Resource::Processes && finished.stderr.text().contains("fork");
        assert!(gave_up || finished.end == End::OverLimit(resource), "{script}: {finished:?}");
        assert!(started.elapsed() < patient / 2, "{script}: {:?}", started.elapsed());
    }
}

#[test]
fn a_polite_program_may_clean_up_inside() {
    let Some(launcher) = sandboxed() else { return };
    let spec =
        shell("trap 'echo cleaned; exit 0' TERM; echo ready; while true; do sleep 0.05; done");
    let spec = spec.wall(Duration::from_secs(3)).grace(support::LONG);
    let finished = finish(&launcher, &spec);
    let expected = (End::TimedOut, "ready\ncleaned\n");
    assert_eq!((finished.end, finished.stdout.text().as_str()), expected);
}

#[test]
fn nothing_inside_outlives_the_program_or_its_supervisor() {
    let Some(launcher) = sandboxed() else { return };
    let mark = mark();
    let script = format!("sleep {mark} & (setsid sleep {mark} &) ; exit 5");
    assert_eq!(finish(&launcher, &shell(&script)).end, End::Exited(5));
    assert_eq!(marked(&mark), Vec::<String>::new());

    let script = format!("sleep {mark} & (setsid sleep {mark} &) ; sleep {mark}");
    let running = std::thread::spawn(move || run(&launcher, &shell(&script)));
    let supervisor = || marked(&mark).into_iter().find(|line| line.contains("__supervise"));
    eventually("the program runs", || supervisor().is_some() && marked(&mark).len() >= 5);
    let number =
        supervisor().and_then(|line| line.split(' ').next()?.parse().ok()).expect("a number");
    let number = rustix::process::Pid::from_raw(number).expect("not zero");
    rustix::process::kill_process(number, rustix::process::Signal::KILL).expect("ours");
    running.join().expect("no panic").expect_err("nobody reports");
    eventually("all are gone", || marked(&mark).is_empty());
}

/// In a sandbox there are no user namespaces, as on a system that forbids them.
#[test]
fn a_system_without_user_namespaces_says_so() {
    let Some(launcher) = sandboxed() else { return };
    let spec = Spec::new(launcher.program()).arguments(["check"]);
    let outside = finish(&launcher, &spec.clone().outside_sandbox());
    assert_eq!(outside.stdout.text(), "yes\n");
    let inside = finish(&launcher, &spec).stdout.text();
    let expected = "programs cannot be put into a sandbox on this machine: the system allows no more \
                    user namespaces (user.max_user_namespaces)\n";
    assert_eq!(inside, expected);
}
