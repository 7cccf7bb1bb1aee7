//! Smaller siblings of a program, the boldest cuts first. Whether a sibling still makes sense is for
//! others to decide: the checker, the prover, the target.

use std::collections::HashSet;

use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, ExprKind, Stmt, StmtKind};
use strait_calculus::{FuncId, Idx, Program, VarId, parse, print};

/// What a rewriting does with a statement: keeps it (`None`), or puts others in its place.
type Rewrite<'a> = dyn Fn(usize, FuncId, &Stmt) -> Option<Vec<Stmt>> + 'a;

/// All smaller siblings, each once, as checked programs.
pub fn siblings(program: &Program) -> impl Iterator<Item = Program> + use<> {
    let original = print(program);
    let mut seen = HashSet::from([original.clone()]);
    let cuts = cuts(program);
    let program = program.clone();
    cuts.into_iter().filter_map(move |cut| {
        let text = print(&without_leftovers(without_uncalled(cut.apply(&program))));
        // Reading it again drops variables that are no longer used, and checks it.
        let fresh = text.len() <= original.len() && seen.insert(text.clone());
        fresh.then(|| parse(&text).ok()).flatten()
    })
}

/// One way to cut.
#[derive(Clone, Debug)]
enum Cut {
    /// All that concerns a channel.
    Channel(FuncId, VarId),
    /// Some statements, by their numbers.
    Statements(Vec<usize>),
    /// All of a select but one case.
    OneCase(usize, usize),
    /// One case of a select.
    Case(usize, usize),
    /// A statement's inner block instead of the statement.
    Inner(usize, usize),
    /// A channel without or with less room.
    Capacity(usize, Capacity),
}

/// All cuts, the boldest first.
fn cuts(program: &Program) -> Vec<Cut> {
    // What a cut leaves behind goes with it, and so does what was there from the beginning.
    let mut cuts = vec![Cut::Statements(Vec::new())];
    for function in program.functions.indices() {
        for (var, variable) in program.functions[function].variables.iter_enumerated() {
            if matches!(variable.ty, Some(strait_calculus::ast::Type::Chan(_))) {
                cuts.push(Cut::Channel(function, var));
            }
        }
    }
    let statements = numbered(program);
    let mut sizes: Vec<(usize, usize)> =
        statements.iter().map(|(number, _, statement)| (weight(statement), *number)).collect();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    cuts.extend(sizes.iter().map(|(_, number)| Cut::Statements(vec![*number])));
    let mut rest = Vec::new();
    for (number, _, statement) in &statements {
        match &statement.kind {
            StmtKind::Select { cases, .. } => {
                cuts.extend((0..cases.len()).map(|case| Cut::OneCase(*number, case)));
                rest.extend((0..cases.len()).map(|case| Cut::Case(*number, case)));
            }
            StmtKind::If { otherwise, .. } => {
                cuts.push(Cut::Inner(*number, 0));
                cuts.extend(otherwise.as_ref().map(|_| Cut::Inner(*number, 1)));
            }
            StmtKind::While { .. } | StmtKind::Spawn { .. } => cuts.push(Cut::Inner(*number, 0)),
            StmtKind::Choose { branches } => {
                cuts.extend((0..branches.len()).map(|branch| Cut::Inner(*number, branch)));
            }
            StmtKind::NewChannel { capacity, .. } => {
                let fewer = [Capacity::Rendezvous, Capacity::Bounded(1)];
                let fewer = fewer.into_iter().filter(|fewer| fewer != capacity);
                rest.extend(fewer.map(|fewer| Cut::Capacity(*number, fewer)));
            }
            _ => {}
        }
    }
    cuts.extend(pairs(&statements));
    cuts.extend(rest);
    cuts
}

