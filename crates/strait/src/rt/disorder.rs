//! Other orders of one execution: of its steps as far as they have nothing to do with each other, and of
//! the code between them. Whatever code under test does, none of these orders can make a difference,
//! unless threads share something that the library does not control.
//!
//! Comes in: the steps of an execution. Goes out: an order of them that is equivalent to the first.

use rustc_hash::FxHashMap;
use strait_explore::EventId;

use super::current::with;
use super::record::State;
use super::schedule::pause;
use super::system::Act;
use super::world::World;

/// Where arbitrary numbers come from: the same ones for the same number to begin with. Nothing may
/// depend on their quality.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Disorder(u64);

impl Disorder {
    pub(crate) fn new(number: u64) -> Disorder {
        Disorder(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below the bound, which is not 0 (xorshift: Marsaglia, Journal of Statistical Software
    /// 2003).
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }
}

/// What comes before each step, as far as other such steps do not say so already.
struct Needs {
    /// For each step those that need it.
    followers: Vec<Vec<usize>>,
    /// For each step how many it needs.
    missing: Vec<usize>,
}

/// The last steps that have accessed an object.
#[derive(Default)]
struct Last {
    write: Option<usize>,
    reads: Vec<usize>,
}

impl Needs {
    fn new(acts: &[Act]) -> Needs {
        let mut needs =
            Needs { followers: vec![Vec::new(); acts.len()], missing: vec![0; acts.len()] };
        let mut events: FxHashMap<EventId, usize> = FxHashMap::default();
        let mut objects: FxHashMap<u32, Last> = FxHashMap::default();
        for (step, act) in acts.iter().enumerate() {
            let event = act.event();
            let before = event.index.checked_sub(1).map(|index| EventId { index, ..event });
            for cause in act.causes().iter().copied().chain(before) {
                // Causes of later steps than this one do not exist.
                needs.add(events.get(&cause).copied(), step);
            }
            for access in act.accesses() {
                let last = objects.entry(access.object).or_default();
                needs.add(last.write, step);
                if access.write {
                    last.reads.drain(..).for_each(|read| needs.add(Some(read), step));
                    last.write = Some(step);
                } else {
                    last.reads.push(step);
                }
            }
            events.insert(event, step);
        }
        needs
    }

    fn add(&mut self, earlier: Option<usize>, later: usize) {
        if let Some(earlier) = earlier.filter(|&earlier| earlier != later) {
            self.followers[earlier].push(later);
            self.missing[later] += 1;
        }
    }
}

/// The steps in an arbitrary order that is equivalent to the one given, as positions in that.
pub(super) fn reordered(acts: &[Act], disorder: &mut Disorder) -> Vec<usize> {
    let mut needs = Needs::new(acts);
    let mut possible: Vec<usize> =
        (0..acts.len()).filter(|&step| needs.missing[step] == 0).collect();
    let mut order = Vec::with_capacity(acts.len());
    while !possible.is_empty() {
        let step = possible.swap_remove(disorder.below(possible.len()));
        order.push(step);
        for &follower in &needs.followers[step] {
            needs.missing[follower] -= 1;
            if needs.missing[follower] == 0 {
                possible.push(follower);
            }
        }
    }
    order
}

impl World {
    /// Moves an arbitrary thread to the end of those whose code can go on, where the next one is taken from.
    #[cold]
    pub(super) fn disorder_ready(&mut self) {
        if let (Some(disorder), Some(last)) = (&mut self.disorder, self.ready.len().checked_sub(1))
        {
            let chosen = disorder.below(last + 1);
            self.ready.swap(chosen, last);
        }
    }
}

/// The current thread has started another. Sometimes that one begins before the current one goes on.
#[cold]
pub(crate) fn lets_begin() {
    let waits = with(|world| {
        let waits = world.disorder.as_mut().is_some_and(|disorder| disorder.below(2) == 0);
        if waits && !world.aborting {
            let me = world.current;
            world.me().state = State::Ready;
            world.ready.push(me);
        }
        waits && !world.aborting
    });
    if waits == Some(true) {
        pause();
    }
}
