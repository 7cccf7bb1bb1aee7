//! Optimal stateless search for deterministic threads (Abdulla, Aronis, Jonsson, Sagonas: Optimal
//! Dynamic Partial Order Reduction, 2014, algorithm 2): what `dpor.rs` does for any system, at a
//! fraction of the cost for a [`Threaded`] one. The argument for why nothing is forgotten is there.
//!
//! | paper | here |
//! |---|---|
//! | E | the history |
//! | sleep(E) | [`Node::sleep`], with the explored branches added |
//! | wut(E) | [`Node::tree`] |
//! | e ≾ e' | [`Event::races`](crate::history::Event) |
//! | notdep(e, E)·proc(e') | [`Search::plan`] |
//!
//! A reversal is planned again for a later execution only if notdep has changed since.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::crew::{Crew, Planned, Prefix, Reply, Reversals, Task};
use crate::forest::{Forest, Initial, Place, weak_initial};
use crate::history::History;
use crate::limits::{Limits, Meter};
use crate::report::{Found, Report};
use crate::system::ThreadId;
use crate::threaded::{Accesses, Pick, Step, Threaded};

/// Explores one execution for each Mazurkiewicz trace of the system. The visitor sees each complete
/// execution and its outcome; the search ends as if interrupted when it answers `false`.
pub fn optimal<S: Threaded>(
    system: &mut S,
    limits: &Limits<'_>,
    mut visit: impl FnMut(&S, &S::Outcome) -> bool,
) -> Report<S::Outcome, Pick> {
    let mut search = Search::new(system);
    let mut meter = Meter::default();
    search.run(limits, &mut meter, &mut visit, None);
    let mut report = search.report;
    report.coverage = meter.coverage();
    report
}

/// The same search on several operating system threads, each with systems of its own, all of which
/// give the same numbers to the same threads and objects. The outcomes are the same, and nearly
/// always the number of executions; the order of discovery is not.
pub fn optimal_parallel<S: Threaded>(
    make: &(impl Fn() -> S + Sync),
    jobs: usize,
    limits: &Limits<'_>,
    visit: &(impl Fn(&S, &S::Outcome) -> bool + Sync),
) -> Report<S::Outcome, Pick>
where
    S::Outcome: Send,
{
    let crew = Crew::default();
    let total = Mutex::new((Report::new(), Meter::default()));
    let team = Team { crew: &crew, make, visit, limits, total: &total };
    std::thread::scope(|scope| {
        for _ in 1..jobs.max(1) {
            scope.spawn(|| {
                while let Some(task) = crew.next() {
                    team.explore(task);
                }
            });
        }
        team.explore_all();
        crew.finish();
    });
    let (mut report, meter) = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.coverage = meter.coverage();
    report
}

/// What the searches of a crew share.
struct Team<'t, S: Threaded, M, V> {
    crew: &'t Crew,
    make: &'t M,
    visit: &'t V,
    limits: &'t Limits<'t>,
    total: &'t Mutex<(Report<S::Outcome, Pick>, Meter)>,
}

/// What a search asks its team for: work for others, or work while it waits.
trait Help {
    fn crew(&self) -> &Crew;
    fn explore_for(&self, task: Task);
}

impl<S: Threaded, M: Fn() -> S, V: Fn(&S, &S::Outcome) -> bool> Help for Team<'_, S, M, V> {
    fn crew(&self) -> &Crew {
        self.crew
    }

    fn explore_for(&self, task: Task) {
        self.explore(task);
    }
}

