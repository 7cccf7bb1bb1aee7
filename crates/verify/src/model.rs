//! The state space of a program with what the properties need to know about it, built once for all
//! of them.
//!
//! A state in which a process has panicked is an end: the program is over. What a process does
//! alone forever is a step that leads nowhere else. Both are noted here, and the states stay
//! readable, so that what is asked for rarely need not be stored.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use strait_calculus::{
    Action, ActionKind, Holding, Machine, ObjectId, ProcId, Program, Recording, State,
};
use strait_explore::{Coverage, Limit, Nature, Space, StateOptions, Visit, space};

use crate::components::{Arrows, Components, components};
use crate::verdict::Bound;
use crate::watch::Watch;

/// Whether equivalent orders of steps are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// When the program has many states: then a shortest trace is one among those that are left.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always.
    Always,
}

/// How much work may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// States.
    pub states: u64,
    /// Bytes.
    pub memory: usize,
    /// Whether equivalent orders are left out.
    pub reduction: Reduction,
    /// When the search has to end; the checks after it have one second more.
    pub until: Option<Instant>,
    /// Set from outside to end the search early.
    pub stop: Option<&'a AtomicBool>,
    /// Where to add how many states were looked at.
    pub progress: Option<&'a AtomicU64>,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget {
            states: 1_000_000,
            memory: 1 << 30,
            reduction: Reduction::Auto,
            until: None,
            stop: None,
            progress: None,
        }
    }
}

/// Programs with at most so many states are searched without reduction, for the sake of shortest
/// traces.
const SMALL: u64 = 20_000;

/// A step that adds to a wait group in a state in which a process may pass its wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitRace {
    pub(crate) state: u32,
    pub(crate) adds: Action,
    pub(crate) waits: Action,
}

/// What can happen, as arrays, with the machine that knows what states mean.
pub struct Model<'a> {
    /// Whose states these are.
    pub machine: Machine,
    /// States and steps.
    pub space: Space<Action>,
    /// Were equivalent orders left out?
    pub reduced: bool,
    /// The first state with a process that runs by itself forever, and all others.
    pub(crate) spinning: Vec<u32>,
    pub(crate) race: Option<WaitRace>,
    /// A limit of the machine that an execution has reached.
    runaway: Option<&'static str>,
    pub(crate) watch: Watch<'a>,
    components: std::cell::OnceCell<Components>,
    predecessors: std::cell::OnceCell<Predecessors>,
    bottoms: std::cell::OnceCell<Vec<Bottom>>,
}

impl<'a> Model<'a> {
    /// Explores a checked program.
    pub fn explore(program: &Program, budget: &Budget<'a>) -> Model<'a> {
        if budget.reduction == Reduction::Auto {
            let few = Budget { states: budget.states.min(SMALL), ..*budget };
            let model = Model::build(program, &few, false);
            let ended = matches!(model.space.limit, Some(Limit::Interrupted | Limit::Time));
            if ended || model.space.coverage == Coverage::Exhaustive {
                return model;
            }
        }
        Model::build(program, budget, budget.reduction != Reduction::Never)
    }

    /// What kept the search from seeing all states; `None` if it has seen all.
    pub fn bound(&self) -> Option<Bound> {
        let machine = self.runaway.map(Bound::TooMany);
        self.space.limit.map(Bound::Limit).or(machine)
    }

    fn build(program: &Program, budget: &Budget<'a>, reduce: bool) -> Model<'a> {
        let machine = Machine::new(program, Recording::Nothing);
        let options = StateOptions {
            reduce,
            threads: 1,
            memory: budget.memory,
            max_states: budget.states,
            stop: budget.stop,
            progress: budget.progress,
        };
        let watch = Watch::new(budget.until, budget.stop);
        let mut spinning = Vec::new();
        let mut race = None;
        let mut runaway = None;
        let mut space = space(&machine, &options, |number, state: &mut State, enabled| {
            if number.is_multiple_of(8) && watch.search_is_over() {
                return Visit::OutOfTime;
            }
            let condition = machine.condition(state);
            if condition.panicked {
                return Visit::End;
            }
            if let Some(what) = condition.runaway {
                runaway.get_or_insert(what);
                return Visit::Unknown;
            }
            if condition.spins {
                spinning.push(number);
            }
            if race.is_none() {
                race = wait_race(&machine, number, state, enabled);
            }
            // A panic ends everything: what others would have done is lost unless it is done first.
            let ends = |action: &Action| machine.leads_to_panic(state, action);
            if reduce && enabled.len() > 1 && enabled.iter().any(ends) {
                return Visit::ExpandFully;
            }
            Visit::Expand
        });
        if let (Coverage::Exhaustive, Some(what)) = (&space.coverage, runaway) {
            space.coverage = Coverage::Bounded(format!("too many {what}"));
        }
        Model {
            machine,
            space,
            reduced: reduce,
            spinning,
            race,
            runaway,
            watch,
            components: std::cell::OnceCell::new(),
            predecessors: std::cell::OnceCell::new(),
            bottoms: std::cell::OnceCell::new(),
        }
    }

    /// The state behind a number.
    pub fn state(&self, number: u32) -> State {
        let mut state = State::default();
        self.space.load(&self.machine, number, &mut state);
        state
    }

    /// A shortest way to a state.
    pub fn way(&self, number: u32) -> Vec<Action> {
        let actions = self.space.actions();
        self.space.way(number).into_iter().map(|label| actions[label as usize]).collect()
    }

    /// Does a process run by itself forever in this state?
    pub(crate) fn spins(&self, number: u32) -> bool {
        self.spinning.binary_search(&number).is_ok()
    }

    /// The components of the graph.
    pub(crate) fn components(&self) -> &Components {
        self.components.get_or_init(|| components(&self.space, &self.watch))
    }

    /// The edges backwards.
    pub(crate) fn predecessors(&self) -> &Predecessors {
        self.predecessors.get_or_init(|| Predecessors::new(&self.space, &self.watch))
    }

    /// All states, as long as there is time.
    pub(crate) fn states(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.space.states()).take_while(|_| !self.watch.is_over())
    }

    /// The states in which a process has panicked, as long as there is time.
    pub(crate) fn ended(&self) -> impl Iterator<Item = u32> + '_ {
        self.space.ended().iter().copied().take_while(|_| !self.watch.is_over())
    }

