//! A campaign whose work is done by others: items go into the queue as fast as they are done, results
//! come back and go into the store, each once. Whatever happens to workers, to the server or to us, what
//! the store does not have is given out again.

use std::collections::{BTreeMap, HashSet};
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
use crate::letter::{DeadLetter, file, read_letters};
use crate::link::Link;
use crate::message::{Form, Poison, open, seal};
use crate::objects::{Object, fetch, remove};
use crate::remote::{
    AGAIN, Seen, announced, clear, end, look, make_work, publish, put, read, results_of,
};
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
/// The most bytes that the description of a finding has.
const PARCEL: usize = 64 << 20;
/// A description that cannot be fetched while the server has answered so often is lost.
const ASKED: i64 = 3;
/// The name of the submitter.
const SUBMITTER: &str = "the submitter";
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
    /// A message could not be used and was set aside; its work is done again.
    SetAside(DeadLetter),
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
    /// The campaign that messages belong to: an earlier run's when its results are collected.
    job: Job,
    allotment: Allotment,
    /// Given out and not done: the end of each, by lane and first index.
    out: BTreeMap<(usize, u64), u64>,
    /// How often work was given out again.
    again: u32,
    /// Names of messages that were set aside.
    set_aside: HashSet<String>,
    /// Faults that are not wanted in the store.
    unwanted: HashSet<String>,
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
    /// What comes was given out by an earlier run.
    is_collecting: bool,
}

impl Flow {
    fn new(job: &Job, allotment: Allotment, executed: Vec<Ranges>, results: PullConsumer) -> Self {
        let now = Instant::now();
        Flow {
            job: job.clone(),
            allotment,
            out: BTreeMap::new(),
            again: 0,
            set_aside: HashSet::new(),
            unwanted: HashSet::new(),
            executed,
            results,
            heard: now,
            looked: now,
            announced: now,
            alive: (None, now),
            told: false,
            is_leaving: false,
            is_collecting: false,
        }
    }

