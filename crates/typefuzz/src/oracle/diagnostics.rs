//! A compiler's messages, sorted by the program they are about.

use serde_json::Value;

use crate::oracle::Rejection;

/// The most that is kept of what was written about one program.
pub(crate) const LONGEST: usize = 16 * 1024;

/// Several programs in one file, each in a module of its own.
pub(crate) struct Unit {
    /// The text of the file.
    pub(crate) text: String,
    /// The line behind the last one of each program.
    ends: Vec<usize>,
}

/// What stands before the programs: a type that is another name of its parameter.
pub(crate) const PRELUDE: &str = "pub type Alias<T> = T;\n";

impl Unit {
    /// Puts programs into one file.
    pub(crate) fn new(programs: &[&str]) -> Self {
        let mut text = String::from(PRELUDE);
        let mut line = 2;
        let mut ends = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            let module = format!(
                "pub mod p{number} {{\n#[allow(unused_imports)] use super::Alias;\n{program}\n}}\n"
            );
            line += module.lines().count();
            text.push_str(&module);
            ends.push(line);
        }
        Unit { text, ends }
    }

    /// The program that a line belongs to.
    pub(crate) fn at_line(&self, line: usize) -> Option<usize> {
        let position = self.ends.partition_point(|end| *end <= line);
        (line >= 2 && position < self.ends.len()).then_some(position)
    }
}

/// What was said about the programs of a unit.
#[derive(Debug, Default)]
pub(crate) struct UnitDiagnostics {
    pub(crate) about: Vec<Option<Rejection>>,
    pub(crate) astray: Option<Rejection>,
    /// An internal error of the compiler.
    pub(crate) internal: Option<String>,
}

impl UnitDiagnostics {
    /// Reads the lines of `--error-format=json`.
    pub(crate) fn read(unit: &Unit, file: &str, output: &str) -> UnitDiagnostics {
        let mut diagnostics =
            UnitDiagnostics { about: vec![None; unit.ends.len()], ..UnitDiagnostics::default() };
        for line in output.lines().filter(|line| line.starts_with('{')) {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            let level = message["level"].as_str().unwrap_or_default();
            let text = message["message"].as_str().unwrap_or_default();
            if level == "error: internal compiler error"
                || text.contains("compiler unexpectedly panicked")
            {
                diagnostics.internal.get_or_insert_with(|| text.to_owned());
                continue;
            }
            if level != "error" || text.starts_with("aborting due to") {
                continue;
            }
            let place = lines_of(&message, file).find_map(|line| unit.at_line(line));
            let rejection = match place {
                Some(program) => diagnostics.about[program].get_or_insert_default(),
                None => diagnostics.astray.get_or_insert_default(),
            };
            add(rejection, &message, text);
        }
        diagnostics
    }
}

pub(crate) fn add(rejection: &mut Rejection, message: &Value, text: &str) {
    if rejection.message.is_empty() {
        text.clone_into(&mut rejection.message);
    }
    rejection.is_syntax |= message["code"].is_null() && is_syntax(text);
    if let Some(code) = message["code"]["code"].as_str()
        && !rejection.codes.iter().any(|known| known == code)
    {
        rejection.codes.push(code.to_owned());
    }
    let rendered = message["rendered"].as_str().unwrap_or(text);
    if rejection.rendered.len() < LONGEST {
        rejection.rendered.extend(rendered.chars().take(LONGEST));
    }
}

/// Is it the parser that says this? Its messages have no codes.
fn is_syntax(text: &str) -> bool {
    let beginnings =
        ["expected ", "unexpected ", "unknown start of token", "this file contains an unclosed"];
    beginnings.iter().any(|beginning| text.starts_with(beginning))
}

/// The lines of our file that a message points at, the primary ones first, macros followed to where
/// they are used.
fn lines_of<'m>(message: &'m Value, file: &'m str) -> impl Iterator<Item = usize> + 'm {
    let spans = message["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    let primary = |span: &&Value| span["is_primary"].as_bool() == Some(true);
    let children = message["children"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_children = children
        .iter()
        .flat_map(|child| child["spans"].as_array().map(Vec::as_slice).unwrap_or_default());
    let ordered = spans
        .iter()
        .filter(primary)
        .chain(spans.iter().filter(move |span| !primary(span)))
        .chain(of_children);
    ordered.filter_map(move |span| {
        let mut span = span;
        loop {
            if span["file_name"].as_str() == Some(file) {
                return span["line_start"].as_u64().and_then(|line| usize::try_from(line).ok());
            }
            match span.get("expansion").and_then(|expansion| expansion.get("span")) {
                Some(outer) => span = outer,
                None => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_one_program() {
        let unit = Unit::new(&["fn a() {}", "fn b() {}\nfn c() {}", "fn d() {}"]);
        let lines: Vec<&str> = unit.text.lines().collect();
        for (number, name) in [(0, "fn a"), (1, "fn b"), (1, "fn c"), (2, "fn d")] {
            let line = lines.iter().position(|line| line.starts_with(name)).expect(name) + 1;
            assert_eq!(unit.at_line(line), Some(number), "{name}");
        }
        assert_eq!(unit.at_line(1), None);
        assert_eq!(unit.at_line(lines.len() + 1), None);
    }

    #[test]
    fn messages_are_sorted_by_program() {
        let unit = Unit::new(&["fn a() {}", "fn b() {}"]);
        let output = r#"
{"level":"error","message":"mismatched types","code":{"code":"E0308"},"rendered":"r","spans":[{"file_name":"b.rs","line_start":8,"is_primary":true}],"children":[]}
{"level":"warning","message":"unused","code":null,"spans":[{"file_name":"b.rs","line_start":3,"is_primary":true}],"children":[]}
{"level":"error","message":"in a macro","code":null,"spans":[{"file_name":"std.rs","line_start":3,"is_primary":true,"expansion":{"span":{"file_name":"b.rs","line_start":4}}}],"children":[]}
{"level":"error","message":"aborting due to 2 previous errors","code":null,"spans":[],"children":[]}
"#;
        let diagnostics = UnitDiagnostics::read(&unit, "b.rs", output);
        let codes = |program: usize| {
            diagnostics.about[program].as_ref().map(|diagnostics| diagnostics.codes.clone())
        };
        assert_eq!(codes(0), Some(vec![]));
        assert_eq!(codes(1), Some(vec!["E0308".to_owned()]));
        assert_eq!(diagnostics.astray, None);
        assert_eq!(diagnostics.internal, None);
    }
}
