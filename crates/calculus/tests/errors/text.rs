//! Names, blocks, numbers and strings that cannot be read.

use crate::check;
use expect_test::expect;

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
