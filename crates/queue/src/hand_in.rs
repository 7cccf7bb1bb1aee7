//! How results reach the results stream: what was found goes ahead as objects, then the report, then the
//! item is acknowledged. In: an item that is done, or something found in one that is not. Out: messages.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use strait_findings::Discovery;

use crate::job::{Item, Report, Shown};
use crate::message::{Form, seal};
use crate::queue_source::Open;
use crate::transport::{Bucket, Outgoing, Settlement, Stream, TransportError};
use crate::worker::{PAUSE, Shared};

/// Results that are not taken for so long are worth a word.
const TROUBLE: Duration = Duration::from_secs(3);

impl Shared {
    /// Stores the results of an item, then acknowledges it.
    pub(crate) fn hand_in(&self, open: &Open, spent: Duration) {
        let part = &open.part;
        let shown = Shown::all(&part.discoveries);
        let mut news: Vec<String> = shown.iter().map(|shown| shown.finding.clone()).collect();
        news.dedup();
        news.retain(|finding| !open.is_told(&self.known(), finding));
        let mut parcels = Vec::new();
        for finding in &news {
            let fullest = self.known().fullest.get(finding).cloned();
            let Some(discovery) = fullest else { continue };
            let object = self.object(finding);
            if self.send_parcel(&object, &discovery).is_none() {
                return;
            }
            parcels.push((finding.clone(), object));
        }
        let report = Report {
            item: open.item.clone(),
            whole: true,
            programs: part.programs,
            runs: part.runs,
            spent_ms: u64::try_from(spent.as_millis()).unwrap_or(u64::MAX),
            counts: part.counts.clone(),
            notes: part.notes.clone(),
            shown,
            parcels,
            worker: self.name.clone(),
        };
        let Some(is_first) = self.send_report(&open.message, &report) else { return };
        self.remember(&open.message, is_first.then_some(news));
        // If this gets lost, the item comes again and is known.
        open.receipt.settle(Settlement::Done);
        if open.note.is_some() {
            let _ = self.link.transport().remove(Bucket::Notes, &open.name);
        }
    }

    /// Stores something that was found in an item that is not done yet.
    pub(crate) fn hand_ahead(&self, item: Item, message: &str, discovery: &Discovery) {
        let finding = discovery.id();
        let object = self.object(&finding);
        if self.send_parcel(&object, discovery).is_none() {
            return;
        }
        let report = Report {
            item,
            whole: false,
            programs: 0,
            runs: 0,
            spent_ms: 0,
            counts: BTreeMap::new(),
            notes: Vec::new(),
            shown: Shown::all(std::slice::from_ref(discovery)),
            parcels: vec![(finding.clone(), object)],
            worker: self.name.clone(),
        };
        if self.send_report(&format!("{message}.{finding}"), &report) == Some(true) {
            self.known().told.insert(finding);
        }
    }

    /// A new name for the description of a finding.
    fn object(&self, finding: &str) -> String {
        format!("{}.{finding}.{}", self.job.id, self.link.fresh_name())
    }

    /// `None` when we are to end before the server is back.
    fn send_parcel(&self, object: &str, discovery: &Discovery) -> Option<()> {
        let parcel = seal(Form::Finding, discovery);
        self.until_closing(|| self.link.transport().put_object(object, &parcel))
    }

    /// Whether the stream did not have it yet; `None` when we are to end before the server is back.
    fn send_report(&self, name: &str, report: &Report) -> Option<bool> {
        let (name, message) = (name.to_owned(), seal(Form::Result, report));
        let messages = [Outgoing { name, message }];
        let sent = self.until_closing(|| {
            self.link.transport().publish(Stream::Results, &self.job.id, &messages)
        })?;
        sent.first().copied()
    }

    fn until_closing<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, TransportError>,
    ) -> Option<T> {
        let begun = self.link.clock().now();
        loop {
            match attempt() {
                Ok(value) => {
                    self.link.troubled().take();
                    return Some(value);
                }
                Err(_) if self.is_closing.load(Ordering::SeqCst) => return None,
                Err(why) => {
                    if self.link.since(begun) > TROUBLE {
                        *self.link.troubled() = Some(why.to_string());
                    }
                    self.link.clock().sleep(PAUSE);
                }
            }
        }
    }
}
