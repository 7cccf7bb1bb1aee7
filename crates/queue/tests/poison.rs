//! Messages that cannot be used, on their way through a real nats-server: they are set aside, and the
//! campaign ends with exactly what a campaign in one process executes, counts and finds.
//!
//! `STRAIT_MUTATIONS` is the number of changed messages, `STRAIT_TEST_SEED` what is drawn.

#![allow(clippy::print_stdout, reason = "the seed is said, so that it can be given again")]
#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because it must be killed")]

#[path = "support/server.rs"]
mod server;
#[path = "support/vandal.rs"]
mod vandal;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use server::Server;
use strait_findings::{Ranges, Store};
use vandal::{Vandal, sealed};

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

fn report(item: &str, more: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"item":{item},"whole":true,"programs":10,"runs":20,"spent_ms":1,"counts":{{}},"shown":[],"parcels":[],"worker":"forged"{more}}}"#
    );
    sealed("result", &body)
}

/// Does something to a campaign.
type Attack = Box<dyn Fn(&Vandal, &str) + Send>;

fn work(message: impl Into<Vec<u8>>) -> Attack {
    let message = message.into();
    Box::new(move |vandal, job| vandal.work(job, &message))
}

fn result(message: impl Into<Vec<u8>>) -> Attack {
    let message = message.into();
    Box::new(move |vandal, job| vandal.result(job, &message))
}

fn item(body: &str) -> Attack {
    work(sealed("work", body))
}

