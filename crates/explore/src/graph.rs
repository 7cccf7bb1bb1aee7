//! The whole graph of a system, for drawing and for other tools: a [`crate::Space`] without reduction, with
//! the outcomes of its final states.

use crate::coverage::Coverage;
use crate::space::space;
use crate::states::StateOptions;
use crate::system::Stateful;
use crate::walk::Visit;

/// All states and steps of a system, numbered from 0 in breadth-first order.
#[derive(Clone, Debug)]
pub struct Graph<Outcome, Action> {
    /// How many states there are; the first is 0.
    pub states: u32,
    /// From, action, to.
    pub edges: Vec<(u32, Action, u32)>,
    /// The final states and what they give.
    pub finals: Vec<(u32, Vec<Outcome>)>,
    /// Is this all?
    pub coverage: Coverage,
}

/// Builds the graph without any reduction, within the memory and states of the options.
pub fn graph<S: Stateful>(system: &S, options: &StateOptions<'_>) -> Graph<S::Outcome, S::Action> {
    let unlimited = StateOptions { reduce: false, max_states: u64::MAX, ..*options };
    let mut finals = Vec::new();
    let space = space(system, &unlimited, |state, run, enabled| {
        if u64::from(state) >= options.max_states {
            return Visit::OutOfTime;
        }
        if enabled.is_empty() {
            let mut outcomes = Vec::new();
            system.outcomes(run, &mut outcomes);
            finals.push((state, outcomes));
        }
        Visit::Expand
    });
    // What was not visited is left out, with the steps that lead there.
    let states = space.expanded();
    let steps = |from| space.steps(from).map(move |(label, to)| (from, label, to));
    let steps = (0..states).flat_map(steps).filter(|(_, _, to)| *to < states);
    let edges = steps.map(|(from, label, to)| (from, space.actions()[label as usize].clone(), to));
    let coverage = match space.limit {
        Some(_) => Coverage::Bounded(format!("{states} states drawn")),
        None => Coverage::Exhaustive,
    };
    Graph { states, edges: edges.collect(), finals, coverage }
}
