//! Programs as a [`System`] for the search.

use strait_explore::{Changes, Stateful, System, ThreadId, Touch};

use crate::language::index::{Idx, ProcId};
use crate::machine::action::{Action, ActionKind};
use crate::machine::compact::is_compact;
use crate::machine::local::Status;
use crate::machine::menu::OfferKind;
use crate::machine::moves::{Stimulus, Treatment};
use crate::machine::object::Object;
use crate::machine::outcome::Outcome;
use crate::machine::program::{Machine, State};
use crate::machine::value::Value;

impl System for Machine {
    type Run = State;
    type Action = Action;
    type Outcome = Outcome;

    fn start(&self) -> State {
        let first = self.first_move();
        let mut state = State::default();
        state.set_proc(ProcId(0), first.local);
        for (process, number) in first.procs {
            state.set_proc(process, number);
        }
        for (object, number) in first.objects {
            state.set_object(object, number);
        }
        state
    }

    fn enabled(&self, state: &mut State, actions: &mut Vec<Action>) {
        let births = self.collect_enabled(state, actions);
        if !births && !self.shared.recording.refutes() {
            return;
        }
        actions.retain_mut(|action| {
            let (born, refuted) = self.foresee(state, action);
            action.born = born;
            !refuted
        });
    }

    fn step(&self, state: &mut State, action: &Action) {
        state.compact = false;
        let message = self.message(state, action);
        if let Some(object) = action.object.filter(|_| action.kind != ActionKind::Meet) {
            let treatment = Treatment { kind: action.kind, value: message };
            state.set_object(object, self.treated(object, state.object(object), treatment));
        }
        self.stimulate(state, action.actor, action.stimulus(message));
        if let Some((partner, case)) = action.partner {
            self.stimulate(state, partner, Stimulus::Receive(case, message));
        }
    }

    fn dependent(&self, a: &Action, b: &Action) -> bool {
        a.depends_on(b)
            || self.bears(a, b)
            || self.bears(b, a)
            || self.watches(a, b)
            || self.watches(b, a)
    }

    fn thread(&self, action: &Action) -> ThreadId {
        ThreadId(action.actor.0)
    }

    fn involves(&self, action: &Action, thread: ThreadId) -> bool {
        action.involves(ProcId(thread.0))
    }

    fn objects(&self, action: &Action, objects: &mut Vec<u32>) {
        objects.extend(action.object.map(|object| object.0));
    }

    fn observed_step(&self, state: &mut State, action: &Action, touches: &mut Vec<Touch>) {
        if let Some(object) = action.object {
            let partner = action.partner.into_iter();
            let sides = std::iter::once((action.actor, action.case)).chain(partner);
            touches.extend(sides.map(|(process, case)| Touch {
                thread: ThreadId(process.0),
                site: self.site(state, process, case),
                object: object.0,
                // Read locks do not exclude each other.
                writes: !matches!(action.kind, ActionKind::ReadLock | ActionKind::ReadUnlock),
                overtaken: 0,
            }));
        }
        self.step(state, action);
    }

    fn is_yield(&self, action: &Action) -> bool {
        // A process that polls or gives up waiting lets others go first.
        matches!(action.kind, ActionKind::Default | ActionKind::Timeout)
    }

    fn outcomes(&self, state: &mut State, outcomes: &mut Vec<Outcome>) {
        self.collect_outcomes(state, outcomes);
    }

    fn memory(&self) -> usize {
        self.tables().bytes
    }

    fn fork(&self, state: &State) -> Option<State> {
        Some(state.clone())
    }
}

impl Stateful for Machine {
    fn encode(&self, state: &State, bytes: &mut Vec<u8>) {
        let procs = trimmed(&state.procs);
        let mut nibbles = Nibbles { bytes, half: false };
        nibbles.write(procs.len() as u32);
        for number in procs.iter().chain(trimmed(&state.objects)) {
            nibbles.write(*number);
        }
    }

