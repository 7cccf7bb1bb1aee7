//! The search over states: every state once, on all cores, with or without partial-order reduction.
//!
//! With reduction each state is expanded by a persistent set only ([`Stateful::persistent`]). That
//! preserves every final state (Godefroid 1996; Valmari's stubborn sets), hence every outcome of a
//! finished execution. If endless executions may have outcomes of their own, a state whose reduced successors are all known already is expanded
//! fully: from every state the chain of *new* successors then ends in one that hides nothing, so no
//! action is put off for ever. That argument needs no order of visits, so it holds in parallel.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::coverage::Coverage;
use crate::report::{Found, Report};
use crate::store::{Batch, StateId, Store};
use crate::system::{Stateful, System};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct StateOptions<'a> {
    /// Leave out steps that only reorder what is independent.
    pub reduce: bool,
    /// How many search threads.
    pub threads: usize,
    /// How many bytes the search may use.
    pub memory: usize,
    /// How many states to visit at most.
    pub max_states: u64,
    /// Set from outside to end the search early.
    pub stop: Option<&'a AtomicBool>,
    /// Where to add, every now and then, how many states were looked at since the last time.
    pub progress: Option<&'a AtomicU64>,
}

impl StateOptions<'_> {
    /// Tells whoever watches that so many more states were looked at.
    pub(crate) fn advance(&self, states: u64) {
        if let Some(progress) = self.progress {
            progress.fetch_add(states, Ordering::Relaxed);
        }
    }
}

impl Default for StateOptions<'_> {
    fn default() -> Self {
        StateOptions {
            reduce: true,
            threads: 1,
            memory: 2 << 30,
            max_states: u64::MAX,
            stop: None,
            progress: None,
        }
    }
}

/// What a search over states gives, beyond the report.
#[derive(Clone, Debug)]
pub struct StateReport<Outcome, Action> {
    /// Outcomes, counts and coverage.
    pub report: Report<Outcome, Action>,
    /// Bytes used for the states, the tables included.
    pub bytes: usize,
}

/// Visits all states.
pub fn states<S: Stateful>(
    system: &S,
    options: &StateOptions<'_>,
) -> StateReport<S::Outcome, S::Action> {
    states_until(system, options, |_| false)
}

/// Visits states until an outcome satisfies the predicate, or all are visited.
pub fn states_until<S: Stateful>(
    system: &S,
    options: &StateOptions<'_>,
    enough: impl Fn(&S::Outcome) -> bool + Sync,
) -> StateReport<S::Outcome, S::Action> {
    let threads = options.threads.max(1);
    let search = Search {
        options,
        store: Store::new(threads),
        enough: &enough,
        pool: Mutex::new(Pool { states: Vec::new(), working: threads, end: None }),
        wake: Condvar::new(),
        hungry: AtomicUsize::new(0),
        ended: AtomicBool::new(false),
    };
    let mut first = Worker::new(system.clone(), &search);
    first.begin();
    let tallies: Vec<Tally<S::Outcome>> = if threads == 1 {
        vec![first.run()]
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|_| {
                    let system = system.clone();
                    let search = &search;
                    scope.spawn(move || Worker::new(system, search).run())
                })
                .collect();
            let mut tallies = vec![first.run()];
            for other in others {
                match other.join() {
                    Ok(tally) => tallies.push(tally),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            tallies
        })
    };
    search.conclude(system, tallies)
}

/// Why a search ended before all was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Memory,
    States,
    Interrupted,
    Enough,
}

/// Work that is free to take.
struct Pool {
    states: Vec<StateId>,
    /// How many workers are not waiting for work.
    working: usize,
    end: Option<End>,
}

struct Search<'a, Enough> {
    options: &'a StateOptions<'a>,
    store: Store,
    enough: &'a Enough,
    pool: Mutex<Pool>,
    wake: Condvar,
    /// How many workers wait for work.
    hungry: AtomicUsize,
    ended: AtomicBool,
}

/// What one worker saw.
struct Tally<Outcome> {
    outcomes: HashMap<Outcome, StateId, FxBuildHasher>,
    transitions: u64,
    final_states: u64,
}

struct Worker<'a, S: System, Enough> {
    system: S,
    search: &'a Search<'a, Enough>,
    stack: Vec<StateId>,
    tally: Tally<S::Outcome>,
    /// Buffers that are used again and again.
    bytes: Vec<u8>,
    batch: Batch,
    enabled: Vec<S::Action>,
    chosen: Vec<usize>,
    outcomes: Vec<S::Outcome>,
    /// Are there outcomes that only a state on an endless execution may show?
    careful: bool,
    budget: u32,
}

