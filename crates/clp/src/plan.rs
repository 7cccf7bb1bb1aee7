//! What can be known about calls before any search: for each predicate and each way it is called, the
//! clauses that can match, and how large and deep each is at least.
//!
//! A way of calling is what is known at the top of the arguments that clauses tell apart: nothing,
//! one of the functors that clauses ask for, or something else. Through the variables of a clause
//! this knowledge reaches its goals, so that the bounds see further than one clause: an empty
//! environment has no variable to offer, and what needs one is larger. Bounds are the greatest
//! fixpoint from below: never above what a search can find. A clause that can never be finished is
//! left out.

use crate::compile::key;
use crate::program::{Action, ClauseId, Goal, NEVER, Node, PredicateId, Program};
use crate::term::{Store, Term, View};

/// Ways to call one predicate that are told apart at most.
const MOST_WAYS: u32 = 256;
/// The class of an argument of which nothing is known.
const UNKNOWN: u8 = 0;
/// The class of an argument that no clause asks for by name.
const OTHER: u8 = 1;

/// A clause as it is entered from one way of calling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) clause: ClauseId,
    /// What it adds at least to the size.
    pub(crate) minimum: u32,
    /// How deep it is at least.
    pub(crate) shallowest: u32,
    pub(crate) weight: u32,
    /// Can it become as large as one wishes?
    pub(crate) grows: bool,
    /// The first of its goals' shares.
    shares: u32,
}

/// What a goal needs of its clause's size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    /// Can it add to the size of the term?
    pub(crate) reaches: bool,
    /// What it adds at least.
    pub(crate) minimum: u32,
    /// How many goals behind it can add, and what they add at least together.
    pub(crate) later: u32,
    pub(crate) later_minimum: u32,
}

/// An argument that clauses tell apart.
#[derive(Clone, Debug)]
struct Position {
    argument: usize,
    /// What its class is multiplied with.
    stride: u32,
    /// The keys of the classes after [`OTHER`].
    keys: Vec<u32>,
    /// The class of each functor.
    functors: Box<[u8]>,
}

impl Position {
    fn class(&self, key: u32) -> u8 {
        if key == 0 {
            return UNKNOWN;
        }
        match self.functors.get(key as usize - 1) {
            Some(class) => *class,
            None => self.integer(key),
        }
    }

    fn integer(&self, key: u32) -> u8 {
        let found = self.keys.iter().position(|known| *known == key);
        found.map_or(OTHER, |place| place as u8 + 2)
    }

    fn of_term(&self, store: &Store, term: Term) -> u8 {
        match store.view(term) {
            View::Variable(_) => UNKNOWN,
            View::Constant(functor) | View::Structure(functor, _) => {
                self.functors[functor.0 as usize]
            }
            View::Integer(value) => self.integer(value as u32 | 1 << 31),
        }
    }
}

/// The ways to call a predicate.
#[derive(Clone, Debug, Default)]
struct Index {
    first: u32,
    ways: u32,
    positions: Vec<Position>,
    /// Do clauses tell arguments apart that the ways do not?
    is_partial: bool,
}

/// The clauses of one way of calling.
#[derive(Clone, Copy, Debug)]
struct ClauseRange {
    first: u32,
    last: u32,
}

/// All ways of calling all predicates.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    indexes: Vec<Index>,
    ways: Vec<ClauseRange>,
    candidates: Vec<Candidate>,
    shares: Vec<Share>,
    /// The clause in whose terms delayed goals run.
    pub(crate) call: u32,
}

impl Plans {
    /// The candidates for a call with these arguments, and whether their keys are to be compared.
    #[inline]
    pub(crate) fn find(
        &self,
        predicate: PredicateId,
        store: &Store,
        arguments: &[Term],
    ) -> (std::ops::Range<u32>, bool) {
        let index = &self.indexes[predicate.0 as usize];
        let mut way = index.first;
        for position in &index.positions {
            let class = position.of_term(store, arguments[position.argument]);
            way += u32::from(class) * position.stride;
        }
        let ClauseRange { first, last } = self.ways[way as usize];
        (first..last, index.is_partial)
    }

    #[inline]
    pub(crate) fn candidate(&self, candidate: u32) -> &Candidate {
        &self.candidates[candidate as usize]
    }

