//! Which variables are in sight: nested blocks, and spawned blocks that see copies.

use smol_str::SmolStr;

use crate::language::index::VarId;

/// Where a name is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A variable of this process.
    Own(VarId),
    /// A variable of the process that spawned this block: it may be read, not assigned.
    Copied(VarId),
}

impl Sight {
    /// The variable, whoever owns it.
    pub fn var(self) -> VarId {
        match self {
            Sight::Own(var) | Sight::Copied(var) => var,
        }
    }
}

/// The names in sight at one point of a function.
#[derive(Default)]
pub struct Scope {
    names: Vec<(SmolStr, VarId)>,
    /// For each open block, how many names were in sight when it began and whether it is spawned.
    blocks: Vec<(usize, bool)>,
}

impl Scope {
    /// Opens a block.
    pub fn open(&mut self, spawned: bool) {
        self.blocks.push((self.names.len(), spawned));
    }

    /// Closes the innermost block and forgets its names.
    pub fn close(&mut self) {
        if let Some((length, _)) = self.blocks.pop() {
            self.names.truncate(length);
        }
    }

    /// Brings a name into sight.
    pub fn introduce(&mut self, name: SmolStr, var: VarId) {
        self.names.push((name, var));
    }

    /// Looks a name up.
    pub fn find(&self, name: &str) -> Option<Sight> {
        let position = self.names.iter().rposition(|(known, _)| known == name)?;
        let boundary = self.blocks.iter().rfind(|(_, spawned)| *spawned);
        let own = boundary.is_none_or(|(length, _)| position >= *length);
        let var = self.names[position].1;
        Some(if own { Sight::Own(var) } else { Sight::Copied(var) })
    }

    /// All names in sight.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }
}
