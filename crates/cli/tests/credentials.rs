//! `strait fuzz --queue` and `strait worker` at a server that asks for everything at once: TLS, a
//! certificate of the client's and a creds file. Who has them works as ever; who has not hears what is
//! wrong, with exit code 2, and no secret is repeated.

#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "../../queue/tests/support/authority.rs"]
mod authority;
#[path = "../../queue/tests/support/server.rs"]
mod server;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use authority::{Authority, Operator, creds, tls, written};
use server::Server;

const HERE: &str = "127.0.0.1";

/// Ends with the test, whatever happens.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn strait(arguments: &[&str], variables: &[(&str, &Path)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(arguments).arg("--quiet").envs(variables.iter().copied()).stdin(Stdio::null());
    for name in ["CREDS", "NKEY", "USER", "PASSWORD", "TOKEN", "CA", "CERT", "KEY", "CONTEXT"] {
        let name = format!("NATS_{name}");
        if !variables.iter().any(|(known, _)| *known == name) {
            command.env_remove(name);
        }
    }
    command
}

#[test]
fn who_has_the_credentials_works_and_who_has_not_hears_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (authority, operator) = (Authority::new(folder, "ours"), Operator::new());
    let configuration =
        tls(&authority.sign(folder, HERE), Some(&authority)) + &operator.configuration;
    let Some(mut server) = Server::configured(HERE, &configuration) else { return };
    let address = server.address("night").replace("nats://", "tls://");
    let client = authority.sign(folder, "client");
    let (user, seed) = operator.user(folder, "user.creds");
    let user = user.to_str().expect("UTF-8");
    let ca = ("NATS_CA", authority.file.as_path());
    let own = [("NATS_CERT", client.certificate.as_path()), ("NATS_KEY", client.key.as_path())];
    let all = [ca, own[0], own[1]];
    let out = folder.join("out").display().to_string();
    let fuzz = ["fuzz", "broken-aborts", "--seed", "11", "--count", "64", "--out", &out];
    let queue = ["--queue", &address, "--creds", user];

    let worker = ["worker", "--queue", &address, "--creds", user, "--jobs", "1"];
    let worker = strait(&worker, &all).stdout(Stdio::null()).spawn().expect("it starts");
    let _worker = Worker(worker);
    // It is there while the server is restarted, and comes back with what it has.
    std::thread::sleep(Duration::from_secs(1));
    server.restart(Duration::from_millis(100));
    let fuzzed = strait(&fuzz, &all).args(queue).output().expect("it runs");
    let said = String::from_utf8_lossy(&fuzzed.stderr).into_owned();
    assert_eq!(fuzzed.status.code(), Some(1), "{said}");

    let text = std::fs::read_to_string(user).expect("readable");
    let token = text.lines().nth(1).expect("a token");
    let (_, foreign) = Operator::new().user(folder, "foreign.creds");
    let forged = written(folder, "forged.creds", &creds(token, &foreign));
    let refused = |output: Output, word: &str| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(word), "no `{word}` in: {said}");
        let secrets = [&seed, &foreign, &token.to_owned()];
        assert!(!secrets.iter().any(|secret| said.contains(*secret)), "a secret: {said}");
    };
    let other = ["fuzz", "broken-aborts", "--count", "1", "--out", "never-made"];
    let with = |arguments: &[&str], variables: &[(&str, &Path)]| {
        let mut command = strait(&other, variables);
        command.args(["--queue", &address]).args(arguments).current_dir(folder);
        command.output().expect("it runs")
    };
    refused(with(&[], &all), "--creds");
    refused(with(&["--creds", forged.to_str().expect("UTF-8")], &all), "--creds");
    refused(with(&["--creds", "missing.creds"], &all), "cannot read the creds file missing.creds");
    refused(with(&["--creds", user], &own), "NATS_CA");
    refused(with(&["--creds", user], &[ca]), "NATS_CERT");
    let secret = format!("tls://{seed}@{HERE}/night");
    let output = strait(&other, &all).args(["--queue", &secret]).output().expect("it runs");
    refused(output, "others can read command lines");
    // It asks for nothing, not even TLS.
    let Some(plain) = Server::start(HERE) else { return };
    let address = plain.address("night");
    let output = strait(&other, &all).args(["--queue", &address]).output().expect("it runs");
    refused(output, "write nats:// and no NATS_CA");
    assert!(!folder.join("never-made").exists(), "a folder was made for nothing");
}
