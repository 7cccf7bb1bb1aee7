//! Programs of the notation, performed by threads of a library: ours, or loom.

use std::sync::atomic::Ordering;

/// Performs programs by the types of the module in which it stands. The main thread performs some of
/// their threads itself.
macro_rules! interpreter {
    ($here:expr) => {
        use crate::program::{Action, Instruction, Program, SKIPPED, Shown};

        struct Memory {
            locations: Vec<AtomicU8>,
            mutexes: Vec<Mutex<()>>,
            cells: Vec<UnsafeCell<u8>>,
        }

        // SAFETY: both libraries report accesses to a cell that are not ordered, and do not perform them.
        #[allow(unsafe_code, reason = "the cells are shared between threads on purpose")]
        unsafe impl Sync for Memory {}
        // SAFETY: as above.
        #[allow(unsafe_code, reason = "the cells are shared between threads on purpose")]
        unsafe impl Send for Memory {}

        /// Performs all threads at once. Gives what the execution shows.
        pub fn perform(program: &Program) -> Shown {
            let memory = Arc::new(Memory {
                locations: (0..program.locations).map(|_| AtomicU8::new(0)).collect(),
                mutexes: (0..program.mutexes).map(|_| Mutex::new(())).collect(),
                cells: (0..program.cells).map(|_| UnsafeCell::new(0)).collect(),
            });
            let start = |instructions: &Vec<Instruction>| {
                let (memory, instructions) = (memory.clone(), instructions.clone());
                thread::spawn(move || perform_thread(&memory, &instructions))
            };
            let (here, started) = program.threads.split_at($here(program.threads.len()));
            let handles: Vec<_> = started.iter().map(start).collect();
            let mut shown: Shown =
                here.iter().map(|thread| perform_thread(&memory, thread)).collect();
            shown.extend(handles.into_iter().map(|handle| handle.join().expect("no panic")));
            let last = memory.locations.iter().map(|location| location.load(Ordering::Relaxed));
            shown.push(last.collect());
            shown
        }

        #[allow(unsafe_code, reason = "races are reported before they happen for real")]
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
                    Action::PlainStore { cell, value } => {
                        let value = value.given(&registers);
                        memory.cells[cell].with_mut(|pointer| unsafe { *pointer = value });
                    }
                    Action::PlainLoad { cell } => {
                        registers.push(memory.cells[cell].with(|pointer| unsafe { *pointer }));
                    }
                }
            }
            registers
        }
    };
}

pub mod ours {
    use super::Ordering;
    use std::sync::Arc;
    use strait::cell::UnsafeCell;
    use strait::sync::Mutex;
    use strait::sync::atomic::{AtomicU8, fence};
    use strait::thread;
    interpreter!(|_| 0);
}

/// Of three threads and more one is the main thread, since loom tries all orders in which threads may start
/// and end.
pub mod looms {
    use super::Ordering;
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicU8, fence};
    use loom::sync::{Arc, Mutex};
    use loom::thread;
    interpreter!(|threads| usize::from(threads > 2));
}
