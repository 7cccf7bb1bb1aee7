//! A campaign whose work is done by others: items go into the queue as fast as they are done, results
//! come back and go into the store, each once. Whatever happens to workers, to the server or to us, what
//! the store does not have is given out again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use strait_findings::{CampaignId, Discovery, Ranges};

use crate::allot::{Allotment, Block};
use crate::error::Error;
use crate::job::{Item, Job, LaneName, Report, Shown};
use crate::ledger::Ledger;
use crate::link::{Link, text};
use crate::objects::{fetch, remove};
use crate::remote::{AGAIN, clear, end, look, make_work, publish, put, read, results_of};
use crate::source::Part;

/// Items that wait or are under way at once.
const AHEAD: usize = 256;
/// How long results are waited for before we look around.
const WAIT: Duration = Duration::from_millis(200);
/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(120);
/// Nothing happens for so long: is anybody there?
const SILENCE: Duration = Duration::from_secs(5);
/// How long results are waited for that are on their way when the campaign is stopped.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long it may take to remove what is left of a campaign.
const CLEARING: Duration = Duration::from_secs(10);
/// What says that there is a campaign is given up by the server after some days, so it is said again.
const ANNOUNCED: Duration = Duration::from_secs(3600);
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
    /// A result cannot be read, so its work is given out again: why.
    Unreadable(String),
    /// The server could not be told that the campaign is over: why.
    NotEnded(String),
    /// Results are left in the queue, since they could not be fetched.
    Left,
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
    /// Keeps in the queue what its workers need, once more if the server has lost it.
    pub keep: &'a dyn Fn() -> Result<(), Error>,
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
    /// Keeps in the queue what its workers need, once more if the server has lost it.
    pub keep: &'a dyn Fn() -> Result<(), Error>,
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
    announced: Instant,
    /// The last sign of life of a worker: its number, and when it was seen first.
    alive: (Option<u64>, Instant),
    told: bool,
    /// We are about to end: what is there is taken in, whether or not somebody wants to stop.
    is_leaving: bool,
}

impl Flow {
    fn new(allotment: Allotment, executed: Vec<Ranges>, results: PullConsumer) -> Self {
        let now = Instant::now();
        Flow {
            allotment,
            out: BTreeMap::new(),
            again: 0,
            executed,
            results,
            heard: now,
            looked: now,
            announced: now,
            alive: (None, now),
            told: false,
            is_leaving: false,
        }
    }

    /// What is not done.
    fn items(&self) -> Vec<Item> {
        let item = |((lane, start), end): (&(usize, u64), &u64)| Item {
            lane: *lane,
            start: *start,
            end: *end,
        };
        self.out.iter().map(item).collect()
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
        if left? {
            // Everything that was in the queue is in the store.
            let _ = fs::remove_file(&path);
        }
        Ok(())
    }

    fn walk(&mut self, ledger: &mut Ledger<'_>, flow: &mut Flow) -> Result<(), Error> {
        while !(self.stop)() {
            self.feed(flow);
            if flow.out.is_empty() {
                return Ok(());
            }
            if flow.announced.elapsed() > ANNOUNCED {
                flow.announced = Instant::now();
                // It is said again when nobody works any more.
                let _ = self.link.block(put(self.link.hub(), self.job));
            }
            let messages = self.link.block(read(&flow.results, WAIT));
            match messages {
                Ok(messages) => {
                    self.take_in(ledger, flow, &messages)?;
                }
                Err(_) => std::thread::sleep(WAIT),
            }
            self.look_around(flow);
        }
        Ok(())
    }

    /// Makes what workers look for, and ourselves.
    async fn announce(&self) -> Result<PullConsumer, Error> {
        let (hub, job) = (self.link.hub(), self.job);
        let make = || make_work(hub, job);
        hub.insist("make a consumer", PATIENCE, make).await?;
        let results = hub.insist("read results", PATIENCE, || results_of(hub, &job.id)).await?;
        let put = || put(hub, job);
        hub.insist_unless(self.stop, "announce the campaign", PATIENCE, put).await?;
        Ok(results)
    }

    /// Gives out work until enough waits.
    fn feed(&mut self, flow: &mut Flow) {
        let mut items = Vec::new();
        while flow.out.len() < AHEAD {
            let Some(Block { lane, indices }) = flow.allotment.claim() else { break };
            flow.out.insert((lane, indices.start), indices.end);
            items.push(Item { lane, start: indices.start, end: indices.end });
        }
        self.publish(flow, &items, "");
    }

    /// Gives out these items. What the server does not take is given out again when it has no work left.
    fn publish(&mut self, flow: &mut Flow, items: &[Item], suffix: &str) {
        if items.is_empty() {
            return;
        }
        let (hub, job) = (self.link.hub(), &self.job.id);
        let publish = || publish(hub, job, items, suffix);
        let given = hub.insist_unless(self.stop, "give out work", PATIENCE, publish);
        match self.link.block(given) {
            Err(Error::Full { why, .. }) => self.tell_once(flow, Told::Refuses(why)),
            Err(_) => self.tell_once(flow, Told::ServerAway),
            Ok(()) => {}
        }
    }

