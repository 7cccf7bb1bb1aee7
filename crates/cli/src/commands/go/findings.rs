//! The findings of `strait go fuzz` as a build sees them: sorted by weight, silenced by comments, and
//! compared with a baseline.

use std::path::Path;

use clap::ValueEnum;
use strait_findings::{Baseline, BaselineKey, Finding, SourcePlace};
use strait_goverify::{FindingStatus, SourceFiles};
use strait_reorder::{Assessment, FindingLevel, sort_by_weight};

/// What fails the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Findings of level error: proved, or seen in an undisturbed run
    Error,
    /// Also findings of level warning, which are only likely to be faults
    Warning,
}

impl FailOn {
    /// Does a finding of this level fail the build?
    pub fn fails(self, level: FindingLevel) -> bool {
        match self {
            FailOn::Error => level == FindingLevel::Error,
            FailOn::Warning => level <= FindingLevel::Warning,
        }
    }
}

/// A finding, and whether it counts.
pub struct JudgedFinding {
    pub finding: Finding,
    /// `None` for a test that killed the process that ran it.
    pub assessment: Option<Assessment>,
    pub level: FindingLevel,
    pub status: FindingStatus,
    /// What the baseline knows it by.
    pub key: BaselineKey,
}

impl JudgedFinding {
    /// Does it fail the build?
    pub fn fails(&self, on: FailOn) -> bool {
        self.status == FindingStatus::New && on.fails(self.level)
    }

    /// Its class in words, or its kind.
    pub fn class(&self) -> String {
        match self.assessment {
            Some(assessment) => assessment.class.to_string(),
            None => self.finding.kind.to_string(),
        }
    }

    /// What SARIF shows it under, and scripts see as its class.
    pub fn class_name(&self) -> &str {
        self.assessment.map_or(self.finding.kind.as_str(), |assessment| assessment.class.name())
    }

    /// Where it is.
    pub fn places(&self) -> Vec<SourcePlace> {
        places(&self.finding)
    }
}

/// Judges findings, those that matter most first. What the baseline knows is taken out of it.
pub fn judged(
    mut findings: Vec<Finding>,
    base: &Path,
    mut baseline: Option<&mut Baseline>,
) -> Vec<JudgedFinding> {
    sort_by_weight(&mut findings);
    let files = SourceFiles::below(base);
    let judge = |finding: Finding| {
        let assessment = Assessment::of(&finding.details);
        let kept = places(&finding).iter().map(|place| files.baseline_place(place)).collect();
        let key = BaselineKey::new(finding.kind.as_str(), kept);
        let status = match silenced(&finding, assessment, &files) {
            Some(status) => status,
            None if baseline.as_mut().is_some_and(|known| known.take(&key)) => FindingStatus::Known,
            None => FindingStatus::New,
        };
        let level = assessment.map_or(FindingLevel::Error, |one| one.level());
        JudgedFinding { finding, assessment, level, status, key }
    };
    findings.into_iter().map(judge).collect()
}

/// The comment that silences a finding, at one of its places.
fn silenced(
    finding: &Finding,
    assessment: Option<Assessment>,
    files: &SourceFiles,
) -> Option<FindingStatus> {
    let rules: Vec<String> =
        assessment?.class.rules().iter().map(|rule| (*rule).to_owned()).collect();
    places(finding).into_iter().find_map(|place| {
        let directive = files.silenced(&place, &rules)?;
        let place = SourcePlace { line: directive.line, ..place };
        Some(FindingStatus::Suppressed { place, reason: directive.reason })
    })
}

/// The places that a finding names.
fn places(finding: &Finding) -> Vec<SourcePlace> {
    let locations = finding.details.get("locations").and_then(|value| value.as_array());
    let place = |location: &str| {
        let (file, line) = location.rsplit_once(':')?;
        Some(SourcePlace { file: file.to_owned(), line: line.parse().ok()?, column: 1 })
    };
    locations.into_iter().flatten().filter_map(|one| place(one.as_str()?)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use strait_findings::{Batch, Discovery, Kind, Store};

    use super::*;

    /// A finding with a class at a line of `a.go`.
    fn finding(class: &str, line: u32) -> Finding {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let id = store.campaign(1, 1, "test").expect("a campaign");
        let mut discovery = Discovery::new(Kind::BLOCKING, "m", "go1", 1, 1);
        let details = json!({
            "class": class, "certain": true, "locations": [format!("a.go:{line}")],
        });
        discovery.details.extend(details.as_object().expect("an object").clone());
        store.commit(&Batch::new(id, "m", "go1", 0..0).found(discovery)).expect("kept");
        store.findings().next().expect("a finding").clone()
    }

    #[test]
    fn comments_and_baselines_silence_findings() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = "package a\n\nfunc f() {\n\tc <- 1 //strait:ignore leak the peer is gone\n\td <- 1\n\t//strait:ignore no-deadlock by design\n\te <- 1\n}\n";
        std::fs::write(folder.path().join("a.go"), source).expect("written");
        std::fs::write(folder.path().join("go.mod"), "module m\n").expect("written");
        let status = |class: &str, line, baseline: Option<&mut Baseline>| {
            let all = judged(vec![finding(class, line)], folder.path(), baseline);
            let [one] = all.as_slice() else { panic!("one finding") };
            (one.fails(FailOn::Error), one.key.clone())
        };
        for (class, line, fails) in [
            ("leak-in-every-run", 4, false),
            ("leak-in-rare-orders", 4, false),
            ("deadlock", 4, true),
            ("leak-in-every-run", 5, true),
            ("deadlock", 7, false),
        ] {
            assert_eq!(status(class, line, None).0, fails, "{class} at line {line}");
        }
        let (_, key) = status("deadlock", 5, None);
        let mut baseline = Baseline::of([key]);
        assert!(!status("deadlock", 5, Some(&mut baseline.clone())).0);
        assert!(status("deadlock", 8, Some(&mut baseline)).0);
    }

    #[test]
    fn the_exit_code_follows_the_level() {
        use FindingLevel::*;
        let table = [(FailOn::Error, [true, false, false]), (FailOn::Warning, [true, true, false])];
        for (on, expected) in table {
            assert_eq!([Error, Warning, Note].map(|level| on.fails(level)), expected, "{on:?}");
        }
    }
}
