//! Which ends of which channels a process may still use, at each instruction: so that it can let go
//! of an end as soon as a Rust program would, while others are still at work on the channel.
//!
//! Letting go early must not show. When nobody will send any more, nobody receives any more either,
//! or the program would not end; but a select would find such a channel ready. So an end is kept
//! where the other side stands in a select, where the program itself closes or abandons the
//! channel, and in programs that pass channels around.

use super::cell::Side;
use super::plan::{At, Expr, Instruction, Kind, Op, Plan, Slot};

/// The sides of a channel, in the order of their numbers.
pub const SIDES: [Side; 2] = [Side::Sending, Side::Receiving];

/// A set of variables for each side.
type Slots = [u64; 2];

/// What may be used from each instruction on, by the process or by one that it will start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    from: Vec<Slots>,
    /// Ends that have to stay.
    kept: Slots,
}

impl Uses {
    /// Reads a plan. `None` if channels get from variable to variable, or there are too many.
    pub fn of(plan: &Plan) -> Option<Uses> {
        let mut kept = [0, 0];
        for instruction in &plan.instructions {
            match instruction {
                Instruction::Set(_, Expr::Var(_)) | Instruction::Call(..) => return None,
                Instruction::Open(open) => drop(bit(open.slot)?),
                Instruction::Select(select) => {
                    for case in &select.cases {
                        let (channel, other) = match &case.op {
                            Op::Put(channel, _) => (channel, Side::Receiving),
                            Op::Get(_, Kind::Chan, ..) => return None,
                            Op::Get(channel, ..) => (channel, Side::Sending),
                            Op::Timeout => continue,
                        };
                        let bits = bits(channel)?;
                        if !select.is_single {
                            kept[other as usize] |= bits;
                        }
                    }
                }
                _ => {}
            }
        }
        let mut uses = Uses { from: vec![[0, 0]; plan.instructions.len()], kept };
        // Where nothing leads back, once through from the end is enough.
        while uses.sweep(plan)? {}
        Some(uses)
    }

    fn sweep(&mut self, plan: &Plan) -> Option<bool> {
        let mut has_changed = false;
        for at in (0..plan.instructions.len()).rev() {
            let found = self.before(plan, at)?;
            has_changed |= found != self.from[at];
            self.from[at] = found;
        }
        Some(has_changed)
    }

    fn before(&self, plan: &Plan, at: usize) -> Option<Slots> {
        let next = self.from.get(at + 1).copied().unwrap_or_default();
        let from = |at: At| self.from.get(at.0 as usize).copied().unwrap_or_default();
        Some(match &plan.instructions[at] {
            Instruction::Return(_) => [0, 0],
            Instruction::Jump(target) => from(*target),
            Instruction::Unless(_, target) | Instruction::Spawn(target) => {
                joined(next, from(*target))
            }
            Instruction::Choose(targets) => {
                targets.iter().fold([0, 0], |all, target| joined(all, from(*target)))
            }
            Instruction::Open(open) => next.map(|slots| slots & !bit(open.slot).unwrap_or(0)),
            Instruction::Close(channel) => joined(next, [bits(channel)?, 0]),
            Instruction::Abandon(channel) => joined(next, [0, bits(channel)?]),
            Instruction::Select(select) => {
                let mut all = select.default.map_or([0, 0], from);
                for case in &select.cases {
                    all = joined(all, from(case.target));
                    match &case.op {
                        Op::Put(channel, _) => all[Side::Sending as usize] |= bits(channel)?,
                        Op::Get(channel, ..) => all[Side::Receiving as usize] |= bits(channel)?,
                        Op::Timeout => {}
                    }
                }
                all
            }
            Instruction::Set(..) | Instruction::See(_) | Instruction::Call(..) => next,
        })
    }

    /// May a process at this instruction still use that side of the channel in the variable?
    pub fn may_use(&self, at: At, side: Side, slot: Slot) -> bool {
        let slots = self.from.get(at.0 as usize).map_or(0, |slots| slots[side as usize]);
        slots & bit(slot).unwrap_or(0) != 0
    }

    /// Can that side be let go of when nobody will use it any more?
    pub fn may_be_let_go(&self, side: Side, slot: Slot) -> bool {
        self.kept[side as usize] & bit(slot).unwrap_or(u64::MAX) == 0
    }
}

fn joined(one: Slots, other: Slots) -> Slots {
    [one[0] | other[0], one[1] | other[1]]
}

fn bit(slot: Slot) -> Option<u64> {
    (slot.0 < 64).then(|| 1 << slot.0)
}

/// The variable that holds the channel; no variable if it is nil.
fn bits(channel: &Expr) -> Option<u64> {
    match channel {
        Expr::Var(slot) => bit(*slot),
        Expr::Constant(_) => Some(0),
        _ => None,
    }
}
