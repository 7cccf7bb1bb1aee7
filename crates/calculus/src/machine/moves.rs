//! What a step does to one process and to one object, remembered so that it is computed once.

use smol_str::SmolStr;

use crate::explain::observation::{Event, Observation};
use crate::language::index::{FuncId, ObjectId, Pc, ProcId, VarId};
use crate::machine::action::{Action, ActionKind, Fault, PanicCause};
use crate::machine::code::Instruction;
use crate::machine::local::{Host, Local, Status};
use crate::machine::object::{Channel, Object, Phase};
use crate::machine::program::{Machine, Recording};
use crate::machine::tables::Tables;
use crate::machine::value::Value;

/// How many processes may be born in one step before we suspect that there is no end of them.
const MAX_BORN: usize = 5_000;
/// How many of them are kept then.
const SHOWN_BORN: usize = 4;

/// What happens to a process in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stimulus {
    /// A case that sends, or a timeout, is taken.
    Take(u16),
    /// A message is received.
    Receive(u16, Value),
    /// A get finds the channel closed.
    FindClosed(u16),
    /// The default is taken.
    Default,
    /// A branch is chosen.
    Branch(u16),
    /// The operation is done.
    Proceed,
    /// The operation is not allowed.
    Fault(Fault),
}

/// What a stimulus makes of a process.
#[derive(Debug, Default)]
pub struct Move {
    /// The number of its new state.
    pub local: u32,
    /// The states of the processes and objects it creates on the way.
    pub procs: Vec<(ProcId, u32)>,
    /// Likewise.
    pub objects: Vec<(ObjectId, u32)>,
    /// The processes it creates, as a number of the tables.
    pub born: u32,
    /// Does it, or a process it creates, contradict the observation?
    pub refuted: bool,
    /// The instructions it runs by itself that a trace mentions, with who runs them.
    pub performed: Vec<(ProcId, Pc)>,
}

/// What happens to an object in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Treatment {
    /// The step.
    pub kind: ActionKind,
    /// The message put, the amount added.
    pub value: Value,
}

impl Action {
    /// What the step does to the process that acts.
    pub(crate) fn stimulus(&self, message: Value) -> Stimulus {
        match self.kind {
            ActionKind::Meet | ActionKind::Put | ActionKind::PutLost | ActionKind::Timeout => {
                Stimulus::Take(self.case)
            }
            ActionKind::Get => Stimulus::Receive(self.case, message),
            ActionKind::GetClosed => Stimulus::FindClosed(self.case),
            ActionKind::Default => Stimulus::Default,
            ActionKind::Branch => Stimulus::Branch(self.case),
            ActionKind::Fault(fault) => Stimulus::Fault(fault),
            ActionKind::Close
            | ActionKind::Abandon
            | ActionKind::Lock
            | ActionKind::Unlock
            | ActionKind::ReadLock
            | ActionKind::ReadUnlock
            | ActionKind::Announce
            | ActionKind::Add
            | ActionKind::Wait => Stimulus::Proceed,
        }
    }
}

/// What a process meets while it runs by itself.
struct Surroundings<'a> {
    tables: &'a mut Tables,
    process: ProcId,
    result: &'a mut Move,
    children: &'a mut Vec<(ProcId, Local)>,
    recording: &'a Recording,
    path: Option<String>,
}

impl Host for Surroundings<'_> {
    fn create(&mut self, number: u32, object: Object, holder: (FuncId, VarId)) -> Value {
        let id = self.tables.object(self.process, number, holder, &object);
        let state = self.tables.object_state(id, object);
        self.result.objects.push((id, state));
        Value::Object(id)
    }

    fn spawn(&mut self, number: u32, name: Option<&SmolStr>, child: Local) {
        let id = self.tables.child(self.process, number, name);
        self.children.push((id, child));
    }

    fn saw(&mut self, history: u32, event: Event, label: Option<(FuncId, VarId)>) -> Option<u32> {
        match self.recording {
            Recording::Nothing => Some(history),
            Recording::Observed if matches!(event, Event::Observed(_)) => {
                Some(self.tables.history((history, event, label)))
            }
            Recording::Observed => Some(history),
            Recording::Everything => Some(self.tables.history((history, event, label))),
            Recording::Against(observation) => {
                let path = self.path.get_or_insert_with(|| self.tables.path(self.process));
                expected(observation, path, history).filter(|wanted| *wanted == event)?;
                Some(history + 1)
            }
            Recording::Beginning(observation) => {
                let path = self.path.get_or_insert_with(|| self.tables.path(self.process));
                match expected(observation, path, history) {
                    Some(wanted) => (wanted == event).then_some(history + 1),
                    None => Some(history),
                }
            }
        }
    }

    fn performed(&mut self, pc: Pc) {
        self.result.performed.push((self.process, pc));
    }
}

/// The event that a process must see next.
fn expected(observation: &Observation, path: &str, position: u32) -> Option<Event> {
    observation.processes.get(path)?.get(position as usize).copied()
}

