//! Programs as Go: the file that is run, the file that is verified, and the text for the corpus.

use std::fmt::Write as _;

use crate::judge::Question;
use crate::tree::{Kind, Node, Piece, Program, Schedule};

/// The packages that programs may use, by the name they have in the source.
const PACKAGES: [&str; 27] = [
    "bufio",
    "bytes",
    "cmp",
    "container/heap",
    "container/list",
    "container/ring",
    "context",
    "encoding/json",
    "errors",
    "fmt",
    "io",
    "iter",
    "maps",
    "math",
    "math/bits",
    "os",
    "reflect",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "sync",
    "sync/atomic",
    "time",
    "unicode",
    "unicode/utf8",
];

/// A writer of Go text.
struct Printer {
    text: String,
    /// What `§` stands for.
    suffix: String,
    /// Whether goroutines give way at random between statements.
    yields: bool,
}

impl Printer {
    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.text.push_str(&text.replace('§', &self.suffix)),
                Piece::Expr(expr) => self.pieces(&expr.parts),
            }
        }
    }

    fn line(&mut self, depth: usize, pieces: &[Piece]) {
        self.text.extend(std::iter::repeat_n('\t', depth));
        self.pieces(pieces);
        self.text.push('\n');
    }

    fn nodes(&mut self, depth: usize, nodes: &[Node]) {
        let mut labelled = false;
        for node in nodes {
            // A label must stand directly before its loop.
            if self.yields && !labelled {
                self.line(depth, &[Piece::Text("yield()".into())]);
            }
            labelled = matches!(node, Node::Line(pieces) if is_label(pieces));
            match node {
                Node::Line(pieces) => self.line(depth, pieces),
                Node::Block { arms, end } => {
                    for arm in arms {
                        self.line(depth, &arm.head);
                        self.nodes(depth + 1, &arm.body);
                    }
                    self.line(depth, end);
                }
            }
        }
    }
}

fn is_label(pieces: &[Piece]) -> bool {
    matches!(pieces, [Piece::Text(text)] if text.ends_with(':'))
}

fn printed(program: &Program, suffix: &str, yields: bool) -> (String, String) {
    let mut top = Printer { text: String::new(), suffix: suffix.into(), yields: false };
    top.nodes(0, &program.top);
    let mut body = Printer { text: String::new(), suffix: suffix.into(), yields };
    body.nodes(1, &program.body);
    (top.text, body.text)
}

/// The import lines for the packages that the text uses.
fn imports(text: &str, always: &[&str]) -> String {
    let used = |package: &str| {
        let name = format!("{}.", package.rsplit('/').next().unwrap_or(package));
        text.match_indices(&name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            !before.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == '.')
        })
    };
    let mut lines = String::new();
    for package in PACKAGES.iter().filter(|package| used(package) || always.contains(package)) {
        let _ = writeln!(lines, "\t\"{package}\"");
    }
    lines
}

/// The name of the function that runs the program in this place of a batch.
pub fn run_name(slot: usize) -> String {
    format!("program{slot}")
}

/// The file that runs a program and returns its results as Go literals.
pub fn run_file(program: &Program, slot: usize) -> String {
    let yields = program.schedule != Schedule::Sequential;
    let (top, body) = printed(program, &format!("p{slot}"), yields);
    let results: Vec<String> = program
        .observed
        .iter()
        .map(|observed| match observed.kind {
            Kind::Str => format!("strconv.Quote({})", observed.name),
            Kind::Bool => format!("strconv.FormatBool({})", observed.name),
            Kind::Sized(64, false) => format!("strconv.FormatUint({}, 10)", observed.name),
            _ => format!("strconv.FormatInt(int64({}), 10)", observed.name),
        })
        .collect();
    let results = results.join(", ");
    let imports = imports(&(top.clone() + &body), &["strconv"]);
    format!(
        "package main\n\nimport (\n{imports})\n\n{top}\nvar _ = strconv.Itoa\n\n\
         func {}() []string {{\n{body}\treturn []string{{{results}}}\n}}\n",
        run_name(slot)
    )
}

/// The file that asks the questions about a program, one test each.
pub fn verify_file(program: &Program, slot: usize, questions: &[Question]) -> String {
    tests_file(program, "verify", &format!("p{slot}"), questions)
}

/// The test that asks a question; `suffix` is that of the program.
pub fn test_name(question: &Question, suffix: &str) -> String {
    let name = match question {
        Question::Occurs(number, _) => format!("TestOccurs{number}"),
        Question::Other(_) => "TestOther".into(),
        Question::Blocks => "TestBlocks".into(),
        Question::Unreachable => "TestUnreachable".into(),
    };
    match suffix.is_empty() {
        true => name,
        false => format!("{name}_{suffix}"),
    }
}

/// A test file of this package with the questions.
pub fn tests_file(
    program: &Program,
    package: &str,
    suffix: &str,
    questions: &[Question],
) -> String {
    let (top, body) = printed(program, suffix, false);
    let imports = imports(&(top.clone() + &body), &[]);
    let mut text = format!("package {package}\n\nimport (\n{imports}\t\"testing\"\n)\n\n{top}");
    for question in questions {
        let ending = match question {
            Question::Occurs(_, result) => {
                format!("\tif {} {{\n\t\tblock()\n\t}}\n", condition(program, result))
            }
            Question::Other(results) => {
                let known: Vec<String> =
                    results.iter().map(|one| format!("!({})", condition(program, one))).collect();
                format!("\tif {} {{\n\t\tblock()\n\t}}\n", known.join(" && "))
            }
            Question::Blocks => String::new(),
            Question::Unreachable => "\tblock()\n".into(),
        };
        let name = test_name(question, suffix);
        let _ = write!(text, "\nfunc {name}(_ *testing.T) {{\n{body}{ending}}}\n");
    }
    text
}

/// What is true of a program that ended with these results.
pub fn condition(program: &Program, result: &[String]) -> String {
    let compared = program.observed.iter().zip(result).map(|(observed, literal)| {
        match (observed.kind, literal.as_str()) {
            (Kind::Bool, "true") => observed.name.clone(),
            (Kind::Bool, _) => format!("!{}", observed.name),
            _ => format!("{} == {literal}", observed.name),
        }
    });
    let all: Vec<String> = compared.collect();
    if all.is_empty() { "true".into() } else { all.join(" && ") }
}