/// One row for each kind of poison: what is done to a campaign, how many messages are set aside, and the
/// sentence about them.
fn table() -> Vec<(Attack, usize, &'static str)> {
    let not_ours = "it is not a message of Strait";
    let three = |vandal: &Vandal, job: &str| {
        for garbage in [&b"garbage"[..], b"", &[0xff; 300]] {
            vandal.work(job, garbage);
        }
    };
    let lost = r#"{"lane":0,"start":0,"end":10}"#;
    let lost = format!(
        r#"{{"item":{lost},"whole":true,"programs":10,"runs":20,"spent_ms":1,"counts":{{}},"shown":[{{"finding":"hang-x","seed":3,"indices":[1]}}],"parcels":[["hang-x","JOB.hang-x.1"]],"worker":"forged"}}"#
    );
    vec![
        (Box::new(three), 3, not_ours),
        (work(r#"{"lane":0,"start":0,"end":10}"#), 1, not_ours),
        (
            work("strait/3 work 0000000000000000\n{}"),
            1,
            "it has version 3 of the protocol; this version of Strait has 4",
        ),
        (
            work(sealed("campaign", "{}")),
            1,
            "it is a message of the kind `campaign` in a place for `work`",
        ),
        (
            work("strait/4 work 0000000000000000\n{\"lane\":0,\"start\":0,\"end\":10}"),
            1,
            "it is damaged: its checksum does not fit",
        ),
        (work(vec![b'a'; 500_000]), 1, "it has 500000 bytes; the limit is 4096"),
        (item(r#"{"lane":999,"start":0,"end":10}"#), 1, "it names target 999; the campaign has 1"),
        (item(r#"{"lane":0,"start":20,"end":10}"#), 1, "its indices, 20 to 10, are impossible"),
        (
            item(r#"{"lane":0,"start":9223372036854775808,"end":9223372036854775818}"#),
            1,
            "its indices, 9223372036854775808 to 9223372036854775818, are impossible",
        ),
        (
            item(r#"{"lane":0,"start":990,"end":1010}"#),
            1,
            "it names program 1009; the campaign has 1000 of this target",
        ),
        // Work that is done twice, as a whole or in part, counts once.
        (item(r#"{"lane":0,"start":0,"end":10}"#), 0, ""),
        (item(r#"{"lane":0,"start":5,"end":15}"#), 0, ""),
        (result(*b"garbage"), 1, not_ours),
        (
            result(report(r#"{"lane":0,"start":20,"end":10}"#, "")),
            1,
            "its indices, 20 to 10, are impossible",
        ),
        (
            result(report(
                r#"{"lane":0,"start":9223372036854775808,"end":9223372036854775818}"#,
                "",
            )),
            1,
            "its indices, 9223372036854775808 to 9223372036854775818, are impossible",
        ),
        (
            result(report(r#"{"lane":7,"start":0,"end":10}"#, "")),
            1,
            "it names target 7; the campaign has 1",
        ),
        (
            result(report(r#"{"lane":0,"start":995,"end":999}"#, "")),
            1,
            "programs 995 to 999 of target 0 were not given out as a piece of work",
        ),
        (
            result(report(r#"{"lane":0,"start":0,"end":10}"#, r#","whole":false"#)),
            1,
            "it cannot be read: duplicate field `whole` at line 1 column 149",
        ),
        (
            Box::new(move |vandal, job| {
                let item = r#""lane":0,"start":990,"end":1000"#;
                let lost = lost.replace(r#""lane":0,"start":0,"end":10"#, item);
                vandal.result(job, &sealed("result", &lost.replace("JOB", job)));
            }),
            1,
            "the description of finding hang-x is missing or incomplete in the queue",
        ),
        (Box::new(|vandal, job| vandal.announce(job, b"garbage")), 1, not_ours),
    ]
}

#[test]
fn every_kind_of_poison_is_set_aside() {
    let Some(server) = Server::start(HERE) else { return };
    let expected = alone(1000);
    let rows = Mutex::new(table().into_iter().enumerate());
    let next = || rows.lock().unwrap_or_else(PoisonError::into_inner).next();
    let check = |row: usize, attack: Attack, letters: usize, sentence: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().display().to_string();
        let address = server.address(&format!("poison-{row}"));
        let campaign = Process::start(&["submit", &address, &path, "1000", "500"]);
        let vandal = Vandal::at(&address);
        attack(&vandal, &vandal.job());
        let _worker = Process::worker(&address);
        let said = campaign.said();
        let sentences = if letters == 0 { vec![] } else { vec![sentence.to_owned()] };
        assert_eq!(set_aside(&said), (letters, sentences), "row {row}: {said}");
        assert_eq!(results(folder.path()), expected, "row {row}: {sentence}");
    };
    // A campaign mostly sleeps.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((row, (attack, letters, sentence))) = next() {
                    check(row, attack, letters, sentence);
                }
            });
        }
    });
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

#[test]
fn a_campaign_is_resumed_after_poison() {
    let Some(mut server) = Server::start(HERE) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let address = server.address("resumed-poison");
    let mut first = Process::start(&["submit", &address, &path, "2000", "500"]);
    let vandal = Vandal::at(&address);
    let job = vandal.job();
    let _worker = Process::worker(&address);
    std::thread::sleep(Duration::from_millis(700));
    first.signal("STOP");
    let huge = r#"{"lane":0,"start":9223372036854775808,"end":9223372036854775818}"#;
    vandal.result(&job, &report(huge, ""));
    vandal.result(&job, &report(r#"{"lane":0,"start":20,"end":10}"#, ""));
    vandal.result(&job, b"garbage");
    // Results of work that is still to be done, and of work that never was.
    vandal.result(&job, &report(r#"{"lane":0,"start":1995,"end":2005}"#, ""));
    first.0.kill().expect("ours");
    first.0.wait().expect("ours");
    server.restart(Duration::from_millis(300));
    let said = Process::start(&["submit", &address, &path, "2000", "500"]).said();
    let (letters, sentences) = set_aside(&said);
    assert_eq!((letters, sentences.len()), (4, 4), "{said}");
    assert_eq!(results(folder.path()), alone(2000));
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Some numbers below a limit.
fn dice(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |most| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most.max(1)
    }
}

/// A message with one to three changes: bits, bytes, pieces removed, doubled or put in, or another number,
/// each with the checksum that it had; or impossible bounds of an item, with the right checksum.
fn mutate(message: &[u8], dice: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut changed = message.to_vec();
    let text = String::from_utf8_lossy(message).into_owned();
    if let (1, Some((line, body))) = (dice(4), text.split_once('\n')) {
        let values =
            ["9223372036854775808", "18446744073709551615", "-1", "1e300", "null", "\"x\""];
        let value = values[dice(values.len() as u64) as usize];
        for field in ["\"end\":", "\"lane\":", "\"start\":"] {
            let Some((before, after)) = body.split_once(field) else { continue };
            if dice(2) == 0 {
                let rest = after.trim_start_matches(|char: char| char.is_ascii_digit());
                let kind = line.split(' ').nth(1).unwrap_or_default();
                return sealed(kind, &format!("{before}{field}{value}{rest}"));
            }
        }
    }
    for _ in 0..=dice(3) {
        let place = dice(changed.len() as u64) as usize;
        match dice(6) {
            _ if changed.is_empty() => changed.push(dice(256) as u8),
            0 => changed[place] ^= 1 << dice(8),
            1 => changed[place] = dice(256) as u8,
            2 => changed.truncate(place),
            3 => drop(changed.remove(place)),
            4 => changed.insert(place, dice(256) as u8),
            _ => {
                let piece = changed[place..].to_vec();
                changed.extend(piece);
            }
        }
    }
    changed
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
