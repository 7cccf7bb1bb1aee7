//! How often two operations meet within a window of about 20 ns: a send that touches the receiving end for
//! so long, and the receiving end that is dropped. Measured for every style and flavour of the harness, and
//! for a loop written by hand for just this pair.
//!
//! `cargo bench -p strait-runtimes --bench alignment [-- SECONDS]`
#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use strait_calculus::parse;
use strait_runtimes::harness::payload::Word;
use strait_runtimes::harness::plan::{Capacity, Plan};
use strait_runtimes::harness::random::linger;
use strait_runtimes::harness::runner::{Runner, Sessions};
use strait_runtimes::harness::target::{Answer, Contract, Target};
use strait_runtimes::{Flavour, Perturbation, RunOptions, Style, lower};

/// Rounds of [`linger`] that take about 20 ns.
const TOUCHES: u32 = 75;
/// Offsets of one thread against the other, in rounds of [`linger`].
const SWEEP: u32 = 512;
/// Runs of the program per job, as in a campaign that dwells on it.
const RUNS: u64 = 8_000;
const PROGRAM: &str = "main { chan c: int[1]; spawn { put c 1 }; abandon c }";

/// What a send touches.
#[derive(Default)]
struct End {
    touching: AtomicU32,
    is_freed: AtomicBool,
}

impl End {
    fn touch(&self) {
        if !self.is_freed.load(Ordering::SeqCst) {
            self.touching.fetch_add(1, Ordering::SeqCst);
            linger(TOUCHES);
            self.touching.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Did a send touch it just then?
    fn free(&self) -> bool {
        self.is_freed.store(true, Ordering::SeqCst);
        self.touching.load(Ordering::SeqCst) > 0
    }
}

/// A channel that holds nothing and counts the races that it saw.
#[derive(Clone, Default)]
struct Racing {
    hits: Arc<AtomicU64>,
}

struct Receiver {
    end: Arc<End>,
    hits: Arc<AtomicU64>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.hits.fetch_add(u64::from(self.end.free()), Ordering::Relaxed);
    }
}

impl Racing {
    fn pair(&self) -> (Arc<End>, Receiver) {
        let end = Arc::new(End::default());
        (Arc::clone(&end), Receiver { end, hits: Arc::clone(&self.hits) })
    }
}

impl Target for Racing {
    type Sender<W: Word> = Arc<End>;
    type Receiver<W: Word> = Receiver;

    fn contract(&self, _: Flavour) -> Option<Contract> {
        Some(Contract::ALL)
    }

    fn open<W: Word>(&self, _: Capacity) -> (Arc<End>, Receiver) {
        self.pair()
    }

    fn clone_sender<W: Word>(sender: &Arc<End>) -> Option<Arc<End>> {
        Some(Arc::clone(sender))
    }

    fn clone_receiver<W: Word>(_: &Receiver) -> Option<Receiver> {
        None
    }

    fn put<W: Word>(sender: &Arc<End>, _: W) -> Answer<W> {
        sender.touch();
        Answer::Sent
    }

    async fn put_task<W: Word>(sender: &Arc<End>, word: W) -> Answer<W> {
        Self::put(sender, word)
    }
}

/// Two threads that meet before each round, with offsets that sweep over each other.
fn by_hand(time: Duration, target: &Racing) -> u64 {
    let (begun, mut rounds) = (Instant::now(), 0);
    while begun.elapsed() < time {
        let mut pairs: Vec<_> = (0..RUNS).map(|_| target.pair()).collect();
        let ends: Vec<Arc<End>> = pairs.iter().map(|(end, _)| Arc::clone(end)).collect();
        let arrivals = AtomicU64::new(0);
        let meet = |round: u64| {
            arrivals.fetch_add(1, Ordering::AcqRel);
            while arrivals.load(Ordering::Acquire) < 2 * (round + 1) {
                std::hint::spin_loop();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (round, end) in ends.iter().enumerate() {
                    meet(round as u64);
                    end.touch();
                }
            });
            for (round, (_, receiver)) in pairs.drain(..).enumerate() {
                meet(round as u64);
                linger(round as u32 % SWEEP);
                drop(receiver);
            }
        });
        rounds += RUNS;
    }
    rounds
}

fn by_harness(time: Duration, target: &Racing, plan: &Plan, style: Style, flavour: Flavour) -> u64 {
    let mut sessions = Sessions::new(target.clone());
    let (begun, mut runs) = (Instant::now(), 0);
    while begun.elapsed() < time {
        let options = RunOptions {
            style,
            flavour,
            seed: runs,
            repetitions: RUNS,
            perturbation: Perturbation::None,
            ..RunOptions::default()
        };
        runs += sessions.run(plan, &options).expect("threads can be started").runs;
    }
    runs
}

fn line(name: &str, measure: impl FnOnce(&Racing) -> u64) {
    let target = Racing::default();
    let begun = Instant::now();
    let runs = measure(&target);
    let (hits, seconds) = (target.hits.load(Ordering::Relaxed), begun.elapsed().as_secs_f64());
    println!(
        "{name:<20} {:>10.0} runs/s {:>10.1} races/s {:>10.6} races per run",
        runs as f64 / seconds,
        hits as f64 / seconds,
        hits as f64 / runs as f64
    );
}

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let seconds = std::env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(5.0);
    let time = Duration::from_secs_f64(if is_measured { seconds } else { 0.01 });
    let (touched, end) = (Instant::now(), End::default());
    (0..100_000).for_each(|_| end.touch());
    println!("a touch takes {:.0} ns", touched.elapsed().as_nanos() as f64 / 1e5);
    let plan = lower(&parse(PROGRAM).expect("the program is right")).expect("it can be lowered");
    line("by hand", |target| by_hand(time, target));
    for (word, style) in Style::all() {
        for flavour in [Flavour::Threads, Flavour::Tasks, Flavour::Mixed] {
            let name = format!("{word}, {}", flavour.word());
            line(&name, |target| by_harness(time, target, &plan, style, flavour));
        }
    }
}