/// A put and a get of the same channel: neither can be missed alone.
fn pairs(statements: &[(usize, FuncId, &Stmt)]) -> Vec<Cut> {
    let mut pairs = Vec::new();
    for (put, function, sender) in statements {
        let StmtKind::Put { channel: one, .. } = &sender.kind else { continue };
        for (get, other_function, receiver) in statements {
            let StmtKind::Get { channel: other, .. } = &receiver.kind else { continue };
            if one == other && function == other_function {
                pairs.push(Cut::Statements(vec![*put, *get]));
            }
        }
    }
    pairs
}

/// Every statement with its number, outer ones first.
fn numbered(program: &Program) -> Vec<(usize, FuncId, &Stmt)> {
    fn walk<'a>(block: &'a Block, function: FuncId, all: &mut Vec<(usize, FuncId, &'a Stmt)>) {
        for statement in &block.statements {
            all.push((all.len(), function, statement));
            inner(statement).into_iter().for_each(|block| walk(block, function, all));
        }
    }
    let mut all = Vec::new();
    for function in program.functions.indices() {
        walk(&program.functions[function].body, function, &mut all);
    }
    all
}

/// The program without functions that main does not reach.
fn without_uncalled(mut program: Program) -> Program {
    let calls: Vec<(FuncId, FuncId)> = numbered(&program)
        .into_iter()
        .filter_map(|(_, caller, statement)| match &statement.kind {
            StmtKind::Call { function, .. } => Some((caller, *function)),
            _ => None,
        })
        .collect();
    let mut reached = vec![program.main];
    let mut next = 0;
    while let Some(&caller) = reached.get(next) {
        let callees = calls.iter().filter(|call| call.0 == caller).map(|call| call.1);
        for callee in callees {
            if !reached.contains(&callee) {
                reached.push(callee);
            }
        }
        next += 1;
    }
    // In the order they are written.
    reached.sort_unstable();
    let place = |function: FuncId| {
        let at = reached.iter().position(|known| *known == function).unwrap_or_default();
        FuncId::new(at)
    };
    program = rewrite(&program, &|_, _, statement| {
        let mut call = statement.clone();
        let StmtKind::Call { function, .. } = &mut call.kind else { return None };
        *function = place(*function);
        Some(vec![call])
    });
    let kept = reached.iter().map(|function| program.functions[*function].clone()).collect();
    Program { main: place(program.main), functions: kept }
}

/// The program without processes, choices and conditions that do nothing, and without channels that
/// no statement uses.
fn without_leftovers(mut program: Program) -> Program {
    let is_empty = |statement: &Stmt| match &statement.kind {
        StmtKind::Spawn { .. } | StmtKind::Choose { .. } | StmtKind::If { .. } => {
            inner(statement).iter().all(|block| block.statements.is_empty())
        }
        _ => false,
    };
    while numbered(&program).iter().any(|(_, _, statement)| is_empty(statement)) {
        program = rewrite(&program, &|_, _, statement| is_empty(statement).then(Vec::new));
    }
    let channels = |program: &Program| -> Vec<usize> {
        let statements = numbered(program).into_iter();
        let opened =
            statements.filter(|(_, _, one)| matches!(one.kind, StmtKind::NewChannel { .. }));
        opened.map(|(number, ..)| number).collect()
    };
    for channel in channels(&program).into_iter().rev() {
        let without = rewrite(&program, &|number, _, _| (number == channel).then(Vec::new));
        // A channel that is still used cannot be read any more.
        if parse(&print(&without)).is_ok() {
            program = without;
        }
    }
    program
}

fn weight(statement: &Stmt) -> usize {
    let inside = inner(statement).into_iter().flat_map(|block| &block.statements);
    1 + inside.map(weight).sum::<usize>()
}

fn inner(statement: &Stmt) -> Vec<&Block> {
    match &statement.kind {
        StmtKind::Select { cases, default } => {
            cases.iter().map(|case| &case.body).chain(default).collect()
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => vec![body],
        StmtKind::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).collect(),
        StmtKind::Choose { branches } => branches.iter().collect(),
        _ => Vec::new(),
    }
}

