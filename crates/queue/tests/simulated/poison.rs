//! Messages that cannot be used, on their way through a server in memory: they are set aside, and the
//! campaign ends with exactly what a campaign in one process executes, counts and finds.
//!
//! `STRAIT_MUTATIONS` is the number of changed messages, `STRAIT_TEST_SEED` what is drawn.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::forged::{dice, mutate, sealed};
use crate::memory::{MemoryServer, Place};
use crate::simulation::{Outcome, Plan, SUBMITTER, Simulation, each_seed, number};
use strait_queue::{Bucket, Clock, Form, PROTOCOL, QueueEvent, Stream};

const WORK: Place = Place::Stream(Stream::Work);
const RESULTS: Place = Place::Stream(Stream::Results);
const CAMPAIGNS: Place = Place::Bucket(Bucket::Campaigns);

/// The name of the first campaign of a server.
const FIRST: &str = "name0";

/// A result.
fn report(item: &str, more: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"item":{item},"whole":true,"programs":10,"runs":20,"spent_ms":1,"counts":{{}},"shown":[],"parcels":[],"worker":"forged"{more}}}"#
    );
    sealed("result", &body)
}

/// How many messages were set aside, and the sentences about them, each once.
fn set_aside(told: &[QueueEvent]) -> (usize, Vec<String>) {
    let why = |told: &QueueEvent| match told {
        QueueEvent::SetAside(letter) => Some(letter.why.clone()),
        _ => None,
    };
    let all: Vec<String> = told.iter().filter_map(why).collect();
    let mut sentences = all.clone();
    sentences.sort();
    sentences.dedup();
    (all.len(), sentences)
}

/// Does something to a campaign of this name.
type Act = dyn Fn(&MemoryServer, &str);

/// What is done to a campaign.
enum Attack {
    /// These messages come before its own work.
    Work(Vec<Vec<u8>>),
    /// This is done when its work is given out.
    Later(Box<Act>),
}

fn work(message: impl Into<Vec<u8>>) -> Attack {
    Attack::Work(vec![message.into()])
}

fn result(message: impl Into<Vec<u8>>) -> Attack {
    let message = message.into();
    Attack::Later(Box::new(move |server, job| server.write(RESULTS, job, message.clone())))
}

fn item(body: &str) -> Attack {
    work(sealed("work", body))
}

