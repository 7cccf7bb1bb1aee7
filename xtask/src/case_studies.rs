//! `cargo xtask case-studies`: the loom tests of published crates, run by loom and by `strait-loom`.
//!
//! The sources come from the package registry through cargo and are copied below `target/case-studies`,
//! once for each side; only the manifest of a copy is changed: it is a workspace of its own, asks for the
//! current loom, and on strait's side replaces loom by the package in `shims/loom`. Each test is a process
//! with a limit of time. The table has one row per test and one pair of columns (executions, seconds) per
//! way to run it.

mod study;
mod table;
mod weaken;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::step::Outcome;
use crate::workspace::Workspace;
use study::{STUDIES, Side, Study};
use table::{Cell, Table};

/// A way to run tests.
#[derive(Clone, Copy)]
pub struct Way {
    /// What it is called on the command line and in the table.
    pub name: &'static str,
    side: Side,
    variables: &'static [(&'static str, &'static str)],
}

/// The ways that can be chosen.
const WAYS: &[Way] = &[
    Way { name: "loom-2", side: Side::Loom, variables: &[("LOOM_MAX_PREEMPTIONS", "2")] },
    Way { name: "rc11-2", side: Side::Strait, variables: &[("LOOM_MAX_PREEMPTIONS", "2")] },
    Way { name: "loom", side: Side::Loom, variables: &[] },
    Way { name: "rc11", side: Side::Strait, variables: &[] },
    Way { name: "sc", side: Side::Strait, variables: &[("STRAIT_MODEL", "sc")] },
];

/// Tests may take so long, unless the command line says something else.
const SECONDS: u64 = 30;

/// What the command line asks for.
struct Wish {
    studies: Vec<&'static Study>,
    ways: Vec<Way>,
    limit: Duration,
    filter: String,
    weakens: bool,
}

/// Runs the case studies that are named, or all of them.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<Outcome, String> {
    let wish = parse(arguments)?;
    let mut failed = Vec::new();
    for study in &wish.studies {
        let folder = workspace.target().join("case-studies");
        if wish.weakens {
            match weaken(workspace, study, &wish, &folder) {
                Ok(table) => println!("\n{} {}\n\n{table}", study.name, study.version),
                Err(message) => failed.push(format!("{}: {message}", study.name)),
            }
            continue;
        }
        match measure(workspace, study, &wish, &folder) {
            Ok(table) => {
                println!(
                    "\n{} {}, limit {} s\n\n{table}",
                    study.name,
                    study.version,
                    wish.limit.as_secs()
                );
                failed.extend(table.failures());
            }
            Err(message) => failed.push(format!("{}: {message}", study.name)),
        }
    }
    match failed.is_empty() {
        true => Ok(Outcome::Passed),
        false => Ok(Outcome::Failed(failed.join("\n"))),
    }
}

fn parse(arguments: &[String]) -> Result<Wish, String> {
    let mut wish = Wish {
        studies: Vec::new(),
        ways: Vec::new(),
        limit: Duration::from_secs(SECONDS),
        filter: String::new(),
        weakens: false,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--seconds" => {
                let seconds =
                    value()?.parse().map_err(|_| "`--seconds` takes a number".to_owned())?;
                wish.limit = Duration::from_secs(seconds);
            }
            "--way" => wish.ways.push(find(WAYS, value()?, |way| way.name)?.to_owned()),
            "--weaken" => wish.weakens = true,
            "--filter" => wish.filter = value()?.clone(),
            name => wish.studies.push(find(STUDIES, name, |study| study.name)?),
        }
    }
    if wish.studies.is_empty() {
        wish.studies.extend(STUDIES);
    }
    if wish.ways.is_empty() {
        wish.ways.extend(WAYS);
    }
    Ok(wish)
}

fn find<'t, T>(table: &'t [T], name: &str, named: fn(&T) -> &'static str) -> Result<&'t T, String> {
    table.iter().find(|entry| named(entry) == name).ok_or_else(|| {
        let all: Vec<&str> = table.iter().map(named).collect();
        format!("there is no `{name}`; there are: {}", all.join(", "))
    })
}

/// Builds the study on the sides that are needed, and runs its tests in each way.
fn measure(
    workspace: &Workspace,
    study: &Study,
    wish: &Wish,
    folder: &Path,
) -> Result<Table, String> {
    let mut programs: Vec<(Side, PathBuf)> = Vec::new();
    for way in &wish.ways {
        if !programs.iter().any(|(side, _)| *side == way.side) {
            let (program, ()) = study.build(workspace, folder, way.side, |_| Ok(()))?;
            programs.push((way.side, program));
        }
    }
    let (_, first) = programs.first().ok_or("no way was chosen")?;
    let tests = study.tests(first, &wish.filter)?;
    let names = wish.ways.iter().map(|way| way.name).collect();
    let mut table = Table::new(names);
    for test in tests {
        let mut cells = Vec::new();
        for way in &wish.ways {
            let program = programs.iter().find(|(side, _)| *side == way.side);
            let (_, program) = program.ok_or("the side was not built")?;
            let cell = Cell::measure(program, &test, way.variables, wish.limit, folder)?;
            println!("{} {} {test}: {cell}", study.name, way.name);
            cells.push(cell);
        }
        table.add(test, cells);
    }
    Ok(table)
}

/// Runs the tests of a study with each ordering weakened in turn, in each way: which are noticed.
fn weaken(
    workspace: &Workspace,
    study: &Study,
    wish: &Wish,
    folder: &Path,
) -> Result<String, String> {
    let folder = folder.join("weakened");
    let mut columns = Vec::new();
    let mut places = Vec::new();
    for way in &wish.ways {
        let (program, found) = study.build(workspace, &folder, way.side, weaken::change)?;
        let tests = study.tests(&program, &wish.filter)?;
        places = found;
        let mut column = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let killer = killer(&program, &tests, way, index, wish.limit, &folder)?;
            println!("{} {} {} {}: {killer}", study.name, way.name, place.place, place.order);
            column.push(killer);
        }
        columns.push(column);
    }
    let names: Vec<&str> = wish.ways.iter().map(|way| way.name).collect();
    let mut text = format!(
        "| place | ordering | {} |\n|---|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for (index, place) in places.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|column| column[index].as_str()).collect();
        text.push_str(&format!("| {} | {} | {} |\n", place.place, place.order, cells.join(" | ")));
    }
    let noticed =
        |column: &Vec<String>| column.iter().filter(|cell| !cell.is_empty()).count().to_string();
    let totals: Vec<String> = columns.iter().map(noticed).collect();
    text.push_str(&format!("| noticed, of {} | | {} |\n", places.len(), totals.join(" | ")));
    Ok(text)
}

/// The first test that fails when the ordering with this number is weak; empty if none does.
fn killer(
    program: &Path,
    tests: &[String],
    way: &Way,
    index: usize,
    limit: Duration,
    folder: &Path,
) -> Result<String, String> {
    let index = index.to_string();
    let mut variables = way.variables.to_vec();
    variables.push((weaken::VARIABLE, &index));
    for test in tests {
        if Cell::measure(program, test, &variables, limit, folder)?.failed() {
            return Ok(test.clone());
        }
    }
    Ok(String::new())
}
