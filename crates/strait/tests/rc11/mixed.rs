//! Random programs with critical sections, variables that are not atomic, and conditions, beside
//! atomics and fences: the library must agree with the axioms on what they show, on whether they have a
//! data race, and, if not, on the number of executions.
//!
//! `STRAIT_TEST_COUNT` says how many programs are drawn, `STRAIT_TEST_SEED` from which seed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use strait::Model;

use crate::axioms::{Axioms, executions};
use crate::library;
use crate::program::{Action, Guard, Instruction, Program, Shown, Value};

fn from_environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// What is drawn.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    /// How often each kind of instruction comes, out of their sum: load, store, update, exchange, fence,
    /// plain load, plain store, critical section.
    kinds: [u32; 8],
    /// How many of eight instructions behind a read are conditional.
    conditional: u32,
    threads: u32,
    length: u32,
}

struct Draw(ChaCha8Rng);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.next_u32() % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    fn value(&mut self, reads: usize) -> Value {
        let mut value = Value::constant(1 + self.below(2) as u8);
        if reads > 0 && self.below(4) == 0 {
            value.register = Some(self.below(reads as u32) as usize);
        }
        value
    }

    /// What is done once, outside of a critical section or in it.
    fn action(&mut self, kind: usize, reads: usize) -> Action {
        let (location, cell) = (self.below(2) as usize, self.below(2) as usize);
        let value = self.value(reads);
        let order = |draw: &mut Draw, of: &[Ordering]| draw.one(of);
        match kind {
            0 => Action::Load { location, order: order(self, &[Relaxed, Acquire, SeqCst]) },
            1 => Action::Store { location, value, order: order(self, &[Relaxed, Release, SeqCst]) },
            2 => {
                let order = order(self, &[Relaxed, Acquire, Release, AcqRel, SeqCst]);
                Action::Add { location, value, order }
            }
            3 => {
                let orders = (
                    order(self, &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
                    order(self, &[Relaxed, Acquire, SeqCst]),
                );
                let change = (self.below(2) as u8, value);
                Action::Exchange { location, change, orders, weak: self.below(4) == 0 }
            }
            4 => Action::Fence(order(self, &[Acquire, Release, AcqRel, SeqCst])),
            5 => Action::PlainLoad { cell },
            _ => Action::PlainStore { cell, value },
        }
    }

    fn kind(&mut self, kinds: &[u32]) -> usize {
        let mut number = self.below(kinds.iter().sum());
        let mut kind = 0;
        while number >= kinds[kind] {
            number -= kinds[kind];
            kind += 1;
        }
        kind
    }

    /// The next one or three instructions of a thread.
    fn instructions(&mut self, family: &Family, reads: usize) -> Vec<Instruction> {
        let kind = self.kind(&family.kinds);
        let mut actions = match kind {
            7 => {
                let mutex = self.below(2).min(self.below(2)) as usize;
                let inside = self.kind(&family.kinds[..7]);
                let inside = self.action(inside, reads);
                vec![Action::Lock(mutex), inside, Action::Unlock(mutex)]
            }
            _ => vec![self.action(kind, reads)],
        };
        if actions.len() == 3 && self.below(6) == 0 {
            actions.remove(1);
        }
        let conditional = reads > 0 && self.below(8) < family.conditional;
        let guard = conditional.then(|| Guard {
            register: self.below(reads as u32) as usize,
            value: self.below(2) as u8,
            equal: self.below(2) == 0,
        });
        actions.into_iter().map(|action| Instruction { guard, action }).collect()
    }

    fn program(&mut self, family: &Family) -> Program {
        let count = 2 + self.below(family.threads - 1);
        let mut threads = vec![Vec::new(); count as usize];
        for _ in 0..3 + self.below(family.length - 2) {
            let thread = self.below(count) as usize;
            let performed: &Vec<Instruction> = &threads[thread];
            let reads = performed.iter().filter(|one| one.action.reads()).count();
            let next = self.instructions(family, reads);
            threads[thread].extend(next);
        }
        threads.retain(|thread| !thread.is_empty());
        Program { locations: 2, mutexes: 2, cells: 2, threads }
    }
}

/// Compares the library with the axioms. Gives how many execution graphs there are, and whether one has
/// a race.
fn compare(program: &Arc<Program>) -> Result<(u64, bool), String> {
    let allowed = executions(program, Axioms::Rc11);
    let outcomes = library::outcomes(program, Model::Rc11);
    let failures = outcomes.failures();
    if let Some(other) = failures.iter().find(|outcome| !library::is_race(outcome)) {
        return Err(format!("{other}"));
    }
    let races = (allowed.races > 0, !failures.is_empty());
    if races.0 != races.1 {
        return Err(format!("race by the axioms: {}, in the library: {}", races.0, races.1));
    }
    if races.0 {
        return Ok((allowed.graphs, true));
    }
    let shown: BTreeSet<Shown> = outcomes.values().into_iter().cloned().collect();
    let missing: Vec<_> = allowed.shown.difference(&shown).collect();
    let forbidden: Vec<_> = shown.difference(&allowed.shown).collect();
    if !missing.is_empty() || !forbidden.is_empty() {
        return Err(format!("missing {missing:?}, forbidden {forbidden:?}"));
    }
    if outcomes.executions != allowed.graphs {
        return Err(format!("{} executions, {} graphs", outcomes.executions, allowed.graphs));
    }
    Ok((allowed.graphs, false))
}

fn compare_family(family: Family, usual: u64) {
    let seed = from_environment("STRAIT_TEST_SEED", 20_261_118);
    let count = from_environment("STRAIT_TEST_COUNT", usual);
    let (mut graphs, mut races) = (0, 0);
    for index in 0..count {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(index);
        let program = Arc::new(Draw(rng).program(&family));
        match compare(&program) {
            Ok((these, race)) => {
                graphs += these;
                races += u64::from(race);
            }
            Err(difference) => {
                panic!("{} program {index} of seed {seed}: {program}\n{difference}", family.name)
            }
        }
    }
    assert!(graphs > count * 3 / 2, "the programs have choices: {graphs} graphs");
    let plain = family.kinds[5] > 0;
    assert!(!plain || races > count / 20, "some programs have races: {races} of {count}");
    assert!(races < count * 9 / 10, "some programs have no race: {races} of {count}");
}

#[test]
fn conditions_agree_with_the_axioms() {
    let kinds = [4, 4, 1, 1, 1, 0, 0, 0];
    let family = Family { name: "conditional", kinds, conditional: 4, threads: 3, length: 7 };
    compare_family(family, 100);
}

#[test]
fn plain_variables_agree_with_the_axioms() {
    let kinds = [3, 4, 2, 1, 1, 2, 2, 0];
    let family = Family { name: "plain", kinds, conditional: 4, threads: 3, length: 7 };
    compare_family(family, 100);
}

#[test]
fn critical_sections_agree_with_the_axioms() {
    let kinds = [3, 3, 1, 0, 1, 0, 0, 4];
    let family = Family { name: "sections", kinds, conditional: 2, threads: 3, length: 5 };
    compare_family(family, 100);
    let kinds = [3, 3, 0, 0, 1, 3, 3, 9];
    let family = Family { name: "plain sections", kinds, conditional: 2, threads: 3, length: 5 };
    compare_family(family, 100);
}

/// Longer programs with few choices in each place.
#[test]
fn longer_programs_agree_with_the_axioms() {
    let kinds = [3, 4, 2, 1, 2, 0, 0, 0];
    let family = Family { name: "longer", kinds, conditional: 1, threads: 4, length: 10 };
    compare_family(family, 25);
}
