//! What a search sees of the thing it searches: a [`System`] that can be started, asked what may
//! happen next and told what happens. The stateful search additionally asks for states as bytes
//! ([`Stateful`]). Nothing here knows what an action does.

use std::fmt::Debug;
use std::hash::Hash;

use crate::interleavings::Touch;
use crate::packed::Changes;

/// A thread of the system under search. Numbers are small and stable within one run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

/// A concurrent system whose only source of nondeterminism is which enabled action comes next.
///
/// An action names everything that decides its effect: in one state, one action has one successor.
/// Several actions of one thread may be enabled at once (a select, an internal choice), and one
/// action may move several threads (a rendezvous).
pub trait System {
    /// An execution in progress.
    type Run;
    /// A step that can be chosen.
    type Action: Clone + Eq + Hash + Debug;
    /// What a finished execution gave.
    type Outcome: Clone + Eq + Hash + Debug;

    /// A fresh execution, before its first action.
    fn start(&self) -> Self::Run;

    /// Replaces the contents of `actions` by what may happen next, always in the same order for
    /// the same state. Empty means that the execution is over.
    fn enabled(&self, run: &mut Self::Run, actions: &mut Vec<Self::Action>);

    /// Performs one enabled action.
    fn step(&self, run: &mut Self::Run, action: &Self::Action);

    /// May the order of these two actions matter? Symmetric and reflexive; actions that involve a
    /// common thread are always dependent. Two independent actions never enable or disable each
    /// other and commute in every state where both are enabled.
    fn dependent(&self, a: &Self::Action, b: &Self::Action) -> bool;

    /// The thread that the trace attributes the action to.
    fn thread(&self, action: &Self::Action) -> ThreadId;

    /// Does the action move this thread?
    fn involves(&self, action: &Self::Action, thread: ThreadId) -> bool;

    /// Is the action a thread's hint that others should go first (fair bounding)?
    fn is_yield(&self, _action: &Self::Action) -> bool {
        false
    }

    /// Is switching to the action, and away from it, never a pre-emption? Such are steps that no
    /// thread of the program makes, like the commit of a buffered store.
    fn is_free(&self, _action: &Self::Action) -> bool {
        false
    }

    /// May performing the action disable another action (one that a different choice would have
    /// taken instead)? Answering `false` for steps that never do, such as reading or writing a
    /// variable, spares the stateless reduction much work; `true` is always right.
    fn may_disable(&self, _action: &Self::Action) -> bool {
        true
    }

    /// Appends the objects that the action accesses and that threads may share, as the numbers that
    /// [`Touch::object`] has. By default none: then [`crate::surw`] has nothing to select, and draws
    /// random walks.
    fn objects(&self, _action: &Self::Action, _objects: &mut Vec<u32>) {}

    /// Performs one enabled action, and appends what it does to objects that threads may share. By
    /// default nothing is appended: then there is no interleaving coverage.
    fn observed_step(&self, run: &mut Self::Run, action: &Self::Action, _touches: &mut Vec<Touch>) {
        self.step(run, action);
    }

    /// Appends what an execution in which nothing is enabled any more gave. Usually one outcome;
    /// more when the last state stands for several equally possible ends.
    fn outcomes(&self, run: &mut Self::Run, outcomes: &mut Vec<Self::Outcome>);

    /// Roughly how many bytes the system itself holds for all its handles together, beyond what the
    /// search stores: it counts against the memory budget.
    fn memory(&self) -> usize {
        0
    }

    /// A copy of the execution, if that is cheaper than performing its actions again.
    fn fork(&self, _run: &Self::Run) -> Option<Self::Run> {
        None
    }
}

/// A system whose executions are states: they can be written down, compared and taken up again.
///
/// A clone is a handle to the same system for another search thread: encodings made by one handle
/// are understood by all.
pub trait Stateful: System<Action: Send, Outcome: Send> + Clone + Send {
    /// Appends the canonical form of the state: equal bytes exactly for equal states.
    fn encode(&self, run: &Self::Run, bytes: &mut Vec<u8>);

    /// The state that [`Stateful::encode`] wrote, in place of what `run` held.
    fn decode(&self, bytes: &[u8], run: &mut Self::Run);

    /// Makes `run` equal to `other`, reusing its memory.
    fn assign(&self, run: &mut Self::Run, other: &Self::Run);

    /// Appends the canonical form of the state that an action leads to; `scratch` may be used at will.
    fn encode_successor(
        &self,
        run: &Self::Run,
        action: &Self::Action,
        scratch: &mut Self::Run,
        successor: &mut Vec<u8>,
    ) {
        self.assign(scratch, run);
        self.step(scratch, action);
        self.canonicalise(scratch);
        self.encode(scratch, successor);
    }

    /// Does the form of the state that an action leads to have the length of that of `run`, and differ from it
    /// in a few bytes only? Then this appends those bytes, which is quicker than [`Stateful::encode_successor`].
    /// Answering `false` is always right.
    fn successor_changes(
        &self,
        _run: &Self::Run,
        _action: &Self::Action,
        _changes: &mut Changes,
    ) -> bool {
        false
    }

    /// A persistent set: fills `chosen` with positions in `enabled` (never none, unless `enabled`
    /// is empty) such that no sequence of other actions that are not chosen can ever reach one
    /// that depends on a chosen action. Choosing everything is always right.
    fn persistent(&self, _run: &Self::Run, enabled: &[Self::Action], chosen: &mut Vec<usize>) {
        chosen.clear();
        chosen.extend(0..enabled.len());
    }

    /// Is every execution finite, known without searching?
    fn always_ends(&self) -> bool {
        false
    }

    /// Can there be outcomes that show before the end of an execution, in an execution that has no
    /// end? Then the reduction must take care not to put any action off forever.
    fn has_early_outcomes(&self) -> bool {
        false
    }

    /// Appends the outcomes that are certain already in this state, whatever follows.
    fn early_outcomes(&self, _run: &Self::Run, _outcomes: &mut Vec<Self::Outcome>) {}

    /// Appends the threads that are neither finished nor stopped by a fault: those that still want
    /// to do something.
    fn unfinished(&self, run: &Self::Run, threads: &mut Vec<ThreadId>);

    /// Brings a state into the form that stands for all states symmetric to it.
    fn canonicalise(&self, _run: &mut Self::Run) {}
}
