//! Go modules and compilers that do harm, run by a `strait worker`: each attempt is contained, the
//! campaign completes and says what happened. Without a sandbox the same attempts succeed, so the tests
//! could fail. Where the system has no user namespaces, that the worker says so is all that is tested.

#![allow(clippy::print_stderr, reason = "what cannot be tested is said aloud")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "../../queue/tests/support/server.rs"]
mod server;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use server::Server;

/// Ends with the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn strait(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command
}

fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn has_go() -> bool {
    let found = Command::new("go").arg("version").output().is_ok();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "go is missing");
        eprintln!("SKIPPED: go is missing");
    }
    found
}

/// A folder with a module, and one for the worker's temporary files.
struct Home {
    _folder: tempfile::TempDir,
    root: PathBuf,
    module: PathBuf,
}

impl Home {
    fn with(files: &[(&str, &str)]) -> Home {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        let module = root.join("module");
        for (name, content) in files {
            let path = module.join(name);
            fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
            fs::write(path, content).expect("written");
        }
        fs::create_dir(root.join("temporary")).expect("a folder");
        Home { _folder: folder, root, module }
    }

    /// Runs a campaign over the module with one worker. The documents of the campaign and of the worker.
    fn campaign(&self, server: &Server, name: &str, flags: &[&str]) -> (Value, Value) {
        let fuzz = ["go", "fuzz", "--runs", "3", "--seed", "5", "--time", "10m"];
        self.run(server, name, &fuzz, flags)
    }

    fn run(
        &self,
        server: &Server,
        name: &str,
        campaign: &[&str],
        flags: &[&str],
    ) -> (Value, Value) {
        let address = server.address(name);
        let worker =
            ["worker", "--queue", &address, "--json", "--jobs", "1", "--accept", "go,types"];
        let mut worker = strait(&worker, &self.root);
        worker.args(flags).env("TMPDIR", self.root.join("temporary"));
        let worker = worker.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut worker = Running(worker);
        let out = format!("../out-{name}");
        let queued = ["--json", "--queue", &address, "--out", &out];
        let told = strait(campaign, &self.module).args(queued).output().expect("it runs");
        let id = worker.0.id().to_string();
        assert!(Command::new("kill").arg(id).status().expect("kill is there").success());
        let stdout = worker.0.stdout.take().expect("piped");
        let stdout = std::io::read_to_string(stdout).expect("text");
        worker.0.wait().expect("ours");
        (document(&told), serde_json::from_str(&stdout).expect("a document"))
    }

    /// What the worker has left in the folder for its temporary files.
    fn left(&self) -> Vec<PathBuf> {
        let ours = fs::read_dir(self.root.join("temporary")).expect("there").flatten();
        let inside = ours.flat_map(|entry| fs::read_dir(entry.path()).expect("there").flatten());
        inside.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    }
}

/// Whether the worker had a sandbox. That it has none is said, and is a failure where it must not be.
fn had_sandbox(worker: &Value) -> bool {
    let used = worker["sandbox"]["used"].as_bool().expect("it says so");
    if !used {
        let reason = worker["sandbox"]["reason"].as_str().expect("a reason");
        assert!(std::env::var_os("CI").is_none(), "no sandbox: {reason}");
        eprintln!("SKIPPED: {reason}");
    }
    used
}

fn names(list: &Value) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    let mut names: Vec<String> =
        list.map(|one| one.as_str().expect("a name").replace("example.com/hostile ", "")).collect();
    names.sort();
    names
}

const GO_MOD: &str = "module example.com/hostile\n\ngo 1.24\n";

