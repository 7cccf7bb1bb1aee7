//! Does a formula hold in the first state of a program, or of any labelled graph?

use std::borrow::Cow;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use strait_calculus::Action;

use super::Formula;
use super::evidence::refutation;
use super::game::{Lts, game};
use super::label::Label;
use super::normal::{Normal, normal};
use super::solve::solve;
use super::vocabulary::Vocabulary;
use crate::check::recovered_panic;
use crate::model::Model;
use crate::places::Places;
use crate::tell;
use crate::verdict::{Unknown, Verdict, Violation, Why};
use crate::watch::Watch;

/// Does the formula hold in the first state of a labelled graph? `None` if the game would be too
/// large.
pub fn holds_on(lts: &Lts<'_>, labels: &[Label], formula: &Formula) -> Option<bool> {
    let normal = normal(formula);
    let member = membership(&normal, labels);
    let watch = Watch::never();
    let game = game(lts, &normal, &member, &watch)?;
    Some(solve(&game, &watch).verifier[0])
}

/// For each set of steps in the formula, which labels are in it.
fn membership(normal: &Normal, labels: &[Label]) -> Vec<Vec<bool>> {
    let sets = normal.steps.iter();
    sets.map(|set| labels.iter().map(|label| set.contains(label)).collect()).collect()
}

/// Checks a formula on all states of a program. The model must not be reduced.
pub fn check_formula(model: &Model<'_>, formula: &Formula, places: &dyn Places) -> Verdict {
    if let Some(bound) = model.bound() {
        return Verdict::unknown(Unknown::FormulaStatesLeft(bound));
    }
    // What follows a recovered panic is not in the model, and the formula may speak of it.
    if let Some(place) = recovered_panic(model, places) {
        return Verdict::unknown(Unknown::RecoveredPanic { place });
    }
    let verdict = decide(model, formula, places);
    match model.watch.has_cut() {
        Some(limit) => Verdict::unknown(Unknown::CheckEnded(limit)),
        None => verdict,
    }
}

fn decide(model: &Model<'_>, formula: &Formula, places: &dyn Places) -> Verdict {
    let normal = normal(formula);
    let placed = normal.steps.iter().any(|steps| steps.asks_for_places());
    let vocabulary = Vocabulary::new(model, places, &formula.names());
    let labelled = Labelled::new(model, places, &vocabulary, placed);
    let member = membership(&normal, &labelled.labels);
    let Some(game) = game(&labelled.lts, &normal, &member, &model.watch) else {
        return Verdict::unknown(Unknown::FormulaTooLarge);
    };
    let solution = solve(&game, &model.watch);
    if solution.verifier[0] || model.watch.has_cut().is_some() {
        return Verdict::proved();
    }
    let (labels, round) = refutation(&labelled.lts, &normal, &game, &solution, &member);
    let actions: Vec<Action> =
        labels.iter().map_while(|label| labelled.actions[*label as usize]).collect();
    let trace = tell::trace(&model.machine, actions, round, places);
    let violation =
        if trace.steps.is_empty() { Violation::Formula } else { Violation::FormulaAfter };
    Verdict { trace: Some(trace), ..Verdict::because(Why::Violated(violation)) }
}

/// A model's graph with the labels that formulas see.
struct Labelled<'a> {
    lts: Lts<'a>,
    labels: Vec<Label>,
    /// The action behind each label; `None` for running by oneself.
    actions: Vec<Option<Action>>,
}

impl<'a> Labelled<'a> {
    fn new(
        model: &'a Model<'_>,
        places: &dyn Places,
        vocabulary: &Vocabulary,
        placed: bool,
    ) -> Labelled<'a> {
        let (offsets, labels, targets) = model.space.arrays();
        let lts = Lts {
            offsets: Cow::Borrowed(offsets),
            labels: Cow::Borrowed(labels),
            targets: Cow::Borrowed(targets),
        };
        let machine = &model.machine;
        let aliases = vocabulary.aliases();
        let names = |action: &Action| {
            let mut named = vec![machine.process_name(action.actor)];
            named.extend(action.partner.map(|(partner, _)| machine.process_name(partner)));
            named.extend(action.object.map(|object| machine.object_name(object)));
            named.iter().filter_map(|name| aliases.get(name.as_str())).flatten().cloned().collect()
        };
        let actions = model.space.actions();
        let mut labelled = Labelled {
            lts,
            labels: actions.iter().map(|action| Label::of(action, &names)).collect(),
            actions: actions.iter().copied().map(Some).collect(),
        };
        if placed {
            labelled.put_in_places(model, places);
        }
        if !model.spinning.is_empty() {
            labelled.add_spinning(model);
        }
        labelled
    }

    /// Tells apart steps of one action that happen at different places.
    fn put_in_places(&mut self, model: &Model<'_>, places: &dyn Places) {
        let mut numbers: HashMap<(u32, Vec<String>), u32, FxBuildHasher> = HashMap::default();
        let (mut labels, mut actions) = (Vec::new(), Vec::new());
        let mut relabelled = Vec::with_capacity(self.lts.labels.len());
        let mut run = model.state(0);
        for state in 0..self.lts.states() {
            if model.watch.is_over() {
                return;
            }
            model.space.load(&model.machine, state, &mut run);
            for (label, _) in self.lts.steps(state) {
                let Some(action) = self.actions[label as usize] else { continue };
                let involved =
                    [Some((action.actor, action.case)), action.partner].into_iter().flatten();
                let spans =
                    involved.map(|(process, case)| model.machine.step_span(&run, process, case));
                let stands: Vec<String> =
                    spans.filter_map(|span| places.place_in_formulas(span)).collect();
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
    fn add_spinning(&mut self, model: &Model<'_>) {
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
