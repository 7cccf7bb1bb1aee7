//! What a state looks like from outside: who waits for what, who has panicked or goes round by
//! itself, which buffers hold messages. For those who ask about properties of states.

use smallvec::SmallVec;

use crate::language::ast::SyncOp;
use crate::language::index::{FuncId, Idx, ObjectId, Pc, ProcId, VarId};
use crate::language::span::Span;
use crate::machine::action::{Action, ActionKind, PanicCause};
use crate::machine::code::{Code, Instruction, SelectOp};
use crate::machine::local::{Local, Status};
use crate::machine::moves::Stimulus;
use crate::machine::object::Object;
use crate::machine::program::{Machine, State};
use crate::machine::value::{Value, evaluate};

/// Whether a state is an ordinary one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Has a process panicked? Then the program is over.
    pub panicked: bool,
    /// Does a process run by itself forever?
    pub spins: bool,
    /// Did a process go beyond a limit of the machine, which the text names?
    pub runaway: Option<&'static str>,
}

/// What a process asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wish {
    /// To send.
    Send,
    /// To receive.
    Receive,
    /// A lock for itself.
    Lock,
    /// A lock shared with readers.
    ReadLock,
    /// That a wait group gets to zero.
    Zero,
    /// Something that never waits.
    Proceed,
}

/// One thing a process would go on with.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// What.
    pub wish: Wish,
    /// On which object; `None` for `nil`.
    pub object: Option<ObjectId>,
    /// Where it stands in the text.
    pub span: Span,
}

/// A process that stands at an operation.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Which.
    pub process: ProcId,
    /// At which instruction.
    pub pc: Pc,
    /// Where that stands in the text.
    pub span: Span,
    /// Is it a select? Then any one of the wants will do.
    pub select: bool,
    /// What it would go on with. Nothing for an empty select.
    pub wants: Vec<Want>,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// By a single process.
    Exclusive,
    /// By one or more readers.
    Readers,
}

/// A panic and where it came from.
#[derive(Clone, Debug)]
pub struct Panicked {
    /// Who.
    pub process: ProcId,
    /// Why.
    pub cause: PanicCause,
    /// Where.
    pub span: Span,
}

impl Machine {
    /// Is the state an ordinary one?
    pub fn condition(&self, state: &State) -> Condition {
        let cache = self.warm_cache(state);
        let mut condition = Condition::default();
        for (process, number) in state.processes() {
            match &cache.menu(process, number).status {
                Status::Panicked(..) => condition.panicked = true,
                Status::Spinning(_) => condition.spins = true,
                Status::Runaway(what, _) => condition.runaway = Some(what),
                Status::Waiting | Status::Done | Status::Refuted => {}
            }
        }
        condition
    }

    /// The processes that stand at an operation, whether it is possible at the moment or not.
    pub fn waiting(&self, state: &State) -> Vec<Waiting> {
        let tables = self.tables();
        let locals = state.processes().filter_map(|(process, number)| {
            tables.local_state(process, number).map(|local| (process, local))
        });
        let standing = locals.filter(|(_, local)| local.status == Status::Waiting);
        standing.filter_map(|(process, local)| self.stance(process, local)).collect()
    }

    /// Does this process stand at an operation?
    pub fn is_waiting(&self, state: &State, process: ProcId) -> bool {
        let number = state.proc(process);
        let tables = self.tables();
        tables.local_state(process, number).is_some_and(|local| local.status == Status::Waiting)
    }

    /// The places of the selects, puts and gets that a process which stands at this instruction may
    /// come to next and later, as long as it stays in the function that it is in and those it calls.
    pub fn waits_after(&self, pc: Pc) -> Vec<Span> {
        let code = self.code();
        let mut seen = vec![false; code.instructions.len()];
        let mut todo = Vec::new();
        successors(code, pc, &mut todo);
        let mut spans = Vec::new();
        while let Some(pc) = todo.pop() {
            if std::mem::replace(&mut seen[pc.position()], true) {
                continue;
            }
            if matches!(code.instructions[pc], Instruction::Select(_)) {
                spans.push(code.origins[pc].span);
            }
            successors(code, pc, &mut todo);
        }
        spans
    }

    /// Has this process neither finished nor panicked?
    pub fn is_unfinished(&self, state: &State, process: ProcId) -> bool {
        let cache = self.warm_cache(state);
        let mut processes = state.processes().filter(|(one, _)| *one == process);
        processes.any(|(process, number)| {
            let status = &cache.menu(process, number).status;
            matches!(status, Status::Waiting | Status::Spinning(_) | Status::Runaway(..))
        })
    }

