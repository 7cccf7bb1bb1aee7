//! A program that extensions still work on: it knows which names and payloads are free.

use smol_str::SmolStr;
use strait_calculus::ast::{Block, Capacity, Expr, ExprKind, Function, Stmt, Type, Variable};
use strait_calculus::{FuncId, IndexVec, Program, Span, VarId};

use crate::capabilities::Capabilities;
use crate::statements;
use crate::stream::Stream;
use crate::walk;

/// A program in the making.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What there is so far.
    pub program: Program,
    next_payload: i64,
    next_channel: u32,
    next_value: u32,
    next_function: u32,
    integers: bool,
    extended: bool,
}

impl Draft {
    /// A draft of `main` with these statements, and the first payload that is still free. The
    /// channels c1, c2, … are all the variables so far.
    pub fn new(
        variables: IndexVec<VarId, Variable>,
        statements: Vec<Stmt>,
        next_payload: i64,
        integers: bool,
    ) -> Self {
        let next_channel = variables.len() as u32 + 1;
        let main = Function {
            name: SmolStr::new_inline("main"),
            params: Vec::new(),
            result: Type::Unit,
            variables,
            body: Block::new(statements),
            span: Span::NONE,
        };
        let program = Program { functions: IndexVec::from_iter([main]), main: FuncId(0) };
        Draft {
            program,
            next_payload,
            next_channel,
            next_value: 1,
            next_function: 1,
            integers,
            extended: false,
        }
    }

    /// The finished program.
    pub fn finish(mut self) -> Program {
        if self.extended {
            walk::renumber_variables(&mut self.program);
        }
        self.program
    }

    /// `main`, to be changed.
    pub fn main(&mut self) -> &mut Function {
        self.extended = true;
        &mut self.program.functions[FuncId(0)]
    }

    /// The body of `main`.
    pub fn body(&self) -> &Block {
        &self.program.functions[FuncId(0)].body
    }

    /// The type of ordinary messages.
    pub fn element(&self) -> Type {
        if self.integers { Type::Int } else { Type::Unit }
    }

    /// A message that no other put sends.
    pub fn payload(&mut self) -> Expr {
        if !self.integers {
            return ExprKind::Unit.into();
        }
        self.next_payload += 1;
        statements::int(self.next_payload - 1)
    }

    /// A new channel of ordinary messages: its variable and its declaration.
    pub fn channel(&mut self, capacity: Capacity) -> (VarId, Stmt) {
        let element = self.element();
        self.channel_of(element, capacity)
    }

    /// A new channel: its variable and its declaration.
    pub fn channel_of(&mut self, element: Type, capacity: Capacity) -> (VarId, Stmt) {
        let number = self.next_channel;
        self.next_channel += 1;
        let var = self.variable("c", number, Type::Chan(Box::new(element.clone())));
        (var, statements::new_channel(var, element, capacity))
    }

    /// A new variable for a value: `x1`, or `ok1` for what a get says about close.
    pub fn value(&mut self, ty: Type) -> VarId {
        let number = self.next_value;
        self.next_value += 1;
        self.variable(if ty == Type::Bool { "ok" } else { "x" }, number, ty)
    }

    fn variable(&mut self, prefix: &str, number: u32, ty: Type) -> VarId {
        let name = numbered_name(prefix, number);
        self.main().variables.push(Variable { name, ty: Some(ty), span: Span::NONE })
    }

    /// A new function, called `prefix1`, `prefix2`, …. `make` is told its index and writes it.
    pub fn function(
        &mut self,
        prefix: &str,
        make: impl FnOnce(FuncId, SmolStr) -> Function,
    ) -> FuncId {
        let name = numbered_name(prefix, self.next_function);
        self.next_function += 1;
        self.extended = true;
        let id = self.program.functions.next_index();
        self.program.functions.push(make(id, name))
    }
}

/// A capacity that the target has.
pub fn draw_capacity(stream: &mut Stream, capabilities: &Capabilities) -> Capacity {
    let weights = [
        u32::from(capabilities.rendezvous),
        u32::from(capabilities.buffered),
        u32::from(capabilities.unbounded),
    ];
    match stream.weighted(&weights) {
        Some(1) => Capacity::Bounded(stream.between(1, capabilities.at_most(3))),
        Some(2) => Capacity::Unbounded,
        _ => Capacity::Rendezvous,
    }
}

/// `c1`, `c2`, …: short enough to need no allocation.
pub fn numbered_name(prefix: &str, number: u32) -> SmolStr {
    let mut letters = [0_u8; 20];
    let mut position = letters.len();
    let mut rest = number;
    loop {
        position -= 1;
        letters[position] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let start = position.saturating_sub(prefix.len());
    letters[start..position].copy_from_slice(&prefix.as_bytes()[..position - start]);
    std::str::from_utf8(&letters[start..]).map(SmolStr::new_inline).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_from_one() {
        assert_eq!(numbered_name("c", 1), "c1");
        assert_eq!(numbered_name("send", 120), "send120");
        assert_eq!(numbered_name("c", u32::MAX), "c4294967295");
    }
}
