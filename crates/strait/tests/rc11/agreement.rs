//! Random programs: the library must show exactly what the axioms allow, by exactly as many executions as
//! there are execution graphs. A program that fails is named by its seed and number.
//!
//! `STRAIT_TEST_COUNT` says how many programs are drawn, `STRAIT_TEST_SEED` from which seed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use strait::{Builder, Model};

use crate::axioms::{Axioms, executions};
use crate::interpreter::ours;
use crate::program::{Action, Instruction, Program, Shown, Value};

fn from_environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// What is drawn.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    /// How often each kind of instruction comes, out of their sum: load, store, add, swap, exchange,
    /// fence.
    kinds: [u32; 6],
    /// Only these orderings, by their strength: 0 relaxed, 1 release and acquire, 2 SeqCst.
    strengths: &'static [u32],
    most: u32,
    /// Are there critical sections?
    locks: bool,
}

struct Draw(ChaCha8Rng);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.next_u32() % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// An ordering for something that reads, writes, or both.
    fn order(&mut self, family: &Family, reads: bool, writes: bool) -> Ordering {
        match self.one(family.strengths) {
            0 => Relaxed,
            2 => SeqCst,
            _ => match (reads, writes) {
                (true, true) => self.one(&[Acquire, Release, AcqRel]),
                (true, false) => Acquire,
                _ => Release,
            },
        }
    }

    fn instruction(&mut self, family: &Family, locations: u32, reads: usize) -> Instruction {
        let location = self.below(locations) as usize;
        let sum = family.kinds.iter().sum();
        let mut number = self.below(sum);
        let mut kind = 0;
        while number >= family.kinds[kind] {
            number -= family.kinds[kind];
            kind += 1;
        }
        let mut value = Value::constant(1 + self.below(2) as u8);
        if reads > 0 && self.below(4) == 0 {
            value.register = Some(self.below(reads as u32) as usize);
        }
        let action = match kind {
            0 => Action::Load { location, order: self.order(family, true, false) },
            1 => Action::Store { location, value, order: self.order(family, false, true) },
            2 => Action::Add { location, value, order: self.order(family, true, true) },
            3 => Action::Swap { location, value, order: self.order(family, true, true) },
            4 => {
                let orders = (self.order(family, true, true), self.order(family, true, false));
                let change = (self.below(2) as u8, value);
                let weak = self.below(3) == 0;
                Action::Exchange { location, change, orders, weak }
            }
            _ => {
                let fences = [Acquire, Release, AcqRel, SeqCst, SeqCst];
                Action::Fence(self.one(&fences))
            }
        };
        Instruction { guard: None, action }
    }

    /// Puts parts of the threads into critical sections of one of two mutexes, never of both at once.
    fn lock_parts(&mut self, threads: &mut [Vec<Instruction>]) {
        for thread in threads {
            if self.below(4) == 0 {
                continue;
            }
            let first = self.below(thread.len() as u32) as usize;
            let last = first + 1 + self.below((thread.len() - first) as u32) as usize;
            let mutex = self.below(4) as usize / 3;
            let instruction = |action| Instruction { guard: None, action };
            thread.insert(last, instruction(Action::Unlock(mutex)));
            thread.insert(first, instruction(Action::Lock(mutex)));
        }
    }

    fn program(&mut self, family: &Family) -> Program {
        let locations = 1 + self.below(3).min(self.below(3));
        let count = 2 + self.below(3);
        let mut threads = vec![Vec::new(); count as usize];
        let length = 3 + self.below(family.most - 2);
        for _ in 0..length {
            let thread = self.below(count) as usize;
            let reads = threads[thread].iter().filter(|one: &&Instruction| one.action.reads());
            let reads = reads.count();
            let next = self.instruction(family, locations, reads);
            threads[thread].push(next);
        }
        threads.retain(|thread| !thread.is_empty());
        if family.locks {
            self.lock_parts(&mut threads);
        }
        let mutexes = if family.locks { 2 } else { 0 };
        Program { locations: locations as usize, mutexes, threads, ..Program::default() }
    }
}

/// Compares the library with the axioms.
fn compare(name: &str, program: &Program) -> u64 {
    let allowed = executions(program, Axioms::Rc11);
    let code = Arc::new(program.clone());
    let outcomes = Builder::new().model(Model::Rc11).outcomes(move || ours::perform(&code));
    let shown: BTreeSet<Shown> = outcomes.values().into_iter().cloned().collect();
    assert!(outcomes.is_exhaustive(), "{:?}: {name}", outcomes.coverage);
    assert_eq!(shown.len(), outcomes.found.len(), "no failures in {name}");
    let missing: Vec<_> = allowed.shown.difference(&shown).collect();
    let forbidden: Vec<_> = shown.difference(&allowed.shown).collect();
    assert!(
        missing.is_empty() && forbidden.is_empty(),
        "{name}\nmissing {missing:?}\nforbidden {forbidden:?}"
    );
    assert_eq!(outcomes.executions, allowed.graphs, "executions of {name}");
    allowed.graphs
}

fn compare_family(family: Family, usual: u64) {
    let seed = from_environment("STRAIT_TEST_SEED", 20_261_117);
    let count = from_environment("STRAIT_TEST_COUNT", usual);
    let mut graphs = 0;
    for index in 0..count {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(index);
        let program = Draw(rng).program(&family);
        let name = format!("{} program {index} of seed {seed}: {program:?}", family.name);
        graphs += compare(&name, &program);
    }
    assert!(graphs > 3 * count, "the programs have choices: {graphs} graphs");
}

#[test]
fn loads_and_stores_agree_with_the_axioms() {
    let family = Family {
        name: "relaxed",
        kinds: [4, 4, 0, 0, 0, 0],
        strengths: &[0],
        most: 8,
        locks: false,
    };
    compare_family(family, 100);
    compare_family(Family { name: "acquire", strengths: &[0, 1], ..family }, 100);
}

#[test]
fn read_modify_writes_agree_with_the_axioms() {
    let kinds = [3, 3, 2, 1, 2, 0];
    let family = Family { name: "updates", kinds, strengths: &[0, 1], most: 7, locks: false };
    compare_family(family, 100);
}

#[test]
fn fences_agree_with_the_axioms() {
    let kinds = [4, 4, 1, 0, 1, 3];
    let family = Family { name: "fences", kinds, strengths: &[0, 0, 1], most: 9, locks: false };
    compare_family(family, 100);
}

#[test]
fn sequentially_consistent_accesses_agree_with_the_axioms() {
    let kinds = [4, 4, 1, 0, 1, 1];
    let family =
        Family { name: "sequential", kinds, strengths: &[0, 1, 2, 2], most: 8, locks: false };
    compare_family(family, 100);
    compare_family(Family { name: "only sequential", strengths: &[2], ..family }, 50);
}

#[test]
fn accesses_in_critical_sections_agree_with_the_axioms() {
    let kinds = [4, 4, 1, 0, 1, 1];
    let family = Family { name: "locks", kinds, strengths: &[0, 0, 1, 2], most: 7, locks: true };
    compare_family(family, 100);
}
