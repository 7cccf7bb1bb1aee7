//! The engine, a table of small rule files: every solution of each, in the order of the rules.

use expect_test::{Expect, expect};
use strait_clp::{Searcher, Source, Wish, compile};

/// All solutions up to 50, each on its line.
fn check(rules: &str, expected: Expect) {
    let text = match compile(&[Source::new("test.rules", rules)]) {
        Err(error) => error.to_string(),
        Ok(program) => {
            let mut searcher = Searcher::new(&program, Wish::default());
            let mut lines = Vec::new();
            let complete = searcher.enumerate(0, 100_000, &mut |sample| {
                lines.push(program.term_text(&sample.tree));
                lines.len() < 50
            });
            lines.push(if complete { "complete".to_owned() } else { "cut".to_owned() });
            lines.join("\n")
        }
    };
    expected.assert_eq(&text);
}

#[test]
fn clauses_are_tried_in_their_order() {
    check(
        "start p(X, Y) shows pair(X, Y).
         p(X, Y) :- q(X), q(Y), X \\= Y.
         q(a). q(b). q(c).",
        expect![[r#"
            pair(a,b)
            pair(a,c)
            pair(b,a)
            pair(b,c)
            pair(c,a)
            pair(c,b)
            complete"#]],
    );
}

#[test]
fn a_variable_does_not_occur_in_what_it_is() {
    check("start p(X) shows X. p(X) :- X = f(X).", expect!["complete"]);
    check(
        "start p(X) shows X. p(X) :- eq(X, f(Y)), eq(Y, g(Z)), eq(Z, a). eq(A, A).",
        expect![[r#"
            f(g(a))
            complete"#]],
    );
    check("start p(X) shows X. p(X) :- eq(X, f(Y)), eq(Y, X). eq(A, A).", expect!["complete"]);
}

#[test]
fn what_differs_may_be_unknown_at_first() {
    check(
        "start p(X, Y) shows pair(X, Y).
         p(X, Y) :- f(X, b) \\= f(a, Y), q(X), q(Y).
         q(a). q(b).",
        expect![[r#"
            pair(a,a)
            pair(b,a)
            pair(b,b)
            complete"#]],
    );
    check("start p(X, Y) shows pair(X, Y). p(X, Y) :- X \\= Y, X = Y.", expect!["complete"]);
}

#[test]
fn integers_have_bounds() {
    check(
        "start p(X, Y) shows pair(X, Y).
         p(X, Y) :- X in 1..4, Y in 1..4, 5 #= X + Y, X #< Y, label(X), label(Y).",
        expect![[r#"
            pair(1,4)
            pair(2,3)
            complete"#]],
    );
    check(
        "start p(X) shows X. p(X) :- X in 0..9, X #>= 3, X #=< 4, X #\\= 3, label(X).",
        expect![[r#"
            4
            complete"#]],
    );
    check("start p(X) shows X. p(X) :- X in 3..2, label(X).", expect!["complete"]);
    check(
        "start p(X) shows X. p(X) :- X in 0..5, Y #= X - 2, Y in 2..9, label(X).",
        expect![[r#"
            4
            5
            complete"#]],
    );
}

#[test]
fn goals_wait_for_their_variable() {
    check(
        "start p(X, Y) shows pair(X, Y).
         p(X, Y) :- delay(X, from(X, Y)), q(X).
         from(a, one). from(b, two).
         q(c). q(b). q(a).",
        expect![[r#"
            pair(b,two)
            pair(a,one)
            complete"#]],
    );
}

#[test]
fn negation_constructs() {
    // Of all that q can be, none is left; what X can be is only limited by what it must not be.
    check(
        "start p(X) shows X. p(X) :- negate(q(X)), r(X). q(a). q(f(_)). r(a). r(b). r(f(b)). r(g(a)).",
        expect![[r#"
            b
            g(a)
            complete"#]],
    );
    check("start p(X) shows X. p(X) :- \\+ q(X). q(a).", expect!["complete"]);
}

#[test]
fn parameters_are_replaced() {
    check(
        "start p(X, R) shows pair(X, R).
         p(X, R) :- replace(pair(param(0), list(param(1))), param, [X, Y], R), R = pair(i32, list(Y)), Y = bool.",
        expect![[r#"
            pair(i32,pair(i32,list(bool)))
            complete"#]],
    );
}

#[test]
fn elements_come_in_their_order() {
    check(
        "start p(X) shows X. p(X) :- member(f(X), [f(a), b, f(c), Y, f(d)]), Y = f(e).",
        expect![[r#"
            a
            c
            e
            d
            complete"#]],
    );
    check("start p(X) shows X. p(X) :- member(X, []).", expect!["complete"]);
}

#[test]
fn a_name_stays_absent() {
    // Names and terms may become known in any order.
    check(
        "start p(A, T) shows pair(A, T).
         p(A, T) :- absent(A, T), q(T), r(A).
         q(a). q(f(b)). q(f(g(c, X))) :- r(X).
         r(a). r(b).",
        expect![[r#"
            pair(b,a)
            pair(a,f(b))
            pair(b,f(g(c,a)))
            pair(a,f(g(c,b)))
            complete"#]],
    );
    check("start p(A) shows A. p(A) :- absent(A, f(B)), A = B.", expect!["complete"]);
    check(
        "start p(T) shows T. p(T) :- absent(1, T), T = f(X, Y), X = Y, member(Y, [1, 2]).",
        expect![[r#"
            f(2,2)
            complete"#]],
    );
}

#[test]
fn what_is_unfolded_means_the_same() {
    // A list instead of the variable that it is passed to; a variable of the head; one that is used
    // twice; one that is nobody's; arguments that do not fit; the same argument twice.
    check(
        "start p(X, Y) shows pair(X, Y).
         p(X, Y) :- q(X), add(X, [], L), member(Y, L).
         p(X, L) :- q(X), add(X, [b], L).
         p(X, Y) :- q(X), add(X, [c], L), member(Y, L), Y \\= X, member(c, L).
         p(X, left) :- add(X, _, L), first(L, a).
         p(X, no) :- q(X), first([b|_], X).
         p(X, same) :- both(X, X).
         p(X, wrapped) :- both(f(X), f(c)).
         q(a). q(b).
         add(X, L, [X|L]).
         first([X|_], X).
         both(X, Y) :- X = Y.",
        expect![[r#"
            pair(a,a)
            pair(b,b)
            pair(a,[a,b])
            pair(b,[b,b])
            pair(a,c)
            pair(b,c)
            pair(a,left)
            pair(b,no)
            pair(_0,same)
            pair(c,wrapped)
            complete"#]],
    );
}

#[test]
fn parts_are_substituted() {
    check(
        "start p(R) shows R. p(R) :- substitute(v(1), v(X), f(v(1), g(v(2), v(1)), 1), R), X = 7.",
        expect![[r#"
            f(v(7),g(v(2),v(7)),1)
            complete"#]],
    );
}

#[test]
fn what_is_wrong_is_shown() {
    check(
        "start p(X) shows X.\np(X) :- q(X.\n",
        expect![[r#"
            error: expected `,` or `)`, found `.`
              --> test.rules:2:12
               |
             2 | p(X) :- q(X.
               |            ^
               = hint: the arguments of `q` begin with `(`
        "#]],
    );
    check(
        "start p(X) shows X.\np(X) :- chosen(X, [a]).\nchosn(X, [X|_]).\n",
        expect![[r#"
            error: no rule has the head `chosen/2`
              --> test.rules:2:9
               |
             2 | p(X) :- chosen(X, [a]).
               |         ^^^^^^^^^^^^^^
               = hint: did you mean `chosn`?
        "#]],
    );
    check(
        "start p(X) shows X.\np(X) :- q(X), q(Y).\nq(a).\n",
        expect![[r#"
            error: `Y` occurs only once
              --> test.rules:2:17
               |
             2 | p(X) :- q(X), q(Y).
               |                 ^
               = hint: write `_Y` if that is meant
        "#]],
    );
    check(
        "p(a).\n",
        expect![[r#"
            error: nothing says where to start
              --> test.rules:1:1
               |
             1 | p(a).
               | ^
               = hint: add `start GOAL shows TERM.`
        "#]],
    );
    check(
        "start p shows x.\np :- \"text\".\n",
        expect![[r#"
            error: expected a term, found a text
              --> test.rules:2:6
               |
             2 | p :- "text".
               |      ^^^^^^
               = hint: a term is a Variable, a number, a name, name(arguments) or [a list]
        "#]],
    );
}

#[test]
fn any_text_is_read_without_panic() {
    let pieces = [
        "p",
        "(",
        ")",
        "X",
        ":-",
        ",",
        ".",
        " ",
        "\"",
        "[",
        "|",
        "]",
        "@",
        "otherwise",
        "1",
        "\\+",
        "é",
        "rule ",
        "syntax ",
        "=",
    ];
    let mut state = 1_u64;
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..30 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        // Whether it is a rule file does not matter here.
        let _ = compile(&[Source::new("test.rules", text)]);
    }
    let deep = format!("start p({}) shows x.", "f(".repeat(10_000));
    assert!(compile(&[Source::new("deep.rules", deep)]).is_err());
}

#[test]
fn seed_and_index_decide_everything() {
    let rules = "start p(X) shows X. sized p/1. p(a). p(b). p(f(X, Y)) :- p(X), p(Y).";
    let program = compile(&[Source::new("test.rules", rules)]).expect("good rules");
    let draw = |first: u64| {
        let wish = Wish { size: Some(9), ..Wish::default() };
        let mut searcher = Searcher::new(&program, wish);
        // What was searched before makes no difference.
        let _ = searcher.sample(5, first);
        searcher.sample(1, 3).map(|sample| program.term_text(&sample.tree))
    };
    assert_eq!(draw(1), draw(2));
    assert!(draw(1).is_some());
}
