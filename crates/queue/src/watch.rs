//! What a submitter looks at while it waits: which workers there are, whether anything happens, and whether
//! the server still has what it was given.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::activity::Activity;
use crate::error::Error;
use crate::flow::Flow;
use crate::job::Job;
use crate::message::{Form, Poison, seal};
use crate::presence::WorkerRecord;
use crate::roster::Change;
use crate::status::WorkerStatus;
use crate::submit::{PATIENCE, QueueEvent, Submission};
use crate::transport::{Backlog, Bucket, Record, Stream, TransportError};
use crate::worker::alive;

/// After this time without progress the submitter asks whether there are workers. They are counted as often.
const SILENCE: Duration = Duration::from_secs(5);

impl Submission<'_> {
    /// Says which workers come and go.
    pub(crate) fn count_workers(&mut self, flow: &mut Flow) {
        let now = self.link.clock().now();
        if now.saturating_sub(flow.counted) < SILENCE {
            return;
        }
        flow.counted = now;
        let Ok(records) = self.link.transport().list(Bucket::Workers) else {
            // Workers cannot write while the server is away.
            return flow.roster.excuse(now);
        };
        for change in flow.roster.compare(&self.job.id, &records, now) {
            (self.tell)(match change {
                Change::Joined(name) => QueueEvent::WorkerJoined(name),
                Change::Left(name) => QueueEvent::WorkerLeft(name),
                Change::Lost(name) => {
                    Activity::add(&self.link.activity().workers_lost, 1);
                    QueueEvent::WorkerLost(name)
                }
            });
        }
        let activity = self.link.activity();
        activity.workers.store(flow.roster.len() as u64, Ordering::Relaxed);
        let is_ours = |record: &&Record, worker: &WorkerRecord| {
            flow.roster.has(&record.key) || worker.campaign.as_deref() == Some(&self.job.id)
        };
        let read =
            records.iter().filter_map(|record| Some((record, WorkerRecord::read(record).ok()?)));
        let ours = read.filter(|(record, worker)| is_ours(record, worker));
        let mut seen: Vec<WorkerStatus> =
            ours.map(|(record, worker)| WorkerStatus::new(worker, record.age)).collect();
        seen.sort_by(|one, other| one.record.name.cmp(&other.record.name));
        activity.set_workers_seen(seen);
    }

    /// What the server knows about the work, and the last sign of life of a worker. `None` if it is there
    /// and does not know the campaign: it came back without its files.
    fn look(&self) -> Result<Option<(Backlog, Option<u64>)>, TransportError> {
        let transport = self.link.transport();
        let seen = transport.backlog(Stream::Work, &self.job.id).and_then(|backlog| {
            let sign = transport.get(Bucket::Notes, &alive(&self.job.id))?;
            Ok((backlog, sign.map(|sign| sign.revision)))
        });
        match seen {
            Err(TransportError::NotFound(_)) => Ok(None),
            seen => seen.map(Some),
        }
    }

    /// Reports if no worker does anything, and gives out again what has got lost: a server that loses its disk
    /// loses work that we know of.
    pub(crate) fn look_around(&mut self, flow: &mut Flow) {
        let link = self.link;
        if link.since(flow.looked) < SILENCE || link.since(flow.heard) < SILENCE {
            return;
        }
        flow.looked = link.clock().now();
        self.repair(flow);
        let (seen, lease) = (self.look(), self.job.lease());
        if let Ok(Some((_, sign))) = &seen
            && flow.alive.0 != *sign
        {
            flow.alive = (*sign, link.clock().now());
        }
        let told = match seen {
            // Workers are at it, or they are done and nothing is taken from them, or they are gone.
            Ok(Some((backlog, _))) if backlog.leased > 0 => match self.put() {
                Err(why) => {
                    // Workers cannot say either that they are there.
                    flow.roster.excuse(link.clock().now());
                    QueueEvent::Refuses(why.to_string())
                }
                Ok(()) if link.since(flow.alive.1) < lease + SILENCE => return,
                Ok(()) => QueueEvent::NoWorkers,
            },
            Ok(Some((backlog, _))) if backlog.waiting == 0 && link.since(flow.heard) > lease => {
                flow.again += 1;
                let (items, suffix) = (flow.items(), format!(".{}", flow.again));
                return self.publish(flow, &items, &suffix);
            }
            Ok(Some((backlog, _))) if backlog.readers > 0 => return,
            Ok(Some(_)) => {
                // Workers may be there and lack what they need. If it fails, the server is away.
                let _ = (self.keep)();
                QueueEvent::NoWorkers
            }
            Ok(None) => match self.announce_again() {
                Ok(()) => return,
                Err(_) => QueueEvent::ServerAway,
            },
            Err(_) => QueueEvent::ServerAway,
        };
        self.tell_once(flow, told);
    }

    /// Announces the campaign again if what says so in the queue was changed or removed, and keeps again
    /// what workers need of it.
    fn repair(&mut self, flow: &mut Flow) {
        let job = self.job;
        let ours = seal(Form::Campaign, job);
        let Ok(there) = self.link.transport().get(Bucket::Campaigns, &job.id) else { return };
        if there.as_ref().is_some_and(|there| there.message == ours) {
            return;
        }
        if let Some(there) = there {
            let poison = match Job::read(&there.message, &job.id) {
                Err(poison) => poison,
                Ok(_) => Poison::Replaced,
            };
            let name = format!("{}.{}", Form::Campaign, there.revision);
            self.keep_letter(flow, name, Form::Campaign, &poison, &there.message);
        }
        // If it fails, it is tried again after a while.
        let _ = self.put();
    }

    /// The server is there and has forgotten everything.
    fn announce_again(&self) -> Result<(), Error> {
        let furnish = || self.link.transport().furnish();
        self.link.insist("make a stream", PATIENCE / 4, furnish)?;
        (self.keep)()?;
        self.announce()
    }
}