    /// Is this work that a worker can have done? It was given out, is done already, or was given out by
    /// an earlier run and is still to be done.
    fn expects(&self, item: &Item) -> bool {
        let is_out = self.out.get(&(item.lane, item.start)) == Some(&item.end);
        let executed = &self.executed[item.lane];
        is_out
            || executed.missing(item.indices()).is_empty()
            || (self.is_collecting
                && self.allotment.covers(item.lane, &item.indices())
                && executed.missing(item.indices()) == [item.indices()])
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
        let mut flow = Flow::new(self.job, allotment, executed, results);
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
        let given = hub.insist_unless(self.stop, "give out work", PATIENCE / 12, publish);
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
        let (mut parcels, mut lost) = (Vec::new(), Vec::new());
        for message in messages {
            let read = Report::read(&message.payload, &flow.job);
            let read = read.and_then(|report| match flow.expects(&report.item) {
                true => Ok(report),
                false => Err(Poison::NotGivenOut(report.item)),
            });
            let report = match read {
                Ok(report) => report,
                Err(poison) => {
                    self.set_aside(flow, message, &poison);
                    continue;
                }
            };
            let opened = match self.open(ledger, flow, &report, asked(message) >= ASKED) {
                Ok(opened) => opened,
                // What is not acknowledged comes again.
                Err(_) => {
                    self.tell_once(flow, Told::ServerAway);
                    ledger.commit()?;
                    return Ok(false);
                }
            };
            (flow.heard, flow.told) = (Instant::now(), false);
            parcels.extend(report.parcels.iter().map(|(_, object)| object.clone()));
            if let Some(poison) = &opened.lost {
                self.set_aside(flow, message, poison);
                lost.push(report.item.clone());
            }
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
        lost.retain(|item| flow.out.contains_key(&(item.lane, item.start)));
        if !lost.is_empty() && !flow.is_leaving {
            flow.again += 1;
            self.publish(flow, &lost, &format!(".{}", flow.again));
        }
        Ok(true)
    }

    /// Keeps a message that cannot be used as a dead letter and says so. It is acknowledged with the
    /// others; what it may have stood for is not done, and is given out again.
    fn set_aside(&mut self, flow: &mut Flow, message: &Message, poison: &Poison) {
        let sequence = message.info().map_or(0, |info| info.stream_sequence);
        let name = format!("{}.{sequence}", Form::Result);
        self.keep_letter(flow, name, Form::Result, poison, &message.payload);
    }

    fn keep_letter(
        &mut self,
        flow: &mut Flow,
        name: String,
        place: Form,
        poison: &Poison,
        message: &[u8],
    ) {
        let letter = DeadLetter::new(place, poison, SUBMITTER, message);
        let hub = self.link.hub();
        let filing = || file(hub, &flow.job.id, &name, &letter);
        // It is counted here, whether or not the server has room for it.
        let _ = self.link.block(hub.insist("keep a dead letter", WAIT, filing));
        if flow.set_aside.insert(name) {
            (self.tell)(Told::SetAside(letter));
        }
    }

    /// Says what workers have set aside.
    fn tell_letters(&mut self, job: &str) {
        let hub = self.link.hub();
        let read = || read_letters(hub, job);
        let letters = self.link.block(hub.insist("read dead letters", CLEARING, read));
        for letter in letters.unwrap_or_default() {
            if letter.by != SUBMITTER {
                (self.tell)(Told::SetAside(letter));
            }
        }
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
        let (is_known, Opened { mut part, lost }) = (executed.contains(item.start), opened);
        let occurrences = report.shown.iter().flat_map(Shown::occurrences).collect();
        // Done twice, by a worker that was taken for dead or because the message came again; or to be done
        // once more. What it found counts all the same.
        if is_known || lost.is_some() || !whole {
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

    /// A report as the ledger takes it; parcels of unknown faults are fetched. A parcel that was `asked`
    /// for often enough is taken for lost.
    fn open(
        &mut self,
        ledger: &Ledger<'_>,
        flow: &mut Flow,
        report: &Report,
        asked: bool,
    ) -> Result<Opened, Error> {
        let is_leaving = flow.is_leaving;
        let stop = || !is_leaving && (self.stop)();
        let is_known = |finding: &str| ledger.store().findings().any(|known| known.id == *finding);
        let (mut found, mut lost) = (Vec::new(), None);
        for (finding, object) in &report.parcels {
            if is_known(finding) {
                continue;
            }
            let hub = self.link.hub();
            let fetch = || fetch(hub, object, PARCEL);
            let parcel = hub.transfer(&stop, "fetch a finding", PATIENCE / 12, PATIENCE, fetch);
            let parcel = match self.link.block(parcel) {
                Err(_) if asked => Object::Lost,
                parcel => parcel?,
            };
            match described(finding, parcel) {
                Ok(discovery) => found.push(discovery),
                Err(poison) => lost = Some(poison),
            }
        }
        for Shown { finding, .. } in &report.shown {
            let is_described = found.iter().any(|discovery: &Discovery| discovery.id() == *finding);
            if !is_described && !flow.unwanted.contains(finding) && !is_known(finding) {
                lost.get_or_insert(Poison::Lost(finding.clone()));
            }
        }
        found.retain(|discovery| {
            let is_news = (self.is_news)(discovery);
            if !is_news {
                flow.unwanted.insert(discovery.id());
            }
            is_news
        });
        // Done already: whatever is missing here is known from the first time.
        if flow.executed[report.item.lane].contains(report.item.start) {
            lost = None;
        }
        let Report { programs, runs, counts, .. } = report.clone();
        let part = Part { programs, runs, counts, discoveries: found, ..Part::default() };
        Ok(Opened { part, lost })
    }

    /// Says if nobody does anything, and gives out again what has got lost: a server that loses its disk
    /// loses work that we know of.
    fn look_around(&mut self, flow: &mut Flow) {
        if flow.looked.elapsed() < SILENCE || flow.heard.elapsed() < SILENCE {
            return;
        }
        flow.looked = Instant::now();
        self.repair(flow);
        let (hub, lease) = (self.link.hub().clone(), self.job.lease());
        let seen = self.link.block(look(&hub, &self.job.id));
        if let Seen::Campaign(_, sign) = &seen
            && flow.alive.0 != *sign
        {
            flow.alive = (*sign, Instant::now());
        }
        let told = match seen {
            // Workers are at it, or they are done and nothing is taken from them, or they are gone.
            Seen::Campaign(info, _) if info.num_ack_pending > 0 => {
                match self.link.block(put(&hub, self.job)) {
                    Err(why) => Told::Refuses(why),
                    Ok(()) if flow.alive.1.elapsed() < lease + SILENCE => return,
                    Ok(()) => Told::NoWorkers,
                }
            }
            Seen::Campaign(info, _) if info.num_pending == 0 && flow.heard.elapsed() > lease => {
                flow.again += 1;
                let (items, suffix) = (flow.items(), format!(".{}", flow.again));
                return self.publish(flow, &items, &suffix);
            }
            Seen::Campaign(info, _) if info.num_waiting > 0 => return,
            Seen::Campaign(..) => {
                // Workers may be there and lack what they need. If it fails, the server is away.
                let _ = (self.keep)();
                Told::NoWorkers
            }
            Seen::Forgotten => match self.announce_again() {
                Ok(results) => {
                    flow.results = results;
                    return;
                }
                Err(_) => Told::ServerAway,
            },
            Seen::Away => Told::ServerAway,
        };
        self.tell_once(flow, told);
    }

    /// Announces the campaign again if what says so in the queue was changed or removed, and keeps again
    /// what workers need of it.
    fn repair(&mut self, flow: &mut Flow) {
        let (hub, job) = (self.link.hub(), self.job);
        let ours = seal(Form::Campaign, job);
        let Ok(there) = self.link.block(announced(hub, &job.id)) else { return };
        if there.as_ref().is_some_and(|(_, there)| *there == ours) {
            return;
        }
        if let Some((revision, there)) = there {
            let poison = match Job::read(&there, &job.id) {
                Err(poison) => poison,
                Ok(_) => Poison::Replaced,
            };
            let name = format!("{}.{revision}", Form::Campaign);
            self.keep_letter(flow, name, Form::Campaign, &poison, &there);
        }
        // If it fails, it is tried again after a while.
        let _ = self.link.block(put(self.link.hub(), job));
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
        self.tell_letters(&job);
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
        let hub = self.link.hub().clone();
        let _ = self.link.block(hub.insist("end", CLEARING, || end(&hub, &earlier.id)));
        // Results name lanes by number.
        if earlier.lanes == self.job.lanes {
            let results = || results_of(&hub, &earlier.id);
            let results = self.link.block(hub.insist("read results", PATIENCE / 4, results))?;
            let executed = executed(ledger, id, &earlier.lanes)?;
            let mut flow = Flow::new(&earlier, allotment, executed, results);
            flow.is_collecting = true;
            if !self.drain(ledger, &mut flow, FAREWELL)? {
                return Err(hub.failed("read what is left of the campaign", "no answer"));
            }
            self.tell_letters(&earlier.id);
        }
        let _ = self.link.block(hub.insist("clear up", CLEARING, || clear(&hub, &earlier.id)));
        Ok(())
    }
}

/// A report, and what is missing of what it found.
struct Opened {
    part: Part,
    lost: Option<Poison>,
}

/// What a parcel says about the finding that it should describe.
fn described(finding: &str, parcel: Object) -> Result<Discovery, Poison> {
    let Object::Whole(parcel) = parcel else { return Err(Poison::Lost(finding.to_owned())) };
    let bad = |why| Poison::BadFinding { finding: finding.to_owned(), why: Box::new(why) };
    let discovery: Discovery = open(Form::Finding, &parcel).map_err(bad)?;
    let found = discovery.id();
    if found != *finding {
        return Err(bad(Poison::OtherName { expected: finding.to_owned(), found }));
    }
    Ok(discovery)
}

/// How often the server has given us a message.
fn asked(message: &Message) -> i64 {
    message.info().map_or(1, |info| info.delivered)
}

fn executed(ledger: &Ledger<'_>, id: CampaignId, lanes: &[LaneName]) -> Result<Vec<Ranges>, Error> {
    let of = |lane: &LaneName| Ok(ledger.store().executed(id, &lane.target, &lane.version)?);
    lanes.iter().map(of).collect()
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    fs::write(path, content).map_err(|why| Error::File { path: path.to_owned(), why })
}
