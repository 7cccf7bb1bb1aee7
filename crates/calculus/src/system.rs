//! Programs as a [`System`] for the search.

use strait_explore::{Stateful, System, ThreadId};

use crate::action::{Action, ActionKind};
use crate::index::{Idx, ObjectId, ProcId};
use crate::local::Status;
use crate::machine::{Machine, Recording, State};
use crate::menu::OfferKind;
use crate::moves::{Stimulus, Treatment};
use crate::object::Object;
use crate::outcome::Outcome;
use crate::value::Value;

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
        self.collect_enabled(state, actions);
        let against = matches!(self.shared.recording, Recording::Against(_));
        actions.retain_mut(|action| {
            if !against && !self.creates(state, action) {
                return true;
            }
            let (born, refuted) = self.foresee(state, action);
            action.born = born;
            !refuted
        });
    }

    fn step(&self, state: &mut State, action: &Action) {
        let message = self.message(state, action);
        if let Some(object) = action.object.filter(|_| action.kind != ActionKind::Meet) {
            self.treat_object(state, object, Treatment { kind: action.kind, value: message });
        }
        self.stimulate(state, action.actor, action.stimulus(message));
        if let Some((partner, case)) = action.partner {
            self.stimulate(state, partner, Stimulus::Receive(case, message));
        }
    }

    fn dependent(&self, a: &Action, b: &Action) -> bool {
        a.depends_on(b) || self.bears(a, b) || self.bears(b, a)
    }

    fn thread(&self, action: &Action) -> ThreadId {
        ThreadId(action.actor.0)
    }

    fn involves(&self, action: &Action, thread: ThreadId) -> bool {
        action.involves(ProcId(thread.0))
    }

    fn is_yield(&self, action: &Action) -> bool {
        // A process that polls or gives up waiting lets others go first.
        matches!(action.kind, ActionKind::Default | ActionKind::Timeout)
    }

    fn outcomes(&self, state: &mut State, outcomes: &mut Vec<Outcome>) {
        self.collect_outcomes(state, outcomes);
    }

    fn fork(&self, state: &State) -> Option<State> {
        Some(state.clone())
    }
}

impl Stateful for Machine {
    fn encode(&self, state: &State, bytes: &mut Vec<u8>) {
        let procs = trimmed(&state.procs);
        let objects = trimmed(&state.objects);
        write_number(procs.len() as u32, bytes);
        for number in procs.iter().chain(objects) {
            write_number(*number, bytes);
        }
    }

    fn decode(&self, bytes: &[u8], state: &mut State) {
        let mut rest = bytes;
        let procs = read_number(&mut rest) as usize;
        state.procs.clear();
        state.objects.clear();
        for _ in 0..procs {
            state.procs.push(read_number(&mut rest));
        }
        while !rest.is_empty() {
            state.objects.push(read_number(&mut rest));
        }
    }

    fn assign(&self, state: &mut State, other: &State) {
        state.clone_from(other);
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

    fn memory(&self) -> usize {
        self.tables().bytes
    }
}

impl Machine {
    /// The message that the step moves, or the amount it adds.
    pub(crate) fn message(&self, state: &State, action: &Action) -> Value {
        let cache = self.warm_cache(state);
        if action.kind == ActionKind::Get
            && let Some(object) = action.object
            && let Object::Channel(channel) = cache.object(object, state.object(object))
        {
            return channel.messages.first().copied().unwrap_or_default();
        }
        let menu = cache.menu(action.actor, state.proc(action.actor));
        let sends = |kind| matches!(kind, OfferKind::Put | OfferKind::Add);
        let offer = menu.offers.iter().find(|offer| offer.case == action.case && sends(offer.kind));
        offer.map_or(Value::Unit, |offer| offer.value)
    }

    fn treat_object(&self, state: &mut State, object: ObjectId, treatment: Treatment) {
        let number = state.object(object);
        let key = (object, number, treatment);
        let known = self.cache_mut().treatments.get(&key).copied();
        let next = known.unwrap_or_else(|| {
            let next = self.compute_treatment(object, number, treatment);
            self.cache_mut().treatments.insert(key, next);
            next
        });
        state.set_object(object, next);
    }

    fn stimulate(&self, state: &mut State, process: ProcId, stimulus: Stimulus) {
        let key = (process, state.proc(process), stimulus);
        let mut cache = self.cache_mut();
        let found = cache
            .moves
            .entry(key)
            .or_insert_with(|| Box::new(self.compute_move(process, key.1, stimulus)));
        state.set_proc(process, found.local);
        for (child, number) in &found.procs {
            state.set_proc(*child, *number);
        }
        for (object, number) in &found.objects {
            state.set_object(*object, *number);
        }
    }

    /// May a process that takes part in the step create something?
    fn creates(&self, state: &State, action: &Action) -> bool {
        let cache = self.warm_cache(state);
        let creates = |process| cache.menu(process, state.proc(process)).creates;
        creates(action.actor) || action.partner.is_some_and(|(partner, _)| creates(partner))
    }

    /// Which processes the step spawns, and whether it contradicts the observation that this
    /// machine is compared with.
    fn foresee(&self, state: &State, action: &Action) -> ([u32; 2], bool) {
        let message = self.message(state, action);
        let look = |process: ProcId, stimulus| {
            let key = (process, state.proc(process), stimulus);
            let mut cache = self.cache_mut();
            let found = cache
                .moves
                .entry(key)
                .or_insert_with(|| Box::new(self.compute_move(process, key.1, stimulus)));
            (found.born, found.refuted)
        };
        let (mine, refuted) = look(action.actor, action.stimulus(message));
        let Some((partner, case)) = action.partner else { return ([mine, 0], refuted) };
        let (theirs, refuted_too) = look(partner, Stimulus::Receive(case, message));
        ([mine, theirs], refuted || refuted_too)
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

/// LEB128: numbers are small, so most take one byte.
fn write_number(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(rest: &mut &[u8]) -> u32 {
    let mut number = 0;
    let mut shift = 0;
    while let Some((byte, tail)) = rest.split_first() {
        *rest = tail;
        number |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}
