//! Can the scripts of all processes be woven into one execution?
//!
//! Most operations leave no choice and are performed at once, in any order, because doing them early
//! never hurts (`forced` says when and why). Where several may go first, they are tried in turn; but
//! only those on a set of channels that nobody can reach without being at one of them now (a
//! persistent set, computed exactly because scripts have no unknown future). States where there was
//! a choice are remembered, so each is left once.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::explain::observation::Seen;
use crate::explain::scripts::{FIRST_SLOT, Kind, Operation, Scripts};
use crate::language::ast::Capacity;
use crate::language::index::{Idx, ObjectId};
use crate::machine::object::Phase;
use crate::machine::value::Value;

/// One step of an execution: who performed which of its operations, and for a rendezvous with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stitch {
    /// The process and its operation.
    pub actor: (u16, u16),
    /// The receiver and its operation.
    pub partner: Option<(u16, u16)>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Woven {
    /// These steps.
    Possible(Vec<Stitch>),
    /// None do.
    Impossible,
    /// It was given up after so many states with a choice.
    GivenUp,
}

/// What may be done to a channel, as positions in [`User::last`].
pub(crate) const PUT: usize = 0;
pub(crate) const GET: usize = 1;
pub(crate) const GET_CLOSED: usize = 2;
pub(crate) const CLOSE: usize = 3;
pub(crate) const ABANDON: usize = 4;
pub(crate) const WATCH: usize = 5;

/// A process that uses a channel: behind the last operation of each kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    pub(crate) process: u16,
    pub(crate) behind: [u16; 6],
}

type Users = SmallVec<[User; 4]>;
/// A set of processes.
pub(crate) type Processes = u128;

/// An execution so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// How many of its operations each process has performed.
    pub(crate) at: SmallVec<[u16; 24]>,
    /// The processes that exist.
    pub(crate) born: Processes,
    pub(crate) channels: SmallVec<[Channel; 16]>,
    /// The channel in each slot, by number.
    pub(crate) slots: SmallVec<[u32; 4]>,
}

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) phase: Phase,
    pub(crate) messages: SmallVec<[Value; 2]>,
}

/// A state with a choice.
struct Fork {
    state: State,
    choices: Vec<Stitch>,
    next: usize,
    length: usize,
}

/// Weaves the scripts, leaving at most so many states with a choice.
pub fn weave(scripts: &Scripts, finished: bool, visited: &mut usize, max: usize) -> Woven {
    let mut loom = Loom::new(scripts, finished);
    if !loom.is_balanced() {
        return Woven::Impossible;
    }
    loom.run(visited, max)
}

pub(crate) struct Loom<'a> {
    pub(crate) scripts: &'a Scripts,
    finished: bool,
    pub(crate) users: SmallVec<[Users; 16]>,
    /// Operations on slots: process, position, slot, kind.
    pub(crate) by_slot: SmallVec<[(u16, u16, u32, usize); 4]>,
    steps: Vec<Stitch>,
}

impl<'a> Loom<'a> {
    fn new(scripts: &'a Scripts, finished: bool) -> Self {
        let users = scripts.channels.iter().map(|_| Users::new()).collect();
        let by_slot = SmallVec::new();
        let steps = Vec::with_capacity(32);
        let mut loom = Loom { scripts, finished, users, by_slot, steps };
        for (process, script) in scripts.processes.iter().enumerate() {
            for (position, operation) in script.operations.iter().enumerate() {
                let mut note = |channel, kind| loom.note(process, position, channel, kind);
                match operation.kind {
                    Kind::Put(_) => note(operation.channel, PUT),
                    Kind::Get(..) => note(operation.channel, GET),
                    Kind::GetClosed => note(operation.channel, GET_CLOSED),
                    Kind::Close => note(operation.channel, CLOSE),
                    Kind::Abandon => note(operation.channel, ABANDON),
                    Kind::Default(from, to) => {
                        let watched = &scripts.watched[from as usize..to as usize];
                        watched.iter().for_each(|(channel, _)| note(*channel, WATCH));
                    }
                    Kind::Pass | Kind::Spawn(_) => {}
                }
            }
        }
        loom
    }