/// How many states a worker expands between two looks at limits and at the others.
const STRIDE: u32 = 64;

impl<'a, S: Stateful, Enough: Fn(&S::Outcome) -> bool> Worker<'a, S, Enough> {
    fn new(system: S, search: &'a Search<'a, Enough>) -> Self {
        let tally = Tally { outcomes: HashMap::default(), transitions: 0, final_states: 0 };
        let careful = system.has_early_outcomes() && !system.always_ends();
        Worker {
            careful,
            system,
            search,
            stack: Vec::new(),
            tally,
            bytes: Vec::new(),
            batch: Batch::default(),
            enabled: Vec::new(),
            chosen: Vec::new(),
            outcomes: Vec::new(),
            budget: 0,
        }
    }

    /// Puts the first state on the stack.
    fn begin(&mut self) {
        let mut run = self.system.start();
        self.system.canonicalise(&mut run);
        self.system.encode(&run, &mut self.batch.bytes);
        self.batch.finish_state();
        self.visit(StateId::NONE);
    }

    fn run(mut self) -> Tally<S::Outcome> {
        let mut run = self.system.start();
        let mut scratch = self.system.start();
        while let Some(state) = self.next() {
            let mut bytes = std::mem::take(&mut self.bytes);
            self.search.store.read(state, &mut bytes);
            self.system.decode(&bytes, &mut run);
            self.bytes = bytes;
            self.expand(state, &mut run, &mut scratch);
        }
        self.tally
    }

    /// The next state to expand: the newest of one's own, else one of the others'.
    fn next(&mut self) -> Option<StateId> {
        if self.budget == 0 {
            self.budget = STRIDE;
            self.look_around();
            self.search.options.advance(STRIDE.into());
        }
        self.budget -= 1;
        if self.search.ended.load(Ordering::Relaxed) {
            return None;
        }
        self.stack.pop().or_else(|| self.search.wait_for_work(&mut self.stack))
    }

    /// Watches the limits, and gives half of its work to those who have none.
    fn look_around(&mut self) {
        let search = self.search;
        if search.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            search.end(End::Interrupted);
        }
        if search.store.bytes() + self.system.memory() + self.stack.capacity() * 4
            > search.options.memory
        {
            search.end(End::Memory);
        }
        if search.options.max_states < u64::MAX
            && search.store.len() as u64 > search.options.max_states
        {
            search.end(End::States);
        }
        if self.stack.len() > 1 && search.hungry.load(Ordering::Relaxed) > 0 {
            let half = self.stack.len() / 2;
            search.offer(self.stack.drain(..half));
        }
    }

    fn expand(&mut self, state: StateId, run: &mut S::Run, scratch: &mut S::Run) {
        let mut enabled = std::mem::take(&mut self.enabled);
        self.system.enabled(run, &mut enabled);
        if self.careful {
            let mut outcomes = std::mem::take(&mut self.outcomes);
            self.system.early_outcomes(run, &mut outcomes);
            self.outcomes = outcomes;
            self.record(state);
        }
        if enabled.is_empty() {
            self.finish(state, run);
        } else if self.search.options.reduce {
            let mut chosen = std::mem::take(&mut self.chosen);
            self.system.persistent(run, &enabled, &mut chosen);
            let steps = chosen.iter().map(|position| &enabled[*position]);
            let any_new = self.follow(state, run, scratch, steps);
            if !any_new && chosen.len() < enabled.len() && self.careful {
                let others = (0..enabled.len()).filter(|position| !chosen.contains(position));
                self.follow(state, run, scratch, others.map(|position| &enabled[position]));
            }
            self.chosen = chosen;
        } else {
            self.follow(state, run, scratch, enabled.iter());
        }
        self.enabled = enabled;
    }

    /// Performs actions; tells whether any of them leads to a new state.
    fn follow<'b>(
        &mut self,
        from: StateId,
        run: &S::Run,
        scratch: &mut S::Run,
        actions: impl Iterator<Item = &'b S::Action>,
    ) -> bool
    where
        S::Action: 'b,
    {
        self.batch.clear();
        for action in actions {
            self.tally.transitions += 1;
            let successors = &mut self.batch.bytes;
            self.system.encode_successor(run, &self.bytes, action, scratch, successors);
            self.batch.finish_state();
        }
        self.visit(from)
    }

    /// Takes up the states of the batch; tells whether any is new.
    fn visit(&mut self, parent: StateId) -> bool {
        let before = self.stack.len();
        let stack = &mut self.stack;
        let keep = |state| stack.push(state);
        if self.search.store.insert_all(&mut self.batch, parent, keep).is_err() {
            self.search.end(End::Memory);
        }
        self.stack.len() > before
    }

    fn finish(&mut self, state: StateId, run: &mut S::Run) {
        self.tally.final_states += 1;
        let mut outcomes = std::mem::take(&mut self.outcomes);
        self.system.outcomes(run, &mut outcomes);
        self.outcomes = outcomes;
        self.record(state);
    }

    fn record(&mut self, state: StateId) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            if (self.search.enough)(&outcome) {
                self.search.end(End::Enough);
            }
            self.tally.outcomes.entry(outcome).or_insert(state);
        }
        self.outcomes = outcomes;
    }
}

