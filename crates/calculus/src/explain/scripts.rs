//! What each process did by itself, read off an observation: its script.
//!
//! What a process sees decides what it does next, so its operations can be told without looking at
//! the others: run it alone and answer every get and select with what it saw. Two things stay open.
//! A channel that came in a message is only known by its *slot* until somebody puts it there. And
//! `choose` leaves no sign: [`Decisions`] says which branch each of them takes, and all are tried.
//!
//! An observation is then possible just if the scripts can be woven into one execution (`weave`).

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::explain::observation::{Event, Observation, Seen};
use crate::language::ast::Capacity;
use crate::language::index::{FuncId, Idx, ObjectId, Pc, VarId};
use crate::machine::code::{Code, Instruction, Select, SelectOp};
use crate::machine::local::{Host, Local, Status};
use crate::machine::object::Object;
use crate::machine::value::{Value, evaluate};

/// Object numbers from here on are slots.
pub const FIRST_SLOT: u32 = 1 << 24;
/// More operations, processes or events of one process than this are left to the other search.
const MAX_OPERATIONS: usize = 4_000;
const MAX_PROCESSES: usize = 128;
const MAX_EVENTS: usize = 1 << 15;

/// One operation of a process.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// On which channel, or slot.
    pub channel: ObjectId,
    /// In which case or branch.
    pub case: u16,
    /// How many events its process has seen afterwards.
    seen: u16,
}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Sends this.
    Put(Value),
    /// Receives this; what it is goes into the slot if it is a channel.
    Get(Seen, Option<u32>),
    /// Finds the channel closed.
    GetClosed,
    /// Closes it.
    Close,
    /// Abandons it.
    Abandon,
    /// Takes the default: none of these cases, by position in [`Scripts::watched`], was ready.
    Default(u32, u32),
    /// Takes a timeout or a branch of a choice: possible at any time.
    Pass,
    /// Starts this process. Belongs to the operation before.
    Spawn(u32),
}

/// What one process did.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Its place in the tree of processes.
    pub path: SmallVec<[u32; 4]>,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// How many events it saw before its first operation.
    seen_at_first: u16,
    /// How many of the operations it must have performed. What follows may have happened.
    pub required: usize,
    /// Who started it.
    pub parent: u32,
}

/// What all processes did.
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    /// A script for each process; main is the first.
    pub processes: Vec<Script>,
    /// The capacity of each channel.
    pub channels: Vec<Capacity>,
    /// Cases that a default passed over: the channel, and whether it would have put there.
    pub watched: Vec<(ObjectId, bool)>,
    /// How many slots there are.
    pub slots: u32,
    operations: usize,
}

/// Which branch each `choose` takes, in the order in which the scripts come to them.
#[derive(Debug, Default)]
pub struct Decisions {
    taken: Vec<(u16, u16)>,
    next: usize,
}

impl Decisions {
    fn decide(&mut self, branches: u16) -> u16 {
        if self.next == self.taken.len() {
            self.taken.push((0, branches));
        }
        self.next += 1;
        self.taken[self.next - 1].0
    }

    /// Goes on to the next combination; `false` when there is none. What was not asked for this
    /// time makes no difference.
    pub fn advance(&mut self) -> bool {
        self.taken.truncate(self.next);
        self.next = 0;
        while let Some((branch, branches)) = self.taken.last_mut() {
            *branch += 1;
            if branch < branches {
                return true;
            }
            self.taken.pop();
        }
        false
    }
}

/// Why there are no scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// A process cannot have seen this, whatever the others do.
    Refuted,
    /// The program does what scripts do not speak of, or too much of it.
    Unsupported,
}

/// Reads the scripts off an observation, with these decisions.
pub fn scripts(
    code: &Code,
    observation: &Observation,
    decisions: &mut Decisions,
) -> Result<Scripts, Unwritten> {
    if code.compares_channels
        || observation.processes.values().any(|events| events.len() > MAX_EVENTS)
    {
        return Err(Unwritten::Unsupported);
    }
    let mut writer = Writer {
        code,
        observation,
        decisions,
        scripts: Scripts::default(),
        locals: Vec::with_capacity(8),
        events: Vec::with_capacity(8),
        name: String::with_capacity(16),
        is_unsupported: false,
    };
    writer.enter(SmallVec::new(), Local::main(code), 0);
    if !writer.settle(0) {
        return Err(writer.refusal());
    }
    let mut process = 0;
    while process < writer.scripts.processes.len() {
        writer.write(process)?;
        process += 1;
    }
    writer.finish()
}

