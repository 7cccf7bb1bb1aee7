//! Types, arguments and results that do not fit.

use crate::check;
use expect_test::expect;

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
