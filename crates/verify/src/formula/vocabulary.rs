//! The names that formulas about a model may use, and what each of them means there. Comes in: a
//! model, and what people call its processes and objects. Goes out: for each name the process or
//! object of the model, or those among which it does not decide.
//!
//! A name that is shown in traces can be used where it means one thing in all executions. The names
//! of the program (`main.1` for a process) can always be used.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use strait_calculus::{ProcId, edit_distance};

use crate::model::Model;
use crate::places::Places;

/// How many names are suggested.
const SUGGESTED: usize = 6;
/// How many names are listed.
const LISTED: usize = 12;

/// What the names in formulas mean in one model.
pub struct Vocabulary {
    /// For each name, the names of the program that it may stand for.
    meanings: BTreeMap<String, BTreeSet<String>>,
    /// What people call each object; processes are listed by the names of the program.
    shown: BTreeMap<String, String>,
}

/// Why a name means nothing in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// There is nothing of this name.
    Missing {
        /// The names that are most like it, the nearest first.
        nearest: Vec<String>,
    },
    /// It may mean one of several.
    Ambiguous {
        /// Names for each of them.
        candidates: Vec<String>,
    },
}

impl Vocabulary {
    /// The names of a model. Which functions processes run is looked up only if one of the wanted
    /// names is not known without.
    pub fn new(model: &Model<'_>, places: &dyn Places, wanted: &[&str]) -> Vocabulary {
        let (processes, objects) = model.machine.names();
        let mut vocabulary = Vocabulary { meanings: BTreeMap::new(), shown: BTreeMap::new() };
        for object in &objects {
            let shown = places.name(object);
            vocabulary.add(&shown, object);
            vocabulary.add(bare(&shown), object);
            vocabulary.shown.insert(object.clone(), shown);
        }
        for object in objects {
            // The program's own name must not decide between several that people call so.
            vocabulary.meanings.entry(object.clone()).or_insert_with(|| [object].into());
        }
        if wanted.iter().any(|name| !vocabulary.meanings.contains_key(*name)) {
            vocabulary.add_functions(model, places);
        }
        for process in processes {
            vocabulary.meanings.insert(process.clone(), [process].into());
        }
        vocabulary
    }

    fn add(&mut self, name: &str, means: &str) {
        self.meanings.entry(name.to_owned()).or_default().insert(means.to_owned());
    }

    /// Processes by the functions that they run.
    fn add_functions(&mut self, model: &Model<'_>, places: &dyn Places) {
        if let Some(main) = places.function("main") {
            self.add(&main, "main");
        }
        let mut functions: BTreeMap<ProcId, BTreeSet<String>> = BTreeMap::new();
        for (process, function) in started(model) {
            let shown = function.and_then(|function| places.function(&function));
            let of_process = functions.entry(process).or_default();
            of_process.insert(shown.unwrap_or_default());
        }
        let mut runners: BTreeMap<&String, Vec<ProcId>> = BTreeMap::new();
        for (process, names) in &functions {
            for name in names.iter().filter(|name| !name.is_empty()) {
                runners.entry(name).or_default().push(*process);
            }
        }
        let machine = &model.machine;
        for (function, mut processes) in runners {
            processes.sort_by_key(|process| machine.process_path(*process));
            for process in &processes {
                self.add(function, &machine.process_name(*process));
            }
            let always = processes.iter().all(|process| functions[process].len() == 1);
            if !always {
                // Such a process runs something else in other executions.
                self.add(function, "");
                continue;
            }
            // Processes of one parent are started in this order in every execution.
            let parent = |process: &ProcId| {
                let mut path = machine.process_path(*process);
                path.pop();
                path
            };
            if processes.iter().all(|process| parent(process) == parent(&processes[0])) {
                for (position, process) in processes.iter().enumerate() {
                    let numbered = format!("{function}#{}", position + 1);
                    self.add(&numbered, &machine.process_name(*process));
                }
            }
        }
    }

    /// Does this name mean one thing?
    pub fn check(&self, name: &str) -> Result<(), NameProblem> {
        match self.meanings.get(name) {
            Some(meanings) if meanings.len() == 1 => Ok(()),
            Some(meanings) => {
                let found = meanings.iter().filter(|one| !one.is_empty());
                let shown = found.map(|one| self.shown.get(one).unwrap_or(one).clone());
                let mut candidates: Vec<String> = shown.take(LISTED).collect();
                candidates.dedup();
                Err(NameProblem::Ambiguous { candidates })
            }
            None => Err(NameProblem::Missing { nearest: self.nearest(name) }),
        }
    }

    /// For each process and object, the names that mean it.
    pub(super) fn aliases(&self) -> BTreeMap<&str, Vec<String>> {
        let mut aliases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, meanings) in &self.meanings {
            if let (Some(means), 1) = (meanings.first(), meanings.len()) {
                aliases.entry(means).or_default().push(name.clone());
            }
        }
        aliases
    }

    fn nearest(&self, name: &str) -> Vec<String> {
        let mut near: Vec<(usize, &String)> =
            self.meanings.keys().map(|one| (edit_distance(name, one), one)).collect();
        near.sort();
        near.into_iter().take(SUGGESTED).map(|(_, one)| one.clone()).collect()
    }
}

/// A name without the line or number that tells it from others.
fn bare(shown: &str) -> &str {
    shown.split([':', '#']).next().unwrap_or(shown)
}

/// Every process that is started in some execution, with the function that it runs there.
fn started(model: &Model<'_>) -> Vec<(ProcId, Option<String>)> {
    let machine = &model.machine;
    let mut found = machine.started_at_first();
    let mut seen: HashSet<(u32, Vec<(ProcId, u32)>), FxBuildHasher> = HashSet::default();
    let (mut before, mut after) = (model.state(0), model.state(0));
    for state in model.states() {
        if model.watch.is_over() {
            break;
        }
        model.space.load(machine, state, &mut before);
        let there: Vec<(ProcId, u32)> = before.processes().collect();
        for (label, target) in model.space.steps(state) {
            model.space.load(machine, target, &mut after);
            let is_new = |(process, _): &(ProcId, u32)| there.iter().all(|(one, _)| one != process);
            if !after.processes().any(|one| is_new(&one)) {
                continue;
            }
            let action = &model.space.actions()[label as usize];
            let involved = there.iter().filter(|(process, _)| action.involves(*process));
            let fresh = after.processes().filter(is_new);
            if seen.insert((label, involved.copied().chain(fresh).collect())) {
                found.extend(machine.started_by(&before, action));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names_come_first() {
        let known = ["jobs", "done", "results", "main", "main.1"];
        let meanings = known.map(|name| (name.to_owned(), [name.to_owned()].into())).into();
        let vocabulary = Vocabulary { meanings, shown: BTreeMap::new() };
        for (name, expected) in [
            ("jbos", ["jobs", "done", "main"]),
            ("result", ["results", "done", "jobs"]),
            ("main.2", ["main.1", "main", "done"]),
        ] {
            assert_eq!(vocabulary.nearest(name)[..3], expected, "{name}");
        }
    }
}