impl<Enough> Search<'_, Enough> {
    fn pool(&self) -> std::sync::MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, end: End) {
        self.pool().end.get_or_insert(end);
        self.ended.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    fn offer(&self, states: impl Iterator<Item = StateId>) {
        self.pool().states.extend(states);
        self.wake.notify_all();
    }

    /// Takes work from the pool, or waits until there is some or all is done.
    fn wait_for_work(&self, stack: &mut Vec<StateId>) -> Option<StateId> {
        let mut pool = self.pool();
        pool.working -= 1;
        self.hungry.fetch_add(1, Ordering::Relaxed);
        loop {
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            if !pool.states.is_empty() {
                let share = pool.states.len().div_ceil(2);
                let rest = pool.states.len() - share;
                stack.extend(pool.states.drain(rest..));
                break;
            }
            if pool.working == 0 {
                self.wake.notify_all();
                break;
            }
            pool = self.wake.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        self.hungry.fetch_sub(1, Ordering::Relaxed);
        let state = stack.pop();
        if state.is_some() {
            pool.working += 1;
        }
        state
    }

    fn conclude<S: Stateful>(
        &self,
        system: &S,
        tallies: Vec<Tally<S::Outcome>>,
    ) -> StateReport<S::Outcome, S::Action> {
        let mut report = Report::new();
        let mut seen: HashMap<S::Outcome, (), FxBuildHasher> = HashMap::with_hasher(FxBuildHasher);
        for tally in tallies {
            report.transitions += tally.transitions;
            report.executions += tally.final_states;
            for (outcome, state) in tally.outcomes {
                if seen.insert(outcome.clone(), ()).is_none() {
                    let trace = self.trace(system, state);
                    report.found.push(Found { outcome, trace });
                }
            }
        }
        // The order of discovery depends on the threads; that of the traces does not.
        report.found.sort_by_cached_key(|found| {
            (found.trace.len(), FxBuildHasher.hash_one(&found.outcome))
        });
        report.states = self.store.len() as u64;
        report.coverage = match self.pool().end {
            None => Coverage::Exhaustive,
            Some(End::Memory) => {
                Coverage::Bounded(format!("memory of {} MiB", self.options.memory >> 20))
            }
            Some(End::States) => Coverage::Bounded(format!("{} states", self.options.max_states)),
            Some(End::Interrupted) => Coverage::Bounded("interrupted".into()),
            Some(End::Enough) => Coverage::Bounded("stopped at the first match".into()),
        };
        StateReport { report, bytes: self.store.bytes() }
    }

    /// The actions that lead to a state: back along the parents, then forward again.
    fn trace<S: Stateful>(&self, system: &S, state: StateId) -> Vec<S::Action> {
        let mut path = Vec::new();
        let mut current = state;
        while current != StateId::NONE {
            let mut bytes = Vec::new();
            let parent = self.store.read(current, &mut bytes);
            path.push(bytes);
            current = parent;
        }
        path.reverse();
        let mut run = system.start();
        let mut next = system.start();
        let (mut enabled, mut trace, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for pair in path.windows(2) {
            system.decode(&pair[0], &mut run);
            system.enabled(&mut run, &mut enabled);
            for action in &enabled {
                system.assign(&mut next, &run);
                system.step(&mut next, action);
                system.canonicalise(&mut next);
                bytes.clear();
                system.encode(&next, &mut bytes);
                if bytes == pair[1] {
                    trace.push(action.clone());
                    break;
                }
            }
        }
        trace
    }
}
