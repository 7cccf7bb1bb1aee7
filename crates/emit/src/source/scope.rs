//! Where a writer stands: in which function, and which variables have come into being.

use strait_calculus::ast::{Block, Expr, Function, Type};
use strait_calculus::{FuncId, Program, VarId};

use super::facts::{Facts, element_of, read_in};

/// The place in a program that is being written.
#[derive(Debug)]
pub struct Scope<'a> {
    /// The program.
    pub program: &'a Program,
    /// What is known of it.
    pub facts: &'a Facts,
    /// The function that is being written.
    pub id: FuncId,
    reserved: &'static [&'static str],
    declared: Vec<VarId>,
}

impl<'a> Scope<'a> {
    /// The beginning of a function. Variables with a reserved name get another one.
    pub fn new(
        program: &'a Program,
        facts: &'a Facts,
        id: FuncId,
        reserved: &'static [&'static str],
    ) -> Self {
        let declared = program.functions[id].params.clone();
        Scope { program, facts, id, reserved, declared }
    }

    /// The function.
    pub fn function(&self) -> &'a Function {
        &self.program.functions[self.id]
    }

    /// The name of a variable.
    pub fn name(&self, var: VarId) -> String {
        let name = self.function().variables.get(var).map_or("_", |variable| &variable.name);
        identifier(name, self.reserved)
    }

    /// The type of a variable.
    pub fn ty(&self, var: VarId) -> &'a Type {
        let variable = self.function().variables.get(var);
        variable.and_then(|variable| variable.ty.as_ref()).unwrap_or(&Type::Unit)
    }

    /// Remembers the variable; `true` when it has just come into being.
    pub fn declare(&mut self, var: VarId) -> bool {
        let is_new = !self.declared.contains(&var);
        if is_new {
            self.declared.push(var);
        }
        is_new
    }

    /// Has the variable come into being?
    pub fn is_declared(&self, var: VarId) -> bool {
        self.declared.contains(&var)
    }

    /// Is the variable read anywhere in its function?
    pub fn is_read(&self, var: VarId) -> bool {
        self.facts.is_read(self.id, var)
    }

    /// May the channel be closed, so that a get has to ask?
    pub fn may_close(&self, channel: &Expr) -> bool {
        element_of(self.function(), channel).is_some_and(|element| self.facts.closes(element))
    }

    /// The beginning of a block; what it declares is forgotten by [`Scope::leave`].
    pub fn enter(&self) -> usize {
        self.declared.len()
    }

    /// The end of a block.
    pub fn leave(&mut self, mark: usize) {
        self.declared.truncate(mark);
    }

    /// The variables of which a spawned block needs copies of its own, because the process that
    /// spawns it changes them: names and types in the order of use.
    pub fn copies(&self, body: &Block) -> Vec<VarId> {
        let mut captured = read_in(body);
        captured.retain(|var| self.is_declared(*var) && self.facts.is_reassigned(self.id, *var));
        captured
    }

    /// The variables from outside that a spawned block reads.
    pub fn captured(&self, body: &Block) -> Vec<VarId> {
        let mut captured = read_in(body);
        captured.retain(|var| self.is_declared(*var));
        captured
    }
}

/// A name that is not reserved and starts with a small letter, as all targets want it.
pub fn identifier(name: &str, reserved: &[&str]) -> String {
    let starts_small = name.starts_with(|first: char| first.is_ascii_lowercase());
    let name = if starts_small { name.to_owned() } else { format!("v{name}") };
    if reserved.contains(&name.as_str()) { format!("{name}_") } else { name }
}