impl<S: Threaded, M: Fn() -> S, V: Fn(&S, &S::Outcome) -> bool> Team<'_, S, M, V> {
    fn explore_all(&self) {
        let mut system = (self.make)();
        let mut search = Search::new(&mut system);
        self.run(&mut search);
    }

    fn explore(&self, task: Task) {
        let mut system = (self.make)();
        let mut search = Search::new(&mut system);
        let reply = task.reply.clone();
        search.begin_task(task);
        self.run(&mut search);
        self.crew.answer(&reply, std::mem::take(&mut search.outbox));
    }

    fn run(&self, search: &mut Search<'_, S>) {
        let mut meter = Meter::default();
        let mut visit = |system: &S, outcome: &S::Outcome| (self.visit)(system, outcome);
        search.run(self.limits, &mut meter, &mut visit, Some(self));
        let report = std::mem::take(&mut search.report);
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, meters) = &mut *total;
        all.executions += report.executions;
        all.transitions += report.transitions;
        all.redundant += report.redundant;
        for found in report.found {
            if !all.found.iter().any(|known| known.outcome == found.outcome) {
                all.found.push(found);
            }
        }
        meters.also(meter);
    }
}

/// How a descent ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing is enabled any more.
    Complete,
    /// The execution is as long as allowed.
    Cut,
    /// All that is enabled is asleep.
    Asleep,
    /// Somebody asked to stop.
    Interrupted,
}

/// A state on the current execution.
struct Node {
    /// What is to be tried from here, the branch under exploration excluded.
    tree: Place,
    /// What need not be done here because an explored execution covers it: a range of the stack of
    /// sleepers.
    sleep: Range<usize>,
    /// Has notdep of the event made here changed since its reversals were planned?
    stale: bool,
    /// Branches that others explore.
    given: Vec<Step>,
}

/// A branch that somebody else explores.
struct Donation {
    depth: usize,
    reply: Reply,
}

struct Search<'s, S: Threaded> {
    system: &'s mut S,
    history: History,
    forest: Forest,
    nodes: Vec<Node>,
    sleepers: Vec<Step>,
    /// Events from here on are new since reversals were last planned.
    fresh: usize,
    report: Report<S::Outcome, Pick>,
    seen: FxHashMap<S::Outcome, ()>,
    outcome_bytes: usize,
    least: Vec<u32>,
    sequence: Vec<Step>,
    /// Nodes below this depth belong to the giver of the task.
    base: usize,
    /// Reversals for those nodes.
    outbox: Reversals,
    donations: Vec<Donation>,
}

impl<'s, S: Threaded> Search<'s, S> {
    fn new(system: &'s mut S) -> Self {
        system.restart();
        Search {
            system,
            history: History::default(),
            forest: Forest::default(),
            nodes: vec![Node { tree: Place::NONE, sleep: 0..0, stale: true, given: Vec::new() }],
            sleepers: Vec::new(),
            fresh: 0,
            report: Report::new(),
            seen: FxHashMap::default(),
            outcome_bytes: 0,
            least: Vec::new(),
            sequence: Vec::new(),
            base: 0,
            outbox: Vec::new(),
            donations: Vec::new(),
        }
    }

    /// Explores until nothing is left or a limit is reached.
    fn run(
        &mut self,
        limits: &Limits<'_>,
        meter: &mut Meter,
        visit: &mut impl FnMut(&S, &S::Outcome) -> bool,
        team: Option<&dyn Help>,
    ) {
        loop {
            let end = self.descend(limits, meter);
            if end == End::Interrupted {
                team.inspect(|team| team.crew().stop());
                break;
            }
            let go_on = self.conclude(end, visit);
            let executions = team.map_or(self.report.executions, |team| team.crew().count());
            if let Some(progress) = limits.progress {
                progress(executions);
            }
            if let Some(team) = team {
                if team.crew().is_stopped() {
                    break;
                }
                if team.crew().is_hungry() {
                    self.give(team.crew());
                }
            }
            if !self.backtrack(team) {
                break;
            }
            if !go_on {
                meter.bounded_by("stopped by the visitor");
                team.inspect(|team| team.crew().stop());
                break;
            }
            if meter.stops(limits, executions) || meter.fills(limits, self.bytes()) {
                team.inspect(|team| team.crew().stop());
                break;
            }
        }
    }