fn inner_mut(statement: &mut Stmt) -> Vec<&mut Block> {
    match &mut statement.kind {
        StmtKind::Select { cases, default } => {
            cases.iter_mut().map(|case| &mut case.body).chain(default).collect()
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => vec![body],
        StmtKind::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).collect(),
        StmtKind::Choose { branches } => branches.iter_mut().collect(),
        _ => Vec::new(),
    }
}

/// Rewrites every statement; numbers are those of [`numbered`].
fn rewrite(program: &Program, change: &Rewrite<'_>) -> Program {
    fn walk(block: &mut Block, function: FuncId, next: &mut usize, change: &Rewrite<'_>) {
        let statements = std::mem::take(&mut block.statements);
        for mut statement in statements {
            let number = *next;
            *next += 1;
            if let Some(instead) = change(number, function, &statement) {
                *next += weight(&statement) - 1;
                block.statements.extend(instead);
            } else {
                for block in inner_mut(&mut statement) {
                    walk(block, function, next, change);
                }
                block.statements.push(statement);
            }
        }
    }
    let mut program = program.clone();
    let mut next = 0;
    for function in program.functions.indices() {
        let mut body = std::mem::take(&mut program.functions[function].body);
        walk(&mut body, function, &mut next, change);
        program.functions[function].body = body;
    }
    program
}

impl Cut {
    fn apply(&self, program: &Program) -> Program {
        match self {
            Cut::Channel(function, var) => {
                let mut program = program.clone();
                prune(&mut program.functions[*function].body, *var);
                program
            }
            Cut::Statements(gone) => {
                rewrite(program, &|number, _, _| gone.contains(&number).then(Vec::new))
            }
            Cut::OneCase(at, kept) => rewrite(program, &|number, _, statement| {
                (number == *at).then(|| only_case(statement, *kept)).flatten()
            }),
            Cut::Case(at, gone) => rewrite(program, &|number, _, statement| {
                (number == *at).then(|| without_case(statement, *gone)).flatten()
            }),
            Cut::Inner(at, which) => rewrite(program, &|number, _, statement| {
                let block =
                    (number == *at).then(|| inner(statement).get(*which).copied()).flatten();
                block.map(|block| block.statements.clone())
            }),
            Cut::Capacity(at, fewer) => rewrite(program, &|number, _, statement| {
                let mut changed = statement.clone();
                match &mut changed.kind {
                    StmtKind::NewChannel { capacity, .. } if number == *at => *capacity = *fewer,
                    _ => return None,
                }
                Some(vec![changed])
            }),
        }
    }
}

fn is_var(expression: &Expr, var: VarId) -> bool {
    matches!(expression.kind, ExprKind::Var(known) if known == var)
}

/// Is the statement itself, without its blocks, about this channel?
fn concerns(statement: &Stmt, var: VarId) -> bool {
    match &statement.kind {
        StmtKind::NewChannel { var: known, .. } => *known == var,
        StmtKind::Put { channel, value } => is_var(channel, var) || is_var(value, var),
        StmtKind::Get { channel, value, .. } => is_var(channel, var) || *value == Some(var),
        StmtKind::Close { channel } | StmtKind::Abandon { channel } => is_var(channel, var),
        StmtKind::Call { arguments, .. } => arguments.iter().any(|one| is_var(one, var)),
        _ => false,
    }
}

/// Leaves out all that concerns a channel, select cases included.
fn prune(block: &mut Block, var: VarId) {
    let is_about = |case: &Case| match &case.op {
        CaseOp::Put { channel, value } => is_var(channel, var) || is_var(value, var),
        CaseOp::Get { channel, .. } => is_var(channel, var),
        CaseOp::Timeout => false,
    };
    let statements = std::mem::take(&mut block.statements);
    for mut statement in statements.into_iter().filter(|statement| !concerns(statement, var)) {
        if let StmtKind::Select { cases, default } = &mut statement.kind {
            cases.retain(|case| !is_about(case));
            if cases.is_empty() {
                let mut instead = default.take().unwrap_or_default();
                prune(&mut instead, var);
                block.statements.extend(instead.statements);
                continue;
            }
        }
        inner_mut(&mut statement).into_iter().for_each(|inner| prune(inner, var));
        block.statements.push(statement);
    }
}

