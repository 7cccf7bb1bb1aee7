//! A process at work: the interpreter, the instance it belongs to and the ends it holds. What
//! threads and tasks have in common; how they wait is in [`super::by_thread`] and
//! [`super::by_task`].

use std::sync::Arc;
use std::time::Duration;

use super::actor_pool::Style;
use super::by_task::Manner;
use super::cell::{Cell, Ends, Side};
use super::instance::{Account, Instance};
use super::payload::Word;
use super::plan::{At, Expr, Instruction, Op, Open, Plan, Select, Slot, Value};
use super::process::{Host, Pause, Process};
use super::random::{Disturbance, Random, linger};
use super::record::Event;
use super::target::{Answer, Target};
use super::uses::{SIDES, Uses};

/// A process at work.
pub struct Actor<T: Target, W: Word> {
    process: Process,
    scene: Scene<T, W>,
    plan: Arc<Plan>,
    /// Where it stopped when it ran ahead of its queue.
    pause: Option<Pause>,
    pace: Pace,
}

/// How a process goes from one operation to the next, where processes are lined up or jittered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Disturbed and lined up before each operation.
    Measured,
    /// The same before its first operation, and then as fast as possible.
    Rushing,
    /// As fast as possible from now on.
    Rushed,
}

/// What surrounds a process.
struct Scene<T: Target, W: Word> {
    instance: Arc<Instance<T, W>>,
    account: Arc<Account>,
    ends: Vec<Option<Ends<T, W>>>,
    /// What processes use, if ends are to be let go of early.
    uses: Option<Arc<Uses>>,
    /// The ends that this process may still ask for, and the variables that hold their channels.
    held: Vec<(Slot, u32, Side)>,
}

/// An end, borrowed for one operation.
pub enum Hold<T: Target, W: Word> {
    /// To send this.
    Put(Arc<T::Sender<W>>, W),
    /// To receive.
    Get(Arc<T::Receiver<W>>),
}

/// What a process asks for: cases that may come true, by their number.
pub struct Request<T: Target, W: Word> {
    /// The cases.
    pub holds: Vec<(usize, Hold<T, W>)>,
    /// Is it done with when nothing is ready?
    pub has_default: bool,
    /// May it be given up?
    pub has_timeout: bool,
}

/// How a request ended.
pub enum Outcome<W> {
    /// A case came true.
    Done(usize, Answer<W>),
    /// Nothing was ready.
    Default,
    /// It was given up.
    Timeout,
}

impl<T: Target, W: Word> Host for Scene<T, W> {
    fn open(&mut self, open: &Open) -> u32 {
        let channel = self.instance.open(open);
        if self.uses.is_some() {
            // What the variable held before is out of reach.
            self.let_go(|slot, _| slot == open.slot);
            SIDES.into_iter().for_each(|side| self.hold(open.slot, channel, side));
        }
        channel
    }

    fn spawn(&mut self, child: Process) {
        let actor = Actor::new(child, self.instance.clone());
        self.instance.job.clone().dispatch(actor);
    }

    fn saw(&mut self, event: Event) {
        self.account.saw(event);
    }
}

impl<T: Target, W: Word> Scene<T, W> {
    fn ends(&mut self, channel: u32) -> Option<&mut Ends<T, W>> {
        let index = channel as usize;
        if self.ends.len() <= index {
            self.ends.resize_with(index + 1, || None);
        }
        if self.ends[index].is_none() {
            self.ends[index] = Some(Ends::new(self.instance.cell(channel)?));
        }
        self.ends[index].as_mut()
    }

    /// Makes sure that all stays that a process may use which is about to begin.
    fn hold_all(&mut self, process: &Process) {
        let (Some(uses), Some(at)) = (self.uses.clone(), process.at()) else { return };
        for (number, value) in process.variables().iter().enumerate() {
            let slot = Slot(number as u16);
            if let Value::Chan(channel) = *value {
                let used = SIDES.into_iter().filter(|side| uses.may_use(at, *side, slot));
                used.for_each(|side| self.hold(slot, channel, side));
            }
        }
    }

