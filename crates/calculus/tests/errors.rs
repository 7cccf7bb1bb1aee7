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
    check("main {\n    chan jobs: int\n    put job 1\n}", expect![[""]]);
}

#[test]
fn an_unknown_name_without_a_neighbour() {
    check("main { put elsewhere 1 }", expect![[""]]);
}

#[test]
fn a_name_after_its_block() {
    check("main {\n    if true { x = 1 }\n    observe x\n}", expect![[""]]);
}

#[test]
fn an_unknown_function_has_a_neighbour() {
    check("fn worker() {}\nmain { worken() }", expect![[""]]);
}

#[test]
fn an_unknown_function() {
    check("main { f() }", expect![[""]]);
}

#[test]
fn an_unclosed_block() {
    check("main {\n    if true {\n        observe 1\n", expect![[""]]);
}

#[test]
fn an_unclosed_select() {
    check("main { select { timeout {}", expect![[""]]);
}

#[test]
fn no_main() {
    check("fn f() {}", expect![[""]]);
}

#[test]
fn two_mains() {
    check("main {}\nmain {}", expect![[""]]);
}

#[test]
fn two_functions() {
    check("fn f() {}\nfn f() {}\nmain {}", expect![[""]]);
}

#[test]
fn a_main_with_fn() {
    check("fn main() {}", expect![[""]]);
}

#[test]
fn a_statement_outside() {
    check("observe 1\nmain {}", expect![[""]]);
}

#[test]
fn capacity_zero() {
    check("main { chan c: int[0] }", expect![[""]]);
}

#[test]
fn capacity_too_large() {
    check("main { chan c: int[1000001] }", expect![[""]]);
}

#[test]
fn capacity_far_too_large() {
    check("main { chan c: int[99999999999999999999999999999999999999999999999999] }", expect![[""]]);
}

#[test]
fn capacity_that_is_none() {
    check("main { chan c: int[many] }", expect![[""]]);
}

#[test]
fn capacity_unclosed() {
    check("main { chan c: int[2 }", expect![[""]]);
}

#[test]
fn an_integer_too_large() {
    check("main { x = 9223372036854775808 }", expect![[""]]);
}

#[test]
fn an_integer_too_small() {
    check("main { x = -9223372036854775809 }", expect![[""]]);
}

#[test]
fn a_number_with_letters() {
    check("main { x = 12ab }", expect![[""]]);
}

#[test]
fn an_unknown_escape() {
    check("main { panic \"a\\qb\" }", expect![[""]]);
}

#[test]
fn an_unclosed_string() {
    check("main { panic \"why\n}", expect![[""]]);
}

#[test]
fn a_panic_without_reason() {
    check("main { panic }", expect![[""]]);
}

#[test]
fn a_keyword_as_a_channel() {
    check("main { chan select: int }", expect![[""]]);
}

#[test]
fn a_keyword_as_a_variable() {
    check("main { while = 1 }", expect![[""]]);
}

#[test]
fn a_keyword_as_a_value() {
    check("main { x = put }", expect![[""]]);
}

#[test]
fn a_keyword_as_a_function() {
    check("fn close() {}\nmain {}", expect![[""]]);
}

#[test]
fn an_underscore_as_a_name() {
    check("main { chan _: int }", expect![[""]]);
}

#[test]
fn a_variable_that_nobody_wants() {
    check("main { _ = 1 }", expect![[""]]);
}

#[test]
fn a_name_that_is_taken() {
    check("main { chan c: int; mutex c }", expect![[""]]);
}

#[test]
fn a_parameter_twice() {
    check("fn f(x: int, x: int) {}\nmain {}", expect![[""]]);
}

#[test]
fn assigning_to_a_copy() {
    check("main {\n    x = 1\n    spawn { x = 2 }\n}", expect![[""]]);
}

#[test]
fn receiving_into_a_copy() {
    check("main { chan c: int; x = 1; spawn { x = get c } }", expect![[""]]);
}

#[test]
fn break_outside() {
    check("main { break }", expect![[""]]);
}

#[test]
fn continue_outside_in_a_spawn() {
    check("main { while true { spawn { continue } } }", expect![[""]]);
}

#[test]
fn a_second_default() {
    check("main { select { default {} default {} } }", expect![[""]]);
}

#[test]
fn a_case_that_is_none() {
    check("main { select { observe 1 {} } }", expect![[""]]);
}

#[test]
fn a_put_without_message() {
    check("main { chan c: int; put c }", expect![[""]]);
}

