//! Random programs of channels with buffers: who sends and receives, with and without waiting, and
//! who is dropped while others go on. Cells that are written between show whether messages are seen
//! to synchronise, and nothing else is.

use std::sync::Arc;

use super::{Draw, Family, Seen, compare_all, perform_all, program};
use crate::cell::UnsafeCell;
use crate::channel::{Receiver, Select, Sender, bounded, unbounded};
use crate::exception;
use crate::rt::memory::Model;
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::thread;

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize),
    Receive(usize),
    TrySend(usize),
    TryReceive(usize),
    SendTimeout(usize),
    ReceiveTimeout(usize),
    Length(usize),
    DropSender(usize),
    DropReceiver(usize),
    /// Receives from the first channel or the second.
    Select,
    /// Receives from the first or sends to the second, or finds that neither is possible.
    TrySelect,
    /// Adds one to a variable that all share.
    Add,
    /// Reads or writes a cell that all share.
    Read,
    Write,
    Kill(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flavour {
    /// Only what waits, so that it cannot be told which one was there first.
    Waiting,
    All,
    Cells,
    /// Selects that look at two of the three channels.
    Selects,
    Kills,
}

fn draw(source: &mut Draw, flavour: Flavour) -> Op {
    let channel = source.below(2) + usize::from(source.below(4) == 0);
    let kinds = match flavour {
        Flavour::Waiting => 12,
        Flavour::All => 18,
        Flavour::Cells | Flavour::Selects => 20,
        Flavour::Kills => 22,
    };
    match source.below(kinds) {
        0..=3 => Op::Send(channel),
        4..=7 => Op::Receive(channel),
        8 | 9 => Op::DropSender(channel),
        10 => Op::DropReceiver(channel),
        11 => Op::Add,
        12 => Op::TrySend(channel),
        13 | 14 => Op::TryReceive(channel),
        15 => Op::ReceiveTimeout(channel),
        16 if flavour == Flavour::All => Op::SendTimeout(channel),
        17 if flavour == Flavour::All => Op::Length(channel),
        16 | 17 if flavour == Flavour::Cells => Op::Read,
        18 | 19 if flavour == Flavour::Cells => Op::Write,
        16..=18 if flavour == Flavour::Selects => Op::Select,
        19 if flavour == Flavour::Selects => Op::TrySelect,
        _ => Op::Kill(channel % 2),
    }
}

/// The handles of a thread: to the channels that it sends to, and those that it receives from.
type Handles = (Vec<Option<Sender<u8>>>, Vec<Option<Receiver<u8>>>);

impl Op {
    /// Does a thread that does this need a sender, or else a receiver, of the channel?
    fn needs(self, sender: bool, channel: usize) -> bool {
        match self {
            Op::Send(own) | Op::TrySend(own) | Op::SendTimeout(own) | Op::DropSender(own) => {
                sender && own == channel
            }
            Op::Receive(own)
            | Op::Length(own)
            | Op::TryReceive(own)
            | Op::ReceiveTimeout(own)
            | Op::DropReceiver(own) => !sender && own == channel,
            Op::Select => !sender && channel < 2,
            Op::TrySelect => channel == usize::from(sender),
            Op::Add | Op::Read | Op::Write | Op::Kill(_) => false,
        }
    }
}

struct Shared {
    variable: AtomicU8,
    cell: UnsafeCell<u8>,
}

// SAFETY: only a check, which runs one thread at a time, gets to the cell.
#[allow(unsafe_code, reason = "the cell is shared to see that races are found")]
unsafe impl Sync for Shared {}

fn select(one: &Receiver<u8>, other: &Receiver<u8>) -> u8 {
    let mut select = Select::new();
    let first = select.recv(one);
    select.recv(other);
    let chosen = select.select();
    let receiver = if chosen.index() == first { one } else { other };
    chosen.recv(receiver).unwrap_or(98)
}

fn try_select(one: &Receiver<u8>, other: &Sender<u8>, value: u8) -> u8 {
    let mut select = Select::new();
    let first = select.recv(one);
    select.send(other);
    match select.try_select() {
        Ok(chosen) if chosen.index() == first => chosen.recv(one).unwrap_or(98),
        Ok(chosen) => u8::from(chosen.send(other, value).is_ok()),
        Err(_) => 97,
    }
}

fn perform(
    senders: &mut [Option<Sender<u8>>],
    receivers: &mut [Option<Receiver<u8>>],
    shared: &Shared,
    number: u8,
    ops: &[Op],
    threads: &[thread::Thread],
) -> Vec<u8> {
    const GONE: u8 = 99;
    let mut seen = Vec::new();
    for (index, &op) in ops.iter().enumerate() {
        let value = number * 10 + index as u8;
        let sender = |channel: usize| senders[channel].as_ref();
        let receiver = |channel: usize| receivers[channel].as_ref();
        seen.push(match op {
            Op::Send(channel) => sender(channel).map_or(GONE, |s| u8::from(s.send(value).is_ok())),
            Op::Receive(channel) => receiver(channel).map_or(GONE, |r| r.recv().unwrap_or(98)),
            Op::TrySend(channel) => {
                sender(channel).map_or(GONE, |s| u8::from(s.try_send(value).is_ok()))
            }
            Op::TryReceive(channel) => receiver(channel).map_or(GONE, |r| match r.try_recv() {
                Ok(value) => value,
                Err(error) => 96 + u8::from(error.is_empty()),
            }),
            Op::ReceiveTimeout(channel) => receiver(channel)
                .map_or(GONE, |r| r.recv_timeout(std::time::Duration::from_secs(1)).unwrap_or(98)),
            Op::SendTimeout(channel) => sender(channel).map_or(GONE, |s| {
                u8::from(s.send_timeout(value, std::time::Duration::from_secs(1)).is_ok())
            }),
            Op::Length(channel) => receiver(channel).map_or(GONE, |r| r.len() as u8),
            Op::DropSender(channel) => {
                senders[channel] = None;
                0
            }
            Op::DropReceiver(channel) => {
                receivers[channel] = None;
                0
            }
            Op::Select => match (receiver(0), receiver(1)) {
                (Some(one), Some(other)) => select(one, other),
                _ => GONE,
            },
            Op::TrySelect => match (receiver(0), sender(1)) {
                (Some(one), Some(other)) => try_select(one, other, value),
                _ => GONE,
            },
            Op::Add => shared.variable.fetch_add(1, Ordering::SeqCst),
            Op::Read => {
                shared.cell.with(|_| ());
                0
            }
            Op::Write => {
                shared.cell.with_mut(|_| ());
                0
            }
            Op::Kill(thread) => {
                threads.get(thread).inspect(|thread| exception::kill(thread));
                0
            }
        });
    }
    seen
}

fn run(ops: &[Vec<Op>]) -> Vec<Seen> {
    let shared = Arc::new(Shared { variable: AtomicU8::new(0), cell: UnsafeCell::new(0) });
    let channels = [unbounded(), bounded(1), bounded(2)];
    let handles_of = |ops: &Vec<Op>| -> Handles {
        let all = || channels.iter().enumerate();
        let needs = |sender, channel| ops.iter().any(|op: &Op| op.needs(sender, channel));
        let senders = all().map(|(channel, (s, _))| needs(true, channel).then(|| s.clone()));
        let receivers = all().map(|(channel, (_, r))| needs(false, channel).then(|| r.clone()));
        (senders.collect(), receivers.collect())
    };
    let handles: Vec<_> =
        ops.iter().map(|ops| std::sync::Mutex::new(Some(handles_of(ops)))).collect();
    drop(channels);
    perform_all(ops, move |number, ops, threads| {
        let handles = handles[number].lock().unwrap().take();
        let (mut senders, mut receivers) = handles.unwrap_or_default();
        let number = number as u8 + 1;
        let seen = perform(&mut senders, &mut receivers, &shared, number, ops, threads);
        // Receivers stay, unless the program says otherwise: fewer steps, more programs.
        std::mem::forget(receivers);
        seen
    })
}

fn compare_flavour(flavour: Flavour, usual: u64, bounded: bool) {
    let family = Family { name: &format!("{flavour:?}"), model: Model::Tso, usual, bounded };
    let draw = |seed, index| program(seed, index, &[4, 2], |source| draw(source, flavour));
    compare_all(&family, draw, run);
}

#[test]
fn queues_are_searched_optimally() {
    compare_flavour(Flavour::Waiting, 200, true);
}

#[test]
fn queues_that_nobody_has_to_wait_for_are_searched_optimally() {
    compare_flavour(Flavour::All, 200, false);
}

#[test]
fn messages_synchronise() {
    compare_flavour(Flavour::Cells, 150, false);
}

#[test]
fn queues_of_which_some_are_selected_from_are_searched_optimally() {
    compare_flavour(Flavour::Selects, 150, false);
}

#[test]
fn queues_with_exceptions_are_searched_optimally() {
    compare_flavour(Flavour::Kills, 100, false);
}
