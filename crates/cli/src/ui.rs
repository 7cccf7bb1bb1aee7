//! How Strait talks to people: results on stdout, everything else on stderr, colours on terminals.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use clap::ValueEnum;

use crate::live::Screen;
use crate::terminal::{Terminal, printed_json};

/// How a subcommand ended, if it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing was found.
    Clean,
    /// Something was found.
    Found,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A colour, as far as we use them.
#[derive(Clone, Copy, Debug)]
pub enum Paint {
    /// Good news.
    Green,
    /// Bad news.
    Red,
    /// Something to look at.
    Yellow,
    /// Important.
    Bold,
    /// Less important.
    Dim,
    /// One of several things that are to be told apart.
    Hue(usize),
}

/// Cyan, magenta, blue, yellow, green, and all but blue in bright.
const HUES: [&str; 9] = ["36", "35", "34", "33", "32", "96", "95", "93", "92"];

/// Where and how to print.
#[derive(Debug)]
pub struct Ui {
    /// One JSON document on stdout and nothing else there?
    pub json: bool,
    /// Results only?
    pub quiet: bool,
    /// How much more to tell.
    pub verbose: u8,
    /// How text is printed: nothing is printed in another way.
    pub terminal: Terminal,
    /// The terminal while a full-screen view is on it.
    pub screen: Screen,
}

impl Ui {
    /// From the flags.
    pub fn new(json: bool, quiet: bool, verbose: u8, color: Color) -> Ui {
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
            }
        };
        let (terminal, screen) = (Terminal::new(color), Screen::default());
        Ui { json, quiet, verbose, terminal, screen }
    }

    /// How many columns a line of the result has: those of the terminal, else what COLUMNS says,
    /// else 80.
    pub fn width(&self) -> usize {
        const LEAST: usize = 40;
        let terminal = terminal_size::terminal_size_of(std::io::stdout())
            .map(|(terminal_size::Width(columns), _)| usize::from(columns));
        let said = || std::env::var("COLUMNS").ok()?.parse().ok();
        terminal.or_else(said).unwrap_or(80).max(LEAST)
    }

    /// How many columns a line for people has; `None` if no terminal reads it, so that scripts see whole
    /// lines.
    pub fn line_width(&self) -> Option<usize> {
        std::io::stdout().is_terminal().then(|| self.width())
    }

    /// A line of the result.
    pub fn line(&self, text: impl Display) -> anyhow::Result<()> {
        self.raw(format!("{text}\n"))
    }

    /// Text of the result, without a line break at its end.
    pub fn raw(&self, text: impl Display) -> anyhow::Result<()> {
        let text = self.terminal.printed(&text.to_string());
        write!(std::io::stdout().lock(), "{text}")?;
        Ok(())
    }

    /// A remark beside the result, on stderr.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            say(self.terminal, text);
        }
    }

    /// The JSON document.
    pub fn document(&self, document: &serde_json::Value) -> anyhow::Result<()> {
        let text = printed_json(&serde_json::to_string_pretty(document)?);
        writeln!(std::io::stdout().lock(), "{text}")?;
        Ok(())
    }

    /// Says why a subcommand failed.
    pub fn failure(&self, error: &anyhow::Error) {
        let mut text = error.to_string();
        for cause in error.chain().skip(1).map(ToString::to_string) {
            // Many messages quote their cause already.
            if !text.contains(&cause) {
                text = format!("{text}: {cause}");
            }
        }
        // Diagnostics about a program come with their own heading.
        let heading = if text.starts_with("error: ") { "" } else { "error: " };
        say(self.terminal, format!("{heading}{}", text.trim_end()));
    }

    /// Text in a colour, if colours are wanted.
    pub fn paint(&self, paint: Paint, text: impl Display) -> String {
        let code = match paint {
            Paint::Green => "32",
            Paint::Red => "31",
            Paint::Yellow => "33",
            Paint::Bold => "1",
            Paint::Dim => "2",
            Paint::Hue(number) => HUES[number % HUES.len()],
        };
        self.terminal.paint(code, text)
    }
}

/// A line on stderr. If it cannot be written, there is no other way to report that.
pub fn say(terminal: Terminal, text: impl Display) {
    let text = terminal.printed(&text.to_string());
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Removes what stands in the line of the cursor: `^C`, or a progress line.
pub fn wipe_line() {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
    }
}

/// A number with its digits in groups of three: `1,048,575`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Did the reader of our output go away? That is no failure.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let json =
            cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(std::io::ErrorKind::BrokenPipe)
    })
}
