//! Selectively uniform random walks (Zhao, Wolff, Mathur, Roychoudhury: Selectively Uniform Concurrency
//! Testing, ASPLOS 2025).
//!
//! A random walk favours interleavings in which short threads come early. If instead the next thread is
//! drawn in proportion to how many events each thread still has to make, all interleavings of these
//! events are equally likely. *Selectively*: only some events count, the others happen as in a random
//! walk. Which thread makes the next selected event is drawn beforehand (the *intended* thread); the
//! selected events of all other threads wait until it has made one.
//!
//! | paper | here |
//! |---|---|
//! | Δ, the interesting events | [`Selection`]: steps at certain objects |
//! | the number of events that a thread has left | [`Walk::weight`]; those of threads that it has not started yet count as its own |
//! | the intended thread | [`Walk::intended`] |
//! | threads whose interesting event must wait | the enabled threads that are not [`Walk::free`] |
//!
//! The paper is given the numbers of events; here they are the averages of earlier rounds, and the first
//! execution is a random walk over threads. If they are wrong, or threads block each other, interleavings
//! are not equally likely, but each one is still possible: a thread that could not make a step when the
//! intended thread was drawn takes part in the draw when it can. Δ is drawn for each execution: in one of two
//! executions every object that threads share, in the others a single one of these objects.

use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::draw::{below, stream};
use crate::limits::Limits;
use crate::profile::Profile;
use crate::report::Report;
use crate::sample::{GoOn, Moment, Picker, sample, sample_parallel};
use crate::system::{System, ThreadId};

/// Draws `executions` selectively uniform random walks. Walk i of a seed is always the same.
pub fn surw<S: System>(
    system: &S,
    seed: u64,
    executions: u64,
    limits: &Limits<'_>,
) -> Report<S::Outcome, S::Action> {
    sample(system, executions, limits, |execution, learnt| {
        Walk::new(stream(seed, execution), &learnt.profile)
    })
}

/// The same walks as [`surw`], drawn by several OS threads, until `go_on` is false for an outcome.
pub fn surw_parallel<S>(
    system: &S,
    seed: u64,
    executions: u64,
    jobs: usize,
    limits: &Limits<'_>,
    go_on: GoOn<'_, S::Outcome>,
) -> Report<S::Outcome, S::Action>
where
    S: System + Clone + Send,
    S::Action: Send,
    S::Outcome: Send,
{
    sample_parallel(system, executions, jobs, limits, go_on, |execution, learnt| {
        Walk::new(stream(seed, execution), &learnt.profile)
    })
}

/// The events that count: the steps at these objects.
struct Selection(FxHashSet<u32>);

impl Selection {
    fn draw(rng: &mut ChaCha8Rng, profile: &Profile) -> Selection {
        let shared = profile.shared_objects();
        if shared.len() < 2 || below(rng, 2) == 0 {
            return Selection(shared.into_iter().collect());
        }
        let one = shared[below(rng, shared.len() as u64) as usize];
        Selection(FxHashSet::from_iter([one]))
    }

    fn has<S: System>(&self, system: &S, action: &S::Action, objects: &mut Vec<u32>) -> bool {
        objects.clear();
        system.objects(action, objects);
        objects.iter().any(|object| self.0.contains(object))
    }
}

/// What is expected of one thread.
#[derive(Default)]
struct Expected {
    /// How many selected events it has left.
    own: u64,
    /// The threads that it has not started yet.
    children: Vec<ThreadId>,
    /// Is it there?
    born: bool,
    parent: Option<ThreadId>,
}

struct Walk {
    rng: ChaCha8Rng,
    selection: Selection,
    threads: FxHashMap<ThreadId, Expected>,
    /// The thread that makes the next selected event, if it was drawn.
    intended: Option<ThreadId>,
    /// The threads among which it was drawn, and their weights together.
    considered: FxHashSet<ThreadId>,
    considered_weight: u64,
    objects: Vec<u32>,
}

/// A thread of which no selected event is expected is intended as often as one event of another thread is
/// in so many draws: the estimate may be wrong, and no interleaving must be impossible. If it is right,
/// this changes nothing in the order of selected events, since the thread makes none.
const DOUBT: u64 = 64;

/// An enabled thread.
struct Candidate {
    thread: ThreadId,
    /// Is its next event selected?
    selected: bool,
}

impl Walk {
    fn new(mut rng: ChaCha8Rng, profile: &Profile) -> Walk {
        let selection = Selection::draw(&mut rng, profile);
        let mut threads: FxHashMap<ThreadId, Expected> = FxHashMap::default();
        for (&thread, known) in &profile.threads {
            let steps = selection.0.iter().filter_map(|object| profile.objects.get(object));
            let steps: u64 =
                steps.filter_map(|object| object.steps.get(&thread)).map(|&(steps, _)| steps).sum();
            // The average, to the nearest whole number, but never 0 if there was an event at all: a thread
            // that is kept from its events would be expected to make ever fewer of them.
            let average = (2 * steps + known.executions) / (2 * known.executions);
            let own = average.max(u64::from(steps > 0));
            let parent = known.parent.1;
            threads.entry(thread).or_default().own = own;
            threads.entry(thread).or_default().parent = parent;
            if let Some(parent) = parent {
                threads.entry(parent).or_default().children.push(thread);
            }
        }
        let (considered, objects) = (FxHashSet::default(), Vec::new());
        let intended = None;
        Walk { rng, selection, threads, intended, considered, considered_weight: 0, objects }
    }