/// One row for each kind of poison: what is done to a campaign, how many messages are set aside, and the
/// sentence about them.
fn table() -> Vec<(Attack, usize, &'static str)> {
    let not_ours = "it is not a message of Strait";
    let three = Attack::Work(vec![b"garbage".to_vec(), Vec::new(), vec![0xff; 300]]);
    let lost = r#"{"target":0,"start":0,"end":10}"#;
    let lost = format!(
        r#"{{"item":{lost},"whole":true,"programs":10,"runs":20,"spent_ms":1,"counts":{{}},"shown":[{{"finding":"hang-x","seed":3,"indices":[1]}}],"parcels":[["hang-x","JOB.hang-x.1"]],"worker":"forged"}}"#
    );
    vec![
        (three, 3, not_ours),
        (work(r#"{"target":0,"start":0,"end":10}"#), 1, not_ours),
        (
            work("strait/3 work 0000000000000000\n{}"),
            1,
            "it has version 3 of the protocol; this version of Strait has 5",
        ),
        (
            work(sealed("campaign", "{}")),
            1,
            "it is a message of the kind `campaign` in a place for `work`",
        ),
        (
            work(format!(
                "strait/{PROTOCOL} work 0000000000000000\n{{\"target\":0,\"start\":0,\"end\":10}}"
            )),
            1,
            "it is damaged: its checksum does not fit",
        ),
        (work(vec![b'a'; 500_000]), 1, "it has 500000 bytes; the limit is 4096"),
        (
            item(r#"{"target":999,"start":0,"end":10}"#),
            1,
            "it names target 999; the campaign has 1",
        ),
        (item(r#"{"target":0,"start":20,"end":10}"#), 1, "its indices, 20 to 10, are impossible"),
        (
            item(r#"{"target":0,"start":9223372036854775808,"end":9223372036854775818}"#),
            1,
            "its indices, 9223372036854775808 to 9223372036854775818, are impossible",
        ),
        (
            item(r#"{"target":0,"start":990,"end":1010}"#),
            1,
            "it names program 1009; the campaign has 1000 of this target",
        ),
        // Work that is done twice counts once; what was not given out like this counts never.
        (item(r#"{"target":0,"start":0,"end":10}"#), 0, ""),
        (
            item(r#"{"target":0,"start":5,"end":15}"#),
            1,
            "programs 5 to 15 of target 0 were not given out as a piece of work",
        ),
        (result(*b"garbage"), 1, not_ours),
        (
            result(report(r#"{"target":0,"start":20,"end":10}"#, "")),
            1,
            "its indices, 20 to 10, are impossible",
        ),
        (
            result(report(
                r#"{"target":0,"start":9223372036854775808,"end":9223372036854775818}"#,
                "",
            )),
            1,
            "its indices, 9223372036854775808 to 9223372036854775818, are impossible",
        ),
        (
            result(report(r#"{"target":7,"start":0,"end":10}"#, "")),
            1,
            "it names target 7; the campaign has 1",
        ),
        (
            result(report(r#"{"target":0,"start":995,"end":999}"#, "")),
            1,
            "programs 995 to 999 of target 0 were not given out as a piece of work",
        ),
        (
            result(report(r#"{"target":0,"start":0,"end":10}"#, r#","whole":false"#)),
            1,
            "it cannot be read: duplicate field `whole` at line 1 column 151",
        ),
        (
            Attack::Later(Box::new(move |server, job| {
                let item = r#""target":0,"start":990,"end":1000"#;
                let lost = lost.replace(r#""target":0,"start":0,"end":10"#, item);
                let lost = sealed("result", &lost.replace("JOB", job));
                server.write(RESULTS, job, lost);
            })),
            1,
            "the description of finding hang-x is missing or incomplete in the queue",
        ),
        (
            Attack::Later(Box::new(|server, job| {
                server.write(CAMPAIGNS, job, b"garbage".to_vec());
            })),
            1,
            not_ours,
        ),
    ]
}

/// 1,000 programs, so that all of them are given out at once.
fn plan(seed: u64) -> Plan {
    let mut plan = Plan::new(seed, 1000);
    plan.nap = Duration::from_millis(5);
    plan
}

/// Until the submitter has given out all of its work.
fn until_given_out(simulation: &Simulation) -> String {
    let job = simulation.job();
    while simulation.server.look_into(WORK).len() < 100 {
        simulation.clock.sleep(Duration::from_millis(10));
    }
    job
}

#[test]
fn every_kind_of_poison_is_set_aside() {
    for (row, (attack, letters, sentence)) in table().into_iter().enumerate() {
        let plan = plan(row as u64);
        let expected = plan.expected();
        let Outcome { results, told, .. } = Simulation::run(plan, |simulation| match &attack {
            Attack::Work(messages) => {
                for message in messages {
                    simulation.server.write(WORK, FIRST, message.clone());
                }
                assert_eq!(simulation.job(), FIRST);
            }
            Attack::Later(act) => act(&simulation.server, &until_given_out(simulation)),
        });
        let sentences = if letters == 0 { vec![] } else { vec![sentence.to_owned()] };
        assert_eq!(set_aside(&told), (letters, sentences), "row {row}: {told:?}");
        assert_eq!(results, expected, "row {row}: {sentence}");
    }
}

#[test]
fn a_campaign_is_resumed_after_poison() {
    let plan = plan(7);
    let expected = plan.expected();
    let Outcome { results, told, .. } = Simulation::run(plan, |simulation| {
        let job = until_given_out(simulation);
        simulation.start_worker(SUBMITTER + 1);
        simulation.clock.sleep(Duration::from_millis(700));
        simulation.clock.kill(SUBMITTER);
        let huge = r#"{"target":0,"start":9223372036854775808,"end":9223372036854775818}"#;
        // The last one is about work that is still to be done, and work that never was.
        for poison in [
            report(huge, ""),
            report(r#"{"target":0,"start":20,"end":10}"#, ""),
            b"garbage".to_vec(),
            report(r#"{"target":0,"start":995,"end":1005}"#, ""),
        ] {
            simulation.server.write(RESULTS, &job, poison);
        }
        simulation.clock.sleep(Duration::from_millis(300));
    });
    let (letters, sentences) = set_aside(&told);
    assert_eq!((letters, sentences.len()), (4, 4), "{told:?}");
    assert_eq!(results, expected);
}

/// Changes so many messages of a campaign; how many at each place.
fn vandalise(simulation: &Arc<Simulation>, seed: u64, mutations: u64) -> BTreeMap<Place, u64> {
    let (clock, server) = (&simulation.clock, &simulation.server);
    let (mut dice, mut done) = (dice(seed), BTreeMap::new());
    simulation.job();
    simulation.restart_the_dead();
    while done.values().sum::<u64>() < mutations && !simulation.is_over() {
        clock.sleep(Duration::from_millis(1 + dice(40)));
        match dice(60) {
            // Results are there to be changed only while the submitter does not read them.
            0..5 => clock.pause(SUBMITTER, Duration::from_millis(700)),
            // There are notes only about work that came back.
            5 => clock.kill(SUBMITTER + 1),
            _ => {}
        }
        simulation.restart_the_dead();
        // Mostly work and results; the rest is rarer in a campaign, too.
        let places = [
            (WORK, 3),
            (RESULTS, 5),
            (Place::Objects, 2),
            (Place::Bucket(Bucket::Notes), 2),
            (Place::Bucket(Bucket::Workers), 1),
            (CAMPAIGNS, u64::from(dice(4) == 0)),
        ];
        let all = places.iter().flat_map(|(place, weight)| vec![*place; *weight as usize]);
        let all: Vec<Place> = all.collect();
        let place = all[dice(all.len() as u64) as usize];
        let there = server.look_into(place);
        if there.is_empty() {
            continue;
        }
        let (name, number, message) = &there[dice(there.len() as u64) as usize];
        let changed = mutate(message, &mut dice);
        if changed == *message {
            continue;
        }
        // A changed piece of an object is seen by the server's checksum; a changed object is not.
        match place == Place::Objects && dice(2) == 0 {
            true => server.lose(place, name, *number),
            false => server.write(place, name, changed),
        }
        if dice(6) == 0 && matches!(place, Place::Stream(_)) {
            server.lose(place, name, *number);
        }
        *done.entry(place).or_default() += 1;
    }
    done
}

#[test]
fn changed_messages_change_nothing() {
    /// So many in one campaign.
    const EACH: u64 = 100;
    let mutations = number("STRAIT_MUTATIONS").unwrap_or(1000);
    let first = number("STRAIT_TEST_SEED").unwrap_or(1);
    let changed = Mutex::new((BTreeMap::<Place, u64>::new(), 0, BTreeMap::<Form, u64>::new()));
    each_seed(first..first + mutations.div_ceil(EACH), |seed| {
        let mut plan = Plan::new(seed, 1000);
        plan.nap = Duration::from_millis(20);
        let expected = plan.expected();
        let mut done = BTreeMap::new();
        let Outcome { results, told, .. } =
            Simulation::run(plan, |simulation| done = vandalise(simulation, seed, EACH));
        assert_eq!(results, expected, "seed {seed}: {done:?}");
        let mut changed = changed.lock().expect("not poisoned");
        for (place, count) in done {
            *changed.0.entry(place).or_default() += count;
        }
        for told in told {
            if let QueueEvent::SetAside(letter) = told {
                changed.1 += 1;
                *changed.2.entry(letter.place).or_default() += 1;
            }
        }
    });
    let (places, letters, forms) = changed.into_inner().expect("not poisoned");
    let done: u64 = places.values().sum();
    println!(
        "{done} changed messages {places:?}, {letters} set aside {forms:?}; every count is right"
    );
    assert!(done * 10 >= mutations * 9, "campaigns were over too early: {done}");
    assert!(letters * 10 > done, "few of them were set aside: {letters}");
}
