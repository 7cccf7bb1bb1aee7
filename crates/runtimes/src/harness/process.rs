//! One process: it runs by itself from one channel operation to the next and is told how each
//! ended. What it needs from around it is a [`Host`].
//!
//! The meaning is that of `strait-calculus` (`local.rs`): which events are recorded, in which order,
//! and what variables hold afterwards.

use super::plan::{At, Instruction, Op, Open, Plan, Select, Value};
use super::random::Random;
use super::record::{Event, Path};

/// How many instructions a process may run between two operations, and how deep calls may nest.
const PATIENCE: u32 = 1_000_000;
const MAX_CALLS: usize = 2_000;

/// What surrounds a process.
pub trait Host {
    /// A new channel; its number.
    fn open(&mut self, open: &Open) -> u32;
    /// A new process.
    fn spawn(&mut self, child: Process);
    /// Something was seen.
    fn saw(&mut self, event: Event);
}

/// Why a process has stopped running by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It stands at a select, put or get.
    Select(At),
    /// It closes this channel.
    Close(Option<u32>),
    /// It abandons this channel.
    Abandon(Option<u32>),
    /// It stands at a choice and is not to make it yet.
    Choice,
    /// It has finished.
    Done,
    /// It does not behave as programs should.
    Astray(&'static str),
}

#[derive(Clone, Debug)]
struct Frame {
    at: At,
    variables: Vec<Value>,
}

/// A process between two operations.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its place in the tree of processes.
    pub path: Path,
    /// Its stream of decisions.
    pub random: Random,
    frames: Vec<Frame>,
    spawned: u32,
    /// How this process and its children draw decisions.
    seed: (u64, u64),
    /// Does it stop before choices?
    is_ahead: bool,
}

impl Process {
    /// The main process of an instance.
    pub fn main(plan: &Plan, seed: u64, instance: u64) -> Process {
        let main = &plan.functions[plan.main as usize];
        let variables = vec![Value::Unit; main.variables as usize];
        Process::starting(main.entry, variables, Path::new(), (seed, instance))
    }

    fn starting(at: At, variables: Vec<Value>, path: Path, seed: (u64, u64)) -> Process {
        let random = Random::new(seed.0, seed.1, &path);
        Process {
            path,
            random,
            frames: vec![Frame { at, variables }],
            spawned: 0,
            seed,
            is_ahead: false,
        }
    }

    /// The value of an expression here and now.
    pub fn variables(&self) -> &[Value] {
        self.frames.last().map_or(&[], |frame| &frame.variables)
    }

    /// Where it stands.
    pub fn at(&self) -> Option<At> {
        self.frames.last().map(|frame| frame.at)
    }

    fn set(&mut self, slot: Option<super::plan::Slot>, value: Value) {
        let frame = self.frames.last_mut();
        if let (Some(slot), Some(frame)) = (slot, frame)
            && let Some(variable) = frame.variables.get_mut(slot.0 as usize)
        {
            *variable = value;
        }
    }

