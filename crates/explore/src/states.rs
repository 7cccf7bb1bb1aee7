//! The search over states: every state once, on all cores, with or without partial-order reduction
//! (`walk.rs`). Each thread has a stack of states; a thread without work gets half of another's.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, RwLockReadGuard};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::coverage::Coverage;
use crate::packed::{Batch, unpack};
use crate::report::{Found, Report};
use crate::seen::{Seen, Tables};
use crate::system::{Stateful, System};
use crate::walk::{Frontier, Reduction, Visit, first_state, walk};

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
    /// Reports that so many more states were looked at.
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
        seen: Seen::default(),
        enough: &enough,
        pool: Mutex::new(Pool { states: StateStack::default(), working: threads, end: None }),
        wake: Condvar::new(),
        hungry: AtomicUsize::new(0),
        ended: AtomicBool::new(false),
    };
    search.begin(&first_state(system));
    let tallies: Vec<Tally<S::Outcome>> = if threads == 1 {
        vec![search.run(system)]
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|_| {
                    let (system, search) = (system.clone(), &search);
                    scope.spawn(move || search.run(&system))
                })
                .collect();
            let mut tallies = vec![search.run(system)];
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

/// States one after another, the last one first.
#[derive(Default)]
struct StateStack {
    words: Vec<u64>,
    /// Where each state ends.
    ends: Vec<usize>,
}

impl StateStack {
    fn push(&mut self, state: &[u64]) {
        self.words.extend_from_slice(state);
        self.ends.push(self.words.len());
    }

    /// Moves the last state to `state`.
    fn pop(&mut self, state: &mut Vec<u64>) -> bool {
        if self.ends.pop().is_none() {
            return false;
        }
        let start = self.ends.last().copied().unwrap_or(0);
        state.clear();
        state.extend_from_slice(&self.words[start..]);
        self.words.truncate(start);
        true
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes it takes.
    fn size(&self) -> usize {
        self.words.capacity() * 8 + self.ends.capacity() * size_of::<usize>()
    }

    /// Moves the first states to another stack.
    fn give(&mut self, states: usize, to: &mut StateStack) {
        let Some(last) = states.checked_sub(1) else { return };
        let end = self.ends[last];
        let offset = to.words.len();
        to.ends.extend(self.ends.drain(..states).map(|end| offset + end));
        to.words.extend(self.words.drain(..end));
        for place in &mut self.ends {
            *place -= end;
        }
    }
}

/// Work that is free to take.
struct Pool {
    states: StateStack,
    /// How many threads are not waiting for work.
    working: usize,
    end: Option<End>,
}

struct Search<'a, Enough> {
    options: &'a StateOptions<'a>,
    seen: Seen,
    enough: &'a Enough,
    pool: Mutex<Pool>,
    wake: Condvar,
    /// How many threads wait for work.
    hungry: AtomicUsize,
    ended: AtomicBool,
}

/// What one thread saw, with a state that shows each outcome.
struct Tally<Outcome> {
    outcomes: HashMap<Outcome, Vec<u64>, FxBuildHasher>,
    transitions: u64,
    final_states: u64,
}

/// The frontier of one thread.
struct Worker<'a, S: System, Enough> {
    search: &'a Search<'a, Enough>,
    /// The tables of the seen states; given back now and then, so that others can make them grow.
    tables: Option<RwLockReadGuard<'a, Tables>>,
    stack: StateStack,
    /// States that were reached and not looked up yet.
    batch: Batch,
    tally: Tally<S::Outcome>,
    outcomes: Vec<S::Outcome>,
    /// The state that is looked at.
    current: Vec<u64>,
    /// Are there outcomes that only a state on an endless execution may show?
    early_outcomes: bool,
    budget: u32,
}

/// How many states are looked up together where that is possible: the processor then waits for many places in
/// memory at once.
const LOOKED_UP_TOGETHER: usize = 64;
/// How many states a thread expands between two looks at limits and at the others.
const STRIDE: u32 = 64;

