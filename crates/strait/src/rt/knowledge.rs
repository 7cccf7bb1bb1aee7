//! Who knows about which variable (Déjà Fu, Haskell 2015, section 3.1, "Testing Annotations"): lets a deadlock
//! of some threads be seen while others go on.
//!
//! A thread is deadlocked if it waits for a variable, all that every thread knows was declared, and
//! every other thread that knows the variable waits for it too, or is over.

use rustc_hash::FxHashSet;

use super::record::State;
use super::world::World;

/// What the threads of an execution have declared.
#[derive(Default)]
pub(crate) struct Knowledge {
    /// Thread and object.
    known: FxHashSet<(u32, u32)>,
    /// Threads that have declared everything.
    complete: FxHashSet<u32>,
}

impl Knowledge {
    #[inline]
    pub(crate) fn is_declared(&self) -> bool {
        !self.complete.is_empty()
    }

    pub(crate) fn reset(&mut self) {
        if !self.complete.is_empty() || !self.known.is_empty() {
            self.known.clear();
            self.complete.clear();
        }
    }
}

impl World {
    pub(crate) fn knows(&mut self, object: u32) {
        self.knowledge.known.insert((self.current, object));
    }

    pub(crate) fn forgets(&mut self, object: u32) {
        self.knowledge.known.remove(&(self.current, object));
    }

    pub(crate) fn all_known(&mut self) {
        self.knowledge.complete.insert(self.current);
    }

    /// Looks for threads that can never go on.
    #[inline]
    pub(crate) fn check_knowledge(&mut self) {
        if self.knowledge.is_declared() {
            self.look_for_stuck();
        }
    }

    fn look_for_stuck(&mut self) {
        let alive = |thread: &super::record::Thread| {
            !matches!(thread.state, State::Unborn | State::Finished) && thread.commits_for.is_none()
        };
        let numbers: Vec<u32> = (0..self.threads.len() as u32)
            .filter(|&number| alive(&self.threads[number as usize]))
            .collect();
        if !numbers.iter().all(|number| self.knowledge.complete.contains(number)) {
            return;
        }
        for &number in &numbers {
            let Some(object) = self.waits_for_object(number) else { continue };
            let helpless = |&other: &u32| {
                !self.knowledge.known.contains(&(other, object))
                    || self.waits_for_object(other) == Some(object)
            };
            if numbers.iter().all(helpless) {
                let fault = format!(
                    "{} waits for {} forever: all that know it wait for it",
                    self.describe_thread(number),
                    self.describe_object(object)
                );
                self.ending.fault.get_or_insert(fault);
                return;
            }
        }
    }

    /// The object for whose gate the thread waits.
    fn waits_for_object(&self, number: u32) -> Option<u32> {
        let thread = &self.threads[number as usize];
        let blocked =
            thread.state == State::Announced && !self.is_enabled(strait_explore::ThreadId(number));
        let access = thread.op.accesses.iter().find(|access| access.gate != 0)?;
        blocked.then(|| self.objects[access.object as usize].whole)
    }
}
