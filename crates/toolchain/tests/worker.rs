//! Workers that answer, hang, die, chatter; and who is to blame.

mod support;

use std::time::Duration;

use strait_toolchain::{Deadlines, End, Error, Received, Worker, WorkerSpec};
use support::{LONG, eventually, launcher, mark, marked};

const PATIENT: Deadlines = Deadlines { progress: LONG, total: LONG };
const HASTY: Deadlines = Deadlines { progress: Duration::from_millis(300), total: LONG };

fn own() -> Worker {
    Worker::start(&launcher(), &WorkerSpec::own(["test"])).expect("a worker")
}

/// The same behaviour, below a supervisor.
fn foreign() -> Worker {
    let spec = WorkerSpec::foreign(launcher().program(), ["__worker", "test"]);
    Worker::start(&launcher(), &spec).expect("a harness")
}

fn both(check: impl Fn(Worker)) {
    check(own());
    check(foreign());
}

fn send(worker: &mut Worker, job: &str) {
    worker.send(job, LONG).expect("it listens");
}

fn line(text: &str) -> Received {
    Received::Line(text.into())
}

#[test]
fn jobs_are_answered_in_order() {
    both(|mut worker| {
        for round in 0..100 {
            send(&mut worker, &format!("job {round}"));
            assert_eq!(worker.receive(&PATIENT), line(&format!("done job {round}")));
            worker.job_done();
        }
        worker.close_input();
        assert_eq!(worker.receive(&PATIENT), Received::Closed);
        let ended = worker.end().expect("it ends");
        assert_eq!((ended.end, ended.culprit), (End::Exited(0), None));
    });
}

#[test]
fn silence_is_told_from_slowness() {
    both(|mut worker| {
        send(&mut worker, "hang");
        assert_eq!(worker.receive(&HASTY), Received::Silent);
        let ended = worker.restart().expect("another one");
        assert_eq!((ended.end, ended.culprit.as_deref()), (End::Stopped, Some("hang")));
        send(&mut worker, "busy");
        let impatient = Deadlines { progress: LONG, total: Duration::from_millis(500) };
        assert_eq!(worker.receive(&impatient), Received::Late);
        worker.restart().expect("another one");
        send(&mut worker, "again");
        assert_eq!(worker.receive(&PATIENT), line("done again"));
    });
}

#[test]
fn the_culprit_is_the_last_job_announced() {
    both(|mut worker| {
        send(&mut worker, "first, second");
        assert_eq!(worker.receive(&HASTY), Received::Silent);
        assert_eq!(worker.culprit(), Some("second"));
    });
}

#[test]
fn a_crash_ends_the_worker_and_nothing_else() {
    both(|mut worker| {
        send(&mut worker, "overflow");
        assert_eq!(worker.receive(&PATIENT), Received::Closed);
        let ended = worker.restart().expect("another one");
        assert_eq!(ended.end, End::Signalled("SIGABRT".into()));
        assert_eq!(ended.culprit.as_deref(), Some("overflow the stack"));
        assert!(
            ended.stderr.text().contains("has overflowed its stack"),
            "{}",
            ended.stderr.text()
        );
        send(&mut worker, "leave");
        assert_eq!(worker.receive(&PATIENT), Received::Closed);
        let ended = worker.end().expect("it has");
        assert_eq!((ended.end, ended.culprit.as_deref()), (End::Exited(9), Some("leave")));
    });
}

#[test]
fn a_worker_that_is_gone_takes_jobs_until_its_end_is_noticed() {
    both(|mut worker| {
        send(&mut worker, "leave");
        assert_eq!(worker.receive(&PATIENT), Received::Closed);
        send(&mut worker, "to nobody");
        assert_eq!(worker.receive(&PATIENT), Received::Closed);
    });
}

#[test]
fn chatter_is_bounded_and_a_long_line_is_cut() {
    both(|mut worker| {
        send(&mut worker, "long line");
        let Received::Line(long) = worker.receive(&PATIENT) else { panic!("a line was expected") };
        assert_eq!(long.len(), 4 << 20);
        send(&mut worker, "chatter");
        for round in 0..1000 {
            let Received::Line(said) = worker.receive(&PATIENT) else {
                panic!("a line was expected")
            };
            assert!(said.starts_with(&format!("{round} x")), "{said}");
        }
        // The rest waits in the worker, and ends with it.
        assert_eq!(worker.end().expect("it is ended").end, End::Stopped);
    });
}

#[test]
fn a_worker_that_does_not_listen_is_noticed() {
    let mut worker = own();
    send(&mut worker, "hang");
    let job = "x".repeat(8 << 20);
    let error = worker.send(&job, Duration::from_millis(300)).expect_err("nobody reads");
    assert!(matches!(error, Error::WorkerIsDeaf { .. }), "{error}");
}

#[test]
fn a_dropped_worker_is_gone() {
    let mark = mark();
    let own = Worker::start(&launcher(), &WorkerSpec::own([&mark])).expect("a worker");
    let foreign = WorkerSpec::foreign("sleep", [&mark]);
    let foreign = Worker::start(&launcher(), &foreign).expect("a harness");
    assert!(marked(&mark).len() >= 2);
    drop((own, foreign));
    assert_eq!(marked(&mark), Vec::<String>::new());
}

#[test]
fn a_worker_outlives_the_thread_that_started_it() {
    let start = || (own(), foreign());
    let (mut own, mut foreign) = std::thread::spawn(start).join().expect("no panic");
    std::thread::sleep(Duration::from_millis(200));
    for worker in [&mut own, &mut foreign] {
        send(worker, "still there?");
        assert_eq!(worker.receive(&PATIENT), line("done still there?"));
    }
}

#[test]
fn a_harness_that_cannot_be_started_says_why() {
    let mut worker = Worker::start(&launcher(), &WorkerSpec::foreign("/no/such/harness", ["x"]))
        .expect("its supervisor starts");
    eventually("it ends", || worker.receive(&PATIENT) == Received::Closed);
    let error = worker.end().expect_err("there is no such program");
    assert!(error.to_string().contains("cannot start /no/such/harness: No such file"), "{error}");
}
