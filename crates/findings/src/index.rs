//! The index: one SQLite file with what was executed and what was found. This file knows the
//! tables; [`crate::Store`] knows when to write them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params};
use serde::Serialize;

use crate::error::Error;
use crate::model::Finding;
use crate::ranges::Ranges;
use crate::transaction::Write;
use crate::untrusted;

/// The file's name.
pub const INDEX: &str = "index.sqlite";

/// The format of the tables. Grows when an older Strait could not use them any more.
const VERSION: i64 = 1;
/// Tells our files from those of other programs: "strt".
const APPLICATION: i64 = 0x7374_7274;
/// How long another program may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest file that is opened. The index of a campaign of weeks has some megabytes.
const LONGEST: u64 = 4 << 30;

/// The longest text in it: a finding.
const LONGEST_VALUE: i32 = 64 << 20;
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

const TABLES: &str = "
    CREATE TABLE campaigns (
        id INTEGER PRIMARY KEY, seed INTEGER NOT NULL, generator_version INTEGER NOT NULL, settings TEXT NOT NULL,
        started TEXT NOT NULL, active_ms INTEGER NOT NULL DEFAULT 0,
        UNIQUE (seed, generator_version, settings)
    ) STRICT;
    CREATE TABLE executed (
        campaign INTEGER NOT NULL REFERENCES campaigns, target TEXT NOT NULL, version TEXT NOT NULL,
        start INTEGER NOT NULL, stop INTEGER NOT NULL,
        PRIMARY KEY (campaign, target, version, start)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE progress (
        campaign INTEGER NOT NULL REFERENCES campaigns, target TEXT NOT NULL, version TEXT NOT NULL,
        second INTEGER NOT NULL, programs INTEGER NOT NULL, runs INTEGER NOT NULL,
        PRIMARY KEY (campaign, target, version, second)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE findings (id TEXT PRIMARY KEY, finding TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE occurrences (
        finding TEXT NOT NULL REFERENCES findings ON DELETE CASCADE, seed INTEGER NOT NULL, program INTEGER NOT NULL,
        PRIMARY KEY (finding, seed, program)
    ) STRICT, WITHOUT ROWID;
";

/// A campaign in this store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CampaignId(pub(crate) i64);

/// What a campaign was begun with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its seed.
    pub seed: u64,
    /// The version of the generator.
    pub generator_version: u32,
    /// Whatever else decides what an index means.
    pub settings: String,
}

/// What was done with one version of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The target.
    pub target: String,
    /// Its version.
    pub version: String,
    /// How many programs.
    pub programs: u64,
    /// How many runs.
    pub runs: u64,
}

/// What was done within some seconds of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) campaign: i64,
    pub(crate) target: String,
    pub(crate) second: u64,
    pub(crate) runs: u64,
    pub(crate) programs: u64,
}

/// A campaign as another store knows it.
#[derive(Clone, Debug)]
pub(crate) struct Exported {
    /// Its number there.
    pub(crate) id: i64,
    pub(crate) known: Known,
    pub(crate) started: String,
    pub(crate) active: Duration,
    /// Target, version and indices.
    pub(crate) executed: Vec<(String, String, Range<u64>)>,
    /// What was done, and in which second.
    pub(crate) progress: Vec<(Total, u64)>,
}

impl Exported {
    pub(crate) fn programs(&self) -> u64 {
        self.progress.iter().fold(0, |sum, (total, _)| sum.saturating_add(total.programs))
    }
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Connection,
    path: PathBuf,
}

impl Index {
    /// Opens or makes the file, and looks whether it is sound.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        check_files(path)?;
        let failed = Error::index(path);
        untrusted::check_single_name(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | FLAGS;
        let connection = Connection::open_with_flags(real(path), flags).map_err(&failed)?;
        let mut index = Index { connection, path: path.to_owned() };
        index.connection.busy_timeout(PATIENCE).map_err(&failed)?;
        index.distrust()?;
        index.check_owner()?;
        index.pragma("journal_mode", "WAL")?;
        // A commit is on the disk when it returns: commits are rare, and what was found is dear.
        index.pragma("synchronous", "FULL")?;
        index.pragma("foreign_keys", "ON")?;
        index.check_sound()?;
        index.make_tables()?;
        Ok(index)
    }

