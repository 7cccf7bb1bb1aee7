//! The work of a campaign against typecheckers: threads take batches of indices, make the programs, have
//! the oracles judge them and compare.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde_json::{Value, json};
use strait_campaign::{Context, Delivery, Ending, Pieces, Workload};
use strait_findings::{Discovery, Kind};
use strait_queue::{Part, Piece, TargetVersion};

use crate::counts;
use crate::discover::discovery;
use crate::error::Error;
use crate::judge::{Asked, Fault, Verdicts, judge};
use crate::known::Known;
use crate::oracle::{Oracle, Verdict, judge_timed};
use crate::recipe::{BATCH, Case, GENERATOR_VERSION, Recipe, System};
use crate::settings::{JobSettings, Settings, check_language, versions};
use crate::slowdown::Slowdown;

/// The largest index.
const MAX_INDEX: u64 = i64::MAX as u64 / BATCH * BATCH;

/// The programs of a campaign and those who judge them.
pub struct Programs {
    recipe: Recipe,
    oracles: Vec<Box<dyn Oracle>>,
    known: Known,
    slowdown: Slowdown,
}

impl Programs {
    /// Programs of this recipe. The first oracle is asked about everything.
    pub fn new(recipe: Recipe, oracles: Vec<Box<dyn Oracle>>) -> Result<Self, Error> {
        for oracle in &oracles {
            check_language(oracle.name(), oracle.language(), recipe.fuzzer.language())?;
        }
        Ok(Programs { recipe, oracles, known: Known::built_in()?, slowdown: Slowdown::default() })
    }

    /// The same with another measure of what is slow.
    pub fn slowdown(self, slowdown: Slowdown) -> Self {
        Programs { slowdown, ..self }
    }

    /// What makes the programs.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Those who judge them.
    pub fn oracles(&self) -> &[Box<dyn Oracle>] {
        &self.oracles
    }

    /// Classes of differences that are known.
    pub fn known(&self) -> &Known {
        &self.known
    }
}

impl Workload for Programs {
    type Thread = ();
    type Error = Error;
    type Settings = Settings;

    fn job_settings(&self) -> Value {
        json!(JobSettings {
            seed: self.recipe.seed,
            generator: GENERATOR_VERSION,
            mode: self.recipe.mode.name().to_owned(),
            fuzzer: self.recipe.fuzzer.names(),
            oracles: versions(&self.oracles),
        })
    }

    fn targets(&self) -> Vec<TargetVersion> {
        let names: Vec<&str> = self.oracles.iter().map(|oracle| oracle.name()).collect();
        let version = self.oracles.first().map_or("", |oracle| oracle.version()).to_owned();
        vec![TargetVersion { target: format!("types {}", names.join(" ")), version }]
    }

    fn indices(&self, _lane: usize, count: Option<u64>) -> u64 {
        count.unwrap_or(MAX_INDEX).min(MAX_INDEX)
    }

    fn piece_size(&self, _lane: usize, _pieces: Pieces) -> u64 {
        BATCH
    }

    fn thread(&self, _number: usize) {}

    fn run(
        &self,
        (): &mut (),
        context: &Context<'_>,
        piece: &Piece,
        delivery: &mut Delivery<'_>,
    ) -> Result<bool, Error> {
        if piece.is_watched {
            delivery.begin(piece.indices.clone())?;
        }
        // `None`: stopped in the middle, so that nothing is known about these indices.
        let Some(part) = self.batch(context, piece.indices.clone())? else { return Ok(false) };
        Ok(delivery.deliver(part)?)
    }

    /// The whole batch is not run any more.
    fn deadly(&self, piece: &Piece) -> Part {
        let Range { start, end } = piece.indices;
        let seed = self.recipe.seed;
        let mut part = Part::default();
        for TargetVersion { target, version } in self.targets() {
            let title =
                format!("types: workers died at programs {start} to {} of seed {seed}", end - 1);
            let mut discovery = Discovery::new(Kind::WORKER_DEATH, target, version, seed, start)
                .fingerprint(format!("batch {}", spelled(start)))
                .title(title);
            discovery.generator_version = GENERATOR_VERSION;
            let oracles: Vec<&str> = self.oracles.iter().map(|oracle| oracle.name()).collect();
            let details = json!({ "mode": self.recipe.mode.name(), "oracles": oracles });
            discovery.details.insert("types".to_owned(), details);
            discovery.explanation = "A worker was lost at this batch. Two processes that ran it alone \
                died as well, so it is not run again. They were killed for their use of memory, or this \
                is a fault of Strait.\n"
                .to_owned();
            part.discoveries.push(discovery);
        }
        part.indices.insert(piece.indices.clone());
        part
    }
}

/// A number in letters: numbers in fingerprints do not count.
fn spelled(number: u64) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