impl<S: Stateful, Enough: Fn(&S::Outcome) -> bool> Frontier<S> for Worker<'_, S, Enough> {
    /// The state is [`Worker::current`].
    type Key = ();

    fn next(&mut self, system: &S, bytes: &mut Vec<u8>) -> Option<()> {
        if self.budget == 0 {
            self.budget = STRIDE;
            self.look_around(system);
            self.search.options.advance(STRIDE.into());
        }
        self.budget -= 1;
        if self.search.ended.load(Ordering::Relaxed) {
            return None;
        }
        if !self.stack.pop(&mut self.current) && !self.find_work() {
            return None;
        }
        unpack(&self.current, bytes);
        self.batch.expand(&self.current);
        Some(())
    }

    fn visit(&mut self, system: &S, (): (), run: &mut S::Run, enabled: &[S::Action]) -> Visit {
        if self.early_outcomes {
            system.early_outcomes(run, &mut self.outcomes);
            self.record();
        }
        if enabled.is_empty() {
            self.tally.final_states += 1;
            system.outcomes(run, &mut self.outcomes);
            self.record();
        }
        Visit::Expand
    }

    fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    fn reach<'b>(
        &mut self,
        (): (),
        _first: usize,
        actions: impl Iterator<Item = &'b S::Action>,
    ) -> bool
    where
        S::Action: 'b,
    {
        self.tally.transitions += actions.count() as u64;
        // Without reduction it is enough to know later.
        if !self.search.options.reduce && self.batch.len() < LOOKED_UP_TOGETHER {
            return true;
        }
        self.look_up()
    }
}

impl<S: Stateful, Enough: Fn(&S::Outcome) -> bool> Worker<'_, S, Enough> {
    /// Looks up the states of the batch, and keeps those that are new. Are there any?
    fn look_up(&mut self) -> bool {
        let before = self.stack.len();
        let tables = self.tables.take().unwrap_or_else(|| self.search.seen.tables());
        let stack = &mut self.stack;
        let keep = |state: &[u64]| stack.push(state);
        self.tables = Some(self.search.seen.insert_all(tables, &mut self.batch, keep));
        self.batch.clear();
        self.stack.len() > before
    }

    /// Finds a state to look at when the stack is empty: among the successors that were not looked up yet, or
    /// in the pool.
    fn find_work(&mut self) -> bool {
        self.look_up();
        if self.stack.pop(&mut self.current) {
            return true;
        }
        self.tables = None;
        self.search.wait_for_work(&mut self.stack);
        self.stack.pop(&mut self.current)
    }

    /// Watches the limits, and gives half of its work to threads that have none.
    fn look_around(&mut self, system: &S) {
        let search = self.search;
        self.tables = None;
        if search.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            search.end(End::Interrupted);
        }
        if search.seen.bytes() + system.memory() + self.stack.size() > search.options.memory {
            search.end(End::Memory);
        }
        if search.options.max_states < u64::MAX
            && search.seen.len() as u64 > search.options.max_states
        {
            search.end(End::States);
        }
        if self.stack.len() > 1 && search.hungry.load(Ordering::Relaxed) > 0 {
            let half = self.stack.len() / 2;
            self.stack.give(half, &mut search.pool().states);
            search.wake.notify_all();
        }
    }

    /// Keeps the outcomes that the current state shows.
    fn record(&mut self) {
        for outcome in self.outcomes.drain(..) {
            if (self.search.enough)(&outcome) {
                self.search.end(End::Enough);
            }
            self.tally.outcomes.entry(outcome).or_insert_with(|| self.current.clone());
        }
    }
}

