//! Does a formula hold in the first state of a program, or of any labelled graph?

use std::borrow::Cow;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use strait_calculus::Action;
use strait_explore::Coverage;

use super::Formula;
use super::evidence::refutation;
use super::game::{Lts, game};
use super::label::Label;
use super::normal::{Normal, normal};
use super::solve::solve;
use crate::check::choices;
use crate::model::Model;
use crate::tell;
use crate::verdict::{Places, Verdict};

/// Does the formula hold in the first state of a labelled graph? `None` if the game would be too
/// large.
pub fn holds_on(lts: &Lts<'_>, labels: &[Label], formula: &Formula) -> Option<bool> {
    let normal = normal(formula);
    let member = membership(&normal, labels);
    let game = game(lts, &normal, &member)?;
    Some(solve(&game).verifier[0])
}

/// For each set of steps in the formula, which labels are in it.
fn membership(normal: &Normal, labels: &[Label]) -> Vec<Vec<bool>> {
    let sets = normal.steps.iter();
    sets.map(|set| labels.iter().map(|label| set.contains(label)).collect()).collect()
}

/// Checks a formula on all states of a program. The model must not be reduced.
pub fn check_formula(model: &Model, formula: &Formula, places: &dyn Places) -> Verdict {
    if model.space.coverage != Coverage::Exhaustive {
        let why =
            format!("a formula needs all states, and what was seen is {}", model.space.coverage);
        return Verdict::unknown(why);
    }
    let normal = normal(formula);
    let placed = normal.steps.iter().any(|steps| steps.asks_for_places());
    let labelled = Labelled::new(model, placed.then_some(places));
    let member = membership(&normal, &labelled.labels);
    let Some(game) = game(&labelled.lts, &normal, &member) else {
        return Verdict::unknown("states times parts of the formula are too many");
    };
    let solution = solve(&game);
    if solution.verifier[0] {
        return Verdict::holds("");
    }
    let (labels, round) = refutation(&labelled.lts, &normal, &game, &solution, &member);
    let actions: Vec<Action> =
        labels.iter().map_while(|label| labelled.actions[*label as usize]).collect();
    let trace = tell::trace(&model.machine, actions, round, places);
    let why = if trace.steps.is_empty() {
        "it does not hold in the first state".to_owned()
    } else {
        "it does not hold: after these steps it cannot be saved".to_owned()
    };
    let why = why + &choices(&trace, places);
    Verdict { holds: Some(false), why, trace: Some(trace), culprits: vec![] }
}

/// A model's graph with the labels that formulas see.
struct Labelled<'a> {
    lts: Lts<'a>,
    labels: Vec<Label>,
    /// The action behind each label; `None` for running by oneself.
    actions: Vec<Option<Action>>,
}

impl<'a> Labelled<'a> {
    fn new(model: &'a Model, places: Option<&dyn Places>) -> Labelled<'a> {
        let (offsets, labels, targets) = model.space.arrays();
        let lts = Lts {
            offsets: Cow::Borrowed(offsets),
            labels: Cow::Borrowed(labels),
            targets: Cow::Borrowed(targets),
        };
        let machine = &model.machine;
        let names = |action: &Action| {
            let mut names = vec![machine.process_name(action.actor)];
            names.extend(action.partner.map(|(partner, _)| machine.process_name(partner)));
            names.extend(action.object.map(|object| machine.object_name(object)));
            names
        };
        let actions = model.space.actions();
        let mut labelled = Labelled {
            lts,
            labels: actions.iter().map(|action| Label::of(action, &names)).collect(),
            actions: actions.iter().copied().map(Some).collect(),
        };
        if let Some(places) = places {
            labelled.put_in_places(model, places);
        }
        if !model.spinning.is_empty() {
            labelled.add_spinning(model);
        }
        labelled
    }

    /// Tells apart steps of one action that happen at different places.
    fn put_in_places(&mut self, model: &Model, places: &dyn Places) {
        let mut numbers: HashMap<(u32, Vec<String>), u32, FxBuildHasher> = HashMap::default();
        let (mut labels, mut actions) = (Vec::new(), Vec::new());
        let mut relabelled = Vec::with_capacity(self.lts.labels.len());
        let mut run = model.state(0);
        for state in 0..self.lts.states() {
            model.space.load(&model.machine, state, &mut run);
            for (label, _) in self.lts.steps(state) {
                let Some(action) = self.actions[label as usize] else { continue };
                let involved =
                    [Some((action.actor, action.case)), action.partner].into_iter().flatten();
                let spans =
                    involved.map(|(process, case)| model.machine.step_span(&run, process, case));
                let stands: Vec<String> = spans
                    .filter_map(|span| places.place(span))
                    .map(|place| place.strip_prefix("line ").map(str::to_owned).unwrap_or(place))
                    .collect();
                let fresh = labels.len() as u32;
                let number = *numbers.entry((label, stands.clone())).or_insert(fresh);
                if number == fresh {
                    labels.push(Label { places: stands, ..self.labels[label as usize].clone() });
                    actions.push(Some(action));
                }
                relabelled.push(number);
            }
        }
        self.lts.labels = Cow::Owned(relabelled);
        self.labels = labels;
        self.actions = actions;
    }

    /// A process that runs by itself is a step that leads nowhere else.
    fn add_spinning(&mut self, model: &Model) {
        let label = self.labels.len() as u32;
        self.labels.push(Label { kind: None, names: vec![], places: vec![] });
        self.actions.push(None);
        let (mut offsets, mut labels, mut targets) = (vec![0u32], Vec::new(), Vec::new());
        for state in 0..self.lts.states() {
            for (step, target) in self.lts.steps(state) {
                labels.push(step);
                targets.push(target);
            }
            if model.spins(state) {
                labels.push(label);
                targets.push(state);
            }
            offsets.push(targets.len() as u32);
        }
        self.lts = Lts {
            offsets: Cow::Owned(offsets),
            labels: Cow::Owned(labels),
            targets: Cow::Owned(targets),
        };
    }
}
