//! A toy concurrent system for the tests: threads over variables, mutexes, channels (rendezvous
//! and buffered, with select and close), internal choice, and a guarded meeting of two threads that
//! exists only to be hard for race detection. Programs are written by hand or drawn from a seed.

pub mod draw;

use strait_explore::{System, ThreadId, Touch};

/// One instruction of a thread. `acc` is the thread's only register.
#[derive(Clone, Debug)]
pub enum Op {
    /// acc := variable
    Load(usize),
    /// variable := acc + constant
    Add(usize, i8),
    /// variable := constant
    Store(usize, i8),
    Lock(usize),
    Unlock(usize),
    Close(usize),
    /// acc := any of 0..n
    Choose(u8),
    Yield,
    /// Goes on with the other instruction if acc is the value.
    JumpIf(i8, usize),
    /// One of the cases; with `true`, none of them if none is ready.
    Select(Vec<Case>, bool),
}

#[derive(Clone, Debug)]
pub enum Case {
    Put(usize, i8),
    Get(usize),
    /// Meets another thread at the same place as long as the variable is 0.
    Meet(usize),
}

#[derive(Clone, Debug, Default)]
pub struct Toy {
    pub threads: Vec<Vec<Op>>,
    pub variables: usize,
    pub mutexes: usize,
    /// Capacity of each channel.
    pub channels: Vec<usize>,
    pub forks: bool,
    /// Does the system say which actions disable nothing?
    pub hints: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Read(u8),
    Write(u8),
    Mutex(u8),
    Close(u8),
    /// A choice between this number and others.
    Choice(u8),
    Local,
    /// A put into or get from a buffer, or what a closed channel does, by case.
    Channel(u8, u8),
    /// Sender's case, receiver, receiver's case, channel.
    Rendezvous(u8, u8, u8, u8),
    /// Own case, partner, partner's case, variable.
    Meet(u8, u8, u8, u8),
    Default,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Act {
    pub thread: u8,
    pub kind: Kind,
}

impl Act {
    fn partner(&self) -> Option<u8> {
        match self.kind {
            Kind::Rendezvous(_, partner, _, _) | Kind::Meet(_, partner, _, _) => Some(partner),
            _ => None,
        }
    }

    fn moves(&self, thread: u8) -> bool {
        self.thread == thread || self.partner() == Some(thread)
    }

