//! A campaign whose work is done by others: items go into the queue as fast as they are done, results
//! come back and go into the store, each once. Whatever happens to workers, to the server or to us, what
//! the store does not have is given out again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures_util::StreamExt;
use strait_findings::{CampaignId, Discovery, Occurrence, Ranges};

use crate::allot::{Allotment, Block};
use crate::error::Error;
use crate::job::{Item, Job, LaneName, Report};
use crate::ledger::Ledger;
use crate::link::{Hub, Link, text};
use crate::objects::fetch;
use crate::source::Part;

/// Items that wait or are under way at once.
const AHEAD: usize = 256;
/// How long results are waited for before we look around.
const WAIT: Duration = Duration::from_millis(200);
/// How many results are read at once.
const RESULTS: usize = 256;
/// Results that got lost on their way to us come again after so long; what comes twice is known.
const AGAIN: Duration = Duration::from_secs(5);
/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(120);
/// Nothing happens for so long: is anybody there?
const SILENCE: Duration = Duration::from_secs(5);
/// How long results are waited for that are on their way when the campaign is stopped.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long it may take to remove what is left of a campaign.
const CLEARING: Duration = Duration::from_secs(10);
/// The file in the campaign's folder that says which campaign of a queue it is.
const JOB: &str = "queue.json";

/// What there is to say meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// No worker asks for work.
    NoWorkers,
    /// The server does not answer; it is asked again.
    ServerAway,
    /// The server is there and stores nothing: why.
    Refuses(String),
}

/// A queue that others work at.
pub struct Outsourced<'a> {
    /// The queue.
    pub link: &'a Link,
    /// The campaign there.
    pub job: &'a Job,
    /// The folder of the store.
    pub folder: &'a Path,
    /// Indices in an item, if the user wants to say.
    pub item: Option<u64>,
    /// Hears what happens meanwhile.
    pub tell: &'a mut dyn FnMut(Told),
}

/// A campaign in a queue.
pub struct Submission<'a> {
    /// The queue.
    pub link: &'a Link,
    /// The campaign.
    pub job: &'a Job,
    /// The folder of its store.
    pub folder: &'a Path,
    /// Should it end?
    pub stop: &'a dyn Fn() -> bool,
    /// Hears what each item has counted.
    pub counted: &'a mut dyn FnMut(&Part),
    /// Asked about every fault that the store does not have: should it?
    pub is_news: &'a mut dyn FnMut(&Discovery) -> bool,
    /// Hears what else happens.
    pub tell: &'a mut dyn FnMut(Told),
}

/// What is where.
struct Flow {
    allotment: Allotment,
    /// Given out and not done: the end of each, by lane and first index.
    out: BTreeMap<(usize, u64), u64>,
    /// How often everything was given out again.
    again: u32,
    /// Done, a lane each.
    executed: Vec<Ranges>,
    results: PullConsumer,
    heard: Instant,
    looked: Instant,
    told: bool,
}

impl Flow {
    fn new(allotment: Allotment, executed: Vec<Ranges>, results: PullConsumer) -> Self {
        let (heard, looked) = (Instant::now(), Instant::now());
        let out = BTreeMap::new();
        Flow { allotment, out, again: 0, executed, results, heard, looked, told: false }
    }
}

