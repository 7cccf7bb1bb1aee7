//! What `strait worker` needs of each kind of campaign: it holds a list of [`Kind`]s and asks the one whose
//! name a campaign carries.

use std::collections::{HashMap, HashSet};
use std::error::Error as StdError;
use std::sync::Arc;

use strait_queue::{Job, Link, Shard, WorkerSession};

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
    pub session: &'a WorkerSession,
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
    /// What its work is counted in.
    const UNIT: Unit;

    /// Makes what the campaign needs, here: compilers, crates, a module. It fails if this machine cannot take
    /// part, for example since it has another version of a target.
    fn prepare(
        &mut self,
        turn: &Turn<'_>,
    ) -> Result<Self::Workload, <Self::Workload as Workload>::Error>;
}

/// What the work of a kind of campaign is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Programs that Strait makes.
    Programs,
    /// Runs of the user's own tests.
    Runs,
}

/// What is known of a kind of campaign before anything is prepared for it.
#[derive(Clone, Copy, Debug)]
pub struct KindInfo {
    /// Its name in a queue.
    pub name: &'static str,
    /// Does it run code or compilers that a campaign names?
    pub runs_foreign_code: bool,
    /// What its work is counted in.
    pub unit: Unit,
}

impl KindInfo {
    /// The kind that is served so.
    pub const fn of<S: Servable>() -> KindInfo {
        KindInfo {
            name: <S::Workload as Workload>::Settings::KIND,
            runs_foreign_code: S::RUNS_FOREIGN_CODE,
            unit: S::UNIT,
        }
    }
}

/// A kind of campaign that a worker can take part in.
pub trait Kind {
    /// What is known of it.
    fn info(&self) -> KindInfo;

    /// What was done for campaigns of this kind.
    fn counters(&self) -> &Arc<Counters>;

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
pub struct Serving<S: Servable> {
    servable: S,
    /// By the names of the campaigns.
    prepared: HashMap<String, S::Workload>,
    counters: Arc<Counters>,
}

impl<S: Servable> Serving<S> {
    /// Nothing is prepared yet.
    pub fn new(servable: S) -> Self {
        Serving { servable, prepared: HashMap::new(), counters: Arc::default() }
    }
}

impl<S: Servable> Kind for Serving<S> {
    fn info(&self) -> KindInfo {
        KindInfo::of::<S>()
    }

    fn counters(&self) -> &Arc<Counters> {
        &self.counters
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
            counters: &self.counters,
        };
        Ok(campaign.serve(turn.session, known)?)
    }

    fn retain(&mut self, is_there: &dyn Fn(&str) -> bool) {
        self.prepared.retain(|id, _| is_there(id));
    }
}
