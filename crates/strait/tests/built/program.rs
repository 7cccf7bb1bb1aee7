//! The programs.

use std::sync::Arc;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use strait::cell::UnsafeCell;
use strait::sync::atomic::{AtomicU8, fence};
use strait::thread::{self, Thread};

use crate::kits::Kit;

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Load(usize, Ordering),
    Store(usize, u8, Ordering),
    Add(usize, Ordering),
    Exchange(usize, u8, u8, Ordering),
    Fence(Ordering),
    /// A variable that is not atomic.
    Look,
    Change,
    Lock(usize),
    Unlock(usize),
    Read,
    Write,
    /// Gives the lock for readers and writers back.
    Release,
    Park,
    ParkForAWhile,
    Unpark(usize),
    Send,
    Receive,
    Meet,
    Once,
    /// Waits in a loop.
    Until(usize, u8, Ordering),
    /// Starts a thread that stores to a variable and joins it.
    Child(usize, Ordering),
}

pub struct Family {
    pub name: &'static str,
    /// How often each group of operations comes.
    pub kinds: &'static [(u32, u32)],
    /// How long two and three threads may be.
    pub longest: [u32; 2],
}

pub struct Draw(pub ChaCha8Rng);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.next_u32() % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    fn atomic(&mut self) -> Op {
        let (variable, value) = (self.below(2) as usize, 1 + self.below(2) as u8);
        let both = self.one(&[Relaxed, Acquire, Release, AcqRel, SeqCst]);
        match self.below(12) {
            0..=3 => Op::Load(variable, self.one(&[Relaxed, Relaxed, Acquire, SeqCst])),
            4..=6 => Op::Store(variable, value, self.one(&[Relaxed, Relaxed, Release, SeqCst])),
            7 => Op::Add(variable, both),
            8 => Op::Exchange(variable, value - 1, value, both),
            9 => Op::Fence(self.one(&[Acquire, Release, SeqCst])),
            10 => Op::Look,
            _ => Op::Change,
        }
    }

    fn op(&mut self, family: &Family, me: u32) -> Op {
        let sum = family.kinds.iter().map(|(weight, _)| weight).sum();
        let mut number = self.below(sum);
        let mut kinds = family.kinds.iter();
        let kind = loop {
            let &(weight, kind) = kinds.next().unwrap();
            if number < weight {
                break kind;
            }
            number -= weight;
        };
        let variable = self.below(2) as usize;
        match kind {
            0 => self.atomic(),
            1 => self.one(&[Op::Lock(variable), Op::Lock(0), Op::Unlock(variable), Op::Unlock(0)]),
            2 => self.one(&[Op::Read, Op::Write, Op::Release]),
            3 => match self.below(5) {
                0 | 1 if me > 0 => Op::Unpark(self.below(me) as usize),
                4 => Op::ParkForAWhile,
                _ => Op::Park,
            },
            4 => self.one(&[Op::Send, Op::Send, Op::Receive]),
            5 => Op::Meet,
            _ => match self.below(4) {
                0 | 1 => Op::Once,
                2 => Op::Child(variable, self.one(&[Relaxed, Release])),
                _ => Op::Until(variable, 1, self.one(&[Relaxed, Acquire, SeqCst])),
            },
        }
    }

    pub fn program(&mut self, family: &Family) -> Vec<Vec<Op>> {
        let more = self.below(2);
        let longest = family.longest[more as usize];
        let mut thread = |me| {
            let length = 2 + self.below(longest - 1);
            (0..length).map(|_| self.op(family, me)).collect()
        };
        (0..more + 2).map(&mut thread).collect()
    }
}

struct Memory {
    variables: [AtomicU8; 2],
    cell: UnsafeCell<u8>,
}

// SAFETY: the library reports accesses that are not ordered, and nothing is read or written.
#[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
unsafe impl Sync for Memory {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "the cell is shared between threads on purpose")]
unsafe impl Send for Memory {}

/// Performs one thread. Gives what it saw.
fn perform<K: Kit>(
    kit: &K,
    memory: &Arc<Memory>,
    me: usize,
    ops: &[Op],
    threads: &[Thread],
) -> Vec<u8> {
    let mut seen = Vec::new();
    let mut held = [None, None];
    let (mut reading, mut writing) = (None, None);
    for (index, &op) in ops.iter().enumerate() {
        let number = (10 * me + index) as u8;
        match op {
            Op::Load(variable, order) => seen.push(memory.variables[variable].load(order)),
            Op::Store(variable, value, order) => memory.variables[variable].store(value, order),
            Op::Add(variable, order) => seen.push(memory.variables[variable].fetch_add(1, order)),
            Op::Exchange(variable, expected, new, order) => {
                let variable = &memory.variables[variable];
                let old = variable.compare_exchange(expected, new, order, Relaxed);
                seen.push(old.unwrap_or_else(|old| 100 + old));
            }
            Op::Fence(order) => fence(order),
            Op::Look => memory.cell.with(|_| ()),
            Op::Change => memory.cell.with_mut(|_| ()),
            Op::Lock(lock) if held[lock].is_none() => held[lock] = Some(kit.lock(lock)),
            Op::Lock(_) => {}
            Op::Unlock(lock) => held[lock] = None,
            Op::Read if reading.is_none() && writing.is_none() => reading = Some(kit.read()),
            Op::Write if reading.is_none() && writing.is_none() => writing = Some(kit.write()),
            Op::Read | Op::Write => {}
            Op::Release => {
                reading = None;
                writing = None;
            }
            Op::Park => kit.park(me),
            Op::ParkForAWhile => kit.park_for_a_while(me),
            Op::Unpark(number) => {
                if let Some(thread) = threads.get(number) {
                    kit.unpark(number, thread);
                }
            }
            Op::Send => kit.send(number),
            Op::Receive => seen.push(kit.receive()),
            Op::Meet => seen.push(u8::from(kit.meet())),
            Op::Once => seen.push(kit.once(|| {
                memory.variables[0].store(number, Relaxed);
                number
            })),
            Op::Until(variable, value, order) => {
                while memory.variables[variable].load(order) != value {
                    strait::hint::spin_loop();
                }
            }
            Op::Child(variable, order) => {
                let theirs = memory.clone();
                let child = thread::spawn(move || {
                    theirs.variables[1].load(Relaxed);
                    theirs.variables[variable].store(3, order);
                });
                child.join().unwrap();
            }
        }
    }
    seen
}

/// Performs all threads. Gives what each saw, and the last values of the variables.
pub fn perform_all<K: Kit>(kit: Arc<K>, ops: &[Vec<Op>]) -> Vec<Vec<u8>> {
    let memory = Arc::new(Memory {
        variables: [AtomicU8::new(0), AtomicU8::new(0)],
        cell: UnsafeCell::new(0),
    });
    let mut handles: Vec<thread::JoinHandle<Vec<u8>>> = Vec::new();
    for (me, ops) in ops.iter().enumerate() {
        let (kit, memory, ops) = (kit.clone(), memory.clone(), ops.clone());
        let threads: Vec<_> = handles.iter().map(|handle| handle.thread().clone()).collect();
        handles.push(thread::spawn(move || perform(&*kit, &memory, me, &ops, &threads)));
    }
    let mut seen: Vec<Vec<u8>> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
    seen.push(memory.variables.iter().map(|variable| variable.load(Relaxed)).collect());
    seen
}
