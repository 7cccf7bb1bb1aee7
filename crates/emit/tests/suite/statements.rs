//! Every kind of statement in every language, as it is written: `tests/snapshots/LANGUAGE.txt`.
//! `UPDATE_EXPECT=1 cargo test -p strait-emit` writes these files anew.

use expect_test::expect_file;
use strait_emit::{Era, Language, functions};

/// What is written, and a program with it.
const STATEMENTS: &[(&str, &str)] = &[
    ("rendezvous", "main { chan c: unit; spawn { put c () }; get c }"),
    ("buffered", "main { chan c: int[2]; put c 1; put c 2; x = get c; observe x }"),
    ("unbounded", "main { chan c: bool[unbounded]; put c true; x = get c; observe x }"),
    ("close", "main { chan c: int; spawn { close c }; x, ok = get c; observe ok; get c }"),
    ("abandon", "main { chan c: int; spawn { abandon c }; put c 1 }"),
    (
        "drain",
        "main { chan c: int[1]; spawn { put c 1; close c }; more = true; while more { x, more = get c } }",
    ),
    (
        "select over gets",
        "main { chan a: int; chan b: int; spawn { put a 1 }; spawn { put b 2 }
           select { x = get a { get b; observe x } get b { get a } } }",
    ),
    (
        "select over puts",
        "main { chan a: int; chan b: int; spawn { get a }; spawn { get b }
           select { put a 1 { put b 2 } put b 3 { put a 4 } } }",
    ),
    (
        "select over both",
        "main { chan a: int; spawn { select { put a 1 {} get a {} } }; select { get a {} put a 2 {} } }",
    ),
    ("default", "main { chan c: int[1]; select { put c 1 {} default { put c 1 } }; get c }"),
    (
        "timeout",
        "main { chan c: int; spawn { select { put c 1 {} timeout { put c 2 } } }; get c }",
    ),
    ("choose", "main { chan c: int[1]; choose { put c 1 } or { put c 2 }; get c }"),
    ("if", "main { x = 1 + 2 * 3; if x == 7 && !(x < 0) { observe x } else { observe false } }"),
    (
        "break from a select",
        "main { chan c: int; spawn { put c 1 }
           while true { select { get c { break } } } }",
    ),
    (
        "recursion",
        "fn send(c: chan int, n: int) { if n > 0 { put c n; send(c, n - 1) } }
         fn take(c: chan int, n: int): int { if n > 0 { x = get c; y = take(c, n - 1); return x + y }; return 0 }
         main { chan c: int; spawn { send(c, 3) }; sum = take(c, 3); observe sum }",
    ),
    (
        "channels over channels",
        "main { chan c: chan int; chan d: int; spawn { e = get c; put e 5 }; put c d; x = get d; observe x }",
    ),
    (
        "copies",
        "main { chan c: int; n = 0; while n < 2 { spawn { put c n }; n = n + 1 }; get c; get c }",
    ),
    ("nil", "main { chan c: int; spawn { put c 1 }; d = c; if true { d = nil }; select { get d {} get c {} } }"),
    ("names", "main { chan type: int; spawn { put type 1 }; val = get type; observe val }"),
    ("lock", "main { mutex m; spawn { lock m; unlock m }; lock m; unlock m }"),
    ("panic", r#"main { panic "why" }"#),
    ("return", "main { chan c: int; spawn { get c; return }; put c 1 }"),
    ("nested spawns", "main { chan c: int; spawn { spawn { put c 1 }; put c 2 }; get c; get c }"),
];

fn written(language: Language) -> String {
    let mut text = String::new();
    for (name, source) in STATEMENTS {
        let program = strait_calculus::parse(source).expect(name);
        let body = match functions(language, &program) {
            Ok(body) => body,
            Err(error) => format!("{error}\n"),
        };
        text.push_str(&format!("=== {name}\n{body}\n"));
    }
    text
}

#[test]
fn every_statement_in_every_language() {
    let files = [
        (Language::Go, expect_file!["../snapshots/go.txt"]),
        (Language::Kotlin, expect_file!["../snapshots/kotlin.txt"]),
        (Language::Crystal, expect_file!["../snapshots/crystal.txt"]),
        (Language::Flix, expect_file!["../snapshots/flix.txt"]),
        (Language::Rust, expect_file!["../snapshots/rust.txt"]),
    ];
    for (language, file) in files {
        file.assert_eq(&written(language));
    }
}

/// The calls in which the older API of kotlinx.coroutines differs.
#[test]
fn the_older_api_of_kotlin() {
    let source =
        "main { chan c: int[1]; select { put c 1 {} default {} }; select { get c {} default {} }
        select { get c {} put c 2 {} }; get c; close c }";
    let program = strait_calculus::parse(source).expect("a program");
    let text = strait_emit::emit_kotlin(Era::Experimental, &program).expect("within Kotlin");
    let calls = [
        "experimental.channels.*",
        "c.offer(1L)",
        "c.poll()",
        "c.onReceiveOrNull",
        "launch(CommonPool)",
    ];
    for call in calls {
        assert!(text.contains(call), "{call}\n{text}");
    }
    assert!(!text.contains("Catching"), "{text}");
}
