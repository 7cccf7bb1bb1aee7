//! The engine: goals are executed from the left, clauses are chosen at random by weight, and what
//! fails is undone and chosen again.
//!
//! Everything grows at the end of vectors and is cut back on failure: cells, frames, values of
//! clause variables. A frame is never changed, so a choice point is a handful of lengths. Sizes are
//! steered by a target and held by a limit: a goal that may add to the size gets a share of what its
//! clause has left, what it does not use is left for the goals behind it, and a clause is only
//! entered if what it needs at least still fits.

mod nested;
mod turn_back;

use crate::program::{Action, Builtin, Clause, ClauseId, Goal, NEVER, Node, PredicateId, Program};
use crate::stream::Stream;
use crate::term::{Mark, Store, Term, View};

/// A goal that is being executed: a clause, its values, and where to go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    clause: ClauseId,
    /// The first of its values.
    values: u32,
    parent: u32,
    next: u32,
    /// Levels of sized goals that are left below.
    depth: u32,
    /// The size that the clause and its goals should have, and may have.
    target: u32,
    limit: u32,
    /// The size when it began.
    begun: u32,
    /// What watches over it, if it is a sized goal; see [`Mode::commits`].
    guard: u32,
}

/// What watches over a sized goal: how many choices there were before it, and how often the search
/// may turn back within it before it is given up as a whole.
#[derive(Clone, Copy, Debug)]
struct Guard {
    kept: u32,
    parent: u32,
    begun: u64,
    allowed: u64,
}

/// Nothing watches.
const UNGUARDED: u32 = u32::MAX;

/// No frame: the search has succeeded.
pub(crate) const DONE: u32 = u32::MAX;

/// Where execution stands, apart from the vectors.
#[derive(Clone, Copy, Debug)]
struct Registers {
    frame: u32,
    next: u32,
    size: u32,
    fresh: i32,
    negated: u32,
    guard: u32,
}

/// What a goal may use.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    depth: u32,
    target: u32,
    limit: u32,
}

/// A place with something left to try.
#[derive(Clone, Copy, Debug)]
struct Choice {
    mark: Mark,
    registers: Registers,
    frames: u32,
    values: u32,
    labels: u32,
    guards: u32,
    kind: ChoiceKind,
    /// Saved arguments and untried clauses begin here.
    saved: u32,
    untried: u32,
}

#[derive(Clone, Copy, Debug)]
enum ChoiceKind {
    /// Other clauses of a predicate.
    Clauses { predicate: PredicateId, allowance: Allowance },
    /// The other way to satisfy a labelled premise: as it stands, or violated.
    Premise { violated: bool },
    /// Other values of an integer.
    Label { address: u32, first: u32, tried: u32 },
    /// What stands below a search within the search; never tried.
    Floor,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Solution,
    Nothing,
    /// It took more steps than allowed.
    OutOfSteps,
}

/// How a search goes.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    /// Choose at random; otherwise in the order of the rules.
    pub(crate) random: bool,
    pub(crate) depth: u32,
    pub(crate) target: u32,
    pub(crate) limit: u32,
    pub(crate) steps: u64,
    /// How often the search may turn back, apart from searches within it.
    pub(crate) failures: u64,
    /// How many labelled premises are violated.
    pub(crate) violations: u32,
    /// Which labels may be; empty: all.
    pub(crate) labels: Vec<u32>,
    /// One chance in so many to violate a premise that can be.
    pub(crate) rarity: u32,
    pub(crate) first_fresh: i32,
    /// A sized goal that has succeeded is not tried again: what fails behind it is not its fault as
    /// a rule, and searching all its other solutions takes for ever. Whole attempts are repeated
    /// instead.
    pub(crate) commits: bool,
    /// How often a sized goal may turn back, besides what its size allows.
    pub(crate) patience: u64,
}

