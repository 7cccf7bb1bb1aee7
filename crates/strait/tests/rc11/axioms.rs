//! The executions of a program by brute force over reads-from and modification orders, judged by the
//! axioms of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential consistency in C/C++11,
//! PLDI 2017), written down as there. Shares nothing with the library.
//!
//! | paper | here |
//! |---|---|
//! | sb, rf, mo, rmw | the fields of [`Graph`] |
//! | rb = rf⁻¹; mo | [`Graph::reads_before`] |
//! | rs, sw, hb | [`Graph::happens_before`] |
//! | coherence, atomicity, no thin air | [`Graph::is_coherent`], [`executions`] |
//! | psc | [`Graph::is_sequentially_ordered`] |
//!
//! A mutex is not part of the paper. Here its critical sections follow each other in some order, the end
//! of each synchronises with the beginning of all later ones, and that order, program order and
//! reads-from have no cycle together.
//!
//! An access that is not atomic is an event like a relaxed one that no fence makes synchronise. An
//! execution in which two of them, or one and an atomic access, are not ordered by hb and one writes has
//! a data race.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use crate::performed::{Course, Performed, constant, courses_of, events_of, new_value, perform};
use crate::program::{Action, Instruction, Program, Shown};
use crate::relation::{Relation, Set};

/// Which axioms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axioms {
    /// RC11, with the release sequences of C++20, which are those of Rust: only read-modify-writes
    /// continue one.
    Rc11,
    /// RC11 as published: later stores of the same thread continue a release sequence too.
    Published,
    /// [`Axioms::Rc11`] with scb = sb ∪ sb; hb; sb ∪ hb|loc ∪ mo ∪ rb: the accesses around hb may be to
    /// one location.
    AnyLocation,
    /// C++20, as `cpp20.rs` explains.
    Cpp20,
    /// Sequential consistency.
    Sc,
}

/// What the axioms allow.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allowed {
    /// How many execution graphs.
    pub graphs: u64,
    /// How many of them have a data race.
    pub races: u64,
    pub shown: BTreeSet<Shown>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read,
    Write,
    Fence,
    Lock,
    Unlock,
}

#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// None for the initial value of a location.
    thread: Option<usize>,
    pub kind: Kind,
    /// The location, or the mutex. Variables that are not atomic come after the locations.
    at: Option<usize>,
    pub order: Ordering,
    atomic: bool,
}

/// An execution graph.
pub struct Graph {
    pub events: Vec<Event>,
    threads: Vec<Vec<Performed>>,
    pub sb: Relation,
    pub rf: Relation,
    mo: Relation,
    pub rmw: Relation,
    /// The order of critical sections, on locks and unlocks.
    sections: Relation,
}

/// All executions that the axioms allow.
pub fn executions(program: &Program, axioms: Axioms) -> Allowed {
    let mut allowed = Allowed::default();
    let instructions: Vec<Instruction> = program.threads.iter().flatten().copied().collect();
    each_product(&instructions, courses_of, &mut |ways| {
        let mut graph = Graph::new(program, ways);
        let reads: Vec<usize> = graph.of_kind(Kind::Read);
        let sources = |&read: &usize| graph.sources(read);
        let sources: Vec<Vec<usize>> = reads.iter().map(sources).collect();
        each_product(&sources, |sources| sources.clone(), &mut |sources| {
            graph.rf = Relation::empty(graph.events.len());
            reads.iter().zip(sources).for_each(|(&read, &source)| graph.rf.add(source, read));
            if let Some(registers) = graph.registers(sources, &reads, axioms) {
                graph.each_order(program, axioms, &mut |graph| {
                    allowed.graphs += 1;
                    allowed.races += u64::from(graph.has_race(axioms));
                    allowed.shown.insert(graph.shown(program, &registers));
                });
            }
        });
    });
    allowed
}

