//! Time that passes when every thread waits, and threads that run one at a time in an order that a seed
//! decides: the same seed gives the same schedule. A group of threads is a process; processes are killed
//! and paused like real ones, at any moment at which they touch the clock or the server.
//!
//! A thread must not hold a lock while it waits.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, Thread, ThreadId};
use std::time::Duration;

use strait_queue::Clock;

/// A group of threads.
pub type Process = u32;

/// What unwinds a thread whose process was killed.
struct Killed;

struct Member {
    process: Process,
    thread: Option<Thread>,
    /// It waits until then; `None` if it can go on.
    until: Option<Duration>,
    /// It waits for a change, too.
    hears: bool,
}

#[derive(Default)]
struct State {
    now: Duration,
    dice: u64,
    next: u64,
    members: BTreeMap<u64, Member>,
    running: Option<u64>,
    numbers: HashMap<ThreadId, u64>,
    paused: BTreeMap<Process, Duration>,
    killed: BTreeSet<Process>,
    failure: Option<Box<dyn Any + Send>>,
}

/// Such a clock.
pub struct VirtualClock {
    state: Mutex<State>,
    own: Weak<VirtualClock>,
}

impl VirtualClock {
    /// For schedules that this seed decides.
    pub fn new(seed: u64) -> Arc<VirtualClock> {
        let state = State { dice: seed ^ 0x9e37_79b9_7f4a_7c15, ..State::default() };
        Arc::new_cyclic(|own| VirtualClock { state: Mutex::new(state), own: own.clone() })
    }

    /// Runs this in the calling thread as process 0. When it is done, all other processes are killed.
    /// A panic of any of their threads is passed on.
    pub fn run<T>(&self, task: impl FnOnce() -> T) -> T {
        let number = self.enter(0, Some(thread::current()));
        let mut state = self.state();
        state.numbers.insert(thread::current().id(), number);
        state.running = Some(number);
        drop(state);
        let done = catch_unwind(AssertUnwindSafe(task));
        loop {
            let mut state = self.state();
            let others: Vec<Process> = state.members.values().map(|one| one.process).collect();
            state.killed.extend(others.into_iter().filter(|process| *process != 0));
            let is_alone = state.members.len() == 1;
            drop(state);
            if is_alone {
                break;
            }
            self.pass(number, Some(Duration::ZERO), false);
        }
        let mut state = self.state();
        state.members.clear();
        state.numbers.clear();
        let failure = state.failure.take();
        drop(state);
        match (done, failure) {
            (Err(panic), _) | (_, Some(panic)) => resume_unwind(panic),
            (Ok(value), None) => value,
        }
    }

    /// Starts a process. If one of this number was killed, its threads end first: they must not go on
    /// as threads of the new one.
    pub fn start(&self, process: Process, task: Box<dyn FnOnce() + Send>) {
        let is_ending = || {
            let state = self.state();
            let is_left = state.members.values().any(|member| member.process == process);
            is_left && state.killed.contains(&process)
        };
        while is_ending() {
            let Some(number) = self.number() else { break };
            self.pass(number, Some(self.now()), false);
        }
        self.state().killed.remove(&process);
        self.start_thread(process, task);
    }

    fn start_thread(&self, process: Process, task: Box<dyn FnOnce() + Send>) {
        let number = self.enter(process, None);
        let Some(own) = self.own.upgrade() else { return };
        let started = thread::Builder::new().spawn(move || {
            let mut state = own.state();
            state.numbers.insert(thread::current().id(), number);
            if let Some(member) = state.members.get_mut(&number) {
                member.thread = Some(thread::current());
            }
            drop(state);
            own.await_turn(number);
            let ended = catch_unwind(AssertUnwindSafe(|| {
                own.unwind_if_killed(number);
                task();
            }));
            let mut state = own.state();
            if let Err(panic) = ended
                && !panic.is::<Killed>()
            {
                state.failure.get_or_insert(panic);
            }
            state.numbers.remove(&thread::current().id());
            state.members.remove(&number);
            Self::hand_on(&mut state);
        });
        if started.is_err() {
            self.state().members.remove(&number);
        }
    }

    /// Ends all threads of a process, each where it waits next.
    pub fn kill(&self, process: Process) {
        self.state().killed.insert(process);
    }

    /// Stops a process for so long.
    pub fn pause(&self, process: Process, time: Duration) {
        let mut state = self.state();
        let until = state.now + time;
        state.paused.insert(process, until);
    }

    /// A number below a limit.
    pub fn draw(&self, most: u64) -> u64 {
        draw(&mut self.state(), most)
    }

    /// The process of the calling thread, unless it is being killed.
    pub fn process(&self) -> Option<Process> {
        let state = self.state();
        let number = state.numbers.get(&thread::current().id())?;
        let process = state.members.get(number)?.process;
        (!state.killed.contains(&process)).then_some(process)
    }

    /// Does a process have threads?
    pub fn is_running(&self, process: Process) -> bool {
        let state = self.state();
        !state.killed.contains(&process)
            && state.members.values().any(|member| member.process == process)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, process: Process, thread: Option<Thread>) -> u64 {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.members.insert(number, Member { process, thread, until: None, hears: false });
        number
    }

    /// The number of the calling thread, if it belongs to the clock.
    fn number(&self) -> Option<u64> {
        self.state().numbers.get(&thread::current().id()).copied()
    }

