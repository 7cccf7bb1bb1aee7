//! Verdicts of formulas against those of the merc crates, on random graphs and random formulas.
//!
//! merc reads formulas in mCRL2's syntax and translates conjunctions, disjunctions, modalities and
//! fixpoints, so negations are pushed inwards before it sees them. Of regular formulas it gets
//! sequences of steps and steps that are repeated. The others are written out for it: merc_vpg 2.0
//! turns `[R + S]φ` into a disjunction, and leaves `R` in `[R+]φ` as it is.

use std::fmt::Write;

use merc_lts::{LabelledTransitionSystem, read_aut};
use merc_syntax::UntypedStateFrmSpec;
use merc_vpg::{solve_zielonka, translate};
use strait_verify::{Formula, Label, Lts, Regular, StateFormula, Steps, holds_on};

use crate::formulas::{labels, random_formula, random_lts};
use crate::random::Dice;

/// What the labels of random graphs are called for merc.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// Writes formulas for merc.
struct Writer<'a> {
    labels: &'a [Label],
    /// How many variables there are so far: each fixpoint gets its own.
    variables: usize,
}

/// A variable of ours and what merc knows it as.
type Scope = Vec<(String, String)>;

impl Writer<'_> {
    /// A formula, or its negation.
    fn formula(&mut self, formula: &StateFormula, negated: bool, scope: &mut Scope) -> String {
        match formula {
            StateFormula::Constant(value) => (*value != negated).to_string(),
            StateFormula::Variable(name) => {
                let known = scope.iter().rev().find(|(own, _)| own == name);
                known.expect("a bound variable").1.clone()
            }
            StateFormula::Not(inner) => self.formula(inner, !negated, scope),
            StateFormula::And(left, right) => {
                self.both(!negated, (left, negated), (right, negated), scope)
            }
            StateFormula::Or(left, right) => {
                self.both(negated, (left, negated), (right, negated), scope)
            }
            StateFormula::Implies(left, right) => {
                self.both(negated, (left, !negated), (right, negated), scope)
            }
            StateFormula::Box(regular, inner) => {
                let mut rest =
                    |writer: &mut Self, scope: &mut Scope| writer.formula(inner, negated, scope);
                self.modal(!negated, regular, scope, &mut rest)
            }
            StateFormula::Diamond(regular, inner) => {
                let mut rest =
                    |writer: &mut Self, scope: &mut Scope| writer.formula(inner, negated, scope);
                self.modal(negated, regular, scope, &mut rest)
            }
            StateFormula::Fixpoint { greatest, variable, body } => {
                let name = self.fresh();
                scope.push((variable.clone(), name.clone()));
                let body = self.formula(body, negated, scope);
                scope.pop();
                let word = if *greatest != negated { "nu" } else { "mu" };
                format!("({word} {name}. {body})")
            }
        }
    }

    fn both(
        &mut self,
        and: bool,
        left: (&StateFormula, bool),
        right: (&StateFormula, bool),
        scope: &mut Scope,
    ) -> String {
        let left = self.formula(left.0, left.1, scope);
        let right = self.formula(right.0, right.1, scope);
        let word = if and { "&&" } else { "||" };
        format!("({left} {word} {right})")
    }

    /// A modality, `[…]` if it is strong. What follows is written as often as it is needed.
    fn modal(
        &mut self,
        strong: bool,
        regular: &Regular,
        scope: &mut Scope,
        rest: &mut dyn FnMut(&mut Self, &mut Scope) -> String,
    ) -> String {
        let (open, close) = if strong { ("[", "]") } else { ("<", ">") };
        match regular {
            Regular::Step(steps) => {
                let steps = self.steps(steps);
                format!("({open}{steps}{close}{})", rest(self, scope))
            }
            Regular::Star(inner) | Regular::Plus(inner) if is_step(inner) => {
                let Regular::Step(steps) = inner.as_ref() else { unreachable!("it is a step") };
                let again = if matches!(regular, Regular::Star(_)) { "*" } else { "+" };
                let steps = self.steps(steps);
                format!("({open}({steps}){again}{close}{})", rest(self, scope))
            }
            Regular::Sequence(first, second) => {
                if let (Regular::Step(first), Regular::Step(second)) = (&**first, &**second) {
                    let (first, second) = (self.steps(first), self.steps(second));
                    return format!("({open}({first}).({second}){close}{})", rest(self, scope));
                }
                let mut then = |writer: &mut Self, scope: &mut Scope| {
                    writer.modal(strong, second, scope, rest)
                };
                self.modal(strong, first, scope, &mut then)
            }
            Regular::Either(first, second) => {
                let first = self.modal(strong, first, scope, rest);
                let second = self.modal(strong, second, scope, rest);
                let word = if strong { "&&" } else { "||" };
                format!("({first} {word} {second})")
            }
            Regular::Star(inner) => {
                let name = self.fresh();
                let rest = rest(self, scope);
                let mut again = |_: &mut Self, _: &mut Scope| name.clone();
                let inner = self.modal(strong, inner, scope, &mut again);
                let (word, and) = if strong { ("nu", "&&") } else { ("mu", "||") };
                format!("({word} {name}. ({rest} {and} {inner}))")
            }
            Regular::Plus(inner) => {
                let star = Regular::Star(inner.clone());
                let mut then =
                    |writer: &mut Self, scope: &mut Scope| writer.modal(strong, &star, scope, rest);
                self.modal(strong, inner, scope, &mut then)
            }
        }
    }

    /// A set of steps by the labels that are in it.
    fn steps(&self, steps: &Steps) -> String {
        let inside = self.labels.iter().zip(NAMES).filter(|(label, _)| steps.contains(label));
        let names: Vec<&str> = inside.map(|(_, name)| name).collect();
        match names.len() {
            0 => "false".into(),
            count if count == NAMES.len() => "true".into(),
            _ => names.join(" || "),
        }
    }

    fn fresh(&mut self) -> String {
        self.variables += 1;
        format!("X{}", self.variables)
    }
}

