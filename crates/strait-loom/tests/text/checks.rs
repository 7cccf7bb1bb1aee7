// Included by `same_text.rs` after `models.rs`, for `strait-loom` only: loom 0.7.2 ends the process at some
// leaks, and does not notice an access during another one of the same thread.

use loom::alloc::Track;

#[test]
fn what_is_not_freed_is_a_leak() {
    assert!(fails(|| std::mem::forget(Arc::new(0))));
    assert!(fails(|| std::mem::forget(Track::new(0))));
    #[allow(unsafe_code, reason = "allocating is what is tested")]
    fn allocate(frees: bool) {
        use loom::alloc::{Layout, alloc, alloc_zeroed, dealloc};
        let layout = Layout::new::<u64>();
        // SAFETY: the layout is not empty, and what is freed was allocated with it.
        unsafe {
            let (first, second) = (alloc(layout), alloc_zeroed(layout));
            dealloc(first, layout);
            if frees {
                dealloc(second, layout);
            }
        }
    }
    assert!(fails(|| allocate(false)));
    loom::model(|| allocate(true));
    loom::model(|| {
        let mut tracked = Track::new(1);
        *tracked.get_mut() += 1;
        assert_eq!(*tracked.get_ref(), 2);
        assert_eq!(tracked.into_inner(), 2);
    });
}

#[test]
fn an_access_lasts_as_long_as_its_pointer() {
    assert!(fails(|| {
        let cell = UnsafeCell::new(0);
        let _reading = cell.get();
        cell.with_mut(|_| ());
    }));
    assert!(fails(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            let _writing = theirs.0.get_mut();
            theirs.1.store(true, Release);
        });
        if shared.1.load(Acquire) {
            shared.0.with(|_| ());
        }
        other.join().unwrap();
    }));
    loom::model(|| {
        let (a, b) = (Cell::new(1), Cell::from(2));
        a.swap(&b);
        assert_eq!((a.get(), b.replace(5), b.take()), (2, 1, 5));
        assert_eq!((a.clone() == a, a.into_inner()), (true, 2));
    });
}
