//! Buffers, close, nil and abandon.

use expect_test::expect;

use crate::check;

#[test]
fn a_buffer_is_first_in_first_out() {
    check(
        "main { chan c: int[2]; put c 1; put c 2; x = get c; y = get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: x=1 y=2"#]],
    );
}

#[test]
fn a_full_buffer_makes_puts_wait() {
    check(
        "main { chan c: int[1]; put c 1; put c 2 }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn a_place_that_becomes_free_is_used() {
    check(
        "main { chan c: int[1]; spawn { put c 1; put c 2 }; x = get c; y = get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: x=1 y=2"#]],
    );
}

#[test]
fn an_empty_buffer_makes_gets_wait() {
    check(
        "main { chan c: int[3]; put c 1; get c; get c }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock    main: _=1"#]],
    );
}

#[test]
fn two_writers_of_a_buffer() {
    check(
        "main { chan c: int[2]; spawn { put c 1 }; spawn { put c 2 }; x = get c; y = get c }",
        expect![[r#"
        terminates, exhaustive, 4 executions
        terminates  main: x=1 y=2
        terminates  main: x=2 y=1"#]],
    );
}

#[test]
fn messages_left_in_a_buffer_harm_nobody() {
    check(
        "main { chan c: int[2]; put c 1; put c 2 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn an_unbounded_channel_never_fills() {
    check(
        "main { chan c: int[unbounded]; put c 1; put c 2; put c 3; x = get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: x=1"#]],
    );
}

#[test]
fn an_unbounded_channel_can_be_empty() {
    check(
        "main { chan c: int[unbounded]; x = get c }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn a_closed_channel_is_drained_first() {
    check(
        "main { chan c: int[2]; put c 1; close c; x, ok = get c; y, more = get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: x=1 y=closed"#]],
    );
}

#[test]
fn a_closed_rendezvous_gives_the_zero_integer() {
    check(
        "main { chan c: int; close c; x, ok = get c; observe x; observe ok }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 0 saw false"#]],
    );
}

#[test]
fn the_zero_bool_is_false() {
    check(
        "main { chan c: bool; close c; x, ok = get c; observe x; observe ok }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw false saw false"#]],
    );
}

#[test]
fn the_zero_unit_is_unit() {
    check(
        "main { chan c: unit; close c; x, ok = get c; observe x; observe ok }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw () saw false"#]],
    );
}

#[test]
fn the_zero_channel_is_nil() {
    check(
        "main { chan c: chan int; close c; x, ok = get c; observe x; observe x == nil; observe ok }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw nil saw true saw false"#]],
    );
}

#[test]
fn a_received_zero_is_not_a_closed_channel() {
    check(
        "main { chan c: int[1]; put c 0; x, ok = get c; observe x; observe ok }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 0 saw true"#]],
    );
}

#[test]
fn a_closed_channel_answers_every_time() {
    check(
        "main { chan c: int; close c; get c; get c; get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: _=closed _=closed _=closed"#]],
    );
}

#[test]
fn close_wakes_a_waiting_get() {
    check(
        "main { chan c: int; spawn { x, ok = get c }; close c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main.1: x=closed"#]],
    );
}

#[test]
fn put_on_closed_panics() {
    check(
        "main { chan c: int; close c; put c 1 }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: send on closed channel"#]],
    );
}

#[test]
fn put_on_closed_panics_although_there_is_room() {
    check(
        "main { chan c: int[5]; close c; put c 1 }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: send on closed channel"#]],
    );
}

#[test]
fn close_panics_a_waiting_put() {
    check(
        "main { chan c: int; spawn { put c 1 }; close c }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main.1: send on closed channel"#]],
    );
}

#[test]
fn close_panics_a_put_that_waits_for_room() {
    check(
        "main { chan c: int[1]; put c 0; spawn { put c 1 }; close c }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main.1: send on closed channel"#]],
    );
}

#[test]
fn a_select_that_offers_a_put_on_closed_may_panic() {
    check(
        "main { chan c: int; chan d: int[1]; close c; select { put c 1 {} put d 2 {} } }",
        expect![[r#"
        panic, exhaustive, 2 executions
        panic       main: send on closed channel
        terminates  main: #1"#]],
    );
}

#[test]
fn closing_twice_panics() {
    check(
        "main { chan c: int; close c; close c }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: close of closed channel"#]],
    );
}

#[test]
fn closing_twice_panics_whoever_is_second() {
    check(
        "main { chan c: int; spawn { close c }; close c }",
        expect![[r#"
        panic, exhaustive, 2 executions
        panic       main.1: close of closed channel
        panic       main: close of closed channel"#]],
    );
}

#[test]
fn a_get_races_with_close() {
    check(
        "main { chan c: int[1]; spawn { put c 1; close c }; x, ok = get c; y, more = get c }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: x=1 y=closed"#]],
    );
}

#[test]
fn put_on_nil_waits_for_ever() {
    check(
        "main { put nil 1 }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn get_on_nil_waits_for_ever() {
    check(
        "main { x = get nil }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn close_of_nil_panics() {
    check(
        "main { close nil }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: close of nil channel"#]],
    );
}

#[test]
fn abandon_of_nil_panics() {
    check(
        "main { abandon nil }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: abandon of nil channel"#]],
    );
}

#[test]
fn a_nil_case_is_never_taken() {
    check(
        "main { chan c: int[1]; chan n: int; n = nil; select { put n 1 {} x = get n {} put c 1 {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #2"#]],
    );
}

#[test]
fn a_select_of_nil_cases_waits_for_ever() {
    check(
        "main { select { put nil 1 {} get nil {} } }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn a_nil_case_does_not_rule_the_default_out() {
    check(
        "main { select { get nil {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #default"#]],
    );
}

#[test]
fn nil_equals_nil_alone() {
    check(
        "main { chan c: int; d = c; observe c == nil; observe d == c; d = nil; observe d == nil; observe d != c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw false saw true saw true saw true"#]],
    );
}

#[test]
fn nil_travels() {
    check(
        "main { chan c: chan int[1]; put c nil; d = get c; select { get d {} default { observe d == nil } } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw true"#]],
    );
}

#[test]
fn a_put_on_an_abandoned_channel_is_lost() {
    check(
        "main { chan c: int; abandon c; put c 1; put c 2 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn abandon_frees_a_waiting_put() {
    check(
        "main { chan c: int; spawn { put c 1 }; abandon c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn abandon_frees_a_put_that_waits_for_room() {
    check(
        "main { chan c: int[1]; put c 0; spawn { put c 1; put c 2 }; abandon c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn abandon_loses_the_buffer_and_get_panics() {
    check(
        "main { chan c: int[1]; put c 1; abandon c; x = get c }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: get on abandoned channel"#]],
    );
}

#[test]
fn abandon_panics_a_waiting_get() {
    check(
        "main { chan c: int; spawn { x = get c }; abandon c }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main.1: get on abandoned channel"#]],
    );
}

#[test]
fn abandoning_twice_panics() {
    check(
        "main { chan c: int; abandon c; abandon c }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: abandon of abandoned channel"#]],
    );
}

#[test]
fn an_abandoned_channel_may_be_closed() {
    check(
        "main { chan c: int; abandon c; close c; put c 1 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn a_closed_channel_may_be_abandoned() {
    check(
        "main { chan c: int[1]; put c 1; close c; abandon c; put c 2 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn a_put_to_an_abandoned_channel_rules_the_default_out() {
    check(
        "main { chan c: int; abandon c; select { put c 1 {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #0"#]],
    );
}
