//! Messages that cannot be used, on their way through a real nats-server: they are set aside, and the
//! campaign ends with exactly what a campaign in one process executes, counts and finds.
//!
//! `STRAIT_MUTATIONS` is the number of changed messages, `STRAIT_TEST_SEED` what is drawn.

#![allow(clippy::print_stdout, reason = "the seed is said, so that it can be given again")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "support/forged.rs"]
mod forged;
#[path = "support/server.rs"]
mod server;
#[path = "support/vandal.rs"]
mod vandal;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use forged::{dice, mutate, sealed};
use server::Server;
use strait_findings::{Ranges, Store};
use vandal::Vandal;

const SUBJECT: &str = env!("CARGO_BIN_EXE_strait-queue-subject");
const HERE: &str = "127.0.0.1";
const LIMIT: Duration = Duration::from_secs(300);

/// Ends with the test, whatever happens.
struct Process(Child);

impl Process {
    fn start(arguments: &[&str]) -> Process {
        let mut command = Command::new(SUBJECT);
        command.args(arguments).stdin(Stdio::null()).stderr(Stdio::piped());
        Process(command.spawn().expect("it starts"))
    }

    fn worker(address: &str) -> Process {
        let mut command = Command::new(SUBJECT);
        command.args(["work", address, "none"]).stdin(Stdio::null());
        Process(command.spawn().expect("it starts"))
    }

    fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.expect("kill is there").success());
    }

    /// Waits for its end; what it said.
    fn said(mut self) -> String {
        let mut pipe = self.0.stderr.take().expect("piped");
        let reader = std::thread::spawn(move || {
            let mut said = String::new();
            pipe.read_to_string(&mut said).expect("text");
            said
        });
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.0.try_wait().expect("ours") {
                let said = reader.join().expect("read");
                assert!(status.success(), "the campaign failed: {status}\n{said}");
                return said;
            }
            assert!(Instant::now() < deadline, "the campaign does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What was executed, how many programs and runs were counted, and what was found how often.
type Results = (Ranges, u64, u64, BTreeMap<String, u64>);

fn results(folder: &Path) -> Results {
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

fn alone(count: u64) -> Results {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    Process::start(&["alone", &path, &count.to_string()]).said();
    results(folder.path())
}

/// How many messages were set aside, and the sentences about them, each once.
fn set_aside(said: &str) -> (usize, Vec<String>) {
    let letters = said.lines().filter(|line| line.starts_with("SetAside"));
    let why = |line: &str| {
        let (_, rest) = line.split_once("why: \"").expect("a reason");
        rest.split_once("\", by: ").expect("its end").0.replace("\\\"", "\"")
    };
    let all: Vec<String> = letters.map(why).collect();
    let mut sentences = all.clone();
    sentences.sort();
    sentences.dedup();
    (all.len(), sentences)
}

#[test]
fn garbage_is_set_aside() {
    let Some(mut server) = Server::start(HERE) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let address = server.address("garbage");
    let campaign = Process::start(&["submit", &address, &path, "1000", "500"]);
    let vandal = Vandal::at(&address);
    let job = vandal.job();
    vandal.work(&job, b"garbage");
    vandal.work(&job, &sealed("work", r#"{"target":0,"start":0,"end":10}"#));
    vandal.work(&job, &[0xff; 300]);
    vandal.result(&job, b"");
    vandal.announce(&job, b"garbage");
    // What is on the server's disk is still there when it comes back.
    server.restart(Duration::from_millis(200));
    let _worker = Process::worker(&address);
    let said = campaign.said();
    let sentences = vec!["it is not a message of Strait".to_owned()];
    assert_eq!(set_aside(&said), (4, sentences), "{said}");
    assert_eq!(results(folder.path()), alone(1000));
}

#[test]
fn lost_pieces_of_findings_are_found_again() {
    let Some(server) = Server::start(HERE) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let address = server.address("lost");
    let campaign = Process::start(&["submit", &address, &path, "500", "500"]);
    let vandal = Vandal::at(&address);
    vandal.job();
    // It gives out all of its work before anybody works.
    std::thread::sleep(Duration::from_millis(500));
    campaign.signal("STOP");
    let _worker = Process::worker(&address);
    let deadline = Instant::now() + Duration::from_secs(60);
    while vandal.some("STRAIT_lost_RESULTS", 0).is_none_or(|(number, ..)| number == 0)
        || vandal.lose_pieces() == 0
    {
        assert!(Instant::now() < deadline, "no finding arrives");
        std::thread::sleep(Duration::from_millis(100));
    }
    campaign.signal("CONT");
    let said = campaign.said();
    let (letters, sentences) = set_aside(&said);
    assert!(letters > 0, "{said}");
    assert!(
        sentences.iter().all(|why| why.ends_with("is missing or incomplete in the queue")),
        "{sentences:?}"
    );
    assert_eq!(results(folder.path()), alone(500));
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn changed_messages_change_nothing() {
    let Some(server) = Server::start(HERE) else { return };
    let mutations = number("STRAIT_MUTATIONS").unwrap_or(300);
    let seed = number("STRAIT_TEST_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("STRAIT_TEST_SEED={seed}");
    let mut dice = dice(seed);
    let count = 1000 + mutations * 4;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let address = server.address("mutations");
    let begun = Instant::now();
    let campaign = Process::start(&["submit", &address, &path, &count.to_string(), "500"]);
    let vandal = Vandal::at(&address);
    vandal.job();
    let _worker = Process::worker(&address);
    let (mut done, mut is_reading) = ([0_u64; 5], true);
    let deadline = Instant::now() + LIMIT;
    while done.iter().sum::<u64>() < mutations {
        assert!(Instant::now() < deadline, "the campaign was over after {done:?}");
        // Results are there to be changed only while the submitter does not read them.
        let should_read = begun.elapsed().as_millis() % 1000 < 300;
        if should_read != is_reading {
            campaign.signal(if should_read { "CONT" } else { "STOP" });
            is_reading = should_read;
        }
        // Mostly work and results; the rest is rarer in a campaign, too. There are notes only about work
        // that came back, and always a campaign.
        let place = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4][dice(11) as usize];
        let is_due = match place {
            0 => done[0] * 2 < mutations,
            3 => done[3] * 10 < mutations,
            _ => true,
        };
        let some = is_due.then(|| vandal.some(&vandal.streams()[place], dice(u64::MAX))).flatten();
        let Some((number, subject, message)) = some else {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        let changed = mutate(&message, &mut dice);
        if changed == message {
            continue;
        }
        vandal.publish(&subject, &changed);
        if dice(6) == 0 {
            vandal.remove(&vandal.streams()[place], number);
        }
        done[place] += 1;
    }
    campaign.signal("CONT");
    let said = campaign.said();
    let (letters, sentences) = set_aside(&said);
    println!(
        "{mutations} changed messages (work, results, findings, campaigns, notes: {done:?}), \
         {letters} set aside for {} reasons, {count} programs, {:.0} s",
        sentences.len(),
        begun.elapsed().as_secs_f64()
    );
    assert!(letters > 0, "nothing was set aside");
    assert_eq!(results(folder.path()), alone(count));
}
