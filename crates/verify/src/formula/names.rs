//! The names that a formula uses. Each has to mean something in the program: a misspelt one would make
//! many formulas hold without a word.

use super::{Regular, StateFormula, Steps};

/// The names in a formula, each once, in order.
pub(super) fn of(formula: &StateFormula) -> Vec<&str> {
    let mut names = Vec::new();
    in_state(formula, &mut names);
    names
}

fn in_state<'a>(formula: &'a StateFormula, names: &mut Vec<&'a str>) {
    match formula {
        StateFormula::Constant(_) | StateFormula::Variable(_) => {}
        StateFormula::Not(inner) => in_state(inner, names),
        StateFormula::And(left, right)
        | StateFormula::Or(left, right)
        | StateFormula::Implies(left, right) => {
            in_state(left, names);
            in_state(right, names);
        }
        StateFormula::Box(regular, inner) | StateFormula::Diamond(regular, inner) => {
            in_regular(regular, names);
            in_state(inner, names);
        }
        StateFormula::Fixpoint { body, .. } => in_state(body, names),
    }
}

fn in_regular<'a>(regular: &'a Regular, names: &mut Vec<&'a str>) {
    match regular {
        Regular::Step(steps) => in_steps(steps, names),
        Regular::Sequence(left, right) | Regular::Either(left, right) => {
            in_regular(left, names);
            in_regular(right, names);
        }
        Regular::Star(inner) | Regular::Plus(inner) => in_regular(inner, names),
    }
}

fn in_steps<'a>(steps: &'a Steps, names: &mut Vec<&'a str>) {
    match steps {
        Steps::All(_) => {}
        Steps::Pattern(pattern) => {
            for name in &pattern.arguments {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        Steps::Not(inner) => in_steps(inner, names),
        Steps::And(left, right) | Steps::Or(left, right) => {
            in_steps(left, names);
            in_steps(right, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::formula::Formula;

    #[test]
    fn names_of_a_formula_are_found_everywhere() {
        let text =
            "nu X. [send(a)*.(close(b) + recv(main.1, a))]X && (<!lock(m)>true => [put(c)]X)";
        let formula = Formula::parse(text).expect("a formula");
        assert_eq!(formula.names(), ["a", "b", "main.1", "m", "c"]);
        // As Go names them.
        let text = "[send((*Server).loop#2, done:30).lock(forks[0], s.mu).recv(ctx.Done())]true";
        let formula = Formula::parse(text).expect("a formula");
        let names = ["(*Server).loop#2", "done:30", "forks[0]", "s.mu", "ctx.Done()"];
        assert_eq!(formula.names(), names);
    }
}