struct Writer<'a> {
    code: &'a Code,
    observation: &'a Observation,
    decisions: &'a mut Decisions,
    scripts: Scripts,
    /// Where each process stands, and what it has yet to see.
    locals: Vec<Local>,
    events: Vec<&'a [Event]>,
    /// The name of the process that has just entered.
    name: String,
    is_unsupported: bool,
}

/// What a process meets while it runs by itself.
struct Alone<'a> {
    events: &'a [Event],
    scripts: &'a mut Scripts,
    process: usize,
    children: SmallVec<[(u32, Local); 4]>,
}

impl Host for Alone<'_> {
    fn create(&mut self, _: u32, object: Object, _: (FuncId, VarId)) -> Value {
        // Whoever uses a lock is refused; until then it is an object like others.
        let capacity = match object {
            Object::Channel(channel) => channel.capacity,
            _ => Capacity::Rendezvous,
        };
        self.scripts.channels.push(capacity);
        Value::Object(ObjectId::new(self.scripts.channels.len() - 1))
    }

    fn spawn(&mut self, number: u32, _: Option<&SmolStr>, child: Local) {
        let process = (self.scripts.processes.len() + self.children.len()) as u32;
        let (kind, channel) = (Kind::Spawn(process), ObjectId(0));
        let operation = Operation { kind, channel, case: 0, seen: 0 };
        self.scripts.processes[self.process].operations.push(operation);
        self.children.push((number, child));
    }

    fn saw(&mut self, history: u32, event: Event, _: Option<(FuncId, VarId)>) -> Option<u32> {
        (self.events.get(history as usize) == Some(&event)).then_some(history + 1)
    }
}

/// What a process does next.
enum Next {
    Operate(Operation),
    /// It waits for something that it has not seen.
    Wait,
    /// Not in scripts.
    Unsupported,
}

impl<'a> Writer<'a> {
    fn refusal(&self) -> Unwritten {
        if self.is_unsupported { Unwritten::Unsupported } else { Unwritten::Refuted }
    }

    fn enter(&mut self, path: SmallVec<[u32; 4]>, local: Local, parent: u32) {
        self.name.clear();
        self.name.push_str("main");
        for number in &path {
            self.name.push('.');
            push_number(&mut self.name, *number);
        }
        let events = self.observation.processes.get(self.name.as_str());
        self.events.push(events.map_or(&[], Vec::as_slice));
        self.locals.push(local);
        let operations = Vec::with_capacity(8);
        self.scripts.processes.push(Script { path, parent, operations, ..Script::default() });
    }

    /// Runs a process and those it starts to their next operations; `false` if one of them sees
    /// what it has not seen.
    fn settle(&mut self, process: usize) -> bool {
        let mut next = self.scripts.processes.len();
        if !self.run(process) {
            return false;
        }
        while next < self.scripts.processes.len() {
            if !self.run(next) {
                return false;
            }
            next += 1;
        }
        true
    }

    fn run(&mut self, process: usize) -> bool {
        let mut host = Alone {
            events: self.events[process],
            scripts: &mut self.scripts,
            process,
            children: SmallVec::new(),
        };
        let local = &mut self.locals[process];
        local.run_on(self.code, &mut host);
        let children = host.children;
        let (status, history) = (&local.status, local.history);
        self.is_unsupported |= matches!(status, Status::Spinning(_) | Status::Runaway(..));
        let is_refuted = *status == Status::Refuted;
        // The operation that led here, and the starts that follow it; or no operation yet.
        let script = &mut self.scripts.processes[process];
        let is_start = |operation: &Operation| matches!(operation.kind, Kind::Spawn(_));
        let last = script.operations.iter().rposition(|operation| !is_start(operation));
        if last.is_none() {
            script.seen_at_first = history as u16;
        }
        for operation in &mut script.operations[last.unwrap_or(0)..] {
            operation.seen = history as u16;
        }
        for (number, child) in children {
            let mut path = self.scripts.processes[process].path.clone();
            path.push(number);
            self.enter(path, child, process as u32);
        }
        self.is_unsupported |= self.scripts.processes.len() > MAX_PROCESSES;
        !is_refuted && !self.is_unsupported
    }