fn is_step(regular: &Regular) -> bool {
    matches!(regular, Regular::Step(_))
}

/// The graph as merc reads it.
fn theirs(lts: &Lts<'_>) -> LabelledTransitionSystem<String> {
    let mut text = format!("des (0, {}, {})\n", lts.targets.len(), lts.states());
    for state in 0..lts.states() {
        for (label, target) in lts.steps(state) {
            writeln!(text, "({state}, \"{}\", {target})", NAMES[label as usize]).expect("text");
        }
    }
    read_aut(text.as_bytes()).expect("a graph")
}

fn merc_says(lts: &Lts<'_>, formula: &str) -> bool {
    let formula = UntypedStateFrmSpec::parse(formula).expect("a formula").formula;
    let game = translate(&theirs(lts), &formula).expect("a game");
    // The first vertex is the question.
    solve_zielonka(&game, false).0[0][0]
}

#[test]
fn merc_agrees() {
    let first: u64 = std::env::var("STRAIT_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let count: u64 =
        std::env::var("STRAIT_CASES").map_or(2000, |count| count.parse().expect("a number"));
    let labels = labels();
    let mut holding = 0;
    for seed in first..first + count {
        let mut dice = Dice::new(seed);
        let text = random_formula(&mut dice, 2 + (seed % 4) as u32, &mut Vec::new());
        let formula = Formula::parse(&text).expect("a formula");
        let written = Writer { labels: &labels, variables: 0 }.formula(
            formula.tree(),
            false,
            &mut Vec::new(),
        );
        for _ in 0..2 {
            let lts = random_lts(&mut dice);
            let expected = merc_says(&lts, &written);
            let found = holds_on(&lts, &labels, &formula);
            assert_eq!(
                found,
                Some(expected),
                "seed {seed} (STRAIT_SEED): {text}, for merc {written}, on {lts:?}"
            );
            holding += u64::from(expected);
        }
    }
    assert!(holding > count / 2 && holding < 2 * count - count / 2, "{holding} of {}", 2 * count);
}
