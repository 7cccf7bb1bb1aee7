//! Campaigns through a real nats-server, with workers in processes of their own that are killed and
//! paused, and a server that is killed and started again: the end is that of a campaign in one process.

#![allow(clippy::print_stdout, reason = "the seed is said, so that it can be given again")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "support/network.rs"]
mod network;
#[path = "support/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use server::Server;
use strait_findings::{Ranges, Store};

const SUBJECT: &str = env!("CARGO_BIN_EXE_strait-queue-subject");
const NOTHING: &str = "none";
const HERE: &str = "127.0.0.1";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(SUBJECT);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit());
    command
}

fn start(arguments: &[&str]) -> Child {
    command(arguments).spawn().expect("it starts")
}

/// Ends with the test, whatever happens.
struct Worker(Child);

impl Worker {
    fn start(address: &str, deadly: &str) -> Worker {
        Worker(start(&["work", address, deadly]))
    }

    fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.expect("kill is there").success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What was executed, how many programs and runs were counted, and what was found how often.
fn results(folder: &Path) -> (Ranges, u64, u64, BTreeMap<String, u64>) {
    let mut store = Store::open(folder).expect("a store");
    let known = store.last_campaign().expect("readable").expect("a campaign");
    let id = store.campaign(known.seed, known.generator_version, &known.settings).expect("known");
    let executed = store.executed(id, "naps", "1").expect("readable");
    let totals = store.totals(id).expect("readable");
    let programs = totals.iter().map(|total| total.programs).sum();
    let runs = totals.iter().map(|total| total.runs).sum();
    let found = store.findings().map(|finding| (finding.id.clone(), finding.count)).collect();
    (executed, programs, runs, found)
}

fn wait(child: &mut Child, limit: Duration) {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().expect("ours") {
            assert!(status.success(), "the campaign failed: {status}");
            return;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the campaign does not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn alone(folder: &Path, count: &str) {
    wait(&mut start(&["alone", &folder.display().to_string(), count]), Duration::from_secs(300));
}

#[test]
fn killed_paused_and_restarted_it_ends_as_if_alone() {
    let Some(mut server) = Server::start(HERE) else { return };
    let (one, other) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let count = "6000";
    alone(one.path(), count);
    let address = server.address("chaos");
    let folder = other.path().display().to_string();
    let mut campaign = start(&["submit", &address, &folder, count, "1500"]);
    let mut workers: Vec<Worker> = (0..3).map(|_| Worker::start(&address, NOTHING)).collect();
    for round in 0..9 {
        std::thread::sleep(Duration::from_millis(300));
        let victim = round % workers.len();
        match round {
            4 => server.restart(Duration::from_millis(300)),
            // Past its lease: somebody else gets its work, and then it delivers as well.
            6 => {
                workers[victim].signal("STOP");
                std::thread::sleep(Duration::from_millis(2500));
                workers[victim].signal("CONT");
            }
            _ => {
                workers[victim].signal("KILL");
                workers[victim] = Worker::start(&address, NOTHING);
            }
        }
    }
    wait(&mut campaign, Duration::from_secs(300));
    let (alone, together) = (results(one.path()), results(other.path()));
    assert_eq!(together, alone);
    assert_eq!((alone.0.len(), alone.1, alone.2), (6000, 6000, 12_000));
    assert_eq!(alone.3.values().sum::<u64>(), 450);
}

#[test]
fn a_poor_network_changes_nothing() {
    let Some(server) = Server::start(HERE) else { return };
    let (one, other) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let count = "600";
    alone(one.path(), count);
    let seed = std::env::var("STRAIT_NETWORK_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("STRAIT_NETWORK_SEED={seed}");
    let straight = server.address("poor");
    let host = straight.trim_start_matches("nats://").trim_end_matches("/poor");
    let address = format!("nats://{}/poor", network::poor(host, seed));
    let folder = other.path().display().to_string();
    let mut campaign = start(&["submit", &address, &folder, count, "3000"]);
    let _workers: Vec<Worker> = (0..3).map(|_| Worker::start(&address, NOTHING)).collect();
    wait(&mut campaign, Duration::from_secs(300));
    assert_eq!(results(other.path()), results(one.path()));
}

#[test]
fn a_worker_serves_campaigns_in_turn() {
    let Some(server) = Server::start(HERE) else { return };
    let folders = [0, 1].map(|_| tempfile::tempdir().expect("a folder"));
    let address = server.address("turns");
    let mut campaigns = folders.each_ref().map(|folder| {
        let folder = folder.path().display().to_string();
        Worker(start(&["submit", &address, &folder, "8000", "300"]))
    });
    let _worker = Worker::start(&address, NOTHING);
    let deadline = Instant::now() + Duration::from_secs(300);
    let ended = loop {
        let ended = |one: &mut Worker| one.0.try_wait().expect("ours").is_some();
        if let Some(place) = campaigns.iter_mut().position(ended) {
            break place;
        }
        assert!(Instant::now() < deadline, "no campaign ends");
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(campaigns);
    let done = folders.each_ref().map(|folder| results(folder.path()).0.len());
    assert_eq!(done[ended], 8000);
    assert!(done[1 - ended] > 1000, "the other one had no turn: {done:?}");
}

#[test]
fn a_server_that_forgets_everything_is_told_again() {
    let Some(mut server) = Server::start(HERE) else { return };
    let (one, other) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    alone(one.path(), "3000");
    let address = server.address("forgetful");
    let _worker = Worker::start(&address, NOTHING);
    let folder = other.path().display().to_string();
    let mut campaign = start(&["submit", &address, &folder, "3000", "1000"]);
    std::thread::sleep(Duration::from_millis(1500));
    assert!(campaign.try_wait().expect("ours").is_none(), "it is through already");
    server.is_forgetful = true;
    server.restart(Duration::ZERO);
    wait(&mut campaign, Duration::from_secs(300));
    assert_eq!(results(other.path()), results(one.path()));
}