/// The engine, with everything it needs for one search after the other.
#[derive(Debug)]
pub(crate) struct Machine<'p> {
    pub(crate) program: &'p Program,
    pub(crate) store: Store,
    pub(crate) stream: Stream,
    pub(crate) mode: Mode,
    frames: Vec<Frame>,
    guards: Vec<Guard>,
    values: Vec<Term>,
    choices: Vec<Choice>,
    saved: Vec<Term>,
    untried: Vec<ClauseId>,
    weights: Vec<u32>,
    arguments: Vec<Term>,
    registers: Registers,
    /// Labels of the premises that were violated, and the clause each belongs to.
    pub(crate) violated: Vec<(u32, ClauseId)>,
    pub(crate) steps: u64,
    failures: u64,
    woken: Vec<Term>,
    nested: u32,
}

const NO_REGISTERS: Registers =
    Registers { frame: DONE, next: 0, size: 0, fresh: 0, negated: 0, guard: UNGUARDED };

impl<'p> Machine<'p> {
    pub(crate) fn new(program: &'p Program, mode: Mode) -> Self {
        let mut store = Store::default();
        store.constraints.set_arities(program.arities.clone());
        Machine {
            program,
            store,
            stream: Stream::new(0, 0, 0),
            mode,
            frames: Vec::new(),
            guards: Vec::new(),
            values: Vec::new(),
            choices: Vec::new(),
            saved: Vec::new(),
            untried: Vec::new(),
            weights: Vec::new(),
            arguments: Vec::new(),
            registers: NO_REGISTERS,
            violated: Vec::new(),
            steps: 0,
            failures: 0,
            woken: Vec::new(),
            nested: 0,
        }
    }

    /// Forgets everything that was searched.
    pub(crate) fn reset(&mut self) {
        self.store.clear();
        self.frames.clear();
        self.guards.clear();
        self.values.clear();
        self.choices.clear();
        self.saved.clear();
        self.untried.clear();
        self.violated.clear();
        self.steps = 0;
        self.failures = 0;
        self.nested = 0;
        self.registers = Registers { fresh: self.mode.first_fresh, ..NO_REGISTERS };
    }

    /// The size of what was found.
    pub(crate) fn size(&self) -> u32 {
        self.registers.size
    }

    /// Starts to search for a goal with these arguments.
    pub(crate) fn start(&mut self, predicate: PredicateId, arguments: &[Term]) -> Found {
        self.arguments.clear();
        self.arguments.extend_from_slice(arguments);
        let Mode { depth, target, limit, .. } = self.mode;
        self.registers.frame = DONE;
        self.registers.next = 0;
        let allowance = Allowance { depth, target, limit };
        if self.call(predicate, allowance) || self.backtrack(0) {
            self.run(0)
        } else {
            Found::Nothing
        }
    }

    /// The next solution after one was found.
    pub(crate) fn resume(&mut self) -> Found {
        if self.backtrack(0) { self.run(0) } else { Found::Nothing }
    }

    /// Executes until everything is done or nothing is left to try above `base`.
    fn run(&mut self, base: usize) -> Found {
        loop {
            if self.registers.frame == DONE {
                let complete =
                    base > 0 || self.nested > 0 || self.registers.negated == self.mode.violations;
                if complete {
                    return Found::Solution;
                }
                if !self.backtrack(base) {
                    return Found::Nothing;
                }
                continue;
            }
            if self.steps >= self.mode.steps {
                return Found::OutOfSteps;
            }
            if !self.step() && !self.backtrack(base) {
                return Found::Nothing;
            }
        }
    }

    /// One goal; `false` when it fails.
    fn step(&mut self) -> bool {
        let frame = self.frames[self.registers.frame as usize];
        let program = self.program;
        let clause = program.clause(frame.clause);
        let Some(goal) = clause.body.get(self.registers.next as usize) else {
            self.registers.frame = frame.parent;
            self.registers.next = frame.next;
            self.succeed(frame.guard);
            return true;
        };
        self.steps += 1;
        if goal.negated.is_some() && self.mode.violations > 0 && self.nested == 0 {
            return self.premise(goal, &frame);
        }
        self.registers.next += 1;
        self.execute(&goal.action, &goal.arguments, goal, &frame)
    }

    /// A guarded goal has succeeded.
    fn succeed(&mut self, guard: u32) {
        if guard != UNGUARDED {
            let Guard { kept, parent, .. } = self.guards[guard as usize];
            self.registers.guard = parent;
            self.commit(kept as usize);
        }
    }