impl Machine {
    /// Lets main run to its first visible operation.
    pub(crate) fn first_move(&self) -> Move {
        let mut tables = self.tables();
        let mut local = Local::main(self.code());
        self.settle(&mut tables, ProcId(0), &mut local)
    }

    /// Computes what a stimulus makes of a process.
    pub(crate) fn compute_move(&self, process: ProcId, number: u32, stimulus: Stimulus) -> Move {
        let mut tables = self.tables();
        let Some(mut local) = tables.local_state(process, number).cloned() else {
            return Move::default();
        };
        let mut result = Move::default();
        let mut children = Vec::new();
        let mut host = Surroundings {
            tables: &mut tables,
            process,
            result: &mut result,
            children: &mut children,
            recording: &self.shared.recording,
            path: None,
        };
        let code = self.code();
        match stimulus {
            Stimulus::Take(case) => local.take(code, &mut host, case),
            Stimulus::Receive(case, message) => local.receive(code, &mut host, case, Some(message)),
            Stimulus::FindClosed(case) => local.receive(code, &mut host, case, None),
            Stimulus::Default => local.take_default(code, &mut host),
            Stimulus::Branch(case) => {
                if let Some(Instruction::Choose(targets)) =
                    local.pc().map(|pc| &code.instructions[pc])
                {
                    local.go_to(targets[case as usize]);
                }
            }
            Stimulus::Proceed => local.advance(),
            Stimulus::Fault(fault) => local.panic(PanicCause::Fault(fault)),
        }
        self.settle(&mut tables, process, &mut local)
    }

    /// Runs a process and all it spawns to their next visible operations.
    fn settle(&self, tables: &mut Tables, process: ProcId, local: &mut Local) -> Move {
        let mut result = Move::default();
        let mut children = Vec::new();
        let start = local.pc().unwrap_or(Pc(0));
        self.run_alone(tables, process, local, &mut result, &mut children);
        let mut next = 0;
        while next < children.len() && (children.len() <= MAX_BORN || next < SHOWN_BORN) {
            let (child, mut local) = children[next].clone();
            next += 1;
            self.run_alone(tables, child, &mut local, &mut result, &mut children);
            let number = tables.local(child, local);
            result.procs.push((child, number));
        }
        if children.len() > MAX_BORN {
            // Processes without end: a few of them show what they do, the outcome names the limit.
            local.stop(Status::Runaway("processes spawned at once", start));
            result.procs.truncate(SHOWN_BORN);
        }
        result.local = tables.local(process, local.clone());
        result.born = tables.births.number(result.procs.iter().map(|(child, _)| *child).collect());
        result
    }

    fn run_alone(
        &self,
        tables: &mut Tables,
        process: ProcId,
        local: &mut Local,
        result: &mut Move,
        children: &mut Vec<(ProcId, Local)>,
    ) {
        let recording = &self.shared.recording;
        let mut host = Surroundings { tables, process, result, children, recording, path: None };
        local.run(self.code(), &mut host);
        result.refuted |= local.status == Status::Refuted;
    }

    /// Computes what a step makes of an object.
    pub(crate) fn compute_treatment(
        &self,
        object: ObjectId,
        number: u32,
        treatment: Treatment,
    ) -> u32 {
        let mut tables = self.tables();
        let mut state = tables.object_states[object].value(number).clone();
        treat(&mut state, treatment);
        tables.object_state(object, state)
    }
}

/// What a step makes of an object.
fn treat(object: &mut Object, treatment: Treatment) {
    match (object, treatment.kind) {
        (Object::Channel(channel), kind) => treat_channel(channel, kind, treatment.value),
        (Object::Mutex(locked), ActionKind::Lock) => *locked = true,
        (Object::Mutex(locked), ActionKind::Unlock) => *locked = false,
        (Object::RwMutex { readers, .. }, ActionKind::ReadLock) => *readers += 1,
        (Object::RwMutex { readers, .. }, ActionKind::ReadUnlock) => *readers -= 1,
        (Object::RwMutex { announced, .. }, ActionKind::Announce) => *announced = true,
        (Object::RwMutex { writing, .. }, ActionKind::Lock) => *writing = true,
        (Object::RwMutex { writing, announced, .. }, ActionKind::Unlock) => {
            *writing = false;
            *announced = false;
        }
        (Object::WaitGroup(counter), ActionKind::Add) => {
            if let Value::Int(amount) = treatment.value {
                *counter = counter.saturating_add(amount);
            }
        }
        _ => {}
    }
}

fn treat_channel(channel: &mut Channel, kind: ActionKind, message: Value) {
    match kind {
        ActionKind::Put => channel.messages.push(message),
        ActionKind::Get => {
            channel.messages.remove(0);
        }
        ActionKind::Close if channel.phase == Phase::Open => channel.phase = Phase::Closed,
        ActionKind::Abandon => {
            channel.phase = Phase::Abandoned;
            channel.messages.clear();
        }
        _ => {}
    }
}
