//! Rendezvous and select.

use expect_test::expect;

use crate::check;

#[test]
fn a_rendezvous_hands_the_message_over() {
    check(
        "main { chan c: int; spawn { put c 7 }; x = get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: x=7"#]],
    );
}

#[test]
fn a_put_without_a_receiver_waits() {
    check(
        "main { chan c: int; put c 7 }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn a_get_without_a_sender_waits() {
    check(
        "main { chan c: int; x = get c }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn nobody_meets_himself() {
    check(
        "main { chan c: int; select { put c 1 {} x = get c {} } }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn either_sender_may_come_first() {
    check(
        "main { chan c: int; spawn { put c 1 }; spawn { put c 2 }; x = get c; y = get c }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: x=1 y=2
        terminates  main: x=2 y=1"#]],
    );
}

#[test]
fn either_receiver_may_be_served() {
    check(
        "main { chan c: int; spawn { x = get c }; spawn { x = get c }; put c 1 }",
        expect![[r#"
        leak, exhaustive, 2 executions
        leak        main.1: x=1
        leak        main.2: x=1"#]],
    );
}

#[test]
fn a_message_evaluates_before_it_is_sent() {
    check(
        "main { chan c: int; x = 2; spawn { put c x * 3 - 1 }; y = get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: y=5"#]],
    );
}

#[test]
fn a_spawned_block_keeps_its_copies() {
    check(
        "main { chan c: int; x = 1; spawn { put c x }; x = 2; y = get c; observe x + 10 * y }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 12"#]],
    );
}

#[test]
fn a_message_may_be_thrown_away() {
    check(
        "main { chan c: int; spawn { put c 1; put c 2; put c 3 }; get c; _, ok = get c; x, _ = get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: _=1 _=2 x=3"#]],
    );
}

#[test]
fn independent_pairs_have_one_execution() {
    check(
        "main { chan a: int; chan b: int; spawn { put a 1 }; spawn { x = get a }; spawn { put b 2 }; spawn { y = get b } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main.2: x=1 | main.4: y=2"#]],
    );
}

#[test]
fn select_takes_the_only_ready_put() {
    check(
        "main { chan a: int; chan b: int; spawn { x = get b }; select { put a 1 {} put b 2 {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #1 | main.1: x=2"#]],
    );
}

#[test]
fn select_takes_either_get() {
    check(
        "main { chan a: int; chan b: int; spawn { put a 1 }; spawn { put b 2 }; select { x = get a {} y = get b {} } }",
        expect![[r#"
        leak, exhaustive, 2 executions
        leak        main: #0 x=1
        leak        main: #1 y=2"#]],
    );
}

#[test]
fn select_takes_either_put() {
    check(
        "main { chan a: int; chan b: int; spawn { x = get a }; spawn { y = get b }; select { put a 1 {} put b 2 {} } }",
        expect![[r#"
        leak, exhaustive, 2 executions
        leak        main: #0 | main.1: x=1
        leak        main: #1 | main.2: y=2"#]],
    );
}

#[test]
fn select_takes_put_or_get() {
    check(
        "main { chan a: int; chan b: int; spawn { x = get a }; spawn { put b 2 }; select { put a 1 {} y = get b {} } }",
        expect![[r#"
        leak, exhaustive, 2 executions
        leak        main: #0 | main.1: x=1
        leak        main: #1 y=2"#]],
    );
}

#[test]
fn two_selects_meet_in_every_fitting_pair() {
    check(
        "main { chan a: int; chan b: int; spawn { select { put a 1 {} x = get b {} } }; select { y = get a {} put b 2 {} } }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: #0 y=1 | main.1: #0
        terminates  main: #1 | main.1: #1 x=2"#]],
    );
}

#[test]
fn two_selects_that_only_send_never_meet() {
    check(
        "main { chan a: int; spawn { select { put a 1 {} } }; select { put a 2 {} } }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn one_channel_twice_in_a_select() {
    check(
        "main { chan a: int; spawn { put a 1 }; select { x = get a {} y = get a {} } }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: #0 x=1
        terminates  main: #1 y=1"#]],
    );
}

#[test]
fn a_select_of_one_case_still_tells_it() {
    check(
        "main { chan a: int; spawn { put a 1 }; select { x = get a {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #0 x=1"#]],
    );
}

#[test]
fn the_body_of_the_case_runs() {
    check(
        "main { chan a: int; spawn { put a 4 }; select { x = get a { observe x } timeout { observe 0 } } }",
        expect![[r#"
        leak, exhaustive, 2 executions
        leak        main: saw 0
        terminates  main: saw 4"#]],
    );
}

#[test]
fn a_select_without_cases_waits_for_ever() {
    check(
        "main { select {} }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn select_mixes_buffered_and_rendezvous() {
    check(
        "main { chan a: int[1]; chan b: int; spawn { put b 2 }; select { put a 1 {} x = get b {} } }",
        expect![[r#"
        leak, exhaustive, 2 executions
        leak        main: #0
        terminates  main: #1 x=2"#]],
    );
}
