//! Broken siblings: one change to a program that terminates. What the change does to it is not
//! guessed; the explorer says it, so that a mutant with its label is ground truth for others.
//!
//! Mutant `number` of program `index` of `seed` is the same everywhere, like the program.

use std::fmt;

use strait_calculus::ast::{Block, Capacity, CaseOp, Expr, Program, Stmt, StmtKind};
use strait_calculus::{FuncId, VarId, Verdict, check, print_statement};
use strait_explore::Coverage;

use crate::prover::Explorer;
use crate::stream::{Purpose, Stream};
use crate::walk::{self, as_variable};

/// What was done to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// An operation, a whole select or one of its cases is gone.
    Drop,
    /// An operation stands there twice.
    Double,
    /// Two neighbours have changed places.
    Swap,
    /// An operation works on another channel.
    Redirect,
    /// A channel holds more or fewer messages.
    Capacity,
    /// A `close` is gone.
    ForgetClose,
}

impl Mutation {
    /// All kinds.
    pub const ALL: [Mutation; 6] = [
        Mutation::Drop,
        Mutation::Double,
        Mutation::Swap,
        Mutation::Redirect,
        Mutation::Capacity,
        Mutation::ForgetClose,
    ];

    /// The word for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Mutation::Drop => "drop",
            Mutation::Double => "double",
            Mutation::Swap => "swap",
            Mutation::Redirect => "redirect",
            Mutation::Capacity => "capacity",
            Mutation::ForgetClose => "forget-close",
        }
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A program with one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The program after the change.
    pub program: Program,
    /// The kind of change.
    pub mutation: Mutation,
    /// The statement that was changed, as it was before.
    pub statement: String,
}

/// What the explorer says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The worst that can happen.
    pub verdict: Verdict,
    /// How much of the program the verdict speaks for; a verdict other than `terminates` is a fact
    /// in any case.
    pub coverage: Coverage,
}

impl Mutant {
    /// The explorer's word on it.
    pub fn label(&self, explorer: &Explorer) -> Label {
        let (verdict, coverage) = explorer.verdict(&self.program);
        Label { verdict, coverage }
    }
}

/// How many changes are drawn before a program is taken for one that cannot be changed.
const TRIES: u32 = 16;

/// Mutant `number` of a program that was made from `seed` and `index`. `None` when nothing in the
/// program can be changed.
pub fn mutant(program: &Program, seed: u64, index: u64, number: u32) -> Option<Mutant> {
    let mut stream = Stream::new(seed, index, Purpose::Mutant(number));
    (0..TRIES).find_map(|_| {
        let mutation = Mutation::ALL[stream.position(Mutation::ALL.len())];
        let mut changed = program.clone();
        let statement = match mutation {
            Mutation::Drop => drop_operation(&mut changed, &mut stream),
            Mutation::Double => double(&mut changed, &mut stream),
            Mutation::Swap => swap(&mut changed, &mut stream),
            Mutation::Redirect => redirect(&mut changed, &mut stream),
            Mutation::Capacity => change_capacity(&mut changed, &mut stream),
            Mutation::ForgetClose => forget_close(&mut changed, &mut stream),
        }?;
        walk::renumber_variables(&mut changed);
        // A channel may have been redirected to one that is not in sight there.
        (changed != *program && check(&mut changed).is_ok()).then_some(Mutant {
            program: changed,
            mutation,
            statement,
        })
    })
}

/// A random statement that fits: its block, its position there and its text.
fn place<'p>(
    program: &'p mut Program,
    stream: &mut Stream,
    fits: impl Fn(&[Stmt], usize) -> bool,
) -> Option<(&'p mut Block, usize, String)> {
    let everywhere = program.functions.indices().collect();
    place_in(program, everywhere, stream, fits)
}

/// The same within some functions.
fn place_in<'p>(
    program: &'p mut Program,
    functions: Vec<FuncId>,
    stream: &mut Stream,
    fits: impl Fn(&[Stmt], usize) -> bool,
) -> Option<(&'p mut Block, usize, String)> {
    let fitting = |block: &Block| -> Vec<usize> {
        let positions = 0..block.statements.len();
        positions.filter(|position| fits(&block.statements, *position)).collect()
    };
    let count = |block: &Block, _: u32| fitting(block).len();
    let places = |program: &Program, function: FuncId| {
        walk::count_places(&program.functions[function].body, 0, &count)
    };
    let total: usize = functions.iter().map(|function| places(program, *function)).sum();
    if total == 0 {
        return None;
    }
    let mut wanted = stream.position(total);
    for function in functions {
        let here = places(program, function);
        if wanted >= here {
            wanted -= here;
            continue;
        }
        let before = program.clone();
        let body = &mut program.functions[function].body;
        let (block, nth) = walk::nth_place(body, 0, &mut wanted, &count)?;
        let position = fitting(block)[nth];
        let statement = &block.statements[position];
        let text = print_statement(&before, &before.functions[function], statement);
        return Some((block, position, text));
    }
    None
}

