//! Executions to exhaustion and executions per second, beside loom and shuttle in the same run.
//!
//! `cargo bench -p strait` prints a table. Rates are for the CPU time of this thread, so that other
//! load on the machine does not count.
#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench that gets nothing should stop")]

#[macro_use]
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as Real};

use common::{Measured, cpu, show};
use strait::{Builder, Model};

/// Programs of weaker orderings than SeqCst.
macro_rules! relaxed_programs {
    () => {
        /// One thread writes a datum and a flag, as many others look at the flag and at the datum.
        pub fn messages(readers: usize) {
            let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
            let theirs = shared.clone();
            let writer = thread::spawn(move || {
                theirs.0.store(1, Ordering::Relaxed);
                theirs.1.store(1, Ordering::Release);
            });
            let start = |_| {
                let theirs = shared.clone();
                thread::spawn(move || {
                    theirs.1.load(Ordering::Acquire);
                    theirs.0.load(Ordering::Relaxed);
                })
            };
            let handles: Vec<_> = (0..readers).map(start).collect();
            writer.join().unwrap();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
        }

        /// As `lost`, by compare-exchange, where a failure is final.
        pub fn exchange(threads: usize) {
            let counter = Arc::new(AtomicUsize::new(0));
            let start = |_| {
                let counter = counter.clone();
                thread::spawn(move || {
                    let value = counter.load(Ordering::Relaxed);
                    let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
                    counter.compare_exchange(value, value + 1, success, failure).is_ok()
                })
            };
            let handles: Vec<_> = (0..threads).map(start).collect();
            handles.into_iter().for_each(|handle| _ = handle.join().unwrap());
        }
    };
}

mod ours {
    use std::sync::Arc;
    use strait::sync::Mutex;
    use strait::sync::atomic::{AtomicUsize, Ordering};
    use strait::thread;
    programs!(lock.unwrap());
    relaxed_programs!();
}

mod loomed {
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::sync::{Arc, Mutex};
    use loom::thread;
    programs!(lock.unwrap());
    relaxed_programs!();
}

mod shuttled {
    use shuttle::sync::atomic::{AtomicUsize, Ordering};
    use shuttle::sync::{Arc, Mutex};
    use shuttle::thread;
    programs!(lock.unwrap());
    relaxed_programs!();
}

fn ours(program: fn(usize), size: usize, model: Model) -> Measured {
    let start = cpu();
    let outcomes = Builder::new().model(model).outcomes(move || program(size));
    let nanoseconds = cpu() - start;
    Measured { executions: outcomes.executions, nanoseconds, complete: outcomes.is_exhaustive() }
}

fn loomed(program: fn(usize), size: usize, limit: u64) -> Measured {
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(std::time::Duration::from_secs(4));
    builder.max_permutations = Some(limit as usize);
    let count = Arc::new(AtomicU64::new(0));
    let theirs = count.clone();
    let start = cpu();
    builder.check(move || {
        theirs.fetch_add(1, Real::Relaxed);
        program(size);
    });
    let nanoseconds = cpu() - start;
    let executions = count.load(Real::Relaxed);
    let complete = executions < limit && nanoseconds < 3_900_000_000;
    Measured { executions, nanoseconds, complete }
}

fn shuttled(program: fn(usize), size: usize, limit: u64) -> Measured {
    let count = Arc::new(AtomicU64::new(0));
    let theirs = count.clone();
    let start = cpu();
    shuttle::check_dfs(
        move || {
            theirs.fetch_add(1, Real::Relaxed);
            program(size);
        },
        Some(limit as usize),
    );
    let nanoseconds = cpu() - start;
    let executions = count.load(Real::Relaxed);
    // shuttle prints a schedule for every panic in the process from now on, and loom ends its
    // coroutines by panics: that would be counted as loom's own work.
    std::panic::set_hook(Box::new(|_| {}));
    Measured { executions, nanoseconds, complete: executions < limit }
}

/// The rate of searching a program again and again for a while.
fn rate(batch: usize, mut search: impl FnMut() -> u64) -> f64 {
    let (mut executions, start) = (0, cpu());
    while cpu() - start < 200_000_000 {
        // Asking for the time costs as much as a few executions.
        executions += (0..batch).map(|_| search()).sum::<u64>();
    }
    executions as f64 * 1e9 / (cpu() - start) as f64
}

