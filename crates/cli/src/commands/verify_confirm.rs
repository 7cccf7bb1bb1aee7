//! `strait go verify --confirm`: what the model says is wrong, looked for in runs of the program.
//! Comes in: entries that were checked. Goes out: the same, each violated property with how often it
//! was seen of how many runs. A suspicion that the model alone cannot vouch for becomes a violation
//! when it was seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_reorder::{Line, Place, Prediction, Witness};
use strait_toolchain::{Cache, Launcher};
use strait_verify::{Property, Verdict};

use crate::commands::verify_report::{Answer, Checked, Confirmation, Locate};

/// How many runs an entry gets, and how much time.
pub struct Effort {
    /// Runs.
    pub runs: u64,
    /// Time for all of them.
    pub time: Duration,
}

/// Looks for everything that is said to be wrong.
pub struct Confirm<'a> {
    pub launcher: &'a Launcher,
    pub directory: &'a Path,
    pub tags: Option<String>,
    pub effort: Effort,
    pub stop: Arc<AtomicBool>,
}

/// What an entry is compiled as: its package, and whether its `main` is wanted.
type Kind = (String, bool);

impl Confirm<'_> {
    /// Runs the entries with violations. Hears what is being done.
    pub fn all(&self, checked: &mut [Checked], tell: &dyn Fn(&str)) -> anyhow::Result<()> {
        let cache = Cache::find()?;
        let mut witnesses: BTreeMap<Kind, Result<Witness, String>> = BTreeMap::new();
        for entry in checked {
            let wanted: Vec<usize> =
                (0..entry.answers.len()).filter(|at| is_suspected(&entry.answers[*at])).collect();
            if wanted.is_empty() {
                continue;
            }
            let Some((package, test)) = package_and_test(&entry.entry) else {
                let why = "only main and tests can be run";
                mark_all(entry, &wanted, Confirmation::impossible(why));
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
                Err(why) => mark_all(entry, &wanted, Confirmation::impossible(why.as_str())),
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
    ) -> anyhow::Result<()> {
        let mut asked = Vec::new();
        let mut predictions = Vec::new();
        for at in wanted {
            let answer = &entry.answers[*at];
            match self.prediction(answer, entry.places.as_ref()) {
                Some(prediction) => {
                    asked.push(*at);
                    predictions.push(prediction);
                }
                None => {
                    let why = "a run does not show it";
                    entry.answers[*at].confirmation = Some(Confirmation::impossible(why));
                }
            }
        }
        if predictions.is_empty() {
            return Ok(());
        }
        let Effort { runs, time } = self.effort;
        let sightings = witness.look_for(test, &predictions, runs, time, &self.stop)?;
        for (at, seen) in asked.into_iter().zip(&sightings.seen) {
            let answer = &mut entry.answers[at];
            let runs = sightings.runs;
            answer.confirmation = Some(Confirmation { seen: Some(*seen), runs, why: None });
            if let Some(doubted) = answer.doubted.take_if(|_| *seen > 0) {
                answer.verdict = doubted;
            }
        }
        Ok(())
    }

    /// What a run would show; `None` for what cannot be seen from outside.
    fn prediction(&self, answer: &Answer, places: &dyn Locate) -> Option<Prediction> {
        let verdict = answer.doubted.as_ref().unwrap_or(&answer.verdict);
        let trace = verdict.trace.as_ref()?;
        if answer.name == Property::EventualReception.name() || trace.cycle.is_some() {
            return None;
        }
        let panics = panics(verdict);
        let line = |span| {
            let position = places.position(span)?;
            Some((self.file(&position.file), position.line))
        };
        let spans = verdict.culprits.iter().map(|culprit| culprit.span);
        let left = trace.left.iter().filter(|one| one.says.starts_with("waits"));
        let left = left.map(|one| one.span).filter(|_| !panics);
        let mut at: Vec<Line> = spans.chain(left).filter_map(line).collect();
        if panics {
            at.extend(trace.steps.last().and_then(|step| line(step.span)));
        }
        let partners = |step: &strait_verify::Told| step.partner.as_ref().map(|(_, span)| *span);
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

/// Is there something to look for: a violation, or one that only the model's gaps put in doubt?
fn is_suspected(answer: &Answer) -> bool {
    answer.counts && (answer.verdict.holds == Some(false) || answer.doubted.is_some())
}

fn panics(verdict: &Verdict) -> bool {
    !verdict.culprits.iter().any(|one| one.says.starts_with("waits"))
}

fn mark_all(entry: &mut Checked, wanted: &[usize], confirmation: Confirmation) {
    for at in wanted {
        entry.answers[*at].confirmation = Some(confirmation.clone());
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