    fn decode(&self, bytes: &[u8], state: &mut State) {
        let mut reader = Reader { bytes, position: 0 };
        let procs = reader.read() as usize;
        let mut all = 0;
        if state.procs.len() != procs {
            state.procs.resize(procs, 0);
        }
        for number in state.procs.as_mut_slice() {
            *number = reader.read();
            all |= *number;
        }
        state.objects.clear();
        while !reader.is_at_end() {
            state.objects.push(reader.read());
        }
        // The last half byte may be padding, which reads as an object in its first state.
        while state.objects.last() == Some(&0) {
            state.objects.pop();
        }
        state.compact = is_compact(procs, all, state.objects.len());
    }

    fn assign(&self, state: &mut State, other: &State) {
        state.clone_from(other);
    }

    fn successor_changes(&self, state: &State, action: &Action, changes: &mut Changes) -> bool {
        self.collect_changes(state, action, changes).is_some()
    }

    fn persistent(&self, state: &State, enabled: &[Action], chosen: &mut Vec<usize>) {
        self.choose_persistent(state, enabled, chosen);
    }

    fn always_ends(&self) -> bool {
        self.code().always_ends
    }

    fn has_early_outcomes(&self) -> bool {
        self.code().may_panic
    }

    fn early_outcomes(&self, state: &State, outcomes: &mut Vec<Outcome>) {
        self.collect_panics(state, outcomes);
    }

    fn unfinished(&self, state: &State, threads: &mut Vec<ThreadId>) {
        let cache = self.warm_cache(state);
        for (process, number) in state.processes() {
            if cache.menu(process, number).status == Status::Waiting {
                threads.push(ThreadId(process.0));
            }
        }
    }

    fn canonicalise(&self, state: &mut State) {
        if self.shared.symmetry {
            self.sort_interchangeable(state);
        }
    }
}

impl Machine {
    /// The operation that a process is about to perform: an instruction and a case of it.
    fn site(&self, state: &State, process: ProcId, case: u16) -> u64 {
        let tables = self.tables();
        let pc = tables.local_state(process, state.proc(process)).and_then(|local| local.pc());
        pc.map_or(u64::MAX, |pc| u64::from(pc.0) << 16 | u64::from(case))
    }

    /// The message that the step moves, or the amount it adds.
    pub(crate) fn message(&self, state: &State, action: &Action) -> Value {
        match (action.kind, action.object) {
            (ActionKind::Get, Some(object)) => {
                let cache = self.warm_cache(state);
                match cache.object(object, state.object(object)) {
                    Object::Channel(channel) => {
                        channel.messages.first().copied().unwrap_or_default()
                    }
                    _ => Value::Unit,
                }
            }
            (ActionKind::Meet | ActionKind::Put | ActionKind::Add, _) => {
                let number = state.proc(action.actor);
                let cache = self.warm_cache_of(action.actor, number);
                let sends = |kind| matches!(kind, OfferKind::Put | OfferKind::Add);
                let mut offers = cache.menu(action.actor, number).offers.iter();
                let offer = offers.find(|offer| offer.case == action.case && sends(offer.kind));
                offer.map_or(Value::Unit, |offer| offer.value)
            }
            _ => Value::Unit,
        }
    }

    fn stimulate(&self, state: &mut State, process: ProcId, stimulus: Stimulus) {
        let number = state.proc(process);
        self.with_move(process, number, stimulus, |found| {
            state.set_proc(process, found.local);
            for (child, number) in &found.procs {
                state.set_proc(*child, *number);
            }
            for (object, number) in &found.objects {
                state.set_object(*object, *number);
            }
        });
    }