    /// Begins to watch over a sized goal. Larger goals may turn back more often, so that a part that
    /// cannot be had is given up long before the whole.
    fn guard(&mut self, allowance: &Allowance) -> u32 {
        let guard = self.guards.len() as u32;
        let directed = self.mode.target > 0;
        let size = if directed { allowance.target } else { 2 * allowance.depth.min(50) };
        self.guards.push(Guard {
            kept: self.choices.len() as u32,
            parent: self.registers.guard,
            begun: self.failures,
            allowed: self.mode.patience + u64::from(size),
        });
        self.registers.guard = guard;
        guard
    }

    /// Forgets the choices from `kept` on.
    fn commit(&mut self, kept: usize) {
        if let Some(first) = self.choices.get(kept) {
            self.saved.truncate(first.saved as usize);
            self.untried.truncate(first.untried as usize);
            self.choices.truncate(kept);
        }
    }

    fn execute(&mut self, action: &Action, nodes: &[Node], goal: &Goal, frame: &Frame) -> bool {
        self.arguments.clear();
        for node in nodes {
            let term = self.build(node, frame.values);
            self.arguments.push(term);
        }
        match action {
            Action::Call(predicate) => {
                let Some(allowance) = self.allow(goal, frame, *predicate) else { return false };
                self.call(*predicate, allowance)
            }
            Action::Builtin(builtin) => self.builtin(*builtin) && self.settle(),
        }
    }

    /// A premise that can be violated: as it stands or violated, whichever is drawn; the other way
    /// is left to try.
    fn premise(&mut self, goal: &Goal, frame: &Frame) -> bool {
        let Some(negated) = &goal.negated else { return false };
        let allowed = self.registers.negated < self.mode.violations
            && (self.mode.labels.is_empty() || self.mode.labels.contains(&negated.label));
        if !allowed {
            self.registers.next += 1;
            return self.execute(&goal.action, &goal.arguments, goal, frame);
        }
        let violated = self.mode.random && self.stream.below(self.mode.rarity.max(1)) == 0;
        self.push_choice(ChoiceKind::Premise { violated: !violated });
        self.take_premise(goal, frame, violated)
    }

    fn take_premise(&mut self, goal: &Goal, frame: &Frame, violated: bool) -> bool {
        self.registers.next += 1;
        match (&goal.negated, violated) {
            (Some(negated), true) => {
                self.registers.negated += 1;
                self.violated.push((negated.label, frame.clause));
                self.execute(&negated.action, &negated.arguments, goal, frame)
            }
            _ => self.execute(&goal.action, &goal.arguments, goal, frame),
        }
    }

    /// What a goal may use of what its clause has left.
    fn allow(&mut self, goal: &Goal, frame: &Frame, called: PredicateId) -> Option<Allowance> {
        let Frame { depth, target, limit, begun, .. } = *frame;
        if !goal.reaches {
            // A violated premise may call something else, which still has to be paid for.
            let reaches = goal.negated.is_some() && self.program.predicate(called).reaches;
            if !reaches {
                return Some(Allowance { depth, target: 0, limit: NEVER });
            }
        }
        let used = self.registers.size - begun;
        let limit = limit.saturating_sub(used).checked_sub(goal.later_minimum)?;
        let left = target.saturating_sub(used);
        let most = left.saturating_sub(goal.later_minimum);
        let target = if goal.later == 0 || !self.mode.random {
            most
        } else {
            let least = goal.minimum.min(most);
            self.stream.between(least, most)
        };
        Some(Allowance { depth, target, limit })
    }

