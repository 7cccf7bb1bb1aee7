//! Programs as source: one file a language, and what they share.
//!
//! [`emit`] writes one program as a file of its own, made to be read. [`batch`] writes many
//! programs into one compilation unit with a driver that runs each of them several times and reports
//! in the lines of `strait-runtimes` ([`strait_runtimes::Report`]), the number of a report being the
//! position of the program.

mod expression;
mod facts;
mod go;
mod scope;
mod text;

use std::borrow::Cow;

use strait_calculus::ast::{Block, StmtKind};
use strait_calculus::{FuncId, Program};

use crate::error::Error;
use crate::language::{Era, Language};

/// Files of one compilation unit: path and content.
pub type Files = Vec<(String, String)>;

/// What the function is called that is the program's main.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// The only program of its file.
    Alone,
    /// One of many.
    Numbered(usize),
}

impl Naming {
    fn main(self) -> String {
        match self {
            Naming::Alone => "program".to_owned(),
            Naming::Numbered(number) => format!("program{number}"),
        }
    }
}

/// A program as a file that a person might have written. Run, it prints what its processes saw as
/// one line, the text form of [`strait_runtimes::Record`].
pub fn emit(language: Language, program: &Program) -> Result<String, Error> {
    let program = &*checked(program)?;
    match language {
        Language::Go => {
            let functions = go::functions(program, Naming::Alone)?;
            Ok(single_go(&functions, &go::packages(program)))
        }
        other => Err(Error::Beyond { language: other, what: "writer yet" }),
    }
}

/// The functions of a program alone, without what records and prints what they see.
pub fn functions(language: Language, program: &Program) -> Result<String, Error> {
    let program = &*checked(program)?;
    match language {
        Language::Go => go::functions(program, Naming::Alone),
        other => Err(Error::Beyond { language: other, what: "writer yet" }),
    }
}

/// Many programs as one compilation unit.
pub fn batch(language: Language, programs: &[&Program]) -> Result<Files, Error> {
    match language {
        Language::Go => batch_go(programs),
        other => Err(Error::Beyond { language: other, what: "writer yet" }),
    }
}

/// The program with all its types.
fn checked(program: &Program) -> Result<Cow<'_, Program>, Error> {
    let is_typed = program
        .functions
        .iter()
        .all(|function| function.variables.iter().all(|variable| variable.ty.is_some()));
    if is_typed {
        return Ok(Cow::Borrowed(program));
    }
    let mut program = program.clone();
    match strait_calculus::check(&mut program) {
        Ok(()) => Ok(Cow::Owned(program)),
        Err(diagnostics) => Err(Error::Unchecked { why: diagnostics.to_string() }),
    }
}

/// All functions, the entry before the others.
fn main_first(program: &Program) -> Vec<FuncId> {
    let others = program.functions.indices().filter(|id| *id != program.main);
    [program.main].into_iter().chain(others).collect()
}

/// Is there a `break` of this loop within a select or choice?
fn leaves_loop_from_branch(body: &Block) -> bool {
    fn within(block: &Block, is_branch: bool) -> bool {
        block.statements.iter().any(|statement| match &statement.kind {
            StmtKind::Break => is_branch,
            StmtKind::If { then, otherwise, .. } => {
                within(then, is_branch)
                    || otherwise.as_ref().is_some_and(|block| within(block, is_branch))
            }
            StmtKind::Choose { branches } => branches.iter().any(|branch| within(branch, true)),
            StmtKind::Select { cases, default } => {
                cases.iter().any(|case| within(&case.body, true))
                    || default.as_ref().is_some_and(|block| within(block, true))
            }
            _ => false,
        })
    }
    within(body, false)
}

/// Splits a Go file into its imports and what follows them.
fn split_go(file: &str) -> (Vec<&str>, &str) {
    let single = file.split_once("import \"").filter(|(before, _)| !before.contains("import ("));
    if let Some((package, body)) = single.and_then(|(_, rest)| rest.split_once("\"\n")) {
        return (vec![package], body.trim_start());
    }
    let Some((imports, body)) =
        file.split_once("import (").and_then(|(_, rest)| rest.split_once("\n)\n"))
    else {
        return (vec![], file);
    };
    (imports.lines().map(|line| line.trim().trim_matches('"')).collect(), body.trim_start())
}

