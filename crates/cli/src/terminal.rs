//! Text on its way to a terminal. Titles of findings, outputs of tests, names in modules and messages
//! of queues come from elsewhere, and may hold sequences that move the cursor, hide text or change
//! its direction. In: any text, parts of it in colours. Out: the same text with every deceptive
//! character written as a number, and with our own colours.
//!
//! A colour is a mark in the text until it is printed: a character that stands for nothing, and a
//! number that only this process knows. Text from elsewhere cannot contain it.

use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};

use strait_findings::{is_deceptive, visible};

/// A character that Unicode reserves for use inside a program; it is deceptive anywhere else.
const MARK: char = '\u{10ffff}';

/// How text is printed.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    token: u64,
    color: bool,
}

impl Terminal {
    /// With colours or without.
    pub fn new(color: bool) -> Terminal {
        Terminal { token: RandomState::new().build_hasher().finish(), color }
    }

    /// Text with the colour of this number, if colours are wanted.
    pub fn paint(&self, color: &str, text: impl Display) -> String {
        let mark = self.mark();
        if self.color { format!("{mark}{color}m{text}{mark}0m") } else { text.to_string() }
    }

    /// The text as it is printed.
    pub fn printed(&self, text: &str) -> String {
        let mark = self.mark();
        let mut parts = text.split(&mark);
        let mut printed = visible(parts.next().unwrap_or_default());
        for part in parts {
            match part.split_once('m') {
                Some((color, rest)) => printed += &format!("\x1b[{color}m{}", visible(rest)),
                None => printed += &visible(part),
            }
        }
        printed
    }

    fn mark(&self) -> String {
        format!("{MARK}{:016x}", self.token)
    }
}

/// A JSON text that can be printed: what `serde_json` leaves as it is and a terminal may act on is
/// written as `\u` and a number. Such characters stand in strings only.
pub fn printed_json(text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    for char in text.chars() {
        if is_deceptive(char) {
            let mut units = [0; 2];
            let units = char.encode_utf16(&mut units).iter();
            printed.extend(units.map(|unit| format!("\\u{unit:04x}")));
        } else {
            printed.push(char);
        }
    }
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_ours_and_everything_else_is_escaped() {
        let table = [
            ("plain, with\ttabs\nand lines: äöü 日本", "plain, with\ttabs\nand lines: äöü 日本"),
            ("\x1b[2J\x1b[31mred\x1b[0m", "\\u{1b}[2J\\u{1b}[31mred\\u{1b}[0m"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("over\rwritten\x08", "over\\u{d}written\\u{8}"),
            ("\u{202e}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}"),
            ("\u{10ffff}000000000000000031mred", "\\u{10ffff}000000000000000031mred"),
        ];
        for (text, expected) in table {
            for terminal in [Terminal::new(false), Terminal::new(true)] {
                assert_eq!(terminal.printed(text), expected);
                let painted = terminal.printed(&terminal.paint("31", text));
                let colored = format!("\x1b[31m{expected}\x1b[0m");
                assert_eq!(painted, if terminal.color { colored.as_str() } else { expected });
            }
        }
        // The marks of another process are text like any other.
        let stolen = Terminal::new(true).paint("31", "red");
        assert!(!Terminal::new(true).printed(&stolen).contains('\x1b'), "{stolen:?}");
    }

    #[test]
    fn json_stays_what_it_is() {
        let value = serde_json::json!({ "title": "\x1b[2J\u{9b}2J\u{202e}\u{e0041} ä\n" });
        let text = serde_json::to_string_pretty(&value).expect("a document");
        let printed = printed_json(&text);
        assert!(!printed.chars().any(is_deceptive), "{printed}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).expect("JSON"), value);
    }
}
