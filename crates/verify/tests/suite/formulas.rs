//! Formulas against an evaluator that computes sets of states by iteration, straight from the
//! semantics, on random graphs and random formulas; errors; formulas on programs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use strait_calculus::{ActionKind, Span, parse};
use strait_verify::{
    Budget, Formula, InText, Label, Lts, Model, NameProblem, Places, Reduction, Regular,
    StateFormula, Steps, Vocabulary, check_formula, holds_on,
};

use crate::random::Dice;

/// The labels of random graphs.
pub fn labels() -> Vec<Label> {
    let label = |kind, names: &[&str]| Label {
        kind: Some(kind),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        places: vec![],
    };
    vec![
        label(ActionKind::Meet, &["p", "q", "c"]),
        label(ActionKind::Close, &["p", "c"]),
        label(ActionKind::Branch, &["q"]),
    ]
}

pub fn random_lts(dice: &mut Dice) -> Lts<'static> {
    let states = 1 + dice.below(7) as u32;
    let (mut offsets, mut labels, mut targets) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..states {
        for _ in 0..dice.below(4) {
            labels.push(dice.below(3) as u32);
            targets.push(dice.below(u64::from(states)) as u32);
        }
        offsets.push(targets.len() as u32);
    }
    Lts { offsets: Cow::Owned(offsets), labels: Cow::Owned(labels), targets: Cow::Owned(targets) }
}

pub fn random_formula(dice: &mut Dice, depth: u32, scope: &mut Vec<String>) -> String {
    if depth == 0 {
        return match (dice.below(3), scope.is_empty()) {
            (0, _) | (1, true) => dice.pick(&["true", "false"]).into(),
            (_, true) => "<true>true".into(),
            (_, false) => scope[dice.below(scope.len() as u64) as usize].clone(),
        };
    }
    match dice.below(9) {
        0 => format!(
            "({} && {})",
            random_formula(dice, depth - 1, scope),
            random_formula(dice, depth - 1, scope)
        ),
        1 => format!(
            "({} || {})",
            random_formula(dice, depth - 1, scope),
            random_formula(dice, depth - 1, scope)
        ),
        2 => {
            // The premise is closed: a variable there would be negative.
            let premise = random_formula(dice, depth - 1, &mut Vec::new());
            format!("({premise} => {})", random_formula(dice, depth - 1, scope))
        }
        3 => format!("!{}", random_formula(dice, depth - 1, &mut Vec::new())),
        4 => format!("[{}]{}", random_regular(dice, 2), random_formula(dice, depth - 1, scope)),
        5 => format!("<{}>{}", random_regular(dice, 2), random_formula(dice, depth - 1, scope)),
        _ => {
            let name = format!("X{}", scope.len());
            scope.push(name.clone());
            let body = random_formula(dice, depth - 1, scope);
            scope.pop();
            format!("({} {name}. {body})", dice.pick(&["mu", "nu"]))
        }
    }
}

fn random_regular(dice: &mut Dice, depth: u32) -> String {
    if depth == 0 {
        return dice.pick(&["true", "send(c)", "close(p)", "tau", "!meet", "recv || close"]).into();
    }
    match dice.below(6) {
        0 => format!("({}).({})", random_regular(dice, depth - 1), random_regular(dice, depth - 1)),
        1 => {
            format!("({}) + ({})", random_regular(dice, depth - 1), random_regular(dice, depth - 1))
        }
        2 => format!("({})*", random_regular(dice, depth - 1)),
        3 => format!("({})+", random_regular(dice, depth - 1)),
        _ => random_regular(dice, 0),
    }
}

/// The states where a formula holds, by its semantics.
struct Naive<'a> {
    lts: &'a Lts<'a>,
    labels: &'a [Label],
}

type Set = Vec<bool>;

