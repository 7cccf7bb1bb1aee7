//! Programs as source: one file a language, and what they share.
//!
//! [`emit`] writes one program as a file of its own, made to be read. [`batch`] writes many
//! programs into one compilation unit with a driver that runs each of them several times and reports
//! in the lines of `strait-runtimes` ([`strait_runtimes::Report`]), the number of a report being the
//! position of the program.

mod channel_crate;
pub(crate) mod crystal;
mod dialect;
mod expression;
mod facts;
pub(crate) mod flix;
pub(crate) mod go;
pub(crate) mod kotlin;
pub(crate) mod rust;
mod scope;
mod standalone;
mod text;

use std::borrow::Cow;

use strait_calculus::ast::{Block, StmtKind};
use strait_calculus::{FuncId, Program};

use self::scope::identifier;
use crate::error::Error;
use crate::language::{Batch, Era, Language};

pub use standalone::{Messages, Processes, Standalone, standalone, writable};

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
    pub(crate) fn main(self) -> String {
        match self {
            Naming::Alone => "program".to_owned(),
            Naming::Numbered(number) => format!("program{number}"),
        }
    }

    /// What a function is called in a language with these reserved words.
    fn function(self, program: &Program, id: FuncId, reserved: &[&str]) -> String {
        match self {
            _ if id == program.main => self.main(),
            Naming::Alone => identifier(&program.functions[id].name, reserved),
            Naming::Numbered(_) => format!("{}_{}", self.main(), program.functions[id].name),
        }
    }

    /// A call of a function with these arguments.
    fn call(
        self,
        program: &Program,
        id: FuncId,
        arguments: &[String],
        reserved: &[&str],
    ) -> String {
        format!("{}({})", self.function(program, id, reserved), arguments.join(", "))
    }
}

/// A program as a file that a person might have written. Run, it prints what its processes saw as
/// one line, the text form of [`strait_runtimes::Record`]; a Flix program prints that it is done.
/// Kotlin is written for the newest API; [`emit_kotlin`] knows the others.
pub fn emit(language: Language, program: &Program) -> Result<String, Error> {
    let program = &*checked(program)?;
    let functions = written(language, Era::Modern, program, Naming::Alone)?;
    Ok((language.description().alone)(program, &functions, Era::Modern))
}

/// A program in Kotlin for one API of kotlinx.coroutines.
pub fn emit_kotlin(era: Era, program: &Program) -> Result<String, Error> {
    let program = &*checked(program)?;
    let functions = written(Language::Kotlin, era, program, Naming::Alone)?;
    Ok((Language::Kotlin.description().alone)(program, &functions, era))
}

/// The functions of a program alone, without what records and prints what they see.
pub fn functions(language: Language, program: &Program) -> Result<String, Error> {
    written(language, Era::Modern, &*checked(program)?, Naming::Alone)
}

/// Many programs as one compilation unit; the era matters for Kotlin alone.
pub fn batch(language: Language, era: Era, programs: &[&Program]) -> Result<Files, Error> {
    let mut all = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let program = checked(program)?;
        let text = written(language, era, &program, Naming::Numbered(number))?;
        all.push((program, text));
    }
    let files = (language.description().together)(&Batch { programs: &all, era });
    Ok(files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect())
}

fn written(
    language: Language,
    era: Era,
    program: &Program,
    naming: Naming,
) -> Result<String, Error> {
    (language.description().functions)(program, naming, era)
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