    /// Calls a predicate with [`Machine::arguments`].
    fn call(&mut self, id: PredicateId, mut allowance: Allowance) -> bool {
        let program = self.program;
        let predicate = program.predicate(id);
        if predicate.is_sized {
            let Some(depth) = allowance.depth.checked_sub(1) else { return false };
            allowance.depth = depth;
            allowance.target = allowance.target.min(predicate.below - 1);
            allowance.limit = allowance.limit.min(predicate.below - 1);
        }
        let guarded = predicate.is_sized && self.mode.commits && self.nested == 0;
        let guard = if guarded { self.guard(&allowance) } else { UNGUARDED };
        let first = self.untried.len();
        let mut keys = [0; 6];
        for (key, argument) in keys.iter_mut().zip(&self.arguments) {
            *key = self.store.key(*argument);
        }
        for id in &predicate.clauses {
            let clause = program.clause(*id);
            let matches = clause
                .keys
                .iter()
                .zip(&keys)
                .all(|(expected, found)| *expected == 0 || *found == 0 || expected == found);
            let fits = !predicate.reaches
                || clause.minimum < NEVER
                    && clause.minimum <= allowance.limit
                    && clause.shallowest <= allowance.depth + u32::from(predicate.is_sized);
            if matches && fits {
                self.untried.push(*id);
            }
        }
        match self.untried.len() - first {
            0 => false,
            1 => {
                let Some(clause) = self.untried.pop() else { return false };
                self.enter(clause, &allowance, guard)
            }
            _ => {
                let clause = self.choose(id, &allowance, first);
                self.push_call_choice(id, allowance, first);
                self.enter(clause, &allowance, guard)
            }
        }
    }

    fn push_call_choice(&mut self, predicate: PredicateId, allowance: Allowance, first: usize) {
        let saved = self.saved.len() as u32;
        self.saved.extend_from_slice(&self.arguments);
        self.push_choice(ChoiceKind::Clauses { predicate, allowance });
        if let Some(choice) = self.choices.last_mut() {
            choice.saved = saved;
            choice.untried = first as u32;
        }
    }

    fn push_choice(&mut self, kind: ChoiceKind) {
        self.choices.push(Choice {
            mark: self.store.mark(),
            registers: self.registers,
            frames: self.frames.len() as u32,
            values: self.values.len() as u32,
            labels: self.violated.len() as u32,
            guards: self.guards.len() as u32,
            kind,
            saved: self.saved.len() as u32,
            untried: self.untried.len() as u32,
        });
    }

    /// Takes one of the untried clauses from `first` on.
    fn choose(&mut self, predicate: PredicateId, allowance: &Allowance, first: usize) -> ClauseId {
        let count = self.untried.len() - first;
        let position = if !self.mode.random {
            // They are tried in the order of the rules; taking the first keeps it.
            return self.untried.remove(first);
        } else if self.program.predicate(predicate).reaches
            || self.program.predicate(predicate).has_weights
        {
            self.weigh(allowance, first)
        } else {
            self.stream.below(count as u32) as usize
        };
        self.untried.swap_remove(first + position)
    }

    fn weigh(&mut self, allowance: &Allowance, first: usize) -> usize {
        let directed = self.mode.target > 0;
        self.weights.clear();
        let mut total = 0;
        for id in &self.untried[first..] {
            let clause = self.program.clause(*id);
            total += if directed { directed_weight(clause, allowance) } else { clause.weight << 8 };
            self.weights.push(total);
        }
        if total == 0 {
            return self.stream.below(self.weights.len() as u32) as usize;
        }
        let drawn = self.stream.below(total);
        self.weights.partition_point(|sum| *sum <= drawn)
    }

    /// Unifies the head and puts the body in front.
    fn enter(&mut self, id: ClauseId, allowance: &Allowance, guard: u32) -> bool {
        let program = self.program;
        let clause = program.clause(id);
        let values = self.values.len() as u32;
        let filler = Term::integer(0);
        self.values.resize(self.values.len() + usize::from(clause.variables), filler);
        for position in 0..clause.head.len() {
            let argument = self.arguments[position];
            if !self.unify_head(&clause.head[position], argument, values) {
                return false;
            }
        }
        let begun = self.registers.size;
        self.registers.size += clause.cost;
        if !clause.body.is_empty() {
            let frame = Frame {
                clause: id,
                values,
                parent: self.registers.frame,
                next: self.registers.next,
                depth: allowance.depth,
                target: allowance.target,
                limit: allowance.limit,
                begun,
                guard,
            };
            self.registers.frame = self.frames.len() as u32;
            self.registers.next = 0;
            self.frames.push(frame);
        } else {
            self.succeed(guard);
        }
        self.store.constraints.is_quiet() || self.settle()
    }

