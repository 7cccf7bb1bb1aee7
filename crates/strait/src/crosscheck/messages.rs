//! Random programs of channels, selects, `MVar`s, transactions and exceptions.

use std::sync::Arc;
use std::time::Duration;

use super::{Draw, Family, Seen, compare_all, perform_all, program};
use crate::channel::{Receiver, Select, Sender, bounded};
use crate::exception;
use crate::mvar::MVar;
use crate::rt::memory::Model;
use crate::stm::{TVar, atomically, check};
use crate::thread;

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize),
    Receive(usize),
    TrySend(usize),
    TryReceive(usize),
    /// Sends on the one or receives from the other.
    Select(usize, usize),
    TrySelect(usize, usize),
    /// The same with a limit to the time.
    SendTimeout(usize),
    ReceiveTimeout(usize),
    SelectTimeout(usize, usize),
    Length(usize),
    Take,
    Put,
    TryTake,
    Read,
    /// Adds one to a variable.
    Add(usize),
    /// Waits until a variable is not 0, and subtracts one.
    Subtract(usize),
    Kill(usize),
    Mask,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flavour {
    Channels,
    Timeouts,
    Variables,
    Exceptions,
}

fn draw(source: &mut Draw, flavour: Flavour) -> Op {
    let (one, other) = (source.below(3), source.below(3));
    let kind = match flavour {
        Flavour::Channels => source.below(10),
        Flavour::Timeouts => match source.below(4) {
            0 => source.below(8),
            _ => return timed(source, one, other),
        },
        Flavour::Variables => 10 + source.below(7),
        Flavour::Exceptions => 9 + source.below(8) + if source.below(3) == 0 { 4 } else { 0 },
    };
    match kind {
        0..=2 => Op::Send(one),
        3..=5 => Op::Receive(one),
        6 => Op::TrySend(one),
        7 => Op::TryReceive(one),
        8 => Op::Select(one, other),
        9 => Op::TrySelect(one, other),
        10 | 11 => Op::Take,
        12 => Op::Put,
        13 => Op::TryTake,
        14 => Op::Read,
        15 => Op::Add(one % 2),
        16 => Op::Subtract(one % 2),
        17 | 18 => Op::Kill(one % 2),
        _ => Op::Mask,
    }
}

fn timed(source: &mut Draw, one: usize, other: usize) -> Op {
    match source.below(8) {
        0..=2 => Op::SendTimeout(one),
        3..=5 => Op::ReceiveTimeout(one),
        6 => Op::SelectTimeout(one, other),
        _ => Op::Length(one),
    }
}

struct Shared {
    channels: Vec<(Sender<u8>, Receiver<u8>)>,
    mvar: MVar<u8>,
    tvars: [TVar<u8>; 2],
}

/// How long is waited for.
#[derive(Clone, Copy)]
enum Wait {
    No,
    ForAWhile,
    Forever,
}

const WHILE: Duration = Duration::from_secs(1);

fn selected(shared: &Shared, sends: usize, receives: usize, value: u8, wait: Wait) -> u8 {
    let (sender, receiver) = (&shared.channels[sends].0, &shared.channels[receives].1);
    let mut select = Select::new();
    let sending = select.send(sender);
    select.recv(receiver);
    let chosen = match wait {
        Wait::No => select.try_select().ok(),
        Wait::ForAWhile => select.select_timeout(WHILE).ok(),
        Wait::Forever => Some(select.select()),
    };
    match chosen {
        None => 99,
        Some(chosen) if chosen.index() == sending => chosen.send(sender, value).map_or(98, |()| 50),
        Some(chosen) => chosen.recv(receiver).unwrap_or(97),
    }
}

fn perform(shared: &Shared, number: u8, ops: &[Op], threads: &[thread::Thread]) -> Vec<u8> {
    let mut seen = Vec::new();
    for (index, &op) in ops.iter().enumerate() {
        let value = number * 10 + index as u8;
        let channel = |index: usize| &shared.channels[index];
        match op {
            Op::Send(index) => seen.push(channel(index).0.send(value).map_or(1, |()| 0)),
            Op::Receive(index) => seen.push(channel(index).1.recv().unwrap_or(99)),
            Op::TrySend(index) => seen.push(channel(index).0.try_send(value).map_or(1, |()| 0)),
            Op::TryReceive(index) => seen.push(channel(index).1.try_recv().unwrap_or(99)),
            Op::SendTimeout(index) => {
                seen.push(channel(index).0.send_timeout(value, WHILE).map_or(1, |()| 0));
            }
            Op::ReceiveTimeout(index) => {
                seen.push(channel(index).1.recv_timeout(WHILE).unwrap_or(99));
            }
            Op::Length(index) => seen.push(channel(index).1.len() as u8),
            Op::Select(one, other) => seen.push(selected(shared, one, other, value, Wait::Forever)),
            Op::TrySelect(one, other) => seen.push(selected(shared, one, other, value, Wait::No)),
            Op::SelectTimeout(one, other) => {
                seen.push(selected(shared, one, other, value, Wait::ForAWhile));
            }
            Op::Take => seen.push(shared.mvar.take()),
            Op::Put => shared.mvar.put(value),
            Op::TryTake => seen.push(shared.mvar.try_take().unwrap_or(99)),
            Op::Read => seen.push(shared.mvar.read()),
            Op::Add(index) => atomically(|transaction| {
                transaction.modify(&shared.tvars[index], |value: u8| value + 1)
            }),
            Op::Subtract(index) => atomically(|transaction| {
                let value = transaction.read(&shared.tvars[index])?;
                check(value > 0)?;
                transaction.write(&shared.tvars[index], value - 1)
            }),
            Op::Kill(thread) => {
                if let Some(thread) = threads.get(thread) {
                    exception::kill(thread);
                }
            }
            Op::Mask => exception::mask(|_| shared.mvar.try_put(value)).unwrap_or(()),
        }
    }
    seen
}

fn run(ops: &[Vec<Op>]) -> Vec<Seen> {
    let shared = Arc::new(Shared {
        channels: vec![bounded(0), bounded(1), bounded(0)],
        mvar: MVar::new(7),
        tvars: [TVar::new(0), TVar::new(1)],
    });
    let theirs = shared.clone();
    let seen = perform_all(ops, move |number, ops, threads| {
        perform(&theirs, number as u8 + 1, ops, threads)
    });
    // The channels live as long as the execution: dropping them is not what is tested here.
    std::mem::forget(shared);
    seen
}

fn compare_flavour(flavour: Flavour, usual: u64) {
    let family = Family { name: &format!("{flavour:?}"), model: Model::Tso, usual, bounded: false };
    let draw = |seed, index| program(seed, index, &[4, 2], |source| draw(source, flavour));
    compare_all(&family, draw, run);
}

#[test]
fn channels_are_searched_optimally() {
    compare_flavour(Flavour::Channels, 300);
}

#[test]
fn channels_that_are_waited_for_for_a_while_are_searched_optimally() {
    compare_flavour(Flavour::Timeouts, 200);
}

#[test]
fn variables_are_searched_optimally() {
    compare_flavour(Flavour::Variables, 300);
}

#[test]
fn exceptions_are_searched_optimally() {
    compare_flavour(Flavour::Exceptions, 200);
}