    /// Follows a process to the end of what it has seen.
    fn write(&mut self, process: usize) -> Result<(), Unwritten> {
        while self.locals[process].status == Status::Waiting {
            let operation = match self.next(process) {
                Next::Operate(operation) => operation,
                Next::Wait => break,
                Next::Unsupported => return Err(Unwritten::Unsupported),
            };
            self.scripts.operations += 1;
            if self.scripts.operations > MAX_OPERATIONS {
                return Err(Unwritten::Unsupported);
            }
            // Only an `observe` behind the operation can still contradict.
            let before = self.code.observes.then(|| self.mark(process));
            self.scripts.processes[process].operations.push(operation);
            self.perform(process, &operation);
            if !self.settle(process) {
                if self.is_unsupported {
                    return Err(Unwritten::Unsupported);
                }
                let Some(mark) = before else { return Err(Unwritten::Refuted) };
                self.return_to(process, mark);
                break;
            }
        }
        let local = &self.locals[process];
        let is_over = local.history as usize == self.events[process].len()
            && (local.status == Status::Done || !self.observation.finished);
        if is_over { Ok(()) } else { Err(Unwritten::Refuted) }
    }

    fn mark(&self, process: usize) -> (Local, [usize; 3]) {
        let scripts = &self.scripts;
        let operations = scripts.processes[process].operations.len();
        let sizes = [operations, scripts.processes.len(), scripts.channels.len()];
        (self.locals[process].clone(), sizes)
    }

    /// Takes an operation back that cannot have happened.
    fn return_to(&mut self, process: usize, (local, sizes): (Local, [usize; 3])) {
        let [operations, processes, channels] = sizes;
        self.locals[process] = local;
        self.locals.truncate(processes);
        self.events.truncate(processes);
        self.scripts.processes.truncate(processes);
        self.scripts.channels.truncate(channels);
        let script = &mut self.scripts.processes[process];
        script.operations.truncate(operations);
    }

    /// The operation that a process performs next, by what it saw.
    fn next(&mut self, process: usize) -> Next {
        let local = &self.locals[process];
        let Some(pc) = local.pc() else { return Next::Wait };
        let on = |kind, channel, case| Next::Operate(Operation { kind, channel, case, seen: 0 });
        let code = self.code;
        match &code.instructions[pc] {
            Instruction::Select(select) => self.next_of_select(process, select),
            Instruction::Choose(targets) => {
                let branch = self.decisions.decide(targets.len() as u16);
                on(Kind::Pass, ObjectId(0), branch)
            }
            Instruction::Close(channel) => match evaluate(channel, local.variables()).object() {
                Some(channel) => on(Kind::Close, channel, 0),
                None => Next::Unsupported,
            },
            Instruction::Abandon(channel) => match evaluate(channel, local.variables()).object() {
                Some(channel) => on(Kind::Abandon, channel, 0),
                None => Next::Unsupported,
            },
            _ => Next::Unsupported,
        }
    }

    fn next_of_select(&mut self, process: usize, select: &Select) -> Next {
        let local = &self.locals[process];
        let mut ahead = self.events[process][local.history as usize..].iter().copied();
        let case = match (
            select.single,
            select.single.then_some(Event::Chose(0)).or_else(|| ahead.next()),
        ) {
            (_, Some(Event::Chose(case))) => case,
            (_, Some(Event::TimedOut)) => {
                let is_timeout = |case: &_| matches!(case, SelectOp::Timeout);
                let case = select.cases.iter().position(|case| is_timeout(&case.op));
                let Some(case) = case else { return Next::Wait };
                let (kind, channel) = (Kind::Pass, ObjectId(0));
                return Next::Operate(Operation { kind, channel, case: case as u16, seen: 0 });
            }
            (_, Some(Event::Defaulted)) if select.default.is_some() => {
                return self.default(process, select);
            }
            _ => return Next::Wait,
        };
        let variables = local.variables();
        let (channel, kind) = match select.cases.get(case as usize).map(|case| &case.op) {
            Some(SelectOp::Put(channel, value)) => (channel, Kind::Put(evaluate(value, variables))),
            Some(SelectOp::Get(channel, ..)) => match ahead.next() {
                Some(Event::Received(Seen::Chan)) => {
                    (channel, Kind::Get(Seen::Chan, Some(self.scripts.slots)))
                }
                Some(Event::Received(seen)) => (channel, Kind::Get(seen, None)),
                Some(Event::Closed) => (channel, Kind::GetClosed),
                _ => return Next::Wait,
            },
            _ => return Next::Wait,
        };
        match evaluate(channel, variables).object() {
            Some(channel) => Next::Operate(Operation { kind, channel, case, seen: 0 }),
            None => Next::Wait,
        }
    }