/// Searches lost(3) once, without looking at the time.
fn ours_lost() -> u64 {
    Builder::new().model(Model::Tso).outcomes(|| ours::lost(3)).executions
}

type Program = fn(usize);

/// A program in each library, with its size.
fn rows() -> Vec<(&'static str, [Program; 3], usize)> {
    macro_rules! in_all {
        ($name:ident) => {
            [ours::$name, loomed::$name, shuttled::$name]
        };
    }
    vec![
        ("lost(2)", in_all!(lost), 2),
        ("lost(3)", in_all!(lost), 3),
        ("lost(4)", in_all!(lost), 4),
        ("store buffering, SeqCst", in_all!(store_buffering), 0),
        ("messages(1)", in_all!(messages), 1),
        ("messages(2)", in_all!(messages), 2),
        ("messages(3)", in_all!(messages), 3),
        ("exchange(2)", in_all!(exchange), 2),
        ("exchange(3)", in_all!(exchange), 3),
        ("indep(2)", in_all!(indep), 2),
        ("indep(3)", in_all!(indep), 3),
        ("indep(4)", in_all!(indep), 4),
        ("ordered philosophers(2)", in_all!(philosophers), 2),
        ("ordered philosophers(3)", in_all!(philosophers), 3),
    ]
}

fn table() {
    println!(
        "| program | strait, TSO | strait, RC11 | loom | shuttle DFS |\n|---|---|---|---|---|"
    );
    let limit = 30_000;
    for (name, [a, b, c], size) in rows() {
        let cells = [
            ours(a, size, Model::Tso),
            ours(a, size, Model::Rc11),
            loomed(b, size, limit),
            shuttled(c, size, limit),
        ];
        println!("| {name} | {} |", cells.map(|m| show(&m)).join(" | "));
    }
}

/// RC11 beside loom, program by program: executions to exhaustion, the time of a whole check, and the rate
/// of searching again and again. A check also repeats a sample of its executions, which loom does not: the
/// rate is without that, the time is with it.
fn relaxed() {
    println!(
        "| program | strait, executions | loom | strait, microseconds per check | loom | times \
         loom's speed | strait, executions per CPU-second | loom | ratio |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
    for (name, [program, peer, _], size) in rows() {
        let found = ours(program, size, Model::Rc11);
        let loom = loomed(peer, size, 30_000);
        let whole = rate(10, || ours(program, size, Model::Rc11).executions);
        let search = rate(10, || {
            let builder = Builder::new().model(Model::Rc11).allow_uncontrolled();
            builder.outcomes(move || program(size)).executions
        });
        let theirs = rate(1, || loomed(peer, size, 2_000).executions);
        let more = if loom.complete { "" } else { ">" };
        let check = found.executions as f64 * 1e6 / whole;
        let their_check = loom.executions as f64 * 1e6 / theirs;
        println!(
            "| {name} | {} | {more}{} | {check:.0} | {more}{their_check:.0} | {more}{:.0} | \
             {search:.0} | {theirs:.0} | {:.1} |",
            found.executions,
            loom.executions,
            their_check / check,
            search / theirs
        );
        assert!(found.complete && found.executions <= loom.executions, "{name}");
    }
}

/// The three libraries one after the other, several times, so that other load hits all of them.
fn ratios() {
    println!("\nlost(3), executions per CPU-second:");
    let (mut of_loom, mut of_shuttle) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let mine = rate(100, ours_lost);
        let loom = rate(1, || loomed(loomed::lost, 3, 2_000).executions);
        let shuttle = rate(1, || shuttled(shuttled::lost, 3, 2_000).executions);
        println!("strait {mine:.0}, loom {loom:.0}, shuttle {shuttle:.0}");
        of_loom.push(mine / loom);
        of_shuttle.push(mine / shuttle);
    }
    of_loom.sort_by(f64::total_cmp);
    of_shuttle.sort_by(f64::total_cmp);
    println!(
        "medians: {:.0} times the rate of loom, {:.1} times that of shuttle",
        of_loom[3], of_shuttle[3]
    );
}