impl Programs {
    fn batch(&self, context: &Context<'_>, indices: Range<u64>) -> Result<Option<Part>, Error> {
        let system = self.recipe.system(indices.start / BATCH)?;
        let mut cases = Vec::new();
        for index in indices.clone() {
            if context.is_due() {
                return Ok(None);
            }
            cases.extend(self.recipe.case(&system, index));
        }
        let skipped = (indices.end - indices.start) - cases.len() as u64;
        let (verdicts, times) = self.verdicts(&system, &cases)?;
        let stopped = |verdicts: &Verdicts| verdicts.first.contains(&Verdict::Unknown);
        if verdicts.iter().any(stopped) {
            return Ok(None);
        }
        let mut part = Part::default();
        for (case, verdicts) in cases.iter().zip(&verdicts) {
            let found = self.compare(&system, case, verdicts, context, &mut part.counts)?;
            part.discoveries.extend(found);
        }
        part.discoveries.extend(self.slow(&system, &cases, &verdicts, &times)?);
        let programs: u64 = cases.iter().map(|case| 1 + u64::from(case.other.is_some())).sum();
        let accepted = verdicts
            .iter()
            .flat_map(|verdicts| verdicts.first.first().into_iter().chain(verdicts.second.first()))
            .filter(|verdict| verdict.is_accepted())
            .count();
        for (name, count) in [(counts::ACCEPTED, accepted as u64), (counts::SKIPPED, skipped)] {
            *part.counts.entry(name.to_owned()).or_default() += count;
        }
        part.indices.insert(indices);
        (part.programs, part.runs) = (programs, programs);
        Ok(Some(part))
    }

    /// A program of the batch for which an oracle takes much longer than another one.
    fn slow(
        &self,
        system: &System,
        cases: &[Case],
        verdicts: &[Verdicts],
        times: &[Option<Duration>],
    ) -> Result<Option<Discovery>, Error> {
        let texts: Vec<String> =
            cases.iter().map(|case| system.program.print(&case.tree)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let Some((place, fault)) = self.slowdown.find(&self.oracles, times, &texts)? else {
            return Ok(None);
        };
        let Recipe { seed, mode, .. } = self.recipe;
        let (case, verdicts) = (&cases[place], &verdicts[place]);
        Ok(Some(discovery(seed, mode, system, case, &fault, verdicts, &self.oracles)))
    }

    /// All programs of some cases under all oracles, and what each of these took.
    fn verdicts(
        &self,
        system: &System,
        cases: &[Case],
    ) -> Result<(Vec<Verdicts>, Vec<Option<Duration>>), Error> {
        let mut times = Vec::new();
        let print = |tree| system.program.print(tree);
        let firsts: Vec<String> = cases.iter().map(|case| print(&case.tree)).collect();
        let seconds: Vec<Option<String>> =
            cases.iter().map(|case| case.other.as_ref().map(|other| print(&other.tree))).collect();
        let texts: Vec<&str> = firsts
            .iter()
            .map(String::as_str)
            .chain(seconds.iter().flatten().map(String::as_str))
            .collect();
        let mut verdicts = vec![Verdicts::default(); cases.len()];
        for oracle in &self.oracles {
            let (judged, time) = judge_timed(oracle.as_ref(), &texts)?;
            times.push(time);
            let mut judged = judged.into_iter();
            for (verdicts, verdict) in verdicts.iter_mut().zip(judged.by_ref().take(cases.len())) {
                verdicts.first.push(verdict);
            }
            let with_second =
                verdicts.iter_mut().zip(&seconds).filter(|(_, second)| second.is_some());
            for ((verdicts, _), verdict) in with_second.zip(judged) {
                verdicts.second.push(verdict);
            }
        }
        Ok((verdicts, times))
    }

    /// What is wrong with a case, confirmed alone if it is new.
    fn compare(
        &self,
        system: &System,
        case: &Case,
        verdicts: &Verdicts,
        context: &Context<'_>,
        counted: &mut BTreeMap<String, u64>,
    ) -> Result<Vec<Discovery>, Error> {
        let known = &self.known;
        let asked: Vec<Asked<'_>> =
            self.oracles.iter().map(|oracle| Asked::from(oracle.as_ref())).collect();
        let violations: Vec<&str> =
            case.violations.iter().map(|violation| violation.label.as_str()).collect();
        let judgement = judge(&asked, &violations, verdicts, known);
        for (class, count) in judgement.known {
            *counted.entry(counts::known(&class)).or_default() += count;
        }
        let describe = |fault: &Fault, verdicts: &Verdicts| {
            let Recipe { seed, mode, .. } = self.recipe;
            discovery(seed, mode, system, case, fault, verdicts, &self.oracles)
        };
        let mut discoveries = Vec::new();
        for fault in &judgement.faults {
            let first = describe(fault, verdicts);
            if context.is_known(&first.id()) {
                discoveries.push(first);
                continue;
            }
            // A batch is not the same as a program alone.
            let what = format!("program {}", case.index);
            let _shown = context.activity().suspect(0, what).begin();
            let (again, _) = self.verdicts(system, std::slice::from_ref(case))?;
            let Some(again) = again.first() else { continue };
            let confirmed = judge(&asked, &violations, again, known);
            let rejects = |name: &String| fault.rejects.contains(name);
            let is_same =
                |other: &&Fault| other.kind == fault.kind && other.rejects.iter().any(rejects);
            let same = confirmed.faults.iter().find(is_same);
            if let Some(same) = same {
                let confirmed = describe(same, again);
                context.learn(confirmed.id());
                discoveries.push(confirmed);
            }
        }
        Ok(discoveries)
    }
}
