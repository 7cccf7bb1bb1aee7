//! A binary for the tests: a campaign of one lane whose programs are naps, some of which find something.
//!
//! `strait-queue-subject alone FOLDER COUNT`: the campaign in this process.
//! `strait-queue-subject submit ADDRESS FOLDER COUNT LEASE_MS`: the same for workers of a queue.
//! `strait-queue-subject work ADDRESS DEADLY`: such a worker; it aborts at the index DEADLY.
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
    Address, Allotment, Bench, Credentials, Embedded, Error, Job, LaneName, Ledger, Link, Memory,
    Part, Shard, Source, Submission,
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
        ["work", address, deadly] => serve(address, number(deadly)),
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

fn lanes() -> Vec<LaneName> {
    vec![LaneName { target: "naps".to_owned(), version: "1".to_owned() }]
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
    let (lanes, mut found) = (lanes(), |_: &_, _: &_| {});
    let mut ledger = Ledger::new(&mut store, id, &lanes, &mut found);
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
    let lanes = lanes();
    let job = Job::new(link.fresh_name(), "naps", lease, lanes.clone(), vec![count], &json!({}))?;
    let mut found = |_: &_, _: &_| {};
    let mut ledger = Ledger::new(&mut store, id, &lanes, &mut found);
    let mut submission = Submission {
        link: &link,
        job: &job,
        folder,
        stop: &|| false,
        keep: &|| Ok(()),
        counted: &mut |_| {},
        is_news: &mut |_| true,
        tell: &mut |told| eprintln!("{told:?}"),
    };
    let allotment = missing(ledger.store(), id, count)?;
    submission.take_up(&mut ledger, id, allotment)?;
    let allotment = missing(ledger.store(), id, count)?;
    submission.run(&mut ledger, id, allotment)?;
    Ok(store.close()?)
}

fn serve(address: &str, deadly: u64) -> Result<(), Error> {
    let link = link(address, PATIENCE)?;
    let (stop, mut memories) = (Arc::default(), HashMap::<String, Memory>::new());
    loop {
        // The server may be away.
        let (jobs, _) = link.jobs().unwrap_or_default();
        for job in jobs {
            let memory = memories.entry(job.id.clone()).or_default();
            let Some(bench) = Bench::open(&link, &job, "subject", memory, &stop) else { continue };
            let worked = work(&mut bench.taker(), deadly);
            bench.close();
            worked?;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn link(address: &str, patience: Duration) -> Result<Link, Error> {
    let address: Address = address.parse().map_err(|why| Error::Unreachable {
        address: address.to_owned(),
        why,
        next: "write an address",
        passes: false,
    })?;
    Link::open(&address, &Credentials::find(None)?, patience)
}

#[expect(clippy::disallowed_methods, reason = "this is what the test is about")]
fn work(source: &mut dyn Source, deadly: u64) -> Result<(), Error> {
    while let Some(piece) = source.take(&|| false)? {
        let mut part = Part::default();
        for index in piece.indices.clone() {
            if piece.deadly.contains(&index) {
                part.discoveries.push(discovery(Kind::WORKER_DEATH, "deadly", index));
            } else {
                if piece.is_watched {
                    source.begin(index)?;
                }
                if index == deadly {
                    std::process::abort();
                }
                std::thread::sleep(NAP);
                let fault = ["one", "two", "three"].get((index % 40) as usize);
                part.discoveries.extend(fault.map(|fault| discovery(Kind::HANG, fault, index)));
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
