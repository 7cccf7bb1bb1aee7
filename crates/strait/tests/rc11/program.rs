//! Small programs of atomic accesses, in a notation of one line.
//!
//! Comes in: text such as `W x 1 rlx; W y 1 rel | R y acq; R x rlx`. Goes out: a [`Program`], which the
//! axioms (`axioms.rs`) and the library (`interpreter.rs`) understand alike.
//!
//! | instruction | meaning |
//! |---|---|
//! | `W x 1 rel` | store 1 to x |
//! | `R x acq` | load x |
//! | `U x 1 acqrel` | add 1 to x, in one step |
//! | `S x 1 acqrel` | set x to 1 and give the old value, in one step |
//! | `C x 0 1 acqrel rlx` | compare x with 0 and set it to 1; orderings of success and failure |
//! | `V x 0 1 acqrel rlx` | the same, which may fail without a reason |
//! | `F sc` | fence |
//! | `L m`, `M m` | lock and unlock the mutex m |
//! | `N d 1`, `O d` | write and read d, which is not atomic |
//!
//! Threads are separated by `|`. Each instruction that reads has a register of its thread, numbered from
//! 0; a value may be a register plus a number (`r0`, `r0+1`). `[r0=1]` or `[r0!1]` before an instruction
//! makes it conditional; a conditional read that is not performed leaves its register at [`SKIPPED`].

use std::fmt;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// The value of a register whose instruction was not performed.
pub const SKIPPED: u8 = 99;

/// A value that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    pub register: Option<usize>,
    pub plus: u8,
}

impl Value {
    pub fn constant(plus: u8) -> Self {
        Value { register: None, plus }
    }

    pub fn given(self, registers: &[u8]) -> u8 {
        self.register.map_or(0, |register| registers[register]).wrapping_add(self.plus)
    }
}

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Load { location: usize, order: Ordering },
    Store { location: usize, value: Value, order: Ordering },
    Add { location: usize, value: Value, order: Ordering },
    Swap { location: usize, value: Value, order: Ordering },
    Exchange { location: usize, change: (u8, Value), orders: (Ordering, Ordering), weak: bool },
    Fence(Ordering),
    Lock(usize),
    Unlock(usize),
    PlainStore { cell: usize, value: Value },
    PlainLoad { cell: usize },
}

impl Action {
    /// Does it leave a value in a register?
    pub fn reads(self) -> bool {
        use Action::{Add, Exchange, Load, PlainLoad, Swap};
        matches!(self, Load { .. } | Add { .. } | Swap { .. } | Exchange { .. } | PlainLoad { .. })
    }
}

/// A condition on a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    pub register: usize,
    pub value: u8,
    pub equal: bool,
}

impl Guard {
    pub fn holds(self, registers: &[u8]) -> bool {
        (registers[self.register] == self.value) == self.equal
    }
}

/// An action with its condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    pub guard: Option<Guard>,
    pub action: Action,
}

/// A program: the instructions of each of its threads. All locations are 0 at first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    pub locations: usize,
    pub mutexes: usize,
    /// Variables that are not atomic.
    pub cells: usize,
    pub threads: Vec<Vec<Instruction>>,
}

/// What an execution shows: the registers of each thread, then the last value of each location (not of
/// variables that are not atomic).
pub type Shown = Vec<Vec<u8>>;

fn order(text: &str) -> Ordering {
    match text {
        "rlx" => Relaxed,
        "acq" => Acquire,
        "rel" => Release,
        "acqrel" => AcqRel,
        "sc" => SeqCst,
        _ => panic!("no such ordering: {text:?}"),
    }
}

fn number(text: &str) -> u8 {
    text.parse().unwrap_or_else(|_| panic!("no such number: {text:?}"))
}

fn value(text: &str) -> Value {
    match text.strip_prefix('r') {
        None => Value::constant(number(text)),
        Some(rest) => {
            let (register, plus) = rest.split_once('+').unwrap_or((rest, "0"));
            Value { register: Some(number(register).into()), plus: number(plus) }
        }
    }
}

fn guard(text: &str) -> Guard {
    let (register, value, equal) = match (text.split_once('='), text.split_once('!')) {
        (Some((register, value)), _) => (register, value, true),
        (None, Some((register, value))) => (register, value, false),
        (None, None) => panic!("no such condition: {text:?}"),
    };
    let register = register.strip_prefix('r').expect("a condition is about a register");
    Guard { register: number(register).into(), value: number(value), equal }
}