#[test]
fn a_get_without_channel() {
    check("main { x = get }", expect![[""]]);
}

#[test]
fn two_variables_without_get() {
    check("main { x, y = 1 }", expect![[""]]);
}

#[test]
fn two_statements_on_a_line() {
    check("main { observe 1 observe 2 }", expect![[""]]);
}

#[test]
fn a_missing_parenthesis() {
    check("main { x = (1 + 2 }", expect![[""]]);
}

#[test]
fn a_missing_operand() {
    check("main { x = 1 + }", expect![[""]]);
}

#[test]
fn a_type_that_is_none() {
    check("main { chan c: string }", expect![[""]]);
}

#[test]
fn a_mistyped_statement() {
    check("main { chan c: int; clsoe c }", expect![[""]]);
}

#[test]
fn let_is_not_needed() {
    check("main { let x = 1 }", expect![[""]]);
}

#[test]
fn go_is_spawn() {
    check("main { go f() }", expect![[""]]);
}

#[test]
fn for_is_while() {
    check("main { for x }", expect![[""]]);
}

#[test]
fn send_is_put() {
    check("main { send 1 }", expect![[""]]);
}

#[test]
fn recv_is_get() {
    check("main { recv 1 }", expect![[""]]);
}

#[test]
fn an_arrow() {
    check("main { x ← c }", expect![[""]]);
}

#[test]
fn a_single_ampersand() {
    check("main { x = true & false }", expect![[""]]);
}

#[test]
fn division() {
    check("main { x = 4 / 2 }", expect![[""]]);
}

#[test]
fn a_letter_outside_ascii() {
    check("main { größe = 1 }", expect![[""]]);
}

#[test]
fn a_message_of_the_wrong_type() {
    check("main { chan c: int; put c true }", expect![[""]]);
}

#[test]
fn put_on_what_is_no_channel() {
    check("main { x = 1; put x 1 }", expect![[""]]);
}

#[test]
fn get_from_what_is_no_channel() {
    check("main { mutex m; x = get m }", expect![[""]]);
}

#[test]
fn close_of_what_is_no_channel() {
    check("main { x = true; close x }", expect![[""]]);
}

#[test]
fn abandon_of_what_is_no_channel() {
    check("main { waitgroup w; abandon w }", expect![[""]]);
}

#[test]
fn lock_of_a_channel() {
    check("main { chan c: int; lock c }", expect![[""]]);
}

#[test]
fn unlock_of_a_wait_group() {
    check("main { waitgroup w; unlock w }", expect![[""]]);
}

#[test]
fn rlock_of_a_mutex() {
    check("main { mutex m; rlock m }", expect![[""]]);
}

#[test]
fn runlock_of_a_mutex() {
    check("main { mutex m; runlock m }", expect![[""]]);
}

#[test]
fn done_of_a_mutex() {
    check("main { mutex m; done m }", expect![[""]]);
}

#[test]
fn wait_of_an_rwmutex() {
    check("main { rwmutex m; wait m }", expect![[""]]);
}

#[test]
fn add_to_a_mutex() {
    check("main { mutex m; add m 1 }", expect![[""]]);
}

#[test]
fn add_of_a_bool() {
    check("main { waitgroup w; add w true }", expect![[""]]);
}

#[test]
fn a_condition_that_is_none() {
    check("main { if 1 {} }", expect![[""]]);
}

#[test]
fn a_loop_condition_that_is_none() {
    check("main { while () {} }", expect![[""]]);
}

#[test]
fn not_of_an_integer() {
    check("main { x = !1 }", expect![[""]]);
}

#[test]
fn minus_of_a_bool() {
    check("main { x = -true }", expect![[""]]);
}

#[test]
fn plus_of_bools() {
    check("main { x = true + 1 }", expect![[""]]);
}

#[test]
fn times_of_units() {
    check("main { x = 1 * () }", expect![[""]]);
}

#[test]
fn less_of_bools() {
    check("main { x = true < false }", expect![[""]]);
}

#[test]
fn and_of_integers() {
    check("main { x = 1 && true }", expect![[""]]);
}

#[test]
fn equality_of_different_types() {
    check("main { x = 1 == true }", expect![[""]]);
}

#[test]
fn a_variable_keeps_its_type() {
    check("main { x = 1; x = true }", expect![[""]]);
}

#[test]
fn a_received_value_of_the_wrong_type() {
    check("main { chan c: int; x = true; x = get c }", expect![[""]]);
}