    fn note(&mut self, process: usize, position: usize, channel: ObjectId, kind: usize) {
        let (process, behind) = (process as u16, position as u16 + 1);
        if channel.0 >= FIRST_SLOT {
            self.by_slot.push((process, behind - 1, channel.0 - FIRST_SLOT, kind));
            return;
        }
        let users = &mut self.users[channel.position()];
        match users.last_mut().filter(|user| user.process == process) {
            Some(user) => user.behind[kind] = behind,
            None => {
                let mut user = User { process, behind: [0; 6] };
                user.behind[kind] = behind;
                users.push(user);
            }
        }
    }

    /// Were there as many messages as were received, of each content? And if all have finished,
    /// did all that must be received find a receiver?
    fn is_balanced(&self) -> bool {
        if !self.by_slot.is_empty() {
            return true;
        }
        let mut counts: SmallVec<[(u32, Seen, i32); 48]> = SmallVec::new();
        for operation in self.scripts.processes.iter().flat_map(|script| &script.operations) {
            match operation.kind {
                Kind::Put(value) => counts.push((operation.channel.0, Seen::from(value), 1)),
                Kind::Get(seen, _) => counts.push((operation.channel.0, seen, -1)),
                _ => {}
            }
        }
        counts.sort_unstable();
        let per_content = counts.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
        let sum = |group: &[(u32, Seen, i32)]| group.iter().map(|(.., count)| count).sum::<i32>();
        if per_content.into_iter().any(|group| sum(group) < 0) {
            return false;
        }
        !self.finished
            || counts.chunk_by(|one, other| one.0 == other.0).all(|group| {
                let channel = group[0].0 as usize;
                let is_abandoned = self.users[channel].iter().any(|user| user.behind[ABANDON] > 0);
                let room = match self.scripts.channels[channel] {
                    _ if is_abandoned => i32::MAX,
                    Capacity::Rendezvous => 0,
                    Capacity::Bounded(capacity) => i32::try_from(capacity).unwrap_or(i32::MAX),
                    Capacity::Unbounded => i32::MAX,
                };
                sum(group) <= room
            })
    }

    fn start(&self) -> State {
        let channel = |_: &_| Channel { phase: Phase::Open, messages: SmallVec::new() };
        let mut state = State {
            at: SmallVec::from_elem(0, self.scripts.processes.len()),
            born: 0,
            channels: self.scripts.channels.iter().map(channel).collect(),
            slots: SmallVec::from_elem(u32::MAX, self.scripts.slots as usize),
        };
        self.give_birth(&mut state, 0);
        state
    }

    fn run(&mut self, visited: &mut usize, max: usize) -> Woven {
        let mut known: HashSet<Vec<u64>, FxBuildHasher> = HashSet::default();
        let mut forks: Vec<Fork> = Vec::new();
        let mut state = self.start();
        loop {
            let choices = if self.force(&mut state) {
                if self.is_goal(&state) {
                    return Woven::Possible(std::mem::take(&mut self.steps));
                }
                self.choices(&state)
            } else {
                Vec::new()
            };
            let is_new = choices.len() > 1 && known.insert(key(&state));
            if choices.len() == 1 {
                self.perform(&mut state, choices[0]);
                continue;
            }
            if is_new {
                *visited += 1;
                if *visited > max {
                    return Woven::GivenUp;
                }
                let length = self.steps.len();
                forks.push(Fork { state, choices, next: 0, length });
            }
            loop {
                let Some(fork) = forks.last_mut() else { return Woven::Impossible };
                let Some(choice) = fork.choices.get(fork.next).copied() else {
                    forks.pop();
                    continue;
                };
                fork.next += 1;
                self.steps.truncate(fork.length);
                state = fork.state.clone();
                self.perform(&mut state, choice);
                break;
            }
        }
    }

    fn is_goal(&self, state: &State) -> bool {
        let scripts = self.scripts.processes.iter();
        scripts.zip(&state.at).all(|(script, at)| usize::from(*at) >= script.required)
            && (!self.finished || state.born.count_ones() as usize == state.at.len())
    }

    /// The next operation of a process that exists.
    pub(crate) fn current(&self, state: &State, process: usize) -> Option<Operation> {
        if !is_in(state.born, process) {
            return None;
        }
        self.scripts.processes[process].operations.get(usize::from(state.at[process])).copied()
    }

