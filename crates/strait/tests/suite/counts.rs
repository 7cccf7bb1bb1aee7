//! How many executions exhaust a program: exactly one for each Mazurkiewicz trace.

use std::sync::Arc;

use strait::sync::atomic::{AtomicUsize, Ordering};
use strait::sync::{Mutex, mpsc};
use strait::{Builder, Model, thread};

/// Each thread loads one variable, then stores the value plus one.
fn lost(threads: usize) -> usize {
    let counter = Arc::new(AtomicUsize::new(0));
    let add = |counter: &AtomicUsize| {
        let value = counter.load(Ordering::SeqCst);
        counter.store(value + 1, Ordering::SeqCst);
    };
    let start = |_| {
        let counter = counter.clone();
        thread::spawn(move || add(&counter))
    };
    let handles: Vec<_> = (0..threads).map(start).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    counter.load(Ordering::SeqCst)
}

/// Each thread uses a variable of its own.
fn indep(threads: usize) -> usize {
    let start = |_| {
        thread::spawn(move || {
            let own = AtomicUsize::new(0);
            own.store(1, Ordering::SeqCst);
            own.load(Ordering::SeqCst)
        })
    };
    let handles: Vec<_> = (0..threads).map(start).collect();
    handles.into_iter().map(|handle| handle.join().unwrap()).sum()
}

fn indep_shared(threads: usize) {
    let all: Arc<Vec<AtomicUsize>> = Arc::new((0..threads).map(AtomicUsize::new).collect());
    let start = |index: usize| {
        let all = all.clone();
        thread::spawn(move || {
            let value = all[index].load(Ordering::SeqCst);
            all[index].store(value + 1, Ordering::SeqCst);
        })
    };
    let handles: Vec<_> = (0..threads).map(start).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

fn store_buffering() -> (usize, usize) {
    let variables = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = variables.clone();
    let other = thread::spawn(move || {
        theirs.1.store(1, Ordering::SeqCst);
        theirs.0.load(Ordering::SeqCst)
    });
    variables.0.store(1, Ordering::SeqCst);
    let mine = variables.1.load(Ordering::SeqCst);
    (mine, other.join().unwrap())
}

#[test]
fn lost_updates_take_the_square_of_a_factorial() {
    for (threads, expected) in [(2, 4), (3, 36), (4, 576), (5, 14_400)] {
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let outcomes = Builder::new().model(model).outcomes(move || lost(threads));
            assert_eq!(outcomes.executions, expected, "lost({threads}) under {model:?}");
            assert_eq!(outcomes.redundant, 0);
            assert!(outcomes.is_exhaustive());
            let mut values: Vec<usize> = outcomes.values().into_iter().copied().collect();
            values.sort_unstable();
            assert_eq!(values, (1..=threads).collect::<Vec<_>>());
        }
    }
}

#[test]
fn any_number_of_cores_gives_the_same_executions() {
    for (threads, expected) in [(2, 4), (3, 36), (4, 576), (5, 14_400)] {
        for cores in 2..=4 {
            let outcomes = Builder::new().cores(cores).outcomes(move || lost(threads));
            assert_eq!(outcomes.executions, expected, "lost({threads}) on {cores} cores");
            assert!(outcomes.is_exhaustive());
            let mut values: Vec<usize> = outcomes.values().into_iter().copied().collect();
            values.sort_unstable();
            assert_eq!(values, (1..=threads).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_failure_is_found_on_several_cores_and_replayed_on_one() {
    let program = || assert_eq!(lost(4), 4);
    let failure = Builder::new().cores(3).try_check(program).expect_err("updates are lost");
    let (outcome, _) = Builder::new().replay(&failure.trace.replay, program).expect("it replays");
    assert!(outcome.is_panic(), "{outcome}");
}

#[test]
fn statics_are_searched_on_one_core() {
    static COUNTER: AtomicUsize = AtomicUsize::new_static(0);
    let program = || {
        let other = thread::spawn(|| COUNTER.fetch_add(1, Ordering::SeqCst));
        let mine = COUNTER.fetch_add(1, Ordering::SeqCst);
        (mine, other.join().unwrap())
    };
    let outcomes = Builder::new().cores(4).outcomes(program);
    assert_eq!((outcomes.executions, outcomes.values().len()), (2, 2));
}

#[test]
fn sequentially_consistent_store_buffering_takes_three() {
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let outcomes = Builder::new().model(model).outcomes(store_buffering);
        assert_eq!(outcomes.executions, 3, "{model:?}");
        assert!(!outcomes.values().contains(&&(0, 0)), "SeqCst means SeqCst");
    }
}

#[test]
fn independent_threads_take_one() {
    for threads in 1..=8 {
        assert_eq!(strait::outcomes(move || indep(threads)).executions, 1);
        assert_eq!(strait::outcomes(move || indep_shared(threads)).executions, 1);
    }
}

#[test]
fn there_is_no_limit_on_threads() {
    let outcomes = strait::check(|| indep_shared(200));
    assert_eq!(outcomes.executions, 1);
}

#[test]
fn each_order_of_lock_holders_is_one_execution() {
    let locking = |threads: usize| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let start = |index| {
            let log = log.clone();
            thread::spawn(move || log.lock().unwrap().push(index))
        };
        let handles: Vec<_> = (0..threads).map(start).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        std::mem::take(&mut *log.lock().unwrap())
    };
    for (threads, expected) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        let outcomes = strait::outcomes(move || locking(threads));
        assert_eq!((outcomes.executions, outcomes.found.len()), (expected, expected as usize));
    }
}

/// A server keeps a counter; each client asks for it and sends it back plus one.
fn server(clients: usize) -> u64 {
    enum Request {
        Load(mpsc::Sender<u64>),
        Store(u64),
    }
    let (server, requests) = mpsc::channel();
    let start = |_| {
        let server = server.clone();
        thread::spawn(move || {
            let (answer, answers) = mpsc::channel();
            server.send(Request::Load(answer)).unwrap();
            let value = answers.recv().unwrap();
            server.send(Request::Store(value + 1)).unwrap();
        })
    };
    let handles: Vec<_> = (0..clients).map(start).collect();
    let mut counter = 0;
    for _ in 0..2 * clients {
        match requests.recv().unwrap() {
            Request::Load(answer) => answer.send(counter).unwrap(),
            Request::Store(value) => counter = value,
        }
    }
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    counter
}

#[test]
fn of_a_server_only_the_order_of_requests_matters() {
    // (2n)! / 2ⁿ orders in which each client asks before it answers.
    for (clients, expected) in [(1, 1), (2, 6), (3, 90)] {
        let outcomes = strait::outcomes(move || server(clients));
        assert_eq!((outcomes.executions, outcomes.redundant), (expected, 0), "{clients} clients");
        assert_eq!(outcomes.values().len(), clients);
    }
}

/// Producers send so many messages each through a queue of a length; the sum is received.
fn produce(producers: usize, messages: usize, capacity: usize) -> usize {
    let (sender, receiver) = mpsc::sync_channel(capacity);
    for _ in 0..producers {
        let sender = sender.clone();
        thread::spawn(move || (0..messages).for_each(|message| sender.send(message).unwrap()));
    }
    drop(sender);
    receiver.iter().sum()
}

#[test]
fn producers_and_consumers_take_turns_in_one_way() {
    for capacity in 1..=4 {
        assert_eq!(strait::outcomes(move || produce(1, 10, capacity)).executions, 1);
        assert_eq!(strait::outcomes(move || produce(2, 2, capacity)).executions, 6);
        assert_eq!(strait::outcomes(move || produce(3, 2, capacity)).executions, 90);
    }
}

#[test]
fn who_does_not_wait_sees_how_far_others_are() {
    let program = || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || (0..3).for_each(|value| sender.send(value).unwrap()));
        let first = receiver.try_recv();
        let second = receiver.try_recv();
        other.join().unwrap();
        (first.ok(), second.ok())
    };
    let mut values: Vec<_> = strait::outcomes(program).values().into_iter().copied().collect();
    values.sort_unstable();
    assert_eq!(values, [(None, None), (None, Some(0)), (Some(0), None), (Some(0), Some(1))]);
}