fn go_imports(packages: &[&str]) -> String {
    let mut packages: Vec<&str> =
        packages.iter().copied().filter(|name| !name.is_empty()).collect();
    packages.sort_unstable();
    packages.dedup();
    match packages.as_slice() {
        [] => String::new(),
        packages => {
            let lines: Vec<String> =
                packages.iter().map(|name| format!("\t\"{name}\"\n")).collect();
            format!("import (\n{})\n\n", lines.concat())
        }
    }
}

const GO_MOD: &str = "module strait\n\ngo 1.13\n";
const GO_RECORD: &str = include_str!("../../embedded/go/record.go");
const GO_ONCE: &str = include_str!("../../embedded/go/once.go");
const GO_WATCH: &str = include_str!("../../embedded/go/watch.go");
const GO_BATCH: &str = include_str!("../../embedded/go/batch.go");

const KOTLIN_RECORD: &str = include_str!("../../embedded/kotlin/Record.kt");
const KOTLIN_WATCH: &str = include_str!("../../embedded/kotlin/Watch.kt");

/// The sources of the interpreter written in Kotlin.
pub(crate) fn kotlin_interpreter(era: Era) -> Files {
    let channels = match era {
        Era::Experimental => include_str!("../../embedded/kotlin/eras/Experimental.kt"),
        Era::Classic => include_str!("../../embedded/kotlin/eras/Classic.kt"),
        Era::Modern => include_str!("../../embedded/kotlin/eras/Modern.kt"),
        Era::CoreAsync => include_str!("../../embedded/kotlin/eras/CoreAsync.kt"),
    };
    let files = [
        ("Record.kt", KOTLIN_RECORD),
        ("Watch.kt", KOTLIN_WATCH),
        ("Plan.kt", include_str!("../../embedded/kotlin/Plan.kt")),
        ("Interpreter.kt", include_str!("../../embedded/kotlin/Interpreter.kt")),
        ("Channels.kt", channels),
    ];
    files.map(|(name, content)| (name.to_owned(), content.to_owned())).to_vec()
}

/// The sources of the interpreter written in Go.
pub(crate) fn go_interpreter() -> Files {
    let files = [
        ("go.mod", GO_MOD),
        ("record.go", GO_RECORD),
        ("watch.go", GO_WATCH),
        ("plan.go", include_str!("../../embedded/go/plan.go")),
        ("interpreter.go", include_str!("../../embedded/go/interpreter.go")),
    ];
    files.map(|(name, content)| (name.to_owned(), content.to_owned())).to_vec()
}

fn single_go(functions: &str, packages: &[&str]) -> String {
    let (once_imports, once) = split_go(GO_ONCE);
    let (record_imports, record) = split_go(GO_RECORD);
    let packages = [packages, &once_imports, &record_imports].concat();
    format!("package main\n\n{}{functions}\n{once}\n{record}", go_imports(&packages))
}

fn batch_go(programs: &[&Program]) -> Result<Files, Error> {
    let mut packages = Vec::new();
    let mut texts = Vec::new();
    let mut names = String::new();
    for (number, program) in programs.iter().enumerate() {
        let program = &*checked(program)?;
        let naming = Naming::Numbered(number);
        packages.extend(go::packages(program));
        texts.push(go::functions(program, naming)?);
        names.push_str(&format!("\t{},\n", naming.main()));
    }
    let list = format!("var programs = []func(*process){{\n{names}}}\n");
    let own = format!("package main\n\n{}{list}\n{}", go_imports(&packages), texts.join("\n"));
    Ok(vec![
        ("go.mod".to_owned(), GO_MOD.to_owned()),
        ("record.go".to_owned(), GO_RECORD.to_owned()),
        ("watch.go".to_owned(), GO_WATCH.to_owned()),
        ("batch.go".to_owned(), GO_BATCH.to_owned()),
        ("programs.go".to_owned(), own),
    ])
}