impl Naive<'_> {
    fn eval(&self, formula: &StateFormula, bound: &mut BTreeMap<String, Set>) -> Set {
        let states = self.lts.states() as usize;
        let zip = |a: Set, b: Set, f: fn(bool, bool) -> bool| -> Set {
            a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect()
        };
        match formula {
            StateFormula::Constant(value) => vec![*value; states],
            StateFormula::Variable(name) => bound[name].clone(),
            StateFormula::Not(inner) => {
                self.eval(inner, bound).into_iter().map(|one| !one).collect()
            }
            StateFormula::And(a, b) => zip(self.eval(a, bound), self.eval(b, bound), |a, b| a && b),
            StateFormula::Or(a, b) => zip(self.eval(a, bound), self.eval(b, bound), |a, b| a || b),
            StateFormula::Implies(a, b) => {
                zip(self.eval(a, bound), self.eval(b, bound), |a, b| !a || b)
            }
            StateFormula::Diamond(regular, inner) => {
                let goal = self.eval(inner, bound);
                self.before(regular, &goal)
            }
            StateFormula::Box(regular, inner) => {
                let bad: Set = self.eval(inner, bound).into_iter().map(|one| !one).collect();
                self.before(regular, &bad).into_iter().map(|one| !one).collect()
            }
            StateFormula::Fixpoint { greatest, variable, body } => {
                let shadowed = bound.remove(variable);
                let mut current = vec![*greatest; states];
                loop {
                    bound.insert(variable.clone(), current.clone());
                    let next = self.eval(body, bound);
                    if next == current {
                        break;
                    }
                    current = next;
                }
                bound.remove(variable);
                if let Some(outer) = shadowed {
                    bound.insert(variable.clone(), outer);
                }
                current
            }
        }
    }

    /// The states from which some way through the regular formula leads into the goal.
    fn before(&self, regular: &Regular, goal: &Set) -> Set {
        match regular {
            Regular::Step(steps) => self.one_before(steps, goal),
            Regular::Sequence(first, second) => self.before(first, &self.before(second, goal)),
            Regular::Either(a, b) => {
                let (a, b) = (self.before(a, goal), self.before(b, goal));
                a.into_iter().zip(b).map(|(a, b)| a || b).collect()
            }
            Regular::Star(inner) => {
                let mut current = goal.clone();
                loop {
                    let more = self.before(inner, &current);
                    let next: Set = current.iter().zip(more).map(|(a, b)| *a || b).collect();
                    if next == current {
                        return current;
                    }
                    current = next;
                }
            }
            Regular::Plus(inner) => {
                self.before(inner, &self.before(&Regular::Star(inner.clone()), goal))
            }
        }
    }

    fn one_before(&self, steps: &Steps, goal: &Set) -> Set {
        let leads = |state| {
            self.lts.steps(state).any(|(label, target)| {
                steps.contains(&self.labels[label as usize]) && goal[target as usize]
            })
        };
        (0..self.lts.states()).map(leads).collect()
    }
}