    /// What goal `place` of a candidate needs.
    #[inline]
    pub(crate) fn share(&self, candidate: u32, place: u32) -> &Share {
        &self.shares[(self.candidates[candidate as usize].shares + place) as usize]
    }

    /// Finds out about all calls. With `violated`, premises may be violated, and what takes their
    /// place counts as well.
    pub(crate) fn new(program: &Program, violated: bool) -> Self {
        let mut first = 0;
        let indexes: Vec<Index> = (0..program.predicates.len())
            .map(|predicate| {
                let index = index(program, PredicateId(predicate as u32), first);
                first += index.ways;
                index
            })
            .collect();
        Builder { program, violated, indexes }.build()
    }
}

/// The arguments of a predicate that are worth to be told apart.
fn index(program: &Program, id: PredicateId, first: u32) -> Index {
    let predicate = program.predicate(id);
    let arity = program.functors.arity(predicate.functor);
    let mut asked: Vec<(usize, usize, Vec<u32>)> = (0..arity)
        .map(|argument| {
            let keys = predicate.clauses.iter().map(|id| program.clause(*id).keys[argument]);
            let mut keys: Vec<u32> = keys.filter(|key| *key != 0).collect();
            let often = keys.len();
            keys.sort_unstable();
            keys.dedup();
            (often, argument, keys)
        })
        .filter(|(often, ..)| *often > 0)
        .collect();
    asked.sort_by_key(|(often, argument, _)| (std::cmp::Reverse(*often), *argument));
    let (mut positions, mut ways, mut is_partial) = (Vec::new(), 1, false);
    for (_, argument, keys) in asked {
        let classes = keys.len() as u32 + 2;
        if classes > 200 || ways * classes > MOST_WAYS {
            is_partial = true;
            continue;
        }
        let mut functors = vec![OTHER; program.arities.len()].into_boxed_slice();
        for (place, key) in keys.iter().enumerate() {
            if let Some(class) = functors.get_mut(*key as usize - 1) {
                *class = place as u8 + 2;
            }
        }
        positions.push(Position { argument, stride: ways, keys, functors });
        ways *= classes;
    }
    Index { first, ways, positions, is_partial }
}

/// A candidate that is being found out about.
struct Draft {
    clause: ClauseId,
    minimum: u32,
    shallowest: u32,
    is_sized: bool,
    /// The ways in which its goals are called: as they stand, and violated.
    calls: Vec<[Option<u32>; 2]>,
}

struct Builder<'p> {
    program: &'p Program,
    violated: bool,
    indexes: Vec<Index>,
}

