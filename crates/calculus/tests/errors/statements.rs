//! Statements that cannot be read, and habits from other languages.

use expect_test::expect;

use crate::check;

#[test]
fn assigning_to_a_copy() {
    check(
        "main {\n    x = 1\n    spawn { x = 2 }\n}",
        expect![[r#"
        error: `x` belongs to the process that spawned this block
          --> f.strait:3:13
           |
         3 |     spawn { x = 2 }
           |             ^
           = hint: a spawned block has copies; assign to a new name, or send the value over a channel
    "#]],
    );
}

#[test]
fn receiving_into_a_copy() {
    check(
        "main { chan c: int; x = 1; spawn { x = get c } }",
        expect![[r#"
        error: `x` belongs to the process that spawned this block
          --> f.strait:1:36
           |
         1 | main { chan c: int; x = 1; spawn { x = get c } }
           |                                    ^
           = hint: a spawned block has copies; assign to a new name, or send the value over a channel
    "#]],
    );
}

#[test]
fn break_outside() {
    check(
        "main { break }",
        expect![[r#"
        error: `break` stands outside any `while`
          --> f.strait:1:8
           |
         1 | main { break }
           |        ^^^^^
           = hint: `return` ends a function or process
    "#]],
    );
}

#[test]
fn continue_outside_in_a_spawn() {
    check(
        "main { while true { spawn { continue } } }",
        expect![[r#"
        error: `continue` stands outside any `while`
          --> f.strait:1:29
           |
         1 | main { while true { spawn { continue } } }
           |                             ^^^^^^^^
           = hint: `return` ends a function or process
    "#]],
    );
}

#[test]
fn a_second_default() {
    check(
        "main { select { default {} default {} } }",
        expect![[r#"
        error: a second `default` in one select
          --> f.strait:1:28
           |
         1 | main { select { default {} default {} } }
           |                            ^^^^^^^
    "#]],
    );
}

#[test]
fn a_case_that_is_none() {
    check(
        "main { select { observe 1 {} } }",
        expect![[r#"
        error: expected a case of the select, found `observe`
          --> f.strait:1:17
           |
         1 | main { select { observe 1 {} } }
           |                 ^^^^^^^
           = hint: a case is `put c x { … }`, `x = get c { … }`, `timeout { … }` or `default { … }`
    "#]],
    );
}

#[test]
fn a_put_without_message() {
    check(
        "main { chan c: int; put c }",
        expect![[r#"
        error: expected the message after the channel, found `}`
          --> f.strait:1:27
           |
         1 | main { chan c: int; put c }
           |                           ^
           = hint: write `put c ()` for a unit message
    "#]],
    );
}

#[test]
fn a_get_without_channel() {
    check(
        "main { x = get }",
        expect![[r#"
        error: expected a channel, lock or wait group, found `}`
          --> f.strait:1:16
           |
         1 | main { x = get }
           |                ^
    "#]],
    );
}

#[test]
fn two_variables_without_get() {
    check(
        "main { x, y = 1 }",
        expect![[r#"
        error: expected `get` after two variables, found `1`
          --> f.strait:1:15
           |
         1 | main { x, y = 1 }
           |               ^
    "#]],
    );
}

#[test]
fn two_statements_on_a_line() {
    check(
        "main { observe 1 observe 2 }",
        expect![[r#"
        error: expected `;` or a line break after the statement, found `observe`
          --> f.strait:1:18
           |
         1 | main { observe 1 observe 2 }
           |                  ^^^^^^^
    "#]],
    );
}

#[test]
fn a_missing_parenthesis() {
    check(
        "main { x = (1 + 2 }",
        expect![[r#"
        error: expected `)` to close the parenthesis, found `}`
          --> f.strait:1:19
           |
         1 | main { x = (1 + 2 }
           |                   ^
    "#]],
    );
}

#[test]
fn a_missing_operand() {
    check(
        "main { x = 1 + }",
        expect![[r#"
        error: expected a value, found `}`
          --> f.strait:1:16
           |
         1 | main { x = 1 + }
           |                ^
    "#]],
    );
}

#[test]
fn a_type_that_is_none() {
    check(
        "main { chan c: string }",
        expect![[r#"
        error: expected a type, found `string`
          --> f.strait:1:16
           |
         1 | main { chan c: string }
           |                ^^^^^^
           = hint: types are unit, bool, int, mutex, rwmutex, waitgroup and `chan TYPE`
    "#]],
    );
}

#[test]
fn a_mistyped_statement() {
    check(
        "main { chan c: int; clsoe c }",
        expect![[r#"
        error: `clsoe` starts no statement
          --> f.strait:1:21
           |
         1 | main { chan c: int; clsoe c }
           |                     ^^^^^
           = hint: did you mean `close`?
    "#]],
    );
}

#[test]
fn let_is_not_needed() {
    check(
        "main { let x = 1 }",
        expect![[r#"
        error: `let` starts no statement
          --> f.strait:1:8
           |
         1 | main { let x = 1 }
           |        ^^^
           = hint: a variable needs no `let`: write `x = …`
    "#]],
    );
}

#[test]
fn go_is_spawn() {
    check(
        "main { go f() }",
        expect![[r#"
        error: `go` starts no statement
          --> f.strait:1:8
           |
         1 | main { go f() }
           |        ^^
           = hint: processes are started by `spawn { … }`
    "#]],
    );
}

#[test]
fn for_is_while() {
    check(
        "main { for x }",
        expect![[r#"
        error: `for` starts no statement
          --> f.strait:1:8
           |
         1 | main { for x }
           |        ^^^
           = hint: loops are written `while condition { … }`
    "#]],
    );
}

#[test]
fn send_is_put() {
    check(
        "main { send 1 }",
        expect![[r#"
        error: `send` starts no statement
          --> f.strait:1:8
           |
         1 | main { send 1 }
           |        ^^^^
           = hint: messages are sent by `put c x`
    "#]],
    );
}

#[test]
fn recv_is_get() {
    check(
        "main { recv 1 }",
        expect![[r#"
        error: `recv` starts no statement
          --> f.strait:1:8
           |
         1 | main { recv 1 }
           |        ^^^^
           = hint: messages are received by `x = get c`
    "#]],
    );
}

#[test]
fn an_arrow() {
    check(
        "main { x ← c }",
        expect![[r#"
        error: `←` means nothing here
          --> f.strait:1:10
           |
         1 | main { x ← c }
           |          ^
           = hint: a message is received by `x = get c` and sent by `put c x`
    "#]],
    );
}

#[test]
fn a_single_ampersand() {
    check(
        "main { x = true & false }",
        expect![[r#"
        error: `&` means nothing here
          --> f.strait:1:17
           |
         1 | main { x = true & false }
           |                 ^
           = hint: conditions are joined by `&&` and `||`
    "#]],
    );
}

#[test]
fn division() {
    check(
        "main { x = 4 / 2 }",
        expect![[r#"
        error: `/` means nothing here
          --> f.strait:1:14
           |
         1 | main { x = 4 / 2 }
           |              ^
           = hint: there is no division; comments start with `//`
    "#]],
    );
}

#[test]
fn a_letter_outside_ascii() {
    check(
        "main { größe = 1 }",
        expect![[r#"
        error: `ö` means nothing here
          --> f.strait:1:10
           |
         1 | main { größe = 1 }
           |          ^
           = hint: names are made of letters, digits and `_`
    "#]],
    );
}
