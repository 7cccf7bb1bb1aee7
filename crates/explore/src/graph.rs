//! The whole graph of a system, for drawing and for other tools.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::coverage::Coverage;
use crate::states::StateOptions;
use crate::store::{StateId, Store};
use crate::system::Stateful;

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
    let mut graph =
        Graph { states: 0, edges: Vec::new(), finals: Vec::new(), coverage: Coverage::Exhaustive };
    let store = Store::new(1);
    let mut numbers: HashMap<StateId, u32, FxBuildHasher> = HashMap::default();
    let mut queue = VecDeque::new();
    let mut bytes = Vec::new();
    let mut number_of = |run: &S::Run, queue: &mut VecDeque<StateId>| {
        bytes.clear();
        system.encode(run, &mut bytes);
        let (id, fresh) = store.insert(&bytes, StateId::NONE).ok()?;
        if fresh {
            numbers.insert(id, numbers.len() as u32);
            queue.push_back(id);
        }
        numbers.get(&id).copied()
    };
    let mut run = system.start();
    system.canonicalise(&mut run);
    let mut next = system.start();
    number_of(&run, &mut queue);
    let (mut enabled, mut stored) = (Vec::new(), Vec::new());
    while let Some(id) = queue.pop_front() {
        let from = graph.states;
        graph.states += 1;
        store.read(id, &mut stored);
        system.decode(&stored, &mut run);
        system.enabled(&mut run, &mut enabled);
        if enabled.is_empty() {
            let mut outcomes = Vec::new();
            system.outcomes(&mut run, &mut outcomes);
            graph.finals.push((from, outcomes));
        }
        for action in &enabled {
            system.assign(&mut next, &run);
            system.step(&mut next, action);
            system.canonicalise(&mut next);
            if let Some(to) = number_of(&next, &mut queue) {
                graph.edges.push((from, action.clone(), to));
            }
        }
        let edges = graph.edges.capacity() * size_of::<(u32, S::Action, u32)>();
        let used = store.bytes() + system.memory() + edges;
        if used > options.memory || u64::from(graph.states) >= options.max_states {
            break;
        }
        options.advance(1);
        if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            break;
        }
    }
    if !queue.is_empty() {
        // What was not visited is left out, with the steps that lead there.
        let states = graph.states;
        graph.edges.retain(|(_, _, to)| *to < states);
        graph.coverage = Coverage::Bounded(format!("{states} states drawn"));
    }
    graph
}
