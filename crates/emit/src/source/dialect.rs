//! What the writers of all languages with nested blocks share. A dialect says how a statement looks.

use strait_calculus::ast::{Block, Stmt};

use super::scope::Scope;
use super::text::Text;
use crate::error::Error;

/// The writer of a function in one language.
pub(super) trait Dialect<'a> {
    fn scope(&mut self) -> &mut Scope<'a>;

    fn text(&mut self) -> &mut Text;

    fn statement(&mut self, statement: &Stmt) -> Result<(), Error>;

    /// Statements whose variables end with them.
    fn block(&mut self, block: &Block) -> Result<(), Error> {
        let mark = self.scope().enter();
        block.statements.iter().try_for_each(|statement| self.statement(statement))?;
        self.scope().leave(mark);
        Ok(())
    }

    /// A block one step further to the right.
    fn indented(&mut self, block: &Block) -> Result<(), Error> {
        self.text().indent();
        self.block(block)?;
        self.text().outdent();
        Ok(())
    }
}