/// The most memory that this process has had at once, in KiB.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Longer and longer searches: the rate, what a step costs, and the memory.
fn growth() {
    println!(
        "\nlonger searches: loads and stores, and with the start and the join of each thread:"
    );
    for size in 3..=6 {
        let (mut executions, start) = (0, cpu());
        while cpu() - start < 500_000_000 {
            let builder = Builder::new().model(Model::Tso);
            executions += builder.outcomes(move || ours::lost(size)).executions;
        }
        let nanoseconds = (cpu() - start) as f64;
        let steps = executions as f64 * 2.0 * size as f64;
        println!(
            "lost({size}): {:.0} executions per CPU-second, {:.0} ns a load or store, {:.0} ns a \
             step of any kind, {} KiB at most",
            executions as f64 * 1e9 / nanoseconds,
            nanoseconds / steps,
            nanoseconds / (2.0 * steps),
            memory()
        );
    }
    steps("");
}

/// What a step of each kind costs in programs that make a thousand of them in one way only: what
/// starting threads costs does not count here.
fn steps(only: &str) {
    use strait::sync::atomic::{AtomicUsize, Ordering};
    use strait::sync::{Condvar, Mutex, RwLock, mpsc};
    fn times(count: usize, action: impl Fn()) {
        (0..count).for_each(|_| action());
    }
    fn load(shared: &AtomicUsize) {
        times(500, || _ = shared.load(Ordering::SeqCst));
    }
    let rows: [(&str, fn()); 7] = [
        ("loads by two threads", || {
            let shared = Arc::new(AtomicUsize::new(0));
            let theirs = shared.clone();
            let other = strait::thread::spawn(move || load(&theirs));
            load(&shared);
            other.join().unwrap();
        }),
        ("Mutex, lock and unlock", || {
            let lock = Mutex::new(());
            times(500, || drop(lock.lock()));
        }),
        ("RwLock, read and unlock", || {
            let lock = RwLock::new(());
            times(500, || drop(lock.read()));
        }),
        ("RwLock, write and unlock", || {
            let lock = RwLock::new(());
            times(500, || drop(lock.write()));
        }),
        ("Condvar, notify_one", || {
            let condvar = Condvar::new();
            times(1_000, || condvar.notify_one());
        }),
        ("unbounded channel, send and recv by two threads", || {
            let (sender, receiver) = mpsc::channel();
            strait::thread::spawn(move || times(500, || sender.send(()).unwrap()));
            times(500, || receiver.recv().unwrap());
        }),
        ("channel of 1, send and recv by two threads", || {
            let (sender, receiver) = mpsc::sync_channel(1);
            strait::thread::spawn(move || times(500, || sender.send(()).unwrap()));
            times(500, || receiver.recv().unwrap());
        }),
    ];
    println!("a thousand steps of one kind, ns a step:");
    for (name, program) in rows.into_iter().filter(|(name, _)| name.contains(only)) {
        let (mut steps, start) = (0, cpu());
        while cpu() - start < 300_000_000 {
            let outcomes = Builder::new().model(Model::Tso).outcomes(program);
            assert_eq!(outcomes.executions, 1);
            steps += outcomes.steps;
        }
        println!("{name}: {:.0}", (cpu() - start) as f64 / steps as f64);
    }
}

/// CPU nanoseconds of each thread of this process that is alive.
fn cpu_of_threads() -> Vec<(String, u64)> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let computed = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    let named = tasks.map(|task| (task.file_name().to_string_lossy().into_owned(), task.path()));
    named.filter_map(|(name, path)| Some((name, computed(path)?))).collect()
}

/// CPU-seconds that an action took: of all threads together, and of the busiest one.
fn spent_by(action: impl FnOnce()) -> (f64, f64) {
    let done = std::sync::atomic::AtomicBool::new(false);
    let before: std::collections::HashMap<_, _> = cpu_of_threads().into_iter().collect();
    let spent = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut spent = std::collections::HashMap::new();
            while !done.load(Real::Relaxed) {
                for (thread, time) in cpu_of_threads() {
                    spent.insert(thread.clone(), time - before.get(&thread).unwrap_or(&0));
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            spent
        });
        action();
        done.store(true, Real::Relaxed);
        watch.join().unwrap()
    });
    let all = spent.values().sum::<u64>() as f64 / 1e9;
    (all, spent.values().max().copied().unwrap_or(0) as f64 / 1e9)
}

