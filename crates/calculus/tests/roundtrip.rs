//! Random programs, built and not read: the checker accepts them, and printing and reading gives
//! them back. The comparison is exact, names, types and the numbers of variables included (only
//! positions never count): the generator numbers variables in the order of the text, as the reader
//! does. `STRAIT_SEED` changes the programs; a failure names the seed of its program.

#[path = "common/rng.rs"]
mod rng;

use std::collections::BTreeSet;
use std::mem::discriminant;

use rng::Rng;
use smol_str::{SmolStr, format_smolstr};
use strait_calculus::ast::{
    BinaryOp, Block, Capacity, Case, CaseOp, Expr, ExprKind, Function, LockKind, Stmt, StmtKind,
    SyncOp, Type, UnaryOp, Variable,
};
use strait_calculus::{
    FuncId, Idx, IndexVec, Program, Span, VarId, check, parse, parse_unchecked, print,
};

const PROGRAMS: u64 = 4_000;

#[test]
fn what_is_printed_is_read_as_it_was_built() {
    let base = std::env::var("STRAIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut kinds = BTreeSet::new();
    for seed in base..base + PROGRAMS {
        let mut program = program(&mut Rng(seed));
        let context = |text: &str| format!("STRAIT_SEED={seed}\n{text}");
        let text = print(&program);
        if let Err(errors) = check(&mut program) {
            panic!("{}", context(&format!("{errors}\n{text}")));
        }
        assert_eq!(print(&program), text, "{}", context("checking changes the text"));
        let again = match parse(&text) {
            Ok(again) => again,
            Err(errors) => panic!("{}", context(&errors.render("printed", &text))),
        };
        assert_eq!(again, program, "{}", context(&text));
        assert_eq!(print(&again), text, "{}", context("the text changes"));
        assert!(parse_unchecked(&text).is_ok(), "{}", context(&text));
        for function in program.functions.iter() {
            collect(&function.body, &mut kinds);
        }
    }
    // Every kind of statement, and every kind of case, was among them.
    assert_eq!(kinds.len(), 20 + 3, "{kinds:?}");
}

fn collect(block: &Block, kinds: &mut BTreeSet<String>) {
    for statement in &block.statements {
        kinds.insert(format!("{:?}", discriminant(&statement.kind)));
        match &statement.kind {
            StmtKind::Select { cases, default } => {
                for case in cases {
                    kinds.insert(format!("case {:?}", discriminant(&case.op)));
                    collect(&case.body, kinds);
                }
                default.iter().for_each(|block| collect(block, kinds));
            }
            StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => collect(body, kinds),
            StmtKind::If { then, otherwise, .. } => {
                collect(then, kinds);
                otherwise.iter().for_each(|block| collect(block, kinds));
            }
            StmtKind::Choose { branches } => {
                branches.iter().for_each(|block| collect(block, kinds));
            }
            _ => {}
        }
    }
}

/// What a function looks like from outside.
struct Signature {
    name: SmolStr,
    params: Vec<Type>,
    result: Type,
}

fn program(rng: &mut Rng) -> Program {
    let count = 1 + rng.below(3);
    let entry = rng.below(count);
    let mut signatures = Vec::new();
    for position in 0..count {
        let is_main = position == entry;
        let params = if is_main { 0 } else { rng.below(4) };
        signatures.push(Signature {
            name: if is_main { "main".into() } else { format_smolstr!("f{position}") },
            params: (0..params).map(|_| ty(rng, 3)).collect(),
            result: if is_main { Type::Unit } else { result(rng) },
        });
    }
    let mut functions = IndexVec::new();
    for position in 0..count {
        functions.push(function(rng, &signatures, position));
    }
    Program { functions, main: FuncId::new(entry) }
}

fn function(rng: &mut Rng, signatures: &[Signature], position: usize) -> Function {
    let signature = &signatures[position];
    let mut writer = Writer {
        rng,
        signatures,
        result: signature.result.clone(),
        variables: IndexVec::new(),
        sight: Vec::new(),
        own_from: 0,
        loops: 0,
        spawned: false,
        budget: 25,
    };
    let params: Vec<VarId> =
        signature.params.iter().map(|ty| writer.introduce(ty.clone())).collect();
    let mut body = writer.block(4);
    if signature.result != Type::Unit {
        let value = writer.value(&signature.result.clone(), 2);
        body.statements.push(StmtKind::Return { value: Some(value) }.into());
    }
    let variables = writer.variables;
    Function {
        name: signature.name.clone(),
        params,
        result: signature.result.clone(),
        variables,
        body,
        span: Span::NONE,
    }
}

/// A type that has values everywhere.
fn result(rng: &mut Rng) -> Type {
    match rng.below(4) {
        0 => Type::Chan(Box::new(ty(rng, 2))),
        _ => ty(rng, 0),
    }
}

fn ty(rng: &mut Rng, depth: usize) -> Type {
    match rng.below(if depth == 0 { 3 } else { 8 }) {
        0 => Type::Bool,
        1 => Type::Int,
        2 => Type::Unit,
        3 => Type::Mutex,
        4 => Type::RwMutex,
        5 => Type::WaitGroup,
        _ => Type::Chan(Box::new(ty(rng, depth - 1))),
    }
}

/// Writes one function. Variables in sight are those the printed text would have in sight.
struct Writer<'a> {
    rng: &'a mut Rng,
    signatures: &'a [Signature],
    result: Type,
    variables: IndexVec<VarId, Variable>,
    sight: Vec<VarId>,
    /// Those before belong to the process that spawned this block.
    own_from: usize,
    loops: usize,
    spawned: bool,
    budget: usize,
}

