//! One entry, one question, one budget: the answers. The same for a model that was written by hand.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use strait_calculus::Program;
use strait_explore::Coverage;
use strait_golang::Entry;
use strait_verify::{
    Budget, Model, NameProblem, Places, Property, Reduction, Verdict, Verification, Vocabulary,
    Why, check_formula, verify,
};

use crate::answer::{Answer, Asked, Checked, Conclusion, Reason};
use crate::assumptions::{Sensitivity, conclude};
use crate::loops::endless;
use crate::places::{GoPlaces, Locate};
use crate::question::{NamedFormula, Question};

/// How much work one entry may take.
#[derive(Clone, Copy, Debug)]
pub struct EntryBudget<'a> {
    /// States.
    pub states: u64,
    /// Bytes.
    pub memory: usize,
    /// Whether equivalent orders are left out.
    pub reduction: Reduction,
    /// Time; it begins when the entry does.
    pub time: Option<Duration>,
    /// Set from outside to end early.
    pub stop: Option<&'a AtomicBool>,
    /// Where to add how many states were looked at.
    pub progress: Option<&'a AtomicU64>,
}

impl<'a> EntryBudget<'a> {
    /// The budget of an entry that begins now.
    fn begin(&self) -> Budget<'a> {
        Budget {
            states: self.states,
            memory: self.memory,
            reduction: self.reduction,
            until: self.time.map(|time| Instant::now() + time),
            stop: self.stop,
            progress: self.progress,
        }
    }
}

/// How many states the exact program of an entry may have when there is one with less data.
const EXACT: u64 = 150_000;

/// Answers a question about an entry. If numbers make the states of its program too many, the
/// program without them is looked at.
pub fn check(entry: &Entry, question: &Question, limits: &EntryBudget<'_>) -> Checked {
    let Some(coarse) = &entry.coarse else { return check_program(entry, question, limits) };
    let started = Instant::now();
    let time = limits.time.map(|time| time / 2);
    let exact = EntryBudget { states: limits.states.min(EXACT), time, ..*limits };
    let first = check_program(entry, question, &exact);
    let stopped = limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    let violated = first.answers.iter().any(Answer::is_violation);
    if first.coverage == Coverage::Exhaustive || violated || stopped {
        return first;
    }
    let time = limits.time.map(|time| time.saturating_sub(started.elapsed()));
    check_program(coarse, question, &EntryBudget { time, ..*limits })
}

fn check_program(entry: &Entry, question: &Question, limits: &EntryBudget<'_>) -> Checked {
    let places = GoPlaces::of(entry);
    let started = Instant::now();
    let budget = limits.begin();
    let found = verify(&entry.program, &question.properties, &budget, &places);
    let mut answers = Vec::new();
    for (property, verdict) in &found.verdicts {
        let conclusion = conclusion(*property, verdict, entry, &found.model, &places);
        answers.push(Answer {
            asked: Asked::Property(*property),
            counts: question.counts(*property),
            conclusion,
            verdict: verdict.clone(),
            confirmation: None,
        });
    }
    let of_formula = |named: &NamedFormula, verdict: &Verdict| {
        conclude(verdict, Sensitivity::of_formula(&named.formula), entry)
    };
    let formulas = &question.formulas;
    answers.extend(formulas_on(&entry.program, &found, formulas, &budget, &places, &of_formula));
    Checked {
        entry: entry.name.clone(),
        position: Some(entry.position.clone()),
        assumptions: entry.assumptions.clone(),
        types: question.types.then(|| entry.migo.clone()),
        ..checked(&found, answers, started, Box::new(places))
    }
}

fn conclusion(
    property: Property,
    verdict: &Verdict,
    entry: &Entry,
    model: &Model<'_>,
    places: &GoPlaces,
) -> Conclusion {
    if property == Property::Live
        && verdict.why == Why::Proved
        && !entry.truncated
        && let Some(reason) = endless(entry, model, places)
    {
        return Conclusion::Unknown(Reason::Loop(reason));
    }
    conclude(verdict, Sensitivity::of_property(property, verdict), entry)
}

/// Answers a question about a model that stands for nothing but itself.
pub fn check_model(
    program: &Program,
    question: &Question,
    limits: &EntryBudget<'_>,
    places: Box<dyn Locate>,
) -> Checked {
    let started = Instant::now();
    let budget = limits.begin();
    let found = verify(program, &question.properties, &budget, places.as_ref());
    let conclusion = |verdict: &Verdict| match &verdict.why {
        Why::Proved => Conclusion::Holds,
        Why::Violated(_) => Conclusion::Violated(None),
        Why::Unknown(unknown) => Conclusion::Unknown(Reason::Model(unknown.clone())),
    };
    let verdicts = found.verdicts.iter();
    let mut answers: Vec<Answer> = verdicts
        .map(|(property, verdict)| Answer {
            asked: Asked::Property(*property),
            counts: question.counts(*property),
            conclusion: conclusion(verdict),
            verdict: verdict.clone(),
            confirmation: None,
        })
        .collect();
    let of_formula = |_: &NamedFormula, verdict: &Verdict| conclusion(verdict);
    let formulas = &question.formulas;
    answers.extend(formulas_on(program, &found, formulas, &budget, places.as_ref(), &of_formula));
    checked(&found, answers, started, places)
}

fn checked(
    found: &Verification<'_>,
    answers: Vec<Answer>,
    started: Instant,
    places: Box<dyn Locate>,
) -> Checked {
    Checked {
        entry: "main".into(),
        position: None,
        states: found.model.space.states().into(),
        transitions: found.model.space.transitions() as u64,
        coverage: found.coverage().clone(),
        reduced: found.model.reduced,
        seconds: started.elapsed().as_secs_f64(),
        answers,
        assumptions: vec![],
        types: None,
        places,
    }
}

/// Formulas are about every step, so the state space must not be reduced for them.
fn formulas_on(
    program: &Program,
    found: &Verification<'_>,
    formulas: &[NamedFormula],
    budget: &Budget<'_>,
    places: &dyn Places,
    conclusion: &dyn Fn(&NamedFormula, &Verdict) -> Conclusion,
) -> Vec<Answer> {
    if formulas.is_empty() {
        return vec![];
    }
    let full;
    let model = if found.model.reduced {
        full = Model::explore(program, &Budget { reduction: Reduction::Never, ..*budget });
        &full
    } else {
        &found.model
    };
    let answers = formulas.iter().map(|named| {
        let verdict = check_formula(model, &named.formula, places);
        let names = named.formula.names();
        let vocabulary = Vocabulary::new(model, places, &names);
        let mut problems = names.iter().filter_map(|name| {
            let problem = vocabulary.check(name).err()?;
            Some(((*name).to_owned(), problem))
        });
        // In a search that ended early, names may not have been seen yet.
        let problem = if model.bound().is_none() { problems.next() } else { None };
        let conclusion = match problem {
            Some((name, NameProblem::Missing { nearest })) => {
                Conclusion::Unknown(Reason::MissingName { name, nearest })
            }
            Some((name, NameProblem::Ambiguous { candidates })) => {
                Conclusion::Unknown(Reason::AmbiguousName { name, candidates })
            }
            None => conclusion(named, &verdict),
        };
        let asked = Asked::Formula(named.name.clone());
        Answer { asked, counts: true, conclusion, verdict, confirmation: None }
    });
    answers.collect()
}
