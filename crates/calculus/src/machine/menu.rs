//! What a waiting process offers to do next: its menu, computed once for each local state.

use smallvec::SmallVec;

use crate::language::ast::SyncOp;
use crate::language::index::{Idx, ObjectId, Pc, VarId};
use crate::machine::code::{Code, Instruction, Select, SelectOp};
use crate::machine::flow::Uses;
use crate::machine::guards::Operations;
use crate::machine::local::{Local, Status};
use crate::machine::value::{Value, evaluate};

/// One thing a process is ready to do.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// What.
    pub kind: OfferKind,
    /// Which case of the select, or branch of the choice.
    pub case: u16,
    /// On which object, if any.
    pub object: Option<ObjectId>,
    /// The message of a put, the amount of an add.
    pub value: Value,
    /// Is the first state of the object (number 0) that of an open rendezvous channel?
    pub meets_at_first: bool,
}

impl Offer {
    fn new(kind: OfferKind, case: u16, object: Option<ObjectId>, value: Value) -> Offer {
        Offer { kind, case, object, value, meets_at_first: false }
    }
}

/// What a process is ready to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// Send.
    Put,
    /// Receive.
    Get,
    /// Take the timeout of a select.
    Timeout,
    /// Take the default of a select.
    Default,
    /// Take a branch of a choice.
    Branch,
    /// Close a channel.
    Close,
    /// Abandon a channel.
    Abandon,
    /// Lock, unlock, wait and the like.
    Sync(SyncOp),
    /// Announce a writer.
    Announce,
    /// Add to a wait group.
    Add,
}

/// An operation that comes only after others.
#[derive(Debug)]
pub struct Guarded {
    /// On which object.
    pub object: ObjectId,
    /// [`Uses::PUT`] or [`Uses::GET`].
    pub op: Uses,
    /// What comes before on every way.
    pub after: SmallVec<[(ObjectId, Uses); 2]>,
}

/// All that matters about one local state.
#[derive(Debug)]
pub struct Menu {
    /// What it is ready to do.
    pub offers: Vec<Offer>,
    /// Can the process go on at all?
    pub status: Status,
    /// What it may ever do, now included, with the objects it knows.
    pub uses: Vec<(ObjectId, Uses)>,
    /// For puts and gets among those: what it must have done before, on rendezvous channels.
    pub guards: Vec<Guarded>,
    /// May it get to know further objects by messages?
    pub receives_objects: bool,
    /// May it create processes or objects?
    pub creates: bool,
    /// What it has seen.
    pub history: u32,
}

impl Menu {
    /// The menu of a local state.
    pub fn new(code: &Code, local: &Local) -> Menu {
        let mut menu = Menu {
            offers: offers(code, local),
            status: local.status.clone(),
            uses: Vec::new(),
            guards: Vec::new(),
            receives_objects: false,
            creates: false,
            history: local.history,
        };
        menu.collect_uses(code, local);
        menu
    }

    fn collect_uses(&mut self, code: &Code, local: &Local) {
        let innermost = local.frames.len().saturating_sub(1);
        for (depth, frame) in local.frames.iter().enumerate() {
            let future = if depth == innermost {
                code.flow().before(frame.pc)
            } else {
                code.flow().after_call(frame.pc)
            };
            self.receives_objects |= future.receives_objects;
            self.creates |= future.creates;
            let start = if depth == innermost { frame.pc } else { Pc(frame.pc.0 + 1) };
            for (position, value) in frame.variables.iter().enumerate() {
                let var = VarId::new(position);
                let uses = future.uses(var);
                if let Some(object) = value.object().filter(|_| uses != Uses::NONE) {
                    match self.uses.iter_mut().find(|(known, _)| *known == object) {
                        Some((_, known)) => *known = known.with(uses),
                        None => self.uses.push((object, uses)),
                    }
                    for op in [Uses::PUT, Uses::GET] {
                        if uses.meets(op) {
                            let before = code.guards().before(start, var, op);
                            self.guard(object, op, before, &frame.variables);
                        }
                    }
                }
            }
        }
    }
}

impl Menu {
    /// The operation may also be reached on a way with only these operations before it.
    fn guard(&mut self, object: ObjectId, op: Uses, before: Operations, variables: &[Value]) {
        let after = before.iter().filter_map(|guard| {
            let value = variables.get(guard.var().position())?;
            Some((value.object()?, guard.op()))
        });
        match self.guards.iter_mut().find(|known| known.object == object && known.op == op) {
            Some(known) => {
                let after: SmallVec<[(ObjectId, Uses); 2]> = after.collect();
                known.after.retain(|guard| after.contains(guard));
            }
            None => self.guards.push(Guarded { object, op, after: after.collect() }),
        }
    }

    /// What must come before the operation.
    pub fn before(&self, object: ObjectId, op: Uses) -> &[(ObjectId, Uses)] {
        let known = self.guards.iter().find(|known| known.object == object && known.op == op);
        known.map_or(&[], |known| &known.after)
    }
}

fn offers(code: &Code, local: &Local) -> Vec<Offer> {
    let Some(pc) = local.pc() else { return vec![] };
    let variables = local.variables();
    let one = |kind, target, value| {
        let object = evaluate(target, variables).object();
        vec![Offer::new(kind, 0, object, value)]
    };
    match &code.instructions[pc] {
        Instruction::Select(select) => select_offers(select, variables),
        Instruction::Close(channel) => one(OfferKind::Close, channel, Value::Unit),
        Instruction::Abandon(channel) => one(OfferKind::Abandon, channel, Value::Unit),
        Instruction::Choose(targets) => {
            let branch = |case| Offer::new(OfferKind::Branch, case, None, Value::Unit);
            (0..targets.len() as u16).map(branch).collect()
        }
        Instruction::Sync(SyncOp::Done, target) => one(OfferKind::Add, target, Value::Int(-1)),
        Instruction::Sync(op, target) => one(OfferKind::Sync(*op), target, Value::Unit),
        Instruction::Announce(target) => one(OfferKind::Announce, target, Value::Unit),
        Instruction::Add(target, amount) => {
            one(OfferKind::Add, target, evaluate(amount, variables))
        }
        _ => vec![],
    }
}

/// The cases of a select that are not on `nil`, and its default.
fn select_offers(select: &Select, variables: &[Value]) -> Vec<Offer> {
    let mut offers = Vec::with_capacity(select.cases.len() + 1);
    for (case, taken) in select.cases.iter().enumerate() {
        let case = case as u16;
        let (kind, channel, value) = match &taken.op {
            SelectOp::Put(channel, value) => (OfferKind::Put, channel, evaluate(value, variables)),
            SelectOp::Get(channel, ..) => (OfferKind::Get, channel, Value::Unit),
            SelectOp::Timeout => {
                offers.push(Offer::new(OfferKind::Timeout, case, None, Value::Unit));
                continue;
            }
        };
        if let Some(object) = evaluate(channel, variables).object() {
            offers.push(Offer::new(kind, case, Some(object), value));
        }
    }
    if select.default.is_some() {
        let case = select.cases.len() as u16;
        offers.push(Offer::new(OfferKind::Default, case, None, Value::Unit));
    }
    offers
}