    /// Goes to the node of a task and makes the first step of its branch.
    fn begin_task(&mut self, task: Task) {
        for &pick in &task.picks {
            self.perform(pick, Place::NONE);
        }
        self.sleepers.clear();
        for (node, prefix) in self.nodes.iter_mut().zip(task.nodes) {
            let start = self.sleepers.len();
            self.sleepers.extend(prefix.sleep);
            node.sleep = start..self.sleepers.len();
            node.tree = self.forest.import(prefix.tree);
            node.stale = false;
        }
        self.fresh = self.history.len();
        self.base = self.nodes.len();
        self.report.transitions = 0;
        let children = self.forest.import(task.branch.children);
        self.perform(task.branch.step.pick, children);
    }

    /// Gives the shallowest branch away, if another one is left.
    fn give(&mut self, crew: &Crew) {
        let leaf = self.nodes.len() - 1;
        let planned = |&depth: &usize| !self.nodes[depth].tree.is_none();
        let mut depths = (self.base..leaf).filter(planned);
        let Some(depth) = depths.next() else { return };
        let tree = self.nodes[depth].tree;
        if depths.next().is_none() && !self.forest.has_several(tree) {
            return;
        }
        let step = self.forest.step(tree).clone();
        let (children, rest) = self.forest.take_first(tree);
        let branch = Planned { step: step.clone(), children: self.forest.export(children) };
        self.nodes[depth].tree = rest;
        let mut nodes: Vec<Prefix> = self.nodes[..=depth]
            .iter()
            .map(|node| {
                let asleep = self.sleepers[node.sleep.clone()].iter();
                let sleep = asleep.chain(&node.given).cloned().collect();
                Prefix { sleep, tree: self.forest.export(node.tree) }
            })
            .collect();
        if let Some(last) = nodes.last_mut() {
            last.sleep.push(self.history.events[depth].step.clone());
        }
        self.nodes[depth].given.push(step);
        let picks = self.history.events[..depth].iter().map(|event| event.step.pick).collect();
        let reply = Reply::default();
        self.donations.push(Donation { depth, reply: reply.clone() });
        crew.give(Task { picks, nodes, branch, reply });
    }

    /// Waits for a branch that was given away, and plans what came of it. Says whether to go on.
    fn receive(&mut self, donation: &Donation, team: &dyn Help) -> bool {
        loop {
            match team.crew().answer_or_task(&donation.reply) {
                None => return false,
                Some(Err(task)) => team.explore_for(task),
                Some(Ok(reversals)) => {
                    for (depth, mut sequence) in reversals {
                        // The step under exploration covers what begins with it.
                        let current = self.history.events.get(depth).map(|event| &event.step);
                        let covered = depth == donation.depth
                            && current.is_some_and(|current| {
                                weak_initial(current, sequence.iter()) != Initial::No
                            });
                        if !covered {
                            self.insert(depth, &mut sequence);
                        }
                    }
                    return true;
                }
            }
        }
    }

    /// Plans a sequence at a node, unless something asleep, given away or planned covers it.
    fn insert(&mut self, depth: usize, sequence: &mut Vec<Step>) {
        let node = &mut self.nodes[depth];
        let asleep = self.sleepers[node.sleep.clone()].iter().chain(&node.given);
        let mut covers = asleep.map(|sleeper| weak_initial(sleeper, sequence.iter()));
        if covers.any(|initial| initial != Initial::No) {
            return;
        }
        let copy = (depth < self.base).then(|| sequence.clone());
        if self.forest.insert(&mut node.tree, sequence)
            && let Some(copy) = copy
        {
            self.outbox.push((depth, copy));
        }
    }

    /// Roughly how many bytes are in use.
    fn bytes(&self) -> usize {
        self.forest.bytes() + self.outcome_bytes
    }

