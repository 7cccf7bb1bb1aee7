//! Code under test that takes the process down with it: by a crash, or by ending it. The thread that would
//! report a failure is lost, so the schedule that leads there is printed instead.
//!
//! On Linux only; elsewhere crashes are as silent as they are without a check.

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::report_crashes;
#[cfg(target_os = "linux")]
pub(crate) use linux::{on_signal, report_crashes};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(crate) fn report_crashes() {}
}

#[cfg(target_os = "linux")]
mod linux {
    #![allow(unsafe_code, reason = "signals are set up by functions of the C library")]

    use std::fmt::Write as _;
    use std::sync::{Once, OnceLock};

    use crate::rt::current::look_in_crash;
    use crate::rt::world::World;
    use crate::script::head;

    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

    /// Has a function called for a signal. Gives what was there before.
    pub(crate) fn on_signal(
        signal: libc::c_int,
        handler: Handler,
        flags: libc::c_int,
    ) -> Option<libc::sigaction> {
        // SAFETY: all zeros is a valid value of this plain structure, and the handler has the type that
        // the flags say.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = flags | libc::SA_SIGINFO;
            let mut before: libc::sigaction = std::mem::zeroed();
            (libc::sigaction(signal, &action, &mut before) == 0).then_some(before)
        }
    }

    /// The signals of a crash.
    const CRASHES: [libc::c_int; 5] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGFPE];

    static BEFORE: OnceLock<[Option<libc::sigaction>; 5]> = OnceLock::new();

    /// From now on, a crash of code under test prints the schedule that leads there, and so does the end of
    /// the process.
    pub(crate) fn report_crashes() {
        static DONE: Once = Once::new();
        DONE.call_once(|| {
            // A stack that is exhausted needs another one for the handler.
            let before = CRASHES.map(|signal| on_signal(signal, crashed, libc::SA_ONSTACK));
            let _ = BEFORE.set(before);
            // SAFETY: the function may be called at the end of the process, on whatever thread ends it.
            unsafe { libc::atexit(ended) };
        });
    }

    /// Prints the schedule, and leaves the rest to the handler that was there before: the instruction that
    /// has crashed does so again.
    extern "C" fn crashed(
        signal: libc::c_int,
        about: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        let before = BEFORE.get().into_iter().flatten().zip(CRASHES);
        for (action, known) in before {
            if let Some(action) = action.as_ref().filter(|_| known == signal) {
                // SAFETY: this was the action for the signal.
                unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
            }
        }
        look_in_crash(|world| {
            let faults = signal == libc::SIGSEGV || signal == libc::SIGBUS;
            // SAFETY: the system passes what it knows about the signal, and such signals have an address.
            let address = faults.then(|| unsafe { (*about).si_addr() }.addr());
            let overflows = address.is_some_and(|address| world.overflows_at(address));
            let what = if overflows {
                "the code under test has crashed: a thread has used up its stack, which has 1 MiB under \
                 test"
            } else {
                "the code under test has crashed"
            };
            report(world, what);
        });
    }

    /// The process ends by a call of the program, not by the test runner: no test would fail because of
    /// that.
    extern "C" fn ended() {
        look_in_crash(|world| {
            report(world, "not tested: the code under test has ended the process");
            // SAFETY: ends the process, as it was about to do, but with a failure.
            unsafe { libc::_exit(101) };
        });
    }

    /// Prints the steps so far, as far as they are known, and how to repeat them.
    fn report(world: &World, what: &str) {
        let mut text = Line { bytes: [0; 512], length: 0 };
        let _ = writeln!(text, "\nstrait: {what}");
        for line in world.log.iter().flat_map(|log| &log.lines) {
            let _ = write!(text, "    thread {}  {}", line.thread, line.label);
            let _ = writeln!(text, "  {}:{}", line.place.file(), line.place.line());
        }
        let _ = write!(text, "replay:  STRAIT_REPLAY='{}/@", head(world.model, world.features));
        for (number, &(thread, choice)) in world.path.iter().enumerate() {
            let dot = if number == 0 { "" } else { "." };
            // In a replay string threads go by the order of their births.
            let birth = world.births.get(thread as usize).copied().unwrap_or(thread);
            let _ = match choice {
                0 => write!(text, "{dot}{birth}"),
                choice => write!(text, "{dot}{birth}:{choice}"),
            };
        }
        let _ = writeln!(text, "' cargo test");
    }

    /// Text that is written as soon as there is much of it: nothing is allocated in a crash, and the stack
    /// for signals is small.
    struct Line {
        bytes: [u8; 512],
        length: usize,
    }

    impl std::fmt::Write for Line {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            for &byte in text.as_bytes() {
                if self.length == self.bytes.len() {
                    self.flush();
                }
                self.bytes[self.length] = byte;
                self.length += 1;
            }
            Ok(())
        }
    }

    impl Line {
        fn flush(&mut self) {
            // SAFETY: writes the bytes that are there to the standard error.
            unsafe { libc::write(2, self.bytes.as_ptr().cast(), self.length) };
            self.length = 0;
        }
    }

    impl Drop for Line {
        fn drop(&mut self) {
            self.flush();
        }
    }
}