    /// Makes sure that this side of the channel stays until this process lets go of it.
    fn hold(&mut self, slot: Slot, channel: u32, side: Side) {
        let Some(uses) = &self.uses else { return };
        let contract = &self.instance.job.contract;
        let is_promised = match side {
            Side::Sending => contract.close,
            Side::Receiving => contract.abandon,
        };
        let may_be = is_promised && uses.may_be_let_go(side, slot);
        if let Some(cell) = self.cell(channel).filter(|cell| may_be && cell.may_be_let_go(side)) {
            cell.reserve(side);
            self.held.push((slot, channel, side));
        }
    }

    /// Lets go of ends.
    fn let_go(&mut self, which: impl Fn(Slot, Side) -> bool) {
        let mut position = 0;
        while let Some((slot, channel, side)) = self.held.get(position).copied() {
            if !which(slot, side) {
                position += 1;
                continue;
            }
            self.held.swap_remove(position);
            if let Some(ends) = self.ends(channel) {
                ends.drop_side(side);
                ends.cell.release(side);
            }
        }
    }

    /// Lets go of what a process that stands there has no use for.
    fn let_go_of_unused(&mut self, at: At) {
        if self.held.is_empty() {
            return;
        }
        if let Some(uses) = self.uses.clone() {
            self.let_go(|slot, side| !uses.may_use(at, side, slot));
        }
    }

    fn cell(&mut self, channel: u32) -> Option<Arc<Cell<T, W>>> {
        Some(self.ends(channel)?.cell.clone())
    }

    fn sender(&mut self, channel: u32) -> Result<Arc<T::Sender<W>>, &'static str> {
        let keeps = self.instance.keeps_ends;
        let is_single = !self.instance.job.contract.many_senders;
        let number = self.account.number;
        let ends = self.ends(channel).ok_or("a channel does not exist")?;
        if is_single && !ends.cell.claim(Side::Sending, number) {
            return Err("two processes send on a channel that is made for one");
        }
        ends.sender(keeps).ok_or("a message is put on a closed channel")
    }

    fn receiver(&mut self, channel: u32) -> Result<Arc<T::Receiver<W>>, &'static str> {
        let keeps = self.instance.keeps_ends;
        let is_single = !self.instance.job.contract.many_receivers;
        let number = self.account.number;
        let ends = self.ends(channel).ok_or("a channel does not exist")?;
        if is_single && !ends.cell.claim(Side::Receiving, number) {
            return Err("two processes receive on a channel that is made for one");
        }
        ends.receiver(keeps).ok_or("a get on an abandoned channel")
    }

    /// A send may only fail when the receivers have left.
    fn check_gone(&mut self, channel: Option<u32>) {
        let cell = channel.and_then(|channel| self.cell(channel));
        if cell.is_some_and(|cell| !cell.is_abandoned()) {
            self.instance.job.refused(self.instance.number);
        }
    }
}

impl<T: Target, W: Word> Actor<T, W> {
    /// A process that has not begun.
    pub fn new(process: Process, instance: Arc<Instance<T, W>>) -> Self {
        let account = instance.enter(process.path.clone());
        let plan = instance.job.plan.clone();
        let uses = if instance.lets_go_early { instance.job.uses.clone() } else { None };
        let mut scene = Scene { instance, account, ends: Vec::new(), uses, held: Vec::new() };
        scene.hold_all(&process);
        // Not from the stream of the process, which decides what it does.
        let job = &scene.instance.job;
        let mut random = Random::new(!job.options.seed, scene.instance.number, &process.path);
        let rushes = job.options.style.is_batched() && random.below(4) == 0;
        let pace = if rushes { Pace::Rushing } else { Pace::Measured };
        Actor { process, scene, plan, pause: None, pace }
    }

