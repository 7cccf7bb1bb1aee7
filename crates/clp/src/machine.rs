//! The engine: goals are executed from the left, clauses are chosen at random by weight, and what
//! fails is undone and chosen again.
//!
//! Everything grows at the end of vectors and is cut back on failure: cells, frames, values of
//! clause variables. A frame is never changed, so a choice point is a handful of lengths. Sizes are
//! steered by a target and held by a limit: a goal that may add to the size gets a share of what its
//! clause has left, what it does not use is left for the goals behind it, and a clause is only
//! entered if what it needs at least still fits.

mod call;
mod head;
mod limits;
mod member;
mod nested;
mod premise;
mod turn_back;

use self::limits::{Allowance, Guard, UNGUARDED};
use crate::plan::Plans;
use crate::program::{Action, Builtin, ClauseId, NEVER, Node, PredicateId, Program};
use crate::stream::Stream;
use crate::term::{Mark, Store, Term};

/// A goal that is being executed: a clause, its values, and where to go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The clause, and how it was called.
    clause: ClauseId,
    candidate: u32,
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
    /// How deep it stands below the last sized goal.
    nesting: u32,
}

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
    nesting: u32,
}

#[derive(Clone, Copy, Debug)]
enum ChoiceKind {
    /// Other clauses of a predicate.
    Clauses { predicate: PredicateId, allowance: Allowance },
    /// The other way to satisfy a labelled premise: as it stands, or violated.
    Premise { violated: bool },
    /// Other elements of a list: what is sought, and the untried elements from `saved` on.
    Member { sought: Term },
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
    /// a rule, and searching all its other solutions takes forever. Whole attempts are repeated
    /// instead.
    pub(crate) commits: bool,
    /// How often a sized goal may turn back, besides what its size allows.
    pub(crate) patience: u64,
    /// How deep goals that are not sized may stand below one that is: rules can ask for types that
    /// no finite term is, and would look for them forever.
    pub(crate) nesting: u32,
}

/// The engine, with everything it needs for one search after the other.
#[derive(Debug)]
pub(crate) struct Machine<'p> {
    pub(crate) program: &'p Program,
    plans: &'p Plans,
    pub(crate) store: Store,
    pub(crate) stream: Stream,
    pub(crate) mode: Mode,
    frames: Vec<Frame>,
    guards: Vec<Guard>,
    values: Vec<Term>,
    choices: Vec<Choice>,
    saved: Vec<Term>,
    untried: Vec<u32>,
    arguments: Vec<Term>,
    /// Values of a clause that is only looked at; elements of a list that is.
    trial: Vec<Term>,
    registers: Registers,
    /// Labels of the premises that were violated, and the clause each belongs to.
    pub(crate) violated: Vec<(u32, ClauseId)>,
    pub(crate) steps: u64,
    failures: u64,
    woken: Vec<Term>,
    nested: u32,
    /// The nesting of the goal that is executed.
    nesting: u32,
}

const NO_REGISTERS: Registers =
    Registers { frame: DONE, next: 0, size: 0, fresh: 0, negated: 0, guard: UNGUARDED };

impl<'p> Machine<'p> {
    pub(crate) fn new(program: &'p Program, mode: Mode) -> Self {
        let mut store = Store::default();
        store.constraints.set_arities(program.arities.clone());
        Machine {
            program,
            plans: program.plans(mode.violations > 0),
            store,
            stream: Stream::new(0, 0, 0),
            mode,
            frames: Vec::new(),
            guards: Vec::new(),
            values: Vec::new(),
            choices: Vec::new(),
            saved: Vec::new(),
            untried: Vec::new(),
            arguments: Vec::new(),
            trial: Vec::new(),
            registers: NO_REGISTERS,
            violated: Vec::new(),
            steps: 0,
            failures: 0,
            woken: Vec::new(),
            nested: 0,
            nesting: 0,
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
        self.nesting = 0;
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
        let clause = self.program.clause(frame.clause);
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
        self.execute(goal.action, &goal.arguments, &frame)
    }

    /// Executes the next goal of a frame.
    fn execute(&mut self, action: Action, nodes: &[Node], frame: &Frame) -> bool {
        self.arguments.clear();
        for node in nodes {
            let term = self.build(node, frame.values);
            self.arguments.push(term);
        }
        let place = self.registers.next;
        self.registers.next += 1;
        self.nesting = frame.nesting;
        match action {
            Action::Call(predicate) => {
                let share = self.plans.share(frame.candidate, place);
                // What takes the place of a violated premise may add to the size as well.
                let reaches = share.reaches || self.program.predicate(predicate).reaches;
                let allowance = if reaches {
                    self.allow(share, frame)
                } else {
                    Some(Allowance { depth: frame.depth, ..Allowance::ALL })
                };
                let Some(allowance) = allowance else { return false };
                self.leave_finished(frame);
                self.call(predicate, allowance)
            }
            Action::Builtin(builtin) => self.builtin(builtin) && self.settle(),
        }
    }

    /// A frame whose last goal is called has nothing left to do, unless it is watched over.
    fn leave_finished(&mut self, frame: &Frame) {
        let clause = self.program.clause(frame.clause);
        if self.registers.next as usize == clause.body.len() && frame.guard == UNGUARDED {
            self.registers.frame = frame.parent;
            self.registers.next = frame.next;
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

    /// Remembers the present as a place to turn back to.
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
            nesting: self.nesting,
        });
    }

    /// Puts a goal in front of everything else.
    pub(crate) fn push_goal(&mut self, goal: Term) {
        let values = self.values.len() as u32;
        self.values.push(goal);
        let frame = Frame {
            clause: self.program.call,
            candidate: self.plans.call,
            values,
            parent: self.registers.frame,
            next: self.registers.next,
            depth: NEVER,
            target: 0,
            limit: NEVER,
            begun: self.registers.size,
            guard: UNGUARDED,
            nesting: self.nesting,
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
