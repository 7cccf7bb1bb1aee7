//! Programs of the notation, performed by threads of a library.

use std::sync::atomic::Ordering;

/// Performs programs by the types of the module in which it stands.
macro_rules! interpreter {
    () => {
        use crate::program::{Action, Instruction, Program, SKIPPED, Shown};

        struct Memory {
            locations: Vec<AtomicU8>,
            mutexes: Vec<Mutex<()>>,
        }

        /// Performs all threads at once. Gives what the execution shows.
        pub fn perform(program: &Program) -> Shown {
            let memory = Arc::new(Memory {
                locations: (0..program.locations).map(|_| AtomicU8::new(0)).collect(),
                mutexes: (0..program.mutexes).map(|_| Mutex::new(())).collect(),
            });
            let start = |instructions: &Vec<Instruction>| {
                let (memory, instructions) = (memory.clone(), instructions.clone());
                thread::spawn(move || perform_thread(&memory, &instructions))
            };
            let handles: Vec<_> = program.threads.iter().map(start).collect();
            let mut shown: Shown =
                handles.into_iter().map(|handle| handle.join().expect("no panic")).collect();
            let last = memory.locations.iter().map(|location| location.load(Ordering::Relaxed));
            shown.push(last.collect());
            shown
        }

        fn perform_thread(memory: &Memory, instructions: &[Instruction]) -> Vec<u8> {
            let (mut registers, mut guards) = (Vec::new(), Vec::new());
            for instruction in instructions {
                if instruction.guard.is_some_and(|guard| !guard.holds(&registers)) {
                    registers.extend(instruction.action.reads().then_some(SKIPPED));
                    continue;
                }
                match instruction.action {
                    Action::Load { location, order } => {
                        registers.push(memory.locations[location].load(order));
                    }
                    Action::Store { location, value, order } => {
                        memory.locations[location].store(value.given(&registers), order);
                    }
                    Action::Add { location, value, order } => {
                        let value = value.given(&registers);
                        registers.push(memory.locations[location].fetch_add(value, order));
                    }
                    Action::Swap { location, value, order } => {
                        let value = value.given(&registers);
                        registers.push(memory.locations[location].swap(value, order));
                    }
                    Action::Exchange { location, change, orders, weak } => {
                        let location = &memory.locations[location];
                        let (expected, new) = (change.0, change.1.given(&registers));
                        let old = if weak {
                            location.compare_exchange_weak(expected, new, orders.0, orders.1)
                        } else {
                            location.compare_exchange(expected, new, orders.0, orders.1)
                        };
                        registers.push(old.unwrap_or_else(|old| old));
                    }
                    Action::Fence(order) => fence(order),
                    Action::Lock(mutex) => {
                        let guard = memory.mutexes[mutex].lock().expect("no poison");
                        guards.push((mutex, guard));
                    }
                    Action::Unlock(mutex) => guards.retain(|(locked, _)| *locked != mutex),
                }
            }
            registers
        }
    };
}

pub mod ours {
    use super::Ordering;
    use std::sync::Arc;
    use strait::sync::Mutex;
    use strait::sync::atomic::{AtomicU8, fence};
    use strait::thread;
    interpreter!();
}