    /// Opens the file for a report, also in a folder that cannot be written to.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, Error> {
        check_files(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | FLAGS;
        let open = |connection: rusqlite::Result<Connection>| -> Result<Self, Error> {
            let connection = connection.map_err(Error::index(path))?;
            let index = Index { connection, path: path.to_owned() };
            index.connection.busy_timeout(PATIENCE).map_err(Error::index(path))?;
            index.distrust()?;
            index.check_owner()?;
            Ok(index)
        };
        open(Connection::open_with_flags(real(path), flags)).or_else(|error| match error {
            Error::Damaged { .. }
            | Error::OtherVersion { .. }
            | Error::NotAStore { .. }
            | Error::Locked { .. } => Err(error),
            // The file beside the index that readers share cannot be made there.
            _ => {
                let plain = real(path)
                    .to_string_lossy()
                    .replace('%', "%25")
                    .replace('?', "%3f")
                    .replace('#', "%23");
                let address = format!("file:{plain}?immutable=1");
                open(Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI))
            }
        })
    }

    fn pragma(&self, name: &str, value: &str) -> Result<(), Error> {
        // The answer, if there is one, is the value that holds now.
        self.connection.pragma_update_and_check(None, name, value, |_| Ok(())).or_else(|error| {
            match error {
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                error => Err(Error::index(&self.path)(error)),
            }
        })
    }

    fn number(&self, pragma: &str) -> Result<i64, Error> {
        self.connection
            .pragma_query_value(None, pragma, |row| row.get(0))
            .map_err(Error::index(&self.path))
    }

    /// The file may come from another person: nothing in its schema is to have effects.
    fn distrust(&self) -> Result<(), Error> {
        use rusqlite::config::DbConfig;
        let settings = [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ];
        for (setting, value) in settings {
            self.connection.set_db_config(setting, value).map_err(Error::index(&self.path))?;
        }
        let limited = self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
        limited.map(drop).map_err(Error::index(&self.path))
    }

    fn check_owner(&self) -> Result<(), Error> {
        let (owner, version) = (self.number("application_id")?, self.number("user_version")?);
        let schema = self.rows("SELECT type, sql FROM sqlite_schema", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
        })?;
        // Our tables, letter by letter, and their indices, which have no text: constraints, defaults and
        // generated columns of others can take any time.
        let is_ours = |(kind, sql): &(String, Option<String>)| match (kind.as_str(), sql) {
            ("table", Some(sql)) => TABLES.split(';').any(|table| table.trim() == sql),
            (kind, sql) => kind == "index" && sql.is_none(),
        };
        match (owner, schema.len()) {
            (APPLICATION, _) if version > VERSION => {
                Err(Error::OtherVersion { path: self.path.clone(), found: version, known: VERSION })
            }
            (APPLICATION, _) if !schema.iter().all(is_ours) => Err(Error::Damaged {
                path: self.path.clone(),
                reason: "it holds tables that strait does not make".to_owned(),
            }),
            (APPLICATION, _) | (0, 0) => Ok(()),
            _ => Err(Error::NotAStore { path: self.path.clone() }),
        }
    }

    fn check_sound(&self) -> Result<(), Error> {
        let said: String = self.ask("PRAGMA quick_check(1)")?;
        if said == "ok" {
            Ok(())
        } else {
            Err(Error::Damaged { path: self.path.clone(), reason: said })
        }
    }

    fn make_tables(&mut self) -> Result<(), Error> {
        if self.number("application_id")? == APPLICATION {
            // Every table there can be asked, or this is not the file it says it is.
            self.ask::<i64>(
                "SELECT count(*) FROM campaigns, executed, progress, findings, occurrences WHERE 0",
            )
            .map_err(|error| Error::Damaged {
                path: self.path.clone(),
                reason: error.to_string(),
            })?;
            return Ok(());
        }
        let failed = Error::index(&self.path);
        let transaction = self.connection.transaction().map_err(&failed)?;
        let head =
            format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};");
        transaction.execute_batch(&format!("{TABLES}{head}")).map_err(&failed)?;
        transaction.commit().map_err(&failed)
    }

    fn ask<T: rusqlite::types::FromSql>(&self, question: &str) -> Result<T, Error> {
        self.connection.query_row(question, [], |row| row.get(0)).map_err(Error::index(&self.path))
    }

    /// Does everything or nothing.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Write<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let failed = Error::index(&self.path);
        let immediate = rusqlite::TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(immediate).map_err(&failed)?;
        let write = Write { transaction, path: &self.path };
        let result = work(&write)?;
        write.transaction.commit().map_err(failed)?;
        Ok(result)
    }

    pub(crate) fn active(&self, campaign: CampaignId) -> Result<Duration, Error> {
        let question = "SELECT active_ms FROM campaigns WHERE id = ?1";
        let active = self.connection.query_row(question, [campaign.0], |row| row.get(0));
        active
            .map(|active: i64| Duration::from_millis(active.max(0).cast_unsigned()))
            .map_err(Error::index(&self.path))
    }

    pub(crate) fn executed(
        &self,
        campaign: CampaignId,
        target: &str,
        version: &str,
    ) -> Result<Ranges, Error> {
        let question = "SELECT start, stop FROM executed WHERE campaign = ?1 AND target = ?2 AND version = ?3 ORDER BY start";
        let rows = self.rows(question, params![campaign.0, target, version], |row| {
            Ok(unsigned(row, 0)?..unsigned(row, 1)?)
        })?;
        Ok(rows.into_iter().collect())
    }

    pub(crate) fn findings(&self) -> Result<Vec<Finding>, Error> {
        let texts = self
            .rows("SELECT finding FROM findings ORDER BY id", [], |row| row.get::<_, String>(0))?;
        let damaged = |error: serde_json::Error| Error::Damaged {
            path: self.path.clone(),
            reason: error.to_string(),
        };
        let mut findings = Vec::new();
        for text in &texts {
            let finding: Finding = serde_json::from_str(text).map_err(damaged)?;
            if !untrusted::is_directory_name(&finding.id) {
                let reason = "an id of a finding cannot be the name of a directory".to_owned();
                return Err(Error::Damaged { path: self.path.clone(), reason });
            }
            findings.push(finding);
        }
        Ok(findings)
    }

    /// Of one campaign or of all.
    pub(crate) fn totals(&self, campaign: Option<CampaignId>) -> Result<Vec<Total>, Error> {
        let question = "SELECT target, version, sum(programs), sum(runs) FROM progress WHERE ?1 IS NULL OR campaign = ?1
            GROUP BY target, version ORDER BY target, version";
        self.rows(question, [campaign.map(|campaign| campaign.0)], |row| {
            Ok(Total {
                target: row.get(0)?,
                version: row.get(1)?,
                programs: unsigned(row, 2)?,
                runs: unsigned(row, 3)?,
            })
        })
    }

    pub(crate) fn progress(&self) -> Result<Vec<Progress>, Error> {
        let question = "SELECT campaign, target, second, sum(runs), sum(programs) FROM progress GROUP BY campaign, target, second ORDER BY campaign, second";
        self.rows(question, [], |row| {
            Ok(Progress {
                campaign: row.get(0)?,
                target: row.get(1)?,
                second: unsigned(row, 2)?,
                runs: unsigned(row, 3)?,
                programs: unsigned(row, 4)?,
            })
        })
    }

    /// The campaign that was begun last.
    pub(crate) fn last_campaign(&self) -> Result<Option<Known>, Error> {
        let question =
            "SELECT seed, generator_version, settings FROM campaigns ORDER BY id DESC LIMIT 1";
        let known = self.rows(question, [], |row| {
            Ok(Known {
                seed: row.get::<_, i64>(0)?.cast_unsigned(),
                generator_version: row.get(1)?,
                settings: row.get(2)?,
            })
        })?;
        Ok(known.into_iter().next())
    }

    /// Findings that programs of a campaign's seed have shown.
    pub(crate) fn shown_by(&self, campaign: CampaignId) -> Result<BTreeSet<String>, Error> {
        let question = "SELECT DISTINCT finding FROM occurrences
            WHERE seed = (SELECT seed FROM campaigns WHERE id = ?1)";
        let shown = self.rows(question, [campaign.0], |row| row.get(0))?;
        Ok(shown.into_iter().collect())
    }

    /// Seed, active time and settings of each campaign.
    pub(crate) fn campaigns(&self) -> Result<Vec<(u64, Duration, String)>, Error> {
        self.rows("SELECT seed, active_ms, settings FROM campaigns ORDER BY id", [], |row| {
            Ok((
                row.get::<_, i64>(0)?.cast_unsigned(),
                Duration::from_millis(unsigned(row, 1)?),
                row.get(2)?,
            ))
        })
    }

    /// All that is known about the campaigns, for another store.
    pub(crate) fn export(&self) -> Result<Vec<Exported>, Error> {
        let question = "SELECT id, seed, generator_version, settings, started, active_ms FROM campaigns ORDER BY id";
        let mut campaigns = self.rows(question, [], |row| {
            let known = Known {
                seed: row.get::<_, i64>(1)?.cast_unsigned(),
                generator_version: row.get(2)?,
                settings: row.get(3)?,
            };
            let (started, active) = (row.get(4)?, Duration::from_millis(unsigned(row, 5)?));
            let (executed, progress) = (Vec::new(), Vec::new());
            let id = row.get(0)?;
            Ok(Exported { id, known, started, active, executed, progress })
        })?;
        for campaign in &mut campaigns {
            let id = campaign.id;
            let question = "SELECT target, version, start, stop FROM executed WHERE campaign = ?1";
            campaign.executed = self.rows(question, [id], |row| {
                Ok((row.get(0)?, row.get(1)?, unsigned(row, 2)?..unsigned(row, 3)?))
            })?;
            let question =
                "SELECT target, version, programs, runs, second FROM progress WHERE campaign = ?1";
            campaign.progress = self.rows(question, [id], |row| {
                let (target, version) = (row.get(0)?, row.get(1)?);
                let (programs, runs) = (unsigned(row, 2)?, unsigned(row, 3)?);
                Ok((Total { target, version, programs, runs }, unsigned(row, 4)?))
            })?;
        }
        Ok(campaigns)
    }

    /// Which programs showed each finding: seed and index.
    pub(crate) fn occurrences(&self) -> Result<Vec<(String, u64, u64)>, Error> {
        self.rows("SELECT finding, seed, program FROM occurrences", [], |row| {
            let (seed, program) = (row.get::<_, i64>(1)?, row.get::<_, i64>(2)?);
            Ok((row.get(0)?, seed.cast_unsigned(), program.cast_unsigned()))
        })
    }

    fn rows<T>(
        &self,
        question: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let rows = self.connection.prepare(question).and_then(|mut statement| {
            let rows = statement.query_map(parameters, read)?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        });
        rows.map_err(Error::index(&self.path))
    }

    /// Brings everything into the one file, so that it can be copied.
    pub(crate) fn close(self) -> Result<(), Error> {
        self.pragma("wal_checkpoint", "TRUNCATE")?;
        self.connection.close().map_err(|(_, error)| Error::index(&self.path)(error))
    }
}

/// The file without links in the names of its folders, which belong to the user. SQLite refuses a name with
/// any link in it.
fn real(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// The file and those that SQLite puts beside it are regular files, or not there. A rollback journal
/// is refused: our index has none, and one from elsewhere can make SQLite remove any file.
fn check_files(path: &Path) -> Result<(), Error> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for suffix in ["", "-wal", "-shm"] {
        untrusted::check_file(&beside(suffix), LONGEST)?;
    }
    if beside("-journal").symlink_metadata().is_ok() {
        let reason = "there is a rollback journal beside it, which strait does not make";
        return Err(Error::Damaged { path: path.to_owned(), reason: reason.to_owned() });
    }
    Ok(())
}

/// An amount or index: never negative.
fn unsigned(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| number.max(0).cast_unsigned())
}
