//! A full-screen view on the terminal of standard error. It takes the other screen of the terminal, so that what
//! was there is there again afterwards, and a mode in which single keys can be read. However the process ends,
//! except by `kill -9`, [`Screen::leave`] restores both: when the campaign ends, at the second Ctrl-C, and when a
//! thread panics.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};
use strait_campaign::{Interruption, Stop};

use crate::live::{Live, text};
use crate::terminal::Terminal;
use crate::ui::Ui;

/// Between two drawings, and two looks for a key.
const FRAME: Duration = Duration::from_millis(200);
/// How long a thread that panics waits for another one that draws.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(5);

/// The other screen, without a cursor, in which long lines are cut.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The terminal while a full-screen view is on it. Clones are the same value.
#[derive(Clone, Debug, Default)]
pub struct Screen(Arc<Mutex<Option<Saved>>>);

/// How the terminal was.
#[derive(Debug)]
struct Saved(Option<Termios>);

impl Screen {
    /// Can it be used?
    pub fn is_possible() -> bool {
        let term = std::env::var_os("TERM");
        std::io::stderr().is_terminal()
            && term.is_some_and(|term| term != "dumb" && !term.is_empty())
    }

    /// Takes the terminal.
    fn enter(&self) {
        let saved = single_keys();
        write(ENTER);
        *self.lock() = Some(Saved(saved));
        let (screen, report) = (self.clone(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            screen.leave_soon();
            report(panic);
        }));
    }

    /// Is a view on it?
    pub fn is_entered(&self) -> bool {
        self.lock().is_some()
    }

    /// Gives the terminal back as it was. Nothing happens if that was done already.
    pub fn leave(&self) {
        restore(&mut self.lock());
    }

    /// The same in a panic, which may have come while this thread was drawing.
    fn leave_soon(&self) {
        for _ in 0..TRIES {
            match self.0.try_lock() {
                Ok(mut saved) => return restore(&mut saved),
                Err(TryLockError::Poisoned(saved)) => return restore(&mut saved.into_inner()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Draws a whole picture, if the terminal was not given back.
    fn draw(&self, picture: &str) {
        let saved = self.lock();
        if saved.is_some() {
            write(picture);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Saved>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Lets single keys be read without being shown. Ctrl-C goes on to be a signal; Ctrl-Z and Ctrl-\ would leave
/// the terminal as it is now, so they do nothing. How the terminal was before.
fn single_keys() -> Option<Termios> {
    let terminal = std::io::stderr();
    let before = tcgetattr(&terminal).ok()?;
    let mut modes = before.clone();
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    for key in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT] {
        modes.special_codes[key] = NO_KEY;
    }
    tcsetattr(&terminal, OptionalActions::Now, &modes).ok()?;
    Some(before)
}

/// The value that switches a special key off, `_POSIX_VDISABLE`.
const NO_KEY: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

fn restore(saved: &mut Option<Saved>) {
    let Some(Saved(modes)) = saved.take() else { return };
    write(LEAVE);
    if let Some(modes) = modes {
        let terminal = std::io::stderr();
        // If the terminal is gone, there is nothing to restore.
        let _ = tcflush(&terminal, QueueSelector::IFlush);
        let _ = tcsetattr(&terminal, OptionalActions::Now, &modes);
    }
}

/// Writes to the terminal. If it is gone, the campaign goes on.
fn write(text: &str) {
    let mut terminal = std::io::stderr().lock();
    if !terminal.is_terminal() {
        return;
    }
    let _ = terminal.write_all(text.as_bytes());
    let _ = terminal.flush();
}

/// The full-screen view of a campaign.
pub struct LiveScreen {
    screen: Screen,
    terminal: Terminal,
    live: Live,
    stop: Stop,
}

impl LiveScreen {
    pub fn new(ui: &Ui, live: &Live, stop: &Stop) -> LiveScreen {
        let (screen, terminal) = (ui.screen.clone(), ui.terminal);
        LiveScreen { screen, terminal, live: live.clone(), stop: stop.clone() }
    }

    /// Draws it until `wait` for a while says that the campaign is over.
    pub fn show(&self, wait: &mut dyn FnMut(Duration) -> bool) {
        self.screen.enter();
        loop {
            if is_q_pressed() {
                // A second time is the same as the first: only Ctrl-C stops at once.
                let _ = self.stop.interrupt(Interruption::Key);
            }
            self.screen.draw(&self.picture());
            if !wait(FRAME) {
                break;
            }
        }
        self.screen.leave();
    }

    fn picture(&self) -> String {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        let (columns, rows) =
            size.map_or((80, 24), |(columns, rows)| (usize::from(columns.0), usize::from(rows.0)));
        let page = self.live.page.map(|address| format!("http://{address}/"));
        let lines = text::lines(&self.live.snapshot(), page.as_deref(), columns, rows);
        let shown: Vec<String> = lines
            .iter()
            .map(|line| match line.paint {
                Some(paint) => self.terminal.printed(&self.terminal.paint(paint, &line.text)),
                None => self.terminal.printed(&line.text),
            })
            .collect();
        // Each line is wiped first: to wipe after a full line would take its last character.
        format!("\x1b[H\x1b[K{}", shown.join("\r\n\x1b[K"))
    }
}

/// Was q typed since the last look? Other keys do nothing.
fn is_q_pressed() -> bool {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return false;
    }
    let mut is_pressed = false;
    loop {
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_ready = poll(&mut ready, Some(&now)).is_ok_and(|count| count > 0);
        if !is_ready || !ready[0].revents().contains(PollFlags::IN) {
            return is_pressed;
        }
        let mut keys = [0_u8; 64];
        match rustix::io::read(&input, &mut keys) {
            Ok(length) if length > 0 => {
                is_pressed |= keys[..length].iter().any(|key| b"qQ".contains(key));
            }
            _ => return is_pressed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let screen = Screen::default();
        screen.enter();
        assert!(screen.is_entered());
        let drawing = screen.clone();
        let thread = std::thread::spawn(move || {
            drawing.draw("a picture");
            panic!("a thread fails");
        });
        assert!(thread.join().is_err());
        assert!(!screen.is_entered());
        // What is drawn or given back afterwards does nothing.
        screen.draw("a picture");
        screen.leave();
        assert!(!screen.is_entered());
    }
}
