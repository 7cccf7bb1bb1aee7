//! Text from programs and outputs, made safe for where it goes: HTML, Markdown, file names, eyes.

/// Longest file name part.
const NAME: usize = 48;

/// Is this a character that can change how other text is shown? Those are control characters, with
/// which terminal sequences begin, characters that turn the direction of writing around, and
/// characters that cannot be seen. Line breaks and tabs are none.
pub fn is_deceptive(char: char) -> bool {
    let is_invisible = matches!(
        char,
        '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
            | '\u{10ffff}'
    );
    is_invisible || char.is_control() && !matches!(char, '\n' | '\t')
}

/// Text in which every deceptive character is written as a number, such as `\u{1b}`.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for char in text.chars() {
        if is_deceptive(char) {
            visible.extend(char.escape_unicode());
        } else {
            visible.push(char);
        }
    }
    visible
}

/// Text for HTML, inside elements and quoted attributes.
pub fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in visible(text).chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            char => escaped.push(char),
        }
    }
    escaped
}

/// A block of Markdown that nothing inside can end.
pub(crate) fn fenced(text: &str, language: &str) -> String {
    let text = visible(text);
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// One line of Markdown in which nothing is markup.
pub(crate) fn markdown_line(text: &str) -> String {
    let mut escaped = String::new();
    for char in visible(text).chars() {
        match char {
            '\n' | '\t' => escaped.push(' '),
            // What is no markup stays as it is: people read the file as it is, too.
            char if "\\`*_[]<>#|~&!".contains(char) => escaped.extend(['\\', char]),
            char => escaped.push(char),
        }
    }
    escaped.trim().to_owned()
}

/// A part of a file name that is safe on every system: letters, digits, `.`, `_`, `-`; no dot or
/// dash first; never empty.
pub fn file_name(text: &str) -> String {
    let safe =
        |char: char| if char.is_ascii_alphanumeric() || "._-".contains(char) { char } else { '_' };
    let name: String = text.chars().map(safe).take(NAME).collect();
    let name = name.trim_start_matches(['.', '-']).trim_end_matches('.');
    if name.is_empty() { "_".into() } else { name.to_owned() }
}

/// A word of a shell command.
pub fn shell_word(text: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "._-/=@:+,".contains(char);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Bytes of bounded length: the beginning, the end, and how much is missing between.
pub(crate) fn bounded(bytes: &[u8], limit: usize) -> Vec<u8> {
    if bytes.len() <= limit {
        return bytes.to_vec();
    }
    let half = limit / 2;
    let gap = format!("\n[… {} bytes left out …]\n", bytes.len() - 2 * half);
    [&bytes[..half], gap.as_bytes(), &bytes[bytes.len() - half..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_harmless() {
        assert_eq!(
            html("<script>alert('x')</script>&\""),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"
        );
        assert_eq!(visible("a\u{1b}[31mb\u{202e}c\td\n"), "a\\u{1b}[31mb\\u{202e}c\td\n");
        assert_eq!(fenced("```\nrm -rf\n````", "text"), "`````text\n```\nrm -rf\n````\n`````\n");
        assert_eq!(markdown_line("# a\n[b](c) <i> `d`"), "\\# a \\[b\\](c) \\<i\\> \\`d\\`");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
    }

    #[test]
    fn file_names_are_safe() {
        let table = [
            ("../../etc/passwd", "_.._etc_passwd"),
            ("", "_"),
            ("..", "_"),
            ("a b\0c", "a_b_c"),
            ("-rf", "rf"),
            ("日本", "__"),
        ];
        for (text, name) in table {
            assert_eq!(file_name(text), name, "{text:?}");
        }
        assert_eq!(file_name(&"x".repeat(300)).len(), NAME);
    }

    #[test]
    fn long_output_keeps_both_ends() {
        assert_eq!(bounded(b"abcdefghij", 4), "ab\n[… 6 bytes left out …]\nij".as_bytes());
        assert_eq!(bounded(b"abcd", 4), b"abcd");
    }
}
