//! Ctrl-C: the first one asks the work to end and keeps what was found, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::ui::{Ui, say, wipe_line};

/// A flag that is set when the user wants to stop. Nothing is said about it if quiet is wanted.
pub fn flag_for(ui: &Ui) -> anyhow::Result<Arc<AtomicBool>> {
    let (quiet, terminal) = (ui.quiet, ui.terminal);
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let handler = move || {
        let again = seen.swap(true, Ordering::SeqCst);
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