fn lost_six(cores: usize) {
    let builder = Builder::new().model(Model::Tso).cores(cores);
    let outcomes = builder.outcomes(|| ours::lost(6));
    assert_eq!(outcomes.executions, 518_400);
}

/// The same search on one core and on two, and two searches at once that know nothing of each other:
/// more than those gain, no way of dividing one could. Where others use the machine, the time on the
/// wall says little; what the busiest worker has computed says how long the search would take on
/// cores of its own.
fn cores() {
    println!("\nlost(6), 518,400 executions, on two cores:");
    let (mut apart, mut divided) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let wall = std::time::Instant::now();
        let (all, one) = spent_by(|| lost_six(1));
        print!(
            "one core {:.2} s on the wall, {all:.2} CPU-seconds; ",
            wall.elapsed().as_secs_f64()
        );
        let wall = std::time::Instant::now();
        let (all, most) = spent_by(|| lost_six(2));
        divided.push(one / most);
        print!("two {:.2} s, {all:.2}, the busier {most:.2}; ", wall.elapsed().as_secs_f64());
        let (all, most) = spent_by(|| {
            let other = std::thread::spawn(|| lost_six(1));
            lost_six(1);
            other.join().unwrap();
        });
        apart.push(2.0 * one / most);
        println!("two searches at once {all:.2}, the busier {most:.2}");
    }
    divided.sort_by(f64::total_cmp);
    apart.sort_by(f64::total_cmp);
    println!(
        "medians: two cores {:.2} times the rate of one; two searches at once {:.2} times",
        divided[2], apart[2]
    );
}

fn main() {
    if std::env::args().any(|argument| argument == "--ratios") {
        return ratios();
    }
    if std::env::args().any(|argument| argument == "--rc11") {
        return relaxed();
    }
    if std::env::args().any(|argument| argument == "--ours") {
        growth();
        return cores();
    }
    if std::env::args().any(|argument| argument == "--cores") {
        return cores();
    }
    if let Some(position) = std::env::args().position(|argument| argument == "--steps") {
        return steps(&std::env::args().nth(position + 1).unwrap_or_default());
    }
    if let Some(position) = std::env::args().position(|argument| argument == "--count") {
        // For a profiler: so many searches, or 500, of lost(3) or another size, on one core or more.
        let number = |after: usize, default: usize| {
            let given = std::env::args().nth(position + after);
            given.and_then(|text| text.parse().ok()).unwrap_or(default)
        };
        let (searches, size, cores) = (number(1, 500), number(2, 3), number(3, 1));
        let builder = Builder::new().model(Model::Tso).cores(cores);
        let search = |_| builder.outcomes(move || ours::lost(size));
        let executions: u64 = (0..searches).map(|index| search(index).executions).sum();
        println!("lost({size}): {executions} executions");
        return;
    }
    // Under `cargo test` figures are not read, and peers print every failure they look for.
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("lost(3): {} executions", ours_lost());
        return;
    }
    table();
    relaxed();
    ratios();
    growth();
    cores();
    real_cost();
}

/// What the wrappers cost when the code runs for real.
fn real_cost() {
    use strait::sync::atomic::{AtomicUsize, Ordering};
    let (ours, std) = (AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
    let (our_lock, std_lock) = (strait::sync::Mutex::new(0), std::sync::Mutex::new(0));
    let each = |mut action: Box<dyn FnMut() + '_>| {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let start = cpu();
            (0..2_000_000).for_each(|_| action());
            best = best.min((cpu() - start) as f64 / 2e6);
        }
        best
    };
    println!("\nfor real, ns an operation (std):");
    println!(
        "fetch_add {:.2} ({:.2}), lock and unlock {:.2} ({:.2})",
        each(Box::new(|| {
            ours.fetch_add(1, Ordering::SeqCst);
        })),
        each(Box::new(|| {
            std.fetch_add(1, Real::SeqCst);
        })),
        each(Box::new(|| *our_lock.lock().unwrap() += 1)),
        each(Box::new(|| *std_lock.lock().unwrap() += 1)),
    );
}
