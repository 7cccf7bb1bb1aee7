//! The text of a rule file to tokens.

use strait_calculus::{Diagnostic, Span};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// Begins with a lower-case letter.
    Name(String),
    /// Begins with an upper-case letter or `_`.
    Variable(String),
    Integer(i32),
    /// Between double quotes.
    Text(String),
    Punctuation(&'static str),
    /// The dot at the end of a statement.
    Stop,
    End,
}

impl Token {
    /// How a message calls it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Name(name) | Token::Variable(name) => format!("`{name}`"),
            Token::Integer(value) => format!("`{value}`"),
            Token::Text(_) => "a text".to_owned(),
            Token::Punctuation(text) => format!("`{text}`"),
            Token::Stop => "`.`".to_owned(),
            Token::End => "the end of the file".to_owned(),
        }
    }
}

/// Longest first.
const PUNCTUATION: [&str; 24] = [
    "#=<", "#>=", "#\\=", ":-", "=>", "..", "\\=", "\\+", "#=", "#<", "#>", "(", ")", "[", "]",
    "|", ",", "=", ":", "@", "/", "+", "-", "*",
];

/// All tokens with their positions, the end included.
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    loop {
        offset += blanks(&source[offset..]);
        let rest = &source[offset..];
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, Span::new(offset, offset)));
            return Ok(tokens);
        };
        let (token, length) = token(rest, first, offset)?;
        tokens.push((token, Span::new(offset, offset + length)));
        offset += length;
    }
}

/// The length of the blanks and comments at the beginning.
fn blanks(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let blank = rest.len() - rest.trim_start().len();
        length += blank;
        if !text[length..].starts_with('%') {
            return length;
        }
        length += text[length..].find('\n').unwrap_or(text.len() - length);
    }
}

fn token(rest: &str, first: char, offset: usize) -> Result<(Token, usize), Diagnostic> {
    let word = |text: &str| {
        text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len())
    };
    if first.is_ascii_lowercase() {
        let length = word(rest);
        return Ok((Token::Name(rest[..length].to_owned()), length));
    }
    if first.is_ascii_uppercase() || first == '_' {
        let length = word(rest);
        return Ok((Token::Variable(rest[..length].to_owned()), length));
    }
    if first.is_ascii_digit() {
        let length = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
        let value = rest[..length].parse().ok().filter(|value| *value <= crate::MAX_INTEGER);
        let span = Span::new(offset, offset + length);
        let value = value.ok_or_else(|| {
            Diagnostic::new("this number is too large", span)
                .hint(format!("the largest one is {}", crate::MAX_INTEGER))
        })?;
        return Ok((Token::Integer(value), length));
    }
    if first == '"' || first == '\'' {
        return quoted(rest, first, offset);
    }
    let after = rest[first.len_utf8()..].chars().next();
    if first == '.' && after.is_none_or(|char| char.is_whitespace() || char == '%') {
        return Ok((Token::Stop, 1));
    }
    match PUNCTUATION.iter().find(|text| rest.starts_with(**text)) {
        Some(text) => Ok((Token::Punctuation(text), text.len())),
        None => Err(Diagnostic::new(
            format!("`{}` means nothing here", first.escape_debug()),
            Span::new(offset, offset + first.len_utf8()),
        )
        .hint("texts stand between double quotes, comments begin with `%`")),
    }
}

/// A text between double quotes, or a name between single ones.
fn quoted(rest: &str, quote: char, offset: usize) -> Result<(Token, usize), Diagnostic> {
    let mut text = String::new();
    let mut escaped = false;
    for (position, char) in rest.char_indices().skip(1) {
        match (escaped, char) {
            (true, 'n') => text.push('\n'),
            (true, char) => text.push(char),
            (false, '\\') => {}
            (false, '\n') => break,
            (false, char) if char == quote => {
                let token = if quote == '"' { Token::Text(text) } else { Token::Name(text) };
                return Ok((token, position + 1));
            }
            (false, char) => text.push(char),
        }
        escaped = !escaped && char == '\\';
    }
    let span = Span::new(offset, offset + 1);
    Err(Diagnostic::new("this quote is not closed on its line", span)
        .hint("a line break within a text is written \\n"))
}