    fn stance(&self, process: ProcId, local: &Local) -> Option<Waiting> {
        let pc = local.pc()?;
        let span = self.code().origins[pc].span;
        let variables = local.variables();
        let one =
            |wish, target| vec![Want { wish, object: evaluate(target, variables).object(), span }];
        let mut select = false;
        let wants = match &self.code().instructions[pc] {
            Instruction::Select(found) => {
                select = !found.single;
                let cases = found.cases.iter().map(|case| {
                    let (wish, object) = match &case.op {
                        SelectOp::Put(channel, _) => {
                            (Wish::Send, evaluate(channel, variables).object())
                        }
                        SelectOp::Get(channel, ..) => {
                            (Wish::Receive, evaluate(channel, variables).object())
                        }
                        SelectOp::Timeout => (Wish::Proceed, None),
                    };
                    Want { wish, object, span: case.span }
                });
                let default =
                    found.default.map(|_| Want { wish: Wish::Proceed, object: None, span });
                cases.chain(default).collect()
            }
            Instruction::Sync(SyncOp::Lock, target) | Instruction::Announce(target) => {
                one(Wish::Lock, target)
            }
            Instruction::Sync(SyncOp::RLock, target) => one(Wish::ReadLock, target),
            Instruction::Sync(SyncOp::Wait, target) => one(Wish::Zero, target),
            Instruction::Sync(_, target)
            | Instruction::Add(target, _)
            | Instruction::Close(target)
            | Instruction::Abandon(target) => one(Wish::Proceed, target),
            _ => vec![Want { wish: Wish::Proceed, object: None, span }],
        };
        Some(Waiting { process, pc, span, select, wants })
    }

    /// The processes that have panicked.
    pub fn panics(&self, state: &State) -> Vec<Panicked> {
        let cache = self.warm_cache(state);
        let statuses = state
            .processes()
            .map(|(process, number)| (process, &cache.menu(process, number).status));
        let panics = statuses.filter_map(|(process, status)| match status {
            Status::Panicked(cause, pc) => Some(Panicked {
                process,
                cause: cause.clone(),
                span: self.code().origins[*pc].span,
            }),
            _ => None,
        });
        panics.collect()
    }

    /// The channels that hold messages.
    pub fn buffered(&self, state: &State) -> Vec<ObjectId> {
        let cache = self.warm_cache(state);
        let objects = state.objects.iter().enumerate().filter(|(_, number)| **number != 0);
        let full = objects.filter(|(position, number)| {
            matches!(cache.object(ObjectId::new(*position), **number),
                Object::Channel(channel) if !channel.messages.is_empty())
        });
        full.map(|(position, _)| ObjectId::new(position)).collect()
    }

    /// The locks that are held, each with whether readers hold it.
    pub fn held_locks(&self, state: &State) -> Vec<(ObjectId, Holding)> {
        let cache = self.warm_cache(state);
        let objects = state.objects.iter().enumerate().filter(|(_, number)| **number != 0);
        let held = objects.filter_map(|(position, number)| {
            let object = ObjectId::new(position);
            let holding = match cache.object(object, *number) {
                Object::Mutex(true) | Object::RwMutex { writing: true, .. } => Holding::Exclusive,
                Object::RwMutex { readers: 1.., .. } => Holding::Readers,
                _ => return None,
            };
            Some((object, holding))
        });
        held.collect()
    }

    /// Does an enabled step end in a panic, at once or before anybody else can act?
    pub fn leads_to_panic(&self, state: &State, action: &Action) -> bool {
        if matches!(action.kind, ActionKind::Fault(_)) {
            return true;
        }
        if !self.code().may_panic {
            return false;
        }
        let message = self.message(state, action);
        let panics = |process: ProcId, stimulus| {
            let number = state.proc(process);
            let after = self.with_move(process, number, stimulus, |found| {
                let born = found.procs.iter().copied();
                born.chain([(process, found.local)]).collect::<SmallVec<[(ProcId, u32); 4]>>()
            });
            after.iter().any(|(process, number)| {
                let cache = self.warm_cache_of(*process, *number);
                matches!(cache.menu(*process, *number).status, Status::Panicked(..))
            })
        };
        panics(action.actor, action.stimulus(message))
            || action
                .partner
                .is_some_and(|(partner, case)| panics(partner, Stimulus::Receive(case, message)))
    }

    /// The variable that held an object first.
    pub fn holder(&self, object: ObjectId) -> (FuncId, VarId) {
        self.tables().holders[object]
    }

    /// How much an enabled step would add to a wait group.
    pub fn amount(&self, state: &State, action: &Action) -> i64 {
        match (action.kind, self.message(state, action)) {
            (ActionKind::Add, Value::Int(amount)) => amount,
            _ => 0,
        }
    }

    /// The place in the text where a process would take a step.
    pub fn step_span(&self, state: &State, process: ProcId, case: u16) -> Span {
        self.place(state, process, case).span
    }
}

/// Where a process may go on after an instruction: in a function that it calls, or behind the call.
fn successors(code: &Code, pc: Pc, next: &mut Vec<Pc>) {
    let behind = Pc::new(pc.position() + 1);
    match &code.instructions[pc] {
        Instruction::Jump(target) => next.push(*target),
        Instruction::Unless(_, target) => next.extend([*target, behind]),
        Instruction::Call(function, ..) => next.extend([code.functions[*function].entry, behind]),
        Instruction::Choose(targets) => next.extend(targets),
        Instruction::Select(select) => {
            next.extend(select.cases.iter().map(|case| case.target).chain(select.default));
        }
        Instruction::Return(_) | Instruction::Panic(_) => {}
        Instruction::Assign(..)
        | Instruction::NewChannel(..)
        | Instruction::NewLock(..)
        | Instruction::Spawn(..)
        | Instruction::Observe(_)
        | Instruction::Close(_)
        | Instruction::Abandon(_)
        | Instruction::Sync(..)
        | Instruction::Announce(_)
        | Instruction::Add(..) => next.push(behind),
    }
}
