//! How errors are shown: carets, long lines, odd files.

use crate::accepts;
use crate::check;
use expect_test::expect;
use strait_calculus::parse;
use strait_calculus::parse_bytes;

#[test]
fn several_mistakes_at_once() {
    check(
        "main {\n    x = 1 + true\n    y = !2\n    lock x\n}",
        expect![[r#"
        error: the right side should be of type int, this is of type bool
          --> f.strait:2:13
           |
         2 |     x = 1 + true
           |             ^^^^

        error: the operand should be of type bool, this is of type int
          --> f.strait:3:10
           |
         3 |     y = !2
           |          ^

        error: expected a mutex or rwmutex, this is of type int
          --> f.strait:4:10
           |
         4 |     lock x
           |          ^
    "#]],
    );
}

#[test]
fn a_tab_before_the_caret() {
    check(
        "main {\n\t\tput elsewhere 1\n}",
        expect![[r#"
        error: nothing is called `elsewhere` here
          --> f.strait:2:7
           |
         2 |   put elsewhere 1
           |       ^^^^^^^^^
           = hint: a variable is visible from its first assignment to the end of that block
    "#]],
    );
}

#[test]
fn wide_characters_before_the_caret() {
    check(
        "main {\n    panic \"日本語\"; put elsewhere 1\n}",
        expect![[r#"
            error: nothing is called `elsewhere` here
              --> f.strait:2:22
               |
             2 |     panic "日本語"; put elsewhere 1
               |                         ^^^^^^^^^
               = hint: a variable is visible from its first assignment to the end of that block
        "#]],
    );
}

#[test]
fn a_file_with_crlf() {
    check(
        "main {\r\n    chan c: int\r\n    put d 1\r\n}\r\n",
        expect![[r#"
            error: nothing is called `d` here
              --> f.strait:3:9
               |
             3 |     put d 1
               |         ^
               = hint: did you mean `c`?
        "#]],
    );
}

#[test]
fn a_byte_order_mark() {
    check(
        "\u{feff}main {}",
        expect![[r#"
        error: `\u{feff}` means nothing here
          --> f.strait:1:1
           |
         1 | ﻿main {}
           | ^
           = hint: remove the byte order mark
    "#]],
    );
}

#[test]
fn an_empty_file() {
    check(
        "",
        expect![[r#"
        error: there is no `main`
          --> f.strait:1:1
           |
         1 | 
           | ^
           = hint: a program starts at `main { … }`
    "#]],
    );
}

#[test]
fn only_comments() {
    check(
        "// nothing\n// here",
        expect![[r#"
        error: there is no `main`
          --> f.strait:2:8
           |
         2 | // here
           |        ^
           = hint: a program starts at `main { … }`
    "#]],
    );
}

#[test]
fn only_blanks() {
    check(
        " \n\n  ",
        expect![[r#"
        error: there is no `main`
          --> f.strait:3:3
           |
         3 |   
           |   ^
           = hint: a program starts at `main { … }`
    "#]],
    );
}

#[test]
fn a_very_long_line_is_cut_around_the_caret() {
    let many = "observe 1; ".repeat(5_000);
    check(
        &format!("main {{ {many}put elsewhere 1; {many} }}"),
        expect![[r#"
        error: nothing is called `elsewhere` here
          --> f.strait:1:55012
           |
         1 | … observe 1; observe 1; observe 1; observe 1; observe 1; put elsewhere 1; observe 1; observe 1; observe 1; observe 1; o…
           |                                                              ^^^^^^^^^
           = hint: a variable is visible from its first assignment to the end of that block
    "#]],
    );
}

#[test]
fn a_very_long_name_is_cut() {
    check(
        &format!("main {{ {} = 1 }}", "x".repeat(300)),
        expect![[r#"
        error: a name of 300 characters
          --> f.strait:1:8
           |
         1 | main { xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
           |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = hint: names have at most 200
    "#]],
    );
    check(
        &format!("main {{ y = {} }}", "x".repeat(150)),
        expect![[r#"
        error: nothing is called `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` here
          --> f.strait:1:12
           |
         1 | main { y = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
           |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = hint: a variable is visible from its first assignment to the end of that block
    "#]],
    );
}

#[test]
fn bytes_that_are_no_text() {
    let errors = parse_bytes(b"main {\n    observe \xff\n}").expect_err("an error");
    expect![[r#"
        error: byte 19 (line 2) is not UTF-8
          --> f.strait:1:1
           |
         1 | 
           | ^
           = hint: save the file as UTF-8 text
    "#]]
    .assert_eq(&errors.render("f.strait", ""));
    assert!(parse_bytes(b"main {}").is_ok());
}

#[test]
fn a_caret_stays_under_its_word_when_the_line_is_cut() {
    for before in [0, 10, 59, 60, 61, 100, 118, 119, 120, 121, 500] {
        for after in [0, 10, 57, 58, 59, 60, 100, 500] {
            let source =
                format!("main {{ {}put elsewhere 1{} }}", "; ".repeat(before), "; ".repeat(after));
            let errors = parse(&source).expect_err("an error").render("f.strait", &source);
            let lines: Vec<&str> = errors.lines().collect();
            let (shown, carets) = (lines[3].chars(), lines[4].chars());
            let marked: String = shown
                .zip(carets)
                .filter(|(_, caret)| *caret == '^')
                .map(|(shown, _)| shown)
                .collect();
            assert_eq!(marked, "elsewhere", "{before} {after}\n{errors}");
        }
    }
}

#[test]
fn what_is_right_is_accepted() {
    for source in [
        "main {}",
        "main { x = -9223372036854775808 }",
        "main { x = 9223372036854775807 }",
        "main { x = 1_000_000; chan c: int[1_000_000] }",
        "main { chan c: int[unbounded] }",
        "main {}\r\n",
        "main { panic \"a\\n\\t\\\"\\\\b\" }",
        "// only main\nmain { // nothing\n}\n// end",
        "fn f(): int { while true {} }\nmain {}",
        "fn f(): int { select {} }\nmain {}",
        "fn f(): int { panic \"no\" }\nmain {}",
        "fn f(): int { choose { return 1 } or { return 2 } }\nmain {}",
        "fn f(c: chan int) { f(nil) }\nmain { f(nil) }",
        "main { if true { x = 1 } else { x = true } }",
        "main { spawn { spawn { x = 1 } }; x = 2 }",
        ";;; main { ;; } ;",
    ] {
        accepts(source);
    }
}
