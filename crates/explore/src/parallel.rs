//! The optimal search on several cores.
//!
//! The tree of executions is divided while it is searched. A worker searches below a *branch* of a
//! shared node, alone, as `optimal.rs` does; when others have nothing to do, it shares the first of
//! its own nodes from which more is to be tried, and all nodes before it. A reversal planned at a
//! shared node goes into the wakeup tree there, whoever planned it.
//!
//! It is the same search in another order of time. In the order in which the branches of a node are
//! begun, everything is as if each were finished before the next:
//!
//! - What was begun earlier sleeps, finished or not. So nothing is explored twice, and nothing in
//!   vain: what slept when a sequence was planned, and what stood before it in the tree, is woken by
//!   the sequence.
//! - A reversal found below one branch may have to be planned below a later one, if that begins
//!   with steps independent of the former (`dpor.rs` says why: "v contains p·w_q"). One worker would
//!   not have begun that later branch yet. Here it may be under way, and so it is begun along a
//!   whole planned sequence, each of whose nodes is shared and takes plans. Only at its end, where
//!   nothing is asleep any more, does anybody search alone: nothing could be planned there from
//!   outside by one worker either, because that is a leaf of the tree.
//! - A reversal covered by an earlier branch is dropped, although that branch may be unfinished:
//!   whether it covers it does not depend on when.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use rustc_hash::FxHashMap;

use crate::forest::{Forest, Initial, Place, Sequence, weak_initial};
use crate::limits::{Limits, Meter};
use crate::optimal::{End, Search};
use crate::report::Report;
use crate::threaded::{Pick, Step, Threaded};

/// Who searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workers {
    /// How many there are.
    pub count: usize,
    /// Is the search divided after every execution, and not only when a worker has nothing to do?
    /// That is slow, and for those who want to see that dividing changes nothing.
    pub eager: bool,
}

impl Workers {
    /// So many, who divide the search when one has nothing to do.
    pub fn new(count: usize) -> Self {
        Workers { count: count.max(1), eager: false }
    }
}

/// As [`crate::optimal`], by several workers, each with a system of its own. The systems must be
/// equal, that is, threads and objects must have the same numbers in all of them. Each trace is
/// explored exactly once; which of its linearisations, and in which order, is left to chance.
pub fn optimal_parallel<S>(
    make: impl Fn() -> S + Sync,
    workers: Workers,
    limits: &Limits<'_>,
    visit: impl Fn(&S, &S::Outcome) -> bool + Sync,
) -> Report<S::Outcome, Pick>
where
    S: Threaded<Outcome: Send>,
{
    let crew = Arc::new(SharedSearch::new(workers));
    let work = |first: bool| {
        // If the code under test brings this worker down, the others must not wait for it.
        let _leaving = Leaving(&crew);
        let worker = Worker { crew: crew.clone(), limits, meter: Meter::default() };
        worker.work(&make, first, &visit)
    };
    let results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers.count).map(|_| scope.spawn(|| work(false))).collect();
        let mut results = vec![work(true)];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    merge(results)
}

/// Stops the others if this worker panics.
struct Leaving<'c>(&'c SharedSearch);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

type Result<Outcome> = (Report<Outcome, Pick>, Meter);

/// One report of several: each outcome once, with the first of its shortest traces.
fn merge<Outcome: Clone + Eq + std::hash::Hash>(
    results: Vec<Result<Outcome>>,
) -> Report<Outcome, Pick> {
    let mut whole = Report::new();
    let mut meter = Meter::default();
    let mut found = Vec::new();
    for (report, part) in results {
        whole.transitions += report.transitions;
        whole.executions += report.executions;
        whole.cut += report.cut;
        whole.redundant += report.redundant;
        meter.also(part);
        found.extend(report.found);
    }
    found.sort_by_cached_key(|found: &crate::report::Found<Outcome, Pick>| {
        let picks = found.trace.iter().map(|pick| (pick.thread, pick.choice));
        (found.trace.len(), picks.collect::<Vec<_>>())
    });
    let mut seen = FxHashMap::default();
    found.retain(|found| seen.insert(found.outcome.clone(), ()).is_none());
    whole.found = found;
    whole.coverage = meter.coverage();
    whole
}

/// What all workers share.
struct SharedSearch {
    workers: Workers,
    state: Mutex<PendingWork>,
    changed: Condvar,
    /// How many workers have nothing to do.
    idle: AtomicUsize,
    stopped: AtomicBool,
    executions: AtomicU64,
}

#[derive(Default)]
struct PendingWork {
    /// Shared nodes from which something is to be tried. One may be here twice, or in vain.
    junctions: Vec<Arc<Junction>>,
    /// Nodes along planned sequences: those before know them, but do not own them.
    along: Vec<Arc<Junction>>,
    done: bool,
}

/// A node that several workers know.
struct Junction {
    /// The node before, and the step from there to here.
    parent: Option<(Arc<Junction>, Pick)>,
    trials: Mutex<Trials>,
}