/// Notes who has dropped it.
struct Noted(Arc<AtomicUsize>);

impl Drop for Noted {
    fn drop(&mut self) {
        let who = match thread::current().name() {
            Some("one") => 1,
            Some("other") => 2,
            _ => 0,
        };
        self.0.store(who, Ordering::SeqCst);
    }
}

#[test]
fn who_drops_the_last_pointer_is_a_matter_of_order_if_that_is_a_step() {
    let program = || {
        let last = Arc::new(AtomicUsize::new(9));
        let noted = Noted(last.clone());
        let shared = strait::sync::Arc::new((noted, [0; 2].map(AtomicUsize::new)));
        let start = |name: &str, own: usize| {
            let shared = shared.clone();
            let code = move || shared.1[own].store(1, Ordering::SeqCst);
            thread::Builder::new().name(name.to_owned()).spawn(code).unwrap()
        };
        let threads = [start("one", 0), start("other", 1)];
        drop(shared);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        last.load(Ordering::SeqCst)
    };
    let outcomes = strait::outcomes(program);
    let mut values: Vec<usize> = outcomes.values().into_iter().copied().collect();
    values.sort_unstable();
    assert_eq!((values, outcomes.redundant), (vec![0, 1, 2], 0));
    assert!(outcomes.is_exhaustive());
}

/// Threads that each do something to one variable, by their numbers. The end is not looked at.
fn all_at_once(threads: usize, act: fn(usize, &AtomicUsize)) {
    let variable = Arc::new(AtomicUsize::new(0));
    for number in 0..threads {
        let variable = variable.clone();
        thread::spawn(move || act(number, &variable));
    }
}

fn exchange(variable: &AtomicUsize, expected: usize, new: usize) {
    let _ = variable.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
}

/// The programs of GenMC's test suite with these names, and the counts that are published for them: a
/// compare-exchange that fails is a read.
#[test]
fn a_failed_compare_exchange_is_a_read() {
    let cas = |number, variable: &AtomicUsize| exchange(variable, 0, number + 1);
    let casrot = |number, variable: &AtomicUsize| exchange(variable, number, number + 1);
    let casw = |number, variable: &AtomicUsize| {
        exchange(variable, 0, 1);
        variable.store(number + 3, Ordering::SeqCst);
    };
    let wcas = |number, variable: &AtomicUsize| match number {
        0 => variable.store(1, Ordering::SeqCst),
        _ => exchange(variable, 1, 2),
    };
    type Row = (&'static str, usize, fn(usize, &AtomicUsize), u64);
    let rows: [Row; 5] = [
        ("cas", 5, cas, 5),
        ("casrot", 6, casrot, 144),
        ("casrot", 8, casrot, 2048),
        ("casw", 4, casw, 1200),
        ("wcas", 1 + 6, wcas, 193),
    ];
    for (name, threads, act, executions) in rows {
        let outcomes = Builder::new().model(Model::Sc).outcomes(move || all_at_once(threads, act));
        let got = (outcomes.executions, outcomes.redundant);
        assert_eq!(got, (executions, 0), "{name}({threads})");
        assert!(outcomes.is_exhaustive(), "{name}({threads})");
    }
}
