//! What a search gives back, whichever strategy made it.

use crate::coverage::Coverage;
use crate::interleavings::Interleavings;

/// One outcome with one way to it.
#[derive(Clone, Debug)]
pub struct Found<Outcome, Action> {
    /// What the execution gave.
    pub outcome: Outcome,
    /// The actions from the start that lead to it.
    pub trace: Vec<Action>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Report<Outcome, Action> {
    /// Each distinct outcome once, in the order of discovery.
    pub found: Vec<Found<Outcome, Action>>,
    /// How much the search speaks for.
    pub coverage: Coverage,
    /// Distinct states visited (stateful search; otherwise 0).
    pub states: u64,
    /// Steps performed.
    pub transitions: u64,
    /// Complete executions (stateless search) or final states (stateful search). The searches without
    /// bounds on schedules count executions that were cut as well.
    pub executions: u64,
    /// Executions that were cut because they were as long as allowed.
    pub cut: u64,
    /// Executions that were cut short because another one covers them (0 when the reduction is
    /// optimal).
    pub redundant: u64,
    /// The interleaving coverage of executions that were drawn, if the system says what its steps do.
    pub interleavings: Option<Interleavings>,
}

impl<Outcome, Action> Report<Outcome, Action> {
    /// A report in which nothing has been seen yet.
    pub fn new() -> Self {
        Report {
            found: Vec::new(),
            coverage: Coverage::Exhaustive,
            states: 0,
            transitions: 0,
            executions: 0,
            cut: 0,
            redundant: 0,
            interleavings: None,
        }
    }
}

impl<Outcome, Action> Default for Report<Outcome, Action> {
    fn default() -> Self {
        Self::new()
    }
}