#[test]
fn ok_is_a_bool() {
    check("main { chan c: int; ok = 1; x, ok = get c }", expect![[""]]);
}

#[test]
fn nil_without_a_type() {
    check("main { x = nil }", expect![[""]]);
}

#[test]
fn nil_observed() {
    check("main { observe nil }", expect![[""]]);
}

#[test]
fn nil_twice() {
    check("main { x = nil == nil }", expect![[""]]);
}

#[test]
fn nil_for_a_mutex() {
    check("fn f(m: mutex) {}\nmain { f(nil) }", expect![[""]]);
}

#[test]
fn an_argument_of_the_wrong_type() {
    check("fn f(x: int) {}\nmain { f(true) }", expect![[""]]);
}

#[test]
fn too_few_arguments() {
    check("fn f(x: int, y: int) {}\nmain { f(1) }", expect![[""]]);
}

#[test]
fn too_many_arguments() {
    check("fn f() {}\nmain { f(1) }", expect![[""]]);
}

#[test]
fn no_return_at_the_end() {
    check("fn f(x: int): int {\n    if x == 0 { return 1 }\n}\nmain {}", expect![[""]]);
}

#[test]
fn a_loop_that_may_break_returns_nothing() {
    check("fn f(): int { while true { break } }\nmain {}", expect![[""]]);
}

#[test]
fn a_return_without_value() {
    check("fn f(): int { return }\nmain {}", expect![[""]]);
}

#[test]
fn a_return_of_the_wrong_type() {
    check("fn f(): int { return true }\nmain {}", expect![[""]]);
}

#[test]
fn main_returns_nothing() {
    check("main { return 1 }", expect![[""]]);
}

#[test]
fn a_spawned_process_returns_nothing() {
    check("fn f(): int { spawn { return 1 }; return 2 }\nmain {}", expect![[""]]);
}

#[test]
fn a_result_that_is_unit() {
    check("fn f() {}\nmain { x = 1; x = f() }", expect![[""]]);
}

#[test]
fn several_mistakes_at_once() {
    check("main {\n    x = 1 + true\n    y = !2\n    lock x\n}", expect![[""]]);
}

#[test]
fn a_tab_before_the_caret() {
    check("main {\n\t\tput elsewhere 1\n}", expect![[""]]);
}

#[test]
fn wide_characters_before_the_caret() {
    check("main {\n    panic \"日本語\"; put elsewhere 1\n}", expect![[""]]);
}

#[test]
fn a_file_with_crlf() {
    check("main {\r\n    chan c: int\r\n    put d 1\r\n}\r\n", expect![[""]]);
}

#[test]
fn a_byte_order_mark() {
    check("\u{feff}main {}", expect![[""]]);
}

#[test]
fn an_empty_file() {
    check("", expect![[""]]);
}

#[test]
fn only_comments() {
    check("// nothing\n// here", expect![[""]]);
}

#[test]
fn only_blanks() {
    check(" \n\n  ", expect![[""]]);
}

#[test]
fn a_very_long_line_is_cut_around_the_caret() {
    let many = "observe 1; ".repeat(5_000);
    check(&format!("main {{ {many}put elsewhere 1; {many} }}"), expect![[""]]);
}

#[test]
fn a_very_long_name_is_cut() {
    check(&format!("main {{ {} = 1 }}", "x".repeat(300)), expect![[""]]);
    check(&format!("main {{ y = {} }}", "x".repeat(150)), expect![[""]]);
}

#[test]
fn bytes_that_are_no_text() {
    let errors = parse_bytes(b"main {\n    observe \xff\n}").expect_err("an error");
    expect![[""]].assert_eq(&errors.render("f.strait", ""));
    assert!(parse_bytes(b"main {}").is_ok());
}

#[test]
fn a_caret_stays_under_its_word_when_the_line_is_cut() {
    for before in [0, 10, 59, 60, 61, 100, 118, 119, 120, 121, 500] {
        for after in [0, 10, 57, 58, 59, 60, 100, 500] {
            let source = format!("main {{ {}put elsewhere 1{} }}", "; ".repeat(before), "; ".repeat(after));
            let errors = parse(&source).expect_err("an error").render("f.strait", &source);
            let lines: Vec<&str> = errors.lines().collect();
            let (shown, carets) = (lines[3].chars(), lines[4].chars());
            let marked: String =
                shown.zip(carets).filter(|(_, caret)| *caret == '^').map(|(shown, _)| shown).collect();
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