    /// Says it, unless something is wrong already.
    fn tell_once(&mut self, flow: &mut Flow, told: Told) {
        if !(self.stop)() && !std::mem::replace(&mut flow.told, true) {
            (self.tell)(told);
        }
    }

    /// Puts results into the store, then acknowledges them. `false` if there are none, or they cannot be
    /// fetched.
    fn take_in(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        messages: &[Message],
    ) -> Result<bool, Error> {
        if messages.is_empty() {
            ledger.commit_if_due()?;
            return Ok(false);
        }
        (flow.heard, flow.told) = (Instant::now(), false);
        let mut parcels = Vec::new();
        for message in messages {
            let report = serde_json::from_slice::<Report>(&message.payload).map_err(text);
            let report = report.and_then(|report| match flow.executed.len() {
                lanes if lanes > report.item.lane => Ok(report),
                _ => Err(format!("there is no lane {}", report.item.lane)),
            });
            let report = match report {
                Ok(report) => report,
                Err(why) => {
                    (self.tell)(Told::Unreadable(why));
                    continue;
                }
            };
            let opened = match self.open(ledger, &report, flow.is_leaving) {
                Ok(opened) => opened,
                // What is not acknowledged comes again.
                Err(_) => {
                    self.tell_once(flow, Told::ServerAway);
                    ledger.commit()?;
                    return Ok(false);
                }
            };
            parcels.extend(report.parcels.iter().map(|(_, object)| object.clone()));
            self.enter(ledger, flow, &report, opened)?;
        }
        ledger.commit()?;
        self.link.block(async {
            for message in messages {
                // If this gets lost, it comes again and is known.
                let _ = message.ack().await;
            }
        });
        let hub = self.link.hub().clone();
        self.link.spawn(async move { remove(&hub, parcels).await });
        Ok(true)
    }

    /// Puts a report into the ledger.
    fn enter(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        report: &Report,
        opened: Opened,
    ) -> Result<(), Error> {
        let Report { item, whole, .. } = report;
        let executed = &mut flow.executed[item.lane];
        let (is_known, Opened { mut part, is_complete }) = (executed.contains(item.start), opened);
        let occurrences = report.shown.iter().flat_map(Shown::occurrences).collect();
        let is_lost = *whole && !is_known && !is_complete;
        if is_lost {
            (self.tell)(Told::Unreadable("the description of a fault is lost".to_owned()));
        }
        // Done twice, by a worker that was taken for dead or because the message came again; or to be done
        // once more. What it found counts all the same.
        if is_known || is_lost || !whole {
            let part = Part { discoveries: part.discoveries, ..Part::default() };
            return ledger.add(item.lane, part, occurrences);
        }
        executed.insert(item.indices());
        part.indices.insert(item.indices());
        (self.counted)(&part);
        ledger.add(item.lane, part, occurrences)?;
        if flow.out.remove(&(item.lane, item.start)).is_some() {
            flow.allotment.finish(item.lane, Duration::from_millis(report.spent_ms));
        }
        Ok(())
    }

    /// A report as the ledger takes it; parcels of unknown faults are fetched.
    fn open(
        &mut self,
        ledger: &Ledger<'_>,
        report: &Report,
        is_leaving: bool,
    ) -> Result<Opened, Error> {
        let stop = || !is_leaving && (self.stop)();
        let (mut found, mut is_complete) = (Vec::new(), true);
        for (finding, object) in &report.parcels {
            if ledger.store().findings().any(|known| known.id == *finding) {
                continue;
            }
            let hub = self.link.hub();
            let fetch = || fetch(hub, object);
            let parcel = hub.transfer(&stop, "fetch a finding", PATIENCE / 4, PATIENCE, fetch);
            let parcel = self.link.block(parcel)?;
            let discovery = parcel.and_then(|parcel| serde_json::from_slice(&parcel).ok());
            is_complete &= discovery.is_some();
            found.extend(discovery);
        }
        found.retain(|discovery| (self.is_news)(discovery));
        let Report { programs, runs, counts, .. } = report.clone();
        let part = Part { programs, runs, counts, discoveries: found, ..Part::default() };
        Ok(Opened { part, is_complete })
    }

