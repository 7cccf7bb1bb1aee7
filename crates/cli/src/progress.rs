//! How far a long piece of work is, on stderr: a line that moves on a terminal, a new line every
//! ten seconds elsewhere, nothing when stderr is to be quiet.
//!
//! The work adds to a counter; a thread of its own looks at that counter and draws. The line is
//! wiped away when the [`Progress`] is dropped, so results can be printed after that.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::{Ui, grouped, say};

/// Work that ends sooner than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// Between two drawings on a terminal.
const FRAME: Duration = Duration::from_millis(100);
/// Between two lines elsewhere.
const INTERVAL: Duration = Duration::from_secs(10);

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its name, in the plural: `states`.
    pub name: &'static str,
    /// How many there are in the end, if that is known.
    pub all: Option<u64>,
}

/// Where progress is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Silent,
    /// One line that is drawn again and again.
    Drawn,
    /// A line every now and then.
    Lines,
}

impl Manner {
    fn choose(quiet: bool, json: bool, terminal: bool) -> Manner {
        match (quiet, json, terminal) {
            (true, _, _) | (_, true, false) => Manner::Silent,
            (_, _, true) => Manner::Drawn,
            (_, false, false) => Manner::Lines,
        }
    }
}

/// Tells how far the work is for as long as it lives.
pub struct Progress {
    count: Arc<AtomicU64>,
    /// The thread that tells; it ends when the sender is gone.
    reporter: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to tell. Once `stop` is set, the line says that the work is about to end.
    pub fn start(ui: &Ui, quantity: Quantity, stop: &Arc<AtomicBool>) -> Progress {
        let count = Arc::new(AtomicU64::new(0));
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        let manner = Manner::choose(ui.quiet, ui.json, terminal);
        let view = View {
            quantity,
            count: Arc::clone(&count),
            stop: Arc::clone(stop),
            started: Instant::now(),
        };
        let reporter = (manner != Manner::Silent).then(|| {
            let (sender, end) = channel();
            let tell = move || match manner {
                Manner::Drawn => view.draw(&end),
                _ => view.write_lines(&end),
            };
            (sender, std::thread::spawn(tell))
        });
        Progress { count, reporter }
    }

    /// The counter that the work moves.
    pub fn count(&self) -> &AtomicU64 {
        &self.count
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, reporter)) = self.reporter.take() {
            drop(sender);
            // It only draws: if it failed, there is nothing to lose.
            let _ = reporter.join();
        }
    }
}

/// What the reporting thread sees.
struct View {
    quantity: Quantity,
    count: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    started: Instant,
}

impl View {
    fn draw(&self, end: &Receiver<()>) {
        if ends_within(end, PATIENCE) {
            return;
        }
        let bar = match self.quantity.all {
            Some(all) => ProgressBar::new(all).with_style(style("{bar:20} {wide_msg}")),
            None => ProgressBar::no_length().with_style(style("{spinner} {wide_msg}")),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr());
        loop {
            bar.set_position(self.count.load(Ordering::Relaxed));
            bar.set_message(self.text());
            bar.tick();
            if ends_within(end, FRAME) {
                break;
            }
        }
        bar.finish_and_clear();
    }

    fn write_lines(&self, end: &Receiver<()>) {
        while !ends_within(end, INTERVAL) {
            say(self.text());
        }
    }

    fn text(&self) -> String {
        let count = self.count.load(Ordering::Relaxed);
        let text = told(count, self.quantity, self.started.elapsed());
        if self.stop.load(Ordering::Relaxed) { format!("stopping, {text}") } else { text }
    }
}

/// Waits so long; is the work done by then?
fn ends_within(end: &Receiver<()>, time: Duration) -> bool {
    end.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// `12,345 states in 1 min 05 s, 190 a second`
fn told(count: u64, quantity: Quantity, elapsed: Duration) -> String {
    let rate = (count as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
    let of = quantity.all.map_or(String::new(), |all| format!(" of {}", grouped(all)));
    let (count, name, time) = (grouped(count), quantity.name, duration(elapsed));
    format!("{count}{of} {name} in {time}, {} a second", grouped(rate))
}

/// `5 s`, `1 min 05 s`, `2 h 07 min`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_and_json_decide_before_the_terminal() {
        for (quiet, json, terminal, expected) in [
            (false, false, true, Manner::Drawn),
            (false, false, false, Manner::Lines),
            (false, true, true, Manner::Drawn),
            (false, true, false, Manner::Silent),
            (true, false, true, Manner::Silent),
            (true, false, false, Manner::Silent),
            (true, true, true, Manner::Silent),
        ] {
            let found = Manner::choose(quiet, json, terminal);
            assert_eq!(found, expected, "quiet {quiet}, json {json}, terminal {terminal}");
        }
    }

    #[test]
    fn the_line_tells_count_time_and_rate() {
        let states = Quantity { name: "states", all: None };
        let executions = Quantity { name: "executions", all: Some(10_000) };
        for (count, quantity, seconds, expected) in [
            (0, states, 0, "0 states in 0 s, 0 a second"),
            (12_345, states, 65, "12,345 states in 1 min 05 s, 189 a second"),
            (7_200_000, states, 7620, "7,200,000 states in 2 h 07 min, 944 a second"),
            (500, executions, 5, "500 of 10,000 executions in 5 s, 100 a second"),
        ] {
            assert_eq!(told(count, quantity, Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn the_templates_are_right() {
        for template in ["{bar:20} {wide_msg}", "{spinner} {wide_msg}"] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
