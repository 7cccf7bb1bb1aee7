//! The protocol over a server in memory: workers, submitters and servers die, pause, forget and lose
//! messages, by schedules that a seed decides, and each campaign ends with exactly what a campaign in one
//! process executes, counts and finds.
//!
//! `STRAIT_TEST_COUNT` is the number of schedules, `STRAIT_TEST_SEED` the first one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::memory::Faults;
use crate::simulation::{Outcome, Plan, SUBMITTER, Simulation, each_seed, number};
use strait_queue::{Clock, LOST, QueueEvent};

fn millis(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Something bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    KillWorker,
    PauseWorker,
    KillSubmitter,
    /// The submitter does nothing for longer than a lease, and the server drops what it gives to it and
    /// others meanwhile, as NATS does with slow consumers.
    SlowSubmitter,
    /// The server's clock is set, forward or back.
    SetClock,
    ServerAway,
    Wipe,
    Full,
}

/// Does these things to a campaign, some time apart; then everything works.
fn disturb(simulation: &Arc<Simulation>, events: &[Event], faults: Faults, apart: u64) {
    let clock = &simulation.clock;
    simulation.server.fail(faults);
    simulation.restart_the_dead();
    for event in events {
        clock.sleep(millis(clock.draw(apart)));
        if simulation.is_over() {
            return;
        }
        let worker = SUBMITTER + 1 + clock.draw(u64::from(simulation.plan.workers)) as u32;
        match event {
            Event::KillWorker => clock.kill(worker),
            // Past its lease: another worker gets its work, and then it delivers as well.
            Event::PauseWorker => clock.pause(worker, simulation.plan.lease * 2),
            Event::KillSubmitter => clock.kill(SUBMITTER),
            Event::SlowSubmitter => {
                let time = simulation.plan.lease * (1 + clock.draw(5) as u32);
                clock.pause(SUBMITTER, time);
                simulation.server.cut_readers_off(time);
            }
            Event::SetClock => {
                let by = millis([2_000, 60_000, 1_200_000][clock.draw(3) as usize]);
                simulation.server.set_clock(by, clock.draw(2) == 0);
            }
            Event::ServerAway => simulation.server.stay_away(millis(clock.draw(8000))),
            Event::Wipe => simulation.server.wipe(),
            Event::Full => {
                simulation.server.fail(Faults { is_full: true, ..faults });
                clock.sleep(millis(clock.draw(5000)));
                simulation.server.fail(faults);
            }
        }
        // Its threads end when they are next in turn.
        clock.sleep(millis(1 + clock.draw(1000)));
        simulation.restart_the_dead();
    }
    simulation.server.fail(Faults::default());
}

/// A schedule: everything in it is drawn from the seed.
fn chaos(seed: u64) -> (Plan, Vec<Event>, Faults, u64) {
    let mut state = seed ^ 0x2545_f491_4f6c_dd1d;
    let mut draw = move |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut plan = Plan::new(seed, 60 + draw(90));
    plan.workers = 3;
    plan.nap = millis(5 + draw(250));
    plan.deadly = (0..[0, 0, 0, 1, 2][draw(5) as usize]).map(|_| draw(plan.count)).collect();
    plan.killed_at = (0..[0, 0, 1][draw(3) as usize]).map(|_| draw(plan.count)).collect();
    plan.killed_at.retain(|index| !plan.deadly.contains(index));
    plan.disturbed = [0, 30][draw(2) as usize];
    let rare = [
        Event::PauseWorker,
        Event::ServerAway,
        Event::KillSubmitter,
        Event::Full,
        Event::SlowSubmitter,
        Event::SetClock,
    ];
    let mut events: Vec<Event> = (0..draw(25))
        .map(|_| if draw(3) > 0 { Event::KillWorker } else { rare[draw(6) as usize] })
        .collect();
    if draw(2) == 0 {
        let place = draw(events.len() as u64 + 1) as usize;
        events.insert(place, Event::Wipe);
    }
    let poor = |draw: &mut dyn FnMut(u64) -> u64| [0, 0, 20, 100][draw(4) as usize];
    let faults = Faults {
        lost_requests: poor(&mut draw),
        lost_answers: poor(&mut draw),
        lost_deliveries: poor(&mut draw),
        repeated: poor(&mut draw),
        // High load: an answer may take longer than a lease.
        latency: millis([1, 20, 300, 4000][draw(4) as usize]),
        is_full: false,
    };
    (plan, events, faults, 200 + draw(3000))
}

