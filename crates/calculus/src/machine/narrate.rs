//! Traces for people: who does what at which place of the text.

use strait_explore::System;

use crate::language::index::{FuncId, Idx, ObjectId, Pc, ProcId, VarId};
use crate::language::span::Span;
use crate::machine::action::{Action, ActionKind, PanicCause};
use crate::machine::code::Instruction;
use crate::machine::local::Status;
use crate::machine::moves::{Move, Stimulus};
use crate::machine::program::{Machine, State};

/// A process at a place of the text.
#[derive(Clone, Debug)]
pub struct Place {
    /// The name of the process.
    pub process: String,
    /// Where it stands.
    pub span: Span,
}

/// One step of a trace.
#[derive(Clone, Debug)]
pub struct Step {
    /// Who acts, and where.
    pub actor: Place,
    /// The receiver of a rendezvous, and where it waits.
    pub partner: Option<Place>,
    /// What happens; `None` for what a process does by itself, such as spawning.
    pub kind: Option<ActionKind>,
    /// The object it happens on.
    pub object: Option<String>,
    /// Which case of a select, or branch of a choice.
    pub case: u16,
    /// The message that is moved.
    pub message: Option<String>,
    /// The process that a spawn starts.
    pub starts: Option<String>,
    /// The function that the started process calls first, if that is all it begins with.
    pub runs: Option<String>,
    /// Does it only make a channel, lock or wait group?
    pub creates: bool,
}

/// A process that has not finished, and where it stands.
#[derive(Clone, Debug)]
pub struct Blocked {
    /// Which.
    pub at: Place,
    /// Where its cases stand, if it is in a select.
    pub cases: Vec<Span>,
    /// Does it go on forever by itself?
    pub spins: bool,
    /// Has it panicked instead, and why?
    pub panic: Option<PanicCause>,
}

impl Machine {
    /// The name of a process for people.
    pub fn process_name(&self, process: ProcId) -> String {
        self.tables().name(process)
    }

    /// The name of an object: the variable that held it first, with a number if there are several.
    pub fn object_name(&self, object: ObjectId) -> String {
        let tables = self.tables();
        let name = |(function, var): (FuncId, VarId)| self.code().variable(function, var);
        let own = name(tables.holders[object]);
        let is_namesake = |holder: &&(FuncId, VarId)| name(**holder) == own;
        match tables.holders.iter().filter(is_namesake).count() {
            0 | 1 => own.to_string(),
            _ => {
                let up_to_this = tables.holders.iter().take(object.position() + 1);
                format!("{own}#{}", up_to_this.filter(is_namesake).count())
            }
        }
    }

    /// The numbers of a process's path: `[2, 1]` for `main.2.1`.
    pub fn process_path(&self, process: ProcId) -> Vec<u32> {
        self.tables().path_numbers(process)
    }

    /// The processes that are started before anything happens, each with the function that it calls
    /// first, if that is all it begins with.
    pub fn started_at_first(&self) -> Vec<(ProcId, Option<String>)> {
        self.started(&self.first_move())
    }

    /// The processes that a step starts, likewise.
    pub fn started_by(&self, state: &State, action: &Action) -> Vec<(ProcId, Option<String>)> {
        let message = self.message(state, action);
        let follow = |process, stimulus| {
            self.started(&self.compute_move(process, state.proc(process), stimulus))
        };
        let mut started = follow(action.actor, action.stimulus(message));
        if let Some((partner, case)) = action.partner {
            started.extend(follow(partner, Stimulus::Receive(case, message)));
        }
        started
    }

    fn started(&self, done: &Move) -> Vec<(ProcId, Option<String>)> {
        let spawns =
            done.performed.iter().filter_map(|(_, pc)| match self.code().instructions[*pc] {
                Instruction::Spawn(start, _) => Some(start),
                _ => None,
            });
        // Processes are listed in the order of the spawns that start them.
        let children = done.procs.iter().map(|(child, _)| *child);
        children.zip(spawns).map(|(child, start)| (child, self.first_call(start))).collect()
    }

    /// The names of all processes and objects that were seen so far.
    pub fn names(&self) -> (Vec<String>, Vec<String>) {
        let (processes, objects) = {
            let tables = self.tables();
            (tables.procs.len(), tables.holders.len())
        };
        let processes = (0..processes).map(|one| self.process_name(ProcId::new(one)));
        let objects = (0..objects).map(|one| self.object_name(ObjectId::new(one)));
        (processes.collect(), objects.collect())
    }

    /// An action in one word, for graphs: `meet(main.1,main,c)`.
    pub fn label(&self, action: &Action) -> String {
        let mut parts = vec![self.process_name(action.actor)];
        parts.extend(action.partner.map(|(partner, _)| self.process_name(partner)));
        parts.extend(action.object.map(|object| self.object_name(object)));
        if matches!(action.kind, ActionKind::Branch | ActionKind::Timeout) {
            parts.push(action.case.to_string());
        }
        format!("{}({})", action.kind.word(), parts.join(","))
    }

    /// Tells a trace step by step, and who has not finished at its end.
    pub fn narrate(&self, trace: &[Action]) -> (Vec<Step>, Vec<Blocked>) {
        let mut steps = Vec::new();
        self.narrate_move(&self.first_move(), &mut steps);
        let mut state = self.start();
        for action in trace {
            self.narrate_action(&state, action, &mut steps);
            self.step(&mut state, action);
        }
        (steps, self.blocked(&state))
    }

