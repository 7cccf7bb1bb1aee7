//! The loop of every search over states: take a state, see what is enabled in it, choose which steps to
//! follow, and hand over the states that they lead to. In: a system and a [`Frontier`], which says where
//! states come from and what becomes of them. The searches differ in their frontiers only: `states.rs`
//! has a stack per thread and one set of seen states, `space.rs` numbers states and keeps all steps.
//!
//! With reduction a state is expanded by a persistent set only ([`Stateful::persistent`]). That preserves
//! every final state (Godefroid 1996; Valmari's stubborn sets), hence every outcome of a finished
//! execution. Where endless executions matter too, a state whose reduced successors are all known already
//! is expanded fully: from every state the chain of *new* successors then ends in one that hides nothing,
//! so no action is put off forever. That argument needs no order of visits, so it holds in parallel.

use crate::packed::{Batch, Changes};
use crate::system::Stateful;

/// What to do at a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Go on from here.
    Expand,
    /// Go on from here by every step, whatever the reduction says. Needed where a step may lead to
    /// an end by decision: it takes from the others what they would have done later.
    ExpandFully,
    /// Go no further: the execution ends here, whatever is enabled.
    End,
    /// Go no further: what follows is not known.
    Unknown,
    /// Go no further from any state: the time is up.
    OutOfTime,
}

/// Which steps a search follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    /// Persistent sets only.
    pub(crate) reduce: bool,
    /// All steps of a state whose reduced successors are all known.
    pub(crate) puts_nothing_off: bool,
}

/// Where states come from, and what becomes of them.
pub(crate) trait Frontier<S: Stateful> {
    /// How this frontier names a state.
    type Key: Copy;

    /// The next state to look at; its bytes replace what is in `bytes`. `None` ends the search.
    fn next(&mut self, system: &S, bytes: &mut Vec<u8>) -> Option<Self::Key>;

    /// Decides about a state, given everything that is enabled in it.
    fn visit(
        &mut self,
        system: &S,
        state: Self::Key,
        run: &mut S::Run,
        enabled: &[S::Action],
    ) -> Visit;

    /// Where the successors of the state that [`Frontier::next`] gave last are collected.
    fn batch(&mut self) -> &mut Batch;

    /// Takes up the states of the batch from position `first` on, to which these actions lead from `from`. Are
    /// some of them new? A frontier may answer later and say yes where the reduction does not need to know.
    fn reach<'a>(
        &mut self,
        from: Self::Key,
        first: usize,
        actions: impl Iterator<Item = &'a S::Action>,
    ) -> bool
    where
        S::Action: 'a;

    /// Nothing more comes from this state.
    fn leave(&mut self, _state: Self::Key) {}
}

/// Looks at all states that the frontier gives.
pub(crate) fn walk<S: Stateful, F: Frontier<S>>(
    system: &S,
    frontier: &mut F,
    reduction: Reduction,
) {
    let (mut run, mut scratch) = (system.start(), system.start());
    let (mut bytes, mut changes) = (Vec::new(), Changes::new());
    let (mut enabled, mut chosen) = (Vec::new(), Vec::new());
    while let Some(state) = frontier.next(system, &mut bytes) {
        system.decode(&bytes, &mut run);
        system.enabled(&mut run, &mut enabled);
        let decision = frontier.visit(system, state, &mut run, &enabled);
        let mut follow = |frontier: &mut F, positions: &[usize]| {
            let batch = frontier.batch();
            let first = batch.len();
            for position in positions {
                let action = &enabled[*position];
                changes.clear();
                if system.successor_changes(&run, action, &mut changes) {
                    batch.push_changed(&changes);
                } else {
                    system.encode_successor(&run, action, &mut scratch, &mut batch.bytes);
                    batch.finish_state();
                }
            }
            let actions = positions.iter().map(|position| &enabled[*position]);
            frontier.reach(state, first, actions)
        };
        match decision {
            Visit::Expand if reduction.reduce && enabled.len() > 1 => {
                system.persistent(&run, &enabled, &mut chosen);
                let any_new = follow(frontier, &chosen);
                if !any_new && chosen.len() < enabled.len() && reduction.puts_nothing_off {
                    let others: Vec<usize> =
                        (0..enabled.len()).filter(|other| !chosen.contains(other)).collect();
                    follow(frontier, &others);
                }
            }
            Visit::Expand | Visit::ExpandFully => {
                chosen.clear();
                chosen.extend(0..enabled.len());
                follow(frontier, &chosen);
            }
            Visit::End | Visit::Unknown | Visit::OutOfTime => {}
        }
        frontier.leave(state);
    }
}

/// The bytes of the first state.
pub(crate) fn first_state<S: Stateful>(system: &S) -> Vec<u8> {
    let mut run = system.start();
    system.canonicalise(&mut run);
    let mut bytes = Vec::new();
    system.encode(&run, &mut bytes);
    bytes
}
