//! A binary for the tests: a campaign of one target whose programs are naps, some of which find something.
//!
//! `strait-queue-subject alone FOLDER COUNT`: the campaign in this process.
//! `strait-queue-subject submit ADDRESS FOLDER COUNT LEASE_MS`: the same for workers of a queue.
//! `strait-queue-subject work ADDRESS DEADLY`: such a worker; it aborts at the index DEADLY.
//! `strait-queue-subject work-disturbed ADDRESS INDEX`: one that is killed from outside whenever it is at INDEX.
//! `strait-queue-subject alone-at ADDRESS DEADLY JOB START END FILE`: does this work alone, for such a worker.
//! `strait-queue-subject greet ADDRESS`: opens the queue and leaves.

#![allow(clippy::print_stderr, reason = "the tests read what is told")]

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use strait_findings::{CampaignId, Discovery, Kind, Store};
use strait_queue::{
    Address, Allotment, Alone, Credentials, Embedded, Error, Item, Job, Ledger, Link, Memory, Part,
    Shard, Source, Submission, TargetVersion, Trial, WorkerSession, hand_over, handed_over,
};

const SEED: u64 = 3;
/// Indices in an item.
const ITEM: u64 = 10;
/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a program takes.
const NAP: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
    let done = match words.as_slice() {
        ["alone", folder, count] => alone(Path::new(folder), number(count)),
        ["submit", address, folder, count, lease] => {
            submit(address, Path::new(folder), number(count), Duration::from_millis(number(lease)))
        }
        ["work", address, deadly] => serve(address, number(deadly), number(deadly)),
        ["work-disturbed", address, index] => serve(address, number(index), u64::MAX),
        ["alone-at", address, deadly, job, start, end, file] => {
            let item = Item { target: 0, start: number(start), end: number(end) };
            work_alone(address, number(deadly), job, item, Path::new(file))
        }
        ["greet", address] => link(address, Duration::from_secs(5)).map(drop),
        _ => return ExitCode::from(2),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Who started it reads this.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn targets() -> Vec<TargetVersion> {
    vec![TargetVersion { target: "naps".to_owned(), version: "1".to_owned() }]
}

fn begin(store: &mut Store) -> Result<CampaignId, Error> {
    Ok(store.campaign(SEED, 1, "naps")?)
}

fn missing(store: &Store, id: CampaignId, count: u64) -> Result<Allotment, Error> {
    let executed = store.executed(id, "naps", "1")?;
    Ok(Allotment::new([(executed.missing(0..count), ITEM)], Shard::default()))
}

fn alone(folder: &Path, count: u64) -> Result<(), Error> {
    let mut store = Store::open(folder)?;
    let id = begin(&mut store)?;
    let allotment = Mutex::new(missing(&store, id, count)?);
    let (targets, mut found) = (targets(), |_: usize, _: &_, _: &_| {});
    let mut ledger = Ledger::new(&mut store, id, &targets, &mut found);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let mut source = Embedded::new(&allotment, sender);
        let worker = scope.spawn(move || work(&mut source, u64::MAX));
        ledger.write(&receiver, &mut || {})?;
        worker.join().unwrap_or(Ok(()))
    })?;
    Ok(store.close()?)
}

fn submit(address: &str, folder: &Path, count: u64, lease: Duration) -> Result<(), Error> {
    let link = link(address, PATIENCE)?;
    let mut store = Store::open(folder)?;
    let id = begin(&mut store)?;
    let targets = targets();
    let job = Job::new(link.fresh_name(), "naps", lease, targets.clone(), vec![count], &json!({}))?;
    let mut found = |_: usize, _: &_, _: &_| {};
    let mut ledger = Ledger::new(&mut store, id, &targets, &mut found);
    let mut submission = Submission {
        link: &link,
        job: &job,
        folder,
        stop: &|| false,
        keep: &|| Ok(()),
        counted: &mut |_, _| {},
        is_news: &mut |_| true,
        tell: &mut |told| eprintln!("{told:?}"),
    };
    let allotment = missing(ledger.store(), id, count)?;
    submission.take_up(&mut ledger, id, allotment)?;
    let allotment = missing(ledger.store(), id, count)?;
    submission.run(&mut ledger, id, allotment)?;
    Ok(store.close()?)
}

