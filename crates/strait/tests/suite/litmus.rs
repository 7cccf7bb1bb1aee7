//! Litmus tests: the exact outcomes of small programs under each memory model.
//!
//! A row is a program, the orderings of its stores, loads and fence, and what each model allows.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};

use strait::sync::atomic::{AtomicU8, fence};
use strait::{Builder, Model, thread};

/// The orderings of a row.
#[derive(Clone, Copy, Debug)]
struct Orders {
    store: Ordering,
    load: Ordering,
    fence: Option<Ordering>,
}

const RLX: Orders = Orders { store: Relaxed, load: Relaxed, fence: None };
const REL: Orders = Orders { store: Release, load: Acquire, fence: None };
const SC: Orders = Orders { store: SeqCst, load: SeqCst, fence: None };
const FENCED: Orders = Orders { store: Relaxed, load: Relaxed, fence: Some(SeqCst) };
const REL_FENCED: Orders = Orders { store: Relaxed, load: Relaxed, fence: Some(Release) };

type Variables = Arc<[AtomicU8; 2]>;
type Thread = fn(&[AtomicU8; 2], Orders) -> Vec<u8>;

fn fenced(orders: Orders) {
    if let Some(order) = orders.fence {
        fence(order);
    }
}

/// Performs the threads at once. Gives what each saw, then the final values if wanted.
fn litmus(threads: &'static [Thread], orders: Orders, last: bool) -> String {
    let variables: Variables = Arc::new([AtomicU8::new(0), AtomicU8::new(0)]);
    let start = |code: &'static Thread| {
        let variables = variables.clone();
        thread::spawn(move || code(&variables, orders))
    };
    let handles: Vec<_> = threads.iter().map(start).collect();
    let mut seen: Vec<u8> = handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect();
    if last {
        seen.extend(variables.iter().map(|variable| variable.load(SeqCst)));
    }
    seen.iter().map(|value| value.to_string()).collect()
}

fn outcomes(threads: &'static [Thread], orders: Orders, last: bool, model: Model) -> String {
    let outcomes = Builder::new().model(model).outcomes(move || litmus(threads, orders, last));
    assert!(outcomes.is_exhaustive());
    assert_eq!(outcomes.redundant, 0);
    let values: BTreeSet<&String> = outcomes.values().into_iter().collect();
    assert_eq!(values.len(), outcomes.found.len(), "no failures");
    values.into_iter().cloned().collect::<Vec<_>>().join(" ")
}

fn check(name: &str, threads: &'static [Thread], orders: Orders, last: bool, expected: [&str; 3]) {
    for (model, expected) in [Model::Sc, Model::Tso, Model::Pso].into_iter().zip(expected) {
        let got = outcomes(threads, orders, last, model);
        assert_eq!(got, expected, "{name} with {orders:?} under {model:?}");
    }
}

/// Store buffering: x := 1; read y ‖ y := 1; read x.
const SB: &[Thread] = &[
    |v, o| {
        v[0].store(1, o.store);
        fenced(o);
        vec![v[1].load(o.load)]
    },
    |v, o| {
        v[1].store(1, o.store);
        fenced(o);
        vec![v[0].load(o.load)]
    },
];

#[test]
fn store_buffering() {
    let (strong, weak) = ("01 10 11", "00 01 10 11");
    check("SB", SB, RLX, false, [strong, weak, weak]);
    check("SB", SB, REL, false, [strong, weak, weak]);
    check("SB", SB, REL_FENCED, false, [strong, weak, weak]);
    check("SB", SB, FENCED, false, [strong, strong, strong]);
    check("SB", SB, SC, false, [strong, strong, strong]);
}

/// Message passing: x := 1; y := 1 ‖ read y; read x.
const MP: &[Thread] = &[
    |v, o| {
        v[0].store(1, Relaxed);
        fenced(o);
        v[1].store(1, o.store);
        vec![]
    },
    |v, o| {
        let flag = v[1].load(o.load);
        fenced(Orders {
            fence: o.fence.map(|order| if order == Release { Acquire } else { order }),
            ..o
        });
        vec![flag, v[0].load(Relaxed)]
    },
];

#[test]
fn message_passing() {
    let (strong, weak) = ("00 01 11", "00 01 10 11");
    check("MP", MP, RLX, false, [strong, strong, weak]);
    check("MP", MP, REL, false, [strong, strong, strong]);
    check("MP", MP, REL_FENCED, false, [strong, strong, strong]);
    check("MP", MP, FENCED, false, [strong, strong, strong]);
    check("MP", MP, SC, false, [strong, strong, strong]);
}