impl<Enough> Search<'_, Enough> {
    /// Puts the first state into the pool.
    fn begin(&self, first: &[u8]) {
        let mut batch = Batch::single(first);
        let take = |state: &[u64]| self.pool().states.push(state);
        drop(self.seen.insert_all(self.seen.tables(), &mut batch, take));
    }

    /// Searches with one thread until there is no work left.
    fn run<S: Stateful>(&self, system: &S) -> Tally<S::Outcome>
    where
        Enough: Fn(&S::Outcome) -> bool,
    {
        let early_outcomes = system.has_early_outcomes() && !system.always_ends();
        let reduction = Reduction { reduce: self.options.reduce, puts_nothing_off: early_outcomes };
        let mut worker: Worker<'_, S, Enough> = Worker {
            search: self,
            tables: None,
            stack: StateStack::default(),
            batch: Batch::default(),
            tally: Tally { outcomes: HashMap::default(), transitions: 0, final_states: 0 },
            outcomes: Vec::new(),
            current: Vec::new(),
            early_outcomes,
            budget: 0,
        };
        walk(system, &mut worker, reduction);
        worker.tally
    }

    fn pool(&self) -> std::sync::MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, end: End) {
        self.pool().end.get_or_insert(end);
        self.ended.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    /// Takes work from the pool, or waits until there is some or all is done.
    fn wait_for_work(&self, stack: &mut StateStack) {
        let mut pool = self.pool();
        pool.working -= 1;
        self.hungry.fetch_add(1, Ordering::Relaxed);
        loop {
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            let free = pool.states.len();
            if free > 0 {
                pool.states.give(free.div_ceil(2), stack);
                pool.working += 1;
                break;
            }
            if pool.working == 0 {
                self.wake.notify_all();
                break;
            }
            pool = self.wake.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        self.hungry.fetch_sub(1, Ordering::Relaxed);
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
                    let trace = trace(system, &self.seen, state);
                    report.found.push(Found { outcome, trace });
                }
            }
        }
        // The order of discovery depends on the threads; that of the traces does not.
        report.found.sort_by_cached_key(|found| {
            (found.trace.len(), FxBuildHasher.hash_one(&found.outcome))
        });
        report.states = self.seen.len() as u64;
        report.coverage = match self.pool().end {
            None => Coverage::Exhaustive,
            Some(End::Memory) => {
                Coverage::Bounded(format!("memory of {} MiB", self.options.memory >> 20))
            }
            Some(End::States) => Coverage::Bounded(format!("{} states", self.options.max_states)),
            Some(End::Interrupted) => Coverage::Bounded("interrupted".into()),
            Some(End::Enough) => Coverage::Bounded("stopped at the first match".into()),
        };
        StateReport { report, bytes: self.seen.bytes() }
    }
}

/// The actions that lead from the first state to this one: back along the parents.
///
/// A parent is known by a prefix of its hash only. Several states may have it; the parent is one that has a
/// step to the child and is not on the way already. There always is one, the state from which the child
/// was reached.
fn trace<S: Stateful>(system: &S, seen: &Seen, last: Vec<u64>) -> Vec<S::Action> {
    let first = Batch::single(&first_state(system));
    let mut steps = Steps { system, run: system.start(), scratch: system.start() };
    let mut on_the_way: HashSet<Vec<u64>, FxBuildHasher> = HashSet::default();
    on_the_way.insert(last.clone());
    let mut way = vec![Visited { state: last, action: None, others: Vec::new() }];
    loop {
        let Some(child) = way.last().map(|visited| visited.state.clone()) else {
            return Vec::new();
        };
        if child == first.state(0) {
            let actions = way.into_iter().rev().filter_map(|visited| visited.action);
            return actions.collect();
        }
        let mut others: Vec<_> =
            seen.parent(&child).map_or(Vec::new(), |hash| seen.with_hash(hash));
        others.retain(|other| !on_the_way.contains(other));
        let parents = others.into_iter();
        let parents = parents.filter_map(|state| Some((steps.between(&state, &child)?, state)));
        let mut others: Vec<(S::Action, Vec<u64>)> = parents.collect();
        while others.is_empty() {
            // A wrong turn: the next parent of the state before.
            let Some(wrong) = way.pop() else { return Vec::new() };
            on_the_way.remove(&wrong.state);
            others = wrong.others;
        }
        if let Some((action, state)) = others.pop() {
            on_the_way.insert(state.clone());
            way.push(Visited { state, action: Some(action), others });
        }
    }
}

/// A state on the way back to the first one.
struct Visited<Action> {
    state: Vec<u64>,
    /// The step to the state before it on the way back.
    action: Option<Action>,
    /// What else could be in its place.
    others: Vec<(Action, Vec<u64>)>,
}

/// Finds steps between states.
struct Steps<'a, S: Stateful> {
    system: &'a S,
    run: S::Run,
    scratch: S::Run,
}

impl<S: Stateful> Steps<'_, S> {
    /// A step from one state to another, if there is one.
    fn between(&mut self, from: &[u64], to: &[u64]) -> Option<S::Action> {
        let (mut source, mut target) = (Vec::new(), Vec::new());
        unpack(from, &mut source);
        unpack(to, &mut target);
        self.system.decode(&source, &mut self.run);
        let (mut enabled, mut bytes) = (Vec::new(), Vec::new());
        self.system.enabled(&mut self.run, &mut enabled);
        enabled.into_iter().find(|action| {
            bytes.clear();
            let (run, scratch) = (&self.run, &mut self.scratch);
            self.system.encode_successor(run, action, scratch, &mut bytes);
            bytes == target
        })
    }
}
