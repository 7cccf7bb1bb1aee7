//! What has changed since an earlier campaign: findings that are new, gone or still there. Faults are compared
//! whatever the version they were found in.

use std::collections::BTreeMap;
use std::path::Path;

use super::tables::badge;
use super::{Content, content};
use crate::error::Error;
use crate::model::Finding;
use crate::text::html;

/// The earlier campaign, by faults.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    folder: String,
    faults: BTreeMap<String, Finding>,
}

/// How many findings changed since an earlier campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Found now, and not then.
    pub new: usize,
    /// Found then, and not now.
    pub gone: usize,
    /// Found then and now.
    pub still_there: usize,
}

impl Earlier {
    /// Reads the findings of a folder.
    pub(super) fn read(folder: &Path) -> Result<Earlier, Error> {
        let found = content(folder, None)?.findings.into_iter().map(|shown| shown.finding);
        let faults = found.map(|finding| (finding.group.clone(), finding)).collect();
        Ok(Earlier { folder: folder.display().to_string(), faults })
    }

    /// Was this fault known?
    pub(super) fn knows(&self, finding: &Finding) -> bool {
        self.faults.contains_key(&finding.group)
    }

    fn gone<'a>(&'a self, content: &'a Content) -> impl Iterator<Item = &'a Finding> {
        let is_here =
            |group: &String| content.findings.iter().any(|one| one.finding.group == *group);
        self.faults.iter().filter(move |(group, _)| !is_here(group)).map(|(_, finding)| finding)
    }

    /// Counts what has changed.
    pub(super) fn changes(&self, content: &Content) -> Changes {
        let known = content.findings.iter().filter(|shown| self.knows(&shown.finding)).count();
        Changes {
            new: content.findings.len() - known,
            gone: self.gone(content).count(),
            still_there: known,
        }
    }
}

/// The section about what has changed.
pub(super) fn section(content: &Content) -> String {
    let Some(earlier) = &content.earlier else { return String::new() };
    let changes = earlier.changes(content);
    let here = |is_known: bool| {
        let list = content.findings.iter().map(|shown| &shown.finding);
        list.filter(move |finding| earlier.knows(finding) == is_known)
    };
    let linked = |finding: &Finding| {
        let (id, title) = (html(&finding.id), html(&finding.title));
        format!("<li>{} <a href=\"#{id}\">{title}</a></li>", badge(&finding.kind))
    };
    let named =
        |finding: &Finding| format!("<li>{} {}</li>", badge(&finding.kind), html(&finding.title));
    let list = |title: &str, count: usize, items: String| match count {
        0 => format!("<h4>{title}: none</h4>"),
        count => format!("<h4>{title}: {count}</h4><ul class=\"changes\">{items}</ul>"),
    };
    let gone = "Gone (this campaign did not find it; that is no proof that it is fixed)";
    format!(
        "<section><h2>Compared with {}</h2>{}{}{}</section>\n",
        html(&earlier.folder),
        list("New", changes.new, here(false).map(linked).collect()),
        list(gone, changes.gone, earlier.gone(content).map(named).collect()),
        list("Still there", changes.still_there, here(true).map(linked).collect()),
    )
}