/// Calls `visit` with each way to choose one option for each item.
fn each_product<Item, Choice: Copy>(
    items: &[Item],
    options: impl Fn(&Item) -> Vec<Choice>,
    visit: &mut impl FnMut(&[Choice]),
) {
    let options: Vec<Vec<Choice>> = items.iter().map(options).collect();
    let mut positions = vec![0; options.len()];
    if options.iter().any(Vec::is_empty) {
        return;
    }
    loop {
        let choices = options.iter().zip(&positions).map(|(options, &position)| options[position]);
        visit(&choices.collect::<Vec<_>>());
        let mut item = 0;
        loop {
            let Some(position) = positions.get_mut(item) else { return };
            *position += 1;
            if *position < options[item].len() {
                break;
            }
            *position = 0;
            item += 1;
        }
    }
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let with_first = |rest: Vec<usize>| {
        (0..=rest.len()).map(move |position| {
            let mut whole = rest.clone();
            whole.insert(position, first);
            whole
        })
    };
    permutations(rest).into_iter().flat_map(with_first).collect()
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Acquire | AcqRel | SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Release | AcqRel | SeqCst)
}

impl Graph {
    fn new(program: &Program, ways: &[Course]) -> Graph {
        let initial = |location| Event {
            thread: None,
            kind: Kind::Write,
            at: Some(location),
            order: Relaxed,
            atomic: true,
        };
        let mut events: Vec<Event> = (0..program.locations + program.cells).map(initial).collect();
        let mut ways = ways.iter();
        let mut pairs = Vec::new();
        let mut threads = Vec::new();
        for (thread, instructions) in program.threads.iter().enumerate() {
            let mut performed = Vec::new();
            for &instruction in instructions {
                let way = *ways.next().expect("one way for each instruction");
                let (mut read, mut write) = (None, None);
                let atomic = !matches!(
                    instruction.action,
                    Action::PlainStore { .. } | Action::PlainLoad { .. }
                );
                for (kind, at, order) in events_of(instruction.action, way, program.locations) {
                    let number = events.len();
                    match kind {
                        Kind::Read => read = Some(number),
                        Kind::Write => write = Some(number),
                        Kind::Fence | Kind::Lock | Kind::Unlock => {}
                    }
                    events.push(Event { thread: Some(thread), kind, at, order, atomic });
                }
                pairs.extend(read.zip(write));
                performed.push(Performed { instruction, way, read, write });
            }
            threads.push(performed);
        }
        let size = events.len();
        let (mut sb, mut rmw) = (Relation::empty(size), Relation::empty(size));
        for (later, event) in events.iter().enumerate() {
            for (earlier, before) in events[..later].iter().enumerate() {
                // Initial values are written before everything else.
                if before.thread == event.thread && event.thread.is_some()
                    || before.thread.is_none() && event.thread.is_some()
                {
                    sb.add(earlier, later);
                }
            }
        }
        pairs.into_iter().for_each(|(read, write)| rmw.add(read, write));
        let empty = Relation::empty(size);
        let (rf, mo, sections) = (empty.clone(), empty.clone(), empty);
        Graph { events, threads, sb, rf, mo, rmw, sections }
    }

    fn of_kind(&self, kind: Kind) -> Vec<usize> {
        (0..self.events.len()).filter(|&event| self.events[event].kind == kind).collect()
    }

    /// The events of a kind on a location or mutex.
    fn on(&self, kind: Kind, at: usize) -> Vec<usize> {
        self.of_kind(kind).into_iter().filter(|&event| self.events[event].at == Some(at)).collect()
    }

    /// What a read may read from.
    fn sources(&self, read: usize) -> Vec<usize> {
        let location = self.events[read].at.expect("a read has a location");
        let mut writes = self.on(Kind::Write, location);
        writes.retain(|&write| !self.rmw.holds(read, write));
        writes
    }

