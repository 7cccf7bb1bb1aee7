//! Looks at Rust source without parsing it: blanks what is no code, finds words, attributes and
//! the parts that only tests see. Offsets in the bare code are offsets in the text.

use std::ops::Range;

/// The source with every byte of comments, strings and character literals replaced by a space.
/// Line breaks stay, so that lines and offsets are those of the source.
pub fn bare(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut bare = Vec::with_capacity(bytes.len());
    while let Some(rest) = bytes.get(bare.len()..).filter(|rest| !rest.is_empty()) {
        let blank = not_code(rest).min(rest.len());
        if blank == 0 {
            bare.push(rest[0]);
        } else {
            let blanked =
                rest[..blank].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' });
            bare.extend(blanked);
        }
    }
    String::from_utf8_lossy(&bare).into_owned()
}

/// How many bytes from here are a comment or a literal. May exceed what is left.
fn not_code(rest: &[u8]) -> usize {
    match rest {
        [b'/', b'/', ..] => find(rest, b"\n", 2),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => string(rest),
        [b'r', b'"' | b'#', ..] => raw_string(rest),
        [b'\'', b'\\', ..] => find(rest, b"'", 3) + 1,
        [b'\'', first, ..] => {
            let width = match first {
                0..0xC0 => 1,
                0xC0..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            // Otherwise it is a lifetime.
            if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 0 }
        }
        _ => 0,
    }
}

fn find(rest: &[u8], needle: &[u8], from: usize) -> usize {
    let tail = rest.get(from..).unwrap_or_default();
    let found = tail.windows(needle.len()).position(|window| window == needle);
    found.map_or(rest.len(), |position| from + position)
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// `r"…"`, `r#"…"#` and so on; zero for a raw identifier.
fn raw_string(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'"'];
    end.resize(1 + hashes, b'#');
    find(rest, &end, 2 + hashes) + end.len()
}

/// Where `word` occurs in the code, not as the end of a longer name.
pub fn occurrences(code: &str, word: &str) -> Vec<usize> {
    let starts_a_word = |at: &usize| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|before| before.is_alphanumeric() || before == '_')
    };
    code.match_indices(word).map(|(at, _)| at).filter(starts_a_word).collect()
}

/// The attributes `#[…]` and `#![…]`: where each starts, and its inside without white space.
pub fn attributes(code: &str) -> Vec<(usize, String)> {
    let starts = code.match_indices('#').filter_map(|(at, _)| {
        let after = &code[at + 1..];
        let inside = after.strip_prefix('!').unwrap_or(after).strip_prefix('[')?;
        Some((at, inside))
    });
    let inside = |text: &str| {
        let mut depth = 1;
        let inside = text.chars().take_while(|char| {
            depth += match char {
                '[' => 1,
                ']' => -1,
                _ => 0,
            };
            depth > 0
        });
        inside.filter(|char| !char.is_whitespace()).collect()
    };
    starts.map(|(at, text)| (at, inside(text))).collect()
}

/// The items under `#[cfg(test)]`, as ranges of the code.
pub fn test_regions(code: &str) -> Vec<Range<usize>> {
    let tests = attributes(code).into_iter().filter(|(_, inside)| inside == "cfg(test)");
    tests.map(|(start, _)| start..start + item_length(&code[start..])).collect()
}

/// The length of an item: up to its semicolon or the end of its braces.
fn item_length(code: &str) -> usize {
    let mut depth = 0;
    for (at, char) in code.char_indices() {
        match char {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth <= 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        let table = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("a\"b", c)"#, "f(      , c)"),
            (r##"f(r#"a"b"#, c)"##, "f(        , c)"),
            (r#"b"a" c"#, "b    c"),
            ("r#type + r", "r#type + r"),
            (r"['a', '\'', '\u{1F600}', 'é', '{']", "[   ,     ,            ,     ,    ]"),
            ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
            ("a \"never closed\n b", "a              \n  "),
            ("/* never closed", "               "),
        ];
        for (text, expected) in table {
            assert_eq!(bare(text), expected, "{text}");
            assert_eq!(bare(text).len(), text.len(), "{text}");
        }
    }

    #[test]
    fn names_that_end_in_the_word_are_other_words() {
        assert_eq!(occurrences("print!() eprint!() std::print!()", "print!"), [0, 24]);
    }

    #[test]
    fn attributes_are_found_whole() {
        let code = "#![allow(\n    a,\n    b,\n)]\n#[cfg(x = [1])] fn f() { a[0] }";
        let inside: Vec<String> = attributes(code).into_iter().map(|found| found.1).collect();
        assert_eq!(inside, ["allow(a,b,)", "cfg(x=[1])"]);
    }

    #[test]
    fn test_regions_end_with_their_item() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { c() } }\nfn d() {}";
        let regions: Vec<&str> = test_regions(code).into_iter().map(|range| &code[range]).collect();
        assert_eq!(regions, ["#[cfg(test)]\nmod tests { fn b() { c() } }"]);
        let code = "#[cfg(test)]\nmod tests;\nfn d() {}";
        let regions: Vec<&str> = test_regions(code).into_iter().map(|range| &code[range]).collect();
        assert_eq!(regions, ["#[cfg(test)]\nmod tests;"]);
    }
}
