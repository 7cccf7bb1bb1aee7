//! What a campaign knows about one test, and what its next run is.

use std::collections::VecDeque;
use std::time::Duration;

use strait_findings::Ranges;
use strait_golang::{Run, State};

use crate::chance::Chance;
use crate::feedback::{Coverage, Feedback};
use crate::order::Order;
use crate::plan::{Plan, Switches, arm};
use crate::predict::{CycleTry, LockCycle};
use crate::queue::Queue;
use crate::subject::{Clock, Subject};

/// The least that a test may take, and what it may take compared with its first run.
const LIMIT: Duration = Duration::from_secs(4);
const REAL_LIMIT: Duration = Duration::from_secs(10);
const LONGER: u32 = 10;
/// What a test may take by the real clock that did not end within the least.
const SLOW_LIMIT: Duration = Duration::from_secs(60);
/// Real runs are mixed in once in so many runs, unless they take long.
const REAL_EVERY: u64 = 4;
const QUICK: Duration = Duration::from_millis(1500);

/// How many runs of a test come first that nothing disturbs.
const UNDISTURBED: u64 = 2;

/// A test that has killed the worker that ran it so often is not run any more.
const TOO_OFTEN: u32 = 3;

/// By the virtual clock windows of 0.5, 3.5, 12.5 and 33.5 seconds take turns.
const PATIENCE: [u32; 4] = [0, 1, 4, 11];

/// A test and its progress.
#[derive(Debug)]
pub struct Progress {
    /// The test.
    pub subject: Subject,
    /// Runs handed out.
    pub issued: u64,
    /// Runs of an earlier session, which are not made again, except for the first: it teaches what the others
    /// need.
    done: Ranges,
    /// Has the first run, which nothing disturbs, come back?
    pub seeded: bool,
    /// Distinct findings of this test.
    pub found: u64,
    /// How long its runs have taken, and how many there were.
    pub spent: Duration,
    /// Runs that have come back, confirmations left out.
    pub made: u64,
    /// Which clock its runs have.
    pub clock: Clock,
    /// It failed at first, without any disturbance.
    pub fails: bool,
    /// It ends the process by itself.
    pub exits: bool,
    /// Circles of locks that a run has shown, and runs that may close them.
    predicted: Vec<LockCycle>,
    untried: VecDeque<CycleTry>,
    queue: Queue,
    coverage: Coverage,
    seed_order: Order,
    duration: [Option<Duration>; 2],
    /// It did not end within the least that a test may take.
    slow: bool,
    lost: u32,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its number within the test.
    pub number: u64,
    /// What it is asked for.
    pub plan: Plan,
    /// Its clock.
    pub clock: Clock,
    /// How long it may take.
    pub limit: Duration,
}

impl Progress {
    /// Nothing is known yet.
    pub fn new(subject: Subject) -> Self {
        Progress::resumed(subject, Ranges::default())
    }

    /// These runs were made in an earlier session, and nothing else is known.
    pub fn resumed(subject: Subject, done: Ranges) -> Self {
        let clock = if subject.tests.fast.is_some() { Clock::Virtual } else { Clock::Real };
        Progress {
            subject,
            issued: 0,
            done,
            seeded: false,
            found: 0,
            spent: Duration::ZERO,
            made: 0,
            clock,
            fails: false,
            exits: false,
            predicted: Vec::new(),
            untried: VecDeque::new(),
            queue: Queue::default(),
            coverage: Coverage::default(),
            seed_order: Order::default(),
            duration: [None; 2],
            slow: false,
            lost: 0,
        }
    }

    /// Whose turn it is: the lowest comes first. All tests get the same time, but where something was
    /// found, less is to be found.
    pub fn rank(&self) -> Duration {
        self.spent.saturating_mul(1 + 3 * self.found.min(8) as u32)
    }

    /// The next run; `None` while the first one is under way.
    pub fn next(&mut self, seed: u64, switches: Switches) -> Option<Job> {
        let number = self.issued;
        if number > 0 && !self.seeded {
            return None;
        }
        self.issue();
        let name = self.subject.name();
        let mut chance = Chance::new(seed, &name, number);
        let mut plan = Plan::plain(chance.any());
        let real = number % REAL_EVERY == REAL_EVERY - 1
            && self.duration[1].is_none_or(|duration| duration < QUICK);
        let mut clock = if real { Clock::Real } else { self.clock };
        if let Some(next) = self.untried.pop_front().filter(|_| switches.yields) {
            plan.slow = next.pauses;
            clock = next.clock;
        } else if number >= UNDISTURBED {
            let arm = arm(number - UNDISTURBED, switches, &mut chance);
            (plan.rate, plan.sited) = (arm.rate, arm.sited);
            plan.processors = arm.single.then_some(1);
            if arm.ordered {
                self.order(&mut plan, switches, &mut chance);
                if clock == Clock::Virtual {
                    // Waiting costs nothing there, and timeouts of programs are often long.
                    plan.patience += PATIENCE[chance.below(PATIENCE.len() as u32) as usize];
                }
            }
        }
        Some(Job { number, plan, clock, limit: self.limit(clock) })
    }

