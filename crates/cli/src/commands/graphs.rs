//! The graph of all states as a file: Graphviz for people, Aldebaran for other model checkers.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use strait_calculus::{ExamineOptions, Machine, Outcome, Program, Recording, Verdict};
use strait_explore::{Graph, StateOptions, graph};

/// Writes the files that were asked for.
pub fn write(
    program: &Program,
    options: &ExamineOptions<'_>,
    dot: Option<&Path>,
    aut: Option<&Path>,
) -> anyhow::Result<()> {
    if dot.is_none() && aut.is_none() {
        return Ok(());
    }
    let machine = Machine::new(program, Recording::Nothing);
    let limits = StateOptions { memory: options.memory, stop: options.stop, ..Default::default() };
    let graph = graph(&machine, &limits);
    let labelled = Graph {
        states: graph.states,
        edges: graph
            .edges
            .into_iter()
            .map(|(from, action, to)| (from, machine.label(&action), to))
            .collect(),
        finals: graph.finals,
        coverage: graph.coverage,
    };
    for (path, text) in [(dot, in_dot as fn(&_) -> _), (aut, in_aut)] {
        if let Some(path) = path {
            std::fs::write(path, text(&labelled))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// <https://cadp.inria.fr/man/aldebaran.html>
fn in_aut(graph: &Graph<Outcome, String>) -> String {
    let mut text = format!("des (0, {}, {})\n", graph.edges.len(), graph.states);
    for (from, label, to) in &graph.edges {
        let _ = writeln!(text, "({from}, \"{label}\", {to})");
    }
    text
}

fn in_dot(graph: &Graph<Outcome, String>) -> String {
    let mut text = String::from("digraph strait {\n    node [shape=circle, fontname=\"sans\"]\n");
    let _ = writeln!(text, "    label=\"{}\"", graph.coverage);
    text += "    start [shape=point]\n    start -> 0\n";
    for (state, outcomes) in &graph.finals {
        let worst = outcomes.iter().map(|outcome| outcome.verdict).max();
        let colour = match worst.unwrap_or(Verdict::Terminates) {
            Verdict::Terminates => "palegreen",
            Verdict::Diverges => "lightgrey",
            Verdict::Leak => "orange",
            Verdict::Deadlock | Verdict::Panic => "tomato",
        };
        let word = worst.map_or("", Verdict::word);
        let _ = writeln!(
            text,
            "    {state} [shape=doublecircle, style=filled, fillcolor={colour}, tooltip=\"{word}\"]"
        );
    }
    for (from, label, to) in &graph.edges {
        let _ = writeln!(text, "    {from} -> {to} [label=\"{label}\"]");
    }
    text + "}\n"
}