impl Submission<'_> {
    /// Runs it to its end. What is missing in the store comes from `allotment`.
    pub fn run(
        &mut self,
        ledger: &mut Ledger<'_>,
        id: CampaignId,
        allotment: Allotment,
    ) -> Result<(), Error> {
        let executed = executed(ledger, id, &self.job.lanes)?;
        let path = self.folder.join(JOB);
        write(&path, &serde_json::to_vec(self.job).unwrap_or_default())?;
        let results = self.link.block(self.announce())?;
        let mut flow = Flow::new(allotment, executed, results);
        let walked = self.walk(ledger, &mut flow);
        // What is done is done, whatever failed.
        let left = self.leave(ledger, &mut flow, walked.is_ok());
        walked?;
        left?;
        // Everything that was in the queue is in the store.
        let _ = fs::remove_file(&path);
        Ok(())
    }

    fn walk(&mut self, ledger: &mut Ledger<'_>, flow: &mut Flow) -> Result<(), Error> {
        while !(self.stop)() {
            self.feed(flow)?;
            if flow.out.is_empty() {
                return Ok(());
            }
            let messages = self.link.block(read(&flow.results, WAIT));
            match messages {
                Ok(messages) => self.take_in(ledger, flow, &messages)?,
                Err(_) => std::thread::sleep(WAIT),
            }
            self.look_around(flow)?;
        }
        Ok(())
    }

    /// Makes what workers look for, and ourselves.
    async fn announce(&self) -> Result<PullConsumer, Error> {
        let (hub, job) = (self.link.hub(), self.job);
        let work = pull::Config {
            durable_name: Some(job.id.clone()),
            filter_subject: hub.address.work_of(&job.id),
            ack_policy: AckPolicy::Explicit,
            ack_wait: job.lease(),
            max_ack_pending: -1,
            ..pull::Config::default()
        };
        let make = || async {
            let stream = hub.jetstream.get_stream(hub.address.work()).await.map_err(text)?;
            stream.create_consumer(work.clone()).await.map(drop).map_err(text)
        };
        hub.insist("make a consumer", PATIENCE, make).await?;
        let results = hub.insist("read results", PATIENCE, || results_of(hub, &job.id)).await?;
        let put = || put(hub, job);
        hub.insist_unless(self.stop, "announce the campaign", PATIENCE, put).await?;
        Ok(results)
    }

    /// Gives out work until enough waits.
    fn feed(&mut self, flow: &mut Flow) -> Result<(), Error> {
        let mut items = Vec::new();
        while flow.out.len() < AHEAD {
            let Some(Block { lane, indices }) = flow.allotment.claim() else { break };
            flow.out.insert((lane, indices.start), indices.end);
            items.push(Item { lane, start: indices.start, end: indices.end });
        }
        self.publish(&items, "")
    }

    /// Gives out these items.
    fn publish(&self, items: &[Item], suffix: &str) -> Result<(), Error> {
        if items.is_empty() {
            return Ok(());
        }
        let (hub, job) = (self.link.hub(), &self.job.id);
        let publish = || publish(hub, job, items, suffix);
        self.link.block(hub.insist_unless(self.stop, "give out work", PATIENCE, publish))
    }

    /// Puts results into the store, then acknowledges them.
    fn take_in(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        messages: &[Message],
    ) -> Result<(), Error> {
        if messages.is_empty() {
            return ledger.commit_if_due();
        }
        (flow.heard, flow.told) = (Instant::now(), false);
        for message in messages {
            let report: Report =
                serde_json::from_slice(&message.payload).map_err(|error| self.foreign(&error))?;
            let item = &report.item;
            let Some(executed) = flow.executed.get_mut(item.lane) else {
                return Err(self.foreign(&format!("there is no lane {}", item.lane)));
            };
            // Done twice: by a worker that was taken for dead, or the message came again.
            if executed.contains(item.start) {
                continue;
            }
            let (lane, start, indices) = (item.lane, item.start, item.indices());
            let (mut part, occurrences) = self.open(ledger, &report)?;
            if !report.whole {
                ledger.add(lane, part, occurrences)?;
                continue;
            }
            executed.insert(indices.clone());
            part.indices.insert(indices);
            (self.counted)(&part);
            ledger.add(lane, part, occurrences)?;
            if flow.out.remove(&(lane, start)).is_some() {
                flow.allotment.finish(lane, Duration::from_millis(report.spent_ms));
            }
        }
        ledger.commit()?;
        self.link.block(async {
            for message in messages {
                // If this gets lost, it comes again and is known.
                let _ = message.ack().await;
            }
        });
        Ok(())
    }

    /// A report as the ledger takes it; parcels of unknown faults are fetched.
    fn open(
        &mut self,
        ledger: &Ledger<'_>,
        report: &Report,
    ) -> Result<(Part, Vec<Occurrence>), Error> {
        let mut part = Part {
            programs: report.programs,
            runs: report.runs,
            counts: report.counts.clone(),
            ..Part::default()
        };
        for (finding, object) in &report.parcels {
            if ledger.store().findings().any(|known| known.id == *finding) {
                continue;
            }
            let hub = self.link.hub();
            let fetch = || fetch(hub, object);
            let parcel = self.link.block(hub.insist("fetch a finding", PATIENCE / 4, fetch))?;
            let discovery: Discovery =
                serde_json::from_slice(&parcel).map_err(|error| self.foreign(&error))?;
            if (self.is_news)(&discovery) {
                part.discoveries.push(discovery);
            }
        }
        let occurrence = |shown: &crate::job::Shown| Occurrence {
            finding: shown.finding.clone(),
            seed: shown.seed,
            index: shown.index,
        };
        Ok((part, report.shown.iter().map(occurrence).collect()))
    }

    fn foreign(&self, why: &dyn std::fmt::Display) -> Error {
        let address = self.link.address().to_string();
        Error::Foreign { address, what: "results", why: why.to_string() }
    }

    /// Says if nobody does anything, and gives out again what has got lost: a server that loses its disk
    /// loses work that we know of.
    fn look_around(&mut self, flow: &mut Flow) -> Result<(), Error> {
        if flow.looked.elapsed() < SILENCE || flow.heard.elapsed() < SILENCE {
            return Ok(());
        }
        flow.looked = Instant::now();
        let hub = self.link.hub();
        let info = self.link.block(async {
            let stream = hub.jetstream.get_stream(hub.address.work()).await.map_err(text)?;
            stream.consumer_info(&self.job.id).await.map_err(text)
        });
        let told = match info {
            // Workers are at it, or they are done and nothing is taken from them.
            Ok(info) if info.num_ack_pending > 0 => match self.link.block(put(hub, self.job)) {
                Ok(()) => return Ok(()),
                Err(why) => Told::Refuses(why),
            },
            Ok(info) if info.num_pending == 0 && flow.heard.elapsed() > self.job.lease() => {
                flow.again += 1;
                let items = flow.out.iter().map(|((lane, start), end)| Item {
                    lane: *lane,
                    start: *start,
                    end: *end,
                });
                let items: Vec<Item> = items.collect();
                return self.publish(&items, &format!(".{}", flow.again));
            }
            Ok(info) if info.num_waiting > 0 => return Ok(()),
            Ok(_) => Told::NoWorkers,
            Err(_) => Told::ServerAway,
        };
        if !std::mem::replace(&mut flow.told, true) {
            (self.tell)(told);
        }
        Ok(())
    }

    /// Takes back what is not done, takes in what comes meanwhile, and clears up.
    fn leave(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        is_well: bool,
    ) -> Result<(), Error> {
        let (hub, job) = (self.link.hub().clone(), self.job.id.clone());
        if !is_well {
            // The server or the store fails: what is in the queue stays there for a resumption.
            return ledger.commit();
        }
        self.link.block(hub.insist("end the campaign", PATIENCE, || end(&hub, &job)))?;
        let begun = Instant::now();
        while !flow.out.is_empty() && begun.elapsed() < FAREWELL {
            let messages = self.link.block(read(&flow.results, WAIT)).unwrap_or_default();
            self.take_in(ledger, flow, &messages)?;
        }
        ledger.commit()?;
        // What remains there is given up by the server after some days.
        let _ = self.link.block(hub.insist("clear up", CLEARING, || clear(&hub, &job)));
        Ok(())
    }

    /// Takes in what an earlier run of this campaign has left in the queue, if it did not end well.
    pub fn take_up(&mut self, ledger: &mut Ledger<'_>, id: CampaignId) -> Result<(), Error> {
        let Ok(text) = fs::read(self.folder.join(JOB)) else { return Ok(()) };
        let Ok(earlier) = serde_json::from_slice::<Job>(&text) else { return Ok(()) };
        // Results name lanes by number.
        if earlier.lanes != self.job.lanes {
            return Ok(());
        }
        let hub = self.link.hub().clone();
        let _ = self.link.block(hub.insist("end", CLEARING, || end(&hub, &earlier.id)));
        let Ok(results) = self.link.block(results_of(&hub, &earlier.id)) else { return Ok(()) };
        let executed = executed(ledger, id, &earlier.lanes)?;
        let allotment = Allotment::new([], crate::Shard::default());
        let mut flow = Flow::new(allotment, executed, results);
        loop {
            let messages = self.link.block(read(&flow.results, FAREWELL)).unwrap_or_default();
            if messages.is_empty() {
                break;
            }
            self.take_in(ledger, &mut flow, &messages)?;
        }
        let _ = self.link.block(hub.insist("clear up", CLEARING, || clear(&hub, &earlier.id)));
        Ok(())
    }
}

