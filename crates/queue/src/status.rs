//! What a queue holds at the moment, for people: campaigns with their work and leases, workers with their
//! state, dead letters.

use std::time::Duration;

use crate::error::Error;
use crate::job::Job;
use crate::link::{Foreign, Link};
use crate::presence::{LOST, WorkerRecord};
use crate::transport::{Backlog, Bucket, Stream};

/// How long it may take to read each part.
const READING: Duration = Duration::from_secs(5);

/// A queue at a moment.
#[derive(Clone, Debug)]
pub struct QueueStatus {
    /// The campaigns that are under way.
    pub campaigns: Vec<CampaignStatus>,
    /// Campaigns that this version of Strait does not understand, and why.
    pub foreign: Vec<Foreign>,
    /// The workers that were heard of during the last hour.
    pub workers: Vec<WorkerStatus>,
    /// The number of dead letters by campaign, those of campaigns that are over included.
    pub dead_letters: Vec<(String, u64)>,
}

/// A campaign at a moment.
#[derive(Clone, Debug)]
pub struct CampaignStatus {
    /// The campaign.
    pub job: Job,
    /// Pieces of work; `None` if the server has none of them.
    pub work: Option<Backlog>,
    /// Results that the submitter has not taken.
    pub results: Option<Backlog>,
    /// Messages that were set aside.
    pub dead_letters: u64,
}

/// A worker at a moment.
#[derive(Clone, Debug)]
pub struct WorkerStatus {
    /// What it says about itself.
    pub record: WorkerRecord,
    /// How long ago it said so.
    pub age: Duration,
    /// What follows from that.
    pub state: WorkerState,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// It works for a campaign.
    Working,
    /// It waits for one.
    Idle,
    /// It has not been heard of for a while.
    Lost,
}

impl WorkerStatus {
    pub(crate) fn new(record: WorkerRecord, age: Duration) -> WorkerStatus {
        let state = match &record.campaign {
            _ if age > LOST => WorkerState::Lost,
            Some(_) => WorkerState::Working,
            None => WorkerState::Idle,
        };
        WorkerStatus { record, age, state }
    }
}

impl Link {
    /// What the queue holds now.
    pub fn status(&self) -> Result<QueueStatus, Error> {
        let transport = self.transport();
        let (jobs, foreign) = self.jobs()?;
        let counts = || transport.letter_counts();
        let dead_letters = self.insist("read dead letters", READING, counts)?;
        let list = || transport.list(Bucket::Workers);
        let records = self.insist("read the workers", READING, list)?;
        let read = |record| Some((WorkerRecord::read(record).ok()?, record.age));
        let mut workers: Vec<WorkerStatus> = (records.iter())
            .filter_map(read)
            .map(|(record, age)| WorkerStatus::new(record, age))
            .collect();
        workers.sort_by(|one, other| one.record.name.cmp(&other.record.name));
        let campaign = |job: Job| {
            let backlog = |stream| transport.backlog(stream, &job.id).ok();
            let letters = dead_letters.iter().find(|(id, _)| *id == job.id);
            CampaignStatus {
                work: backlog(Stream::Work),
                results: backlog(Stream::Results),
                dead_letters: letters.map_or(0, |(_, count)| *count),
                job,
            }
        };
        let campaigns = jobs.into_iter().map(campaign).collect();
        Ok(QueueStatus { campaigns, foreign, workers, dead_letters })
    }
}
