//! One process: where it stands, what it knows, and how it runs by itself from one visible
//! operation to the next (rule E-PROCESS of Stiévenart and Madsen, OOPSLA 2020, Fig. 6, with E-CHANNEL and E-SPAWN, which
//! nobody else can notice).

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::explain::observation::{Event, Seen};
use crate::language::ast::{Expr, ExprKind};
use crate::language::index::{FuncId, Idx, Pc, VarId};
use crate::machine::action::PanicCause;
use crate::machine::code::{Code, Instruction, SelectOp};
use crate::machine::object::Object;
use crate::machine::value::{Value, evaluate};

/// How many instructions a process may run by itself before we suspect that it never stops.
const PATIENCE: usize = 20_000;
/// After how many of them we begin to look whether it goes round in circles. Most never get there.
const FIRST_LANDMARK: usize = 32;
/// How deep calls may nest.
const MAX_CALLS: usize = 2_000;
/// How many objects and processes one process may create.
const MAX_CREATED: u32 = 10_000;

/// A process between two visible operations. Equal values behave equally.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    /// The calls in progress, innermost last; nothing when the process is over.
    pub frames: SmallVec<[Frame; 1]>,
    /// Can it go on?
    pub status: Status,
    /// How many processes it has spawned, as far as that is still needed for their names.
    pub spawned: u32,
    /// How many objects it has created, likewise.
    pub created: u32,
    /// What it has seen, as a number the [`Host`] gives.
    pub history: u32,
}

/// A call in progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The instruction it stands at; for all but the innermost frame, the call.
    pub pc: Pc,
    /// The variables of the function.
    pub variables: SmallVec<[Value; 4]>,
}

/// Whether a process can go on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It stands at a visible operation.
    Waiting,
    /// It has finished.
    Done,
    /// It has ended the program.
    Panicked(PanicCause, Pc),
    /// It runs by itself forever.
    Spinning(Pc),
    /// It went beyond a limit, which the text names.
    Runaway(&'static str, Pc),
    /// It did something that contradicts the observation it is compared with.
    Refuted,
}

/// What a process needs from around it while it runs by itself.
pub trait Host {
    /// A new object, the n-th of this process, and the variable that holds it first.
    fn create(&mut self, number: u32, object: Object, holder: (FuncId, VarId)) -> Value;
    /// A new process, the n-th of this process.
    fn spawn(&mut self, number: u32, name: Option<&SmolStr>, child: Local);
    /// The history that follows after this event, or `None` if the event is not allowed. The label
    /// is the variable that was bound, for people.
    fn saw(&mut self, history: u32, event: Event, label: Option<(FuncId, VarId)>) -> Option<u32>;
    /// Tells that an instruction was performed, for traces.
    fn performed(&mut self, _pc: Pc) {}
}

impl Local {
    /// The main process before its first instruction.
    pub fn main(code: &Code) -> Local {
        let main = &code.functions[code.main];
        Local::starting(main.entry, SmallVec::from_elem(Value::Unit, main.names.len()))
    }

    fn starting(pc: Pc, variables: SmallVec<[Value; 4]>) -> Local {
        let frames = SmallVec::from_iter([Frame { pc, variables }]);
        Local { frames, status: Status::Waiting, spawned: 0, created: 0, history: 0 }
    }

    /// The instruction the process stands at.
    pub fn pc(&self) -> Option<Pc> {
        self.frames.last().map(|frame| frame.pc)
    }

    /// The variables of the innermost call.
    pub fn variables(&self) -> &[Value] {
        self.frames.last().map_or(&[], |frame| &frame.variables)
    }

