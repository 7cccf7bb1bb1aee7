//! Ctrl-C: the first one asks the work to end and keeps what was found, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use strait_campaign::Stop;

use crate::ui::{Ui, say, wipe_line};

/// A flag that is set when the user wants to stop. Nothing is said about it if quiet is wanted.
pub fn flag_for(ui: &Ui) -> anyhow::Result<Arc<AtomicBool>> {
    Ok(Arc::clone(stop_for(ui)?.flag()))
}

/// The same for a campaign, which may also be ended by the clock.
pub fn stop_for(ui: &Ui) -> anyhow::Result<Stop> {
    let (quiet, terminal) = (ui.quiet, ui.terminal);
    let stop = Stop::default();
    let asked = stop.clone();
    let handler = move || {
        let again = asked.interrupt();
        if !quiet {
            wipe_line();
            let stopping = "stopping; press Ctrl-C once more to stop at once";
            say(terminal, if again { "stopped at once" } else { stopping });
        }
        if again {
            leave();
        }
    };
    ctrlc::set_handler(handler).context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

#[allow(clippy::disallowed_methods, reason = "the user has asked twice, nothing is left to save")]
fn leave() -> ! {
    std::process::exit(2)
}
