//! Notices code under test that does not come back from something that is not controlled: it waits there
//! for good, or goes round without making a step. Neither can be made a failure of the check, since the
//! thread that would report it is the one that is lost. So the process is ended, with the native stack
//! and what to import instead.
//!
//! One thread watches all threads of the process that perform checks. On Linux only; elsewhere nothing is
//! noticed.

use std::io::Write as _;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::watch_this_thread;
#[cfg(target_os = "linux")]
pub(crate) use linux::watch_this_thread;

/// Ends the process with a text on the standard error.
#[allow(
    clippy::disallowed_methods,
    reason = "what the thread under test does next cannot be trusted, and nothing else can end it"
)]
pub(crate) fn abort_with(text: &str) -> ! {
    // There is nothing to do if that fails.
    let _ = std::io::stderr().write_all(text.as_bytes());
    std::process::abort()
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(crate) fn watch_this_thread(_test: Option<String>) {}
}

#[cfg(target_os = "linux")]
mod linux {
    #![allow(unsafe_code, reason = "signals are set up and sent by functions of the C library")]

    use std::backtrace::Backtrace;
    use std::cell::RefCell;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
    use std::time::Duration;

    use crate::crash::on_signal;
    use crate::rt::current::{Position, Witness, witness};

    /// How often it is looked at the threads.
    const PERIOD: Duration = Duration::from_millis(250);
    /// How many seconds a thread may wait, unless `STRAIT_WATCHDOG` says otherwise.
    const PATIENCE: u64 = 10;
    /// How many times longer it may compute without making a step.
    const COMPUTING: u32 = 6;

    /// A thread of the operating system that performs checks.
    struct Watched {
        /// Where the system says what the thread does.
        file: PathBuf,
        thread: libc::pthread_t,
        /// How far the code under test has come on it.
        witness: Witness,
        /// The test that runs there.
        test: Mutex<String>,
    }

    /// All threads that are watched. The watching thread waits while there are none.
    static ALL: (Mutex<Vec<Arc<Watched>>>, Condvar) = (Mutex::new(Vec::new()), Condvar::new());

    fn all() -> MutexGuard<'static, Vec<Arc<Watched>>> {
        ALL.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of a thread, until the thread ends.
    struct Registration(Arc<Watched>);

    impl Drop for Registration {
        fn drop(&mut self) {
            all().retain(|watched| !Arc::ptr_eq(watched, &self.0));
        }
    }

    thread_local! {
        static OWN: RefCell<Option<Registration>> = const { RefCell::new(None) };
    }

    /// From now on the current thread is watched whenever it performs code under test. Does nothing if
    /// `STRAIT_WATCHDOG` is 0. Without a name, the thread belongs to a check that is divided.
    pub(crate) fn watch_this_thread(test: Option<String>) {
        let Some(patience) = patience() else { return };
        let _ = OWN.try_with(|own| {
            let mut own = own.borrow_mut();
            if own.is_none() {
                *own = register(patience);
            }
            if let (Some(Registration(watched)), Some(test)) = (&*own, test) {
                *watched.test.lock().unwrap_or_else(PoisonError::into_inner) = test;
            }
        });
    }

    fn patience() -> Option<Duration> {
        static SECONDS: OnceLock<u64> = OnceLock::new();
        let asked = || std::env::var("STRAIT_WATCHDOG").ok().and_then(|text| text.parse().ok());
        let seconds = *SECONDS.get_or_init(|| asked().unwrap_or(PATIENCE));
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    fn register(patience: Duration) -> Option<Registration> {
        let task = fs::read_link("/proc/thread-self").ok()?;
        let watched = Arc::new(Watched {
            file: Path::new("/proc").join(task).join("stat"),
            // SAFETY: asks for the name of this thread.
            thread: unsafe { libc::pthread_self() },
            witness: witness(),
            test: Mutex::new("a check".to_owned()),
        });
        static WATCHES: OnceLock<bool> = OnceLock::new();
        let watches = WATCHES.get_or_init(|| {
            let watch = std::thread::Builder::new().name("strait-watchdog".to_owned());
            watch.spawn(move || watch_all(patience)).is_ok()
        });
        if !watches {
            return None;
        }
        all().push(watched.clone());
        ALL.1.notify_all();
        Some(Registration(watched))
    }

    /// What a thread was seen to do, and for how long it has done nothing else.
    struct Seen {
        watched: Arc<Watched>,
        position: Position,
        doing: Option<Doing>,
        waited: Duration,
        computed: Duration,
    }

    /// What a thread does, given what the system says about it.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Doing {
        /// It sleeps, having used so much time.
        Sleeps(u64, u64),
        Computes,
        /// A debugger has stopped it.
        Stopped,
    }

    fn watch_all(patience: Duration) {
        let mut known: Vec<Seen> = Vec::new();
        loop {
            let mut watched = all();
            while watched.is_empty() {
                watched = ALL.1.wait(watched).unwrap_or_else(PoisonError::into_inner);
            }
            // As long as they are in the list, the threads are there to be asked.
            let ask = |watched: &Arc<Watched>| (watched.clone(), watched.witness.position());
            let all: Vec<(Arc<Watched>, Position)> = watched.iter().map(ask).collect();
            drop(watched);
            known.retain(|seen| all.iter().any(|(watched, _)| Arc::ptr_eq(watched, &seen.watched)));
            for (watched, position) in all {
                let index = known.iter().position(|seen| Arc::ptr_eq(&watched, &seen.watched));
                let index = index.unwrap_or_else(|| {
                    known.push(Seen::new(watched));
                    known.len() - 1
                });
                known[index].look(position, patience);
            }
            std::thread::sleep(PERIOD);
        }
    }

