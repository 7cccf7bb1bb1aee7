//! One execution that can be taken forth and back, whether or not the system can copy its runs:
//! where [`System::fork`] gives nothing, a state is rebuilt by performing its actions again.

use crate::system::System;

/// An execution in progress, with a way back to each state on it.
pub(crate) struct Cursor<'s, S: System> {
    system: &'s S,
    run: S::Run,
    trace: Vec<S::Action>,
    /// Before each action of the trace: a copy of the run, if the system makes copies.
    saved: Vec<Option<S::Run>>,
}

impl<'s, S: System> Cursor<'s, S> {
    pub(crate) fn new(system: &'s S) -> Self {
        Cursor { system, run: system.start(), trace: Vec::new(), saved: Vec::new() }
    }

    /// The actions performed so far.
    pub(crate) fn trace(&self) -> &[S::Action] {
        &self.trace
    }

    pub(crate) fn len(&self) -> usize {
        self.trace.len()
    }

    /// The run after the trace, and the trace.
    pub(crate) fn parts(&mut self) -> (&mut S::Run, &[S::Action]) {
        (&mut self.run, &self.trace)
    }

    /// What may happen next.
    pub(crate) fn enabled(&mut self, actions: &mut Vec<S::Action>) {
        self.system.enabled(&mut self.run, actions);
    }

    /// Performs an action.
    pub(crate) fn push(&mut self, action: S::Action) {
        self.saved.push(self.system.fork(&self.run));
        self.system.step(&mut self.run, &action);
        self.trace.push(action);
    }

    /// Goes back to the state after the first `length` actions.
    pub(crate) fn truncate(&mut self, length: usize) {
        if length == self.trace.len() {
            return;
        }
        let saved = self.saved[length].take();
        self.saved.truncate(length);
        self.trace.truncate(length);
        self.run = saved.unwrap_or_else(|| self.rebuilt(length));
    }

    /// A separate run after the first `length` actions.
    pub(crate) fn probe(&self, length: usize) -> S::Run {
        let nearest = self.saved.get(length).map_or(Some(&self.run), Option::as_ref);
        let copy = nearest.and_then(|run| self.system.fork(run));
        copy.unwrap_or_else(|| self.rebuilt(length))
    }

    fn rebuilt(&self, length: usize) -> S::Run {
        let mut run = self.system.start();
        for action in &self.trace[..length] {
            self.system.step(&mut run, action);
        }
        run
    }
}