    fn narrate_move(&self, done: &Move, steps: &mut Vec<Step>) {
        // Processes are listed in the order of the spawns that start them.
        let mut children = done.procs.iter();
        for (process, pc) in &done.performed {
            let actor =
                Place { process: self.process_name(*process), span: self.code().origins[*pc].span };
            let spawned = match self.code().instructions[*pc] {
                Instruction::Spawn(start, _) => Some(start),
                _ => None,
            };
            let creates = matches!(
                self.code().instructions[*pc],
                Instruction::NewChannel(..) | Instruction::NewLock(..)
            );
            let child = spawned.and_then(|_| children.next());
            let starts = child.map(|(child, _)| self.process_name(*child));
            let runs = spawned.and_then(|start| self.first_call(start));
            steps.push(Step {
                actor,
                partner: None,
                kind: None,
                object: None,
                case: 0,
                message: None,
                starts,
                runs,
                creates,
            });
        }
    }

    fn narrate_action(&self, state: &State, action: &Action, steps: &mut Vec<Step>) {
        let message = self.message(state, action);
        let moves_message =
            matches!(action.kind, ActionKind::Meet | ActionKind::Put | ActionKind::Get);
        steps.push(Step {
            actor: self.place(state, action.actor, action.case),
            partner: action.partner.map(|(partner, case)| self.place(state, partner, case)),
            kind: Some(action.kind),
            object: action.object.map(|object| self.object_name(object)),
            case: action.case,
            message: moves_message.then(|| message.to_string()),
            starts: None,
            runs: None,
            creates: false,
        });
        let mut follow = |process, stimulus| {
            let done = self.compute_move(process, state.proc(process), stimulus);
            self.narrate_move(&done, steps);
        };
        follow(action.actor, action.stimulus(message));
        if let Some((partner, case)) = action.partner {
            follow(partner, Stimulus::Receive(case, message));
        }
    }

    /// The function that an instruction calls.
    fn first_call(&self, pc: Pc) -> Option<String> {
        match &self.code().instructions[pc] {
            Instruction::Call(function, ..) => {
                Some(self.code().functions[*function].name.to_string())
            }
            _ => None,
        }
    }

    /// Where a process stands; in a select, at one of its cases.
    pub(crate) fn place(&self, state: &State, process: ProcId, case: u16) -> Place {
        let tables = self.tables();
        let pc = tables.local_state(process, state.proc(process)).and_then(|local| local.pc());
        let span = pc.map_or(Span::NONE, |pc| match &self.code().instructions[pc] {
            Instruction::Select(select) => {
                let taken = select.cases.get(case as usize);
                taken.map_or(self.code().origins[pc].span, |case| case.span)
            }
            _ => self.code().origins[pc].span,
        });
        Place { process: tables.name(process), span }
    }

    fn case_spans(&self, pc: Pc) -> Vec<Span> {
        match &self.code().instructions[pc] {
            Instruction::Select(select) if !select.single => {
                select.cases.iter().map(|case| case.span).collect()
            }
            _ => vec![],
        }
    }

    fn blocked(&self, state: &State) -> Vec<Blocked> {
        let cache = self.warm_cache(state);
        let tables = self.tables();
        let mut blocked = Vec::new();
        for (process, number) in state.processes() {
            let mut cases = Vec::new();
            let mut spins = false;
            let (span, panic) = match &cache.menu(process, number).status {
                Status::Done | Status::Refuted => continue,
                Status::Waiting => {
                    let local = tables.local_state(process, number);
                    let pc = local.and_then(|local| local.pc());
                    cases.extend(pc.into_iter().flat_map(|pc| self.case_spans(pc)));
                    (pc.map_or(Span::NONE, |pc| self.code().origins[pc].span), None)
                }
                Status::Panicked(cause, pc) => (self.code().origins[*pc].span, Some(cause.clone())),
                Status::Spinning(pc) | Status::Runaway(_, pc) => {
                    spins = true;
                    (self.code().origins[*pc].span, None)
                }
            };
            let order = tables.path_numbers(process);
            let at = Place { process: tables.name(process), span };
            blocked.push((order, Blocked { at, cases, spins, panic }));
        }
        blocked.sort_by(|a, b| a.0.cmp(&b.0));
        blocked.into_iter().map(|(_, blocked)| blocked).collect()
    }

    /// A trace of another machine for the same program in terms of this one's processes and
    /// objects, which may have been numbered in another order. `None` if it cannot be followed.
    pub fn translate(&self, trace: &[Action], target: &Machine) -> Option<Vec<Action>> {
        let mut state = target.start();
        let mut enabled = Vec::new();
        let mut translated = Vec::new();
        for action in trace {
            let wanted = self.identity(action);
            target.enabled(&mut state, &mut enabled);
            let found = enabled.iter().find(|other| target.identity(other) == wanted)?;
            translated.push(*found);
            target.step(&mut state, found);
        }
        Some(translated)
    }

    /// What an action is, whatever the numbers of its processes.
    fn identity(&self, action: &Action) -> Identity {
        let tables = self.tables();
        Identity {
            kind: action.kind,
            actor: tables.path_numbers(action.actor),
            case: action.case,
            partner: action.partner.map(|(partner, case)| (tables.path_numbers(partner), case)),
        }
    }
}

/// An action by the paths of its processes.
#[derive(PartialEq)]
struct Identity {
    kind: ActionKind,
    actor: Vec<u32>,
    case: u16,
    partner: Option<(Vec<u32>, u16)>,
}
