//! Stores joined: what several machines have found, each in its own folder, becomes one. Merging the
//! same folder again changes nothing, whatever happened in between.

use std::collections::BTreeSet;
use std::path::Path;

use crate::directory::{self, FINDINGS};
use crate::error::Error;
use crate::index::{INDEX, Index};
use crate::model::Finding;
use crate::store::Store;
use crate::untrusted;

/// What merging one folder has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Campaigns of which more is known now.
    pub campaigns: usize,
    /// Findings that were not known before.
    pub findings: usize,
}

impl Store {
    /// Takes over everything from the store in another folder, which stays as it is. It should be at
    /// rest: what is being written there may be missed.
    pub fn merge(&mut self, folder: &Path) -> Result<Merged, Error> {
        let path = folder.join(INDEX);
        if !path.exists() {
            return Err(Error::NoCampaign { path: folder.to_owned() });
        }
        untrusted::check_folder(&folder.join(FINDINGS))?;
        let other = Index::open_to_read(&path)?;
        let findings = other.findings()?;
        let known: BTreeSet<&str> = self.findings().map(|finding| finding.id.as_str()).collect();
        let theirs = folder.join(FINDINGS);
        let mut fresh: Vec<Finding> = Vec::new();
        for finding in findings {
            if known.contains(finding.id.as_str()) {
                continue;
            }
            let directory = theirs.join(&finding.id);
            match untrusted::check_folder(&directory).and_then(|()| directory::read(&directory)) {
                Ok(_) => fresh.push(finding),
                // What somebody has removed there is forgotten there too, at the next opening.
                Err(Error::NoFinding { .. }) => {}
                Err(damaged) => return Err(damaged),
            }
        }
        let own = self.directory("");
        for finding in &fresh {
            directory::copy(&theirs.join(&finding.id), &own, &finding.id)?;
        }
        let (campaigns, occurrences) = (other.export()?, other.occurrences()?);
        let campaigns = self.import(&campaigns, &fresh, &occurrences)?;
        Ok(Merged { campaigns, findings: fresh.len() })
    }
}
