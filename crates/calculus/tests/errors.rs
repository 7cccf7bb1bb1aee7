//! What is said about programs that are wrong: the message, the line, the caret under the right
//! characters and the hint, exactly as people see them.

use expect_test::{Expect, expect};
use strait_calculus::{parse, parse_bytes};

fn check(source: &str, expected: Expect) {
    let errors = match parse(source) {
        Ok(_) => "no error\n".to_string(),
        Err(errors) => errors.render("f.strait", source),
    };
    expected.assert_eq(&errors);
}

fn accepts(source: &str) {
    if let Err(errors) = parse(source) {
        panic!("{}", errors.render("f.strait", source));
    }
}

#[test]
fn an_unknown_name_has_a_neighbour() {
    check(
        "main {\n    chan jobs: int\n    put job 1\n}",
        expect![[r#"
        error: nothing is called `job` here
          --> f.strait:3:9
           |
         3 |     put job 1
           |         ^^^
           = hint: did you mean `jobs`?
    "#]],
    );
}

#[test]
fn an_unknown_name_without_a_neighbour() {
    check(
        "main { put elsewhere 1 }",
        expect![[r#"
        error: nothing is called `elsewhere` here
          --> f.strait:1:12
           |
         1 | main { put elsewhere 1 }
           |            ^^^^^^^^^
           = hint: a variable is visible from its first assignment to the end of that block
    "#]],
    );
}

#[test]
fn a_name_after_its_block() {
    check(
        "main {\n    if true { x = 1 }\n    observe x\n}",
        expect![[r#"
        error: nothing is called `x` here
          --> f.strait:3:13
           |
         3 |     observe x
           |             ^
           = hint: a variable is visible from its first assignment to the end of that block
    "#]],
    );
}

#[test]
fn an_unknown_function_has_a_neighbour() {
    check(
        "fn worker() {}\nmain { worken() }",
        expect![[r#"
        error: there is no function `worken`
          --> f.strait:2:8
           |
         2 | main { worken() }
           |        ^^^^^^
           = hint: did you mean `worker`?
    "#]],
    );
}

#[test]
fn an_unknown_function() {
    check(
        "main { f() }",
        expect![[r#"
        error: there is no function `f`
          --> f.strait:1:8
           |
         1 | main { f() }
           |        ^
           = hint: write `fn f(…) { … }`
    "#]],
    );
}

#[test]
fn an_unclosed_block() {
    check(
        "main {\n    if true {\n        observe 1\n",
        expect![[r#"
        error: this block is never closed
          --> f.strait:2:13
           |
         2 |     if true {
           |             ^
           = hint: add the missing `}`
    "#]],
    );
}

#[test]
fn an_unclosed_select() {
    check(
        "main { select { timeout {}",
        expect![[r#"
        error: expected a case of the select, the file ends
          --> f.strait:1:27
           |
         1 | main { select { timeout {}
           |                           ^
           = hint: a case is `put c x { … }`, `x = get c { … }`, `timeout { … }` or `default { … }`
    "#]],
    );
}

#[test]
fn no_main() {
    check(
        "fn f() {}",
        expect![[r#"
        error: there is no `main`
          --> f.strait:1:10
           |
         1 | fn f() {}
           |          ^
           = hint: a program starts at `main { … }`
    "#]],
    );
}

#[test]
fn two_mains() {
    check(
        "main {}\nmain {}",
        expect![[r#"
        error: there are two functions called `main`
          --> f.strait:2:1
           |
         2 | main {}
           | ^^^^
           = hint: a program has one `main`; move the rest into functions
    "#]],
    );
}

#[test]
fn two_functions() {
    check(
        "fn f() {}\nfn f() {}\nmain {}",
        expect![[r#"
        error: there are two functions called `f`
          --> f.strait:2:4
           |
         2 | fn f() {}
           |    ^
           = hint: rename one of them
    "#]],
    );
}

#[test]
fn a_main_with_fn() {
    check(
        "fn main() {}",
        expect![[r#"
        error: expected the function's name, found `main`
          --> f.strait:1:4
           |
         1 | fn main() {}
           |    ^^^^
           = hint: the entry is written `main { … }`, without `fn`
    "#]],
    );
}

#[test]
fn a_statement_outside() {
    check(
        "observe 1\nmain {}",
        expect![[r#"
        error: expected `fn` or `main`, found `observe`
          --> f.strait:1:1
           |
         1 | observe 1
           | ^^^^^^^
           = hint: statements stand inside `main { … }` or `fn name() { … }`
    "#]],
    );
}

#[test]
fn capacity_zero() {
    check(
        "main { chan c: int[0] }",
        expect![[r#"
        error: a channel without a buffer is written without brackets
          --> f.strait:1:20
           |
         1 | main { chan c: int[0] }
           |                    ^
           = hint: remove `[0]`
    "#]],
    );
}

#[test]
fn capacity_too_large() {
    check(
        "main { chan c: int[1000001] }",
        expect![[r#"
        error: capacity 1000001 is too large
          --> f.strait:1:20
           |
         1 | main { chan c: int[1000001] }
           |                    ^^^^^^^
           = hint: the largest is 1000000; `unbounded` has no limit
    "#]],
    );
}

#[test]
fn capacity_far_too_large() {
    check(
        "main { chan c: int[99999999999999999999999999999999999999999999999999] }",
        expect![[r#"
        error: capacity 9999999999999999999999999999999999999… is too large
          --> f.strait:1:20
           |
         1 | main { chan c: int[99999999999999999999999999999999999999999999999999] }
           |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           = hint: the largest is 1000000; `unbounded` has no limit
    "#]],
    );
}

#[test]
fn capacity_that_is_none() {
    check(
        "main { chan c: int[many] }",
        expect![[r#"
        error: `many` is no capacity
          --> f.strait:1:20
           |
         1 | main { chan c: int[many] }
           |                    ^^^^
           = hint: write a number or `unbounded`
    "#]],
    );
}

#[test]
fn capacity_unclosed() {
    check(
        "main { chan c: int[2 }",
        expect![[r#"
        error: expected `]` after the capacity, found `}`
          --> f.strait:1:22
           |
         1 | main { chan c: int[2 }
           |                      ^
    "#]],
    );
}

#[test]
fn an_integer_too_large() {
    check(
        "main { x = 9223372036854775808 }",
        expect![[r#"
        error: `9223372036854775808` does not fit into 64 bits
          --> f.strait:1:12
           |
         1 | main { x = 9223372036854775808 }
           |            ^^^^^^^^^^^^^^^^^^^
           = hint: integers go from -9223372036854775808 to 9223372036854775807
    "#]],
    );
}

#[test]
fn an_integer_too_small() {
    check(
        "main { x = -9223372036854775809 }",
        expect![[r#"
        error: `-9223372036854775809` does not fit into 64 bits
          --> f.strait:1:13
           |
         1 | main { x = -9223372036854775809 }
           |             ^^^^^^^^^^^^^^^^^^^
           = hint: integers go from -9223372036854775808 to 9223372036854775807
    "#]],
    );
}

#[test]
fn a_number_with_letters() {
    check(
        "main { x = 12ab }",
        expect![[r#"
        error: `12ab` is no number
          --> f.strait:1:12
           |
         1 | main { x = 12ab }
           |            ^^^^
           = hint: names start with a letter
    "#]],
    );
}

#[test]
fn an_unknown_escape() {
    check(
        "main { panic \"a\\qb\" }",
        expect![[r#"
        error: an escape that is not known
          --> f.strait:1:14
           |
         1 | main { panic "a\qb" }
           |              ^^^^^^
           = hint: known are \n, \t, \" and \\
    "#]],
    );
}

#[test]
fn an_unclosed_string() {
    check(
        "main { panic \"why\n}",
        expect![[r#"
        error: this string does not end on its line
          --> f.strait:1:14
           |
         1 | main { panic "why
           |              ^
           = hint: close it with `"`
    "#]],
    );
}

#[test]
fn a_panic_without_reason() {
    check(
        "main { panic }",
        expect![[r#"
        error: expected a reason in quotes after `panic`
          --> f.strait:1:14
           |
         1 | main { panic }
           |              ^
    "#]],
    );
}

#[test]
fn a_keyword_as_a_channel() {
    check(
        "main { chan select: int }",
        expect![[r#"
        error: `select` is a word of the language
          --> f.strait:1:13
           |
         1 | main { chan select: int }
           |             ^^^^^^
           = hint: choose another name for the channel
    "#]],
    );
}

#[test]
fn a_keyword_as_a_variable() {
    check(
        "main { while = 1 }",
        expect![[r#"
        error: expected a value, found `=`
          --> f.strait:1:14
           |
         1 | main { while = 1 }
           |              ^
    "#]],
    );
}

#[test]
fn a_keyword_as_a_value() {
    check(
        "main { x = put }",
        expect![[r#"
        error: `put` is a word of the language
          --> f.strait:1:12
           |
         1 | main { x = put }
           |            ^^^
           = hint: choose another name for a value
    "#]],
    );
}

#[test]
fn a_keyword_as_a_function() {
    check(
        "fn close() {}\nmain {}",
        expect![[r#"
        error: `close` is a word of the language
          --> f.strait:1:4
           |
         1 | fn close() {}
           |    ^^^^^
           = hint: choose another name for the function
    "#]],
    );
}

#[test]
fn an_underscore_as_a_name() {
    check(
        "main { chan _: int }",
        expect![[r#"
        error: `_` is no name: it stands for a value that is not wanted
          --> f.strait:1:13
           |
         1 | main { chan _: int }
           |             ^
    "#]],
    );
}

#[test]
fn a_variable_that_nobody_wants() {
    check(
        "main { _ = 1 }",
        expect![[r#"
        error: this value is computed and thrown away
          --> f.strait:1:12
           |
         1 | main { _ = 1 }
           |            ^
           = hint: name a variable, or remove the statement
    "#]],
    );
}

#[test]
fn a_name_that_is_taken() {
    check(
        "main { chan c: int; mutex c }",
        expect![[r#"
        error: `c` is already in sight
          --> f.strait:1:27
           |
         1 | main { chan c: int; mutex c }
           |                           ^
           = hint: choose another name
    "#]],
    );
}

#[test]
fn a_parameter_twice() {
    check(
        "fn f(x: int, x: int) {}\nmain {}",
        expect![[r#"
        error: `x` is already in sight
          --> f.strait:1:14
           |
         1 | fn f(x: int, x: int) {}
           |              ^
           = hint: choose another name
    "#]],
    );
}

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
           = hint: a statement is `x = …`, `put c x`, `x = get c`, a call `f(x)`, …
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

#[test]
fn a_message_of_the_wrong_type() {
    check(
        "main { chan c: int; put c true }",
        expect![[r#"
        error: the message should be of type int, this is of type bool
          --> f.strait:1:27
           |
         1 | main { chan c: int; put c true }
           |                           ^^^^
    "#]],
    );
}

#[test]
fn put_on_what_is_no_channel() {
    check(
        "main { x = 1; put x 1 }",
        expect![[r#"
        error: expected a channel, this is of type int
          --> f.strait:1:19
           |
         1 | main { x = 1; put x 1 }
           |                   ^
    "#]],
    );
}

#[test]
fn get_from_what_is_no_channel() {
    check(
        "main { mutex m; x = get m }",
        expect![[r#"
        error: expected a channel, this is of type mutex
          --> f.strait:1:25
           |
         1 | main { mutex m; x = get m }
           |                         ^
    "#]],
    );
}

#[test]
fn close_of_what_is_no_channel() {
    check(
        "main { x = true; close x }",
        expect![[r#"
        error: expected a channel, this is of type bool
          --> f.strait:1:24
           |
         1 | main { x = true; close x }
           |                        ^
    "#]],
    );
}

#[test]
fn abandon_of_what_is_no_channel() {
    check(
        "main { waitgroup w; abandon w }",
        expect![[r#"
        error: expected a channel, this is of type waitgroup
          --> f.strait:1:29
           |
         1 | main { waitgroup w; abandon w }
           |                             ^
    "#]],
    );
}

#[test]
fn lock_of_a_channel() {
    check(
        "main { chan c: int; lock c }",
        expect![[r#"
        error: expected a mutex or rwmutex, this is of type chan int
          --> f.strait:1:26
           |
         1 | main { chan c: int; lock c }
           |                          ^
    "#]],
    );
}

#[test]
fn unlock_of_a_wait_group() {
    check(
        "main { waitgroup w; unlock w }",
        expect![[r#"
        error: expected a mutex or rwmutex, this is of type waitgroup
          --> f.strait:1:28
           |
         1 | main { waitgroup w; unlock w }
           |                            ^
    "#]],
    );
}

#[test]
fn rlock_of_a_mutex() {
    check(
        "main { mutex m; rlock m }",
        expect![[r#"
        error: expected an rwmutex, this is of type mutex
          --> f.strait:1:23
           |
         1 | main { mutex m; rlock m }
           |                       ^
    "#]],
    );
}

#[test]
fn runlock_of_a_mutex() {
    check(
        "main { mutex m; runlock m }",
        expect![[r#"
        error: expected an rwmutex, this is of type mutex
          --> f.strait:1:25
           |
         1 | main { mutex m; runlock m }
           |                         ^
    "#]],
    );
}

#[test]
fn done_of_a_mutex() {
    check(
        "main { mutex m; done m }",
        expect![[r#"
        error: expected a waitgroup, this is of type mutex
          --> f.strait:1:22
           |
         1 | main { mutex m; done m }
           |                      ^
    "#]],
    );
}

#[test]
fn wait_of_an_rwmutex() {
    check(
        "main { rwmutex m; wait m }",
        expect![[r#"
        error: expected a waitgroup, this is of type rwmutex
          --> f.strait:1:24
           |
         1 | main { rwmutex m; wait m }
           |                        ^
    "#]],
    );
}

#[test]
fn add_to_a_mutex() {
    check(
        "main { mutex m; add m 1 }",
        expect![[r#"
        error: what `add` counts should be of type waitgroup, this is of type mutex
          --> f.strait:1:21
           |
         1 | main { mutex m; add m 1 }
           |                     ^
    "#]],
    );
}

#[test]
fn add_of_a_bool() {
    check(
        "main { waitgroup w; add w true }",
        expect![[r#"
        error: the amount should be of type int, this is of type bool
          --> f.strait:1:27
           |
         1 | main { waitgroup w; add w true }
           |                           ^^^^
    "#]],
    );
}

#[test]
fn a_condition_that_is_none() {
    check(
        "main { if 1 {} }",
        expect![[r#"
        error: a condition should be of type bool, this is of type int
          --> f.strait:1:11
           |
         1 | main { if 1 {} }
           |           ^
    "#]],
    );
}

#[test]
fn a_loop_condition_that_is_none() {
    check(
        "main { while () {} }",
        expect![[r#"
        error: a condition should be of type bool, this is of type unit
          --> f.strait:1:14
           |
         1 | main { while () {} }
           |              ^^
    "#]],
    );
}

#[test]
fn not_of_an_integer() {
    check(
        "main { x = !1 }",
        expect![[r#"
        error: the operand should be of type bool, this is of type int
          --> f.strait:1:13
           |
         1 | main { x = !1 }
           |             ^
    "#]],
    );
}

#[test]
fn minus_of_a_bool() {
    check(
        "main { x = -true }",
        expect![[r#"
        error: the operand should be of type int, this is of type bool
          --> f.strait:1:13
           |
         1 | main { x = -true }
           |             ^^^^
    "#]],
    );
}

#[test]
fn plus_of_bools() {
    check(
        "main { x = true + 1 }",
        expect![[r#"
        error: the left side should be of type int, this is of type bool
          --> f.strait:1:12
           |
         1 | main { x = true + 1 }
           |            ^^^^
    "#]],
    );
}

#[test]
fn times_of_units() {
    check(
        "main { x = 1 * () }",
        expect![[r#"
        error: the right side should be of type int, this is of type unit
          --> f.strait:1:16
           |
         1 | main { x = 1 * () }
           |                ^^
    "#]],
    );
}

#[test]
fn less_of_bools() {
    check(
        "main { x = true < false }",
        expect![[r#"
        error: the left side should be of type int, this is of type bool
          --> f.strait:1:12
           |
         1 | main { x = true < false }
           |            ^^^^

        error: the right side should be of type int, this is of type bool
          --> f.strait:1:19
           |
         1 | main { x = true < false }
           |                   ^^^^^
    "#]],
    );
}

#[test]
fn and_of_integers() {
    check(
        "main { x = 1 && true }",
        expect![[r#"
        error: the left side should be of type bool, this is of type int
          --> f.strait:1:12
           |
         1 | main { x = 1 && true }
           |            ^
    "#]],
    );
}

#[test]
fn equality_of_different_types() {
    check(
        "main { x = 1 == true }",
        expect![[r#"
        error: the other side should be of type int, this is of type bool
          --> f.strait:1:17
           |
         1 | main { x = 1 == true }
           |                 ^^^^
    "#]],
    );
}

#[test]
fn a_variable_keeps_its_type() {
    check(
        "main { x = 1; x = true }",
        expect![[r#"
        error: `x` is of type int, not bool
          --> f.strait:1:15
           |
         1 | main { x = 1; x = true }
           |               ^^^^^^^^
           = hint: use another variable
    "#]],
    );
}

#[test]
fn a_received_value_of_the_wrong_type() {
    check(
        "main { chan c: int; x = true; x = get c }",
        expect![[r#"
        error: `x` is of type bool, not int
          --> f.strait:1:31
           |
         1 | main { chan c: int; x = true; x = get c }
           |                               ^^^^^^^^^
           = hint: use another variable
    "#]],
    );
}

#[test]
fn ok_is_a_bool() {
    check(
        "main { chan c: int; ok = 1; x, ok = get c }",
        expect![[r#"
        error: `ok` is of type int, not bool
          --> f.strait:1:29
           |
         1 | main { chan c: int; ok = 1; x, ok = get c }
           |                             ^^^^^^^^^^^^^
           = hint: use another variable
    "#]],
    );
}

#[test]
fn nil_without_a_type() {
    check(
        "main { x = nil }",
        expect![[r#"
        error: `nil` alone has no type
          --> f.strait:1:12
           |
         1 | main { x = nil }
           |            ^^^
           = hint: declare `chan c: TYPE`, or pass `nil` where a channel is expected
    "#]],
    );
}

#[test]
fn nil_observed() {
    check(
        "main { observe nil }",
        expect![[r#"
        error: `nil` alone has no type
          --> f.strait:1:16
           |
         1 | main { observe nil }
           |                ^^^
           = hint: declare `chan c: TYPE`, or pass `nil` where a channel is expected
    "#]],
    );
}

#[test]
fn nil_twice() {
    check(
        "main { x = nil == nil }",
        expect![[r#"
        error: `nil` alone has no type
          --> f.strait:1:19
           |
         1 | main { x = nil == nil }
           |                   ^^^
           = hint: declare `chan c: TYPE`, or pass `nil` where a channel is expected
    "#]],
    );
}

#[test]
fn nil_for_a_mutex() {
    check(
        "fn f(m: mutex) {}\nmain { f(nil) }",
        expect![[r#"
        error: `nil` alone has no type
          --> f.strait:2:10
           |
         2 | main { f(nil) }
           |          ^^^
           = hint: declare `chan c: TYPE`, or pass `nil` where a channel is expected
    "#]],
    );
}

#[test]
fn an_argument_of_the_wrong_type() {
    check(
        "fn f(x: int) {}\nmain { f(true) }",
        expect![[r#"
        error: the argument should be of type int, this is of type bool
          --> f.strait:2:10
           |
         2 | main { f(true) }
           |          ^^^^
    "#]],
    );
}

#[test]
fn too_few_arguments() {
    check(
        "fn f(x: int, y: int) {}\nmain { f(1) }",
        expect![[r#"
        error: `f` takes 2 arguments, not 1
          --> f.strait:2:8
           |
         2 | main { f(1) }
           |        ^^^^
    "#]],
    );
}

#[test]
fn too_many_arguments() {
    check(
        "fn f() {}\nmain { f(1) }",
        expect![[r#"
        error: `f` takes 0 arguments, not 1
          --> f.strait:2:8
           |
         2 | main { f(1) }
           |        ^^^^
    "#]],
    );
}

#[test]
fn no_return_at_the_end() {
    check(
        "fn f(x: int): int {\n    if x == 0 { return 1 }\n}\nmain {}",
        expect![[r#"
        error: `f` may end without returning a value
          --> f.strait:1:1
           |
         1 | fn f(x: int): int {
           | ^^^^
           = hint: add `return` with a value of type int
    "#]],
    );
}

#[test]
fn a_loop_that_may_break_returns_nothing() {
    check(
        "fn f(): int { while true { break } }\nmain {}",
        expect![[r#"
        error: `f` may end without returning a value
          --> f.strait:1:1
           |
         1 | fn f(): int { while true { break } }
           | ^^^^
           = hint: add `return` with a value of type int
    "#]],
    );
}

#[test]
fn a_return_without_value() {
    check(
        "fn f(): int { return }\nmain {}",
        expect![[r#"
        error: `return` needs a value of type int
          --> f.strait:1:15
           |
         1 | fn f(): int { return }
           |               ^^^^^^
    "#]],
    );
}

#[test]
fn a_return_of_the_wrong_type() {
    check(
        "fn f(): int { return true }\nmain {}",
        expect![[r#"
        error: the result should be of type int, this is of type bool
          --> f.strait:1:22
           |
         1 | fn f(): int { return true }
           |                      ^^^^
    "#]],
    );
}

#[test]
fn main_returns_nothing() {
    check(
        "main { return 1 }",
        expect![[r#"
        error: the result should be of type unit, this is of type int
          --> f.strait:1:15
           |
         1 | main { return 1 }
           |               ^
    "#]],
    );
}

#[test]
fn a_spawned_process_returns_nothing() {
    check(
        "fn f(): int { spawn { return 1 }; return 2 }\nmain {}",
        expect![[r#"
        error: a spawned process returns nothing
          --> f.strait:1:30
           |
         1 | fn f(): int { spawn { return 1 }; return 2 }
           |                              ^
           = hint: send the value over a channel
    "#]],
    );
}

#[test]
fn a_result_that_is_unit() {
    check(
        "fn f() {}\nmain { x = 1; x = f() }",
        expect![[r#"
        error: `x` is of type int, not unit
          --> f.strait:2:15
           |
         2 | main { x = 1; x = f() }
           |               ^^^^^^^
           = hint: use another variable
    "#]],
    );
}

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
