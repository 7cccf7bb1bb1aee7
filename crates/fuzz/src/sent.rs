//! What a program sends, read from its text: which constants, how often at most, and which of them in
//! a fixed order. A program comes in, answers about its messages go out; where the text alone does
//! not tell, the answer is no.

use strait_calculus::ast::{Block, CaseOp, ExprKind, Stmt, StmtKind};
use strait_calculus::{FuncId, Program, VarId};

/// The constants that a program sends.
pub(crate) struct Sent<'a> {
    program: &'a Program,
    puts: Vec<Put>,
    /// Whether there is a put whose value is computed: it may forward any message.
    computes: bool,
    /// Whether there is a put that may happen more than once.
    repeats: bool,
    /// Whether there is a close.
    closes: bool,
}

/// A put of a constant.
struct Put {
    value: i64,
    channel: (FuncId, VarId),
    /// Which process: the number of the block that it starts with. None if several may be it.
    process: Option<usize>,
    /// Whether it is no case of a select.
    is_plain: bool,
    /// From the start of the process: statement, and branch inside of it, and so on.
    path: Vec<(usize, usize)>,
}

/// Where the walk through the program is.
#[derive(Clone)]
struct Place {
    function: FuncId,
    process: Option<usize>,
    path: Vec<(usize, usize)>,
}

impl Place {
    fn branch(&self, branch: usize) -> Place {
        let mut place = self.clone();
        if let Some(last) = place.path.last_mut() {
            last.1 = branch;
        }
        place
    }
}

impl<'a> Sent<'a> {
    pub(crate) fn of(program: &'a Program) -> Self {
        let mut sent =
            Sent { program, puts: Vec::new(), computes: false, repeats: false, closes: false };
        let mut processes = 0;
        for function in program.functions.indices() {
            let process = (function == program.main).then_some(0);
            let place = Place { function, process, path: Vec::new() };
            sent.block(&program.functions[function].body, &place, &mut processes);
        }
        sent
    }

    fn block(&mut self, block: &Block, place: &Place, processes: &mut usize) {
        for (number, statement) in block.statements.iter().enumerate() {
            let mut place = place.clone();
            place.path.push((number, 0));
            self.statement(statement, &place, processes);
        }
    }

