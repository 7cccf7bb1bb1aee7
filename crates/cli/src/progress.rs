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
use strait_campaign::Stop;

use crate::live::{Following, Live, LiveScreen};
use crate::segments::{self, Segment};
use crate::terminal::Terminal;
use crate::ui::{Ui, grouped, say};

/// Work that ends sooner than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// Between two drawings on a terminal.
const FRAME: Duration = Duration::from_millis(100);
/// Between two lines elsewhere.
const INTERVAL: Duration = Duration::from_secs(10);

/// Work that can say how far it is.
pub trait ProgressSource: Send {
    /// How much is done, of how much; `None` when the end is not known.
    fn place(&self) -> Option<(u64, u64)>;

    /// Everything else, in a line: as much of it as the terminal has columns for.
    fn segments(&self, elapsed: Duration) -> Vec<Segment>;
}

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
enum ProgressOutput {
    Silent,
    /// One line that is drawn again and again.
    Drawn,
    /// A line every now and then.
    Lines,
}

impl ProgressOutput {
    fn choose(quiet: bool, json: bool, terminal: bool) -> ProgressOutput {
        match (quiet, json, terminal) {
            (true, _, _) | (_, true, false) => ProgressOutput::Silent,
            (_, _, true) => ProgressOutput::Drawn,
            (_, false, false) => ProgressOutput::Lines,
        }
    }
}

/// A quantity and its counter.
struct Counted {
    quantity: Quantity,
    count: Arc<AtomicU64>,
}

impl ProgressSource for Counted {
    fn place(&self) -> Option<(u64, u64)> {
        Some((self.count.load(Ordering::Relaxed), self.quantity.all?))
    }

    fn segments(&self, elapsed: Duration) -> Vec<Segment> {
        told(self.count.load(Ordering::Relaxed), self.quantity, elapsed)
    }
}

/// Tells how far the work is for as long as it lives.
pub struct Progress {
    count: Arc<AtomicU64>,
    /// The thread that tells; it ends when the sender is gone. What is sent is said at once.
    reporter: Option<(Sender<String>, JoinHandle<()>)>,
    quiet: bool,
    terminal: Terminal,
    /// Live views follow the work as long as this lives.
    following: Option<Following>,
}

impl Progress {
    /// Begins to tell. Once `stop` is set, the line says that the work is about to end.
    pub fn start(ui: &Ui, quantity: Quantity, stop: &Arc<AtomicBool>) -> Progress {
        let count = Arc::new(AtomicU64::new(0));
        let counted = Counted { quantity, count: Arc::clone(&count) };
        let mut progress = Progress::of(ui, Box::new(counted), stop);
        progress.count = count;
        progress
    }

    /// Begins to tell about work that has its own words.
    pub fn of(ui: &Ui, source: Box<dyn ProgressSource>, stop: &Arc<AtomicBool>) -> Progress {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        let output = ProgressOutput::choose(ui.quiet, ui.json, terminal);
        let (stop, started) = (Arc::clone(stop), Instant::now());
        let view = View { source, stop, started, terminal: ui.terminal };
        let reporter = (output != ProgressOutput::Silent).then(|| {
            let (sender, end) = channel();
            let tell = move || match output {
                ProgressOutput::Drawn => view.draw(&end),
                _ => view.write_lines(&end),
            };
            (sender, std::thread::spawn(tell))
        });
        let (count, terminal) = (Arc::default(), ui.terminal);
        Progress { count, reporter, quiet: ui.quiet, terminal, following: None }
    }

    /// Live views follow the work meanwhile.
    pub fn with(mut self, following: Option<Following>) -> Progress {
        self.following = following;
        self
    }

    /// Shows a campaign on the whole terminal. What is said meanwhile is written when that ends.
    pub fn watched(ui: &Ui, live: &Live, stop: &Stop) -> Progress {
        let (sender, inbox) = channel();
        let (view, terminal) = (LiveScreen::new(ui, live, stop), ui.terminal);
        let show = move || {
            let mut said = Vec::new();
            view.show(&mut |time| wait(&inbox, time, &mut |text| said.push(text)));
            for text in said {
                say(terminal, text);
            }
        };
        let reporter = Some((sender, std::thread::spawn(show)));
        Progress { count: Arc::default(), reporter, quiet: ui.quiet, terminal, following: None }
    }