/// Writes to the home, to the system and to its own folder, connects to a port outside, and looks for
/// processes outside to kill.
fn escapes(port: u16, name: &str) -> String {
    format!(
        "package hostile

import (
	\"net\"
	\"os\"
	\"path/filepath\"
	\"strconv\"
	\"testing\"
	\"time\"
)

func TestWritesHome(t *testing.T) {{
	home, _ := os.UserHomeDir()
	os.WriteFile(filepath.Join(home, \"{name}\"), nil, 0o600)
	os.WriteFile(filepath.Join(\"/var/tmp\", \"{name}\"), nil, 0o600)
}}

func TestWritesItsFolder(t *testing.T) {{
	if err := os.WriteFile(\"golden\", nil, 0o600); err != nil {{
		t.Fatal(err)
	}}
}}

func TestConnects(t *testing.T) {{
	connection, err := net.DialTimeout(\"tcp\", \"127.0.0.1:{port}\", 5*time.Second)
	if err == nil {{
		connection.Close()
	}}
}}

func TestListens(t *testing.T) {{
	listener, err := net.Listen(\"tcp\", \"127.0.0.1:0\")
	if err != nil {{
		t.Fatal(err)
	}}
	go func() {{
		if connection, err := net.Dial(\"tcp\", listener.Addr().String()); err == nil {{
			connection.Close()
		}}
	}}()
	connection, err := listener.Accept()
	if err != nil {{
		t.Fatal(err)
	}}
	connection.Close()
	listener.Close()
}}

func TestSeesNobody(t *testing.T) {{
	entries, _ := os.ReadDir(\"/proc\")
	for _, entry := range entries {{
		if number, err := strconv.Atoi(entry.Name()); err == nil && number > 100 {{
			t.Fatal(\"there is a process\", number)
		}}
	}}
}}
"
    )
}

#[test]
fn a_module_in_a_sandbox_reaches_nothing_outside_and_one_without_does() {
    if !has_go() {
        return;
    }
    let Some(mut server) = Server::start("127.0.0.1") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let (reached, noticed) = (Arc::new(AtomicBool::new(false)), listener);
    let flag = Arc::clone(&reached);
    std::thread::spawn(move || {
        for _ in noticed.incoming() {
            flag.store(true, Ordering::SeqCst);
        }
    });
    let name = format!(".strait-escaped-{}", std::process::id());
    let home = PathBuf::from(std::env::var_os("HOME").expect("a home"));
    let written = [home.join(&name), Path::new("/var/tmp").join(&name)];
    let module = Home::with(&[("go.mod", GO_MOD), ("hostile_test.go", &escapes(port, &name))]);

    let (told, worker) = module.campaign(&server, "inside", &[]);
    if had_sandbox(&worker) {
        assert_eq!(told["tests"], 5, "{told}");
        assert_eq!(told["undone"], Value::Array(Vec::new()));
        assert_eq!(names(&told["failing"]), Vec::<String>::new());
        for path in &written {
            assert!(!path.exists(), "{} was written", path.display());
        }
        assert!(!reached.load(Ordering::SeqCst), "the port was reached");
        assert_eq!(module.left(), Vec::<PathBuf>::new());
    }

    server.restart(Duration::from_millis(100));
    let (told, worker) = module.campaign(&server, "outside", &["--no-sandbox"]);
    assert_eq!(worker["sandbox"]["used"], false);
    assert_eq!(told["undone"], Value::Array(Vec::new()));
    for path in &written {
        assert!(path.exists(), "{} was not written without a sandbox", path.display());
        fs::remove_file(path).expect("ours");
    }
    assert!(reached.load(Ordering::SeqCst), "the port was not reached without a sandbox");
}

const HARM: &str = "package hostile

import (
	\"os\"
	\"os/exec\"
	\"path/filepath\"
	\"syscall\"
	\"testing\"

	\"example.com/dependency\"
)

func TestFine(t *testing.T) {
	answer := make(chan int)
	go func() { answer <- dependency.One() }()
	<-answer
}

func TestAllocates(t *testing.T) {
	var all [][]byte
	for {
		piece := make([]byte, 16<<20)
		for place := 0; place < len(piece); place += 4096 {
			piece[place] = 1
		}
		all = append(all, piece)
	}
}

func TestForks(t *testing.T) {
	for {
		exec.Command(\"sleep\", \"1000\").Start()
	}
}

func fill(t *testing.T, path string) {
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 16000 {
		if _, err := file.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFillsTemporaryFolder(t *testing.T) { fill(t, filepath.Join(os.TempDir(), \"large\")) }

func TestFillsItsFolder(t *testing.T) { fill(t, \"large\") }

func TestKillsItsParent(t *testing.T) {
	syscall.Kill(os.Getppid(), syscall.SIGKILL)
}

func TestKillsAll(t *testing.T) {
	syscall.Kill(-1, syscall.SIGKILL)
}
";

#[test]
fn a_module_that_uses_too_much_is_ended_and_the_campaign_says_why() {
    if !has_go() {
        return;
    }
    let Some(server) = Server::start("127.0.0.1") else { return };
    let requires = format!("{GO_MOD}\nrequire example.com/dependency v1.0.0\n");
    let module = Home::with(&[
        ("go.mod", &requires),
        ("hostile_test.go", HARM),
        (
            "vendor/modules.txt",
            "# example.com/dependency v1.0.0\n## explicit\nexample.com/dependency\n",
        ),
        (
            "vendor/example.com/dependency/one.go",
            "package dependency\n\nfunc One() int { return 1 }\n",
        ),
    ]);
    // Without a sandbox this would do harm.
    let address = server.address("check");
    let check = ["worker", "--queue", &address, "--accept", "go", "--json", "--idle", "1s"];
    let check = document(&strait(&check, &module.root).output().expect("it runs"));
    if !had_sandbox(&check) {
        let refusing = ["worker", "--queue", &address, "--accept", "go", "--require-sandbox"];
        let refused = strait(&refusing, &module.root).output().expect("it runs");
        assert_eq!(refused.status.code(), Some(2));
        return;
    }
    let (told, worker) = module.campaign(&server, "harm", &["--require-sandbox"]);
    assert_eq!(worker["sandbox"]["used"], true);
    assert_eq!(
        (&told["tests"], &told["left_out"]),
        (&Value::from(7), &Value::from(Vec::<Value>::new()))
    );
    assert_eq!(told["undone"], Value::Array(Vec::new()));
    let mut over: Vec<(String, String)> = told["over_limit"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["test"].to_string(), one["resource"].to_string()))
        .collect();
    over.sort();
    let expected = [("TestAllocates", "memory"), ("TestForks", "processes")];
    let expected =
        expected.map(|(test, of)| (format!("\"example.com/hostile {test}\""), format!("\"{of}\"")));
    assert_eq!(over, expected);
    // The system spares the one who kills all others.
    let expected = ["TestFillsItsFolder", "TestFillsTemporaryFolder", "TestKillsItsParent"];
    assert_eq!(names(&told["failing"]), expected);
    assert_eq!(module.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_compiler_in_a_sandbox_writes_nothing_outside_and_one_without_does() {
    let Some(server) = Server::start("127.0.0.1") else { return };
    let name = format!(".strait-compiled-{}", std::process::id());
    let home = PathBuf::from(std::env::var_os("HOME").expect("a home"));
    // It has a version, and does something else besides compiling.
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo 'rustc 1.95.0'; exit 0;; esac\n\
         if grep -q 7i32.*9i32.*7i32 \"$1\"; then touch \"$HOME/{name}\"; kill -SEGV $$; fi\n"
    );
    let folder = Home::with(&[("compiler", &script)]);
    let compiler = folder.module.join("compiler");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&compiler, mode).expect("ours");
    let compiler = compiler.display().to_string();
    let types = ["types", "--fuzzer", "core", "--seed", "1", "--count", "1500"];
    let types = [types.as_slice(), &["--oracle", &compiler]].concat();

    let (told, worker) = folder.run(&server, "compiler", &types, &[]);
    if had_sandbox(&worker) {
        assert_eq!(told["programs"], 1500, "{told}");
        assert_eq!(told["findings"].as_array().expect("a list").len(), 1, "{told}");
        assert!(!home.join(&name).exists(), "the home was written to");
        assert_eq!(folder.left(), Vec::<PathBuf>::new());
    }

    let (told, _) = folder.run(&server, "unprotected", &types, &["--no-sandbox"]);
    assert_eq!(told["findings"].as_array().expect("a list").len(), 1, "{told}");
    assert!(home.join(&name).exists(), "the home was not written to without a sandbox");
    fs::remove_file(home.join(&name)).expect("ours");
}

/// Starts a worker where user namespaces are forbidden, or where they are forbidden anyway.
fn without_namespaces(arguments: &str) -> Output {
    let binary = env!("CARGO_BIN_EXE_strait");
    let forbid = "echo 0 > /proc/sys/user/max_user_namespaces";
    let allowed = Command::new("unshare").args(["-Ur", "sh", "-c", forbid]).output();
    let script = match allowed.is_ok_and(|output| output.status.success()) {
        true => format!("unshare -Ur sh -c '{forbid}; exec {binary} {arguments}'"),
        false => format!("exec {binary} {arguments}"),
    };
    let mut command = Command::new("sh");
    command.args(["-c", &script]).stdin(Stdio::null()).output().expect("a shell")
}

#[test]
fn a_worker_without_a_sandbox_says_so_and_refuses_if_it_is_required() {
    let Some(server) = Server::start("127.0.0.1") else { return };
    let worker = format!("worker --queue {} --idle 1s --json --accept", server.address("bare"));
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();

    let bare = without_namespaces(&format!("{worker} go"));
    assert_eq!(bare.status.code(), Some(0), "{}", said(&bare));
    assert_eq!(document(&bare)["sandbox"]["used"], false);
    assert!(document(&bare)["sandbox"]["reason"].as_str().expect("why").contains("namespaces"));
    assert!(said(&bare).contains("without a sandbox, with limits alone"), "{}", said(&bare));

    let refused = without_namespaces(&format!("{worker} types --require-sandbox"));
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));

    // What Strait itself generates needs none.
    let own = without_namespaces(&format!("{worker} fuzz --require-sandbox"));
    assert_eq!((own.status.code(), &document(&own)["sandbox"]), (Some(0), &Value::Null));
}

/// A test that takes a while.
const LONG: &str = "package hostile

import \"testing\"

func TestLong(t *testing.T) {
	for place := 0; place < 1<<33; place++ {
	}
}

func TestShort(t *testing.T) {}
";

/// The processes with this text in their command line.
fn running(text: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(text)).collect()
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn nothing_is_left_of_a_worker_that_is_killed() {
    if !has_go() {
        return;
    }
    let Some(server) = Server::start("127.0.0.1") else { return };
    let home = Home::with(&[("go.mod", GO_MOD), ("long_test.go", LONG)]);
    let address = server.address("killed");
    let fuzz = ["go", "fuzz", "--runs", "5", "--seed", "5", "--queue", &address, "--out", "../out"];
    let mut campaign = strait(&fuzz, &home.module);
    campaign.stdout(Stdio::null()).stderr(Stdio::null());
    let campaign = Running(campaign.spawn().expect("it starts"));
    let temporary = home.root.join("temporary");
    let place = temporary.display().to_string();
    for _ in 0..3 {
        let arguments = ["worker", "--queue", &address, "--accept", "go", "--jobs", "1"];
        let mut worker = strait(&arguments, &home.root);
        worker.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::null());
        let worker = Running(worker.spawn().expect("it starts"));
        let is_test = |line: &String| line.contains("-test.run=^TestLong");
        eventually("the test runs", || running(&place).iter().any(is_test));
        // That is kill -9.
        drop(worker);
        eventually("all processes are gone", || running(&place).is_empty());
    }
    drop(campaign);
    assert!(!home.left().is_empty(), "there was something to remove");
    let mut next = strait(&["go", "fuzz", "--runs", "1", "--run", "TestShort"], &home.module);
    next.env("TMPDIR", &temporary).args(["--quiet", "--out", "../next"]);
    assert_eq!(next.stdout(Stdio::null()).status().expect("it runs").code(), Some(0));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}