    /// The variable, mutex or channel that it is about.
    fn object(&self) -> Option<u32> {
        match self.kind {
            Kind::Read(variable) | Kind::Write(variable) | Kind::Meet(_, _, _, variable) => {
                Some(u32::from(variable))
            }
            Kind::Mutex(mutex) => Some(100 + u32::from(mutex)),
            Kind::Close(channel)
            | Kind::Channel(channel, _)
            | Kind::Rendezvous(_, _, _, channel) => Some(200 + u32::from(channel)),
            Kind::Choice(_) | Kind::Local | Kind::Default => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    pub pc: usize,
    pub acc: i8,
    pub panicked: bool,
    pub log: Vec<i8>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub locals: Vec<Local>,
    pub variables: Vec<i8>,
    pub holders: Vec<Option<u8>>,
    pub buffers: Vec<Vec<i8>>,
    pub closed: Vec<bool>,
}

impl Toy {
    pub fn new(threads: Vec<Vec<Op>>) -> Self {
        Toy { threads, variables: 4, mutexes: 2, channels: vec![0, 0, 1], forks: true, hints: true }
    }

    fn op(&self, state: &State, thread: usize) -> Option<&Op> {
        let local = &state.locals[thread];
        if local.panicked { None } else { self.threads[thread].get(local.pc) }
    }

    fn cases(&self, state: &State, thread: usize) -> &[Case] {
        match self.op(state, thread) {
            Some(Op::Select(cases, _)) => cases,
            _ => &[],
        }
    }

    fn case_actions(&self, state: &State, thread: usize, actions: &mut Vec<Act>) {
        let me = thread as u8;
        for (index, case) in self.cases(state, thread).iter().enumerate() {
            let own = index as u8;
            match *case {
                Case::Put(channel, _) if state.closed[channel] => {
                    actions.push(Act { thread: me, kind: Kind::Channel(channel as u8, own) });
                }
                Case::Put(channel, _) if self.channels[channel] > 0 => {
                    if state.buffers[channel].len() < self.channels[channel] {
                        actions.push(Act { thread: me, kind: Kind::Channel(channel as u8, own) });
                    }
                }
                Case::Get(channel) if state.closed[channel] || self.channels[channel] > 0 => {
                    if state.closed[channel] || !state.buffers[channel].is_empty() {
                        actions.push(Act { thread: me, kind: Kind::Channel(channel as u8, own) });
                    }
                }
                Case::Put(channel, _) => self.partners(state, thread, |partner, other, theirs| {
                    if matches!(other, Case::Get(theirs) if *theirs == channel) {
                        let kind = Kind::Rendezvous(own, partner, theirs, channel as u8);
                        actions.push(Act { thread: me, kind });
                    }
                }),
                Case::Get(_) => {}
                Case::Meet(variable) => self.partners(state, thread, |partner, other, theirs| {
                    let same = matches!(other, Case::Meet(theirs) if *theirs == variable);
                    if same && me < partner && state.variables[variable] == 0 {
                        let kind = Kind::Meet(own, partner, theirs, variable as u8);
                        actions.push(Act { thread: me, kind });
                    }
                }),
            }
        }
    }

    fn partners(&self, state: &State, thread: usize, mut each: impl FnMut(u8, &Case, u8)) {
        for partner in (0..self.threads.len()).filter(|&partner| partner != thread) {
            for (index, case) in self.cases(state, partner).iter().enumerate() {
                each(partner as u8, case, index as u8);
            }
        }
    }

    /// Is some case of the thread's select ready, as sender or receiver?
    fn ready(&self, state: &State, thread: usize) -> bool {
        let mut actions = Vec::new();
        for other in 0..self.threads.len() {
            self.case_actions(state, other, &mut actions);
        }
        actions.iter().any(|action| action.moves(thread as u8))
    }

    fn thread_actions(&self, state: &State, thread: usize, actions: &mut Vec<Act>) {
        let Some(op) = self.op(state, thread) else {
            return;
        };
        let mut act = |kind| actions.push(Act { thread: thread as u8, kind });
        match *op {
            Op::Load(variable) => act(Kind::Read(variable as u8)),
            Op::Add(variable, _) | Op::Store(variable, _) => act(Kind::Write(variable as u8)),
            Op::Lock(mutex) if state.holders[mutex].is_some() => {}
            Op::Lock(mutex) | Op::Unlock(mutex) => act(Kind::Mutex(mutex as u8)),
            Op::Close(channel) => act(Kind::Close(channel as u8)),
            Op::Choose(count) => (0..count).for_each(|choice| act(Kind::Choice(choice))),
            Op::Yield | Op::JumpIf(..) => act(Kind::Local),
            Op::Select(_, default) => {
                self.case_actions(state, thread, actions);
                if default && !self.ready(state, thread) {
                    actions.push(Act { thread: thread as u8, kind: Kind::Default });
                }
            }
        }
    }

    fn take_case(&self, state: &mut State, thread: usize, case: usize) -> Option<Case> {
        let case = self.cases(state, thread).get(case).cloned();
        state.locals[thread].pc += 1;
        case
    }

    fn perform(&self, state: &mut State, action: &Act) {
        let thread = usize::from(action.thread);
        match action.kind {
            Kind::Channel(channel, case) => {
                let channel = usize::from(channel);
                match self.take_case(state, thread, usize::from(case)) {
                    Some(Case::Put(..)) if state.closed[channel] => {
                        state.locals[thread].panicked = true;
                    }
                    Some(Case::Put(_, value)) => state.buffers[channel].push(value),
                    _ if state.buffers[channel].is_empty() => state.locals[thread].log.push(-1),
                    _ => {
                        let value = state.buffers[channel].remove(0);
                        state.locals[thread].log.push(value);
                    }
                }
            }
            Kind::Rendezvous(case, partner, theirs, _) => {
                let partner = usize::from(partner);
                let value = match self.take_case(state, thread, usize::from(case)) {
                    Some(Case::Put(_, value)) => value,
                    _ => panic!("a rendezvous has a sender"),
                };
                self.take_case(state, partner, usize::from(theirs));
                state.locals[thread].log.push(case as i8);
                state.locals[partner].log.push(value);
            }
            Kind::Meet(case, partner, theirs, _) => {
                self.take_case(state, thread, usize::from(case));
                self.take_case(state, usize::from(partner), usize::from(theirs));
                state.locals[thread].log.push(50 + partner as i8);
                state.locals[usize::from(partner)].log.push(50 + thread as i8);
            }
            Kind::Default => {
                state.locals[thread].pc += 1;
                state.locals[thread].log.push(99);
            }
            Kind::Choice(choice) => {
                state.locals[thread].pc += 1;
                state.locals[thread].acc = choice as i8;
                state.locals[thread].log.push(choice as i8);
            }
            _ => self.perform_op(state, action),
        }
    }

    fn perform_op(&self, state: &mut State, action: &Act) {
        let thread = usize::from(action.thread);
        let op = self.op(state, thread).cloned().expect("an enabled thread has an instruction");
        let local = &mut state.locals[thread];
        local.pc += 1;
        match op {
            Op::Load(variable) => {
                local.acc = state.variables[variable];
                local.log.push(local.acc);
            }
            Op::Add(variable, constant) => {
                state.variables[variable] = local.acc.wrapping_add(constant);
            }
            Op::Store(variable, constant) => state.variables[variable] = constant,
            Op::Lock(mutex) => state.holders[mutex] = Some(action.thread),
            Op::Unlock(mutex) => state.holders[mutex] = None,
            Op::Close(channel) => {
                local.panicked = state.closed[channel];
                state.closed[channel] = true;
            }
            Op::JumpIf(value, target) if local.acc == value => local.pc = target,
            Op::Yield | Op::JumpIf(..) => {}
            Op::Choose(_) | Op::Select(..) => unreachable!("performed by case"),
        }
    }

    fn depend(&self, a: &Act, b: &Act) -> bool {
        let common = a.moves(b.thread) || b.partner().is_some_and(|partner| a.moves(partner));
        common || self.touch(a, b) || self.touch(b, a)
    }

    fn touch(&self, a: &Act, b: &Act) -> bool {
        match (a.kind, b.kind) {
            // What makes a default possible or impossible is not visible in an action.
            (Kind::Default, _) => true,
            (Kind::Write(x), Kind::Write(y) | Kind::Read(y) | Kind::Meet(_, _, _, y)) => x == y,
            (Kind::Mutex(x), Kind::Mutex(y)) => x == y,
            (
                Kind::Close(x),
                Kind::Close(y) | Kind::Channel(y, _) | Kind::Rendezvous(_, _, _, y),
            ) => x == y,
            // On a rendezvous channel these are what a closed one does: they commute.
            (Kind::Channel(x, _), Kind::Channel(y, _)) => {
                x == y && self.channels[usize::from(x)] > 0
            }
            _ => false,
        }
    }
}

impl System for Toy {
    type Run = State;
    type Action = Act;
    type Outcome = State;

    fn start(&self) -> State {
        let local = Local { pc: 0, acc: 0, panicked: false, log: Vec::new() };
        State {
            locals: vec![local; self.threads.len()],
            variables: vec![0; self.variables],
            holders: vec![None; self.mutexes],
            buffers: vec![Vec::new(); self.channels.len()],
            closed: vec![false; self.channels.len()],
        }
    }

    fn enabled(&self, run: &mut State, actions: &mut Vec<Act>) {
        actions.clear();
        for thread in 0..self.threads.len() {
            self.thread_actions(run, thread, actions);
        }
    }

    fn step(&self, run: &mut State, action: &Act) {
        if cfg!(debug_assertions) {
            let mut enabled = Vec::new();
            self.enabled(run, &mut enabled);
            assert!(enabled.contains(action), "{action:?} is not among {enabled:?}");
        }
        self.perform(run, action);
    }

    fn dependent(&self, a: &Act, b: &Act) -> bool {
        self.depend(a, b)
    }

    fn thread(&self, action: &Act) -> ThreadId {
        ThreadId(u32::from(action.thread))
    }

    fn involves(&self, action: &Act, thread: ThreadId) -> bool {
        u8::try_from(thread.0).is_ok_and(|thread| action.moves(thread))
    }

    fn is_yield(&self, action: &Act) -> bool {
        action.kind == Kind::Local
    }

    fn objects(&self, action: &Act, objects: &mut Vec<u32>) {
        objects.extend(action.object());
    }

    fn observed_step(&self, run: &mut State, action: &Act, touches: &mut Vec<Touch>) {
        for thread in (0..self.threads.len()).filter(|&thread| action.moves(thread as u8)) {
            touches.extend(action.object().map(|object| Touch {
                thread: ThreadId(thread as u32),
                site: run.locals[thread].pc as u64,
                object,
                writes: !matches!(action.kind, Kind::Read(_)),
                overtaken: 0,
            }));
        }
        self.step(run, action);
    }

    fn may_disable(&self, action: &Act) -> bool {
        // Arriving at a channel disables a default; raising a flag disables a meeting.
        let harmless = match action.kind {
            Kind::Read(_) | Kind::Local => !self.has(|op| matches!(op, Op::Select(_, true))),
            Kind::Write(_) => !self.has(|op| matches!(op, Op::Select(..))),
            _ => false,
        };
        !(self.hints && harmless)
    }

    fn outcomes(&self, run: &mut State, outcomes: &mut Vec<State>) {
        outcomes.push(run.clone());
    }

    fn fork(&self, run: &State) -> Option<State> {
        self.forks.then(|| run.clone())
    }
}

impl Toy {
    fn has(&self, wanted: impl Fn(&Op) -> bool) -> bool {
        self.threads.iter().flatten().any(wanted)
    }
}
