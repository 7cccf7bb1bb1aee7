//! What is written to the index, in one transaction.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use rusqlite::{OptionalExtension, Transaction, params};

use crate::error::Error;
use crate::index::{CampaignId, Exported, Total};
use crate::model::Finding;

/// One transaction.
#[derive(Debug)]
pub(crate) struct Write<'a> {
    pub(crate) transaction: Transaction<'a>,
    pub(crate) path: &'a Path,
}

impl Write<'_> {
    fn execute(&self, command: &str, parameters: impl rusqlite::Params) -> Result<usize, Error> {
        let done = self
            .transaction
            .prepare_cached(command)
            .and_then(|mut statement| statement.execute(parameters));
        done.map_err(Error::index(self.path))
    }

    /// Finds or makes a campaign. A seed is any 64 bits, kept as they are.
    pub(crate) fn campaign(
        &self,
        seed: u64,
        generator_version: u32,
        settings: &str,
        now: &str,
    ) -> Result<CampaignId, Error> {
        let known =
            "SELECT id FROM campaigns WHERE seed = ?1 AND generator_version = ?2 AND settings = ?3";
        let key = params![seed.cast_signed(), generator_version, settings];
        let found = self.transaction.query_row(known, key, |row| row.get(0)).optional();
        if let Some(id) = found.map_err(Error::index(self.path))? {
            return Ok(CampaignId(id));
        }
        let make = "INSERT INTO campaigns (seed, generator_version, settings, started) VALUES (?1, ?2, ?3, ?4)";
        self.execute(make, params![seed.cast_signed(), generator_version, settings, now])?;
        Ok(CampaignId(self.transaction.last_insert_rowid()))
    }

    /// Adds an interval, united with those it touches.
    pub(crate) fn executed(
        &self,
        campaign: CampaignId,
        target: &str,
        version: &str,
        range: Range<u64>,
    ) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        let (start, stop) =
            (signed("the first index", range.start)?, signed("the last index", range.end)?);
        let touching =
            "campaign = ?1 AND target = ?2 AND version = ?3 AND start <= ?5 AND stop >= ?4";
        let key = params![campaign.0, target, version, start, stop];
        let union = format!(
            "SELECT min(?4, ifnull(min(start), ?4)), max(?5, ifnull(max(stop), ?5)) FROM executed WHERE {touching}"
        );
        let union = self.transaction.query_row(&union, key, |row| Ok((row.get(0)?, row.get(1)?)));
        let (start, stop): (i64, i64) = union.map_err(Error::index(self.path))?;
        self.execute(&format!("DELETE FROM executed WHERE {touching}"), key)?;
        self.execute(
            "INSERT INTO executed VALUES (?1, ?2, ?3, ?4, ?5)",
            params![campaign.0, target, version, start, stop],
        )?;
        Ok(())
    }

    /// Adds to what was done in this part of the campaign.
    pub(crate) fn progress(
        &self,
        campaign: CampaignId,
        total: &Total,
        active: Duration,
    ) -> Result<(), Error> {
        let Total { target, version, programs, runs } = total;
        let (programs, runs) =
            (signed("the number of programs", *programs)?, signed("the number of runs", *runs)?);
        let milliseconds = i64::try_from(active.as_millis()).unwrap_or(i64::MAX);
        self.execute(
            "UPDATE campaigns SET active_ms = max(active_ms, ?2) WHERE id = ?1",
            params![campaign.0, milliseconds],
        )?;
        let add = "INSERT INTO progress VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE
            SET programs = programs + excluded.programs, runs = runs + excluded.runs";
        let second = i64::try_from(bucket(active.as_secs())).unwrap_or(i64::MAX);
        self.execute(add, params![campaign.0, target, version, second, programs, runs])?;
        Ok(())
    }

    /// Takes over what another store says about a campaign, unless as much is known here. To do so
    /// twice changes nothing.
    pub(crate) fn import(&self, campaign: &Exported) -> Result<bool, Error> {
        let Exported { id: _, known, started, active, executed, progress } = campaign;
        let id = self.campaign(known.seed, known.generator_version, &known.settings, started)?;
        let question = "SELECT ifnull(sum(programs), 0) FROM progress WHERE campaign = ?1";
        let here = self.transaction.query_row(question, [id.0], |row| row.get::<_, i64>(0));
        let here = here.map_err(Error::index(self.path))?;
        if here.max(0).cast_unsigned() >= campaign.programs() {
            return Ok(false);
        }
        self.execute("DELETE FROM progress WHERE campaign = ?1", [id.0])?;
        for (target, version, range) in executed {
            self.executed(id, target, version, range.clone())?;
        }
        for (total, second) in progress {
            self.progress(id, total, Duration::from_secs(*second))?;
        }
        let milliseconds = i64::try_from(active.as_millis()).unwrap_or(i64::MAX);
        self.execute(
            "UPDATE campaigns SET active_ms = max(active_ms, ?2) WHERE id = ?1",
            params![id.0, milliseconds],
        )?;
        Ok(true)
    }

    /// Notes that a program showed a finding; `false` if that was known.
    pub(crate) fn occurrence(&self, finding: &str, seed: u64, program: u64) -> Result<bool, Error> {
        let add = "INSERT OR IGNORE INTO occurrences VALUES (?1, ?2, ?3)";
        Ok(self.execute(add, params![finding, seed.cast_signed(), program.cast_signed()])? == 1)
    }

    /// Writes a finding, new or with a new count.
    pub(crate) fn finding(&self, finding: &Finding) -> Result<(), Error> {
        let text = serde_json::to_string(finding).unwrap_or_default();
        let put = "INSERT INTO findings VALUES (?1, ?2) ON CONFLICT DO UPDATE SET finding = excluded.finding";
        self.execute(put, params![finding.id, text]).map(|_| ())
    }

    pub(crate) fn forget(&self, finding: &str) -> Result<(), Error> {
        self.execute("DELETE FROM findings WHERE id = ?1", [finding]).map(|_| ())
    }
}

/// Where the seconds of a campaign are counted: one by one at first, then by ten, then by the
/// minute, so that a campaign of days has no more rows than a plot has points.
fn bucket(second: u64) -> u64 {
    let width = match second {
        0..600 => 1,
        600..7200 => 10,
        _ => 60,
    };
    second - second % width
}

/// An amount or index for SQLite, whose numbers have a sign.
fn signed(what: &'static str, value: u64) -> Result<i64, Error> {
    i64::try_from(value).map_err(|_| Error::TooLarge { what, value })
}
