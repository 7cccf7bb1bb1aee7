//! A schedule that was found: kept in few words, and made into steps of a machine for who wants to
//! see them. Most are never looked at.

use std::sync::Arc;

use strait_explore::System;

use crate::explain::scripts::Scripts;
use crate::explain::weave::Stitch;
use crate::language::index::ProcId;
use crate::machine::action::Action;
use crate::machine::code::Code;
use crate::machine::program::{Machine, Recording};

/// A schedule of a program.
#[derive(Clone, Debug)]
pub struct Schedule(Form);

#[derive(Clone, Debug)]
enum Form {
    Traced(Vec<Action>, Machine),
    Woven(Arc<Code>, Box<Scripts>, Vec<Stitch>),
}

impl Schedule {
    pub(crate) fn traced(trace: Vec<Action>, machine: &Machine) -> Schedule {
        Schedule(Form::Traced(trace, machine.clone()))
    }

    pub(crate) fn woven(code: Arc<Code>, scripts: Scripts, stitches: Vec<Stitch>) -> Schedule {
        Schedule(Form::Woven(code, Box::new(scripts), stitches))
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Traced(trace, _) => trace.len(),
            Form::Woven(_, _, stitches) => stitches.len(),
        }
    }

    /// Has it no step?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its steps, and the machine they belong to. `None` if the machine refuses one of them, which
    /// would be a fault of Strait.
    pub fn steps(&self) -> Option<(Machine, Vec<Action>)> {
        let (code, scripts, stitches) = match &self.0 {
            Form::Traced(trace, machine) => return Some((machine.clone(), trace.clone())),
            Form::Woven(code, scripts, stitches) => (code, scripts, stitches),
        };
        let machine = Machine::from_code(Arc::clone(code), Recording::Everything, false);
        let mut state = machine.start();
        let (mut enabled, mut trace) = (Vec::new(), Vec::new());
        for stitch in stitches {
            machine.enabled(&mut state, &mut enabled);
            let action = *enabled.iter().find(|action| is(&machine, scripts, stitch, action))?;
            machine.step(&mut state, &action);
            trace.push(action);
        }
        Some((machine, trace))
    }
}

/// Is this step of the machine the one that was woven?
fn is(machine: &Machine, scripts: &Scripts, stitch: &Stitch, action: &Action) -> bool {
    let agrees = |(process, operation): (u16, u16), found: ProcId, case: u16| {
        let script = &scripts.processes[usize::from(process)];
        script.operations[usize::from(operation)].case == case
            && machine.tables().path_numbers(found) == script.path[..]
    };
    let agree_on_partner = match (stitch.partner, action.partner) {
        (None, None) => true,
        (Some(partner), Some((process, case))) => agrees(partner, process, case),
        _ => false,
    };
    agree_on_partner && agrees(stitch.actor, action.actor, action.case)
}
