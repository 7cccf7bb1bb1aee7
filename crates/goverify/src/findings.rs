//! Violated properties of all entries as findings, one for each bug: grouped by the places that are
//! wrong, silenced by comments, and compared with a baseline.

use std::fmt;

use strait_findings::{
    Baseline, BaselineKey, BrokenRule, Directive, SourceFault, SourcePlace, group_faults,
};
use strait_verify::{Culprit, Verdict, Violation, Why};

use crate::answer::{Answer, Checked, Confirmation};
use crate::silence::SourceFiles;

/// What kind of bug it is; the most specific kinds come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// An operation on a channel, lock or wait group panics.
    Panic,
    /// A goroutine waits for a lock that it holds itself.
    DoubleLock,
    /// An `Add` races with a `Wait`.
    WaitRace,
    /// A lock is never released.
    LockNotReleased,
    /// The program deadlocks.
    Deadlock,
    /// A goroutine stays blocked after `main` has returned.
    Leak,
    /// A goroutine stays blocked while others go on.
    Blocked,
    /// A message is never received.
    MessageNotReceived,
    /// A formula does not hold.
    Formula,
    /// The program ends, or goes on forever.
    Fact,
}

impl FindingKind {
    /// The name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Panic => "panic",
            FindingKind::DoubleLock => "double-lock",
            FindingKind::WaitRace => "wait-race",
            FindingKind::LockNotReleased => "lock-not-released",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Leak => "leak",
            FindingKind::Blocked => "blocked",
            FindingKind::MessageNotReceived => "message-not-received",
            FindingKind::Formula => "formula",
            FindingKind::Fact => "fact",
        }
    }

    fn of(violation: Violation) -> FindingKind {
        match violation {
            Violation::Panic => FindingKind::Panic,
            Violation::OwnLock => FindingKind::DoubleLock,
            Violation::AddRace => FindingKind::WaitRace,
            Violation::LockKept => FindingKind::LockNotReleased,
            Violation::Deadlock => FindingKind::Deadlock,
            Violation::Leak => FindingKind::Leak,
            Violation::Blocked => FindingKind::Blocked,
            Violation::MessageLost => FindingKind::MessageNotReceived,
            Violation::Formula | Violation::FormulaAfter => FindingKind::Formula,
            Violation::Ends | Violation::Cycle | Violation::Spins => FindingKind::Fact,
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            FindingKind::Panic => "panic",
            FindingKind::DoubleLock => "lock taken twice",
            FindingKind::WaitRace => "race between Add and Wait",
            FindingKind::LockNotReleased => "lock not released",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Leak => "goroutine leak",
            FindingKind::Blocked => "goroutine blocked forever",
            FindingKind::MessageNotReceived => "message not received",
            FindingKind::Formula => "formula does not hold",
            FindingKind::Fact => "fact",
        })
    }
}

/// Whether a finding counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingStatus {
    /// It does.
    New,
    /// A comment silences it.
    Suppressed {
        /// Where the comment stands.
        place: SourcePlace,
        /// The reason that it gives.
        reason: String,
    },
    /// It is in the baseline.
    Known,
}

/// A bug.
#[derive(Clone, Debug)]
pub struct GoFinding {
    /// What it is.
    pub kind: FindingKind,
    /// The properties and formulas that it breaks, the one that describes it best first.
    pub properties: Vec<String>,
    /// The places that are wrong, the most important one first.
    pub places: Vec<SourcePlace>,
    /// The entries that come to it, as positions in the list of entries.
    pub entries: Vec<usize>,
    /// The entry and the answer that show it best.
    pub shown: (usize, usize),
    /// Does the trace of that answer lead to it? Else it leads to another one of the same kind.
    pub traced: bool,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What runs of the program have shown.
    pub confirmation: Option<Confirmation>,
    /// Does it count?
    pub status: FindingStatus,
    /// What it is recognised by.
    pub key: BaselineKey,
}

impl GoFinding {
    /// Does it count?
    pub fn is_new(&self) -> bool {
        self.status == FindingStatus::New
    }

    /// Was it seen in runs?
    pub fn confirmed(&self) -> Option<bool> {
        self.confirmation.as_ref().and_then(Confirmation::confirmed)
    }
}

/// What was observed: which answer of which entry, and with which of its culprits.
struct Seen {
    entry: usize,
    answer: usize,
    culprits: Vec<Culprit>,
    traced: bool,
}