    /// The states of a component without a way out: all that can be reached from one of them.
    pub(crate) fn states_of(&self, bottom: &Bottom) -> impl Iterator<Item = u32> + '_ {
        let components = self.components();
        let component = components.of[bottom.state as usize];
        let alone = self.space.targets(bottom.state).is_empty();
        let last = if alone { bottom.state } else { self.space.states() - 1 };
        (bottom.state..=last)
            .take_while(|_| !self.watch.is_over())
            .filter(move |state| components.of[*state as usize] == component)
    }

    /// The components without a way out of which everything is known: what enters one never leaves it. A state
    /// of each one, and what happens inside.
    pub(crate) fn bottoms(&self) -> &[Bottom] {
        self.bottoms.get_or_init(|| self.find_bottoms())
    }

    fn find_bottoms(&self) -> Vec<Bottom> {
        let components = self.components();
        let mut candidate = vec![true; components.count as usize];
        let mut first = vec![u32::MAX; components.count as usize];
        for state in self.states() {
            let component = components.of[state as usize];
            let lowest = &mut first[component as usize];
            *lowest = (*lowest).min(state);
            let leaves = |target: &u32| components.of[*target as usize] != component;
            if self.space.targets(state).iter().any(leaves) {
                candidate[component as usize] = false;
            }
        }
        for state in self.space.ended().iter().copied().chain(self.space.unknown()) {
            candidate[components.of[state as usize] as usize] = false;
        }
        let bottoms = first.into_iter().zip(candidate);
        let bottoms = bottoms.filter(|(first, bottom)| *bottom && *first != u32::MAX);
        let mut bottoms: Vec<Bottom> =
            bottoms.map(|(state, _)| Bottom { state, steps: Vec::new() }).collect();
        self.fill(&mut bottoms);
        bottoms.sort_by_key(|bottom| bottom.state);
        bottoms
    }

    /// Notes which labels occur inside each component.
    fn fill(&self, bottoms: &mut [Bottom]) {
        let components = self.components();
        // Most are single states without steps; the others are few.
        let mut places = hashbrown::HashMap::with_hasher(rustc_hash::FxBuildHasher);
        for (place, bottom) in bottoms.iter().enumerate() {
            if !self.space.targets(bottom.state).is_empty() {
                places.insert(components.of[bottom.state as usize], place);
            }
        }
        if places.is_empty() {
            return;
        }
        for state in self.states() {
            let Some(place) = places.get(&components.of[state as usize]) else { continue };
            bottoms[*place].steps.extend(self.space.steps(state).map(|(label, _)| label));
            // Labels recur; keep the lists short while they grow.
            if bottoms[*place].steps.len() > 4096 {
                bottoms[*place].tidy();
            }
        }
        bottoms.iter_mut().for_each(Bottom::tidy);
    }

    /// Which states can still come to one of the seeds?
    pub(crate) fn backwards(&self, seeds: impl Iterator<Item = u32>) -> Vec<bool> {
        let predecessors = self.predecessors();
        let mut reached = vec![false; self.space.states() as usize];
        let mut work = Vec::new();
        for seed in seeds {
            if !reached[seed as usize] {
                reached[seed as usize] = true;
                work.push(seed);
            }
        }
        while let Some(state) = work.pop().filter(|_| !self.watch.is_over()) {
            for from in predecessors.of(state) {
                if !reached[*from as usize] {
                    reached[*from as usize] = true;
                    work.push(*from);
                }
            }
        }
        reached
    }

    /// Which states can come to a step of this kind, to a panic, or to a state that was not looked at?
    pub(crate) fn may_come_to(&self, wanted: impl Fn(&Action) -> bool) -> Vec<bool> {
        let labels: Vec<bool> = self.space.actions().iter().map(wanted).collect();
        let has = |state: &u32| self.space.steps(*state).any(|(label, _)| labels[label as usize]);
        let seeds = self.states().filter(has);
        let ends = self.space.ended().iter().copied().chain(self.space.unknown());
        self.backwards(seeds.chain(ends))
    }

    /// Does nothing follow this state, not even a process that runs by itself?
    pub(crate) fn is_terminal(&self, state: u32) -> bool {
        self.space.targets(state).is_empty()
            && self.space.nature(state) != Nature::Unknown
            && !self.spins(state)
    }
}

