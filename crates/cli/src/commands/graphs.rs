//! The graph of all states as a file: Graphviz for people, Aldebaran for other model checkers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use strait_calculus::{ExamineOptions, Machine, Outcome, Program, Recording, Verdict};
use strait_explore::{Coverage, Graph, StateOptions, graph};

/// The files that were asked for, open: a wrong path is found before the work begins.
pub struct Graphs {
    files: Vec<(PathBuf, File, Format)>,
}

type Format = fn(&Graph<Outcome, String>, &mut dyn Write) -> std::io::Result<()>;

impl Graphs {
    /// Makes the files, empty.
    pub fn create(
        program: &Path,
        dot: Option<&Path>,
        aut: Option<&Path>,
    ) -> anyhow::Result<Graphs> {
        let mut files: Vec<(PathBuf, File, Format)> = Vec::new();
        let mut taken = vec![program.canonicalize()?];
        for (flag, path, format) in [("--dot", dot, in_dot as Format), ("--aut", aut, in_aut)] {
            let Some(path) = path else { continue };
            if path.canonicalize().is_ok_and(|path| taken.contains(&path)) {
                bail!("{flag} {}: that file is the program or the other graph", path.display());
            }
            let file = File::create(path)
                .with_context(|| format!("cannot write {} ({flag})", path.display()))?;
            taken.extend(path.canonicalize());
            files.push((path.to_path_buf(), file, format));
        }
        Ok(Graphs { files })
    }

    /// Builds the graph and writes it; tells how much of it there is. Does nothing without files.
    pub fn write(
        self,
        program: &Program,
        options: &ExamineOptions<'_>,
    ) -> anyhow::Result<Option<Coverage>> {
        if self.files.is_empty() {
            return Ok(None);
        }
        let graph = labelled(program, options);
        for (path, file, format) in self.files {
            let mut writer = BufWriter::new(file);
            format(&graph, &mut writer)
                .and_then(|()| writer.flush())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(Some(graph.coverage))
    }
}

/// Writes the graph of a program for other model checkers; tells how much of it there is.
pub fn write_aut(
    path: &Path,
    program: &Program,
    options: &ExamineOptions<'_>,
) -> anyhow::Result<Coverage> {
    let cannot = || format!("cannot write {}", path.display());
    let file = File::create(path).with_context(cannot)?;
    let files = vec![(path.to_path_buf(), file, in_aut as Format)];
    Ok(Graphs { files }.write(program, options)?.unwrap_or(Coverage::Exhaustive))
}

fn labelled(program: &Program, options: &ExamineOptions<'_>) -> Graph<Outcome, String> {
    let machine = Machine::new(program, Recording::Nothing);
    let limits = StateOptions {
        memory: options.memory,
        max_states: options.max_states,
        stop: options.stop,
        progress: options.progress,
        ..Default::default()
    };
    let graph = graph(&machine, &limits);
    let edges = graph.edges.into_iter();
    Graph {
        states: graph.states,
        edges: edges.map(|(from, action, to)| (from, machine.label(&action), to)).collect(),
        finals: graph.finals,
        coverage: graph.coverage,
    }
}

/// <https://cadp.inria.fr/man/aldebaran.html>
fn in_aut(graph: &Graph<Outcome, String>, writer: &mut dyn Write) -> std::io::Result<()> {
    writeln!(writer, "des (0, {}, {})", graph.edges.len(), graph.states)?;
    for (from, label, to) in &graph.edges {
        writeln!(writer, "({from}, \"{label}\", {to})")?;
    }
    Ok(())
}

/// <https://graphviz.org/doc/info/lang.html>
fn in_dot(graph: &Graph<Outcome, String>, writer: &mut dyn Write) -> std::io::Result<()> {
    writeln!(writer, "digraph strait {{\n    node [shape=circle, fontname=\"sans\"]")?;
    writeln!(writer, "    edge [fontname=\"sans\"]\n    label=\"{}\"", graph.coverage)?;
    writeln!(writer, "    start [shape=point]\n    start -> 0")?;
    for (state, outcomes) in &graph.finals {
        let worst = outcomes.iter().map(|outcome| outcome.verdict).max();
        let colour = match worst.unwrap_or(Verdict::Terminates) {
            Verdict::Terminates => "palegreen",
            Verdict::Unknown | Verdict::Diverges => "lightgrey",
            Verdict::Leak => "orange",
            Verdict::Deadlock | Verdict::Panic => "tomato",
        };
        let word = worst.map_or("", Verdict::word);
        writeln!(
            writer,
            "    {state} [shape=doublecircle, style=filled, fillcolor={colour}, tooltip=\"{word}\"]"
        )?;
    }
    for (from, label, to) in &graph.edges {
        writeln!(writer, "    {from} -> {to} [label=\"{label}\"]")?;
    }
    writeln!(writer, "}}")
}
