//! Go source, read as far as findings need it: which function a line belongs to, and comments that
//! silence findings. Braces are counted outside of strings, runes and comments.

/// The word that begins a comment which silences a finding.
const DIRECTIVE: &str = "strait:ignore";

/// A source file.
#[derive(Clone, Debug, Default)]
pub struct GoSource {
    lines: Vec<String>,
    functions: Vec<GoFunction>,
    directives: Vec<Directive>,
}

/// A function with a body at the top level of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoFunction {
    /// `NAME`, or `Type.NAME` for a method.
    pub name: String,
    /// The line of its `func`.
    pub first: u32,
    /// The line of its last brace.
    pub last: u32,
}

/// `//strait:ignore RULE reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Where it stands.
    pub line: u32,
    /// The rule that it silences.
    pub rule: String,
    /// Why, as far as that is said.
    pub reason: String,
    /// The first line that it is about.
    pub from: u32,
    /// The last one.
    pub to: u32,
}

impl GoSource {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> GoSource {
        let mut scan = Scan::default();
        scan.run(text);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let comments = scan.comments;
        let functions = scan.functions;
        let directives = comments
            .iter()
            .filter_map(|comment| directive(comment, &comments, &functions))
            .collect();
        GoSource { lines, functions, directives }
    }

    /// A line of the text, without the space around it.
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lines.get(index).map(|line| line.trim())
    }

    /// The function that a line belongs to.
    pub fn function_at(&self, line: u32) -> Option<&GoFunction> {
        self.functions.iter().find(|function| (function.first..=function.last).contains(&line))
    }

    /// The comments that silence findings.
    pub fn directives(&self) -> &[Directive] {
        &self.directives
    }
}

/// A comment that begins with `//`.
struct Comment {
    line: u32,
    text: String,
    /// Does code stand before it on its line?
    trails: bool,
}

fn directive(
    comment: &Comment,
    comments: &[Comment],
    functions: &[GoFunction],
) -> Option<Directive> {
    let rest = comment.text.strip_prefix(DIRECTIVE)?;
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let rest = rest.trim();
    let (rule, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (from, to) = if comment.trails {
        (comment.line, comment.line)
    } else {
        // Below it, comments may follow before the line that it is about.
        let mut below = comment.line + 1;
        while comments.iter().any(|other| other.line == below && !other.trails) {
            below += 1;
        }
        (below, below)
    };
    let function = functions.iter().find(|function| function.first == to);
    Some(Directive {
        line: comment.line,
        rule: rule.to_owned(),
        reason: reason.trim().to_owned(),
        from,
        to: function.map_or(to, |function| function.last),
    })
}

/// What the scanner knows while it reads.
#[derive(Default)]
struct Scan {
    line: u32,
    braces: u32,
    parentheses: u32,
    /// The word that was read last.
    word: String,
    /// Has anything but space been read on this line?
    code: bool,
    /// A function whose body has not begun, or has not ended.
    function: Option<(String, u32, bool)>,
    functions: Vec<GoFunction>,
    comments: Vec<Comment>,
}

impl Scan {
    fn run(&mut self, text: &str) {
        self.line = 1;
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let length = self.token(letter, rest);
            let newlines = rest[..length].matches('\n').count() as u32;
            if newlines > 0 {
                self.line += newlines;
                self.code = false;
            }
            rest = &rest[length..];
        }
    }

    /// Reads one token and says how long it is.
    fn token(&mut self, letter: char, rest: &str) -> usize {
        if letter.is_whitespace() {
            return letter.len_utf8();
        }
        if let Some(comment) = rest.strip_prefix("//") {
            let text = comment.lines().next().unwrap_or_default();
            let (line, trails) = (self.line, self.code);
            self.comments.push(Comment { line, text: text.to_owned(), trails });
            return 2 + text.len();
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            return comment.find("*/").map_or(rest.len(), |end| end + 4);
        }
        if letter.is_alphanumeric() || letter == '_' {
            let length = rest.find(|one: char| !one.is_alphanumeric() && one != '_');
            let word = &rest[..length.unwrap_or(rest.len())];
            if word == "func" && !self.code && self.braces == 0 && self.parentheses == 0 {
                self.function = Some((function_name(&rest[4..]), self.line, false));
            }
            self.word = word.to_owned();
            self.code = true;
            return word.len();
        }
        self.code = true;
        match letter {
            '"' | '\'' => return quoted(rest, letter),
            '`' => return rest[1..].find('`').map_or(rest.len(), |end| end + 2),
            '(' => self.parentheses += 1,
            ')' => self.parentheses = self.parentheses.saturating_sub(1),
            '{' => self.open(),
            '}' => self.close(),
            _ => {}
        }
        self.word.clear();
        letter.len_utf8()
    }

    fn open(&mut self) {
        // `interface{}` and `struct{}` may stand in a signature.
        let is_type = matches!(self.word.as_str(), "interface" | "struct");
        if self.braces == 0
            && self.parentheses == 0
            && !is_type
            && let Some((_, _, has_body)) = &mut self.function
        {
            *has_body = true;
        }
        self.braces += 1;
    }

    fn close(&mut self) {
        self.braces = self.braces.saturating_sub(1);
        if self.braces == 0
            && self.parentheses == 0
            && let Some((name, first, _)) = self.function.take_if(|(_, _, has_body)| *has_body)
        {
            self.functions.push(GoFunction { name, first, last: self.line });
        }
    }
}

