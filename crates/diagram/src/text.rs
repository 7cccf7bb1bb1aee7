//! Text from elsewhere, made harmless: nothing invisible, nothing that turns the direction of writing around,
//! no markup.

use std::fmt::Write;

/// A text on one line in which every character that cannot be seen by itself is written as a number.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' | '\'' | '\\' => shown.push(char),
            '\n' | '\r' | '\t' => shown.push(' '),
            // Rust's own notion of what is printable leaves out controls, formats and combining marks.
            char => shown.extend(char.escape_debug()),
        }
    }
    shown
}

/// A visible text inside XML elements and quoted attributes.
pub(crate) fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in visible(text).chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML has no place for these.
            char if (char as u32) & 0xfffe == 0xfffe => {
                let _ = write!(escaped, "\\u{{{:x}}}", char as u32);
            }
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_harmless() {
        for (text, expected) in [
            ("put c 'a' \"b\" \\", "put c &#39;a&#39; &quot;b&quot; \\"),
            ("</text><script>&", "&lt;/text&gt;&lt;script&gt;&amp;"),
            ("a\nb\tc", "a b c"),
            ("\u{1b}[31m\u{202e}x", "\\u{1b}[31m\\u{202e}x"),
            ("e\u{301}\u{301}", "e\\u{301}\\u{301}"),
            ("\u{ffff}\u{fffe}", "\\u{ffff}\\u{fffe}"),
            ("é 日本 →", "é 日本 →"),
        ] {
            assert_eq!(xml(text), expected, "{text:?}");
        }
    }
}
