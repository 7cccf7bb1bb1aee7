//! A campaign in a folder: begun, or taken up where it was left. In: a store and what the user asks for.
//! Out: the campaign's name in the store. What was given again must be what it was begun with; what
//! indices mean besides seed, count and share is for the part that does the work.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use strait_findings::{CampaignId, Known, Store};

use crate::error::Error;
use crate::shard::Shard;

/// The folder of a campaign of some kind.
pub struct Folder<'a> {
    /// The store in it.
    pub store: &'a mut Store,
    /// The folder.
    pub path: &'a Path,
    /// The command whose campaigns are meant, such as `strait fuzz`.
    pub command: &'static str,
    /// What makes the programs here.
    pub generator: u32,
}

/// A campaign cannot be begun or taken up.
#[derive(Debug, thiserror::Error)]
pub enum CannotBegin {
    /// The folder has work of this campaign already.
    #[error(
        "{} already holds a campaign with seed {seed}; continue it with --resume, or choose another --seed or --out",
        folder.display()
    )]
    AlreadyBegun {
        /// The folder.
        folder: PathBuf,
        /// The seed.
        seed: u64,
    },
    /// There is nothing to resume.
    #[error(
        "there is no campaign of `{command}` to resume in {}; leave out --resume to begin one",
        folder.display()
    )]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
        /// The command whose campaign was looked for.
        command: &'static str,
    },
    /// The campaign in the folder is another one.
    #[error(
        "the campaign in {} was begun with {there}, not with {here}; leave that out, or choose another --out",
        folder.display()
    )]
    OtherCampaign {
        /// The folder.
        folder: PathBuf,
        /// What it was begun with.
        there: String,
        /// What was given now.
        here: String,
    },
    /// The campaign in the folder was made by another generator: its indices mean something else.
    #[error(
        "the campaign in {} was begun by another version of Strait (generator {found}, now {ours}); finish it with that version, or choose another --out",
        folder.display()
    )]
    OtherGenerator {
        /// The folder.
        folder: PathBuf,
        /// Its generator.
        found: u32,
        /// Ours.
        ours: u32,
    },
}

/// How far a campaign goes, as the store keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Extent {
    count: Option<u64>,
    seconds: Option<f64>,
    /// Absent when it is everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

impl Extent {
    /// So many indices, so long, this share of them.
    pub fn new(count: Option<u64>, time: Option<Duration>, shard: Shard) -> Self {
        let seconds = time.map(|time| time.as_secs_f64());
        Extent { count, seconds, shard: (!shard.is_whole()).then(|| shard.to_string()) }
    }

    /// The number of indices, if limited.
    pub fn count(&self) -> Option<u64> {
        self.count
    }

    /// The share; `None` if it is not written as shares are.
    pub fn shard(&self) -> Option<Shard> {
        self.shard.as_ref().map_or(Some(Shard::default()), |share| share.parse().ok())
    }

    /// What is left of the time after so much.
    pub fn time_left(&self, spent: Duration) -> Option<Duration> {
        let planned = Duration::try_from_secs_f64(self.seconds?).unwrap_or_default();
        Some(planned.saturating_sub(spent))
    }
}

impl Folder<'_> {
    /// A new campaign.
    pub fn start(&mut self, seed: u64, settings: &impl Serialize) -> Result<CampaignId, Error> {
        let text = serde_json::to_string(settings).map_err(Error::Settings)?;
        let id = self.store.campaign(seed, self.generator, &text)?;
        if !self.store.totals(id)?.is_empty() {
            return Err(CannotBegin::AlreadyBegun { folder: self.path.to_owned(), seed }.into());
        }
        Ok(id)
    }

    /// The last campaign, and its settings.
    pub fn last<S: DeserializeOwned>(&self) -> Result<(Known, S), Error> {
        let known = self.store.last_campaign()?.ok_or_else(|| self.nothing())?;
        let settings = serde_json::from_str(&known.settings).map_err(|_| self.nothing())?;
        self.made_by(known.generator_version, self.generator)?;
        Ok((known, settings))
    }

    /// Takes up a campaign: its name, and how long it has run.
    pub fn resume(&mut self, known: &Known) -> Result<(CampaignId, Duration), Error> {
        let id = self.store.campaign(known.seed, known.generator_version, &known.settings)?;
        Ok((id, self.store.active(id)))
    }

    /// Whatever was found here is nothing that can be resumed.
    pub fn nothing(&self) -> Error {
        let (folder, command) = (self.path.to_owned(), self.command);
        CannotBegin::NothingToResume { folder, command }.into()
    }

    /// What makes programs is the same.
    pub fn made_by(&self, found: u32, ours: u32) -> Result<(), Error> {
        if found == ours {
            return Ok(());
        }
        Err(CannotBegin::OtherGenerator { folder: self.path.to_owned(), found, ours }.into())
    }

    /// What is given again is what the campaign was begun with.
    pub fn same(&self, there: String, here: Option<String>) -> Result<(), Error> {
        match here {
            Some(here) if here != there => {
                let folder = self.path.to_owned();
                Err(CannotBegin::OtherCampaign { folder, there, here }.into())
            }
            _ => Ok(()),
        }
    }
}