impl Builder<'_> {
    fn build(self) -> Plans {
        let mut ways: Vec<Vec<Draft>> = Vec::new();
        for (predicate, index) in self.indexes.iter().enumerate() {
            for way in 0..index.ways {
                ways.push(self.drafts(PredicateId(predicate as u32), index, way));
            }
        }
        let mut bounds = vec![(NEVER, NEVER); ways.len()];
        while self.improve(&mut ways, &mut bounds) {}
        let mut plans = Plans {
            indexes: Vec::new(),
            ways: Vec::with_capacity(ways.len()),
            candidates: Vec::new(),
            shares: Vec::new(),
            call: 0,
        };
        for drafts in &ways {
            let first = plans.candidates.len() as u32;
            for draft in drafts.iter().filter(|draft| draft.minimum < NEVER) {
                self.finish(draft, &bounds, &mut plans);
            }
            plans.ways.push(ClauseRange { first, last: plans.candidates.len() as u32 });
        }
        plans.call = plans.candidates.len() as u32;
        let call = self.draft(self.program.call, false, &Index::default(), 0);
        self.finish(&Draft { minimum: 0, shallowest: 0, ..call }, &bounds, &mut plans);
        plans.indexes = self.indexes;
        plans
    }

    /// The clauses that can match when a predicate is called in one way.
    fn drafts(&self, id: PredicateId, index: &Index, way: u32) -> Vec<Draft> {
        let predicate = self.program.predicate(id);
        let matching = predicate.clauses.iter().filter(|clause| {
            let keys = &self.program.clause(**clause).keys;
            index.positions.iter().all(|position| {
                let class = class_of(position, way);
                let key = keys[position.argument];
                class == UNKNOWN || key == 0 || position.class(key) == class
            })
        });
        matching.map(|clause| self.draft(*clause, predicate.is_sized, index, way)).collect()
    }

    fn draft(&self, id: ClauseId, is_sized: bool, index: &Index, way: u32) -> Draft {
        let clause = self.program.clause(id);
        let mut known = vec![0; usize::from(clause.variables)];
        for position in &index.positions {
            let class = class_of(position, way);
            let head = &clause.head[position.argument];
            if let (2.., Node::First(variable) | Node::Again(variable)) = (class, head) {
                known[usize::from(*variable)] = position.keys[usize::from(class) - 2];
            }
        }
        let calls = clause.body.iter().map(|goal| self.calls(goal, &known)).collect();
        Draft { clause: id, minimum: NEVER, shallowest: NEVER, is_sized, calls }
    }

    fn calls(&self, goal: &Goal, known: &[u32]) -> [Option<u32>; 2] {
        let otherwise = goal.negated.as_ref().filter(|_| self.violated);
        [
            self.way(goal.action, &goal.arguments, known),
            otherwise.and_then(|negated| self.way(negated.action, &negated.arguments, known)),
        ]
    }

    /// The way in which a goal calls a predicate, if it does.
    fn way(&self, action: Action, arguments: &[Node], known: &[u32]) -> Option<u32> {
        let Action::Call(predicate) = action else { return None };
        let index = &self.indexes[predicate.0 as usize];
        let classes = index.positions.iter().map(|position| {
            let key = match &arguments[position.argument] {
                Node::First(variable) | Node::Again(variable) => known[usize::from(*variable)],
                node => key(node),
            };
            u32::from(position.class(key)) * position.stride
        });
        Some(index.first + classes.sum::<u32>())
    }

    /// One round; did anything change?
    fn improve(&self, ways: &mut [Vec<Draft>], bounds: &mut [(u32, u32)]) -> bool {
        let mut changed = false;
        for (way, drafts) in ways.iter_mut().enumerate() {
            let mut best = bounds[way];
            for draft in drafts {
                let clause = self.program.clause(draft.clause);
                let (mut minimum, mut deepest) = (clause.cost, 0);
                for (goal, calls) in clause.body.iter().zip(&draft.calls) {
                    let (size, depth) = self.bound(goal, calls, bounds);
                    minimum = (minimum + size).min(NEVER);
                    deepest = deepest.max(depth);
                }
                draft.minimum = minimum;
                draft.shallowest = (deepest + u32::from(draft.is_sized)).min(NEVER);
                best = (best.0.min(draft.minimum), best.1.min(draft.shallowest));
            }
            changed |= best != bounds[way];
            bounds[way] = best;
        }
        changed
    }

    /// The smallest size and depth of a goal.
    fn bound(&self, goal: &Goal, calls: &[Option<u32>; 2], bounds: &[(u32, u32)]) -> (u32, u32) {
        let of = |way: Option<u32>| way.map_or((0, 0), |way| bounds[way as usize]);
        let plain = of(calls[0]);
        if !self.violated || goal.negated.is_none() {
            return plain;
        }
        let otherwise = of(calls[1]);
        (plain.0.min(otherwise.0), plain.1.min(otherwise.1))
    }

    fn finish(&self, draft: &Draft, bounds: &[(u32, u32)], plans: &mut Plans) {
        let clause = self.program.clause(draft.clause);
        let mut shares: Vec<Share> = clause
            .body
            .iter()
            .zip(&draft.calls)
            .map(|(goal, calls)| Share {
                reaches: self.program.reaches(goal.action),
                minimum: self.bound(goal, calls, bounds).0,
                ..Share::default()
            })
            .collect();
        let (mut later, mut later_minimum) = (0, 0);
        for share in shares.iter_mut().rev() {
            (share.later, share.later_minimum) = (later, later_minimum);
            if share.reaches {
                later += 1;
                later_minimum = (later_minimum + share.minimum).min(NEVER);
            }
        }
        plans.candidates.push(Candidate {
            clause: draft.clause,
            minimum: draft.minimum,
            shallowest: draft.shallowest,
            weight: clause.weight,
            grows: later > 0,
            shares: plans.shares.len() as u32,
        });
        plans.shares.extend(shares);
    }
}

/// The class of an argument in one way of calling.
fn class_of(position: &Position, way: u32) -> u8 {
    ((way / position.stride) % (position.keys.len() as u32 + 2)) as u8
}
