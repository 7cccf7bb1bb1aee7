//! What the tests share: the stand-in for the `strait` binary, and looking for processes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use strait_toolchain::Launcher;

/// Longer than anything takes on a machine that is busy with other things.
pub const LONG: Duration = Duration::from_secs(120);

pub fn launcher() -> Launcher {
    Launcher::of(env!("CARGO_BIN_EXE_strait-toolchain-subject"))
}

/// A number of seconds that nobody else sleeps.
pub fn mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("86400.{}{count:03}", std::process::id())
}

/// The processes with the mark in their command line.
pub fn marked(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(format!("{number} {}", String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    lines.filter(|line| line.contains(mark)).collect()
}

/// Waits until it is so; fails after a very long time.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
