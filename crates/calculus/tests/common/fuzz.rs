//! Inputs for the parser, from noise to nearly right programs, and what must hold for every one of
//! them. Shared by `tests/robust.rs` and `examples/fuzz_parser.rs`.

use strait_calculus::{Program, parse, parse_bytes, print};

/// What the language is made of.
pub const TOKENS: [&str; 84] = [
    "fn",
    "main",
    "chan",
    "mutex",
    "rwmutex",
    "waitgroup",
    "put",
    "get",
    "close",
    "abandon",
    "select",
    "default",
    "timeout",
    "spawn",
    "if",
    "else",
    "while",
    "break",
    "continue",
    "choose",
    "or",
    "lock",
    "unlock",
    "rlock",
    "runlock",
    "add",
    "done",
    "wait",
    "panic",
    "return",
    "observe",
    "unit",
    "bool",
    "int",
    "true",
    "false",
    "nil",
    "unbounded",
    "_",
    "c",
    "d",
    "m",
    "r",
    "w",
    "x",
    "y",
    "ok",
    "f",
    "0",
    "1",
    "2",
    "-9223372036854775808",
    "9223372036854775808",
    "1_0",
    "7z",
    "\"why\"",
    "\"\\n\"",
    "\"",
    "||",
    "&&",
    "==",
    "!=",
    "<=",
    ">=",
    "<",
    ">",
    "+",
    "-",
    "*",
    "!",
    "=",
    ",",
    ":",
    ";",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "//",
    "é",
    "\u{0}",
];

/// Statements that fit into [`frame`].
pub const STATEMENTS: [&str; 40] = [
    "put c 1",
    "x = get c",
    "x, ok = get c",
    "get d",
    "put d x + 1",
    "close c",
    "close d",
    "abandon c",
    "x = 2",
    "x = x * 2 - 1",
    "ok = !ok || x < 3",
    "lock m",
    "unlock m",
    "lock r",
    "unlock r",
    "rlock r",
    "runlock r",
    "add w 1",
    "add w -1",
    "done w",
    "wait w",
    "observe x",
    "observe ok",
    "observe c == nil",
    "if ok {",
    "} else {",
    "}",
    "while x < 3 {",
    "break",
    "continue",
    "choose {",
    "} or {",
    "spawn {",
    "spawn helper {",
    "select { put c 1 {} y = get d {",
    "} timeout { observe 3 } }",
    "} default {} }",
    "z = f(x)",
    "spawn f(1)",
    "panic \"no\"",
];

/// A program around statements that names everything they use.
pub fn frame(statements: &str) -> String {
    format!(
        "fn f(n: int): int {{ return n + 1 }}\nmain {{\nchan c: int\nchan d: int[1]\nmutex m\n\
         rwmutex r\nwaitgroup w\nx = 0\nok = true\n{statements}\n}}\n"
    )
}

/// One change of a text that was cut into pieces; the numbers are taken modulo what there is.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    pub what: u8,
    pub at: u32,
    pub other: u32,
}

/// Deletes, doubles, swaps, replaces and inserts pieces.
pub fn edited(text: &str, edits: &[Edit]) -> String {
    let mut pieces = pieces(text);
    for edit in edits {
        if pieces.is_empty() {
            break;
        }
        let at = edit.at as usize % pieces.len();
        let other = edit.other as usize % pieces.len();
        let token = TOKENS[edit.other as usize % TOKENS.len()];
        match edit.what % 6 {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[at]),
            2 => pieces.swap(at, other),
            3 => pieces[at] = pieces[other],
            4 => pieces.insert(at, token),
            _ => pieces[at] = token,
        }
    }
    pieces.concat()
}

/// Words, blanks and single marks.
fn pieces(text: &str) -> Vec<&str> {
    let class = |letter: char| match letter {
        _ if letter.is_alphanumeric() || letter == '_' => 0,
        ' ' => 1,
        _ => 2,
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let longer = |letter: char| class(letter) != class(first) || class(first) == 2;
        let tail = &rest[first.len_utf8()..];
        let length = first.len_utf8() + tail.find(longer).unwrap_or(tail.len());
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Reads what may be no program: an error can be shown, and a program survives being printed.
pub fn feed(input: &[u8]) -> Option<Program> {
    let text = String::from_utf8_lossy(input);
    let program = match parse_bytes(input) {
        Ok(program) => program,
        Err(errors) => {
            let shown = errors.render("fuzz", &text);
            assert!(shown.starts_with("error: "), "{shown}");
            return None;
        }
    };
    let printed = print(&program);
    match parse(&printed) {
        Ok(again) => {
            assert_eq!(again, program, "from\n{text}\nprinted\n{printed}");
            assert_eq!(print(&again), printed, "from\n{text}");
        }
        Err(errors) => panic!("from\n{text}\nprinted\n{}", errors.render("printed", &printed)),
    }
    Some(program)
}
