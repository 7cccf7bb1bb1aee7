//! What `strait worker` needs of each kind of campaign: it holds a list of [`Kind`]s and asks the one whose
//! name a campaign carries.

use std::collections::{HashMap, HashSet};
use std::error::Error as StdError;

use strait_queue::{Bench, Job, Link, Shard};

use crate::begin::Settings;
use crate::campaign::Campaign;
use crate::counters::Counters;
use crate::stop::Stop;
use crate::workload::Workload;

/// A worker's turn at a campaign.
pub struct Turn<'a> {
    /// The queue.
    pub link: &'a Link,
    /// The campaign.
    pub job: &'a Job,
    /// Where its work is taken.
    pub bench: &'a Bench,
    /// Threads.
    pub jobs: usize,
    /// Ends it.
    pub stop: &'a Stop,
    /// Says something to the user.
    pub say: &'a dyn Fn(String),
}

/// How a campaign from a queue becomes work for this machine.
pub trait Servable {
    /// Its work.
    type Workload: Workload;
    /// Does it run code or compilers that a campaign names?
    const RUNS_FOREIGN_CODE: bool;

    /// Makes what the campaign needs, here: compilers, crates, a module. It fails if this machine cannot take
    /// part, for example since it has another version of a target.
    fn prepare(
        &mut self,
        turn: &Turn<'_>,
    ) -> Result<Self::Workload, <Self::Workload as Workload>::Error>;
}

/// A kind of campaign that a worker can take part in.
pub trait Kind {
    /// Its name in a queue.
    fn name(&self) -> &'static str;

    /// What was done for campaigns of this kind.
    fn counters(&self) -> &Counters;

    /// Does the work of a campaign until there is none for a while. Faults that are `known` are not confirmed
    /// again.
    fn serve(
        &mut self,
        turn: &Turn<'_>,
        known: &mut HashSet<String>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>>;

    /// Forgets campaigns that are over, and removes what was made for them.
    fn retain(&mut self, is_there: &dyn Fn(&str) -> bool);
}

/// A kind that keeps what it made for a campaign from one turn to the next.
pub struct Serving<'c, S: Servable> {
    servable: S,
    prepared: HashMap<String, S::Workload>,
    counters: &'c Counters,
}

impl<'c, S: Servable> Serving<'c, S> {
    /// Nothing is prepared yet.
    pub fn new(servable: S, counters: &'c Counters) -> Self {
        Serving { servable, prepared: HashMap::new(), counters }
    }
}

impl<S: Servable> Kind for Serving<'_, S> {
    fn name(&self) -> &'static str {
        <S::Workload as Workload>::Settings::KIND
    }

    fn counters(&self) -> &Counters {
        self.counters
    }

    fn serve(
        &mut self,
        turn: &Turn<'_>,
        known: &mut HashSet<String>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let id = &turn.job.id;
        if !self.prepared.contains_key(id) {
            let workload = self.servable.prepare(turn)?;
            self.prepared.insert(id.clone(), workload);
        }
        let Some(workload) = self.prepared.get(id) else { return Ok(()) };
        let campaign = Campaign {
            workload,
            count: None,
            shard: Shard::default(),
            jobs: turn.jobs,
            stop: turn.stop,
            counters: self.counters,
        };
        Ok(campaign.serve(turn.bench, known)?)
    }

    fn retain(&mut self, is_there: &dyn Fn(&str) -> bool) {
        self.prepared.retain(|id, _| is_there(id));
    }
}
