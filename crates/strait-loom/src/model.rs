//! Checking a model: loom's builder with its environment variables, as a search of strait.

use std::path::{Path, PathBuf};
use std::time::Duration;

use strait::Model;

/// The length that strait allows by itself.
const LENGTH: usize = 100_000;

/// How to search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Not looked at: there is no limit.
    pub max_threads: usize,

    /// How many steps an execution may have, if that is more than 100,000. A longer one fails.
    /// `LOOM_MAX_BRANCHES` sets it.
    pub max_branches: usize,

    /// Stops after so many executions. `LOOM_MAX_PERMUTATIONS` sets it.
    pub max_permutations: Option<usize>,

    /// Stops after so long. `LOOM_MAX_DURATION` sets it, in seconds.
    pub max_duration: Option<Duration>,

    /// Only schedules in which a thread that could go on is left at most so many times.
    /// `LOOM_MAX_PREEMPTIONS` sets it.
    pub preemption_bound: Option<usize>,

    /// If this file is there, only the schedule in it is performed. A failure writes its schedule to it.
    /// `LOOM_CHECKPOINT_FILE` sets it.
    pub checkpoint_file: Option<PathBuf>,

    /// Not looked at: a search that is optimal has no use for it. `LOOM_CHECKPOINT_INTERVAL` sets it.
    pub checkpoint_interval: usize,

    /// Not looked at: all schedules are searched.
    pub expect_explicit_explore: bool,

    /// Not looked at: failures always show places.
    pub location: bool,

    /// Not looked at: failures always show their trace.
    pub log: bool,

    model: Model,
}

impl Builder {
    /// What the environment says, or else every schedule under RC11.
    pub fn new() -> Self {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: number("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: number("LOOM_MAX_PERMUTATIONS"),
            max_duration: number("LOOM_MAX_DURATION")
                .map(|seconds| Duration::from_secs(seconds as u64)),
            preemption_bound: number("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: std::env::var_os("LOOM_CHECKPOINT_FILE").map(PathBuf::from),
            checkpoint_interval: number("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: std::env::var_os("LOOM_LOCATION").is_some(),
            log: std::env::var_os("LOOM_LOG").is_some(),
            model: chosen_model(),
        }
    }

    /// Sets the file for the schedule of a failure.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Checks that no execution fails. Panics with a report otherwise.
    #[track_caller]
    pub fn check<F>(&self, program: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let outcome = self.search().try_check(move || {
            strait::compat::note_activity();
            crate::statics::begin();
            program();
            // As in loom, no thread may be left that can never go on.
            strait::compat::join_descendants();
            crate::statics::end();
        });
        if let Err(failure) = outcome {
            if let Some(file) = &self.checkpoint_file {
                keep(file, &failure.trace.replay);
            }
            panic!("{failure}");
        }
    }

    /// The search of strait.
    fn search(&self) -> strait::Builder {
        let mut search = strait::Builder::new().model(self.model).spurious_polls();
        if let Some(bound) = self.preemption_bound {
            search = search.preemptions(u32::try_from(bound).unwrap_or(u32::MAX));
        }
        if let Some(limit) = self.max_permutations {
            search = search.executions(limit as u64);
        }
        if let Some(limit) = self.max_duration {
            search = search.duration(limit);
        }
        if self.max_branches > LENGTH {
            search = search.longest(self.max_branches);
        }
        match self.checkpoint_file.as_deref().map(std::fs::read_to_string) {
            Some(Ok(schedule)) => search.only(schedule.trim()),
            _ => search,
        }
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

/// Checks that no execution of the program fails, as the environment says. Panics with a report otherwise.
#[track_caller]
pub fn model<F>(program: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(program);
}

/// Writes the schedule of a failure to a file.
fn keep(file: &Path, schedule: &str) {
    if let Err(error) = std::fs::write(file, schedule) {
        panic!("cannot write the schedule of the failure to {}: {error}", file.display());
    }
}

/// The number in an environment variable, if it is set.
#[track_caller]
fn number(name: &str) -> Option<usize> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("invalid value for `{name}`")))
}

/// The memory model that `STRAIT_MODEL` names; RC11 unless it is set.
fn chosen_model() -> Model {
    match std::env::var("STRAIT_MODEL").as_deref() {
        Err(_) | Ok("rc11") => Model::Rc11,
        Ok("sc") => Model::Sc,
        Ok("tso") => Model::Tso,
        Ok("pso") => Model::Pso,
        Ok(_) => panic!("invalid value for `STRAIT_MODEL`: it is one of rc11, sc, tso, pso"),
    }
}