    fn unify_head(&mut self, node: &Node, term: Term, values: u32) -> bool {
        match node {
            Node::Any => true,
            Node::First(variable) => {
                self.values[values as usize + usize::from(*variable)] = term;
                true
            }
            Node::Again(variable) => {
                let known = self.values[values as usize + usize::from(*variable)];
                self.store.unify(known, term)
            }
            Node::Integer(value) => self.unify_atom(Term::integer(*value), term),
            Node::Constant(functor) => self.unify_atom(Term::constant(*functor), term),
            Node::Structure(functor, nodes) => match self.store.view(term) {
                View::Structure(found, first) if found == *functor => {
                    nodes.iter().enumerate().all(|(place, node)| {
                        let argument = self.store.argument(first + place as u32);
                        self.unify_head(node, argument, values)
                    })
                }
                View::Variable(address) => {
                    let built = self.build(node, values);
                    self.store.bind_checked(address, built)
                }
                _ => false,
            },
        }
    }

    fn unify_atom(&mut self, atom: Term, term: Term) -> bool {
        let term = self.store.resolve(term);
        if term == atom {
            return true;
        }
        match self.store.view(term) {
            View::Variable(address) => {
                self.store.bind(address, atom);
                true
            }
            _ => false,
        }
    }

    /// A term of a clause in the store.
    fn build(&mut self, node: &Node, values: u32) -> Term {
        match node {
            Node::Any => self.store.variable(),
            Node::First(variable) => {
                let term = self.store.variable();
                self.values[values as usize + usize::from(*variable)] = term;
                term
            }
            Node::Again(variable) => self.values[values as usize + usize::from(*variable)],
            Node::Integer(value) => Term::integer(*value),
            Node::Constant(functor) => Term::constant(*functor),
            Node::Structure(functor, nodes) => {
                let (term, first) = self.store.open_structure(*functor, nodes.len());
                for (place, node) in nodes.iter().enumerate() {
                    let address = first + place as u32;
                    match node {
                        Node::Any => {}
                        // The place itself is the variable.
                        Node::First(variable) => {
                            let term = self.store.argument(address);
                            self.values[values as usize + usize::from(*variable)] = term;
                        }
                        node => {
                            let argument = self.build(node, values);
                            self.store.set_argument(address, argument);
                        }
                    }
                }
                term
            }
        }
    }

    /// Looks at what was woken; goals among it run next.
    fn settle(&mut self) -> bool {
        if self.store.constraints.is_quiet() {
            return true;
        }
        let mut woken = std::mem::take(&mut self.woken);
        let settled = self.store.settle(&mut woken);
        if settled {
            for goal in woken.drain(..) {
                self.push_goal(goal);
            }
        }
        woken.clear();
        self.woken = woken;
        settled
    }

    /// Puts a goal in front of everything else.
    pub(crate) fn push_goal(&mut self, goal: Term) {
        let values = self.values.len() as u32;
        self.values.push(goal);
        let frame = Frame {
            clause: self.program.call,
            values,
            parent: self.registers.frame,
            next: self.registers.next,
            depth: NEVER,
            target: 0,
            limit: NEVER,
            begun: self.registers.size,
            guard: UNGUARDED,
        };
        self.registers.frame = self.frames.len() as u32;
        self.registers.next = 0;
        self.frames.push(frame);
    }

    fn builtin(&mut self, builtin: Builtin) -> bool {
        crate::perform::perform(self, builtin)
    }

    pub(crate) fn argument(&self, position: usize) -> Term {
        self.arguments[position]
    }

    /// A number that was not used before.
    pub(crate) fn fresh(&mut self) -> i32 {
        self.registers.fresh += 1;
        self.registers.fresh - 1
    }
}

/// How much a clause is wanted, given the size that is wanted. A clause that cannot grow is wanted
/// if what is left is about its own size, one that can if what is left is enough for it.
fn directed_weight(clause: &Clause, allowance: &Allowance) -> u32 {
    let target = allowance.target.max(1);
    let misses = if clause.grows {
        clause.minimum.saturating_sub(target)
    } else {
        target.saturating_sub(clause.minimum)
    };
    let misses = misses.min(60);
    (clause.weight << 10) / (1 + misses * misses)
}