/// The length of a string or rune with its quotes. A line ends it: it was no string after all.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (position, letter) in rest.char_indices().skip(1) {
        match letter {
            '\n' => return position,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return position + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The name behind `func`: ` (s *Server[T]) Run(` is `Server.Run`.
fn function_name(after: &str) -> String {
    let is_word = |one: char| one.is_alphanumeric() || one == '_';
    let mut rest = after.trim_start();
    let mut receiver = String::new();
    if let Some(inside) = rest.strip_prefix('(') {
        let end = inside.find(')').unwrap_or(inside.len());
        let declared = inside[..end].split('[').next().unwrap_or_default();
        let name = declared.rsplit(|one: char| !is_word(one)).find(|word| !word.is_empty());
        receiver = name.map_or(String::new(), |name| format!("{name}."));
        rest = inside.get(end + 1..).unwrap_or_default().trim_start();
    }
    let length = rest.find(|one: char| !is_word(one)).unwrap_or(rest.len());
    format!("{receiver}{}", &rest[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"package p

// A comment with a brace {
func plain(c chan struct{}) interface{} {
	s := "}" + `}
}` + string('}')
	/* } */
	return s
}

//strait:ignore live the queue drains at exit
// More about it.
func (s *Server[T]) Run() {
	s.mu.Lock() //strait:ignore locks-released held for life
	//strait:ignore no-deadlock
	<-s.done
}

var f = func() { }
//strait:ignored is another word
func declared(x int)
func last() { //strait:ignore all a demo
}
"#;

    #[test]
    fn functions_have_their_lines() {
        let source = GoSource::parse(SOURCE);
        let found: Vec<(&str, u32, u32)> = source
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function.first, function.last))
            .collect();
        assert_eq!(found, [("plain", 4, 9), ("Server.Run", 13, 17), ("last", 22, 23)]);
        assert_eq!(source.function_at(14).map(|one| one.name.as_str()), Some("Server.Run"));
        assert_eq!(source.function_at(19), None);
        assert_eq!(source.line(16), Some("<-s.done"));
        assert_eq!((source.line(0), source.line(99)), (None, None));
    }

    #[test]
    fn directives_are_about_a_line_or_a_function() {
        let source = GoSource::parse(SOURCE);
        let found: Vec<(&str, &str, u32, u32)> = source
            .directives()
            .iter()
            .map(|one| (one.rule.as_str(), one.reason.as_str(), one.from, one.to))
            .collect();
        let expected = [
            ("live", "the queue drains at exit", 13, 17),
            ("locks-released", "held for life", 14, 14),
            ("no-deadlock", "", 16, 16),
            ("all", "a demo", 22, 23),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn anything_can_be_read() {
        for text in ["", "func", "func (", "func (s", "\"", "'\\", "`", "/*", "}}}{", "func f() {"]
        {
            GoSource::parse(text);
        }
    }
}