/// What is and was tried at a shared node.
#[derive(Default)]
struct Trials {
    /// What slept when the node was reached.
    asleep: Vec<Step>,
    /// The branches that were begun, in their order.
    begun: Vec<Begun>,
    forest: Forest,
    /// What is still to be begun.
    tree: Place,
}

/// A branch of a shared node.
struct Begun {
    step: Step,
    /// The node after it, if that is shared because the branch goes along a planned sequence.
    below: Option<Weak<Junction>>,
}

impl Drop for Junction {
    fn drop(&mut self) {
        // Not recursive: paths can be long.
        let mut parent = self.parent.take();
        while let Some((junction, _)) = parent {
            parent = Arc::into_inner(junction).and_then(|mut junction| junction.parent.take());
        }
    }
}

impl Junction {
    fn trials(&self) -> MutexGuard<'_, Trials> {
        self.trials.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plans a sequence that was found below one branch of this node, unless something covers it.
    /// Gives the node at which there is something to try where there was nothing.
    fn plan(self: &Arc<Self>, own: Pick, sequence: &mut Sequence<'_>) -> Option<Arc<Junction>> {
        let trials = self.trials();
        let earlier =
            trials.begun.iter().map(|begun| &begun.step).take_while(|step| step.pick != own);
        let covers = |step: &Step| weak_initial(step, sequence) != Initial::No;
        if trials.asleep.iter().chain(earlier).any(covers) {
            return None;
        }
        drop(trials);
        let mut junction = self.clone();
        loop {
            let mut trials = junction.trials();
            let follows = |begun: &Begun| match weak_initial(&begun.step, sequence) {
                Initial::At(position) => Some((Some(position), begun.below.clone())),
                Initial::Independent => Some((None, begun.below.clone())),
                Initial::No => None,
            };
            let Some((position, below)) = trials.begun.iter().find_map(follows) else {
                let Trials { forest, tree, .. } = &mut *trials;
                let was_empty = tree.is_none();
                let grown = forest.insert(tree, sequence);
                drop(trials);
                return (grown && was_empty).then_some(junction);
            };
            // What begins with that branch is explored below it, unless it is still guided there.
            let below = below?.upgrade()?;
            if let Some(position) = position {
                sequence.remove(position);
            }
            drop(trials);
            junction = below;
        }
    }
}

/// The nodes at the beginning of a search's executions that it shares with others.
#[derive(Default)]
pub(crate) struct Prefix {
    junctions: Vec<Arc<Junction>>,
    crew: Option<Arc<SharedSearch>>,
}

impl Prefix {
    pub(crate) fn len(&self) -> usize {
        self.junctions.len()
    }

    /// Plans a sequence, found below the search's own branch of a shared node, at that node.
    pub(crate) fn plan(&self, node: usize, own: Pick, sequence: &mut Sequence<'_>) {
        let grown = self.junctions[node].plan(own, sequence);
        if let (Some(junction), Some(crew)) = (grown, &self.crew) {
            crew.offer(junction);
        }
    }
}

/// Something to search: everything after a branch of a shared node, at the end of a planned
/// sequence.
struct Job {
    junction: Arc<Junction>,
    pick: Pick,
    sleep: Vec<Step>,
}

