//! How wide a text is at most. All text is in a fixed-width font; the estimate is above the widths of the
//! common ones (DejaVu Sans Mono, Menlo, Courier New: 0.602 em), so what fits by it fits on the screen.

use crate::text::visible;

/// Thousandths of an em.
const NARROW: u32 = 625;
/// Letters that a fallback font may draw wider.
const FOREIGN: u32 = 900;
/// Characters as wide as a line is high, and pictures.
const WIDE: u32 = 1400;

fn thousandths(char: char) -> u32 {
    match char {
        char if char.is_ascii() => NARROW,
        '\u{a0}'..='\u{24f}' => NARROW,
        '…' | '→' | '←' | '–' => FOREIGN,
        '\u{250}'..='\u{10ff}' => FOREIGN,
        _ => WIDE,
    }
}

/// The width in pixels at a size of font.
pub(crate) fn width(text: &str, size: u32) -> u32 {
    let total: u64 = text.chars().map(|char| u64::from(thousandths(char))).sum();
    u32::try_from((total * u64::from(size)).div_ceil(1000)).unwrap_or(u32::MAX)
}

/// May a font draw it in another width than estimated? Then the picture has to say how wide it is.
pub(crate) fn is_uncertain(text: &str) -> bool {
    text.chars().any(|char| char > '\u{24f}' && thousandths(char) != NARROW && char != '…')
}

/// The text, cut at its end to fit into so many pixels.
pub(crate) fn shortened(text: &str, size: u32, room: u32) -> String {
    let text = visible(text);
    if width(&text, size) <= room {
        return text;
    }
    let room = room.saturating_sub(width("…", size));
    let mut used = 0;
    let fits = |char: &char| {
        used += thousandths(*char) * size;
        used.div_ceil(1000) <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// The text as lines that fit into so many pixels, at most so many; the last one is cut if need be.
pub(crate) fn wrapped(text: &str, size: u32, room: u32, most: usize) -> Vec<String> {
    let text = visible(text);
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|longer| width(longer, size) <= room) {
            Some(longer) => {
                lines.pop();
                lines.push(longer);
            }
            None if lines.len() < most => lines.push(shortened(word, size, room)),
            None => {
                let rest: Vec<&str> = words.collect();
                let last = lines.pop().unwrap_or_default();
                let all = format!("{last} {word} {}", rest.join(" "));
                lines.push(shortened(&all, size, room));
                break;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shortened_fits() {
        for text in
            ["put c 1", &"x".repeat(400), &"日本".repeat(50), "\u{1b}\u{1b}\u{1b}\u{1b}\u{1b}"]
        {
            for room in [20, 60, 200] {
                let shown = shortened(text, 12, room);
                assert!(width(&shown, 12) <= room, "{shown} {room}");
            }
        }
        assert_eq!(shortened("put c 1", 12, 200), "put c 1");
        assert_eq!(shortened("put channel 1", 12, 64), "put cha…");
    }

    #[test]
    fn texts_are_wrapped_at_words() {
        assert_eq!(wrapped("one two three", 12, 60, 5), ["one two", "three"]);
        assert_eq!(wrapped("one two three four five", 12, 60, 2), ["one two", "three…"]);
        assert_eq!(wrapped("", 12, 60, 2), Vec::<String>::new());
        for line in wrapped(&"word ".repeat(40), 12, 90, 3) {
            assert!(width(&line, 12) <= 90);
        }
    }
}
