//! The rules of the language, one by one: a program, its verdict, how many executions it has up to
//! equivalence, and its outcomes. Each row is agreed on by every engine (see `common/cross.rs`).

#[path = "../common/cross.rs"]
mod cross;

mod channels;
mod ending;
mod meeting;
mod waiting;

use expect_test::Expect;

fn check(source: &str, expected: Expect) {
    expected.assert_eq(&cross::agreed(source));
}
