//! A formula's text as tokens with their positions.

use super::parser::FormulaError;
use strait_calculus::Span;

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or number, dots and `#` inside included when digits or letters follow a digit-dot.
    Word(String),
    /// Operators and brackets.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// Longer marks come before those they begin with.
const MARKS: [&str; 18] =
    ["&&", "||", "=>", "!", "(", ")", "[", "]", "<", ">", ".", ",", "+", "*", "@", ":", "=", "-"];

/// Cuts the text into tokens.
pub fn tokens(text: &str) -> Result<Vec<(Token, Span)>, FormulaError> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(letter) = text[position..].chars().next() {
        let rest = &text[position..];
        if letter.is_whitespace() {
            position += letter.len_utf8();
        } else if letter == '%' {
            position += rest.find('\n').unwrap_or(rest.len());
        } else if letter.is_alphanumeric() || letter == '_' {
            let length = rest.find(|one: char| !is_word(one)).unwrap_or(rest.len());
            let span = Span::new(position, position + length);
            tokens.push((Token::Word(rest[..length].to_owned()), span));
            position += length;
        } else if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            tokens.push((Token::Mark(mark), Span::new(position, position + mark.len())));
            position += mark.len();
        } else {
            let span = Span::new(position, position + letter.len_utf8());
            return Err(FormulaError::new(format!("`{letter}` has no meaning here"), span));
        }
    }
    tokens.push((Token::End, Span::new(text.len(), text.len())));
    Ok(tokens)
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '#' | '\'' | '$')
}