/// One case as plain statements.
fn only_case(statement: &Stmt, kept: usize) -> Option<Vec<Stmt>> {
    let StmtKind::Select { cases, .. } = &statement.kind else { return None };
    let case = cases.get(kept)?;
    let kind = match &case.op {
        CaseOp::Put { channel, value } => {
            StmtKind::Put { channel: channel.clone(), value: value.clone() }
        }
        CaseOp::Get { channel, value, ok } => {
            StmtKind::Get { channel: channel.clone(), value: *value, ok: *ok }
        }
        CaseOp::Timeout => return Some(case.body.statements.clone()),
    };
    let first = Stmt { kind, span: statement.span };
    Some([first].into_iter().chain(case.body.statements.clone()).collect())
}

fn without_case(statement: &Stmt, gone: usize) -> Option<Vec<Stmt>> {
    let mut smaller = statement.clone();
    match &mut smaller.kind {
        StmtKind::Select { cases, .. } if cases.len() > 1 => drop(cases.remove(gone)),
        _ => return None,
    }
    Some(vec![smaller])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_are_smaller_and_sound() {
        let source = "main { chan c: int; chan d: int[2]; spawn { put c 1; put d 2 }; \
            select { x = get c { y = get d } z = get d { w = get c } } }";
        let program = parse(source).expect("a program");
        let texts: Vec<String> = siblings(&program).map(|sibling| print(&sibling)).collect();
        let size = print(&program).len();
        assert!(texts.len() > 8, "{texts:#?}");
        assert!(texts.iter().all(|text| text.len() <= size));
        // Without d altogether, and with the first case only.
        assert!(texts.iter().any(|text| !text.contains(" d")), "{texts:#?}");
        assert!(texts.iter().any(|text| !text.contains("select") && text.contains("get d")));
        let distinct: HashSet<&String> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len());
    }

    #[test]
    fn nothing_empty_and_nothing_unused_is_left() {
        let source = "main { chan c: int; chan d: int[2]; spawn { put c 1 }; spawn { put d 2 }; \
            choose { get d } or { get d }; get c }";
        let program = parse(source).expect("a program");
        let texts: Vec<String> = siblings(&program).map(|sibling| print(&sibling)).collect();
        let is_tidy = |text: &String| !text.contains("spawn {}");
        assert!(texts.iter().all(is_tidy), "{texts:#?}");
        let small = "main {\n    chan c: int\n    spawn {\n        put c 1\n    }\n    get c\n}\n";
        assert!(texts.iter().any(|text| text == small), "{texts:#?}");
        let source = "main { chan c: int; chan d: int; spawn { }; spawn { put c 1 }; get c }";
        let program = parse(source).expect("a program");
        let first = siblings(&program).next().map(|sibling| print(&sibling));
        assert_eq!(first.as_deref(), Some(small));
    }

    #[test]
    fn functions_that_nobody_calls_any_more_go() {
        let source = "fn a(c: chan int) { put c 1 } fn b(c: chan int) { d(c) } \
            main { chan c: int; spawn { a(c) }; spawn { b(c) }; get c; get c } \
            fn d(c: chan int) { put c 2 }";
        let program = parse(source).expect("a program");
        let texts: Vec<String> = siblings(&program).map(|sibling| print(&sibling)).collect();
        let names = |text: &String| ["fn a(", "fn b(", "fn d("].map(|name| text.contains(name));
        assert!(texts.iter().any(|text| names(text) == [true, false, false]), "{texts:#?}");
        assert!(texts.iter().any(|text| names(text) == [false, true, true]), "{texts:#?}");
        assert!(texts.iter().all(|text| parse(text).is_ok()));
    }
}
