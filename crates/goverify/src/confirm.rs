//! What the model says is wrong, looked for in runs of the program. Comes in: entries that were
//! checked. Goes out: the same, each violated property with how often it was seen of how many runs.
//! A suspicion that the model alone cannot vouch for becomes a violation when it was seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_reorder::{Line, Place, Prediction, Witness};
use strait_toolchain::{Cache, Launcher};
use strait_verify::{TraceStep, Verdict, Violation, Why};

use crate::answer::{Checked, Conclusion, Confirmation, NotRun};
use crate::error::Error;
use crate::places::Locate;

/// How many runs an entry gets, and how much time.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Runs.
    pub runs: u64,
    /// Time for all of them.
    pub time: Duration,
}

/// Looks for everything that is said to be wrong.
pub struct Confirm<'a> {
    /// What starts processes.
    pub launcher: &'a Launcher,
    /// Where the packages were read.
    pub directory: &'a Path,
    /// Build tags.
    pub tags: Option<String>,
    /// How hard to look.
    pub effort: Effort,
    /// Set from outside to end early.
    pub stop: Arc<AtomicBool>,
}

/// What an entry is compiled as: its package, and whether its `main` is wanted.
type Kind = (String, bool);

impl Confirm<'_> {
    /// Runs the entries with violations. `tell` hears the name of each.
    pub fn all(&self, checked: &mut [Checked], tell: &dyn Fn(&str)) -> Result<(), Error> {
        let cache = Cache::find()?;
        let mut witnesses: BTreeMap<Kind, Result<Witness, String>> = BTreeMap::new();
        for entry in checked {
            let wanted: Vec<usize> =
                (0..entry.answers.len()).filter(|at| entry.answers[*at].is_suspected()).collect();
            if wanted.is_empty() {
                continue;
            }
            let Some((package, test)) = package_and_test(&entry.entry) else {
                mark_all(entry, &wanted, &NotRun::NotRunnable);
                continue;
            };
            tell(&entry.entry);
            let kind = (package.clone(), test.is_none());
            let witness = witnesses.entry(kind).or_insert_with(|| {
                let directory = self.directory.to_owned();
                let tags = self.tags.clone();
                let place = Place { directory, package, main: test.is_none(), tags };
                Witness::open(&place, self.launcher, &cache, &self.stop)
                    .map_err(|error| error.to_string())
            });
            match witness {
                Ok(witness) => self.look(entry, &wanted, test.as_deref(), witness)?,
                Err(why) => mark_all(entry, &wanted, &NotRun::NotBuilt(why.clone())),
            }
        }
        Ok(())
    }

    fn look(
        &self,
        entry: &mut Checked,
        wanted: &[usize],
        test: Option<&str>,
        witness: &Witness,
    ) -> Result<(), Error> {
        let mut asked = Vec::new();
        let mut predictions = Vec::new();
        for at in wanted {
            let predicted = self.prediction(&entry.answers[*at].verdict, entry.places.as_ref());
            match predicted {
                Some(prediction) => {
                    asked.push(*at);
                    predictions.push(prediction);
                }
                None => mark_all(entry, &[*at], &NotRun::NotVisible),
            }
        }
        if predictions.is_empty() {
            return Ok(());
        }
        let Effort { runs, time } = self.effort;
        let sightings = witness.look_for(test, &predictions, runs, time, &self.stop)?;
        for (at, seen) in asked.into_iter().zip(&sightings.seen) {
            let answer = &mut entry.answers[at];
            let (seen, runs) = (*seen, sightings.runs);
            answer.confirmation = Some(Confirmation::Looked { seen, runs });
            if seen > 0 {
                answer.conclusion = Conclusion::Violated(None);
            }
        }
        Ok(())
    }

    /// What a run would show; `None` for what cannot be seen from outside.
    fn prediction(&self, verdict: &Verdict, places: &dyn Locate) -> Option<Prediction> {
        let trace = verdict.trace.as_ref()?;
        let panics = panics(verdict)?;
        let line = |span| {
            let position = places.position(span)?;
            Some((self.file(&position.file), position.line))
        };
        let spans = verdict.culprits.iter().map(|culprit| culprit.span);
        let left = trace.left.iter().filter(|one| one.doing.is_waiting());
        let left = left.map(|one| one.span).filter(|_| !panics);
        let mut at: Vec<Line> = spans.chain(left).filter_map(line).collect();
        if panics {
            at.extend(trace.steps.last().and_then(|step| line(step.span)));
        }
        let partners = |step: &TraceStep| step.partner.as_ref().map(|(_, span)| *span);
        let steps = trace.steps.iter();
        let cases = steps.flat_map(|step| [Some(step.span), partners(step)]).flatten();
        let cases = cases.filter_map(line).collect();
        (!at.is_empty()).then_some(Prediction { panics, at, cases })
    }

    fn file(&self, name: &str) -> PathBuf {
        let path = self.directory.join(name);
        path.canonicalize().unwrap_or(path)
    }
}

/// Would the program panic, or would a goroutine stay blocked? `None` if a run shows neither.
fn panics(verdict: &Verdict) -> Option<bool> {
    let Why::Violated(violation) = verdict.why else { return None };
    match violation {
        Violation::Panic | Violation::AddRace => Some(true),
        Violation::Deadlock | Violation::Leak | Violation::Blocked | Violation::OwnLock => {
            Some(false)
        }
        Violation::LockKept
        | Violation::MessageLost
        | Violation::Ends
        | Violation::Cycle
        | Violation::Spins
        | Violation::Formula
        | Violation::FormulaAfter => None,
    }
}

fn mark_all(entry: &mut Checked, wanted: &[usize], why: &NotRun) {
    for at in wanted {
        entry.answers[*at].confirmation = Some(Confirmation::NotRun(why.clone()));
    }
}

/// `example.com/m/p.TestX` is a test of that package, `example.com/m/p.main` its `main`.
fn package_and_test(entry: &str) -> Option<(String, Option<String>)> {
    let slash = entry.rfind('/').map_or(0, |slash| slash + 1);
    let dot = slash + entry[slash..].find('.')?;
    let (package, name) = (&entry[..dot], &entry[dot + 1..]);
    if name == "main" {
        return Some((package.to_owned(), None));
    }
    let package = package.strip_suffix("_test").unwrap_or(package);
    let plain = name.chars().all(|char| char.is_alphanumeric() || char == '_');
    (name.starts_with("Test") && plain).then(|| (package.to_owned(), Some(name.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_can_be_run() {
        let test = |name: &str| Some(name.to_owned());
        for (entry, expected) in [
            ("example.com/m/p.main", Some(("example.com/m/p", None))),
            ("example.com/m/p.TestX", Some(("example.com/m/p", test("TestX")))),
            ("example.com/m/p_test.TestX", Some(("example.com/m/p", test("TestX")))),
            ("m.TestX_y", Some(("m", test("TestX_y")))),
            ("(*example.com/m/p.T).run", None),
            ("example.com/m/p.helper", None),
        ] {
            let expected = expected.map(|(package, test)| (package.to_owned(), test));
            assert_eq!(package_and_test(entry), expected, "{entry}");
        }
    }
}