impl SharedSearch {
    fn new(workers: Workers) -> Self {
        SharedSearch {
            workers,
            state: Mutex::default(),
            changed: Condvar::new(),
            idle: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            executions: AtomicU64::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, PendingWork> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&self, junction: Arc<Junction>) {
        self.state().junctions.push(junction);
        self.changed.notify_one();
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.state().done = true;
        self.changed.notify_all();
    }

    /// The next branch to search; waits for one. `None` when there will be none any more.
    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        self.idle.fetch_add(1, Ordering::Relaxed);
        loop {
            if state.done {
                return None;
            }
            if let Some(junction) = state.junctions.pop() {
                if let Some(job) = Job::take(junction, &mut state) {
                    self.idle.fetch_sub(1, Ordering::Relaxed);
                    if !state.junctions.is_empty() {
                        self.changed.notify_one();
                    }
                    return Some(job);
                }
                continue;
            }
            if self.idle.load(Ordering::Relaxed) == self.workers.count {
                state.done = true;
                self.changed.notify_all();
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Is work to be divided: has a worker nothing to do, and is nothing offered?
    fn is_hungry(&self) -> bool {
        self.workers.eager
            || (self.idle.load(Ordering::Relaxed) > 0 && self.state().junctions.is_empty())
    }
}

impl Job {
    /// Begins the next planned sequence of a node, if there is one, and shares the nodes along it.
    fn take(mut junction: Arc<Junction>, state: &mut PendingWork) -> Option<Job> {
        loop {
            let mut trials = junction.trials();
            let Trials { asleep, begun, forest, tree } = &mut *trials;
            if tree.is_none() {
                return None;
            }
            let step = forest.step(*tree).clone();
            let pick = step.pick;
            let (children, rest) = forest.take_first(*tree);
            *tree = rest;
            let sleep = asleep.iter().chain(begun.iter().map(|begun| &begun.step));
            let below = if children.is_none() {
                let sleep = sleep.cloned().collect();
                begun.push(Begun { step, below: None });
                if !rest.is_none() {
                    state.junctions.push(junction.clone());
                }
                drop(trials);
                return Some(Job { junction, pick, sleep });
            } else {
                let stays = |sleeper: &&Step| {
                    sleeper.pick.thread != pick.thread && !sleeper.conflicts(&step)
                };
                let mut below =
                    Trials { asleep: sleep.filter(stays).cloned().collect(), ..Trials::default() };
                below.tree = below.forest.graft(forest, children);
                let parent = Some((junction.clone(), pick));
                Arc::new(Junction { parent, trials: Mutex::new(below) })
            };
            begun.push(Begun { step, below: Some(Arc::downgrade(&below)) });
            if !rest.is_none() {
                state.junctions.push(junction.clone());
            }
            drop(trials);
            state.along.push(below.clone());
            junction = below;
        }
    }

    /// The nodes up to that of the branch, and the steps between them.
    fn path(&self) -> (Vec<Arc<Junction>>, Vec<Pick>) {
        let (mut junctions, mut picks) = (vec![self.junction.clone()], Vec::new());
        while let Some((parent, pick)) = junctions.last().and_then(|last| last.parent.clone()) {
            junctions.push(parent);
            picks.push(pick);
        }
        junctions.reverse();
        picks.reverse();
        (junctions, picks)
    }
}

/// One of the workers.
struct Worker<'l> {
    crew: Arc<SharedSearch>,
    limits: &'l Limits<'l>,
    meter: Meter,
}

impl Worker<'_> {
    /// Searches until nothing is left. The first worker begins at the root.
    fn work<S: Threaded>(
        mut self,
        make: &(impl Fn() -> S + Sync),
        first: bool,
        visit: &(impl Fn(&S, &S::Outcome) -> bool + Sync),
    ) -> Result<S::Outcome> {
        let mut job = if first { None } else { self.crew.next() };
        if job.is_none() && !first {
            return (Report::new(), self.meter);
        }
        let mut system = make();
        let mut search = Search::new(&mut system);
        loop {
            if let Some(job) = job {
                let (junctions, path) = job.path();
                search.sleepers = job.sleep;
                let prefix = Prefix { junctions, crew: Some(self.crew.clone()) };
                if !search.resume(prefix, &path, job.pick) {
                    self.meter.bounded_by("the program is not deterministic");
                    search.report.redundant += 1;
                    self.crew.stop();
                    break;
                }
            }
            self.search_below(&mut search, visit);
            job = self.crew.next();
            if job.is_none() {
                break;
            }
        }
        (search.report, self.meter)
    }

    /// Searches everything that is private to this worker.
    fn search_below<S: Threaded>(
        &mut self,
        search: &mut Search<'_, S>,
        visit: &impl Fn(&S, &S::Outcome) -> bool,
    ) {
        loop {
            let end = search.descend(self.limits, &mut self.meter);
            if end == End::Interrupted {
                return self.crew.stop();
            }
            let go_on = search
                .conclude(end, &mut |system: &S, outcome: &S::Outcome| visit(system, outcome));
            let executions = match end {
                End::Complete | End::Cut => {
                    self.crew.executions.fetch_add(1, Ordering::Relaxed) + 1
                }
                End::Asleep | End::Interrupted => self.crew.executions.load(Ordering::Relaxed),
            };
            if let Some(progress) = self.limits.progress {
                progress(executions);
            }
            if !go_on {
                self.meter.bounded_by("stopped by the visitor");
                self.crew.stop();
            }
            if self.limits.stop_when_cut && end == End::Cut {
                self.crew.stop();
            }
            if self.crew.stopped.load(Ordering::Relaxed) {
                return;
            }
            if self.crew.is_hungry() {
                self.share(search);
            }
            if !search.backtrack() {
                return;
            }
            let bytes = search.bytes() * self.crew.workers.count;
            if self.meter.stops(self.limits, executions) || self.meter.fills(self.limits, bytes) {
                return self.crew.stop();
            }
        }
    }

    /// Shares the first node of its own from which something is to be tried, and those before it.
    fn share<S: Threaded>(&self, search: &mut Search<'_, S>) {
        search.prefix.crew.get_or_insert_with(|| self.crew.clone());
        let start = search.prefix.len();
        let own = &search.nodes[start..search.history.len()];
        let Some(position) = own.iter().position(|node| !node.tree.is_none()) else { return };
        for number in start..=start + position {
            let node = &mut search.nodes[number];
            let asleep = search.sleepers[node.sleep.clone()].to_vec();
            let step = search.history.events[number].step.clone();
            let begun = vec![Begun { step, below: None }];
            let mut forest = Forest::default();
            let tree = forest.graft(&search.forest, node.tree);
            node.tree = Place::NONE;
            let parent = search
                .prefix
                .junctions
                .last()
                .map(|parent| (parent.clone(), search.history.events[number - 1].step.pick));
            let trials = Mutex::new(Trials { asleep, begun, forest, tree });
            search.prefix.junctions.push(Arc::new(Junction { parent, trials }));
        }
        if let Some(junction) = search.prefix.junctions.last() {
            self.crew.offer(junction.clone());
        }
    }
}
