//! Text to tokens. Every token knows whether a line break stands before it, because statements end
//! at line breaks.

use crate::language::diagnostic::Diagnostic;
use crate::language::span::Span;

/// What a token is. Names and keywords are told apart by the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or keyword.
    Word,
    /// Digits.
    Integer,
    /// A quoted string, quotes included.
    Text,
    /// Punctuation: one of [`PUNCTUATION`].
    Punctuation,
    /// The end of the file.
    End,
}

/// A token of the text.
#[derive(Clone, Copy, Debug)]
pub struct Token<'text> {
    /// What it is.
    pub kind: TokenKind,
    /// Its characters.
    pub text: &'text str,
    /// Where it stands.
    pub span: Span,
    /// Is there a line break between the token before and this one?
    pub on_new_line: bool,
}

/// All punctuation, longest first.
const PUNCTUATION: [&str; 22] = [
    "||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "!", "=", ",", ":", ";", "(", ")",
    "{", "}", "[", "]",
];

/// The longest text that is read.
const MAX_BYTES: usize = 64 << 20;

/// All tokens, the end included.
pub fn tokens(source: &str) -> Result<Vec<Token<'_>>, Diagnostic> {
    if source.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", source.len());
        return Err(Diagnostic::new(message, Span::NONE).hint("split the program"));
    }
    let mut lexer = Lexer { source, offset: 0 };
    let mut tokens = Vec::with_capacity(source.len() / 4);
    loop {
        let on_new_line = lexer.skip_blanks();
        let token = lexer.token(on_new_line)?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'text> {
    source: &'text str,
    offset: usize,
}

impl<'text> Lexer<'text> {
    fn rest(&self) -> &'text str {
        &self.source[self.offset..]
    }

    /// Skips blanks and comments; tells whether a line break was among them.
    fn skip_blanks(&mut self) -> bool {
        let mut on_new_line = self.offset == 0;
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            on_new_line |= rest[..blanks].contains('\n');
            self.offset += blanks;
            if !self.rest().starts_with("//") {
                return on_new_line;
            }
            self.offset += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn token(&mut self, on_new_line: bool) -> Result<Token<'text>, Diagnostic> {
        let rest = self.rest();
        let start = self.offset;
        let Some(first) = rest.chars().next() else {
            let span = Span::new(start, start);
            return Ok(Token { kind: TokenKind::End, text: "", span, on_new_line });
        };
        let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let (kind, length) = if first.is_ascii_digit() {
            (TokenKind::Integer, prefix(rest, word))
        } else if word(first) {
            (TokenKind::Word, prefix(rest, word))
        } else if first == '"' {
            (TokenKind::Text, self.quoted()?)
        } else if let Some(mark) = PUNCTUATION.iter().find(|mark| rest.starts_with(**mark)) {
            (TokenKind::Punctuation, mark.len())
        } else {
            return Err(self.unknown(first));
        };
        self.offset += length;
        let span = Span::new(start, self.offset);
        Ok(Token { kind, text: &rest[..length], span, on_new_line })
    }

    /// The length of the string that starts here.
    fn quoted(&self) -> Result<usize, Diagnostic> {
        let mut escaped = false;
        for (offset, character) in self.rest().char_indices().skip(1) {
            match character {
                '\n' => break,
                '"' if !escaped => return Ok(offset + 1),
                _ => escaped = character == '\\' && !escaped,
            }
        }
        let span = Span::new(self.offset, self.offset + 1);
        Err(Diagnostic::new("this string does not end on its line", span)
            .hint("close it with `\"`"))
    }

    fn unknown(&self, character: char) -> Diagnostic {
        let span = Span::new(self.offset, self.offset + character.len_utf8());
        let shown = character.escape_debug();
        let diagnostic = Diagnostic::new(format!("`{shown}` means nothing here"), span);
        match character {
            '←' => diagnostic.hint("a message is received by `x = get c` and sent by `put c x`"),
            '&' | '|' => diagnostic.hint("conditions are joined by `&&` and `||`"),
            '/' | '%' => diagnostic.hint("there is no division; comments start with `//`"),
            '\u{feff}' => diagnostic.hint("remove the byte order mark"),
            _ => diagnostic.hint("names are made of letters, digits and `_`"),
        }
    }
}

/// The number of bytes at the start that satisfy a predicate.
fn prefix(text: &str, predicate: impl Fn(char) -> bool) -> usize {
    text.find(|character| !predicate(character)).unwrap_or(text.len())
}