/// The numbers of things by their names.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, name: &str) -> usize {
        let known = self.0.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }
}

/// In the notation, with numbers for names.
impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thread = |thread: &Vec<Instruction>| {
            let instructions: Vec<String> = thread.iter().map(ToString::to_string).collect();
            instructions.join("; ")
        };
        let threads: Vec<String> = self.threads.iter().map(thread).collect();
        formatter.write_str(&threads.join(" | "))
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Guard { register, value, equal }) = self.guard {
            write!(formatter, "[r{register}{}{value}] ", if equal { '=' } else { '!' })?;
        }
        match self.action {
            Action::Load { location, order } => write!(formatter, "R x{location} {}", word(order)),
            Action::Store { location, value, order } => {
                write!(formatter, "W x{location} {value} {}", word(order))
            }
            Action::Add { location, value, order } => {
                write!(formatter, "U x{location} {value} {}", word(order))
            }
            Action::Swap { location, value, order } => {
                write!(formatter, "S x{location} {value} {}", word(order))
            }
            Action::Exchange { location, change: (expected, new), orders, weak } => {
                let name = if weak { 'V' } else { 'C' };
                let (success, failure) = (word(orders.0), word(orders.1));
                write!(formatter, "{name} x{location} {expected} {new} {success} {failure}")
            }
            Action::Fence(order) => write!(formatter, "F {}", word(order)),
            Action::Lock(mutex) => write!(formatter, "L m{mutex}"),
            Action::Unlock(mutex) => write!(formatter, "M m{mutex}"),
            Action::PlainStore { cell, value } => write!(formatter, "N d{cell} {value}"),
            Action::PlainLoad { cell } => write!(formatter, "O d{cell}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.register {
            None => write!(formatter, "{}", self.plus),
            Some(register) => write!(formatter, "r{register}+{}", self.plus),
        }
    }
}

fn word(order: Ordering) -> &'static str {
    match order {
        Relaxed => "rlx",
        Acquire => "acq",
        Release => "rel",
        AcqRel => "acqrel",
        _ => "sc",
    }
}

impl Program {
    /// Reads the notation.
    pub fn parse(text: &str) -> Program {
        let (mut locations, mut mutexes) = (Names::default(), Names::default());
        let mut cells = Names::default();
        let mut parse = |text: &str| {
            let (condition, rest) = match text.trim().strip_prefix('[') {
                Some(rest) => {
                    let (condition, rest) = rest.split_once(']').expect("a condition ends with ]");
                    (Some(guard(condition)), rest)
                }
                None => (None, text),
            };
            let words: Vec<&str> = rest.split_whitespace().collect();
            let mut at = |name: &str| locations.number(name);
            let action = match words[..] {
                ["R", x, o] => Action::Load { location: at(x), order: order(o) },
                ["W", x, v, o] => {
                    Action::Store { location: at(x), value: value(v), order: order(o) }
                }
                ["U", x, v, o] => Action::Add { location: at(x), value: value(v), order: order(o) },
                ["S", x, v, o] => {
                    Action::Swap { location: at(x), value: value(v), order: order(o) }
                }
                [name @ ("C" | "V"), x, expected, new, success, failure] => Action::Exchange {
                    location: at(x),
                    change: (number(expected), value(new)),
                    orders: (order(success), order(failure)),
                    weak: name == "V",
                },
                ["F", o] => Action::Fence(order(o)),
                ["L", m] => Action::Lock(mutexes.number(m)),
                ["M", m] => Action::Unlock(mutexes.number(m)),
                ["N", d, v] => Action::PlainStore { cell: cells.number(d), value: value(v) },
                ["O", d] => Action::PlainLoad { cell: cells.number(d) },
                _ => panic!("no such instruction: {text:?}"),
            };
            Instruction { guard: condition, action }
        };
        let thread = |text: &str| {
            let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
            parts.map(&mut parse).collect()
        };
        let threads = text.split('|').map(thread).collect();
        Program {
            locations: locations.0.len(),
            mutexes: mutexes.0.len(),
            cells: cells.0.len(),
            threads,
        }
    }
}