    /// How many selected events are left to a thread and to those that it will start.
    fn weight(&self, thread: ThreadId) -> u64 {
        let (mut weight, mut rest) = (0, vec![thread]);
        while let Some(thread) = rest.pop() {
            let Some(expected) = self.threads.get(&thread) else { continue };
            weight += expected.own;
            let unborn =
                |child: &&ThreadId| self.threads.get(child).is_some_and(|child| !child.born);
            rest.extend(expected.children.iter().filter(unborn));
        }
        weight
    }

    /// The enabled threads, in the order of their first actions.
    fn candidates<S: System>(&mut self, moment: &Moment<'_, S>) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for action in moment.enabled {
            let thread = moment.system.thread(action);
            let selected = self.selection.has(moment.system, action, &mut self.objects);
            match candidates.iter_mut().find(|candidate| candidate.thread == thread) {
                Some(candidate) => candidate.selected |= selected,
                None => candidates.push(Candidate { thread, selected }),
            }
        }
        candidates
    }

    /// Takes up threads that could not make a step when the intended thread was drawn.
    fn greet(&mut self, candidates: &[Candidate]) {
        for candidate in candidates {
            let thread = candidate.thread;
            let expected = self.threads.entry(thread).or_default();
            let (parent, born) = (expected.parent, expected.born);
            let theirs = self.scaled_weight(candidate);
            self.threads.entry(thread).or_default().born = true;
            let Some(intended) = self.intended.filter(|_| !self.considered.contains(&thread))
            else {
                continue;
            };
            self.considered.insert(thread);
            // The events of a thread that was not started yet were those of its parent.
            let all = match parent.filter(|parent| !born && self.considered.contains(parent)) {
                None => {
                    self.considered_weight += theirs;
                    self.considered_weight
                }
                Some(parent) if parent == intended => theirs + DOUBT * self.weight(parent),
                Some(_) => continue,
            };
            if below(&mut self.rng, all) < theirs {
                self.intended = Some(thread);
            }
        }
    }

    /// How likely it is that the thread makes the next selected event.
    fn scaled_weight(&self, candidate: &Candidate) -> u64 {
        // The estimate is too low if an event is there.
        match self.weight(candidate.thread).max(u64::from(candidate.selected)) {
            0 => 1,
            weight => DOUBT * weight,
        }
    }

    /// Draws the thread that makes the next selected event.
    fn intend(&mut self, candidates: &[&Candidate]) {
        let weights: Vec<u64> =
            candidates.iter().map(|candidate| self.scaled_weight(candidate)).collect();
        self.considered_weight = weights.iter().sum();
        self.considered = candidates.iter().map(|candidate| candidate.thread).collect();
        let mut drawn = below(&mut self.rng, self.considered_weight);
        for (candidate, weight) in candidates.iter().zip(weights) {
            if drawn < weight {
                self.intended = Some(candidate.thread);
                return;
            }
            drawn -= weight;
        }
    }

    /// May the thread make its next step?
    fn free(&self, candidate: &Candidate) -> bool {
        !candidate.selected || self.intended == Some(candidate.thread)
    }
}

impl<S: System> Picker<S> for Walk {
    const PROFILES: bool = true;

    fn pick(&mut self, moment: &Moment<'_, S>) -> usize {
        let candidates = self.candidates(moment);
        self.greet(&candidates);
        if self.intended.is_none() {
            self.intend(&candidates.iter().collect::<Vec<_>>());
        }
        if !candidates.iter().any(|candidate| self.free(candidate)) {
            // The intended thread cannot go on, or is over.
            self.intend(&candidates.iter().filter(|one| one.selected).collect::<Vec<_>>());
        }
        let free: Vec<&Candidate> =
            candidates.iter().filter(|candidate| self.free(candidate)).collect();
        let chosen = free[below(&mut self.rng, free.len() as u64) as usize];
        let own = moment.actions_of(chosen.thread);
        let position = own[below(&mut self.rng, own.len() as u64) as usize];
        let action = &moment.enabled[position];
        if chosen.selected {
            let expected = self.threads.entry(chosen.thread).or_default();
            expected.own = expected.own.saturating_sub(1);
        }
        // A thread that lets others go first may wait for one that must not go on before it.
        let is_intended = self.intended == Some(chosen.thread);
        if is_intended && (chosen.selected || moment.system.is_yield(action)) {
            self.intended = None;
        }
        position
    }
}