    /// One more run is handed out.
    fn issue(&mut self) {
        self.issued += 1;
        while self.done.contains(self.issued) {
            self.issued += 1;
        }
    }

    fn order(&mut self, plan: &mut Plan, switches: Switches, chance: &mut Chance) {
        if switches.feedback {
            if let Some(entry) = self.queue.take() {
                plan.order = match entry.again {
                    true => entry.order.clone(),
                    false => entry.order.mutated(chance),
                };
                plan.patience = entry.patience;
            }
        } else {
            // Without feedback all orders are mutants of the first one.
            plan.order = self.seed_order.mutated(chance);
        }
    }

    /// Has a run by this clock ended that nothing disturbed?
    pub fn has_ended(&self, clock: Clock) -> bool {
        self.duration[clock as usize].is_some()
    }

    /// How long a run may take.
    pub fn limit(&self, clock: Clock) -> Duration {
        let least = match clock {
            Clock::Virtual => LIMIT,
            Clock::Real if self.slow => SLOW_LIMIT,
            Clock::Real => REAL_LIMIT,
        };
        self.duration[clock as usize].map_or(least, |known| least.max(known * LONGER))
    }

    /// Takes in what a run has shown about orders. Says whether the job counts: a first run by a
    /// clock that does not suit the test is made again.
    pub fn learn(&mut self, job: &Job, run: &Run, judged: bool) -> bool {
        let hung = run.trace.state == State::Overdue || run.was_killed();
        let strange = !run.passed() && !judged;
        if job.clock == Clock::Virtual && (hung || (job.number == 0 && strange)) {
            self.clock = Clock::Real;
            if job.number == 0 {
                self.issued = 0;
                return false;
            }
        }
        if job.number == 0 && hung && !judged {
            // Once it gets more time; a test that needs even more does not get that in every run.
            self.slow = !self.slow;
            if self.slow {
                self.issued = 0;
                return false;
            }
        }
        self.exits |= run.trace.state == State::Exited;
        if job.number == 0 {
            self.fails = strange;
            self.seed_order = Order::exercised(&run.trace.steps);
        }
        if job.plan.rate == 0 && !hung {
            let known = &mut self.duration[job.clock as usize];
            *known = Some(known.map_or(run.finished.wall, |known| known.max(run.finished.wall)));
        }
        self.feed(job, run);
        self.seeded = true;
        true
    }

    /// Takes in circles of locks that a run has shown. What needs the virtual clock is left out where it
    /// does not work.
    pub fn predict(&mut self, cycles: Vec<LockCycle>) {
        for cycle in cycles {
            if self.predicted.iter().all(|known| known.places != cycle.places) {
                let works = |next: &CycleTry| next.clock == Clock::Real || next.clock == self.clock;
                self.untried.extend(cycle.tries().filter(works));
                self.predicted.push(cycle);
            }
        }
    }

    /// Circles of locks that were predicted.
    pub fn predicted(&self) -> &[LockCycle] {
        &self.predicted
    }

    /// It is not run any more, and nothing is said about it.
    pub fn retire(&mut self) {
        (self.issued, self.fails) = (u64::MAX, false);
    }

    /// The worker that made the run was killed. Says whether that is too much: then it was the last run.
    pub fn lose(&mut self, job: &Job) -> bool {
        self.lost += 1;
        if self.lost == TOO_OFTEN {
            self.retire();
            return true;
        }
        if !self.seeded && job.number == 0 {
            self.issued = 0;
        }
        false
    }

    /// The order goes into the queue if it is interesting, or if its wishes were all in vain and it
    /// deserves more patience (section 7.1 of the paper).
    fn feed(&mut self, job: &Job, run: &Run) {
        const MOST_PATIENCE: u32 = 2;
        let feedback = Feedback::of(&run.trace);
        let interesting = self.coverage.admit(&feedback);
        if interesting {
            let order = Order::exercised(&run.trace.steps);
            self.queue.push(order, feedback.score());
        }
        let in_vain = run.trace.expired > 0 && run.trace.enforced == 0;
        if in_vain && !job.plan.order.is_empty() && job.plan.patience < MOST_PATIENCE {
            self.queue.retry(job.plan.order.clone(), job.plan.patience + 1);
        }
    }
}
