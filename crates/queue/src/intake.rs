//! What a submitter does with results: each is checked, put into the store and acknowledged, in this
//! order. In: messages from the results stream. Out: entries of the ledger, and dead letters.

use std::time::Duration;

use strait_findings::Discovery;

use crate::activity::Activity;
use crate::error::Error;
use crate::flow::Flow;
use crate::job::{Report, Shown};
use crate::ledger::Ledger;
use crate::letter::{DeadLetter, file, read_letters};
use crate::message::{Form, Poison, open};
use crate::source::Part;
use crate::submit::{CLEARING, PATIENCE, QueueEvent, Submission, WAIT};
use crate::transport::{Delivery, Object, Settlement};

/// The most bytes that the description of a finding has.
const PARCEL: usize = 64 << 20;
/// A description that cannot be fetched while the server has answered so often is lost.
const ASKED: i64 = 3;
/// The name of the submitter.
const SUBMITTER: &str = "the submitter";

impl Submission<'_> {
    /// Puts results into the store, then acknowledges them. `false` if there are none, or they cannot be
    /// fetched.
    pub(crate) fn take_in(
        &mut self,
        ledger: &mut Ledger<'_>,
        flow: &mut Flow,
        messages: &[Delivery],
    ) -> Result<bool, Error> {
        if messages.is_empty() {
            ledger.commit_if_due()?;
            return Ok(false);
        }
        let (mut parcels, mut lost) = (Vec::new(), Vec::new());
        for message in messages {
            let read = Report::read(&message.message, &flow.job);
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
            let opened = match self.open(ledger, flow, &report, message.times >= ASKED) {
                Ok(opened) => opened,
                // What is not acknowledged comes again.
                Err(_) => {
                    self.tell_once(flow, QueueEvent::ServerAway);
                    ledger.commit()?;
                    return Ok(false);
                }
            };
            (flow.heard, flow.told) = (self.link.clock().now(), false);
            parcels.extend(report.parcels.iter().map(|(_, object)| object.clone()));
            if let Some(poison) = &opened.lost {
                self.set_aside(flow, message, poison);
                lost.push(report.item.clone());
            }
            self.enter(ledger, flow, &report, opened)?;
        }
        ledger.commit()?;
        for message in messages {
            // If this gets lost, it comes again and is known.
            message.receipt.settle(Settlement::Done);
        }
        if !parcels.is_empty() {
            self.link
                .beside("queue-objects", move |link| link.transport().remove_objects(&parcels));
        }
        lost.retain(|item| flow.out.contains_key(&(item.target, item.start)));
        if !lost.is_empty() && !flow.is_leaving {
            flow.again += 1;
            self.publish(flow, &lost, &format!(".{}", flow.again));
        }
        Ok(true)
    }

    /// Keeps a message that cannot be used as a dead letter and says so. It is acknowledged with the
    /// others; what it may have stood for is not done, and is given out again.
    fn set_aside(&mut self, flow: &mut Flow, message: &Delivery, poison: &Poison) {
        let name = format!("{}.{}", Form::Result, message.number);
        self.keep_letter(flow, name, Form::Result, poison, &message.message);
    }

    pub(crate) fn keep_letter(
        &mut self,
        flow: &mut Flow,
        name: String,
        place: Form,
        poison: &Poison,
        message: &[u8],
    ) {
        let letter = DeadLetter::new(place, poison, SUBMITTER, message);
        let filing = || file(self.link.transport(), &flow.job.id, &name, &letter);
        // It is counted here, whether or not the server has room for it.
        let _ = self.link.insist("keep a dead letter", WAIT, filing);
        if flow.set_aside.insert(name) {
            self.tell_letter(letter);
        }
    }

    /// Says what workers have set aside.
    pub(crate) fn tell_letters(&mut self, job: &str) {
        let read = || read_letters(self.link.transport(), job);
        let letters = self.link.insist("read dead letters", CLEARING, read);
        for letter in letters.unwrap_or_default() {
            if letter.by != SUBMITTER {
                self.tell_letter(letter);
            }
        }
    }

    fn tell_letter(&mut self, letter: DeadLetter) {
        Activity::add(&self.link.activity().dead_letters, 1);
        (self.tell)(QueueEvent::SetAside(letter));
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
        let executed = &mut flow.executed[item.target];
        let (is_known, Opened { mut part, lost }) = (executed.contains(item.start), opened);
        let occurrences = report.shown.iter().flat_map(Shown::occurrences).collect();
        // Done twice, by a worker that was taken for dead or because the message came again; or to be done
        // once more. What it found counts all the same.
        if is_known || lost.is_some() || !whole {
            let part = Part { discoveries: part.discoveries, ..Part::default() };
            return ledger.add(item.target, part, occurrences);
        }
        executed.insert(item.indices());
        part.indices.insert(item.indices());
        (self.counted)(item.target, &part);
        let activity = self.link.activity();
        Activity::add(&activity.items, 1);
        Activity::add(&activity.programs, part.programs);
        Activity::add(&activity.runs, part.runs);
        ledger.add(item.target, part, occurrences)?;
        if flow.out.remove(&(item.target, item.start)).is_some() {
            flow.allotment.finish(item.target, Duration::from_millis(report.spent_ms));
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
        let is_known = |finding: &str| ledger.store().findings().any(|known| known.id == *finding);
        let (mut found, mut lost) = (Vec::new(), None);
        for (finding, object) in &report.parcels {
            if is_known(finding) {
                continue;
            }
            let fetch = || self.link.transport().object(object, PARCEL);
            let parcel = self.link.insist("fetch a finding", PATIENCE / 12, fetch);
            let parcel = match parcel {
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
        if flow.executed[report.item.target].contains(report.item.start) {
            lost = None;
        }
        let Report { programs, runs, counts, notes, .. } = report.clone();
        let part = Part { programs, runs, counts, notes, discoveries: found, ..Part::default() };
        Ok(Opened { part, lost })
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