    impl Seen {
        fn new(watched: Arc<Watched>) -> Seen {
            Seen {
                watched,
                position: Position::default(),
                doing: None,
                waited: Duration::ZERO,
                computed: Duration::ZERO,
            }
        }

        fn look(&mut self, position: Position, patience: Duration) {
            let stat = fs::read_to_string(&self.watched.file).ok();
            let doing = stat.as_deref().and_then(doing);
            let moves = !position.is_under_test() || position != self.position;
            if moves || doing == Some(Doing::Stopped) {
                (self.waited, self.computed) = (Duration::ZERO, Duration::ZERO);
            } else if doing == Some(Doing::Computes) {
                self.computed += PERIOD;
            } else if doing.is_some() && doing == self.doing {
                self.waited += PERIOD;
            }
            (self.position, self.doing) = (position, doing);
            if self.waited >= patience {
                self.watched.end(&Lost::Waits(patience));
            } else if self.computed >= patience * COMPUTING {
                self.watched.end(&Lost::Computes(patience * COMPUTING));
            }
        }
    }

    /// What the system says about a thread (proc_pid_stat(5)): the state is the third field of all, the
    /// times are the 14th and 15th.
    fn doing(stat: &str) -> Option<Doing> {
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        match *fields.first()? {
            "S" | "D" => Some(Doing::Sleeps(number(11)?, number(12)?)),
            "T" | "t" => Some(Doing::Stopped),
            _ => Some(Doing::Computes),
        }
    }

    /// How a thread was lost.
    enum Lost {
        Waits(Duration),
        Computes(Duration),
    }

    impl Watched {
        fn end(&self, lost: &Lost) -> ! {
            let stack = self.stack().unwrap_or_else(|| "(unknown)".to_owned());
            let (what, remedy) = match lost {
                Lost::Waits(time) => (
                    format!(
                        "has waited for {} seconds in something that strait does not control",
                        time.as_secs()
                    ),
                    remedy(&stack).unwrap_or(OTHER),
                ),
                Lost::Computes(time) => (
                    format!("has computed for {} seconds without making a step", time.as_secs()),
                    ENDLESS,
                ),
            };
            let test = self.test.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let text = format!(
                "\nstrait: {test}: not tested: the code under test {what}\n{remedy}\nIts stack:\n{stack}\n\
                 The process is aborted, since the thread cannot be ended. STRAIT_WATCHDOG=SECONDS waits \
                 longer, STRAIT_WATCHDOG=0 for good.\n"
            );
            super::abort_with(&text)
        }

        /// The native stack of the thread, which writes it down in a signal handler. One that waits in the
        /// system is not in the middle of something that the handler needs; others may be, and then there is
        /// no stack.
        fn stack(&self) -> Option<String> {
            on_signal(libc::SIGUSR2, note_stack, 0)?;
            // SAFETY: the thread is there, since it is watched.
            unsafe { libc::pthread_kill(self.thread, libc::SIGUSR2) };
            // To find the names takes long on a machine that is busy.
            for _ in 0..200 {
                if let Some(stack) = STACK.get() {
                    return Some(stack.clone());
                }
                std::thread::sleep(PERIOD / 2);
            }
            None
        }
    }

    static STACK: OnceLock<String> = OnceLock::new();

    extern "C" fn note_stack(
        _signal: libc::c_int,
        _about: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        let _ = STACK.set(Backtrace::force_capture().to_string());
    }

    const OTHER: &str = "Take `strait::sync`, `strait::thread`, `strait::channel` and `strait::future` \
                         for everything that waits.";

    const ENDLESS: &str = "A loop probably waits for another thread by an atomic of `std` or by a clock. \
                           Take `strait::sync::atomic`, and call `strait::hint::spin_loop` or \
                           `strait::thread::yield_now` in loops that wait.";

    /// What to import instead, given the stack. The first that fits: condition variables lock too, and
    /// barriers are made of both.
    fn remedy(stack: &str) -> Option<&'static str> {
        let remedies = [
            (["tokio", "tokio"], "Take `strait::future` instead of tokio."),
            (["rayon", "rayon"], "Take `strait::thread` instead of rayon."),
            (["crossbeam", "flume"], "Take `strait::channel` instead of this channel."),
            (["sync/mpsc", "sync/mpmc"], "Take `strait::sync::mpsc` instead of `std::sync::mpsc`."),
            (
                ["barrier.rs", "Barrier"],
                "Take `strait::sync::Barrier` instead of `std::sync::Barrier`.",
            ),
            (
                ["condvar", "Condvar"],
                "Take `strait::sync::Condvar` instead of `std::sync::Condvar`.",
            ),
            (
                ["sync/once", "once_lock"],
                "Take `strait::sync::OnceLock`, `LazyLock` and `Once` instead of those of `std`.",
            ),
            (["rwlock", "RwLock"], "Take `strait::sync::RwLock` instead of `std::sync::RwLock`."),
            (["parking_lot", "lock_api"], "Take `strait::sync` instead of parking_lot."),
            (["mutex", "Mutex"], "Take `strait::sync::Mutex` instead of `std::sync::Mutex`."),
            (["JoinHandle", "thread/join"], "Take `strait::thread` instead of `std::thread`."),
        ];
        let fits = |words: &[&str; 2]| words.iter().any(|word| stack.contains(word));
        remedies.into_iter().find(|(words, _)| fits(words)).map(|(_, remedy)| remedy)
    }
}
