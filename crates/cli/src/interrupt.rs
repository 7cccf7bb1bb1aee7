//! Ctrl-C: the first one asks the work to end and keeps what was found, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set when the user wants to stop.
pub fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            eprintln!("stopped at once");
            leave();
        }
        eprintln!("stopping; once more to stop at once");
    })?;
    Ok(stop)
}

#[allow(clippy::disallowed_methods, reason = "the user has asked twice, nothing is left to save")]
fn leave() -> ! {
    std::process::exit(2)
}