/// The findings of all entries. What the baseline knows is taken out of it.
pub fn findings(
    checked: &[Checked],
    files: &SourceFiles,
    baseline: Option<&mut Baseline>,
) -> Vec<GoFinding> {
    let mut observations = Vec::new();
    for (number, entry) in checked.iter().enumerate() {
        for (position, answer) in entry.answers.iter().enumerate() {
            if answer.is_violation() {
                observe(entry, (number, position), answer, &mut observations);
            }
        }
    }
    let faults = group_faults(observations);
    let mut findings: Vec<GoFinding> =
        faults.into_iter().filter_map(|fault| finding(fault, checked, files)).collect();
    if let Some(baseline) = baseline {
        for finding in findings.iter_mut().filter(|finding| finding.is_new()) {
            if baseline.take(&finding.key) {
                finding.status = FindingStatus::Known;
            }
        }
    }
    findings
}

/// The observations behind one violated property: processes that wait together belong together,
/// everything else is on its own.
fn observe(
    entry: &Checked,
    (number, position): (usize, usize),
    answer: &Answer,
    observations: &mut Vec<BrokenRule<FindingKind, Seen>>,
) {
    let Why::Violated(violation) = answer.verdict.why else { return };
    let verdict = &answer.verdict;
    let mut add = |culprits: Vec<Culprit>, traced: bool| {
        let places = places(entry, verdict, &culprits);
        let detail = Seen { entry: number, answer: position, culprits, traced };
        let (kind, rule) = (FindingKind::of(violation), answer.asked.name().to_owned());
        observations.push(BrokenRule { scope: number, kind, rule, places, detail });
    };
    if verdict.culprits.is_empty() {
        return add(vec![], true);
    }
    let left = verdict.trace.iter().flat_map(|trace| &trace.left);
    // Spans compare equal whatever they are.
    let left: Vec<u32> = left.map(|one| one.span.start).collect();
    let waits_together = |one: &Culprit| one.doing.is_waiting() && left.contains(&one.span.start);
    let (together, alone): (Vec<Culprit>, Vec<Culprit>) = match violation {
        // One race has two sides.
        Violation::AddRace => (verdict.culprits.clone(), vec![]),
        _ => verdict.culprits.iter().cloned().partition(waits_together),
    };
    let none_together = together.is_empty();
    if !none_together {
        add(together, true);
    }
    for (index, culprit) in alone.into_iter().enumerate() {
        add(vec![culprit], none_together && index == 0);
    }
}

/// Where culprits stand; the end of the trace if there are none.
fn places(entry: &Checked, verdict: &Verdict, culprits: &[Culprit]) -> Vec<SourcePlace> {
    let places = entry.places.as_ref();
    if !culprits.is_empty() {
        return culprits.iter().filter_map(|one| places.position(one.span)).collect();
    }
    let trace = verdict.trace.as_ref();
    let left = trace.and_then(|trace| trace.left.first()).map(|one| one.span);
    let last = trace.and_then(|trace| trace.steps.last()).map(|step| step.span);
    left.or(last).and_then(|span| places.position(span)).into_iter().collect()
}

fn finding(
    fault: SourceFault<FindingKind, Seen>,
    checked: &[Checked],
    files: &SourceFiles,
) -> Option<GoFinding> {
    // The trace leads to the first culprit of a verdict only.
    let best = fault.observations.iter().find(|one| one.kind == fault.kind && one.detail.traced);
    let best = &best.or(fault.observations.first())?.detail;
    let answer = &checked[best.entry].answers[best.answer];
    let mut entries: Vec<usize> = fault.observations.iter().map(|one| one.detail.entry).collect();
    entries.sort_unstable();
    entries.dedup();
    let answers =
        fault.observations.iter().map(|one| &checked[one.detail.entry].answers[one.detail.answer]);
    let mut confirmations: Vec<&Confirmation> =
        answers.filter_map(|answer| answer.confirmation.as_ref()).collect();
    confirmations.sort_by_key(|one| std::cmp::Reverse((one.seen() > Some(0), one.seen())));
    let silenced = fault.places.iter().find_map(|place| {
        let Directive { line, reason, .. } = files.silenced(place, &fault.rules)?;
        let place = SourcePlace { file: place.file.clone(), line, column: 1 };
        Some(FindingStatus::Suppressed { place, reason })
    });
    let kept = fault.places.iter().map(|place| files.baseline_place(place)).collect();
    Some(GoFinding {
        kind: fault.kind,
        entries,
        shown: (best.entry, best.answer),
        traced: best.traced,
        message: message(answer, &best.culprits, best.traced),
        confirmation: confirmations.first().copied().cloned(),
        status: silenced.unwrap_or(FindingStatus::New),
        key: BaselineKey::new(fault.kind.name(), kept),
        properties: fault.rules,
        places: fault.places,
    })
}

/// The answer's sentence, about these culprits only.
fn message(answer: &Answer, culprits: &[Culprit], traced: bool) -> String {
    let mut answer = answer.clone();
    if answer.verdict.culprits.len() != culprits.len() {
        answer.verdict.culprits = culprits.to_vec();
    }
    if !traced {
        answer.verdict.trace = None;
    }
    answer.to_string()
}