fn is_operation(statement: &Stmt) -> bool {
    matches!(statement.kind, StmtKind::Put { .. } | StmtKind::Get { .. })
}

fn is_select(statement: &Stmt) -> bool {
    matches!(statement.kind, StmtKind::Select { .. })
}

fn drop_operation(program: &mut Program, stream: &mut Stream) -> Option<String> {
    let fits = |statements: &[Stmt], position: usize| {
        is_operation(&statements[position]) || is_select(&statements[position])
    };
    let (block, position, text) = place(program, stream, fits)?;
    if let StmtKind::Select { cases, .. } = &mut block.statements[position].kind
        && cases.len() > 1
        && stream.flip()
    {
        cases.remove(stream.position(cases.len()));
    } else {
        block.statements.remove(position);
    }
    Some(text)
}

fn double(program: &mut Program, stream: &mut Stream) -> Option<String> {
    let fits = |statements: &[Stmt], position: usize| is_operation(&statements[position]);
    let (block, position, text) = place(program, stream, fits)?;
    let mut copy = block.statements[position].clone();
    // The second get of a pair binds nothing: a variable comes into being once.
    if let StmtKind::Get { value, ok, .. } = &mut copy.kind {
        (*value, *ok) = (None, None);
    }
    block.statements.insert(position + 1, copy);
    Some(text)
}

fn swap(program: &mut Program, stream: &mut Stream) -> Option<String> {
    let fits = |statements: &[Stmt], position: usize| match statements.get(position..position + 2) {
        Some([first, second]) => {
            first != second
                && introduces_nothing(first)
                && introduces_nothing(second)
                && (walk::own_operations(first) > 0 || walk::own_operations(second) > 0)
        }
        _ => false,
    };
    let (block, position, text) = place(program, stream, fits)?;
    block.statements.swap(position, position + 1);
    Some(text)
}

/// May the statement change places without taking a variable along?
fn introduces_nothing(statement: &Stmt) -> bool {
    !matches!(
        statement.kind,
        StmtKind::NewChannel { .. }
            | StmtKind::NewLock { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Get { value: Some(_), .. }
            | StmtKind::Get { ok: Some(_), .. }
            | StmtKind::Call { result: Some(_), .. }
    )
}

fn redirect(program: &mut Program, stream: &mut Stream) -> Option<String> {
    let entry = program.main;
    let variables = program.functions[entry].variables.clone();
    let fits = |statements: &[Stmt], position: usize| {
        is_operation(&statements[position]) || is_select(&statements[position])
    };
    // A function has but one channel, its parameter.
    let (block, position, text) = place_in(program, vec![entry], stream, fits)?;
    let channel = channel_to_redirect(&mut block.statements[position], stream)?;
    let old = as_variable(channel)?;
    let ty = &variables[old].ty;
    let others: Vec<VarId> = variables
        .iter_enumerated()
        .filter(|(var, other)| *var != old && other.ty == *ty)
        .map(|(var, _)| var)
        .collect();
    if others.is_empty() {
        return None;
    }
    *channel = others[stream.position(others.len())].into();
    Some(text)
}

fn channel_to_redirect<'s>(statement: &'s mut Stmt, stream: &mut Stream) -> Option<&'s mut Expr> {
    match &mut statement.kind {
        StmtKind::Put { channel, .. } | StmtKind::Get { channel, .. } => Some(channel),
        StmtKind::Select { cases, .. } if !cases.is_empty() => {
            let chosen = stream.position(cases.len());
            match &mut cases[chosen].op {
                CaseOp::Put { channel, .. } | CaseOp::Get { channel, .. } => Some(channel),
                CaseOp::Timeout => None,
            }
        }
        _ => None,
    }
}

fn change_capacity(program: &mut Program, stream: &mut Stream) -> Option<String> {
    let fits = |statements: &[Stmt], position: usize| {
        matches!(statements[position].kind, StmtKind::NewChannel { .. })
    };
    let (block, position, text) = place(program, stream, fits)?;
    let StmtKind::NewChannel { capacity, .. } = &mut block.statements[position].kind else {
        return None;
    };
    let all =
        [Capacity::Rendezvous, Capacity::Bounded(1), Capacity::Bounded(2), Capacity::Unbounded];
    let others: Vec<Capacity> = all.into_iter().filter(|other| other != capacity).collect();
    *capacity = others[stream.position(others.len())];
    Some(text)
}

fn forget_close(program: &mut Program, stream: &mut Stream) -> Option<String> {
    let fits = |statements: &[Stmt], position: usize| {
        matches!(statements[position].kind, StmtKind::Close { .. })
    };
    let (block, position, text) = place(program, stream, fits)?;
    block.statements.remove(position);
    Some(text)
}