    /// Follows the wakeup tree, then anything, to the end of an execution.
    fn descend(&mut self, limits: &Limits<'_>, meter: &mut Meter) -> End {
        loop {
            let tree = self.nodes.last().map_or(Place::NONE, |node| node.tree);
            if tree.is_none() {
                match self.anything() {
                    Ok(pick) => {
                        if meter.cuts(limits, self.history.len()) {
                            return End::Cut;
                        }
                        self.perform(pick, Place::NONE);
                    }
                    Err(end) => return end,
                }
            } else {
                if meter.cuts(limits, self.history.len()) {
                    return End::Cut;
                }
                self.follow_tree(tree);
            }
            if meter.interrupted(limits) {
                return End::Interrupted;
            }
        }
    }

    /// An enabled step that is not asleep.
    fn anything(&self) -> Result<Pick, End> {
        let asleep = self.nodes.last().map_or(&[][..], |node| &self.sleepers[node.sleep.clone()]);
        let mut end = End::Complete;
        for number in 0..self.system.threads() {
            let thread = ThreadId(number);
            if !self.system.enabled(thread) {
                continue;
            }
            let choices = self.system.next(thread).map_or(1, |next| next.choices);
            let awake = (0..choices)
                .map(|choice| Pick { thread, choice })
                .find(|pick| !asleep.iter().any(|sleeper| sleeper.pick == *pick));
            if let Some(pick) = awake {
                return Ok(pick);
            }
            end = End::Asleep;
        }
        Err(end)
    }

    /// Makes the step at the head of the last node's tree.
    fn follow_tree(&mut self, tree: Place) {
        let pick = self.forest.step(tree).pick;
        let (children, rest) = self.forest.take_first(tree);
        if let Some(node) = self.nodes.last_mut() {
            node.tree = rest;
        }
        debug_assert!(self.system.enabled(pick.thread), "a planned step must be possible");
        self.perform(pick, children);
    }

    /// Makes a step from the last node, and arrives in a new one.
    #[inline]
    fn perform(&mut self, pick: Pick, tree: Place) {
        let Some(next) = self.system.next(pick.thread) else { return };
        self.history.push(pick, next, |object| self.system.open(object));
        self.system.step(pick.thread, pick.choice);
        self.report.transitions += 1;
        let step = &self.history.events[self.history.len() - 1].step;
        let start = self.sleepers.len();
        let asleep = self.nodes.last().map_or(0..0, |node| node.sleep.clone());
        for index in asleep {
            let sleeper = &self.sleepers[index];
            if sleeper.pick.thread != pick.thread && !sleeper.conflicts(step) {
                let sleeper = sleeper.clone();
                self.sleepers.push(sleeper);
            }
        }
        let sleep = start..self.sleepers.len();
        self.nodes.push(Node { tree, sleep, stale: true, given: Vec::new() });
    }

    /// Takes up the outcome of an execution and plans its reversals.
    fn conclude(&mut self, end: End, visit: &mut impl FnMut(&S, &S::Outcome) -> bool) -> bool {
        let mut go_on = true;
        match end {
            End::Complete => {
                // Announced steps are looked at before the outcome is asked for, which may end
                // the execution for good.
                self.plan_reversals();
                let outcome = self.system.outcome();
                self.report.executions += 1;
                go_on = visit(self.system, &outcome);
                if !self.seen.contains_key(&outcome) {
                    let trace: Vec<Pick> =
                        self.history.events.iter().map(|event| event.step.pick).collect();
                    self.outcome_bytes +=
                        size_of_val(&trace[..]) + 2 * size_of::<S::Outcome>() + 512;
                    self.seen.insert(outcome.clone(), ());
                    self.report.found.push(Found { outcome, trace });
                }
            }
            End::Cut => {
                self.report.executions += 1;
                self.plan_reversals();
            }
            End::Asleep | End::Interrupted => {
                self.report.redundant += 1;
                self.plan_reversals();
            }
        }
        go_on
    }