    fn statement(&mut self, statement: &Stmt, place: &Place, processes: &mut usize) {
        match &statement.kind {
            StmtKind::Put { channel, value } => self.put(&channel.kind, &value.kind, true, place),
            StmtKind::Close { .. } => self.closes = true,
            StmtKind::Select { cases, default } => {
                for (number, case) in cases.iter().enumerate() {
                    let place = place.branch(number);
                    if let CaseOp::Put { channel, value } = &case.op {
                        self.put(&channel.kind, &value.kind, false, &place);
                    }
                    self.block(&case.body, &place, processes);
                }
                let place = place.branch(cases.len());
                default.iter().for_each(|body| self.block(body, &place, processes));
            }
            StmtKind::Spawn { body, .. } => {
                *processes += 1;
                let process = place.process.map(|_| *processes);
                let place = Place { function: place.function, process, path: Vec::new() };
                self.block(body, &place, processes);
            }
            StmtKind::While { body, .. } => {
                self.block(body, &Place { process: None, ..place.clone() }, processes);
            }
            StmtKind::If { then, otherwise, .. } => {
                for (number, body) in [then].into_iter().chain(otherwise).enumerate() {
                    self.block(body, &place.branch(number), processes);
                }
            }
            StmtKind::Choose { branches } => {
                for (number, body) in branches.iter().enumerate() {
                    self.block(body, &place.branch(number), processes);
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, channel: &ExprKind, value: &ExprKind, is_plain: bool, place: &Place) {
        match (channel, value) {
            (ExprKind::Var(var), ExprKind::Int(value)) => {
                self.repeats |= place.process.is_none();
                let Place { function, process, path } = place.clone();
                let channel = (function, *var);
                self.puts.push(Put { value: *value, channel, process, is_plain, path });
            }
            (_, ExprKind::Unit | ExprKind::Bool(_)) => {}
            _ => self.computes = true,
        }
    }

    /// Whether [`Sent::at_most`] and [`Sent::implies`] can be believed.
    pub(crate) fn is_counted(&self) -> bool {
        !self.computes && !self.repeats
    }

    /// Whether the program closes any channel.
    pub(crate) fn closes(&self) -> bool {
        self.closes
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = i64> + '_ {
        self.puts.iter().map(|put| put.value)
    }

    /// How often a value can be sent: of branches, one is taken.
    pub(crate) fn at_most(&self, value: i64) -> usize {
        most(&self.program.functions[self.program.main].body, value)
    }

    /// Is `first` always sent before `second`, by one process on one channel?
    pub(crate) fn in_order(&self, first: i64, second: i64) -> bool {
        let places = |value: i64| self.puts.iter().filter(move |put| put.value == value);
        let is_before = |one: &Put, other: &Put| {
            let same = one.channel == other.channel && one.process == other.process;
            same && one.process.is_some() && one.steps_before(other).is_some()
        };
        let known = !self.computes && self.values().any(|value| value == first);
        known
            && places(second).all(|other| places(first).all(|one| is_before(one, other)))
            && places(second).next().is_some()
    }

    /// Likewise, by puts that wait until they are done.
    pub(crate) fn waits_in_order(&self, first: i64, second: i64) -> bool {
        let mut both = self.puts.iter().filter(|put| [first, second].contains(&put.value));
        both.all(|put| put.is_plain) && self.in_order(first, second)
    }

    /// Was `first` certainly sent if `second` was?
    pub(crate) fn implies(&self, second: i64, first: i64) -> bool {
        let mut places = self.puts.iter().filter(|put| put.value == first);
        let (Some(only), None) = (places.next(), places.next()) else { return false };
        let is_straight = |other: &Put| only.steps_before(other) == Some(1);
        self.in_order(first, second)
            && self.puts.iter().filter(|put| put.value == second).all(is_straight)
    }
}

impl Put {
    /// If this stands before the other one, how many steps its own path has from where they part.
    fn steps_before(&self, other: &Put) -> Option<usize> {
        let shared = self.path.iter().zip(&other.path).take_while(|(one, two)| one == two).count();
        match (self.path.get(shared), other.path.get(shared)) {
            (Some(one), Some(two)) if one.0 < two.0 => Some(self.path.len() - shared),
            // The put of a case stands before those of its body.
            (None, Some(_)) => Some(1),
            _ => None,
        }
    }
}

/// How often a block sends a value at most, its processes included.
fn most(block: &Block, value: i64) -> usize {
    let is_value = |kind: &ExprKind| matches!(kind, ExprKind::Int(known) if *known == value);
    let of_statement = |statement: &Stmt| match &statement.kind {
        StmtKind::Put { value, .. } => usize::from(is_value(&value.kind)),
        StmtKind::Select { cases, default } => {
            let cases = cases.iter().map(|case| match &case.op {
                CaseOp::Put { value: sent, .. } => {
                    usize::from(is_value(&sent.kind)) + most(&case.body, value)
                }
                CaseOp::Get { .. } | CaseOp::Timeout => most(&case.body, value),
            });
            cases.chain(default.iter().map(|body| most(body, value))).max().unwrap_or(0)
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => most(body, value),
        StmtKind::If { then, otherwise, .. } => {
            let bodies = [then].into_iter().chain(otherwise);
            bodies.map(|body| most(body, value)).max().unwrap_or(0)
        }
        StmtKind::Choose { branches } => {
            branches.iter().map(|body| most(body, value)).max().unwrap_or(0)
        }
        _ => 0,
    };
    block.statements.iter().map(of_statement).sum()
}
