//! Go: its row of the table of languages, what stands around its functions, and its interpreter.

use strait_calculus::Program;
use strait_generate::Capabilities;

use super::{Batch, Description, Parts, with_ways_out};
use crate::source::{Files, go};

/// Go.
pub(super) const GO: Description = Description {
    name: "go",
    title: "Go",
    about: "Go",
    extension: "go",
    comment: "//",
    capabilities: |common| Capabilities {
        close: true,
        put_and_get_in_select: true,
        ..with_ways_out(common)
    },
    crashes: &["goroutine 1 [running]", "unexpected fault address"],
    functions: |program, naming, _| go::functions(program, naming),
    alone: |program, functions, _| alone(program, functions),
    together,
};

const MODULE: &str = "module strait\n\ngo 1.13\n";
const RECORD: &str = include_str!("../../embedded/go/record.go");
const WATCH: &str = include_str!("../../embedded/go/watch.go");
const ONCE: &str = include_str!("../../embedded/go/once.go");
const BATCH: &str = include_str!("../../embedded/go/batch.go");

/// The interpreter: a small program that reads plans and reports what processes saw.
pub(crate) fn interpreter() -> Files {
    super::files(&[
        ("go.mod", MODULE),
        ("record.go", RECORD),
        ("watch.go", WATCH),
        ("plan.go", include_str!("../../embedded/go/plan.go")),
        ("interpreter.go", include_str!("../../embedded/go/interpreter.go")),
    ])
}

fn alone(program: &Program, functions: &str) -> String {
    let (once_imports, once) = split(ONCE);
    let (record_imports, record) = split(RECORD);
    let packages = [go::packages(program), once_imports, record_imports].concat();
    format!("package main\n\n{}{functions}\n{once}\n{record}", imports(packages))
}

fn together(batch: &Batch<'_>) -> Parts {
    let packages = batch.programs.iter().flat_map(|(program, _)| go::packages(program)).collect();
    let list = format!("var programs = []func(*process){{\n{}}}\n", batch.listed("\t", ","));
    let own = format!("package main\n\n{}{list}\n{}", imports(packages), batch.text());
    vec![
        ("go.mod", MODULE.to_owned()),
        ("record.go", RECORD.to_owned()),
        ("watch.go", WATCH.to_owned()),
        ("batch.go", BATCH.to_owned()),
        ("programs.go", own),
    ]
}

/// Splits a Go file into the packages it imports and what follows.
fn split(file: &'static str) -> (Vec<&'static str>, &'static str) {
    let body = |rest: &'static str| rest.trim_start();
    if let Some((_, rest)) = file.split_once("import (\n")
        && let Some((imports, rest)) = rest.split_once("\n)\n")
    {
        return (imports.lines().map(|line| line.trim().trim_matches('"')).collect(), body(rest));
    }
    match file.split_once("import \"").and_then(|(_, rest)| rest.split_once("\"\n")) {
        Some((package, rest)) => (vec![package], body(rest)),
        None => (vec![], file),
    }
}

fn imports(mut packages: Vec<&str>) -> String {
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() {
        return String::new();
    }
    let lines: String = packages.iter().map(|name| format!("\t\"{name}\"\n")).collect();
    format!("import (\n{lines})\n\n")
}
