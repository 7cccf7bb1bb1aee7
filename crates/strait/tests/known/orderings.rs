//! Orderings under RC11.

use super::*;

/// Orderings under RC11.
const ORDERINGS: &[Row] = &[
    row("a failed exchange acquires", &[0, 11], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(1, Relaxed);
            x[0].store(1, Release);
        };
        beside(atomics(), set, |x| match x[0].compare_exchange(5, 6, Relaxed, Acquire) {
            Err(1) => 10 + x[1].load(Relaxed),
            _ => 0,
        })
    }),
    row("a failed exchange does not acquire", &[0, 10, 11], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(1, Relaxed);
            x[0].store(1, Release);
        };
        beside(atomics(), set, |x| match x[0].compare_exchange(5, 6, AcqRel, Relaxed) {
            Err(1) => 10 + x[1].load(Relaxed),
            _ => 0,
        })
    }),
    row("the store of another thread ends a release sequence", &[0, 20, 21], || {
        let x = Arc::new(atomics::<2>());
        let (first, second) = (x.clone(), x.clone());
        let first = thread::spawn(move || {
            first[1].store(1, Relaxed);
            first[0].store(1, Release);
        });
        let second = thread::spawn(move || second[0].store(2, Relaxed));
        let seen = match x[0].load(Acquire) {
            2 => 20 + x[1].load(Relaxed),
            _ => 0,
        };
        first.join().unwrap();
        second.join().unwrap();
        seen
    }),
    row("the exchange of another thread continues a release sequence", &[0, 21], || {
        let x = Arc::new(atomics::<2>());
        let (first, second) = (x.clone(), x.clone());
        let first = thread::spawn(move || {
            first[1].store(1, Relaxed);
            first[0].store(1, Release);
        });
        let second =
            thread::spawn(move || second[0].compare_exchange(1, 2, Relaxed, Relaxed).is_ok());
        let seen = match x[0].load(Acquire) {
            2 => 20 + x[1].load(Relaxed),
            _ => 0,
        };
        first.join().unwrap();
        second.join().unwrap();
        seen
    }),
    row("an old value after a loop that read a new one", &[0, 1], || {
        let set = |x: &[AtomicUsize; 2]| {
            x[1].store(1, Relaxed);
            x[0].store(1, Relaxed);
        };
        beside(atomics(), set, |x| {
            while x[0].load(Relaxed) == 0 {
                hint::spin_loop();
            }
            x[1].load(Relaxed)
        })
    }),
    row("an SeqCst fence against an SeqCst access", &[0, 1, 10, 11], || {
        // RC11 orders SeqCst fences with each other, not a fence with a single relaxed access.
        let x = Arc::new(atomics::<2>());
        let theirs = x.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            fence(AcqRel);
            theirs[1].load(SeqCst)
        });
        x[1].store(1, Relaxed);
        fence(SeqCst);
        let mine = x[0].load(Relaxed);
        10 * mine + other.join().unwrap()
    }),
    row("SeqCst fences on both sides", &[1, 10, 11], || {
        let x = Arc::new(atomics::<2>());
        let theirs = x.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            fence(SeqCst);
            theirs[1].load(Relaxed)
        });
        x[1].store(1, Relaxed);
        fence(SeqCst);
        let mine = x[0].load(Relaxed);
        10 * mine + other.join().unwrap()
    }),
    row("a fence on one side, SeqCst accesses on the other", &[1, 10, 11], || {
        let x = Arc::new(atomics::<2>());
        let theirs = x.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, SeqCst);
            theirs[1].load(SeqCst)
        });
        x[1].store(1, Relaxed);
        fence(SeqCst);
        let mine = x[0].load(Relaxed);
        10 * mine + other.join().unwrap()
    }),
];

#[test]
fn orderings_are_those_of_rc11() {
    check(ORDERINGS, &[Model::Rc11]);
}
