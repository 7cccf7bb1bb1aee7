//! A campaign whose work is done by others: items go into the queue as fast as they are done, results
//! come back and go into the store, each once. Whatever happens to workers, to the server or to us, what
//! the store does not have is given out again.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use strait_findings::{CampaignId, Discovery, Ranges};

use crate::activity::Activity;
use crate::allot::{Allotment, Block};
use crate::error::Error;
use crate::flow::Flow;
use crate::job::{Item, Job, TargetVersion};
use crate::ledger::Ledger;
use crate::letter::DeadLetter;
use crate::link::Link;
use crate::message::{Form, seal};
use crate::source::Part;
use crate::transport::{Bucket, Delivery, Outgoing, Stream, TransportError};

/// Items that wait or are under way at once.
const AHEAD: usize = 256;
/// How many results are read at once.
const RESULTS: usize = 256;
/// Results that got lost on their way to us come again after so long; what comes twice is known.
const AGAIN: Duration = Duration::from_secs(5);
/// How long results are waited for before we look around.
pub(crate) const WAIT: Duration = Duration::from_millis(200);
/// How long the server may be away.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// How long results are waited for that are on their way when the campaign is stopped.
const FAREWELL: Duration = Duration::from_millis(300);
/// How long it may take to remove what is left of a campaign.
pub(crate) const CLEARING: Duration = Duration::from_secs(10);
/// What says that there is a campaign is given up by the server after some days, so it is said again.
const ANNOUNCED: Duration = Duration::from_secs(3600);
/// The file in the campaign's folder that says which campaign of a queue it is.
const JOB: &str = "queue.json";

/// What there is to say meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueEvent {
    /// No worker asks for work.
    NoWorkers,
    /// The server does not answer; it is asked again.
    ServerAway,
    /// The server is there and stores nothing: why.
    Refuses(String),
    /// A message could not be used and was set aside; its work is done again.
    SetAside(DeadLetter),
    /// A worker of this name takes part.
    WorkerJoined(String),
    /// A worker of this name has ended.
    WorkerLeft(String),
    /// A worker of this name has not been heard of for a while; its work goes to others.
    WorkerLost(String),
    /// The server could not be told that the campaign is over: why.
    NotEnded(String),
    /// Results are left in the queue, since they could not be fetched.
    Left,
}

/// A queue that others work at.
pub struct QueueOptions<'a> {
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
    pub tell: &'a mut dyn FnMut(QueueEvent),
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
    /// Hears what each item has counted, with the number of its target.
    pub counted: &'a mut dyn FnMut(usize, &Part),
    /// Asked about every fault that the store does not have: should it?
    pub is_news: &'a mut dyn FnMut(&Discovery) -> bool,
    /// Hears what else happens.
    pub tell: &'a mut dyn FnMut(QueueEvent),
}

