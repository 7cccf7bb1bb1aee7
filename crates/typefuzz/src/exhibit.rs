//! A finding of this part, read from its directory and judged again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use strait_findings::{Finding, Kind, read, read_text};
use strait_toolchain::Launcher;

use crate::discover::{Details, RULE_FILE, TERM};
use crate::error::Error;
use crate::judge::{Asked, Fault, RULES, Verdicts, judge};
use crate::known::Known;
use crate::oracle::{Oracle, WALL, find_called, judge_all};
use crate::permitted::{Chosen, Permitted};
use crate::slowdown::Slowdown;

/// A finding that can be judged again.
pub struct Exhibit {
    /// Its directory.
    pub folder: PathBuf,
    /// What was found.
    pub finding: Finding,
    /// What it says about itself.
    pub details: Details,
    /// The program as a term.
    pub term: Option<String>,
    /// The rules that are not built in.
    pub rules: Option<String>,
    /// The program, the reduced one if there is one.
    pub program: String,
    /// The program it is compared with.
    pub rewritten: Option<String>,
    /// The oracles that it is about.
    pub oracles: Vec<Box<dyn Oracle>>,
    /// What counts as a slowdown.
    pub slowdown: Slowdown,
    known: Known,
}

/// Was this finding made by `strait types`?
pub fn is_types(finding: &Finding) -> bool {
    finding.details.contains_key("types")
}

impl Exhibit {
    /// Reads a finding and finds its oracles, or those that stand in for them.
    pub fn open(
        folder: &Path,
        permitted: &Permitted,
        launcher: &Launcher,
        stop: &Arc<AtomicBool>,
    ) -> Result<Exhibit, Error> {
        let refuse =
            |why: &str| Error::NotReplayable { folder: folder.to_owned(), why: why.to_owned() };
        let finding = read(folder)?;
        let details = finding.details.get("types").cloned().unwrap_or_default();
        let details: Details = serde_json::from_value(details)
            .map_err(|_| refuse("finding.json does not say how the program was judged"))?;
        let text = |name: &str| read_text(folder, name);
        let source = |name: &str| text(&format!("source/{name}"));
        let files = details.program_files();
        let reduced = text(files.reduced)?;
        let rewritten = match reduced {
            Some(_) => text(files.reduced_rewritten)?,
            None => source(files.rewritten)?,
        };
        let program = match reduced {
            Some(reduced) => reduced,
            None => source(files.program)?
                .ok_or_else(|| refuse(&format!("source/{} is missing", files.program)))?,
        };
        let mut names = vec![details.oracle_a.as_str(), details.oracle_b.as_str()];
        names.retain(|name| *name != RULES);
        names.dedup();
        let chosen = permitted.choose(folder, &names)?;
        let find = |one: Chosen| find_called(&one.name, &one.oracle, launcher, stop, WALL);
        let oracles = chosen.into_iter().map(find).collect::<Result<_, _>>()?;
        Ok(Exhibit {
            folder: folder.to_owned(),
            term: source(TERM)?,
            rules: source(RULE_FILE)?,
            program: inner(&program),
            rewritten: rewritten.as_deref().map(inner),
            finding,
            details,
            oracles,
            slowdown: Slowdown::default(),
            known: Known::built_in()?,
        })
    }

    /// The kind of fault.
    pub fn kind(&self) -> &Kind {
        &self.finding.kind
    }

    /// Judges the programs again.
    pub fn rerun(&self) -> Result<Option<Fault>, Error> {
        let pair = (self.program.as_str(), self.rewritten.as_deref());
        Ok(self.show(&[pair])?.into_iter().next().flatten())
    }

    /// The fault of the same kind that each of these programs shows.
    pub fn show(&self, programs: &[(&str, Option<&str>)]) -> Result<Vec<Option<Fault>>, Error> {
        if *self.kind() == Kind::SLOWDOWN {
            let shown = programs.iter().map(|(first, _)| self.slowdown.at(&self.oracles, first));
            return shown.map(|fault| Ok(fault?.filter(|fault| self.is_same(fault)))).collect();
        }
        let firsts = programs.iter().map(|(first, _)| *first);
        let seconds = programs.iter().filter_map(|(_, second)| *second);
        let texts: Vec<&str> = firsts.chain(seconds).collect();
        let mut verdicts = vec![Verdicts::default(); programs.len()];
        for oracle in &self.oracles {
            let mut judged = judge_all(oracle.as_ref(), &texts)?.into_iter();
            for verdicts in &mut verdicts {
                verdicts.first.extend(judged.next());
            }
            let paired = verdicts.iter_mut().zip(programs).filter(|(_, pair)| pair.1.is_some());
            for ((verdicts, _), verdict) in paired.zip(judged) {
                verdicts.second.push(verdict);
            }
        }
        let asked: Vec<Asked<'_>> =
            self.oracles.iter().map(|oracle| Asked::from(oracle.as_ref())).collect();
        let violations: Vec<&str> = self.details.violations.iter().map(String::as_str).collect();
        let shown = verdicts.iter().map(|verdicts| {
            let faults = judge(&asked, &violations, verdicts, &self.known).faults;
            faults.into_iter().find(|fault| self.is_same(fault))
        });
        Ok(shown.collect())
    }

    fn is_same(&self, fault: &Fault) -> bool {
        fault.kind == *self.kind()
            && fault.accepts.contains(&self.details.oracle_a)
            && fault.rejects.contains(&self.details.oracle_b)
    }
}

/// A program without what stands before it in a file of its own.
fn inner(program: &str) -> String {
    program.strip_prefix("pub type Alias<T> = T;\n").unwrap_or(program).to_owned()
}
