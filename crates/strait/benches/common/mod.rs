//! What the benches beside peers have in common: the clock, the programs, and how figures are shown.

/// Nanoseconds that this process has computed.
pub fn cpu() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_nanos() as u64)
    })
}

/// The programs, written once for each library: only the imports differ, and how a lock is taken.
macro_rules! programs {
    ($lock:ident $($taken:tt)*) => {
        pub fn lost(threads: usize) {
            let counter = Arc::new(AtomicUsize::new(0));
            let start = |_| {
                let counter = counter.clone();
                thread::spawn(move || {
                    let value = counter.load(Ordering::SeqCst);
                    counter.store(value + 1, Ordering::SeqCst);
                })
            };
            let handles: Vec<_> = (0..threads).map(start).collect();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
        }

        pub fn store_buffering(_: usize) {
            let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
            let theirs = shared.clone();
            let other = thread::spawn(move || {
                theirs.0.store(1, Ordering::SeqCst);
                theirs.1.load(Ordering::SeqCst)
            });
            let theirs = shared.clone();
            let another = thread::spawn(move || {
                theirs.1.store(1, Ordering::SeqCst);
                theirs.0.load(Ordering::SeqCst)
            });
            other.join().unwrap();
            another.join().unwrap();
        }

        pub fn indep(threads: usize) {
            let all: Arc<Vec<AtomicUsize>> =
                Arc::new((0..threads).map(|_| AtomicUsize::new(0)).collect());
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

        pub fn philosophers(count: usize) {
            let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..count).map(|_| Mutex::new(())).collect());
            let sit = |seat: usize| {
                let forks = forks.clone();
                thread::spawn(move || {
                    let other = (seat + 1) % forks.len();
                    let _first = forks[seat.min(other)].$lock()$($taken)*;
                    let _second = forks[seat.max(other)].$lock()$($taken)*;
                })
            };
            let all: Vec<_> = (0..count).map(sit).collect();
            all.into_iter().for_each(|philosopher| philosopher.join().unwrap());
        }
    };
}

/// Executions and nanoseconds of one search; executions may be limited.
pub struct Measured {
    pub executions: u64,
    pub nanoseconds: u64,
    pub complete: bool,
}

/// A cell of the table.
pub fn show(measured: &Measured) -> String {
    let more = if measured.complete { "" } else { ">" };
    if measured.nanoseconds < 50_000_000 {
        // Too short for the clock, which goes by milliseconds.
        return format!("{more}{}", measured.executions);
    }
    let rate = measured.executions as f64 * 1e9 / measured.nanoseconds as f64;
    format!("{more}{} at {rate:.0}/s", measured.executions)
}