fn executed(ledger: &Ledger<'_>, id: CampaignId, lanes: &[LaneName]) -> Result<Vec<Ranges>, Error> {
    let of = |lane: &LaneName| Ok(ledger.store().executed(id, &lane.target, &lane.version)?);
    lanes.iter().map(of).collect()
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    fs::write(path, content).map_err(|why| Error::File { path: path.to_owned(), why })
}

/// Says to workers that there is this campaign.
async fn put(hub: &Hub, job: &Job) -> Result<(), String> {
    let body = Bytes::from(serde_json::to_vec(job).unwrap_or_default());
    let jobs = hub.store(hub.address.jobs()).await?;
    jobs.put(&job.id, body).await.map(drop).map_err(text)
}

async fn results_of(hub: &Hub, job: &str) -> Result<PullConsumer, String> {
    let config = pull::Config {
        durable_name: Some(job.to_owned()),
        filter_subject: hub.address.results_of(job),
        ack_policy: AckPolicy::Explicit,
        ack_wait: AGAIN,
        max_ack_pending: -1,
        ..pull::Config::default()
    };
    let stream = hub.jetstream.get_stream(hub.address.results()).await.map_err(text)?;
    stream.get_or_create_consumer(job, config).await.map_err(text)
}

/// All items at once; the server knows those that it has by their names.
async fn publish(hub: &Hub, job: &str, items: &[Item], suffix: &str) -> Result<(), String> {
    let subject = hub.address.work_of(job);
    let mut waiting = Vec::new();
    for item in items {
        let payload = Bytes::from(serde_json::to_vec(item).unwrap_or_default());
        let message = PublishMessage::build().payload(payload).message_id(item.name(job) + suffix);
        let sent = hub.jetstream.send_publish(subject.clone(), message).await;
        waiting.push(sent.map_err(text)?);
    }
    for stored in waiting {
        stored.await.map_err(text)?;
    }
    Ok(())
}