    /// Goes on at an instruction.
    pub fn go_to(&mut self, pc: Pc) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc;
        }
    }

    /// Goes on with the next instruction.
    pub fn advance(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = Pc(frame.pc.0 + 1);
        }
    }

    /// Sets a variable of the innermost call.
    pub fn set(&mut self, var: Option<VarId>, value: Value) {
        if let (Some(var), Some(frame)) = (var, self.frames.last_mut()) {
            frame.variables[var.position()] = value;
        }
    }

    /// Ends the program.
    pub fn panic(&mut self, cause: PanicCause) {
        let pc = self.pc().unwrap_or(Pc(0));
        self.stop(Status::Panicked(cause, pc));
    }

    /// Goes no further.
    pub fn stop(&mut self, status: Status) {
        self.status = status;
        self.frames.clear();
        self.spawned = 0;
        self.created = 0;
    }

    /// Records an event; the process is refuted if it is not allowed.
    pub fn see(&mut self, host: &mut impl Host, event: Event, label: Option<(FuncId, VarId)>) {
        match host.saw(self.history, event, label) {
            Some(history) => self.history = history,
            None => self.stop(Status::Refuted),
        }
    }

    /// Receives a message, or learns that there will be none (`None`), in a case of the select that
    /// it stands at, and goes on in that case.
    pub fn receive(
        &mut self,
        code: &Code,
        host: &mut impl Host,
        case: u16,
        message: Option<Value>,
    ) {
        let Some(pc) = self.pc() else { return };
        let Instruction::Select(select) = &code.instructions[pc] else {
            return;
        };
        let taken = &select.cases[case as usize];
        let SelectOp::Get(_, element, value, ok) = &taken.op else {
            return;
        };
        self.set(*value, message.unwrap_or_else(|| Value::zero(element)));
        self.set(*ok, Value::Bool(message.is_some()));
        self.go_to(taken.target);
        if !select.single {
            self.see(host, Event::Chose(case), None);
        }
        let label = value.map(|var| (code.origins[pc].function, var));
        match message {
            Some(message) => self.see(host, Event::Received(Seen::from(message)), label),
            None => self.see(host, Event::Closed, label),
        }
    }

    /// Goes on in a case of the select that it stands at, after a message was sent or time ran out.
    pub fn take(&mut self, code: &Code, host: &mut impl Host, case: u16) {
        let Some(pc) = self.pc() else { return };
        let Instruction::Select(select) = &code.instructions[pc] else {
            return;
        };
        let taken = &select.cases[case as usize];
        self.go_to(taken.target);
        if matches!(taken.op, SelectOp::Timeout) {
            self.see(host, Event::TimedOut, None);
        } else if !select.single {
            self.see(host, Event::Chose(case), None);
        }
    }

    /// Goes on in the default of the select that it stands at.
    pub fn take_default(&mut self, code: &Code, host: &mut impl Host) {
        let Some(pc) = self.pc() else { return };
        let Instruction::Select(select) = &code.instructions[pc] else {
            return;
        };
        if let Some(default) = select.default {
            self.go_to(default);
            self.see(host, Event::Defaulted, None);
        }
    }

    /// Runs until the next visible operation, the end, or the limit of our patience. Afterwards
    /// everything that is not needed any more is forgotten.
    pub fn run(&mut self, code: &Code, host: &mut impl Host) {
        self.run_on(code, host);
        if self.status == Status::Waiting {
            self.forget(code);
        }
    }

    /// Runs likewise and forgets nothing.
    pub fn run_on(&mut self, code: &Code, host: &mut impl Host) {
        let mut steps = 0;
        let mut landmark: Option<(u32, SmallVec<[Frame; 1]>)> = None;
        while self.status == Status::Waiting {
            let Some(pc) = self.pc() else {
                self.stop(Status::Done);
                break;
            };
            if self.is_visible(code, pc) {
                break;
            }
            self.perform(code, host, pc);
            steps += 1;
            if steps > PATIENCE {
                self.stop(Status::Runaway("instructions without any visible operation", pc));
            } else if steps >= FIRST_LANDMARK && steps.is_power_of_two() {
                landmark = Some((self.spawned, self.frames.clone()));
            } else if landmark.as_ref().is_some_and(|landmark| self.is_back_at(landmark)) {
                // The same place with the same values, and nothing from outside: forever.
                self.stop(Status::Spinning(pc));
            }
        }
    }

    /// Has nothing changed since then? One more process is a change.
    fn is_back_at(&self, (spawned, frames): &(u32, SmallVec<[Frame; 1]>)) -> bool {
        *spawned == self.spawned && *frames == self.frames
    }

    /// Must the machine stop before this instruction? A `close` of nil is no business of others.
    fn is_visible(&self, code: &Code, pc: Pc) -> bool {
        match &code.instructions[pc] {
            Instruction::Select(_)
            | Instruction::Choose(_)
            | Instruction::Sync(..)
            | Instruction::Announce(_)
            | Instruction::Add(..) => true,
            Instruction::Close(channel) | Instruction::Abandon(channel) => {
                evaluate(channel, self.variables()).object().is_some()
            }
            _ => false,
        }
    }

    fn perform(&mut self, code: &Code, host: &mut impl Host, pc: Pc) {
        match &code.instructions[pc] {
            Instruction::Assign(var, value) => {
                let value = evaluate(value, self.variables());
                self.set(Some(*var), value);
                self.advance();
            }
            Instruction::Jump(target) => self.go_to(*target),
            Instruction::Unless(condition, target) => {
                if evaluate(condition, self.variables()) == Value::Bool(true) {
                    self.advance();
                } else {
                    self.go_to(*target);
                }
            }
            Instruction::NewChannel(var, capacity) => {
                self.create(code, host, *var, Object::channel(*capacity));
            }
            Instruction::NewLock(var, kind) => self.create(code, host, *var, Object::lock(*kind)),
            Instruction::Spawn(start, name) => {
                let child = Local::starting(*start, self.variables().into());
                if self.spawned >= MAX_CREATED {
                    self.stop(Status::Runaway("processes spawned by one process", pc));
                    return;
                }
                self.spawned += 1;
                host.performed(pc);
                host.spawn(self.spawned, name.as_ref(), child);
                self.advance();
            }
            Instruction::Call(function, arguments, _) => self.call(code, *function, arguments, pc),
            Instruction::Return(value) => {
                let value =
                    value.as_ref().map_or(Value::Unit, |value| evaluate(value, self.variables()));
                self.finish_call(code, value);
            }
            Instruction::Panic(message) => self.panic(PanicCause::Statement(message.clone())),
            Instruction::Observe(value) => {
                let seen = Seen::from(evaluate(value, self.variables()));
                host.performed(pc);
                self.advance();
                self.see(host, Event::Observed(seen), None);
            }
            Instruction::Close(_) => self.panic(PanicCause::CloseOfNil),
            Instruction::Abandon(_) => self.panic(PanicCause::AbandonOfNil),
            Instruction::Select(_)
            | Instruction::Choose(_)
            | Instruction::Sync(..)
            | Instruction::Announce(_)
            | Instruction::Add(..) => {}
        }
    }

    fn create(&mut self, code: &Code, host: &mut impl Host, var: VarId, object: Object) {
        let pc = self.pc().unwrap_or(Pc(0));
        if self.created >= MAX_CREATED {
            self.stop(Status::Runaway("objects created by one process", pc));
            return;
        }
        self.created += 1;
        host.performed(pc);
        let holder = (code.origins[pc].function, var);
        let value = host.create(self.created, object, holder);
        self.set(Some(var), value);
        self.advance();
    }

    fn call(&mut self, code: &Code, function: FuncId, arguments: &[Expr], pc: Pc) {
        let called = &code.functions[function];
        let mut variables = SmallVec::from_elem(Value::Unit, called.names.len());
        for (argument, param) in arguments.iter().zip(&called.params) {
            variables[param.position()] = evaluate(argument, self.variables());
        }
        // A call in the last place needs no frame of its caller any more: loops written as
        // recursion stay finite.
        if returns_at_once(code, pc) {
            self.frames.pop();
        }
        self.frames.push(Frame { pc: called.entry, variables });
        if self.frames.len() > MAX_CALLS {
            self.stop(Status::Runaway("calls inside each other", pc));
        }
    }

    fn finish_call(&mut self, code: &Code, value: Value) {
        self.frames.pop();
        let Some(pc) = self.pc() else { return };
        if let Instruction::Call(_, _, result) = &code.instructions[pc] {
            self.set(*result, value);
        }
        self.advance();
    }

    /// Forgets what can have no influence any more.
    fn forget(&mut self, code: &Code) {
        let innermost = self.frames.len().saturating_sub(1);
        let mut creates = false;
        for (depth, frame) in self.frames.iter_mut().enumerate() {
            let future = if depth == innermost {
                code.flow().before(frame.pc)
            } else {
                code.flow().after_call(frame.pc)
            };
            creates |= future.creates;
            for (position, value) in frame.variables.iter_mut().enumerate() {
                if !future.needs(VarId::new(position)) {
                    *value = Value::Unit;
                }
            }
        }
        if !creates {
            self.spawned = 0;
            self.created = 0;
        }
    }
}

/// Does nothing but a return of unit or of the call's own result follow the call?
fn returns_at_once(code: &Code, call: Pc) -> bool {
    let Instruction::Call(called, _, result) = &code.instructions[call] else {
        return false;
    };
    let mut pc = Pc(call.0 + 1);
    // Jumps that only lead to the return are common at the end of branches.
    for _ in 0..64 {
        match &code.instructions[pc] {
            Instruction::Jump(target) => pc = *target,
            Instruction::Return(None) => return code.functions[*called].returns_unit,
            Instruction::Return(Some(value)) => {
                return result.is_some_and(|var| value.kind == ExprKind::Var(var));
            }
            _ => return false,
        }
    }
    false
}