    /// The channel that an object number stands for; none as long as a slot is empty.
    pub(crate) fn resolve(&self, state: &State, channel: ObjectId) -> Option<usize> {
        if channel.0 < FIRST_SLOT {
            return Some(channel.position());
        }
        let found = state.slots[(channel.0 - FIRST_SLOT) as usize];
        (found != u32::MAX).then_some(found as usize)
    }

    /// Performs a step.
    pub(crate) fn perform(&mut self, state: &mut State, stitch: Stitch) {
        let (actor, position) = (usize::from(stitch.actor.0), usize::from(stitch.actor.1));
        let operation = self.scripts.processes[actor].operations[position];
        self.steps.push(stitch);
        let mut received = None;
        if let Some(channel) = self.resolve(state, operation.channel) {
            let is_rendezvous = self.scripts.channels.get(channel) == Some(&Capacity::Rendezvous);
            match operation.kind {
                Kind::Put(value) => {
                    let value = self.known(state, value);
                    let found = &mut state.channels[channel];
                    match stitch.partner {
                        Some(_) => received = Some(value),
                        None if found.phase == Phase::Open && !is_rendezvous => {
                            found.messages.push(value);
                        }
                        None => {}
                    }
                }
                Kind::Get(_, slot) => {
                    let messages = &mut state.channels[channel].messages;
                    let value = if messages.is_empty() { Value::Unit } else { messages.remove(0) };
                    fill(state, slot, value);
                }
                Kind::Close => {
                    let found = &mut state.channels[channel];
                    if found.phase == Phase::Open {
                        found.phase = Phase::Closed;
                    }
                }
                Kind::Abandon => {
                    let found = &mut state.channels[channel];
                    found.phase = Phase::Abandoned;
                    found.messages.clear();
                }
                _ => {}
            }
        }
        self.go_on(state, actor);
        if let Some((partner, position)) = stitch.partner {
            let script = &self.scripts.processes[usize::from(partner)];
            if let (Kind::Get(_, slot), Some(value)) =
                (script.operations[usize::from(position)].kind, received)
            {
                fill(state, slot, value);
            }
            self.go_on(state, partner.into());
        }
    }

    /// A value with slots replaced by what is in them.
    fn known(&self, state: &State, value: Value) -> Value {
        let known = value.object().and_then(|object| self.resolve(state, object));
        known.map_or(value, |channel| Value::Object(ObjectId::new(channel)))
    }

    /// Moves a process behind its operation, and starts those that it starts there.
    fn go_on(&self, state: &mut State, process: usize) {
        state.at[process] += 1;
        self.start_children(state, process);
    }

    fn give_birth(&self, state: &mut State, process: usize) {
        state.born |= one(process);
        self.start_children(state, process);
    }

    fn start_children(&self, state: &mut State, process: usize) {
        while let Some(Operation { kind: Kind::Spawn(child), .. }) = self.current(state, process) {
            state.at[process] += 1;
            self.give_birth(state, child as usize);
        }
    }
}

pub(crate) fn one(process: usize) -> Processes {
    1 << process
}

pub(crate) fn is_in(processes: Processes, process: usize) -> bool {
    processes & one(process) != 0
}

fn fill(state: &mut State, slot: Option<u32>, value: Value) {
    if let (Some(slot), Some(object)) = (slot, value.object()) {
        state.slots[slot as usize] = object.0;
    }
}

/// The state as numbers; equal just if the states are.
fn key(state: &State) -> Vec<u64> {
    let mut key = Vec::with_capacity(state.at.len() + 2 * state.channels.len());
    key.extend(state.at.iter().map(|at| u64::from(*at)));
    key.extend(state.slots.iter().map(|slot| u64::from(*slot)));
    for channel in &state.channels {
        key.push((channel.messages.len() as u64) << 2 | channel.phase as u64);
        for value in &channel.messages {
            key.extend(match value {
                Value::Unit => [0, 0],
                Value::Bool(value) => [1, u64::from(*value)],
                Value::Int(value) => [2, *value as u64],
                Value::Nil => [3, 0],
                Value::Object(object) => [4, u64::from(object.0)],
            });
        }
    }
    key
}
