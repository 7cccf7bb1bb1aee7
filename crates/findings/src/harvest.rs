//! The findings in a folder, sorted by what they have to do with the campaign that has just run there: a
//! folder may hold what earlier campaigns have found, and that is no news.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::index::CampaignId;
use crate::model::Finding;
use crate::store::Store;

/// What a campaign has come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Harvest {
    /// What it has shown, known before or not.
    pub found: Vec<Finding>,
    /// Those of them that an earlier campaign had found already.
    pub again: BTreeSet<String>,
    /// How many others the folder holds, which it has not shown.
    pub earlier: usize,
}

impl Harvest {
    /// Was this one found by an earlier campaign already?
    pub fn is_known(&self, finding: &Finding) -> bool {
        self.again.contains(&finding.id)
    }
}

/// A campaign that is taken up: what its earlier sessions have found is its own.
#[derive(Clone, Copy)]
pub struct Resumed<'a> {
    /// The campaign.
    pub id: CampaignId,
    /// Could it have found this? Another one in the same folder may have the same seed.
    pub could_find: &'a dyn Fn(&Finding) -> bool,
}

impl Store {
    /// What was found since the store was opened, or by earlier sessions of the same campaign, among
    /// those findings that matter.
    pub fn harvest(
        &self,
        resumed: Option<Resumed<'_>>,
        matters: &dyn Fn(&Finding) -> bool,
    ) -> Result<Harvest, Error> {
        let own = match resumed {
            Some(Resumed { id, .. }) => self.shown_by(id)?,
            None => BTreeSet::new(),
        };
        let could = |finding| resumed.is_some_and(|resumed| (resumed.could_find)(finding));
        let mut harvest = Harvest::default();
        for finding in self.findings().filter(|finding| matters(finding)) {
            let is_own = own.contains(&finding.id) && could(finding);
            if is_own || self.shown().contains(&finding.id) {
                if !is_own && self.known_before().contains(&finding.id) {
                    harvest.again.insert(finding.id.clone());
                }
                harvest.found.push(finding.clone());
            } else {
                harvest.earlier += 1;
            }
        }
        Ok(harvest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Discovery, Kind};

    fn shown(store: &mut Store, seed: u64, words: &[&str]) -> CampaignId {
        let id = store.campaign(seed, 1, "test").expect("a campaign");
        let mut batch = Batch::new(id, "t", "1", 0..1);
        for word in words {
            batch = batch.found(Discovery::new(Kind::CRASH, "t", "1", seed, 0).fingerprint(*word));
        }
        store.commit(&batch).expect("kept");
        id
    }

    fn counts(store: &Store, resumed: Option<CampaignId>) -> (usize, usize, usize) {
        let resumed = resumed.map(|id| Resumed { id, could_find: &|_| true });
        let harvest = store.harvest(resumed, &|_| true).expect("a harvest");
        (harvest.found.len(), harvest.again.len(), harvest.earlier)
    }

    #[test]
    fn what_earlier_campaigns_found_is_no_news() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Store::open(folder.path()).expect("a store");
        let mut store = open();
        let first = shown(&mut store, 1, &["one", "two"]);
        assert_eq!(counts(&store, None), (2, 0, 0));
        store.close().expect("closed");

        // Another campaign shows one of them again, and one of its own.
        let mut store = open();
        assert_eq!(counts(&store, None), (0, 0, 2));
        shown(&mut store, 2, &["two", "three"]);
        assert_eq!(counts(&store, None), (2, 1, 1));
        store.close().expect("closed");

        // Taken up, the first one has found what it had found, wherever it is now.
        let mut store = open();
        assert_eq!(counts(&store, Some(first)), (2, 0, 1));
        let elsewhere = Some(Resumed { id: first, could_find: &|_| false });
        let harvest = store.harvest(elsewhere, &|_| true).expect("a harvest");
        assert_eq!((harvest.found.len(), harvest.earlier), (0, 3));
        shown(&mut store, 1, &["three"]);
        assert_eq!(counts(&store, Some(first)), (3, 0, 0));
    }
}
