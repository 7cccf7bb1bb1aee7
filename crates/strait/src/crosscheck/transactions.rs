//! Random programs of transactions, which touch other variables when they find other values.

use std::sync::Arc;

use super::{Draw, Family, Seen, compare_all, perform_all, program};
use crate::exception;
use crate::rt::memory::Model;
use crate::stm::{Stm, TVar, Transaction, atomically, check, throw, try_atomically};
use crate::thread;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Adds one.
    Add(usize),
    /// Waits until it is not 0, and subtracts one.
    Subtract(usize),
    /// Subtracts from the first that is not 0; waits for either.
    Either(usize, usize),
    /// Moves one from the first to the second, if it has one.
    Move(usize, usize),
    /// Reads the second if the first is odd, and sets it otherwise.
    Depends(usize, usize),
    ReadBoth(usize, usize),
    /// Adds one, and throws if that makes two.
    Throws(usize),
    /// Panics if it is not 0.
    Panics(usize),
    /// Reads nothing.
    Nothing,
    Kill(usize),
}

fn draw(source: &mut Draw, kills: bool) -> Op {
    let (one, other) = (source.below(3), source.below(3));
    match source.below(if kills { 18 } else { 16 }) {
        0..=2 => Op::Add(one),
        3 | 4 => Op::Subtract(one),
        5 | 6 => Op::Either(one, other),
        7 | 8 => Op::Move(one, other),
        9..=11 => Op::Depends(one, other),
        12 | 13 => Op::ReadBoth(one, other),
        14 => Op::Throws(one),
        15 if one == 0 => Op::Nothing,
        15 => Op::Panics(one),
        _ => Op::Kill(one % 2),
    }
}

fn subtract(transaction: &mut Transaction, variable: &TVar<u8>) -> Stm<()> {
    let value = transaction.read(variable)?;
    check(value > 0)?;
    transaction.write(variable, value - 1)
}

fn perform(variables: &[TVar<u8>; 3], ops: &[Op], threads: &[thread::Thread]) -> Vec<u8> {
    let mut seen = Vec::new();
    let v = |index: usize| &variables[index];
    for &op in ops {
        match op {
            Op::Add(one) => atomically(|t| t.modify(v(one), |value| value + 1)),
            Op::Subtract(one) => atomically(|t| subtract(t, v(one))),
            Op::Either(one, other) => {
                atomically(|t| t.or_else(|t| subtract(t, v(one)), |t| subtract(t, v(other))));
            }
            Op::Move(one, other) => seen.push(atomically(|t| {
                let value = t.read(v(one))?;
                if value > 0 {
                    t.write(v(one), value - 1)?;
                    t.modify(v(other), |value| value + 1)?;
                }
                Ok(value)
            })),
            Op::Depends(one, other) => seen.push(atomically(|t| {
                let value = t.read(v(one))?;
                if value % 2 == 1 {
                    return t.read(v(other));
                }
                t.write(v(other), value + 1)?;
                Ok(9)
            })),
            Op::ReadBoth(one, other) => {
                seen.push(atomically(|t| Ok(10 * t.read(v(one))? + t.read(v(other))?)));
            }
            Op::Throws(one) => {
                let result = try_atomically(|t| {
                    t.modify(v(one), |value| value + 1)?;
                    if t.read(v(one))? == 2 { throw("two") } else { Ok(()) }
                });
                seen.push(u8::from(result.is_ok()));
            }
            Op::Panics(one) => atomically(|t| {
                assert_eq!(t.read(v(one))?, 0);
                Ok(())
            }),
            Op::Nothing => atomically(|_| Ok(())),
            Op::Kill(thread) => {
                if let Some(thread) = threads.get(thread) {
                    exception::kill(thread);
                }
            }
        }
    }
    seen
}

fn run(ops: &[Vec<Op>]) -> Vec<Seen> {
    let variables = Arc::new([TVar::new(0), TVar::new(1), TVar::new(1)]);
    let theirs = variables.clone();
    let mut seen = perform_all(ops, move |_, ops, threads| perform(&theirs, ops, threads));
    seen.push(Some(variables.iter().map(TVar::read).collect()));
    seen
}

fn compare_flavour(kills: bool, usual: u64) {
    let family = Family { name: "transaction", model: Model::Tso, usual, bounded: false };
    let draw = |seed, index| program(seed, index, &[4, 2, 2], |source| draw(source, kills));
    compare_all(&family, draw, run);
}

#[test]
fn transactions_are_searched_optimally() {
    compare_flavour(false, 300);
}

#[test]
fn transactions_with_exceptions_are_searched_optimally() {
    compare_flavour(true, 60);
}