    /// Lets another thread run, or this one again.
    fn pass(&self, number: u64, until: Option<Duration>, hears: bool) {
        let mut state = self.state();
        if let Some(member) = state.members.get_mut(&number) {
            (member.until, member.hears) = (until, hears);
        }
        Self::hand_on(&mut state);
        drop(state);
        self.await_turn(number);
        self.unwind_if_killed(number);
    }

    /// Chooses the thread that runs next.
    fn hand_on(state: &mut State) {
        state.running = None;
        let Some(next) = choose(state) else { return };
        state.running = Some(next);
        if let Some(member) = state.members.get_mut(&next) {
            member.until = None;
            if let Some(thread) = &member.thread {
                thread.unpark();
            }
        }
    }

    fn await_turn(&self, number: u64) {
        while self.state().running != Some(number) {
            thread::park();
        }
    }

    fn unwind_if_killed(&self, number: u64) {
        let state = self.state();
        let process = state.members.get(&number).map(|member| member.process);
        let is_killed = process.is_some_and(|process| state.killed.contains(&process));
        drop(state);
        if is_killed && !thread::panicking() {
            resume_unwind(Box::new(Killed));
        }
    }
}

fn draw(state: &mut State, most: u64) -> u64 {
    state.dice =
        state.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (state.dice >> 33) % most.max(1)
}

/// One of the threads that can go on. If there is none, time passes until there is one.
fn choose(state: &mut State) -> Option<u64> {
    loop {
        let now = state.now;
        state.paused.retain(|_, until| *until > now);
        let ready: Vec<u64> = (state.members.iter())
            .filter(|(_, member)| {
                let is_killed = state.killed.contains(&member.process);
                let is_due = member.until.is_none_or(|until| until <= now);
                is_killed || (is_due && !state.paused.contains_key(&member.process))
            })
            .map(|(number, _)| *number)
            .collect();
        if !ready.is_empty() {
            let place = draw(state, ready.len() as u64) as usize;
            return Some(ready[place]);
        }
        let moment = |member: &Member| {
            let paused = state.paused.get(&member.process).copied().unwrap_or_default();
            member.until.unwrap_or_default().max(paused)
        };
        state.now = state.members.values().map(moment).min()?;
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Duration {
        self.state().now
    }

    fn wait(&self, most: Duration, is_ready: &dyn Fn() -> bool) -> bool {
        let Some(number) = self.number().filter(|_| !thread::panicking()) else {
            return is_ready();
        };
        let until = self.now().saturating_add(most);
        loop {
            if is_ready() {
                return true;
            }
            if self.now() >= until {
                return false;
            }
            self.pass(number, Some(until), true);
        }
    }

    fn wake(&self) {
        for member in self.state().members.values_mut().filter(|member| member.hears) {
            member.until = None;
        }
    }

    fn sleep(&self, time: Duration) {
        let Some(number) = self.number().filter(|_| !thread::panicking()) else { return };
        let until = self.now().saturating_add(time);
        loop {
            self.pass(number, Some(until), false);
            if self.now() >= until {
                return;
            }
        }
    }

    fn spawn(&self, _name: &str, task: Box<dyn FnOnce() + Send>) {
        if let Some(process) = self.process() {
            self.start_thread(process, task);
        }
    }

    fn is_alive(&self) -> bool {
        self.number().is_none() || self.process().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two processes do, in the order in which it happens.
    fn story(seed: u64) -> Vec<(u32, u64)> {
        let clock = VirtualClock::new(seed);
        let told = Arc::new(Mutex::new(Vec::new()));
        clock.run(|| {
            for process in [1, 2] {
                let (own, told) = (Arc::clone(&clock), Arc::clone(&told));
                let task = move || {
                    for _ in 0..5 {
                        own.sleep(Duration::from_secs(u64::from(process)));
                        told.lock().expect("not poisoned").push((process, own.now().as_secs()));
                    }
                };
                clock.start(process, Box::new(task));
            }
            clock.sleep(Duration::from_secs(4));
            clock.kill(2);
            clock.pause(1, Duration::from_secs(60));
            clock.sleep(Duration::from_secs(100));
        });
        told.lock().expect("not poisoned").clone()
    }

    #[test]
    fn a_seed_decides_the_order_and_nothing_takes_time() {
        let mut orders = BTreeSet::new();
        for seed in 0..20 {
            let told = story(seed);
            assert_eq!(told, story(seed));
            let of = |process| {
                let own = told.iter().filter(|(one, _)| *one == process);
                own.map(|(_, second)| *second).collect::<Vec<_>>()
            };
            // At the fourth second the kill and the pause may come first or last.
            assert!([vec![1, 2, 3, 4, 64], vec![1, 2, 3, 64, 65]].contains(&of(1)), "{told:?}");
            assert!([vec![2], vec![2, 4]].contains(&of(2)), "{told:?}");
            orders.insert(told);
        }
        assert!(orders.len() > 1, "the seed decides nothing");
    }

    #[test]
    #[should_panic(expected = "a thread of the test")]
    fn a_panic_is_passed_on() {
        let clock = VirtualClock::new(1);
        clock.run(|| {
            clock.start(1, Box::new(|| panic!("a thread of the test")));
            clock.sleep(Duration::from_secs(1));
        });
    }
}