#[test]
fn whatever_dies_each_program_counts_once_and_no_kill_is_a_finding() {
    let (first, count) = (number("STRAIT_TEST_SEED"), number("STRAIT_TEST_COUNT"));
    let (first, count) = (first.unwrap_or(1), count.unwrap_or(200));
    let [events, deaths, deadly, hours] = [(); 4].map(|()| AtomicU64::new(0));
    each_seed(first..first + count, |seed| {
        let (plan, schedule, faults, apart) = chaos(seed);
        let expected = plan.expected();
        let (own, number) = (plan.clone(), schedule.len() as u64);
        let Outcome { results, took, deaths_alone, .. } =
            Simulation::run(plan, |simulation| disturb(simulation, &schedule, faults, apart));
        assert_eq!(results, expected, "seed {seed}: {own:?} {schedule:?} {faults:?}");
        for (sum, more) in [
            (&events, number),
            (&deaths, deaths_alone),
            (&deadly, own.deadly.len() as u64),
            (&hours, took.as_secs()),
        ] {
            sum.fetch_add(more, Ordering::Relaxed);
        }
    });
    let [events, deaths, deadly, hours] =
        [events, deaths, deadly, hours].map(AtomicU64::into_inner);
    println!(
        "{count} schedules from seed {first}: {events} kills, pauses and failures in {} hours of the \
         campaigns' own time; {deadly} deadly programs, {deaths} deaths of processes that ran something \
         alone; every count is right",
        hours / 3600
    );
}

/// What is done to a campaign of 200 programs with one worker, and how often a process dies alone.
#[test]
fn only_what_dies_alone_is_deadly() {
    let none: &[u64] = &[];
    let table = [
        (none, none, 0),
        (&[123], none, 2),
        (&[0, 199], none, 4),
        // Each time a worker comes to this program it is killed from outside.
        (none, &[123], 0),
        (&[50], &[51, 120], 2),
    ];
    for (deadly, killed_at, deaths) in table {
        for seed in 0..10 {
            let mut plan = Plan::new(seed, 200);
            plan.deadly = deadly.iter().copied().collect();
            plan.killed_at = killed_at.iter().copied().collect();
            let expected = plan.expected();
            let outcome = Simulation::run(plan, |_| {});
            assert_eq!(outcome.results, expected, "{deadly:?} {killed_at:?} seed {seed}");
            assert_eq!(outcome.deaths_alone, deaths, "{deadly:?} {killed_at:?} seed {seed}");
        }
    }
}

#[test]
fn a_campaign_that_was_killed_is_taken_up() {
    for seed in 0..10 {
        let plan = Plan::new(seed, 300);
        let expected = plan.expected();
        let outcome = Simulation::run(plan, |simulation| {
            for _ in 0..5 {
                simulation.restart_the_dead();
                simulation.clock.sleep(millis(500 + simulation.clock.draw(1500)));
                simulation.clock.kill(SUBMITTER);
                simulation.clock.sleep(millis(10));
            }
        });
        assert_eq!(outcome.results, expected, "seed {seed}");
    }
}

#[test]
fn what_happens_to_workers_and_the_server_is_said() {
    let mut plan = Plan::new(5, 2000);
    plan.lease = millis(1000);
    let expected = plan.expected();
    let worker = SUBMITTER + 1;
    let outcome = Simulation::run(plan, |simulation| {
        let clock = &simulation.clock;
        let mut heard = 0;
        // What is new since the last time.
        let mut news = |time: Duration| {
            clock.sleep(time);
            let told = simulation.told();
            let news = told[heard..].to_vec();
            heard = told.len();
            news
        };
        let name = format!("worker {worker}");
        let grace = Duration::from_secs(10);
        assert_eq!(news(grace), [QueueEvent::NoWorkers]);
        simulation.start_worker(worker);
        assert_eq!(news(grace), [QueueEvent::WorkerJoined(name.clone())]);
        clock.kill(worker);
        let lost = news(LOST + grace);
        assert!(lost.contains(&QueueEvent::WorkerLost(name.clone())), "{lost:?}");
        assert!(lost.contains(&QueueEvent::NoWorkers), "{lost:?}");
        simulation.start_worker(worker);
        assert_eq!(news(grace), [QueueEvent::WorkerJoined(name)]);
        // A worker is not lost because the server is away, or has lost its files.
        simulation.server.stay_away(Duration::from_secs(30));
        assert_eq!(news(Duration::from_secs(30) + grace), [QueueEvent::ServerAway]);
        simulation.server.wipe();
        assert_eq!(news(Duration::from_secs(30)), []);
        simulation.server.fail(Faults { is_full: true, ..Faults::default() });
        assert_eq!(news(Duration::from_secs(30)), [QueueEvent::Refuses("no room".to_owned())]);
        simulation.server.fail(Faults::default());
    });
    assert_eq!(outcome.results, expected);
}
