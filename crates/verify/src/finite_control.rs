//! Finite control, as Lange et al. (ICSE 2018, section 4) have it: no process and no channel is created under
//! recursion. Comes in: a program. Goes out: the places that break it. Such a program may have
//! states without end; one without such places has finitely many, up to its integers.

use std::collections::BTreeSet;

use strait_calculus::ast::{Block, Program, Stmt, StmtKind};
use strait_calculus::{FuncId, Span};

/// A creation that may happen again and again.
#[derive(Clone, Debug)]
pub struct UnboundedCreation {
    /// Where.
    pub span: Span,
    /// What: `a process is started in a loop`.
    pub what: String,
}

/// The creations under recursion or in a loop.
pub fn unbounded_creations(program: &Program) -> Vec<UnboundedCreation> {
    let recursive = recursive(program);
    let repeated = repeated(program, &recursive);
    let mut found = Vec::new();
    for (id, function) in program.functions.iter_enumerated() {
        let again = if recursive.contains(&id) {
            Some("under recursion")
        } else if repeated.contains(&id) {
            Some("in a function that is called again and again")
        } else {
            None
        };
        creations(&function.body, again, &mut found);
    }
    found
}

fn creations(block: &Block, again: Option<&'static str>, found: &mut Vec<UnboundedCreation>) {
    for statement in &block.statements {
        let what = match statement.kind {
            StmtKind::Spawn { .. } => Some("a process is started"),
            StmtKind::NewChannel { .. } => Some("a channel is made"),
            StmtKind::NewLock { .. } => Some("a lock or wait group is made"),
            _ => None,
        };
        if let (Some(what), Some(again)) = (what, again) {
            found.push(UnboundedCreation { span: statement.span, what: format!("{what} {again}") });
        }
        let within = match statement.kind {
            StmtKind::While { .. } => Some("in a loop"),
            _ => again,
        };
        each_block(statement, &mut |inner| creations(inner, within, found));
    }
}

/// The functions that may call themselves, over others or not.
fn recursive(program: &Program) -> BTreeSet<FuncId> {
    let calls: Vec<BTreeSet<FuncId>> = program
        .functions
        .iter()
        .map(|function| {
            let mut called = BTreeSet::new();
            collect_calls(&function.body, false, &mut |callee, _| {
                called.insert(callee);
            });
            called
        })
        .collect();
    let indices: Vec<FuncId> = program.functions.indices().collect();
    let reaches_itself = |start: &FuncId| {
        let mut seen = BTreeSet::new();
        let mut work: Vec<FuncId> = calls[start.0 as usize].iter().copied().collect();
        while let Some(next) = work.pop() {
            if next == *start {
                return true;
            }
            if seen.insert(next) {
                work.extend(calls[next.0 as usize].iter().copied());
            }
        }
        false
    };
    indices.into_iter().filter(reaches_itself).collect()
}

/// The functions called in loops or from recursive functions, directly or not.
fn repeated(program: &Program, recursive: &BTreeSet<FuncId>) -> BTreeSet<FuncId> {
    let mut repeated: BTreeSet<FuncId> = BTreeSet::new();
    let mut work = Vec::new();
    for (id, function) in program.functions.iter_enumerated() {
        let all = recursive.contains(&id);
        collect_calls(&function.body, false, &mut |callee, looping| {
            if (looping || all) && repeated.insert(callee) {
                work.push(callee);
            }
        });
    }
    while let Some(next) = work.pop() {
        collect_calls(&program.functions[next].body, false, &mut |callee, _| {
            if repeated.insert(callee) {
                work.push(callee);
            }
        });
    }
    repeated
}

fn collect_calls(block: &Block, looping: bool, each: &mut dyn FnMut(FuncId, bool)) {
    for statement in &block.statements {
        if let StmtKind::Call { function, .. } = statement.kind {
            each(function, looping);
        }
        let looping = looping || matches!(statement.kind, StmtKind::While { .. });
        each_block(statement, &mut |inner| collect_calls(inner, looping, each));
    }
}

/// The blocks inside a statement.
fn each_block(statement: &Stmt, each: &mut dyn FnMut(&Block)) {
    match &statement.kind {
        StmtKind::Select { cases, default } => {
            cases.iter().for_each(|case| each(&case.body));
            default.iter().for_each(each);
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => each(body),
        StmtKind::If { then, otherwise, .. } => {
            each(then);
            otherwise.iter().for_each(each);
        }
        StmtKind::Choose { branches } => branches.iter().for_each(each),
        _ => {}
    }
}