#[test]
fn the_game_agrees_with_iteration() {
    let first: u64 = std::env::var("STRAIT_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let count: u64 =
        std::env::var("STRAIT_CASES").map_or(3000, |count| count.parse().expect("a number"));
    let labels = labels();
    let mut holding = 0;
    for seed in first..first + count {
        let mut dice = Dice::new(seed);
        let text = random_formula(&mut dice, 2 + (seed % 5) as u32, &mut Vec::new());
        let formula = Formula::parse(&text)
            .unwrap_or_else(|wrong| panic!("seed {seed}: {}", wrong.render("random", &text)));
        for _ in 0..4 {
            let lts = random_lts(&mut dice);
            let naive = Naive { lts: &lts, labels: &labels };
            let expected = naive.eval(&formula_root(&text), &mut BTreeMap::new())[0];
            let found = holds_on(&lts, &labels, &formula);
            assert_eq!(found, Some(expected), "seed {seed} (STRAIT_SEED): {text} on {lts:?}");
            holding += u64::from(expected);
        }
    }
    assert!(holding > count && holding < 3 * count, "{holding} of {}", 4 * count);
}

/// The tree of a formula.
fn formula_root(text: &str) -> StateFormula {
    Formula::parse(text).expect("a formula").tree().clone()
}

fn check_error(text: &str, expected: Expect) {
    let wrong = Formula::parse(text).expect_err("an error");
    expected.assert_eq(&wrong.render("f.mcf", text));
}

#[test]
fn errors_show_the_place() {
    check_error(
        "nu X. [true]X &&\n  <sned(c)>true",
        expect![[r#"
            error: there is no action `sned`; there are send, recv, meet, put, get, get_closed, put_lost, close, abandon, choose, default, timeout, lock, unlock, rlock, runlock, announce, add, wait, panic, spin, tau, sync
             --> f.mcf:2:4
              |
            2 |   <sned(c)>true
              |    ^^^^"#]],
    );
    check_error(
        "mu X. !X",
        expect![[r#"
            error: `X` occurs under an odd number of negations
             --> f.mcf:1:4
              |
            1 | mu X. !X
              |    ^"#]],
    );
    check_error(
        "[true Y",
        expect![[r#"
            error: expected `]`, found `Y`
             --> f.mcf:1:7
              |
            1 | [true Y
              |       ^"#]],
    );
    check_error(
        "<true>Y",
        expect![[r#"
            error: `Y` is not bound by `mu Y.` or `nu Y.`
             --> f.mcf:1:7
              |
            1 | <true>Y
              |       ^"#]],
    );
    check_error(
        "§",
        expect![[r#"
            error: `§` has no meaning here
             --> f.mcf:1:1
              |
            1 | §
              | ^"#]],
    );
    assert!(Formula::parse(&"(".repeat(100_000)).is_err());
    assert!(Formula::parse(&format!("{}true", "!".repeat(100_000))).is_err());
    assert!(Formula::parse(&format!("[{}true", "!(".repeat(100_000))).is_err());
    assert!(Formula::parse("").is_err());
}

fn on_program(source: &str, formula: &str) -> bool {
    let program = parse(source).expect("a program");
    let budget = Budget { reduction: Reduction::Never, ..Budget::default() };
    let model = Model::explore(&program, &budget);
    let formula = Formula::parse(formula).expect("a formula");
    check_formula(&model, &formula, &InText(source)).holds().expect("an answer")
}

#[test]
fn repeated_repetition_is_repetition() {
    for (one, other) in [
        ("[send(c)**]true", "[send(c)*]true"),
        ("[(send(c)*)*]true", "[send(c)*]true"),
        ("<send(c)++>true", "<send(c)+>true"),
        ("<(send(c)+)*>true", "<send(c)*>true"),
        ("<(send(c)*)+>true", "<send(c)*>true"),
    ] {
        let [one, other] = [one, other].map(|text| Formula::parse(text).expect("a formula"));
        assert_eq!(one, other);
    }
    // Nested repetitions do not double the formula at each level.
    let nested = format!("<{}close(c){}>true", "(".repeat(40), ".send(c))+".repeat(40));
    assert!(!on_program("main { chan c: int; close c }", &nested));
}

#[test]
fn formulas_speak_about_programs() {
    let source = "main {
        chan c: int[1]
        chan d: int
        spawn helper { put c 1; put d 2 }
        get d
        get c
        close c
    }";
    for (formula, expected) in [
        ("<true*.close(c)>true", true),
        ("[true*]<true>true", false),
        ("[true*.close(c)]false", false),
        ("[!put(c)*.get(c)]false", true),
        ("[true*.put(c)][true*.put(c)]false", true),
        ("<put(helper, c).meet(d).get(main, c).close(c)>[true]false", true),
        ("<send(c)@4>true", true),
        ("<send(c)@5>true", false),
        ("<send(c).recv(d)@5>true", true),
        ("nu X. [true]X && [close(c)](mu Y. <true>true => [true]Y)", true),
        ("mu X. [true]X", true),
        ("<tau>true", false),
        ("<(send(c) && !recv) . (meet + put)+>true", true),
    ] {
        assert_eq!(on_program(source, formula), expected, "{formula}");
    }
    assert!(on_program("main { while true {} }", "nu X. <spin>X"));
    assert!(!on_program("main { while true {} }", "mu X. [true]X"));
}

/// Functions are shown as Go shows them, and two channels `c` by their lines.
struct Shown;

impl Places for Shown {
    fn place(&self, _: Span) -> Option<String> {
        Some("a.go:1".into())
    }

    fn name(&self, name: &str) -> String {
        match name {
            "c" => "c:1".into(),
            "c_2" => "c:2".into(),
            other => other.replace("s_", "server."),
        }
    }

    fn function(&self, name: &str) -> Option<String> {
        (name != "other").then(|| name.replace("s_", "(*server)."))
    }
}

#[test]
fn names_that_are_shown_can_be_used() {
    let source = "fn s_loop(c: chan int) { put c 1 }\nfn log(c: chan int) { get c }
        fn other(c: chan int) { get c }
        main { chan c: int; chan c_2: int; mutex s_mu; lock s_mu; spawn { s_loop(c) }
            spawn { log(c) }; spawn { s_loop(c_2) }; spawn { other(c_2) } }";
    let program = parse(source).expect("a program");
    let model = Model::explore(&program, &Budget::default());
    let ambiguous = |names: &[&str]| {
        let candidates = names.iter().map(|name| (*name).to_owned()).collect();
        Err(NameProblem::Ambiguous { candidates })
    };
    for (name, expected) in [
        ("main", Ok(())),
        ("main.4", Ok(())),
        ("log", Ok(())),
        ("log#1", Ok(())),
        ("(*server).loop#2", Ok(())),
        ("(*server).loop", ambiguous(&["main.1", "main.3"])),
        ("server.mu", Ok(())),
        ("s_mu", Ok(())),
        ("c:2", Ok(())),
        ("c_2", Ok(())),
        ("c", ambiguous(&["c:1", "c:2"])),
    ] {
        assert_eq!(Vocabulary::new(&model, &Shown, &[name]).check(name), expected, "{name}");
    }
    let missing = Vocabulary::new(&model, &Shown, &["lgo"]).check("lgo");
    assert!(matches!(missing, Err(NameProblem::Missing { nearest }) if nearest[0] == "log"));
    for (formula, expected) in [
        ("<send((*server).loop#2, c:2)>true", true),
        ("<send((*server).loop#1, c:2)>true", false),
        ("<recv(log, c:1)>true", true),
        ("<recv(log, c:2)>true", false),
        ("<lock(main, server.mu)>true", true),
    ] {
        let formula = format!("<true*>{formula}");
        let parsed = Formula::parse(&formula).expect("a formula");
        let holds = check_formula(&model, &parsed, &Shown).holds();
        assert_eq!(holds, Some(expected), "{formula}");
    }
}
