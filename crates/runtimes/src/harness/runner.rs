//! A target behind one interface, whatever its types are: a session that is begun when it is first
//! needed, and anew after it got stuck.

use std::sync::Arc;

use super::actor_pool::RunOptions;
use super::payload::Parcel;
use super::plan::{Capacity, Instruction, Op, Plan};
use super::session::{Session, Summary};
use super::target::{Contract, Flavour, Promise, Target};
use super::watch::Watch;

/// A target that runs plans.
pub trait Runner: Send {
    /// What the target promises for a flavour, to that degree; `None` when it has none.
    fn contract(&self, promise: Promise, flavour: Flavour) -> Option<Contract>;
    /// Runs a plan, which has to be within the contract.
    fn run(&mut self, plan: &Plan, options: &RunOptions) -> Result<Summary, std::io::Error>;
    /// Signs of life.
    fn watch(&self) -> Arc<Watch>;
}

/// The sessions of a target, one after the other.
pub struct Sessions<T: Target> {
    target: T,
    watch: Arc<Watch>,
    session: Option<Session<T, Parcel>>,
}

impl<T: Target> Sessions<T> {
    /// No session yet.
    pub fn new(target: T) -> Self {
        Sessions { target, watch: Arc::default(), session: None }
    }
}

impl<T: Target> Runner for Sessions<T> {
    fn contract(&self, promise: Promise, flavour: Flavour) -> Option<Contract> {
        self.target.contract_to(promise, flavour)
    }

    fn run(&mut self, plan: &Plan, options: &RunOptions) -> Result<Summary, std::io::Error> {
        let Sessions { target, watch, session } = self;
        let session = match session {
            Some(session) if !session.is_stuck() => session,
            other => other.insert(Session::start(target.clone(), watch.clone())?),
        };
        Ok(session.run(target, plan, options))
    }

    fn watch(&self) -> Arc<Watch> {
        self.watch.clone()
    }
}

impl Contract {
    /// Does the plan ask for nothing beyond the contract? Otherwise, what it asks for. That a
    /// channel has one sender or receiver cannot be told from a plan; it is noticed when it runs.
    pub fn covers(&self, plan: &Plan) -> Result<(), &'static str> {
        plan.instructions.iter().try_for_each(|instruction| match instruction {
            Instruction::Open(open) => match open.capacity {
                Capacity::Rendezvous if !self.rendezvous => Err("rendezvous channels"),
                Capacity::Bounded(_) if !self.bounded => Err("bounded channels"),
                Capacity::Bounded(capacity)
                    if self
                        .max_capacity
                        .is_some_and(|most| u64::from(most) < u64::from(capacity)) =>
                {
                    Err("bounded channels of this capacity")
                }
                Capacity::Unbounded if !self.unbounded => Err("unbounded channels"),
                _ => Ok(()),
            },
            Instruction::Close(_) if !self.close => Err("closing"),
            Instruction::Abandon(_) if !self.abandon => Err("receivers that leave"),
            Instruction::Select(select) => self.covers_select(select),
            _ => Ok(()),
        })
    }

    fn covers_select(&self, select: &super::plan::Select) -> Result<(), &'static str> {
        let puts = select.cases.iter().filter(|case| matches!(case.op, Op::Put(..))).count();
        let gets = select.cases.iter().filter(|case| matches!(case.op, Op::Get(..))).count();
        let has_timeout = select.cases.iter().any(|case| case.op == Op::Timeout);
        let is_choice = puts + gets > 1;
        let lacks = |is_used: bool, is_there: bool| is_used && !is_there;
        if select.default.is_some() {
            // Trying one case after the other is no look at all of them at one moment.
            if is_choice || has_timeout {
                return Err("a default for several cases at once");
            }
            if lacks(puts > 0, self.try_puts) {
                return Err("sends that do not wait");
            }
            if lacks(gets > 0, self.try_gets) {
                return Err("receives that do not wait");
            }
        }
        if is_choice && (lacks(puts > 0, self.select_puts) || lacks(gets > 0, self.select_gets)) {
            return Err("this select");
        }
        if has_timeout && lacks(puts > 0, self.cancel_puts) {
            return Err("sends that are given up");
        }
        if has_timeout && lacks(gets > 0, self.cancel_gets) {
            return Err("receives that are given up");
        }
        self.covers_repetition(select)
    }

    fn covers_repetition(&self, select: &super::plan::Select) -> Result<(), &'static str> {
        for (position, case) in select.cases.iter().enumerate() {
            for other in &select.cases[..position] {
                match (&case.op, &other.op) {
                    (Op::Put(one, _), Op::Put(other, _))
                    | (Op::Get(one, ..), Op::Get(other, ..))
                        if one == other && !self.same_channel_twice =>
                    {
                        return Err("one channel in two cases of a select");
                    }
                    (Op::Put(one, _), Op::Get(other, ..))
                    | (Op::Get(one, ..), Op::Put(other, _))
                        if one == other && !self.put_and_get_in_select =>
                    {
                        return Err("a put and a get on one channel in a select");
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
