//! From what a target did to what is wrong with it. A run is right if some schedule of the program
//! gives what its processes saw; everything else is a fault.

use strait_calculus::{Explainer, Explanation};
use strait_emit::Complaint;
use strait_runtimes::harness::plan::At;
use strait_runtimes::harness::record::Path;
use strait_runtimes::{Anomaly, Ended, Imbalance, Promise, Record, observation};

use crate::done::{Death, Done};
use crate::evidence::{Evidence, evidence, evidence_of_any};

/// States that explaining one record may take before it is given up, which is counted.
const STATES: usize = 200_000;

/// What is wrong.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The process died.
    Crash(Death),
    /// The target panicked.
    Panic(String),
    /// Nothing moves any more.
    Hang {
        /// The processes that wait, and where.
        stuck: Vec<(Path, At)>,
        /// What had been seen.
        record: Record,
        /// What the target's runtime says about its threads, goroutines or fibers.
        dump: String,
    },
    /// Something was seen that no schedule gives.
    Wrong(Record, Box<Evidence>),
    /// Messages dropped never or twice, sends refused.
    Anomaly(Anomaly),
    /// The compiler did not compile the program.
    Refused(Complaint),
}

/// A fault, and how often it showed.
#[derive(Clone, Debug)]
pub struct Suspicion {
    /// What.
    pub fault: Fault,
    /// In how many runs.
    pub failed: u64,
    /// Of how many.
    pub runs: u64,
}

/// What became of a piece of work.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// What is wrong; nothing, mostly.
    pub suspicions: Vec<Suspicion>,
    /// Records that could be neither explained nor refuted.
    pub undecided: u64,
    /// The program was none for this target: our own fault.
    pub astray: Option<String>,
}

/// Judges what was done.
pub fn judge(done: &Done) -> Judgement {
    let mut judgement = Judgement::default();
    let summary = &done.summary;
    let runs = summary.runs.max(1);
    if let Some(complaint) = &done.refusal {
        let fault = Fault::Refused(complaint.clone());
        judgement.suspicions.push(Suspicion { fault, failed: 1, runs: 1 });
        return judgement;
    }
    if let Some(death) = &done.death {
        let fault = Fault::Crash(death.clone());
        judgement.suspicions.push(Suspicion { fault, failed: 1, runs: runs.max(1) });
        return judgement;
    }
    match &summary.ended {
        Ended::Finished => {}
        Ended::Astray(why) => judgement.astray = Some(why.clone()),
        Ended::Panicked(message) => {
            let fault = Fault::Panic(message.clone());
            judgement.suspicions.push(Suspicion { fault, failed: 1, runs: summary.runs + 1 });
        }
        Ended::Hung { stuck, record, .. } => {
            let (stuck, record, dump) = (stuck.clone(), record.clone(), done.said.clone());
            let fault = Fault::Hang { stuck, record, dump };
            judgement.suspicions.push(Suspicion { fault, failed: 1, runs: summary.runs + 1 });
        }
    }
    judge_records(done, runs, &mut judgement);
    let is_loose = done.work.options.promise == Promise::Loose;
    for tally in &summary.anomalies {
        // A message that may be lost may be lost with what it owns.
        if is_loose && matches!(tally.what, Anomaly::Payload(Imbalance::Leaked(_))) {
            continue;
        }
        let fault = Fault::Anomaly(tally.what);
        judgement.suspicions.push(Suspicion { fault, failed: tally.count, runs });
    }
    judgement
}

fn judge_records(done: &Done, runs: u64, judgement: &mut Judgement) {
    let records = &done.summary.records;
    if records.is_empty() {
        return;
    }
    if done.work.options.promise == Promise::Loose {
        return judge_loosely(done, runs, judgement);
    }
    let explainer = Explainer::new(&done.work.program);
    for tally in records {
        let seen = observation(&tally.what);
        match explainer.explain(&seen, STATES) {
            Explanation::Possible { .. } => {}
            Explanation::Unknown { .. } => judgement.undecided += 1,
            Explanation::Impossible { .. } => {
                let evidence = evidence(&done.work.program, &explainer, &seen);
                let fault = Fault::Wrong(tally.what.clone(), Box::new(evidence));
                judgement.suspicions.push(Suspicion { fault, failed: tally.count, runs });
            }
        }
    }
}

/// What is wrong even if operations that were given up may have happened, and lost their message.
fn judge_loosely(done: &Done, runs: u64, judgement: &mut Judgement) {
    for tally in &done.summary.records {
        let found = evidence_of_any(&done.work.program, &observation(&tally.what));
        if let Some(evidence) = found {
            let fault = Fault::Wrong(tally.what.clone(), Box::new(evidence));
            judgement.suspicions.push(Suspicion { fault, failed: tally.count, runs });
        }
    }
}

impl Fault {
    /// Is the other one of the same sort? For confirmation, where details differ from run to run.
    pub fn is_like(&self, other: &Fault) -> bool {
        let word = |fault: &Fault| match fault {
            Fault::Crash(_) | Fault::Panic(_) => "dies",
            Fault::Hang { .. } => "hangs",
            Fault::Wrong(..) => "answers wrongly",
            Fault::Anomaly(Anomaly::Refused) => "refuses",
            Fault::Anomaly(Anomaly::Payload(Imbalance::Leaked(_))) => "leaks",
            Fault::Anomaly(Anomaly::Payload(_)) => "doubles",
            Fault::Refused(Complaint::Error(_)) => "is refused",
            Fault::Refused(Complaint::Crash(_)) => "breaks the compiler",
        };
        word(self) == word(other)
    }
}