    /// Says something beside the moving line, on stderr.
    pub fn say(&self, text: impl Into<String>) {
        let text = text.into();
        match &self.reporter {
            // The thread only draws and writes: if it is gone, so is stderr.
            Some((sender, _)) => drop(sender.send(text)),
            None if !self.quiet => say(self.terminal, text),
            None => {}
        }
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

/// On terminals with fewer columns there is no room for a bar beside the text.
const NARROW: usize = 80;

/// What the reporting thread sees.
struct View {
    source: Box<dyn ProgressSource>,
    stop: Arc<AtomicBool>,
    started: Instant,
    terminal: Terminal,
}

impl View {
    fn draw(&self, inbox: &Receiver<String>) {
        if !wait(inbox, PATIENCE, &mut |text| say(self.terminal, text)) {
            return;
        }
        let bar = match self.source.place() {
            Some((_, all)) => ProgressBar::new(all),
            None => ProgressBar::no_length(),
        };
        let mut template = "";
        bar.set_draw_target(ProgressDrawTarget::stderr());
        loop {
            // The width may change at any time.
            let columns = columns();
            let (wanted, beside) = match self.source.place() {
                Some(_) if columns < NARROW => ("{wide_msg}", 0),
                Some(_) => ("{bar:20} {wide_msg}", 21),
                None => ("{spinner} {wide_msg}", 2),
            };
            if template != wanted {
                template = wanted;
                bar.set_style(style(wanted));
            }
            bar.set_position(self.source.place().map_or(0, |(done, _)| done));
            let text = self.text(Some(columns.saturating_sub(beside + 1)));
            bar.set_message(self.terminal.printed(&text));
            bar.tick();
            if !wait(inbox, FRAME, &mut |text| bar.println(self.terminal.printed(&text))) {
                break;
            }
        }
        bar.finish_and_clear();
    }

    fn write_lines(&self, inbox: &Receiver<String>) {
        while wait(inbox, INTERVAL, &mut |text| say(self.terminal, text)) {
            say(self.terminal, self.text(None));
        }
    }

    fn text(&self, columns: Option<usize>) -> String {
        let mut segments = self.source.segments(self.started.elapsed());
        if self.stop.load(Ordering::Relaxed) {
            segments.insert(0, Segment::new(0, "stopping"));
        }
        segments::line(segments, columns)
    }
}

/// The columns of the terminal on which progress is drawn.
fn columns() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or(NARROW, |(terminal_size::Width(columns), _)| usize::from(columns))
}

/// Waits so long and passes on what comes meanwhile; `false` when the work is done.
fn wait(inbox: &Receiver<String>, time: Duration, pass: &mut dyn FnMut(String)) -> bool {
    let end = Instant::now() + time;
    loop {
        match inbox.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(text) => pass(text),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// `12,345 states in 1 min 05 s, 190 per second`
fn told(count: u64, quantity: Quantity, elapsed: Duration) -> Vec<Segment> {
    let rate = (count as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
    let of = quantity.all.map_or(String::new(), |all| format!(" of {}", grouped(all)));
    let (count, name, time) = (grouped(count), quantity.name, duration(elapsed));
    vec![
        Segment::new(0, format!("{count}{of} {name} in {time}")),
        Segment::new(1, format!("{} per second", grouped(rate))),
    ]
}

/// `5 s`, `1 min 05 s`, `2 h 07 min`.
pub fn duration(time: Duration) -> String {
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
            (false, false, true, ProgressOutput::Drawn),
            (false, false, false, ProgressOutput::Lines),
            (false, true, true, ProgressOutput::Drawn),
            (false, true, false, ProgressOutput::Silent),
            (true, false, true, ProgressOutput::Silent),
            (true, false, false, ProgressOutput::Silent),
            (true, true, true, ProgressOutput::Silent),
        ] {
            let found = ProgressOutput::choose(quiet, json, terminal);
            assert_eq!(found, expected, "quiet {quiet}, json {json}, terminal {terminal}");
        }
    }

    #[test]
    fn the_line_tells_count_time_and_rate() {
        let states = Quantity { name: "states", all: None };
        let executions = Quantity { name: "executions", all: Some(10_000) };
        for (count, quantity, seconds, expected) in [
            (0, states, 0, "0 states in 0 s, 0 per second"),
            (12_345, states, 65, "12,345 states in 1 min 05 s, 189 per second"),
            (7_200_000, states, 7620, "7,200,000 states in 2 h 07 min, 944 per second"),
            (500, executions, 5, "500 of 10,000 executions in 5 s, 100 per second"),
        ] {
            let segments = told(count, quantity, Duration::from_secs(seconds));
            assert_eq!(segments::line(segments, None), expected);
        }
    }

    #[test]
    fn the_templates_are_right() {
        for template in ["{bar:20} {wide_msg}", "{spinner} {wide_msg}", "{wide_msg}"] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