/// Does some process wait for others to finish while another one starts to be counted?
fn wait_race(
    machine: &Machine,
    number: u32,
    state: &State,
    enabled: &[Action],
) -> Option<WaitRace> {
    let waits = enabled.iter().filter(|action| action.kind == ActionKind::Wait);
    for wait in waits {
        let adds = enabled.iter().find(|action| {
            action.kind == ActionKind::Add
                && action.object == wait.object
                && machine.amount(state, action) > 0
        });
        if let Some(adds) = adds {
            return Some(WaitRace { state: number, adds: *adds, waits: *wait });
        }
    }
    None
}

/// A component without a way out.
pub(crate) struct Bottom {
    /// The state of it that is nearest to the start.
    pub(crate) state: u32,
    /// The labels of the steps inside, each once.
    pub(crate) steps: Vec<u32>,
}

impl Bottom {
    fn tidy(&mut self) {
        self.steps.sort_unstable();
        self.steps.dedup();
    }

    /// Does this process move inside?
    pub(crate) fn moves(&self, model: &Model<'_>, process: ProcId) -> bool {
        let actions = model.space.actions();
        self.steps.iter().any(|label| actions[*label as usize].involves(process))
    }

    /// Is something taken out of this channel inside?
    pub(crate) fn receives(&self, model: &Model<'_>, object: ObjectId) -> bool {
        let actions = model.space.actions();
        self.steps.iter().any(|label| is_reception(&actions[*label as usize], object))
    }

    /// Is this lock released inside, by a process that holds it as `holding` says?
    pub(crate) fn releases(&self, model: &Model<'_>, object: ObjectId, holding: Holding) -> bool {
        let kind = match holding {
            Holding::Exclusive => ActionKind::Unlock,
            Holding::Readers => ActionKind::ReadUnlock,
        };
        let actions = self.steps.iter().map(|label| &model.space.actions()[*label as usize]);
        actions.into_iter().any(|action| action.kind == kind && action.object == Some(object))
    }
}

/// Does the step take a message out of this channel's buffer?
pub(crate) fn is_reception(action: &Action, object: ObjectId) -> bool {
    action.object == Some(object) && matches!(action.kind, ActionKind::Get | ActionKind::Abandon)
}

/// The edges of a graph backwards.
pub(crate) struct Predecessors {
    offsets: Vec<u32>,
    sources: Vec<u32>,
}

impl Predecessors {
    fn new(graph: &impl Arrows, watch: &Watch<'_>) -> Predecessors {
        let mut offsets = vec![0u32; graph.size() as usize + 1];
        for state in 0..graph.size() {
            for target in graph.targets(state) {
                offsets[*target as usize + 1] += 1;
            }
        }
        for position in 1..offsets.len() {
            offsets[position] += offsets[position - 1];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0; offsets[graph.size() as usize] as usize];
        for state in (0..graph.size()).take_while(|_| !watch.is_over()) {
            for target in graph.targets(state) {
                let place = &mut next[*target as usize];
                sources[*place as usize] = state;
                *place += 1;
            }
        }
        Predecessors { offsets, sources }
    }

    pub(crate) fn of(&self, state: u32) -> &[u32] {
        let (start, end) = (self.offsets[state as usize], self.offsets[state as usize + 1]);
        &self.sources[start as usize..end as usize]
    }
}

impl Arrows for Space<Action> {
    fn size(&self) -> u32 {
        self.states()
    }

    fn targets(&self, state: u32) -> &[u32] {
        Space::targets(self, state)
    }
}