    /// The run it belongs to.
    pub fn instance(&self) -> &Arc<Instance<T, W>> {
        &self.scene.instance
    }

    /// Is it one of many that are walked through?
    pub fn is_batched(&self) -> bool {
        self.scene.instance.job.options.style.is_batched()
    }

    /// Its place in the tree of processes.
    pub fn path(&self) -> &[u32] {
        &self.process.path
    }

    /// Runs to the first operation or choice, ahead of its queue. Up to there all instances spawn
    /// the same processes; beyond it a later instance could enter a queue before an earlier one.
    pub fn run_ahead(&mut self) {
        self.pause = Some(self.process.run_ahead(&self.plan, &mut self.scene));
        if let Some(at) = self.process.at() {
            self.scene.account.stands_at(at);
        }
    }

    /// Runs to the next operation.
    pub fn run(&mut self) -> Pause {
        let pause = match self.pause.take() {
            // What it has no use for is let go of while the others are at work.
            Some(pause) => pause,
            None => self.process.run(&self.plan, &mut self.scene),
        };
        if let Some(at) = self.process.at() {
            self.scene.account.stands_at(at);
            self.scene.let_go_of_unused(at);
        }
        pause
    }

    /// Does what takes no waiting; gives the select that does. `None` at the end.
    pub fn next_wait(&mut self) -> Option<At> {
        loop {
            match self.run() {
                Pause::Select(at) => return Some(at),
                Pause::Close(channel) => self.leave(channel, Side::Sending),
                Pause::Abandon(channel) => self.leave(channel, Side::Receiving),
                Pause::Choice => {}
                Pause::Done => return None,
                Pause::Astray(why) => {
                    self.scene.instance.job.go_astray(why);
                    return None;
                }
            }
        }
    }

    fn leave(&mut self, channel: Option<u32>, side: Side) {
        let by_operation = self.scene.instance.closes_by_operation;
        let cell = channel.and_then(|channel| self.scene.cell(channel));
        self.line_up(false);
        let left = cell.is_some_and(|cell| match side {
            Side::Sending => cell.close(by_operation),
            Side::Receiving => cell.abandon(),
        });
        if !left {
            self.scene.instance.job.go_astray("a channel is closed or abandoned twice, or is nil");
        }
        self.process.advance();
    }

    /// What happens before the next operation.
    pub fn disturbance(&mut self) -> Disturbance {
        if self.pace == Pace::Rushed {
            return Disturbance::Nothing;
        }
        let options = self.scene.instance.job.options;
        let is_jittered = options.style == Style::Batched;
        options.perturbation.next(&mut self.process.random, is_jittered)
    }

    /// In barrier style, mostly waits for another process and goes on a few nanoseconds before or after it.
    /// Nothing but the operation itself should follow: whatever else takes time moves the two apart. Now and
    /// then there is no waiting, so that two operations of a process meet one of another. `is_quitting`: it
    /// is about to give an operation up.
    pub fn line_up(&mut self, is_quitting: bool) {
        match self.pace {
            Pace::Rushed if !is_quitting => return,
            Pace::Rushed => {}
            Pace::Rushing => self.pace = Pace::Rushed,
            Pace::Measured => {}
        }
        let is_lined_up = self.scene.instance.job.options.style == Style::Barrier;
        if is_lined_up && self.process.random.below(4) > 0 {
            self.scene.instance.line_up(is_quitting);
            linger(self.process.random.offset());
        }
    }

    /// A number to begin with when there are `count` to try in turn.
    pub fn rotation(&mut self, count: usize) -> usize {
        self.process.random.below(count as u32) as usize
    }

