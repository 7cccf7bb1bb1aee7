//! The fragment of Stiévenart and Madsen, OOPSLA 2020: one row per program, with its effect or with what is outside.

use expect_test::{Expect, expect};
use strait_calculus::{lambda_chan, parse};

fn check(source: &str, expected: Expect) {
    let program = parse(source).expect("the program of a test parses");
    let answer = match lambda_chan::check(&program) {
        Ok(typing) => typing.effect.to_string(),
        Err(violations) => violations
            .iter()
            .map(|violation| {
                let (line, column) = violation.span.line_column(source);
                format!("{line}:{column}: {violation}")
            })
            .collect::<Vec<_>>()
            .join("\n"),
    };
    expected.assert_eq(&answer);
}

#[test]
fn the_first_program_of_the_paper() {
    check(
        "main { chan c: unit; spawn { put c () }; get c }",
        expect!["CHAN(c1); SPAWN(PUT(c1)); GET(c1)"],
    );
}

#[test]
fn doing_nothing_has_the_empty_effect() {
    check("main { }", expect!["ε"]);
    check("main { x = true; y = (); if x { } }", expect!["ε + ε"]);
}

#[test]
fn both_branches_of_an_if_count() {
    check(
        "main { chan c: bool; spawn { if 1 == 1 { put c true } else { put c !false } }; x = get c; if x && true { get c } }",
        expect!["CHAN(c1); SPAWN(PUT(c1) + PUT(c1)); GET(c1); (GET(c1) + ε)"],
    );
    check(
        "main { chan c: unit; choose { get c } or { put c () } or { } }",
        expect!["CHAN(c1); (GET(c1) + PUT(c1) + ε)"],
    );
}

#[test]
fn cases_of_a_select() {
    check(
        "main { chan c: unit; chan d: bool
            select { x = get d { if x { get c } } put c () { spawn { get d } } } }",
        expect!["CHAN(c1); CHAN(c2); (SELGET(c2, GET(c1) + ε) ⊕ SELPUT(c1, SPAWN(GET(c2))))"],
    );
}

#[test]
fn a_channel_that_arrives_over_a_channel_has_its_name() {
    check(
        "main { chan c: unit; chan d: chan unit
            spawn { x = get d; put x () }
            put d c
            get c }",
        expect!["CHAN(c1); CHAN(c2); SPAWN(GET(c2); PUT(c1)); PUT(c2); GET(c1)"],
    );
    // The get comes before the put that settles the name.
    check(
        "main { chan e: chan chan unit; chan d: chan unit; chan c: unit
            spawn { x = get e; y = get x; get y }
            put e d; put d c; put c () }",
        expect![
            "CHAN(c1); CHAN(c2); CHAN(c3); SPAWN(GET(c1); GET(c2); GET(c3)); PUT(c1); PUT(c2); PUT(c3)"
        ],
    );
}

#[test]
fn a_channel_that_never_arrives_gets_a_name_of_its_own() {
    check("main { chan d: chan unit; x = get d; get x }", expect!["CHAN(c1); GET(c1); GET(c2)"]);
}

#[test]
fn one_channel_type_names_one_channel() {
    check(
        "main { chan a: unit; chan b: unit; chan d: chan unit
            spawn { put d a }
            put d b }",
        expect![[
            r#"3:13: `b` is sent where `a` is sent as well: the type channel(t, c) of λ_chan names one channel"#
        ]],
    );
    // Through a channel in between.
    check(
        "main { chan a: unit; chan b: unit; chan d: chan unit; chan e: chan unit
            put d a
            x = get d
            put e x
            put e b }",
        expect![[
            r#"5:13: `b` is sent where `a` is sent as well: the type channel(t, c) of λ_chan names one channel"#
        ]],
    );
}

#[test]
fn everything_outside_is_reported_at_its_place() {
    check(
        "fn f() { }
main {
    chan c: unit[2]
    chan n: int
    mutex m
    waitgroup w
    x = 3
    close c
    abandon c
    f()
    while true { close c }
    y, ok = get c
    select { timeout { } }
    select { get c { } default { } }
    put nil ()
    y = ()
    lock m
    observe ()
    if c == c { }
    panic \"no\"
}",
        expect![[r#"
            1:1: function `f`: λ_chan has no functions, only main
            3:5: `c` has a buffer: channels of λ_chan are rendezvous
            4:5: a channel of integers: the values of λ_chan are unit, booleans and channels
            5:5: a lock: processes of λ_chan meet on channels only
            6:5: a wait group: processes of λ_chan meet on channels only
            7:9: an integer: the values of λ_chan are unit, booleans and channels
            8:5: `close`: channels of λ_chan stay open
            9:5: `abandon`: channels of λ_chan keep both their ends
            10:5: a call: λ_chan has no functions
            11:5: a loop: λ_chan repeats nothing, so that every channel has a static name
            11:18: `close`: channels of λ_chan stay open
            12:5: a get that asks whether the channel is closed: λ_chan has no close
            13:14: a timeout: every case of λ_chan waits for a channel
            14:5: a select with a default: every case of λ_chan waits for a channel
            15:9: `nil`: every channel of λ_chan is made by the program
            16:5: `y` gets a second value: λ_chan has `let`, not assignment
            17:5: a lock: processes of λ_chan meet on channels only
            18:5: `observe`: λ_chan only communicates
            19:8: channels are compared: λ_chan can only use them
            20:5: `panic`: programs of λ_chan do not fail"#]],
    );
}
