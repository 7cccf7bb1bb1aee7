//! The text of a statement as a table shows it: one line, without the inside of long blocks.

use crate::language::span::Span;

/// A statement with its block is shown whole up to this length.
const SHORT: usize = 44;
/// Nothing longer is shown.
const LONGEST: usize = 72;

/// The line on which it starts, counted from 1.
pub fn line_number(source: &str, span: Span) -> usize {
    span.line_column(source).0
}

/// The statement, or the case of a select without what follows it.
pub fn excerpt(source: &str, span: Span) -> String {
    let (start, end) = (span.start as usize, span.end as usize);
    let text = source.get(start..end).unwrap_or_default();
    let text = match text.split_whitespace().next() {
        // A case's position is its first word: it goes on to its block.
        Some(word) if word.len() == text.len() => {
            let rest = source.get(start..).unwrap_or_default();
            let end = rest.find(['{', '\n', ';']).unwrap_or(rest.len());
            rest[..end].trim_end()
        }
        Some("spawn") => return spawn(text),
        Some("select" | "choose" | "if" | "while") => text.split('{').next().unwrap_or_default(),
        _ => text,
    };
    clipped(text)
}

/// A spawn: whole if it is short, else without the inside of its block.
fn spawn(text: &str) -> String {
    let short = text.chars().count() <= SHORT && !text.contains('\n');
    match text.split_once('{') {
        Some((head, _)) if !short => format!("{head}{{ … }}"),
        _ => clipped(text),
    }
}

fn clipped(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The excerpt of what starts at the first `start` of the source and ends with `end`.
    #[track_caller]
    fn check(source: &str, start: &str, end: &str, expected: &str) {
        let from = source.find(start).expect("the start is in the source");
        let to = from + source[from..].find(end).expect("the end is in the source") + end.len();
        let span = Span { start: from as u32, end: to as u32 };
        assert_eq!(excerpt(source, span), expected);
    }

    #[test]
    fn statements_are_shown_on_one_line() {
        check("put c 1; put c 2", "put", "1", "put c 1");
        check("put c\t(1 +\n  2)", "put", ")", "put c (1 + 2)");
        check("panic \"{\"", "panic", "{\"", "panic \"{\"");
        check("worker(c)", "worker", ")", "worker(c)");
    }

    #[test]
    fn a_case_ends_at_its_block() {
        check("select {\n  x, ok = get c { put d x }\n}", "x", "x", "x, ok = get c");
        check("select {\n  x = get c {}\n}", "x", "x", "x = get c");
        check("select { put c 1 { return } }", "put", "put", "put c 1");
        check("select { timeout { return } }", "timeout", "timeout", "timeout");
    }

    #[test]
    fn blocks_are_left_out_unless_short() {
        check("spawn { put c 1 }", "spawn", "}", "spawn { put c 1 }");
        check("spawn reader {\n put c 1\n}", "spawn", "}", "spawn reader { … }");
        check("select { put c 1 { } }", "select", "}", "select");
        check("choose { put c 1 } or { get c }", "choose", "}", "choose");
    }

    #[test]
    fn long_statements_are_cut() {
        let source = format!("put c {}", "1 + ".repeat(100));
        let span = Span { start: 0, end: source.len() as u32 };
        let shown = excerpt(&source, span);
        assert_eq!(shown.chars().count(), LONGEST);
        assert!(shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn a_position_outside_the_text_shows_nothing() {
        assert_eq!(excerpt("put c 1", Span { start: 90, end: 99 }), "");
    }
}