    /// How long a thread waits before it gives up: mostly not longer than another one takes for its
    /// next operation, sometimes long enough to fall asleep.
    pub fn endurance(&mut self) -> Duration {
        let mut shared = self.scene.instance.quitting();
        let random = shared.as_mut().unwrap_or(&mut self.process.random);
        let most = if random.below(4) == 0 { 60 } else { 6 };
        Duration::from_micros(u64::from(random.below(most)))
    }

    /// How a task gives up.
    pub fn manner(&mut self) -> Manner {
        let mut shared = self.scene.instance.quitting();
        let random = shared.as_mut().unwrap_or(&mut self.process.random);
        match random.below(8) {
            0..3 => Manner::Polled(random.below(6)),
            3..6 => Manner::Woken(1 + random.below(40)),
            _ => Manner::Unpolled(random.below(12)),
        }
    }

    /// The ends that a select needs.
    pub fn request(&mut self, at: At) -> Result<Request<T, W>, &'static str> {
        let select = select_at(&self.plan.instructions, at)?;
        let channel_of = |channel| channel_of(&self.process, channel);
        let has_default = select.default.is_some();
        let mut request = Request {
            holds: Vec::with_capacity(select.cases.len()),
            has_default,
            has_timeout: false,
        };
        for (number, case) in select.cases.iter().enumerate() {
            match &case.op {
                Op::Timeout => request.has_timeout = true,
                Op::Put(channel, value) => {
                    let Some(channel) = channel_of(channel) else { continue };
                    let word = value.evaluate(self.process.variables()).to_word();
                    let ledger = self.scene.instance.ledger;
                    let sender = self.scene.sender(channel)?;
                    request.holds.push((number, Hold::Put(sender, W::wrap(word, ledger))));
                }
                Op::Get(channel, ..) => {
                    let Some(channel) = channel_of(channel) else { continue };
                    let receiver = self.scene.receiver(channel)?;
                    request.holds.push((number, Hold::Get(receiver)));
                }
            }
        }
        if request.holds.is_empty() && !has_default && !request.has_timeout {
            return Err("a process waits on nil forever");
        }
        Ok(request)
    }

    /// Goes on after the select has ended.
    pub fn answer(&mut self, at: At, outcome: Outcome<W>) {
        let select = match select_at(&self.plan.instructions, at) {
            Ok(select) => select,
            Err(why) => return self.scene.instance.job.go_astray(why),
        };
        match outcome {
            Outcome::Default => self.process.defaulted(select, &mut self.scene),
            Outcome::Timeout => self.process.timed_out(select, &mut self.scene),
            Outcome::Done(case, answer) => match answer {
                Answer::Sent => self.process.sent(select, case, &mut self.scene),
                Answer::Gone => {
                    if let Op::Put(channel, _) = &select.cases[case].op {
                        self.scene.check_gone(channel_of(&self.process, channel));
                    }
                    self.process.sent(select, case, &mut self.scene);
                }
                Answer::Got(word) => {
                    let word = Some(word.unwrap());
                    self.process.received(select, case, word, &mut self.scene);
                }
                Answer::Closed => {
                    self.process.received(select, case, None, &mut self.scene);
                }
                Answer::Unsupported => {
                    self.scene.instance.job.go_astray("the target cannot do this operation");
                }
            },
        }
    }

    /// The end: ends are let go before anyone is told.
    pub fn finish(mut self) {
        self.scene.let_go(|_, _| true);
        self.scene.ends.clear();
        self.scene.account.finish();
        let instance = self.scene.instance;
        instance.job.watch.finish_process();
        instance.batch.leave();
    }
}

fn channel_of(process: &Process, channel: &Expr) -> Option<u32> {
    match channel.evaluate(process.variables()) {
        Value::Chan(number) => Some(number),
        _ => None,
    }
}

fn select_at(instructions: &[Instruction], at: At) -> Result<&Select, &'static str> {
    match instructions.get(at.0 as usize) {
        Some(Instruction::Select(select)) => Ok(select),
        _ => Err("there is no select where a process waits"),
    }
}
