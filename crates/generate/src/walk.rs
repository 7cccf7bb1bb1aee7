//! Places in a program: every rule and mutant that changes a program first counts the places that
//! fit, draws one, and then goes there.

use smallvec::SmallVec;
use strait_calculus::ast::{Block, CaseOp, Expr, ExprKind, Program, Stmt, StmtKind};
use strait_calculus::{Idx, VarId};

/// The blocks inside a statement, in the order they are written.
pub fn blocks_of(statement: &Stmt) -> SmallVec<[&Block; 4]> {
    match &statement.kind {
        StmtKind::Select { cases, default } => {
            cases.iter().map(|case| &case.body).chain(default).collect()
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => SmallVec::from_iter([body]),
        StmtKind::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).collect(),
        StmtKind::Choose { branches } => branches.iter().collect(),
        _ => SmallVec::new(),
    }
}

/// The blocks inside a statement, to be changed.
pub fn blocks_of_mut(statement: &mut Stmt) -> SmallVec<[&mut Block; 4]> {
    match &mut statement.kind {
        StmtKind::Select { cases, default } => {
            cases.iter_mut().map(|case| &mut case.body).chain(default).collect()
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => SmallVec::from_iter([body]),
        StmtKind::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).collect(),
        StmtKind::Choose { branches } => branches.iter_mut().collect(),
        _ => SmallVec::new(),
    }
}

/// Calls `visit` on every statement inside a block, outer ones first.
pub fn for_each_statement<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Stmt)) {
    for statement in &block.statements {
        visit(statement);
        for inner in blocks_of(statement) {
            for_each_statement(inner, visit);
        }
    }
}

/// Calls `visit` on every statement inside a block, outer ones first.
pub fn for_each_statement_mut(block: &mut Block, visit: &mut impl FnMut(&mut Stmt)) {
    for statement in &mut block.statements {
        visit(statement);
        for inner in blocks_of_mut(statement) {
            for_each_statement_mut(inner, visit);
        }
    }
}

/// Sums `count` over a block and all blocks inside it, with the depth of each.
pub fn count_places(block: &Block, depth: u32, count: &impl Fn(&Block, u32) -> usize) -> usize {
    let mut places = count(block, depth);
    for statement in &block.statements {
        for inner in blocks_of(statement) {
            places += count_places(inner, depth + 1, count);
        }
    }
    places
}

/// The block that holds the place with number `wanted`, and which of its places that is.
pub fn nth_place<'a>(
    block: &'a mut Block,
    depth: u32,
    wanted: &mut usize,
    count: &impl Fn(&Block, u32) -> usize,
) -> Option<(&'a mut Block, usize)> {
    let here = count(block, depth);
    if *wanted < here {
        return Some((block, *wanted));
    }
    *wanted -= here;
    block.statements.iter_mut().find_map(|statement| {
        blocks_of_mut(statement)
            .into_iter()
            .find_map(|inner| nth_place(inner, depth + 1, wanted, count))
    })
}

/// The channel that a statement puts on, gets from, closes or abandons.
pub fn channel_of(statement: &StmtKind) -> Option<&Expr> {
    match statement {
        StmtKind::Put { channel, .. }
        | StmtKind::Get { channel, .. }
        | StmtKind::Close { channel }
        | StmtKind::Abandon { channel } => Some(channel),
        _ => None,
    }
}

/// How many channel operations a statement is itself, without the blocks inside it.
pub fn own_operations(statement: &Stmt) -> u32 {
    match &statement.kind {
        StmtKind::Select { cases, .. } => {
            cases.iter().filter(|case| !matches!(case.op, CaseOp::Timeout)).count() as u32
        }
        kind => u32::from(channel_of(kind).is_some()),
    }
}

/// How many channel operations are written in some statements: puts, gets, closes and abandons,
/// those of select cases included.
pub fn operations_in(statements: &[Stmt]) -> u32 {
    statements
        .iter()
        .map(|statement| {
            let inside: u32 = blocks_of(statement)
                .into_iter()
                .map(|inner| operations_in(&inner.statements))
                .sum();
            own_operations(statement) + inside
        })
        .sum()
}

/// The size of a program: its channel operations, functions included.
pub fn operations(program: &Program) -> u32 {
    program.functions.iter().map(|function| operations_in(&function.body.statements)).sum()
}