    /// Says if nobody does anything, and gives out again what has got lost: a server that loses its disk
    /// loses work that we know of.
    fn look_around(&mut self, flow: &mut Flow) {
        if flow.looked.elapsed() < SILENCE || flow.heard.elapsed() < SILENCE {
            return;
        }
        flow.looked = Instant::now();
        let (hub, lease) = (self.link.hub().clone(), self.job.lease());
        let seen = self.link.block(look(&hub, &self.job.id));
        if let Ok((_, sign)) = &seen
            && flow.alive.0 != *sign
        {
            flow.alive = (*sign, Instant::now());
        }
        let told = match seen {
            // Workers are at it, or they are done and nothing is taken from them, or they are gone.
            Ok((info, _)) if info.num_ack_pending > 0 => {
                match self.link.block(put(&hub, self.job)) {
                    Err(why) => Told::Refuses(why),
                    Ok(()) if flow.alive.1.elapsed() < lease + SILENCE => return,
                    Ok(()) => Told::NoWorkers,
                }
            }
            Ok((info, _)) if info.num_pending == 0 && flow.heard.elapsed() > lease => {
                flow.again += 1;
                let (items, suffix) = (flow.items(), format!(".{}", flow.again));
                return self.publish(flow, &items, &suffix);
            }
            Ok((info, _)) if info.num_waiting > 0 => return,
            Ok(_) => Told::NoWorkers,
            Err(why) if why.contains("not found") => match self.announce_again() {
                Ok(results) => {
                    flow.results = results;
                    return;
                }
                Err(_) => Told::ServerAway,
            },
            Err(_) => Told::ServerAway,
        };
        self.tell_once(flow, told);
    }

    /// The server is there and has forgotten everything.
    fn announce_again(&self) -> Result<PullConsumer, Error> {
        self.link.block(self.link.hub().furnish(PATIENCE / 4))?;
        (self.keep)()?;
        self.link.block(self.announce())
    }

    /// Takes back what is not done, takes in what comes meanwhile, and clears up.
    /// `false` if something may be left in the queue.
    fn leave(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        is_well: bool,
    ) -> Result<bool, Error> {
        let (hub, job) = (self.link.hub().clone(), self.job.id.clone());
        if !is_well {
            // The store fails: what is in the queue stays there for a resumption.
            ledger.commit()?;
            return Ok(false);
        }
        let ended = self.link.block(hub.insist("end the campaign", CLEARING, || end(&hub, &job)));
        if let Err(error) = ended {
            ledger.commit()?;
            (self.tell)(Told::NotEnded(error.to_string()));
            return Ok(false);
        }
        // If all is done, what may still come was done twice.
        let is_drained = flow.out.is_empty() || self.drain(ledger, flow, FAREWELL)?;
        ledger.commit()?;
        if !is_drained {
            (self.tell)(Told::Left);
            return Ok(false);
        }
        // What remains there is given up by the server after some days.
        let _ = self.link.block(hub.insist("clear up", CLEARING, || clear(&hub, &job)));
        Ok(true)
    }

    /// Takes in the results that are there, and those that come within a while. `false` if some are not
    /// given to us.
    fn drain(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        wait: Duration,
    ) -> Result<bool, Error> {
        flow.is_leaving = true;
        let begun = Instant::now();
        let mut heard = begun;
        loop {
            match self.link.block(read(&flow.results, WAIT)) {
                Ok(messages) => {
                    if self.take_in(ledger, flow, &messages)? {
                        heard = Instant::now();
                    }
                }
                Err(_) => std::thread::sleep(WAIT),
            }
            let info = self.link.block(flow.results.get_info());
            let is_empty =
                info.is_ok_and(|info| info.num_pending == 0 && info.num_ack_pending == 0);
            if is_empty && begun.elapsed() >= wait {
                return Ok(true);
            }
            // What was given to somebody else comes again, and once more if that gets lost.
            if heard.elapsed() > wait + AGAIN * 3 {
                return Ok(false);
            }
        }
    }

    /// Takes in what an earlier run of this campaign has left in the queue, if it did not end well.
    pub fn take_up(&mut self, ledger: &mut Ledger<'_>, id: CampaignId) -> Result<(), Error> {
        let Ok(text) = fs::read(self.folder.join(JOB)) else { return Ok(()) };
        let Ok(earlier) = serde_json::from_slice::<Job>(&text) else { return Ok(()) };
        let hub = self.link.hub().clone();
        let _ = self.link.block(hub.insist("end", CLEARING, || end(&hub, &earlier.id)));
        // Results name lanes by number.
        if earlier.lanes == self.job.lanes {
            let results = || results_of(&hub, &earlier.id);
            let results = self.link.block(hub.insist("read results", PATIENCE / 4, results))?;
            let executed = executed(ledger, id, &earlier.lanes)?;
            let allotment = Allotment::new([], crate::Shard::default());
            let mut flow = Flow::new(allotment, executed, results);
            if !self.drain(ledger, &mut flow, FAREWELL)? {
                return Err(hub.failed("read what is left of the campaign", "no answer"));
            }
        }
        let _ = self.link.block(hub.insist("clear up", CLEARING, || clear(&hub, &earlier.id)));
        Ok(())
    }
}

/// A report, and whether all that it found is there.
struct Opened {
    part: Part,
    is_complete: bool,
}

fn executed(ledger: &Ledger<'_>, id: CampaignId, lanes: &[LaneName]) -> Result<Vec<Ranges>, Error> {
    let of = |lane: &LaneName| Ok(ledger.store().executed(id, &lane.target, &lane.version)?);
    lanes.iter().map(of).collect()
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    fs::write(path, content).map_err(|why| Error::File { path: path.to_owned(), why })
}
