//! What users of this crate call: terms sampled by seed and index, enumerated by size, accepted or
//! not, and rewritten.

use crate::machine::{Found, Machine, Mode};
use crate::program::{NEVER, Program};
use crate::stream::Stream;
use crate::symbol::Functors;
use crate::term::Term;
use crate::transfer::{extract, load};
use crate::tree::Tree;

/// What is asked of a term.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The size it should have; no wish if absent.
    pub size: Option<u32>,
    /// The deepest nesting of sized predicates; no limit if absent.
    pub depth: Option<u32>,
    /// How many labelled premises are violated.
    pub violations: u32,
    /// Which labels may be violated; any if empty.
    pub labels: Vec<String>,
    /// One chance in so many to violate a premise that can be.
    pub rarity: u32,
    /// Steps of one attempt.
    pub steps: u64,
    /// How often one attempt may turn back: what does not succeed nearly at once is better begun
    /// anew.
    pub failures: u64,
    /// How often the search for a part may turn back before that part is given up, besides once for
    /// each unit of its size.
    pub patience: u64,
    /// Attempts before the search gives up.
    pub attempts: u32,
}

impl Default for Wish {
    fn default() -> Self {
        Wish {
            size: None,
            depth: None,
            violations: 0,
            labels: Vec::new(),
            rarity: 8,
            steps: 20_000,
            failures: 400,
            patience: 4,
            attempts: 200,
        }
    }
}

/// A premise that was violated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Its label.
    pub label: String,
    /// The rule it belongs to, if that has a name.
    pub rule: Option<String>,
}

/// A term that the rules derive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The term.
    pub tree: Tree,
    /// Its size as the rules count it.
    pub size: u32,
    /// The premises that were violated.
    pub violations: Vec<Violation>,
    /// Attempts it took.
    pub attempts: u32,
}

/// Whether the rules accept a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// They do, with these violations.
    Accepted(Vec<Violation>),
    /// They do not.
    Rejected,
    /// The search took more steps than allowed.
    Unknown,
}

/// Searches one set of rules, again and again. One for each thread.
#[derive(Debug)]
pub struct Searcher<'p> {
    machine: Machine<'p>,
    wish: Wish,
}

/// What is beyond the target before a search is turned back.
fn slack(size: u32) -> u32 {
    size + size / 6 + 1
}

/// How deep goals that are not sized may stand below one that is, for a term of this size: lists of
/// what is in scope are as long as the term is large.
fn nesting(size: Option<u32>) -> u32 {
    100 + size.unwrap_or(100)
}

impl<'p> Searcher<'p> {
    /// A searcher with one wish.
    pub fn new(program: &'p Program, wish: Wish) -> Self {
        let labels = wish.labels.iter().filter_map(|label| {
            program.labels.iter().position(|known| known == label).map(|label| label as u32)
        });
        let mode = Mode {
            random: true,
            depth: wish.depth.unwrap_or(NEVER - 1),
            target: wish.size.unwrap_or(0),
            limit: wish.size.map_or(NEVER - 1, slack),
            steps: wish.steps,
            failures: wish.failures,
            violations: wish.violations,
            labels: labels.collect(),
            rarity: wish.rarity,
            first_fresh: 0,
            commits: true,
            patience: wish.patience,
            nesting: nesting(wish.size),
        };
        Searcher { machine: Machine::new(program, mode), wish }
    }