    /// Puts each reversal into the wakeup tree of the node before the event that is overtaken.
    fn plan_reversals(&mut self) {
        let length = self.history.len();
        self.mark_stale(self.fresh);
        for event in 0..length {
            for index in 0..self.history.events[event].races.len() {
                let overtaken = self.history.events[event].races[index] as usize;
                if event >= self.fresh || self.nodes[overtaken].stale {
                    // In which ways the step can be taken earlier is known only there.
                    let mut step = self.history.events[event].step.clone();
                    step.pick.choice = 0;
                    self.plan(overtaken, step);
                }
            }
            self.plan_other_choices(event);
        }
        for number in 0..self.system.threads() {
            self.plan_blocked(ThreadId(number));
        }
        for node in &mut self.nodes {
            node.stale = false;
        }
        self.fresh = length;
    }

    /// Marks the events before `start` that some event from there on does not happen after.
    fn mark_stale(&mut self, start: usize) {
        self.history.least_from(start, &mut self.least);
        for event in 0..start.min(self.history.len()) {
            if !self.nodes[event].stale && !self.history.all_after(event, &self.least) {
                self.nodes[event].stale = true;
            }
        }
    }

    /// Plans the other ways to take a step that was taken in one way.
    fn plan_other_choices(&mut self, event: usize) {
        let choices = self.history.events[event].choices;
        if choices == 1 || !self.nodes[event].stale {
            return;
        }
        let taken = self.history.events[event].step.pick.choice;
        for choice in (0..choices).filter(|&choice| choice != taken) {
            let mut step = self.history.events[event].step.clone();
            step.pick.choice = choice;
            self.plan(event, step);
        }
    }

    /// Plans for a thread that waits in vain to come earlier.
    fn plan_blocked(&mut self, thread: ThreadId) {
        if self.system.enabled(thread) {
            return;
        }
        let Some(next) = self.system.next(thread) else { return };
        let pick = Pick { thread, choice: 0 };
        let races = self.history.races_of(pick, next, |object| self.system.open(object));
        if !races.is_empty() {
            let step = Step { pick, accesses: Accesses::new(next.accesses) };
            for overtaken in races {
                self.plan(overtaken as usize, step.clone());
            }
        }
    }

    /// Plans notdep(e)·f at the node of e, unless something asleep or planned covers it.
    fn plan(&mut self, overtaken: usize, step: Step) {
        self.sequence.clear();
        for later in overtaken + 1..self.history.len() {
            if !self.history.before(overtaken, later) {
                self.sequence.push(self.history.events[later].step.clone());
            }
        }
        self.sequence.push(step);
        let mut sequence = std::mem::take(&mut self.sequence);
        self.insert(overtaken, &mut sequence);
        self.sequence = sequence;
    }

    /// Goes back to the last node with something left to try and makes that step. Says whether
    /// there was one.
    fn backtrack(&mut self, team: Option<&dyn Help>) -> bool {
        self.nodes.pop();
        while self.nodes.len() > self.base {
            let depth = self.nodes.len() - 1;
            if self.nodes[depth].tree.is_none() {
                let given = self.donations.iter().position(|donation| donation.depth == depth);
                let donation = given.map(|index| self.donations.swap_remove(index));
                match (team, donation) {
                    (Some(team), Some(donation)) => {
                        if !self.receive(&donation, team) {
                            return false;
                        }
                    }
                    _ => {
                        self.nodes.pop();
                    }
                }
                continue;
            }
            let Some(node) = self.nodes.pop() else { return false };
            self.mark_stale(depth);
            self.sleepers.truncate(node.sleep.end);
            self.sleepers.push(self.history.events[depth].step.clone());
            self.sleepers.extend(node.given);
            let (tree, sleep) = (node.tree, node.sleep.start..self.sleepers.len());
            self.nodes.push(Node { tree, sleep, stale: true, given: Vec::new() });
            self.history.truncate(depth);
            self.fresh = self.fresh.min(depth);
            self.system.restart();
            for event in &self.history.events {
                self.system.step(event.step.pick.thread, event.step.pick.choice);
            }
            self.follow_tree(tree);
            return true;
        }
        false
    }
}