/// Load buffering: read y; x := 1 ‖ read x; y := 1.
const LB: &[Thread] = &[
    |v, o| {
        let seen = v[1].load(o.load);
        v[0].store(1, o.store);
        vec![seen]
    },
    |v, o| {
        let seen = v[0].load(o.load);
        v[1].store(1, o.store);
        vec![seen]
    },
];

#[test]
fn load_buffering_never_happens() {
    for orders in [RLX, REL, SC] {
        check("LB", LB, orders, false, ["00 01 10"; 3]);
    }
}

/// Coherence: x := 1; x := 2 ‖ read x; read x.
const CORR: &[Thread] = &[
    |v, o| {
        v[0].store(1, o.store);
        v[0].store(2, o.store);
        vec![]
    },
    |v, o| vec![v[0].load(o.load), v[0].load(o.load)],
];

#[test]
fn reads_of_one_variable_never_go_back() {
    for orders in [RLX, REL, SC] {
        check("CoRR", CORR, orders, false, ["00 01 02 11 12 22"; 3]);
    }
}

/// Independent reads of independent writes.
const IRIW: &[Thread] = &[
    |v, o| {
        v[0].store(1, o.store);
        vec![]
    },
    |v, o| {
        v[1].store(1, o.store);
        vec![]
    },
    |v, o| vec![v[0].load(o.load), v[1].load(o.load)],
    |v, o| vec![v[1].load(o.load), v[0].load(o.load)],
];

#[test]
fn all_threads_see_stores_in_one_order() {
    for orders in [RLX, REL, SC] {
        let got = outcomes(IRIW, orders, false, Model::Pso);
        assert_eq!(got.split(' ').count(), 15, "{orders:?}: {got}");
        assert!(!got.split(' ').any(|outcome| outcome == "1010"), "{orders:?}: {got}");
    }
    for model in [Model::Sc, Model::Tso] {
        assert_eq!(outcomes(IRIW, SC, false, model), outcomes(IRIW, RLX, false, Model::Pso));
    }
}

/// x := 1; y := 2 ‖ y := 1; x := 2, and the final values.
const TWO_PLUS_TWO: &[Thread] = &[
    |v, o| {
        v[0].store(1, Relaxed);
        fenced(o);
        v[1].store(2, o.store);
        vec![]
    },
    |v, o| {
        v[1].store(1, Relaxed);
        fenced(o);
        v[0].store(2, o.store);
        vec![]
    },
];

#[test]
fn two_plus_two_writes() {
    let (strong, weak) = ("12 21 22", "11 12 21 22");
    check("2+2W", TWO_PLUS_TWO, RLX, true, [strong, strong, weak]);
    check("2+2W", TWO_PLUS_TWO, REL, true, [strong, strong, strong]);
    check("2+2W", TWO_PLUS_TWO, REL_FENCED, true, [strong, strong, strong]);
    check("2+2W", TWO_PLUS_TWO, FENCED, true, [strong, strong, strong]);
    check("2+2W", TWO_PLUS_TWO, SC, true, [strong, strong, strong]);
}

/// Own-write forwarding: x := 1; read x; read y ‖ y := 1; read y; read x.
const FORWARDING: &[Thread] = &[
    |v, o| {
        v[0].store(1, o.store);
        fenced(o);
        vec![v[0].load(o.load), v[1].load(o.load)]
    },
    |v, o| {
        v[1].store(1, o.store);
        fenced(o);
        vec![v[1].load(o.load), v[0].load(o.load)]
    },
];

#[test]
fn a_thread_sees_its_own_stores_first() {
    let (strong, weak) = ("1011 1110 1111", "1010 1011 1110 1111");
    check("forwarding", FORWARDING, RLX, false, [strong, weak, weak]);
    check("forwarding", FORWARDING, REL, false, [strong, weak, weak]);
    check("forwarding", FORWARDING, FENCED, false, [strong, strong, strong]);
    check("forwarding", FORWARDING, SC, false, [strong, strong, strong]);
}

#[test]
fn read_modify_writes_are_seen_at_once() {
    let program = || {
        let v = Arc::new([AtomicU8::new(0), AtomicU8::new(0)]);
        let theirs = v.clone();
        let other = thread::spawn(move || {
            theirs[1].swap(1, SeqCst);
            theirs[0].load(Relaxed)
        });
        v[0].swap(1, SeqCst);
        let mine = v[1].load(Relaxed);
        (mine, other.join().unwrap())
    };
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let outcomes = Builder::new().model(model).outcomes(program);
        assert!(!outcomes.values().contains(&&(0, 0)), "{model:?}");
        assert_eq!(outcomes.values().len(), 3);
    }
}
