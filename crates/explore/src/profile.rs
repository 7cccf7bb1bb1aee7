//! What executions have shown about the lengths of threads: how often each one accesses each object,
//! and which thread has started it.
//!
//! Comes in: the steps of drawn executions. Goes out: estimates for later ones. Nothing here depends on
//! the order in which parts of a search are put together.

use rustc_hash::FxHashMap;

use crate::interleavings::Touch;
use crate::system::ThreadId;

/// How often threads access objects, summed over executions.
#[derive(Default)]
pub(crate) struct Profile {
    pub(crate) threads: FxHashMap<ThreadId, ThreadProfile>,
    pub(crate) objects: FxHashMap<u32, ObjectProfile>,
}

/// What is known about one thread.
#[derive(Clone, Copy)]
pub(crate) struct ThreadProfile {
    /// In how many executions it was there.
    pub(crate) executions: u64,
    /// The first execution in which it was there, and the thread whose step came before it could do
    /// anything; none if it was there from the start.
    pub(crate) parent: (u64, Option<ThreadId>),
}

/// What is known about one object.
pub(crate) struct ObjectProfile {
    /// The first step at it: the number of the execution and the number of the step.
    pub(crate) first: (u64, usize),
    /// The steps at it by each thread, and whether one of them was a write.
    pub(crate) steps: FxHashMap<ThreadId, (u64, bool)>,
}

impl ObjectProfile {
    /// Do several threads access it, and does one of them write it?
    pub(crate) fn is_shared(&self) -> bool {
        self.steps.len() > 1 && self.steps.values().any(|&(_, writes)| writes)
    }
}

impl Profile {
    /// A thread was seen for the first time in an execution.
    pub(crate) fn note_thread(&mut self, thread: ThreadId, number: u64, parent: Option<ThreadId>) {
        let first = ThreadProfile { executions: 0, parent: (number, parent) };
        self.threads.entry(thread).or_insert(first).executions += 1;
    }

    /// A step was made in an execution.
    pub(crate) fn note_step(&mut self, number: u64, step: usize, touches: &[Touch]) {
        for touch in touches {
            let new = || ObjectProfile { first: (number, step), steps: FxHashMap::default() };
            let object = self.objects.entry(touch.object).or_insert_with(new);
            let (steps, writes) = object.steps.entry(touch.thread).or_insert((0, false));
            *steps += 1;
            *writes |= touch.writes;
        }
    }

    /// Takes up what another part of the same search has seen.
    pub(crate) fn also(&mut self, other: Profile) {
        for (thread, theirs) in other.threads {
            let mine = self.threads.entry(thread);
            mine.and_modify(|mine| {
                mine.executions += theirs.executions;
                if theirs.parent.0 < mine.parent.0 {
                    mine.parent = theirs.parent;
                }
            })
            .or_insert(theirs);
        }
        for (object, theirs) in other.objects {
            let Some(mine) = self.objects.get_mut(&object) else {
                self.objects.insert(object, theirs);
                continue;
            };
            mine.first = mine.first.min(theirs.first);
            for (thread, (steps, writes)) in theirs.steps {
                let own = mine.steps.entry(thread).or_insert((0, false));
                *own = (own.0 + steps, own.1 | writes);
            }
        }
    }

    /// The objects that threads share, in the order in which they were first met.
    pub(crate) fn shared_objects(&self) -> Vec<u32> {
        let shared = self.objects.iter().filter(|(_, profile)| profile.is_shared());
        let mut objects: Vec<_> =
            shared.map(|(&object, profile)| (profile.first, object)).collect();
        // Numbers of objects decide only between objects of one step.
        objects.sort_unstable();
        objects.into_iter().map(|(_, object)| object).collect()
    }
}