/// A worker that dies at one index, and whose processes die at another when they run it alone.
fn serve(address: &str, deadly: u64, deadly_alone: u64) -> Result<(), Error> {
    let link = link(address, PATIENCE)?;
    let mut memories = HashMap::<String, Memory>::new();
    let trial: Arc<dyn Trial> =
        Arc::new(OwnProcess { address: address.to_owned(), deadly: deadly_alone });
    loop {
        // The server may be away.
        let (jobs, _) = link.jobs().unwrap_or_default();
        for job in jobs {
            let memory = memories.entry(job.id.clone()).or_default();
            let Some(session) = WorkerSession::open(&link, &job, "subject", memory, &trial) else {
                continue;
            };
            let worked = work(&mut session.source(), deadly);
            session.close();
            worked?;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Starts this program again for work that is to be done alone.
struct OwnProcess {
    address: String,
    deadly: u64,
}

impl Trial for OwnProcess {
    #[expect(clippy::disallowed_methods, reason = "tidy: starts a process because it may die")]
    fn run(&self, job: &Job, work: &Item) -> Alone {
        let Ok(program) = std::env::current_exe() else { return Alone::Unknown };
        let file = std::env::temp_dir().join(format!("{}-{}", job.id, work.start));
        let mut command = std::process::Command::new(program);
        command.args(["alone-at", &self.address, &self.deadly.to_string(), &job.id]);
        command.args([work.start, work.end].map(|index| index.to_string())).arg(&file);
        let status = command.stdin(std::process::Stdio::null()).status();
        let part = std::fs::read(&file).ok().and_then(|text| handed_over(&text, work).ok());
        // It may not be there.
        let _ = std::fs::remove_file(&file);
        match (status, part) {
            (Ok(status), Some(part)) if status.success() => Alone::Done(part),
            (Ok(status), _) if status.code().is_none() => Alone::Died,
            _ => Alone::Unknown,
        }
    }
}

fn work_alone(address: &str, deadly: u64, job: &str, item: Item, file: &Path) -> Result<(), Error> {
    let link = link(address, PATIENCE)?;
    let (jobs, _) = link.jobs()?;
    let session = jobs.iter().find(|one| one.id == *job);
    let Some(session) = session.and_then(|job| WorkerSession::alone(&link, job, item)) else {
        return Ok(());
    };
    work(&mut session.source(), deadly)?;
    session.came_out().map_or(Ok(()), |part| hand_over(file, part))
}

fn link(address: &str, patience: Duration) -> Result<Link, Error> {
    let address: Address = address.parse().map_err(|why| Error::Unreachable {
        address: address.to_owned(),
        why,
        next: "write an address",
        passes: false,
    })?;
    Link::open(&address, &Credentials::find(None)?, patience, &Arc::default())
}

#[expect(clippy::disallowed_methods, reason = "this is what the test is about")]
fn work(source: &mut dyn Source, deadly: u64) -> Result<(), Error> {
    while let Some(piece) = source.take(&|| false)? {
        let mut part = Part::default();
        for index in piece.indices.clone() {
            if piece.deadly.contains(&index) {
                part.discoveries.push(discovery(Kind::WORKER_DEATH, "deadly", index));
            } else if piece.runs(index) {
                if piece.is_watched {
                    source.begin(index..index + 1)?;
                }
                if index == deadly {
                    std::process::abort();
                }
                std::thread::sleep(NAP);
                let fault = ["one", "two", "three"].get((index % 40) as usize);
                part.discoveries.extend(fault.map(|fault| discovery(Kind::HANG, fault, index)));
            }
            if piece.done.contains(index) {
                continue;
            }
            part.indices.insert(index..index + 1);
            part.programs += 1;
            part.runs += 2;
        }
        source.deliver(part)?;
        source.finish(NAP, true)?;
    }
    Ok(())
}

/// Some output, so that a parcel has more than one chunk.
fn discovery(kind: Kind, fault: &str, index: u64) -> Discovery {
    let mut discovery = Discovery::new(kind, "naps", "1", SEED, index).fingerprint(fault);
    discovery.output = vec![b'z'; 200_000];
    discovery
}