    fn go_to(&mut self, at: At) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = at;
        }
    }

    /// Goes on behind the instruction it stands at.
    pub fn advance(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = At(frame.at.0 + 1);
        }
    }

    /// Runs to the next operation, choice or end: what every instance does alike.
    pub fn run_ahead(&mut self, plan: &Plan, host: &mut impl Host) -> Pause {
        self.is_ahead = true;
        let pause = self.run(plan, host);
        self.is_ahead = false;
        pause
    }

    /// Runs to the next operation or the end.
    pub fn run(&mut self, plan: &Plan, host: &mut impl Host) -> Pause {
        for _ in 0..PATIENCE {
            let Some(at) = self.at() else {
                return Pause::Done;
            };
            if let Some(pause) = self.step(plan, host, at) {
                return pause;
            }
        }
        Pause::Astray("a process runs on without any operation")
    }

    fn channel(&self, channel: &super::plan::Expr) -> Option<u32> {
        match channel.evaluate(self.variables()) {
            Value::Chan(number) => Some(number),
            _ => None,
        }
    }

    fn step(&mut self, plan: &Plan, host: &mut impl Host, at: At) -> Option<Pause> {
        match &plan.instructions[at.0 as usize] {
            Instruction::Select(_) => return Some(Pause::Select(at)),
            Instruction::Close(channel) => return Some(Pause::Close(self.channel(channel))),
            Instruction::Abandon(channel) => return Some(Pause::Abandon(self.channel(channel))),
            Instruction::Jump(target) => self.go_to(*target),
            Instruction::Choose(_) if self.is_ahead => return Some(Pause::Choice),
            Instruction::Choose(targets) => {
                let chosen = self.random.below(targets.len() as u32);
                self.go_to(targets[chosen as usize]);
            }
            Instruction::Unless(condition, target) => {
                if condition.evaluate(self.variables()) == Value::Bool(true) {
                    self.advance();
                } else {
                    self.go_to(*target);
                }
            }
            Instruction::Set(slot, value) => {
                let value = value.evaluate(self.variables());
                self.set(Some(*slot), value);
                self.advance();
            }
            Instruction::Open(open) => {
                let number = host.open(open);
                self.set(Some(open.slot), Value::Chan(number));
                self.advance();
            }
            Instruction::Spawn(start) => {
                self.spawned += 1;
                let mut path = self.path.clone();
                path.push(self.spawned);
                let variables = self.variables().to_vec();
                host.spawn(Process::starting(*start, variables, path, self.seed));
                self.advance();
            }
            Instruction::See(value) => {
                host.saw(Event::Observed(value.evaluate(self.variables())));
                self.advance();
            }
            Instruction::Call(func, arguments, _) => {
                if self.frames.len() >= MAX_CALLS {
                    return Some(Pause::Astray("calls are nested too deeply"));
                }
                let called = &plan.functions[func.0 as usize];
                let mut variables = vec![Value::Unit; called.variables as usize];
                for (argument, param) in arguments.iter().zip(&called.params) {
                    variables[param.0 as usize] = argument.evaluate(self.variables());
                }
                self.frames.push(Frame { at: called.entry, variables });
            }
            Instruction::Return(value) => {
                let value = value.as_ref().map(|value| value.evaluate(self.variables()));
                self.finish_call(plan, value.unwrap_or_default());
            }
        }
        None
    }

    fn finish_call(&mut self, plan: &Plan, value: Value) {
        self.frames.pop();
        let Some(at) = self.at() else { return };
        if let Instruction::Call(_, _, result) = &plan.instructions[at.0 as usize] {
            self.set(*result, value);
        }
        self.advance();
    }

    /// A message was sent in a case of the select it stands at.
    pub fn sent(&mut self, select: &Select, case: usize, host: &mut impl Host) {
        if !select.is_single {
            host.saw(Event::Chose(case as u16));
        }
        self.go_to(select.cases[case].target);
    }

    /// A message was received, or there will be none (`None`), in a case of the select.
    pub fn received(
        &mut self,
        select: &Select,
        case: usize,
        word: Option<i64>,
        host: &mut impl Host,
    ) {
        let Op::Get(_, kind, value, ok) = &select.cases[case].op else { return };
        if !select.is_single {
            host.saw(Event::Chose(case as u16));
        }
        let message = word.map(|word| Value::from_word(*kind, word));
        host.saw(message.map_or(Event::Closed, Event::Received));
        self.set(*value, message.unwrap_or_else(|| Value::zero(*kind)));
        self.set(*ok, Value::Bool(message.is_some()));
        self.go_to(select.cases[case].target);
    }

    /// The default of the select was taken.
    pub fn defaulted(&mut self, select: &Select, host: &mut impl Host) {
        if let Some(default) = select.default {
            host.saw(Event::Defaulted);
            self.go_to(default);
        }
    }

    /// The timeout of the select was taken.
    pub fn timed_out(&mut self, select: &Select, host: &mut impl Host) {
        if let Some(case) = select.cases.iter().find(|case| case.op == Op::Timeout) {
            host.saw(Event::TimedOut);
            self.go_to(case.target);
        }
    }
}
