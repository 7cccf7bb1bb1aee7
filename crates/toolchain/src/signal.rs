//! Signals by the names people search for.

use rustix::process::Signal;

/// `SIGSEGV` and the like; a number when it has no common name.
pub(crate) fn name(raw: i32) -> String {
    let known = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let found = known.iter().find(|(signal, _)| signal.as_raw() == raw);
    found.map_or_else(|| format!("signal {raw}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_signals_have_names() {
        assert_eq!(name(Signal::SEGV.as_raw()), "SIGSEGV");
        assert_eq!(name(Signal::ABORT.as_raw()), "SIGABRT");
        assert_eq!(name(63), "signal 63");
    }
}
