//! A nats-server of a test's own: file storage in a temporary folder, a free port, ended with the test.
//!
//! tidy: starts a process because the server must be killed and started again.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The file in its folder.
const CONFIGURATION: &str = "server.conf";

/// A server that can be killed and started again with what it had.
pub struct Server {
    program: PathBuf,
    folder: tempfile::TempDir,
    pub host: String,
    port: u16,
    child: Child,
    /// Does it start again without anything it had?
    pub is_forgetful: bool,
}

/// nats-server, or `None` with a loud word; where CI is set, that is a failure.
fn program() -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&paths).chain(["/usr/sbin".into(), tools]);
    let found = folders.map(|folder| folder.join("nats-server")).find(|path| path.is_file());
    if found.is_none() {
        let why = "the queue: there is no nats-server; `cargo xtask test` brings one";
        assert!(std::env::var_os("CI").is_none(), "SKIPPED {why}");
        eprintln!("SKIPPED {why}");
    }
    found
}

impl Server {
    /// Starts one that listens at this address, if there is one.
    pub fn start(host: &str) -> Option<Server> {
        Server::configured(host, "")
    }

    /// Starts one with more in its configuration.
    pub fn configured(host: &str, configuration: &str) -> Option<Server> {
        let program = program()?;
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(CONFIGURATION), configuration).expect("written");
        let listener = TcpListener::bind((host, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let child = spawn(&program, folder.path(), host, port);
        let (host, is_forgetful) = (host.to_owned(), false);
        let server = Server { program, folder, host, port, child, is_forgetful };
        server.wait();
        Some(server)
    }

    /// Its address for a queue of this name.
    pub fn address(&self, name: &str) -> String {
        format!("nats://{}:{}/{name}", self.host, self.port)
    }

    /// Kills it and starts it again after a while.
    pub fn restart(&mut self, away: Duration) {
        self.child.kill().expect("ours");
        self.child.wait().expect("ours");
        if self.is_forgetful {
            std::fs::remove_dir_all(self.folder.path().join("jetstream")).expect("its files");
        }
        std::thread::sleep(away);
        self.child = spawn(&self.program, self.folder.path(), &self.host, self.port);
        self.wait();
    }

    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect((self.host.as_str(), self.port)).is_err() {
            assert!(Instant::now() < deadline, "nats-server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(program: &Path, folder: &Path, host: &str, port: u16) -> Child {
    let mut command = Command::new(program);
    command.args(["-js", "-a", host, "-p", &port.to_string(), "-sd"]).arg(folder);
    command.arg("-c").arg(folder.join(CONFIGURATION));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("nats-server starts")
}
