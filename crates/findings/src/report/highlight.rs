//! Words of a program in colour: escapes everything, and wraps what it recognises.

use crate::text::html;

const KEYWORDS: [&str; 34] = [
    "main",
    "proc",
    "chan",
    "put",
    "get",
    "close",
    "select",
    "case",
    "default",
    "spawn",
    "call",
    "if",
    "else",
    "choice",
    "or",
    "mutex",
    "rwmutex",
    "waitgroup",
    "lock",
    "unlock",
    "wait",
    "done",
    "add",
    "panic",
    "return",
    "observe",
    "let",
    "while",
    "loop",
    "unit",
    "bool",
    "int",
    "true",
    "false",
];

/// HTML of a `.strait` program.
pub(super) fn program(text: &str) -> String {
    text.lines().map(line).collect::<Vec<String>>().join("\n")
}

/// HTML of a line.
pub(super) fn line(text: &str) -> String {
    let (code, comment) = text.split_at(text.find("//").unwrap_or(text.len()));
    let mut page = String::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let alike = is_word(first);
        let end = rest.find(|char| is_word(char) != alike).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        page += &match word {
            word if KEYWORDS.contains(&word) => format!("<b>{}</b>", html(word)),
            word if first.is_ascii_digit() => format!("<i>{}</i>", html(word)),
            word => html(word),
        };
        rest = after;
    }
    if !comment.is_empty() {
        page += &format!("<s>{}</s>", html(comment));
    }
    page
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_marked_and_everything_is_escaped() {
        let text = "spawn { put c 12 } // <b>&\nx<script>";
        let expected =
            "<b>spawn</b> { <b>put</b> c <i>12</i> } <s>// &lt;b&gt;&amp;</s>\nx&lt;script&gt;";
        assert_eq!(super::program(text), expected);
    }
}