async fn read(results: &PullConsumer, wait: Duration) -> Result<Vec<Message>, String> {
    let reading = async {
        let batch = results.batch().max_messages(RESULTS).expires(wait);
        let mut stream = batch.messages().await.map_err(text)?;
        let mut messages = Vec::new();
        while let Some(message) = stream.next().await {
            messages.push(message.map_err(text)?);
        }
        Ok(messages)
    };
    // What was read and is dropped here comes again.
    let limit = wait * 4 + Duration::from_secs(1);
    tokio::time::timeout(limit, reading).await.unwrap_or_else(|_| Err("no answer".to_owned()))
}

/// No more work is given out, and workers leave.
async fn end(hub: &Hub, job: &str) -> Result<(), String> {
    let jobs = hub.store(hub.address.jobs()).await?;
    jobs.purge(job).await.map_err(text)?;
    let stream = hub.jetstream.get_stream(hub.address.work()).await.map_err(text)?;
    stream.purge().filter(hub.address.work_of(job)).await.map_err(text)?;
    // It may be gone already.
    let _ = stream.delete_consumer(job).await;
    Ok(())
}

/// Nothing of the campaign remains in the queue.
async fn clear(hub: &Hub, job: &str) -> Result<(), String> {
    let stream = hub.jetstream.get_stream(hub.address.results()).await.map_err(text)?;
    let _ = stream.delete_consumer(job).await;
    stream.purge().filter(hub.address.results_of(job)).await.map_err(text)?;
    let store = hub.jetstream.get_object_store(hub.address.parcels()).await.map_err(text)?;
    let mut objects = store.list().await.map_err(text)?;
    let prefix = format!("{job}.");
    let mut ours = Vec::new();
    while let Some(object) = objects.next().await {
        ours.extend(object.ok().map(|object| object.name).filter(|name| name.starts_with(&prefix)));
    }
    for name in ours {
        let _ = store.delete(&name).await;
    }
    Ok(())
}
