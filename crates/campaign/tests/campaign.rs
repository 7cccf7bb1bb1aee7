//! Campaigns of a workload that naps: everything is done once, whatever ends the campaign in between. What is
//! found is put off and delivered beside.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use strait_campaign::{
    Campaign, Context, Counters, Delivery, Ending, Error, Mismatch, Pieces, Request, Settings,
    Stop, Workload, begin,
};
use strait_findings::{Discovery, Kind, Store};
use strait_queue::{LateDelivery, Part, Piece, TargetVersion};

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Campaign(#[from] Error),
    #[error("nap {0} failed")]
    Nap(u64),
}

/// What happens at an index.
#[derive(Clone, Copy, PartialEq)]
enum Event {
    Fails(u64),
    Panics(u64),
    Stops(u64),
    Nothing,
}

struct Naps<'a> {
    event: Event,
    stop: &'a Stop,
    /// Indices that ran, in their order.
    ran: Mutex<Vec<u64>>,
    threads: AtomicU64,
    put_off: Mutex<Vec<(usize, LateDelivery, Part)>>,
}

impl Workload for Naps<'_> {
    type Thread = u64;
    type Error = Trouble;
    type Settings = Plain;

    fn job_settings(&self) -> Value {
        Value::Null
    }

    fn targets(&self) -> Vec<TargetVersion> {
        vec![TargetVersion { target: "bed".to_owned(), version: "1".to_owned() }]
    }

    fn piece_size(&self, _lane: usize, _pieces: Pieces) -> u64 {
        4
    }

    fn thread(&self, _number: usize) -> u64 {
        self.threads.fetch_add(1, Ordering::SeqCst)
    }

    fn leave(&self, _thread: u64) {
        self.threads.fetch_sub(1, Ordering::SeqCst);
    }

    fn run(
        &self,
        _thread: &mut u64,
        context: &Context<'_>,
        piece: &Piece,
        delivery: &mut Delivery<'_>,
    ) -> Result<bool, Trouble> {
        for index in piece.indices.clone() {
            match self.event {
                Event::Fails(at) if at == index => return Err(Trouble::Nap(index)),
                Event::Panics(at) => assert_ne!(at, index, "as the test asks"),
                Event::Stops(at) if at == index => self.stop.end(),
                _ => {}
            }
            if context.is_due() {
                return Ok(false);
            }
            self.ran.lock().expect("not poisoned").push(index);
            let mut part = Part { programs: 1, runs: 2, ..Part::default() };
            part.indices.insert(index..index + 1);
            part.counts.insert("naps".to_owned(), 1);
            if index % 10 == 3 {
                part.notes.push(json!(index));
                part.discoveries.push(Discovery::new(Kind::HANG, "bed", "1", 7, index));
                let late = delivery.late().expect("a campaign of this process");
                self.put_off.lock().expect("not poisoned").push((piece.target, late, part));
                continue;
            }
            if !delivery.deliver(part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    const BESIDE: usize = 1;

    fn beside(&self, context: &Context<'_>, is_over: &dyn Fn() -> bool) -> Result<(), Trouble> {
        loop {
            let over = is_over();
            let put_off = std::mem::take(&mut *self.put_off.lock().expect("not poisoned"));
            for (target, late, part) in put_off {
                context.count(target, &part);
                late.deliver(part);
            }
            if over {
                return Ok(());
            }
            std::thread::yield_now();
        }
    }

    fn deadly(&self, _piece: &Piece) -> Part {
        Part::default()
    }
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Plain;

impl Settings for Plain {
    const KIND: &'static str = "naps";
    const COMMAND: &'static str = "strait nap";
    const GENERATOR: u32 = 1;

    fn resumed(self, _: &Self) -> Result<Self, Mismatch> {
        Ok(self)
    }
}

/// One session of a campaign over so many naps: how it ended, what ran, and what was counted.
fn session(
    store: &mut Store,
    count: u64,
    resume: bool,
    event: Event,
) -> (Result<(), Trouble>, Vec<u64>, Counters) {
    let folder = tempfile::tempdir().expect("a folder");
    let request = Request::<Plain> { count: Some(count), resume, ..Request::default() };
    let begun = begin(store, folder.path(), request, 7).expect("begun");
    let (stop, counters) = (Stop::default(), Counters::default());
    let workload = Naps {
        event,
        stop: &stop,
        ran: Mutex::default(),
        threads: AtomicU64::new(0),
        put_off: Mutex::default(),
    };
    let campaign = Campaign {
        workload: &workload,
        count: begun.count,
        shard: begun.shard,
        jobs: 3,
        stop: &stop,
        counters: &counters,
    };
    let ended = campaign.run(store, begun.id, &mut |_, _| {});
    if !matches!(event, Event::Panics(_)) {
        assert_eq!(workload.threads.load(Ordering::SeqCst), 0, "every thread has left");
    }
    let (done, all) = campaign.progress(store, begun.id).expect("readable");
    assert_eq!((done <= count, all), (true, Some(count)));
    (ended, workload.ran.into_inner().expect("not poisoned"), counters)
}

#[test]
fn every_index_is_done_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(folder.path()).expect("a store");
    let (ended, mut ran, counters) = session(&mut store, 50, false, Event::Nothing);
    ended.expect("it comes to its end");
    ran.sort_unstable();
    assert_eq!(ran, (0..50).collect::<Vec<u64>>());
    assert_eq!((counters.programs(), counters.runs(), counters.findings()), (50, 100, 1));
    let mut notes: Vec<u64> = counters.notes();
    notes.sort_unstable();
    assert_eq!((counters.count("naps"), notes), (50, vec![3, 13, 23, 33, 43]));
}

/// A campaign is stopped, or fails, and is resumed: the rest is done, and nothing twice.
#[test]
fn what_was_left_is_done_later() {
    for (event, expected) in [
        (Event::Stops(20), "ended"),
        (Event::Fails(20), "nap 20 failed"),
        (
            Event::Panics(20),
            "a thread of the campaign failed; please report this as a bug, what was found is kept",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("a store");
        let (ended, mut ran, _) = session(&mut store, 50, false, event);
        let told = ended.map_or_else(|error| error.to_string(), |()| "ended".to_owned());
        assert_eq!(told, expected);
        assert!(ran.len() < 50 && !ran.contains(&20), "{ran:?}");
        let (ended, rest, _) = session(&mut store, 50, true, Event::Nothing);
        ended.expect("it comes to its end");
        ran.extend(rest);
        ran.sort_unstable();
        assert_eq!(ran, (0..50).collect::<Vec<u64>>());
    }
}