    /// The rules.
    pub fn program(&self) -> &'p Program {
        self.machine.program
    }

    /// Another size, for the searches to come.
    pub fn resize(&mut self, size: u32) {
        self.wish.size = Some(size);
        self.machine.mode.target = size;
        self.machine.mode.limit = slack(size);
        self.machine.mode.nesting = nesting(Some(size));
    }

    /// Term `index` of `seed`; `None` when the search gave up.
    pub fn sample(&mut self, seed: u64, index: u64) -> Option<Sample> {
        self.search(seed, index).map(|(attempts, term)| Sample { attempts, ..self.found(term) })
    }

    /// The same without taking the term out: its size. For measurements of the search alone.
    pub fn sample_size(&mut self, seed: u64, index: u64) -> Option<u32> {
        self.search(seed, index).map(|_| self.machine.size())
    }

    fn search(&mut self, seed: u64, index: u64) -> Option<(u32, Term)> {
        self.machine.stream = Stream::new(seed, index, 0);
        self.machine.mode.random = true;
        for attempt in 1..=self.wish.attempts {
            self.machine.reset();
            let term = self.machine.store.variable();
            let start = self.machine.program.start;
            match self.machine.start(start, &[term]) {
                Found::Solution => return Some((attempt, term)),
                // Sizes, shares and commitments are drawn anew.
                Found::Nothing | Found::OutOfSteps => {}
            }
        }
        None
    }

    fn found(&mut self, term: Term) -> Sample {
        let tree = extract(&mut self.machine.store, term, &mut Vec::new());
        Sample { tree, size: self.machine.size(), violations: self.violations(), attempts: 1 }
    }

    fn violations(&self) -> Vec<Violation> {
        let program = self.machine.program;
        let described = self.machine.violated.iter().map(|(label, clause)| Violation {
            label: program.labels[*label as usize].clone(),
            rule: program.clause(*clause).name.as_deref().map(str::to_owned),
        });
        described.collect()
    }

    /// All terms of exactly this size, in the order of the rules. `visit` says whether to go on.
    /// Returns whether that were all: not if it was stopped or took more than `steps`.
    pub fn enumerate(
        &mut self,
        size: u32,
        steps: u64,
        visit: &mut dyn FnMut(&Sample) -> bool,
    ) -> bool {
        let saved = self.machine.mode.clone();
        let mode = &mut self.machine.mode;
        (mode.random, mode.target, mode.limit, mode.steps) = (false, 0, size, steps);
        (mode.commits, mode.failures, mode.nesting) = (false, u64::MAX, NEVER);
        self.machine.reset();
        let term = self.machine.store.variable();
        let mut found = self.machine.start(self.machine.program.start, &[term]);
        let mut complete = true;
        while found == Found::Solution {
            if self.machine.size() == size {
                let sample = self.found(term);
                if !visit(&sample) {
                    complete = false;
                    break;
                }
            }
            found = self.machine.resume();
        }
        self.machine.mode = saved;
        complete && found != Found::OutOfSteps
    }

    /// Do the rules derive this term?
    pub fn accepts(&mut self, tree: &Tree, steps: u64) -> Acceptance {
        let saved = self.machine.mode.clone();
        let mode = &mut self.machine.mode;
        (mode.random, mode.target, mode.steps) = (false, 0, steps);
        (mode.commits, mode.failures, mode.nesting) = (false, u64::MAX, NEVER);
        (mode.depth, mode.limit) = (NEVER - 1, NEVER - 1);
        mode.first_fresh = tree.largest_integer() + 1;
        self.machine.reset();
        let term = load(&mut self.machine.store, tree, &mut Vec::new());
        let found = self.machine.start(self.machine.program.start, &[term]);
        self.machine.mode = saved;
        match found {
            Found::Solution => Acceptance::Accepted(self.violations()),
            Found::Nothing => Acceptance::Rejected,
            Found::OutOfSteps => Acceptance::Unknown,
        }
    }

    /// The places where a rewrite applies, once each: the whole term after it. What its guard leaves
    /// open is drawn at random.
    pub fn rewritings(&mut self, tree: &Tree, name: &str, seed: u64, index: u64) -> Vec<Tree> {
        self.machine.stream = Stream::new(seed, index, 1);
        let program = self.machine.program;
        let mut results = Vec::new();
        for rewrite in program.rewrites.iter().filter(|rewrite| rewrite.name == name) {
            let fresh = tree.largest_integer() + 1;
            let mut attempt = |part: &Tree| {
                if rewrite.key != 0 && key(part) != rewrite.key {
                    return None;
                }
                self.rewrite(rewrite.predicate, part, fresh)
            };
            everywhere(tree, &mut attempt, &mut |whole| results.push(whole));
        }
        results
    }

    fn rewrite(
        &mut self,
        predicate: crate::program::PredicateId,
        part: &Tree,
        fresh: i32,
    ) -> Option<Tree> {
        let saved = self.machine.mode.clone();
        let mode = &mut self.machine.mode;
        (mode.random, mode.violations, mode.target) = (true, 0, 0);
        (mode.commits, mode.failures, mode.nesting) = (false, u64::MAX, NEVER);
        (mode.depth, mode.limit, mode.first_fresh) = (NEVER - 1, NEVER - 1, fresh);
        self.machine.reset();
        let from = load(&mut self.machine.store, part, &mut Vec::new());
        let to = self.machine.store.variable();
        let found = self.machine.start(predicate, &[from, to]);
        self.machine.mode = saved;
        (found == Found::Solution).then(|| extract(&mut self.machine.store, to, &mut Vec::new()))
    }
}

fn key(tree: &Tree) -> u32 {
    match tree {
        Tree::Integer(value) => *value as u32 | 1 << 31,
        Tree::Free(_) => 0,
        Tree::Node(functor, _) => functor.0 + 1,
    }
}

/// Applies a change at every place of a tree and hands over each whole tree that results.
pub fn everywhere(
    tree: &Tree,
    change: &mut dyn FnMut(&Tree) -> Option<Tree>,
    whole: &mut dyn FnMut(Tree),
) {
    if let Some(changed) = change(tree) {
        whole(changed);
    }
    let Tree::Node(functor, arguments) = tree else { return };
    for (place, argument) in arguments.iter().enumerate() {
        everywhere(argument, change, &mut |changed| {
            let mut arguments = arguments.clone();
            arguments[place] = changed;
            whole(Tree::Node(*functor, arguments));
        });
    }
}

/// Is it an end of a list or an element with its rest?
pub fn is_list(tree: &Tree) -> bool {
    matches!(tree, Tree::Node(Functors::NIL | Functors::CONS, _))
}