impl Submission<'_> {
    /// Runs it to its end. What is missing in the store comes from `allotment`.
    pub fn run(
        &mut self,
        ledger: &mut Ledger<'_>,
        id: CampaignId,
        allotment: Allotment,
    ) -> Result<(), Error> {
        let executed = executed(ledger, id, &self.job.targets)?;
        let path = self.folder.join(JOB);
        write(&path, &serde_json::to_vec(self.job).unwrap_or_default())?;
        self.announce()?;
        let mut flow = Flow::new(self.job, allotment, executed, self.link.clock().now());
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
            if self.link.since(flow.announced) > ANNOUNCED {
                flow.announced = self.link.clock().now();
                // It is reported again when no worker is left.
                let _ = self.put();
            }
            match self.read(&flow.job.id) {
                Ok(results) => drop(self.take_in(ledger, flow, &results)?),
                Err(_) if (self.stop)() => break,
                Err(_) => self.link.clock().sleep(WAIT),
            }
            self.count_workers(flow);
            self.look_around(flow);
        }
        Ok(())
    }

    /// Results of a campaign that come within a moment.
    fn read(&self, job: &str) -> Result<Vec<Delivery>, TransportError> {
        self.link.transport().take(Stream::Results, job, RESULTS, WAIT)
    }

    /// Says to workers that there is this campaign.
    pub(crate) fn put(&self) -> Result<(), TransportError> {
        let message = seal(Form::Campaign, self.job);
        self.link.transport().put(Bucket::Campaigns, &self.job.id, &message)
    }

    /// Makes what workers look for, and ourselves.
    pub(crate) fn announce(&self) -> Result<(), Error> {
        let (link, job) = (self.link, self.job);
        let work = || link.transport().open(Stream::Work, &job.id, job.lease());
        link.insist("make a consumer", PATIENCE, work)?;
        let results = || link.transport().open(Stream::Results, &job.id, AGAIN);
        link.insist("read results", PATIENCE, results)?;
        link.insist("announce the campaign", PATIENCE, || self.put())
    }

    /// Gives out work until enough waits.
    fn feed(&mut self, flow: &mut Flow) {
        let mut items = Vec::new();
        while flow.out.len() < AHEAD {
            let Some(Block { target, indices }) = flow.allotment.claim() else { break };
            flow.out.insert((target, indices.start), indices.end);
            items.push(Item { target, start: indices.start, end: indices.end });
        }
        self.publish(flow, &items, "");
    }

    /// Gives out these items. What the server does not take is given out again when it has no work left.
    pub(crate) fn publish(&mut self, flow: &mut Flow, items: &[Item], suffix: &str) {
        if items.is_empty() {
            return;
        }
        let (link, job) = (self.link, &self.job.id);
        let activity = link.activity();
        activity.under_way.store(flow.out.len() as u64, Ordering::Relaxed);
        let counter = if suffix.is_empty() { &activity.given_out } else { &activity.given_again };
        Activity::add(counter, items.len() as u64);
        let outgoing = |item: &Item| Outgoing {
            name: item.name(job) + suffix,
            message: seal(Form::Work, item),
        };
        let messages: Vec<Outgoing> = items.iter().map(outgoing).collect();
        let publish = || link.transport().publish(Stream::Work, job, &messages);
        match link.insist("give out work", PATIENCE / 12, publish) {
            Err(Error::Full { why, .. }) => self.tell_once(flow, QueueEvent::Refuses(why)),
            Err(_) => self.tell_once(flow, QueueEvent::ServerAway),
            Ok(_) => {}
        }
    }

    /// Says it, unless something is wrong already.
    pub(crate) fn tell_once(&mut self, flow: &mut Flow, told: QueueEvent) {
        if !(self.stop)() && !std::mem::replace(&mut flow.told, true) {
            (self.tell)(told);
        }
    }

    /// Takes back what is not done, takes in what comes meanwhile, and clears up.
    /// `false` if something may be left in the queue.
    fn leave(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        is_well: bool,
    ) -> Result<bool, Error> {
        let (link, job) = (self.link, self.job.id.clone());
        if !is_well {
            // The store fails: what is in the queue stays there for a resumption.
            ledger.commit()?;
            return Ok(false);
        }
        let end = || link.transport().end(&job);
        if let Err(error) = link.insist("end the campaign", CLEARING, end) {
            ledger.commit()?;
            (self.tell)(QueueEvent::NotEnded(error.to_string()));
            return Ok(false);
        }
        // If all is done, what may still come was done twice.
        let is_drained = flow.out.is_empty() || self.drain(ledger, flow, FAREWELL)?;
        ledger.commit()?;
        self.tell_letters(&job);
        if !is_drained {
            (self.tell)(QueueEvent::Left);
            return Ok(false);
        }
        // What remains there is given up by the server after some days.
        let _ = link.insist("clear up", CLEARING, || link.transport().clear(&job));
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
        let (link, begun) = (self.link, self.link.clock().now());
        let mut heard = begun;
        loop {
            match self.read(&flow.job.id) {
                Ok(messages) => {
                    if self.take_in(ledger, flow, &messages)? {
                        heard = link.clock().now();
                    }
                }
                Err(_) => link.clock().sleep(WAIT),
            }
            let backlog = link.transport().backlog(Stream::Results, &flow.job.id);
            let is_empty = backlog.is_ok_and(|left| left.waiting == 0 && left.leased == 0);
            if is_empty && link.since(begun) >= wait {
                return Ok(true);
            }
            // What was given to another reader comes again, and once more if that gets lost.
            if link.is_over() || link.since(heard) > wait + AGAIN * 3 {
                return Ok(false);
            }
        }
    }

    /// Takes in what an earlier run of this campaign has left in the queue, if it did not end well:
    /// results of work that is in the `allotment`.
    pub fn take_up(
        &mut self,
        ledger: &mut Ledger<'_>,
        id: CampaignId,
        allotment: Allotment,
    ) -> Result<(), Error> {
        let Ok(text) = fs::read(self.folder.join(JOB)) else { return Ok(()) };
        let Ok(earlier) = serde_json::from_slice::<Job>(&text) else { return Ok(()) };
        let link = self.link;
        let _ = link.insist("end", CLEARING, || link.transport().end(&earlier.id));
        // Results name targets by number.
        if earlier.targets == self.job.targets {
            let results = || link.transport().open(Stream::Results, &earlier.id, AGAIN);
            link.insist("read results", PATIENCE / 4, results)?;
            let executed = executed(ledger, id, &earlier.targets)?;
            let mut flow = Flow::new(&earlier, allotment, executed, link.clock().now());
            flow.is_collecting = true;
            if !self.drain(ledger, &mut flow, FAREWELL)? {
                let why = TransportError::Away("no answer".to_owned());
                return Err(link.failed("read what is left of the campaign", why));
            }
            self.tell_letters(&earlier.id);
        }
        let _ = link.insist("clear up", CLEARING, || link.transport().clear(&earlier.id));
        Ok(())
    }
}

fn executed(
    ledger: &Ledger<'_>,
    id: CampaignId,
    targets: &[TargetVersion],
) -> Result<Vec<Ranges>, Error> {
    let of = |target: &TargetVersion| {
        Ok(ledger.store().executed(id, &target.target, &target.version)?)
    };
    targets.iter().map(of).collect()
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    fs::write(path, content).map_err(|why| Error::File { path: path.to_owned(), why })
}
