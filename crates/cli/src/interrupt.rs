//! Ctrl-C, SIGTERM and SIGHUP: the first signal asks the work to end and keeps what was found, the second
//! ends the process at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use strait_campaign::{Interruption, Stop};

use crate::ui::{Ui, say, wipe_line};

/// A flag that is set when the user wants to stop. Nothing is said about it if quiet is wanted.
pub fn flag_for(ui: &Ui) -> anyhow::Result<Arc<AtomicBool>> {
    Ok(Arc::clone(stop_for(ui)?.flag()))
}

/// The same for a campaign, which may also be ended by the clock.
pub fn stop_for(ui: &Ui) -> anyhow::Result<Stop> {
    let (quiet, terminal, screen) = (ui.quiet, ui.terminal, ui.screen.clone());
    let stop = Stop::default();
    let asked = stop.clone();
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot watch for signals")?;
    let watch = move || {
        for signal in signals.forever() {
            let interruption = interruption(signal);
            let again = asked.interrupt(interruption);
            if again {
                screen.leave();
            }
            // A full-screen view says so itself.
            if !quiet && !screen.is_entered() {
                wipe_line();
                say(terminal, if again { "stopped at once" } else { stopping(interruption) });
            }
            if again {
                leave();
            }
        }
    };
    let thread = thread::Builder::new().name("signals".into());
    thread.spawn(watch).context("cannot watch for signals")?;
    Ok(stop)
}

fn interruption(signal: i32) -> Interruption {
    match signal {
        SIGTERM => Interruption::Terminate,
        SIGHUP => Interruption::HangUp,
        _ => Interruption::CtrlC,
    }
}

fn stopping(interruption: Interruption) -> &'static str {
    match interruption {
        Interruption::CtrlC | Interruption::Key => {
            "stopping; press Ctrl-C once more to stop at once"
        }
        Interruption::Terminate => "stopping because of SIGTERM; a second signal stops at once",
        Interruption::HangUp => "stopping because of SIGHUP; a second signal stops at once",
    }
}

#[allow(clippy::disallowed_methods, reason = "the user has asked twice, nothing is left to save")]
fn leave() -> ! {
    std::process::exit(2)
}
