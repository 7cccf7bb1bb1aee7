//! What is known about each session of the campaigns in a folder: the command, the machine, the versions, and
//! what was counted. For the report.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clock::now;
use crate::directory::replace;
use crate::error::Error;
use crate::untrusted;

/// The file.
pub const SESSIONS: &str = "sessions.json";
/// The most sessions that are kept; the oldest go.
const MOST: usize = 100;

/// One session of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRecord {
    /// When it ended, UTC.
    pub ended: String,
    /// The command line.
    pub command: String,
    /// The version of Strait.
    pub strait: String,
    /// Operating system and processor.
    pub system: String,
    /// How many cores there were.
    pub cores: usize,
    /// What was counted by name.
    pub counts: BTreeMap<String, u64>,
}

/// Adds a session to the file of a folder.
pub fn record_session(folder: &Path, session: SessionRecord) -> Result<(), Error> {
    let mut sessions = sessions(folder)?;
    sessions.push(SessionRecord { ended: now(), ..session });
    let first = sessions.len().saturating_sub(MOST);
    let mut text = serde_json::to_vec_pretty(&sessions[first..]).unwrap_or_default();
    text.push(b'\n');
    replace(folder, SESSIONS, &text)
}

/// The sessions of a folder; none if the file is missing or is none of ours.
pub(crate) fn sessions(folder: &Path) -> Result<Vec<SessionRecord>, Error> {
    let text = untrusted::read_below(folder, SESSIONS)?;
    let sessions = text.and_then(|text| serde_json::from_slice(&text).ok());
    Ok(sessions.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_added_and_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(sessions(folder.path()).expect("none"), []);
        for number in 0..MOST + 3 {
            let session = SessionRecord { cores: number, ..SessionRecord::default() };
            record_session(folder.path(), session).expect("it is written");
        }
        let kept = sessions(folder.path()).expect("they are read");
        assert_eq!((kept.len(), kept[0].cores), (MOST, 3));
        std::fs::write(folder.path().join(SESSIONS), "nonsense").expect("it is written");
        assert_eq!(sessions(folder.path()).expect("none"), []);
    }
}