    fn default(&mut self, process: usize, select: &Select) -> Next {
        let variables = self.locals[process].variables();
        let first = self.scripts.watched.len() as u32;
        for case in &select.cases {
            let (channel, puts) = match &case.op {
                SelectOp::Put(channel, _) => (channel, true),
                SelectOp::Get(channel, ..) => (channel, false),
                SelectOp::Timeout => continue,
            };
            if let Some(object) = evaluate(channel, variables).object() {
                self.scripts.watched.push((object, puts));
            }
        }
        let kind = Kind::Default(first, self.scripts.watched.len() as u32);
        let case = select.cases.len() as u16;
        Next::Operate(Operation { kind, channel: ObjectId(0), case, seen: 0 })
    }

    /// Lets a process know how its operation ended.
    fn perform(&mut self, process: usize, operation: &Operation) {
        let mut host = Alone {
            events: self.events[process],
            scripts: &mut self.scripts,
            process,
            children: SmallVec::new(),
        };
        let local = &mut self.locals[process];
        let (code, case) = (self.code, operation.case);
        match operation.kind {
            Kind::Put(_) => local.take(code, &mut host, case),
            Kind::Get(seen, slot) => {
                let message = match (seen, slot) {
                    (Seen::Unit, _) => Value::Unit,
                    (Seen::Bool(value), _) => Value::Bool(value),
                    (Seen::Int(value), _) => Value::Int(value),
                    (Seen::Chan, Some(slot)) => {
                        host.scripts.slots += 1;
                        Value::Object(ObjectId(FIRST_SLOT + slot))
                    }
                    (Seen::Nil | Seen::Chan, _) => Value::Nil,
                };
                local.receive(code, &mut host, case, Some(message));
            }
            Kind::GetClosed => local.receive(code, &mut host, case, None),
            Kind::Default(..) => local.take_default(code, &mut host),
            Kind::Close | Kind::Abandon => local.advance(),
            Kind::Pass => match local.pc().map(|pc: Pc| &code.instructions[pc]) {
                Some(Instruction::Choose(targets)) => local.go_to(targets[case as usize]),
                _ => local.take(code, &mut host, case),
            },
            Kind::Spawn(_) => {}
        }
    }

    /// Says how much of each script is required: all of it if everybody has finished; otherwise
    /// what leads to the last thing that was seen, by the process or by one that it started.
    fn finish(mut self) -> Result<Scripts, Unwritten> {
        let expected: usize = self.observation.processes.values().map(Vec::len).sum();
        let told: usize = self.locals.iter().map(|local| local.history as usize).sum();
        if expected != told {
            return Err(Unwritten::Refuted);
        }
        let finished = self.observation.finished;
        for process in (0..self.scripts.processes.len()).rev() {
            let script = &mut self.scripts.processes[process];
            let last = self.locals[process].history;
            let saw_all = |operation: &Operation| u32::from(operation.seen) == last;
            let by_seeing = match script.operations.iter().position(saw_all) {
                Some(position) if u32::from(script.seen_at_first) < last => position + 1,
                _ => 0,
            };
            let by_end = if finished { script.operations.len() } else { 0 };
            script.required = script.required.max(by_seeing).max(by_end);
            let is_needed = script.required > 0 || last > 0 || finished;
            let parent = script.parent as usize;
            if is_needed && process > 0 {
                let parent = &mut self.scripts.processes[parent];
                let is_start = |operation: &Operation| matches!(operation.kind, Kind::Spawn(child) if child as usize == process);
                let start = parent.operations.iter().position(is_start);
                parent.required = parent.required.max(start.map_or(0, |start| start + 1));
            }
        }
        Ok(self.scripts)
    }
}

fn push_number(text: &mut String, number: u32) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}