impl Writer<'_> {
    /// A new variable whose name is not in sight, though perhaps used elsewhere.
    fn introduce(&mut self, ty: Type) -> VarId {
        let taken: Vec<&str> =
            self.sight.iter().map(|var| self.variables[*var].name.as_str()).collect();
        let mut number = self.rng.below(3);
        while taken.contains(&format!("v{number}").as_str()) {
            number += 1;
        }
        let name = format_smolstr!("v{number}");
        // Left to the checker as a rule.
        let ty = Some(ty);
        let var = self.variables.push(Variable { name, ty, span: Span::NONE });
        self.sight.push(var);
        var
    }

    fn type_of(&self, var: VarId) -> &Type {
        self.variables[var].ty.as_ref().expect("the generator knows all types")
    }

    fn of_type(&mut self, wanted: impl Fn(&Type) -> bool, own: bool) -> Option<VarId> {
        let from = if own { self.own_from } else { 0 };
        let fitting: Vec<VarId> =
            self.sight[from..].iter().copied().filter(|var| wanted(self.type_of(*var))).collect();
        (!fitting.is_empty()).then(|| *self.rng.pick(&fitting))
    }

    /// A variable to assign to: one in sight or a new one.
    fn target(&mut self, ty: &Type) -> VarId {
        let known = self.of_type(|known| known == ty, true);
        match known.filter(|_| self.rng.below(2) == 0) {
            Some(var) => var,
            None => self.introduce(ty.clone()),
        }
    }

    /// A value of this type, if one can be had; `nil` for channels at worst.
    fn value(&mut self, ty: &Type, depth: usize) -> Expr {
        if let Some(var) = self.of_type(|known| known == ty, false)
            && self.rng.below(3) > 0
        {
            return var.into();
        }
        match ty {
            Type::Unit => ExprKind::Unit,
            Type::Bool => self.bool(depth),
            Type::Int => self.int(depth),
            Type::Chan(_) => ExprKind::Nil,
            Type::Mutex | Type::RwMutex | Type::WaitGroup => {
                match self.of_type(|known| known == ty, false) {
                    Some(var) => ExprKind::Var(var),
                    None => unreachable!("asked for a lock that nobody has"),
                }
            }
        }
        .into()
    }

    fn can_give(&mut self, ty: &Type) -> bool {
        !matches!(ty, Type::Mutex | Type::RwMutex | Type::WaitGroup)
            || self.of_type(|known| known == ty, false).is_some()
    }

    fn int(&mut self, depth: usize) -> ExprKind {
        let numbers = [0, 1, -1, 5, -5, i64::MAX, i64::MIN];
        match self.rng.below(if depth == 0 { 2 } else { 7 }) {
            0 | 1 => ExprKind::Int(*self.rng.pick(&numbers)),
            2 | 3 => {
                let operand = Box::new(self.value(&Type::Int, depth - 1));
                ExprKind::Unary(UnaryOp::Negate, operand)
            }
            _ => {
                let ops = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply];
                self.pair(&ops, &Type::Int, depth)
            }
        }
    }

    fn bool(&mut self, depth: usize) -> ExprKind {
        let ordering =
            [BinaryOp::Less, BinaryOp::LessEqual, BinaryOp::Greater, BinaryOp::GreaterEqual];
        let equality = [BinaryOp::Equal, BinaryOp::NotEqual];
        match self.rng.below(if depth == 0 { 2 } else { 7 }) {
            kind @ (0 | 1) => ExprKind::Bool(kind == 0),
            2 => ExprKind::Unary(UnaryOp::Not, Box::new(self.value(&Type::Bool, depth - 1))),
            3 | 4 => self.pair(&[BinaryOp::Or, BinaryOp::And], &Type::Bool, depth),
            5 => self.pair(&ordering, &Type::Int, depth),
            _ => match self.of_type(|_| true, false) {
                // One side is a variable, so that `nil` has a type.
                Some(var) => {
                    let ty = self.type_of(var).clone();
                    let sides = [Box::new(var.into()), Box::new(self.value(&ty, depth - 1))];
                    let [left, right] = sides;
                    let op = *self.rng.pick(&equality);
                    match self.rng.below(2) {
                        0 => ExprKind::Binary(op, left, right),
                        _ => ExprKind::Binary(op, right, left),
                    }
                }
                None => self.pair(&equality, &Type::Unit, depth),
            },
        }
    }

    fn pair(&mut self, ops: &[BinaryOp], ty: &Type, depth: usize) -> ExprKind {
        let op = *self.rng.pick(ops);
        let left = self.value(ty, depth - 1);
        ExprKind::Binary(op, Box::new(left), Box::new(self.value(ty, depth - 1)))
    }

    fn channel(&mut self) -> Option<(Expr, Type)> {
        let var = self.of_type(|ty| matches!(ty, Type::Chan(_)), false)?;
        match self.type_of(var).clone() {
            Type::Chan(element) => Some((var.into(), *element)),
            _ => None,
        }
    }

    fn block(&mut self, depth: usize) -> Block {
        self.block_with(depth, |_| ()).1
    }

    fn block_with<T>(&mut self, depth: usize, prepare: impl FnOnce(&mut Self) -> T) -> (T, Block) {
        let outer = self.sight.len();
        let prepared = prepare(self);
        let mut statements = Vec::new();
        for _ in 0..self.rng.below(if depth == 0 { 2 } else { 6 }) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            statements.extend(self.statement(depth).map(Stmt::from));
        }
        self.sight.truncate(outer);
        (prepared, Block::new(statements))
    }

    fn spawned(&mut self, depth: usize) -> Block {
        let outer = (self.own_from, self.loops, self.spawned);
        (self.own_from, self.loops, self.spawned) = (self.sight.len(), 0, true);
        let body = self.block(depth);
        (self.own_from, self.loops, self.spawned) = outer;
        body
    }

    /// A statement, unless what was drawn is not possible here.
    fn statement(&mut self, depth: usize) -> Option<StmtKind> {
        let flat = 16;
        Some(match self.rng.below(if depth == 0 { flat } else { flat + 7 }) {
            0 | 1 => {
                let element = ty(self.rng, 2);
                let capacities = [
                    Capacity::Rendezvous,
                    Capacity::Bounded(1),
                    Capacity::Bounded(1_000_000),
                    Capacity::Unbounded,
                ];
                let capacity = *self.rng.pick(&capacities);
                let var = self.introduce(Type::Chan(Box::new(element.clone())));
                StmtKind::NewChannel { var, element, capacity }
            }
            2 => {
                let kinds = [
                    (LockKind::Mutex, Type::Mutex),
                    (LockKind::RwMutex, Type::RwMutex),
                    (LockKind::WaitGroup, Type::WaitGroup),
                ];
                let (kind, ty) = self.rng.pick(&kinds).clone();
                StmtKind::NewLock { var: self.introduce(ty), kind }
            }
            3 | 4 => self.assign(),
            5 => {
                let (channel, element) =
                    self.channel().unwrap_or((ExprKind::Nil.into(), Type::Int));
                if !self.can_give(&element) {
                    return None;
                }
                StmtKind::Put { channel, value: self.value(&element, 3) }
            }
            6 => {
                let (channel, element) =
                    self.channel().unwrap_or((ExprKind::Nil.into(), Type::Unit));
                let (value, ok) = self.bindings(&element);
                StmtKind::Get { channel, value, ok }
            }
            7 => StmtKind::Close { channel: self.channel()?.0 },
            8 => StmtKind::Abandon { channel: ExprKind::Nil.into() },
            9 => self.call()?,
            10 => self.synchronisation()?,
            11 => {
                let group = self.of_type(|known| *known == Type::WaitGroup, false)?.into();
                StmtKind::Add { group, amount: self.value(&Type::Int, 2) }
            }
            12 => {
                let messages = ["", "why", "a \"quoted\" \\ word\n\tand a tab", "é日本//{}", "\r"];
                StmtKind::Panic { message: SmolStr::new(self.rng.pick(&messages)) }
            }
            13 => {
                let result = if self.spawned { Type::Unit } else { self.result.clone() };
                let bare = result == Type::Unit && (self.spawned || self.rng.below(2) == 0);
                if !bare && !self.can_give(&result) {
                    return None;
                }
                let value = (!bare).then(|| self.value(&result, 2));
                StmtKind::Return { value }
            }
            14 => {
                let ty = [Type::Int, Type::Bool, Type::Unit][self.rng.below(3)].clone();
                StmtKind::Observe { value: self.value(&ty, 4) }
            }
            15 if self.loops > 0 => {
                if self.rng.below(2) == 0 {
                    StmtKind::Break
                } else {
                    StmtKind::Continue
                }
            }
            15 => return None,
            16 => StmtKind::Select {
                cases: (0..self.rng.below(4)).map(|_| self.case(depth - 1)).collect(),
                default: (self.rng.below(2) == 0).then(|| self.block(depth - 1)),
            },
            17 | 18 => {
                let name = (self.rng.below(2) == 0).then(|| "helper".into());
                StmtKind::Spawn { name, body: self.spawned(depth - 1) }
            }
            19 | 20 => StmtKind::If {
                condition: self.value(&Type::Bool, 3),
                then: self.block(depth - 1),
                otherwise: (self.rng.below(2) == 0).then(|| self.block(depth - 1)),
            },
            21 => {
                let condition = self.value(&Type::Bool, 3);
                self.loops += 1;
                let body = self.block(depth - 1);
                self.loops -= 1;
                StmtKind::While { condition, body }
            }
            _ => StmtKind::Choose {
                branches: (0..1 + self.rng.below(3)).map(|_| self.block(depth - 1)).collect(),
            },
        })
    }

    fn synchronisation(&mut self) -> Option<StmtKind> {
        let rows = [
            (SyncOp::Lock, Type::Mutex),
            (SyncOp::Unlock, Type::Mutex),
            (SyncOp::Lock, Type::RwMutex),
            (SyncOp::Unlock, Type::RwMutex),
            (SyncOp::RLock, Type::RwMutex),
            (SyncOp::RUnlock, Type::RwMutex),
            (SyncOp::Done, Type::WaitGroup),
            (SyncOp::Wait, Type::WaitGroup),
        ];
        let (op, ty) = self.rng.pick(&rows).clone();
        let target = self.of_type(|known| *known == ty, false)?.into();
        Some(StmtKind::Sync { op, target })
    }

    fn assign(&mut self) -> StmtKind {
        let ty = match self.of_type(|_| true, false) {
            Some(var) if self.rng.below(2) == 0 => self.type_of(var).clone(),
            _ => [Type::Int, Type::Bool, Type::Unit][self.rng.below(3)].clone(),
        };
        // The value cannot mention a variable that the statement introduces.
        let value = self.value(&ty, 4);
        if value.kind == ExprKind::Nil {
            // A new variable cannot be `nil`: it would have no type.
            return match self.of_type(|known| *known == ty, true) {
                Some(var) => StmtKind::Assign { var, value },
                None => StmtKind::Observe { value: ExprKind::Unit.into() },
            };
        }
        StmtKind::Assign { var: self.target(&ty), value }
    }

    fn bindings(&mut self, element: &Type) -> (Option<VarId>, Option<VarId>) {
        let value = (self.rng.below(3) > 0).then(|| self.target(element));
        let ok = (self.rng.below(2) == 0).then(|| self.target(&Type::Bool));
        (value, ok)
    }

    fn call(&mut self) -> Option<StmtKind> {
        let signatures = self.signatures;
        let position = self.rng.below(signatures.len());
        let called = &signatures[position];
        if called.name == "main" || !called.params.iter().all(|ty| self.can_give(ty)) {
            return None;
        }
        let arguments = called.params.iter().map(|ty| self.value(ty, 2)).collect();
        let result = (self.rng.below(2) == 0).then(|| self.target(&called.result));
        Some(StmtKind::Call { function: FuncId::new(position), arguments, result })
    }

    fn case(&mut self, depth: usize) -> Case {
        let (channel, element) = self.channel().unwrap_or((ExprKind::Nil.into(), Type::Unit));
        let (op, body) = match self.rng.below(3) {
            0 => (CaseOp::Timeout, self.block(depth)),
            1 if self.can_give(&element) => {
                let value = self.value(&element, 2);
                (CaseOp::Put { channel, value }, self.block(depth))
            }
            _ => {
                let ((value, ok), body) =
                    self.block_with(depth, |writer| writer.bindings(&element));
                (CaseOp::Get { channel, value, ok }, body)
            }
        };
        Case { op, body, span: Span::NONE }
    }
}