    /// Which processes the step spawns, and whether it contradicts the observation that this
    /// machine is compared with.
    fn foresee(&self, state: &State, action: &Action) -> ([u32; 2], bool) {
        let message = self.message(state, action);
        let look = |process: ProcId, stimulus| {
            let number = state.proc(process);
            self.with_move(process, number, stimulus, |found| (found.born, found.refuted))
        };
        let (mine, refuted) = look(action.actor, action.stimulus(message));
        let Some((partner, case)) = action.partner else { return ([mine, 0], refuted) };
        let (theirs, refuted_too) = look(partner, Stimulus::Receive(case, message));
        ([mine, theirs], refuted || refuted_too)
    }

    /// Is the first step a default that the second one may rule out or make possible? A rendezvous
    /// does neither.
    fn watches(&self, first: &Action, second: &Action) -> bool {
        if first.kind != ActionKind::Default || second.kind == ActionKind::Meet {
            return false;
        }
        let cache = self.warm_cache_of(first.actor, first.local);
        let mut offers = cache.menu(first.actor, first.local).offers.iter();
        offers.any(|offer| offer.object.is_some() && offer.object == second.object)
    }

    /// Does the first step spawn a process that takes part in the second?
    fn bears(&self, first: &Action, second: &Action) -> bool {
        first.born.iter().any(|number| {
            *number != 0 && self.births(*number).iter().any(|child| second.involves(*child))
        })
    }

    /// Sorts the states of processes that nobody can tell apart: the state of a process says all
    /// about it but its name, and names matter only to those who still create something.
    fn sort_interchangeable(&self, state: &mut State) {
        let cache = self.warm_cache(state);
        let free = |process: ProcId, number: u32| !cache.menu(process, number).creates;
        let positions: Vec<usize> = state
            .processes()
            .filter(|(process, number)| *process != ProcId(0) && free(*process, *number))
            .map(|(process, _)| process.position())
            .collect();
        drop(cache);
        let mut numbers: Vec<u32> =
            positions.iter().map(|position| state.procs[*position]).collect();
        numbers.sort_unstable();
        for (position, number) in positions.iter().zip(numbers) {
            state.procs[*position] = number;
        }
    }
}

fn trimmed(row: &[u32]) -> &[u32] {
    let length = row.iter().rposition(|number| *number != 0).map_or(0, |last| last + 1);
    &row[..length]
}

/// Writes numbers as groups of three bits, two groups a byte, the fourth bit telling that more
/// follow. Most numbers are below eight.
struct Nibbles<'a> {
    bytes: &'a mut Vec<u8>,
    half: bool,
}

impl Nibbles<'_> {
    fn write(&mut self, mut number: u32) {
        while number >= 8 {
            self.push(number as u8 & 7 | 8);
            number >>= 3;
        }
        self.push(number as u8);
    }

    fn push(&mut self, nibble: u8) {
        match self.bytes.last_mut().filter(|_| self.half) {
            Some(last) => *last |= nibble << 4,
            None => self.bytes.push(nibble),
        }
        self.half = !self.half;
    }
}

/// Reads what [`Nibbles`] wrote.
struct Reader<'a> {
    bytes: &'a [u8],
    /// In half bytes.
    position: usize,
}

impl Reader<'_> {
    fn is_at_end(&self) -> bool {
        self.position >= self.bytes.len() * 2
    }

    #[inline]
    fn read(&mut self) -> u32 {
        let nibble = self.nibble();
        if nibble < 8 { nibble } else { self.read_more(nibble & 7) }
    }

    /// The rest of a number that does not fit into one group.
    fn read_more(&mut self, first: u32) -> u32 {
        let (mut number, mut shift) = (first, 3);
        while !self.is_at_end() {
            let nibble = self.nibble();
            number |= (nibble & 7) << shift;
            shift += 3;
            if nibble < 8 {
                break;
            }
        }
        number
    }

    /// The next group, 0 at the end.
    #[inline]
    fn nibble(&mut self) -> u32 {
        let byte = self.bytes.get(self.position / 2).copied().unwrap_or(0);
        let nibble = byte >> (4 * (self.position % 2)) & 15;
        self.position += 1;
        nibble.into()
    }
}
