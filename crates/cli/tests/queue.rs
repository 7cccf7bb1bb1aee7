//! `strait fuzz --queue` with `strait worker`s that are killed and paused, and a nats-server that is
//! killed and started again: what was executed and found is what a campaign on one machine executes and
//! finds. `STRAIT_CHAOS="KILLS RESTARTS PROGRAMS"` makes it long, as `cargo xtask chaos` does; then, where
//! it is allowed, workers also sit in network namespaces with loss and delay.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was tested is said aloud")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "../../queue/tests/support/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use server::Server;
use strait_findings::{Ranges, Store};

/// A channel that fails in nearly every longer program, so that the same faults show every time.
const TARGET: &str = "broken-aborts";
/// Longer than a lease.
const PAUSE: Duration = Duration::from_millis(4500);
const LEASE: &str = "3s";

fn strait(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(arguments).args(["--quiet"]).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Ends with the test, whatever happens.
struct Worker(Child);

impl Worker {
    /// In a network namespace, if there is a name.
    fn start(address: &str, namespace: Option<&str>) -> Worker {
        let worker = ["worker", "--queue", address, "--jobs", "1"];
        let mut command = strait(&worker);
        if let Some(namespace) = namespace {
            command = Command::new("ip");
            command.args(["netns", "exec", namespace, env!("CARGO_BIN_EXE_strait")]);
            command.args(worker).arg("--quiet").stdin(Stdio::null()).stdout(Stdio::null());
        }
        Worker(command.spawn().expect("it starts"))
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

/// What was executed, how many programs were counted, and what was found.
fn results(folder: &Path) -> (Ranges, u64, BTreeSet<String>) {
    let mut store = Store::open(folder).expect("a store");
    let known = store.last_campaign().expect("readable").expect("a campaign");
    let id = store.campaign(known.seed, known.generator_version, &known.settings).expect("known");
    let version = strait_fuzz::built_in_version(strait_runtimes::target(TARGET).expect("known"));
    let executed = store.executed(id, TARGET, &version).expect("readable");
    let totals = store.totals(id).expect("readable");
    let programs = totals.iter().map(|total| total.programs).sum();
    (executed, programs, store.findings().map(|finding| finding.id.clone()).collect())
}

/// How much is done to a campaign.
struct Chaos {
    kills: usize,
    restarts: usize,
    programs: u64,
    is_long: bool,
}

impl Chaos {
    fn wanted() -> Chaos {
        let Ok(text) = std::env::var("STRAIT_CHAOS") else {
            return Chaos { kills: 5, restarts: 1, programs: 3000, is_long: false };
        };
        let numbers: Vec<u64> =
            text.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [kills, restarts, programs] = numbers[..] else { panic!("KILLS RESTARTS PROGRAMS") };
        Chaos { kills: kills as usize, restarts: restarts as usize, programs, is_long: true }
    }
}

/// Some numbers; the seed is printed.
fn dice(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |most| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    }
}

#[test]
fn chaos_changes_nothing() {
    let chaos = Chaos::wanted();
    let network = if chaos.is_long { Network::make() } else { None };
    let host = network.as_ref().map_or("127.0.0.1", |_| Network::HOST);
    let Some(mut server) = Server::start(host) else { return };
    let seed = std::env::var("STRAIT_CHAOS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("STRAIT_CHAOS_SEED={seed}");
    let mut dice = dice(seed);
    let (one, other) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let count = chaos.programs.to_string();
    let fuzz = |folder: &Path, more: &[&str]| {
        let mut command = strait(&["fuzz", TARGET, "--seed", "11", "--count", &count]);
        command.args(more).arg("--out").arg(folder);
        command.spawn().expect("it starts")
    };
    let alone = fuzz(one.path(), &[]).wait().expect("ours");
    let address = server.address("chaos");
    let mut campaign = fuzz(other.path(), &["--queue", &address, "--lease", LEASE, "--item", "16"]);
    let place = |number: usize| network.as_ref().map(|_| Network::NAMES[number]);
    let mut workers: Vec<Worker> =
        (0..3).map(|number| Worker::start(&address, place(number))).collect();
    let (mut kills, mut restarts) = (0, 0);
    let begun = Instant::now();
    while kills < chaos.kills || restarts < chaos.restarts {
        std::thread::sleep(Duration::from_millis(100 + dice(500)));
        let is_over = campaign.try_wait().expect("ours").is_some();
        if is_over && !chaos.is_long {
            break;
        }
        assert!(!is_over, "it was through after {kills} kills: give it more programs");
        let victim = dice(3) as usize;
        if restarts * chaos.kills < kills * chaos.restarts && restarts < chaos.restarts {
            restarts += 1;
            // Once for longer than anybody waits for an answer.
            let away = if chaos.is_long && restarts == 2 { 50_000 } else { dice(1000) };
            // The last time it comes back without its files.
            server.is_forgetful = chaos.is_long && restarts == chaos.restarts;
            server.restart(Duration::from_millis(away));
        } else {
            workers[victim].signal("KILL");
            workers[victim] = Worker::start(&address, place(victim));
            kills += 1;
        }
        if kills == chaos.kills / 2 {
            workers[0].signal("STOP");
            std::thread::sleep(PAUSE);
            workers[0].signal("CONT");
        }
    }
    assert!(kills > 0, "it was through before anything could be done to it");
    println!("{kills} kills and {restarts} restarts in {:?}", begun.elapsed());
    let together = campaign.wait().expect("ours");
    assert_eq!(together.code(), alone.code());
    let (expected, found) = (results(one.path()), results(other.path()));
    assert_eq!(found, expected);
    assert_eq!((found.0.len(), found.1), (chaos.programs, chaos.programs));
    assert!(!found.2.is_empty(), "the fault was not found");
    println!("{} programs, each counted once; {} findings, as alone", found.1, found.2.len());
}

/// Sends a message to a server, as any client may.
fn publish(address: &str, subject: &str, message: &str) {
    let host = address.trim_start_matches("nats://").split('/').next().expect("a host");
    let mut stream = std::net::TcpStream::connect(host).expect("the server is there");
    let text = format!(
        "CONNECT {{\"verbose\":false}}\r\nPUB {subject} {}\r\n{message}\r\nPING\r\n",
        message.len()
    );
    stream.write_all(text.as_bytes()).expect("sent");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.into_iter().any(|line| line == "PONG"), "it was not taken");
}

/// The name of the campaign of a folder in its queue.
fn job(folder: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let text = std::fs::read(folder.join("queue.json")).unwrap_or_default();
        if let Ok(job) = serde_json::from_slice::<serde_json::Value>(&text) {
            return job["id"].as_str().expect("a name").to_owned();
        }
        assert!(Instant::now() < deadline, "no campaign begins");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn garbage_in_the_queue_is_counted_and_the_campaign_completes() {
    let Some(server) = Server::start("127.0.0.1") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let address = server.address("garbage");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(["fuzz", "std", "--seed", "4", "--count", "700", "--json", "--quiet"]);
    command.args(["--queue", &address, "--lease", LEASE, "--out"]).arg(folder.path());
    let campaign = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
    let job = job(folder.path());
    for garbage in ["garbage", "", "{\"target\":999,\"start\":0,\"end\":1}"] {
        publish(&address, &format!("strait.garbage.work.{job}"), garbage);
    }
    publish(&address, &format!("strait.garbage.result.{job}"), "garbage");
    let _worker = Worker::start(&address, None);
    let output = campaign.wait_with_output().expect("ours");
    assert_eq!(output.status.code(), Some(0));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["dead_letters"], 4, "{document}");
    assert_eq!((&document["programs"], &document["incomplete"]), (&700.into(), &().into()));
}

#[test]
fn a_campaign_without_workers_does_not_say_that_nothing_was_found() {
    let Some(server) = Server::start("127.0.0.1") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let address = server.address("deserted");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strait"));
    command.args(["fuzz", "std", "--seed", "4", "--count", "50", "--time", "1s"]);
    command.args(["--queue", &address, "--out"]).arg(folder.path());
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("The campaign is not complete: no program ran."), "{said}");
    assert!(!said.contains("Nothing was found"), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_worker_leaves_campaigns_alone_that_it_does_not_accept() {
    let Some(server) = Server::start("127.0.0.1") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let address = server.address("accept");
    let mut campaign =
        strait(&["fuzz", "std", "--seed", "4", "--count", "50", "--queue", &address]);
    let campaign = campaign.arg("--out").arg(folder.path()).spawn().expect("it starts");
    let mut campaign = Worker(campaign);
    job(folder.path());
    let mut worker = Command::new(env!("CARGO_BIN_EXE_strait"));
    worker.args(["worker", "--queue", &address, "--idle", "2s", "--accept", "types,go"]);
    let output = worker.stdin(Stdio::null()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("it is of the kind `fuzz`, which this worker does not accept"), "{said}");
    assert!(said.contains("--accept fuzz"), "{said}");
    assert!(campaign.0.try_wait().expect("ours").is_none(), "its work is still there");
    let _worker = Worker::start(&address, None);
    assert_eq!(campaign.0.wait().expect("ours").code(), Some(0));
}

/// What `strait queue status --json` says.
fn status(address: &str) -> serde_json::Value {
    let output = strait(&["queue", "status", "--queue", address, "--json"])
        .stdout(Stdio::piped())
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Asks again until it is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The value of a metric.
fn metric(port: u16, name: &str) -> Option<f64> {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: strait\r\n\r\n").ok()?;
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert_eq!(lines.next().as_deref(), Some("HTTP/1.1 200 OK"));
    let value = lines.find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))?;
    value.parse().ok()
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

#[test]
fn a_queue_says_who_is_at_it_and_processes_say_what_they_do() {
    let Some(server) = Server::start("127.0.0.1") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let address = server.address("watched");
    let empty = status(&address);
    assert_eq!(
        (&empty["campaigns"], &empty["workers"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    let ports = [free_port(), free_port()];
    let at = ports.map(|port| format!("127.0.0.1:{port}"));
    let mut campaign = Command::new(env!("CARGO_BIN_EXE_strait"));
    campaign.args(["fuzz", "std", "--seed", "4", "--count", "1000000", "--metrics", &at[0]]);
    campaign.args(["--queue", &address, "--lease", LEASE, "--out"]).arg(folder.path());
    campaign.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut campaign = Worker(campaign.spawn().expect("it starts"));
    let job = job(folder.path());
    publish(&address, &format!("strait.watched.result.{job}"), "garbage");
    let worker = ["worker", "--queue", &address, "--jobs", "1", "--metrics", &at[1]];
    let worker = Worker(strait(&worker).spawn().expect("it starts"));
    let id = worker.0.id().to_string();
    until("no worker works", || {
        let now = status(&address);
        let own = &now["workers"][0];
        own["state"] == "working" && own["campaign"] == *job && own["programs"].as_u64() > Some(0)
    });
    let now = status(&address);
    assert_eq!(now["workers"].as_array().map(Vec::len), Some(1), "{now}");
    let own = &now["workers"][0];
    assert!(own["name"].as_str().is_some_and(|name| name.ends_with(&format!("-{id}"))), "{own}");
    assert_eq!(own["accepts"], serde_json::json!(["fuzz"]));
    let there = &now["campaigns"][0];
    assert_eq!((&there["id"], &there["kind"]), (&job.clone().into(), &"fuzz".into()), "{now}");
    assert_eq!(there["programs"], 1_000_000);
    assert!(there["items_leased"].as_u64() >= Some(1), "{now}");
    let said = |port, name, least| metric(port, name).is_some_and(|value| value >= least);
    until("the worker counts nothing", || said(ports[1], "strait_programs_total ", 1.0));
    until("the submitter sees no worker", || said(ports[0], "strait_workers ", 1.0));
    until("the submitter counts nothing", || said(ports[0], "strait_programs_total ", 1.0));
    until("no dead letter", || status(&address)["campaigns"][0]["dead_letters"] == 1);
    worker.signal("KILL");
    until("it is not lost", || status(&address)["workers"][0]["state"] == "lost");
    until("the submitter loses no worker", || said(ports[0], "strait_workers_lost_total ", 1.0));
    campaign.signal("INT");
    let mut heard = String::new();
    let mut stderr = campaign.0.stderr.take().expect("piped");
    std::io::Read::read_to_string(&mut stderr, &mut heard).expect("text");
    assert!(heard.contains("takes part"), "{heard}");
    assert!(heard.contains("is lost: nothing was heard of it for 12 seconds"), "{heard}");
}

/// Three namespaces at a bridge, with loss and delay. They need root; without it there are none.
struct Network;

impl Network {
    const HOST: &str = "10.87.0.1";
    const NAMES: [&str; 3] = ["strait-1", "strait-2", "strait-3"];

    fn make() -> Option<Network> {
        let network = Network;
        network.remove();
        let mut is_made = network.ip("link add strait-br type bridge")
            && network.ip("addr add 10.87.0.1/24 dev strait-br")
            && network.ip("link set strait-br up");
        for (number, name) in Network::NAMES.into_iter().enumerate() {
            let outer = format!("strait-v{number}");
            is_made = is_made
                && network.ip(&format!("netns add {name}"))
                && network.ip(&format!("link add {outer} type veth peer name eth0 netns {name}"))
                && network.ip(&format!("link set {outer} master strait-br up"))
                && network.ip(&format!("-n {name} addr add 10.87.0.{}/24 dev eth0", number + 2))
                && network.ip(&format!("-n {name} link set eth0 up"))
                && network.ip(&format!("-n {name} link set lo up"))
                && network.ip(&format!(
                    "netns exec {name} tc qdisc add dev eth0 root netem delay 20ms 10ms loss 2%"
                ));
        }
        if !is_made {
            eprintln!("SKIPPED network namespaces with loss and delay: not allowed here");
            return None;
        }
        println!("workers in network namespaces, 20 ms delay, 2 % loss");
        Some(network)
    }

    fn ip(&self, arguments: &str) -> bool {
        let mut command = Command::new("ip");
        command.args(arguments.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn remove(&self) {
        for name in Network::NAMES {
            self.ip(&format!("netns del {name}"));
        }
        self.ip("link del strait-br");
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.remove();
    }
}