    /// The registers of each thread, if every instruction goes as assumed and no value comes out of
    /// thin air: sb ∪ rf has no cycle. For C++20 it may have one, if the values do not need it.
    fn registers(
        &self,
        sources: &[usize],
        reads: &[usize],
        axioms: Axioms,
    ) -> Option<Vec<Vec<u8>>> {
        let mut values: Vec<Option<u8>> =
            self.events.iter().map(|event| event.thread.is_none().then_some(0)).collect();
        if axioms == Axioms::Cpp20 {
            for step in self.threads.iter().flatten() {
                if let (Some(write), Some(value)) = (step.write, constant(step.instruction)) {
                    values[write] = Some(value);
                }
            }
        }
        let mut registers = vec![Vec::new(); self.threads.len()];
        let mut next = vec![0; self.threads.len()];
        let source = |read| sources[reads.iter().position(|&one| one == read).expect("a read")];
        loop {
            let mut moved = false;
            for (thread, performed) in self.threads.iter().enumerate() {
                while let Some(step) = performed.get(next[thread]) {
                    let old = match step.read {
                        Some(read) => match values[source(read)] {
                            Some(value) => Some(value),
                            None => break,
                        },
                        None => None,
                    };
                    let new = perform(step, old, &mut registers[thread])?;
                    if let Some(write) = step.write {
                        values[write] = new;
                    }
                    next[thread] += 1;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        let ended = next.iter().zip(&self.threads).all(|(&next, thread)| next == thread.len());
        ended.then_some(registers)
    }

    /// Calls `visit` for each modification order and order of critical sections that the axioms allow.
    fn each_order(&mut self, program: &Program, axioms: Axioms, visit: &mut impl FnMut(&Graph)) {
        let mutexes: Vec<usize> = (0..program.mutexes).collect();
        let orders = |&mutex: &usize| permutations(&self.on(Kind::Lock, mutex));
        let orders: Vec<Vec<Vec<usize>>> = mutexes.iter().map(orders).collect();
        let all: Vec<usize> = (0..orders.len()).collect();
        let number = |&mutex: &usize| (0..orders[mutex].len()).collect();
        each_product(&all, number, &mut |chosen: &[usize]| {
            let chosen = chosen.iter().enumerate().map(|(mutex, &one)| &orders[mutex][one][..]);
            self.sections = self.sections_of(chosen);
            let before = match axioms {
                Axioms::Cpp20 => &self.sb | &self.sections,
                _ => &(&self.sb | &self.rf) | &self.sections,
            };
            if !before.is_acyclic() {
                return;
            }
            self.each_modification_order(program, axioms, visit);
        });
    }

    /// The order of locks and unlocks, given the order of locks of each mutex.
    fn sections_of<'g>(&self, orders: impl Iterator<Item = &'g [usize]>) -> Relation {
        let mut sections = Relation::empty(self.events.len());
        for locks in orders {
            let unlock = |lock: usize| {
                let unlocks = self.on(Kind::Unlock, self.events[lock].at.expect("a mutex"));
                unlocks.into_iter().find(|&unlock| self.sb.holds(lock, unlock))
            };
            let all: Vec<usize> =
                locks.iter().flat_map(|&lock| [Some(lock), unlock(lock)]).flatten().collect();
            for (position, &later) in all.iter().enumerate() {
                all[..position].iter().for_each(|&earlier| sections.add(earlier, later));
            }
        }
        sections
    }

    fn each_modification_order(
        &mut self,
        program: &Program,
        axioms: Axioms,
        visit: &mut impl FnMut(&Graph),
    ) {
        let hb = self.happens_before(axioms);
        let mut orders = Vec::new();
        for location in 0..program.locations + program.cells {
            let writes = self.on(Kind::Write, location);
            let initial = writes[0];
            let mut possible = Vec::new();
            for mut order in permutations(&writes[1..]) {
                order.insert(0, initial);
                self.mo = Relation::empty(self.events.len());
                self.add_order(&order);
                // Both are about one location at a time.
                if self.is_coherent(&hb) && self.is_atomic() {
                    possible.push(order);
                }
            }
            orders.push(possible);
        }
        let all: Vec<usize> = (0..orders.len()).collect();
        let number = |&location: &usize| (0..orders[location].len()).collect();
        each_product(&all, number, &mut |chosen: &[usize]| {
            self.mo = Relation::empty(self.events.len());
            for (location, &one) in chosen.iter().enumerate() {
                self.add_order(&orders[location][one]);
            }
            if self.is_allowed(axioms, &hb) {
                visit(self);
            }
        });
    }

    fn add_order(&mut self, order: &[usize]) {
        for (position, &later) in order.iter().enumerate() {
            order[..position].iter().for_each(|&earlier| self.mo.add(earlier, later));
        }
    }

    fn is_allowed(&self, axioms: Axioms, hb: &Relation) -> bool {
        if axioms == Axioms::Sc {
            let all = &(&self.sb | &self.rf) | &(&self.mo | &self.reads_before());
            return (&all | &self.sections).is_acyclic() && self.is_atomic();
        }
        if axioms == Axioms::Cpp20 {
            return self.is_coherent(hb) && self.is_atomic() && self.is_ordered_as_in_cpp20(hb);
        }
        self.is_coherent(hb) && self.is_atomic() && self.is_sequentially_ordered(axioms, hb)
    }

    fn set(&self, condition: impl Fn(&Event) -> bool) -> Set {
        Set::of((0..self.events.len()).filter(|&event| condition(&self.events[event])))
    }

    /// [S]
    fn only(&self, condition: impl Fn(&Event) -> bool) -> Relation {
        self.set(condition).identity(self.events.len())
    }

    /// r|loc
    fn same_location(&self, relation: &Relation) -> Relation {
        let at = |event: usize| self.events[event].at.filter(|_| self.is_access(event));
        relation.only(|from, to| at(from).is_some() && at(from) == at(to))
    }

    /// r|≠loc
    fn other_location(&self, relation: &Relation) -> Relation {
        let at = |event: usize| self.events[event].at.filter(|_| self.is_access(event));
        relation.only(|from, to| at(from).is_none() || at(from) != at(to))
    }

    fn is_access(&self, event: usize) -> bool {
        matches!(self.events[event].kind, Kind::Read | Kind::Write)
    }

    /// rb = rf⁻¹; mo
    fn reads_before(&self) -> Relation {
        &self.rf.inverse() * &self.mo
    }

    /// sw = [E⊒rel]; ([F]; sb)?; rs; rf; [R⊒rlx]; (sb; [F])?; [E⊒acq]
    pub fn synchronizes_with(&self, axioms: Axioms) -> Relation {
        let writes = self.only(|event| event.kind == Kind::Write);
        let atomic = self.only(|event| event.atomic);
        let sequence = (&self.rf * &self.rmw).closure().optional();
        let rs = match axioms {
            // [W]; (rf; rmw)*
            Axioms::Rc11 | Axioms::AnyLocation | Axioms::Cpp20 | Axioms::Sc => {
                &(&atomic * &writes) * &sequence
            }
            // [W]; sb|loc?; [W⊒rlx]; (rf; rmw)*
            Axioms::Published => {
                let later = &(&writes * &self.same_location(&self.sb).optional()) * &writes;
                &(&later * &atomic) * &sequence
            }
        };
        let fences = self.only(|event| event.kind == Kind::Fence);
        let releasing = self.only(|event| releases(event.order) && event.kind != Kind::Read);
        let acquiring = self.only(|event| acquires(event.order) && event.kind != Kind::Write);
        let from = &(&releasing * &(&fences * &self.sb).optional()) * &rs;
        let to = &(&self.sb * &fences).optional() * &acquiring;
        &(&(&from * &self.rf) * &atomic) * &to
    }

    /// hb = (sb ∪ sw)⁺, with the sections of mutexes.
    fn happens_before(&self, axioms: Axioms) -> Relation {
        let kind = |event: usize| self.events[event].kind;
        let sections =
            self.sections.only(|from, to| kind(from) == Kind::Unlock && kind(to) == Kind::Lock);
        (&(&self.sb | &self.synchronizes_with(axioms)) | &sections).closure()
    }

    /// eco = (rf ∪ mo ∪ rb)⁺
    pub fn extended_coherence(&self) -> Relation {
        (&(&self.rf | &self.mo) | &self.reads_before()).closure()
    }

    /// hb; eco? is irreflexive.
    fn is_coherent(&self, hb: &Relation) -> bool {
        (hb * &self.extended_coherence().optional()).is_irreflexive()
    }

    /// rmw ∩ (rb; mo) = ∅
    fn is_atomic(&self) -> bool {
        (&self.rmw & &(&self.reads_before() * &self.mo)).is_empty()
    }

    /// psc_base ∪ psc_F is acyclic.
    fn is_sequentially_ordered(&self, axioms: Axioms, hb: &Relation) -> bool {
        let sequential = |event: &Event| event.order == SeqCst;
        let esc = self.only(|event| sequential(event) && event.kind != Kind::Fence);
        let fsc = self.only(|event| sequential(event) && event.kind == Kind::Fence);
        let (mo, rb, eco) = (&self.mo, self.reads_before(), self.extended_coherence());
        let elsewhere = match axioms {
            Axioms::AnyLocation => self.sb.clone(),
            _ => self.other_location(&self.sb),
        };
        // scb = sb ∪ sb|≠loc; hb; sb|≠loc ∪ hb|loc ∪ mo ∪ rb
        let around = &(&elsewhere * hb) * &elsewhere;
        let scb = &(&(&self.sb | &around) | &self.same_location(hb)) | &(mo | &rb);
        // psc_base = ([Esc] ∪ [Fsc]; hb?); scb; ([Esc] ∪ hb?; [Fsc])
        let from = &esc | &(&fsc * &hb.optional());
        let to = &esc | &(&hb.optional() * &fsc);
        let base = &(&from * &scb) * &to;
        // psc_F = [Fsc]; (hb ∪ hb; eco; hb); [Fsc]
        let between = hb | &(&(hb * &eco) * hb);
        let fences = &(&fsc * &between) * &fsc;
        (&base | &fences).is_acyclic()
    }

    /// Are two accesses, one of them not atomic and one of them a write, not ordered by hb?
    fn has_race(&self, axioms: Axioms) -> bool {
        let hb = self.happens_before(axioms);
        let conflict = |one: usize, two: usize| {
            let (first, second) = (self.events[one], self.events[two]);
            first.thread.is_some()
                && second.thread.is_some()
                && first.thread != second.thread
                && self.is_access(one)
                && self.is_access(two)
                && first.at == second.at
                && (first.kind == Kind::Write || second.kind == Kind::Write)
                && !(first.atomic && second.atomic)
        };
        let size = self.events.len();
        (0..size).any(|one| {
            (0..one).any(|two| conflict(one, two) && !hb.holds(one, two) && !hb.holds(two, one))
        })
    }

    /// What the execution shows: the registers and the last values.
    fn shown(&self, program: &Program, registers: &[Vec<u8>]) -> Shown {
        let mut shown = registers.to_vec();
        let last = (0..program.locations).map(|location| {
            let writes = self.on(Kind::Write, location);
            let last =
                writes.iter().find(|&&one| writes.iter().all(|&two| !self.mo.holds(one, two)));
            self.value_of(*last.expect("one write is the last"), registers)
        });
        shown.push(last.collect());
        shown
    }

    /// The value that a write has written.
    fn value_of(&self, write: usize, registers: &[Vec<u8>]) -> u8 {
        let Some(thread) = self.events[write].thread else { return 0 };
        let mut seen = Vec::new();
        for step in &self.threads[thread] {
            let old = step.instruction.action.reads().then(|| registers[thread][seen.len()]);
            let new = new_value(step.instruction.action, old, &registers[thread]);
            if step.write == Some(write) {
                return new.unwrap_or(0);
            }
            seen.extend(old);
        }
        0
    }
}