/// Calls `visit` on every expression of a statement, without the blocks inside it.
pub fn for_each_expression_mut(statement: &mut Stmt, visit: &mut impl FnMut(&mut Expr)) {
    match &mut statement.kind {
        StmtKind::Assign { value, .. } | StmtKind::Observe { value } => visit(value),
        StmtKind::Put { channel, value } => {
            visit(channel);
            visit(value);
        }
        StmtKind::Get { channel, .. }
        | StmtKind::Close { channel }
        | StmtKind::Abandon { channel } => visit(channel),
        StmtKind::Select { cases, .. } => {
            for case in cases {
                match &mut case.op {
                    CaseOp::Put { channel, value } => {
                        visit(channel);
                        visit(value);
                    }
                    CaseOp::Get { channel, .. } => visit(channel),
                    CaseOp::Timeout => {}
                }
            }
        }
        StmtKind::Call { arguments, .. } => arguments.iter_mut().for_each(visit),
        StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => visit(condition),
        StmtKind::Sync { target, .. } => visit(target),
        StmtKind::Add { group, amount } => {
            visit(group);
            visit(amount);
        }
        StmtKind::Return { value: Some(value) } => visit(value),
        _ => {}
    }
}

/// Calls `visit` on every variable that an expression reads.
pub fn for_each_variable_mut(expression: &mut Expr, visit: &mut impl FnMut(&mut VarId)) {
    match &mut expression.kind {
        ExprKind::Var(var) => visit(var),
        ExprKind::Unary(_, operand) => for_each_variable_mut(operand, visit),
        ExprKind::Binary(_, left, right) => {
            for_each_variable_mut(left, visit);
            for_each_variable_mut(right, visit);
        }
        _ => {}
    }
}

/// Replaces the uses of one variable by another, everywhere in a block.
pub fn replace_variable(block: &mut Block, old: VarId, new: VarId) {
    for_each_statement_mut(block, &mut |statement| {
        for_each_expression_mut(statement, &mut |expression| {
            for_each_variable_mut(expression, &mut |var| {
                if *var == old {
                    *var = new;
                }
            });
        });
    });
}

/// The variable of an expression that is nothing but a variable.
pub fn as_variable(expression: &Expr) -> Option<VarId> {
    match expression.kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    }
}

/// Gives the variables of every function the numbers that the parser would give: in the order the
/// text introduces them, and none that the text does not mention.
pub fn renumber_variables(program: &mut Program) {
    let functions: Vec<_> = program.functions.indices().collect();
    for id in functions {
        let function = &mut program.functions[id];
        let mut order: Vec<VarId> = Vec::with_capacity(function.variables.len());
        let mut numbers: Vec<Option<VarId>> = vec![None; function.variables.len()];
        let mut number_of = |var: &mut VarId| {
            let number = &mut numbers[var.position()];
            *var = *number.get_or_insert_with(|| {
                order.push(*var);
                VarId::new(order.len() - 1)
            });
        };
        function.params.iter_mut().for_each(&mut number_of);
        renumber_block(&mut function.body, &mut number_of);
        let variables = std::mem::take(&mut function.variables);
        let mut variables: Vec<_> = variables.iter().cloned().map(Some).collect();
        function.variables =
            order.iter().filter_map(|old| variables[old.position()].take()).collect();
    }
}

fn renumber_block(block: &mut Block, number_of: &mut impl FnMut(&mut VarId)) {
    for statement in &mut block.statements {
        for_each_expression_mut(statement, &mut |expression| {
            for_each_variable_mut(expression, number_of);
        });
        match &mut statement.kind {
            StmtKind::NewChannel { var, .. }
            | StmtKind::NewLock { var, .. }
            | StmtKind::Assign { var, .. } => number_of(var),
            StmtKind::Get { value, ok, .. } => {
                value.iter_mut().chain(ok).for_each(&mut *number_of);
            }
            StmtKind::Call { result, .. } => result.iter_mut().for_each(&mut *number_of),
            _ => {}
        }
        if let StmtKind::Select { cases, default } = &mut statement.kind {
            for case in cases {
                if let CaseOp::Get { value, ok, .. } = &mut case.op {
                    value.iter_mut().chain(ok).for_each(&mut *number_of);
                }
                renumber_block(&mut case.body, number_of);
            }
            if let Some(default) = default {
                renumber_block(default, number_of);
            }
        } else {
            for inner in blocks_of_mut(statement) {
                renumber_block(inner, number_of);
            }
        }
    }
}
