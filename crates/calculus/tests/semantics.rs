//! The rules of the language, one by one: a program, its verdict, how many executions it has up to
//! equivalence, and its outcomes. Each row is agreed on by every engine (see `common/cross.rs`).

#[path = "common/cross.rs"]
mod cross;

use expect_test::{Expect, expect};

fn check(source: &str, expected: Expect) {
    expected.assert_eq(&cross::agreed(source));
}

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

#[test]
fn a_full_buffer_leaves_the_default() {
    check(
        "main { chan c: int[1]; put c 1; select { put c 2 {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #default"#]],
    );
}

#[test]
fn room_in_a_buffer_rules_the_default_out() {
    check(
        "main { chan c: int[1]; select { put c 2 {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #0"#]],
    );
}

#[test]
fn a_message_in_a_buffer_rules_the_default_out() {
    check(
        "main { chan c: int[1]; put c 1; select { x = get c {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #0 x=1"#]],
    );
}

#[test]
fn an_empty_buffer_leaves_the_default() {
    check(
        "main { chan c: int[1]; select { x = get c {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #default"#]],
    );
}

#[test]
fn a_rendezvous_never_rules_the_default_out() {
    check(
        "main { chan c: int; spawn { put c 1 }; select { x = get c {} default {} } }",
        expect![[r#"
        leak, exhaustive, 2 executions
        leak        main: #default
        terminates  main: #0 x=1"#]],
    );
}

#[test]
fn a_closed_channel_rules_the_default_out() {
    check(
        "main { chan c: int; close c; select { x = get c {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #0 x=closed"#]],
    );
}

#[test]
fn a_put_on_closed_rules_the_default_out() {
    check(
        "main { chan c: int; close c; select { put c 1 {} default {} } }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: send on closed channel"#]],
    );
}

#[test]
fn a_default_alone_is_taken() {
    check(
        "main { select { default { observe 1 } } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 1"#]],
    );
}

#[test]
fn a_poll_races_with_a_put() {
    check(
        "main { chan c: int[1]; spawn { put c 1 }; select { x = get c {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: #0 x=1
        terminates  main: #default"#]],
    );
}

#[test]
fn a_timeout_may_always_come() {
    check(
        "main { chan c: int[1]; put c 1; select { x = get c {} timeout {} } }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: #0 x=1
        terminates  main: #timeout"#]],
    );
}

#[test]
fn a_timeout_and_a_default() {
    check(
        "main { chan c: int[1]; select { x = get c {} timeout {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: #default
        terminates  main: #timeout"#]],
    );
}

#[test]
fn a_timeout_saves_from_waiting() {
    check(
        "main { chan c: int; select { x = get c {} timeout {} } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: #timeout"#]],
    );
}

#[test]
fn choose_takes_any_branch() {
    check(
        "main { choose { observe 1 } or { observe 2 } or { observe 3 } }",
        expect![[r#"
        terminates, exhaustive, 3 executions
        terminates  main: saw 1
        terminates  main: saw 2
        terminates  main: saw 3"#]],
    );
}

#[test]
fn choose_does_not_look_ahead() {
    check(
        "main { chan c: int; choose { get c } or {} }",
        expect![[r#"
        deadlock, exhaustive, 2 executions
        deadlock
        terminates"#]],
    );
}

#[test]
fn a_mutex_excludes() {
    check(
        "main { mutex m; chan c: int[2]; spawn { lock m; put c 1; put c 2; unlock m }; lock m; put c 3; unlock m }",
        expect![[r#"
        deadlock, exhaustive, 2 executions
        deadlock
        leak"#]],
    );
}

#[test]
fn locking_twice_waits() {
    check(
        "main { mutex m; lock m; lock m }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn another_process_may_unlock() {
    check(
        "main { mutex m; lock m; spawn { unlock m }; lock m }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn unlocking_an_unlocked_mutex_panics() {
    check(
        "main { mutex m; unlock m }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: unlock of unlocked mutex"#]],
    );
}

#[test]
fn unlocking_twice_panics() {
    check(
        "main { mutex m; lock m; unlock m; unlock m }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: unlock of unlocked mutex"#]],
    );
}

#[test]
fn locks_in_opposite_orders() {
    check(
        "main { mutex a; mutex b; spawn { lock a; lock b; unlock b; unlock a }; lock b; lock a; unlock a; unlock b }",
        expect![[r#"
        deadlock, exhaustive, 3 executions
        deadlock
        terminates"#]],
    );
}

#[test]
fn readers_share() {
    check(
        "main { rwmutex m; rlock m; rlock m; runlock m; runlock m }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn a_writer_waits_for_readers() {
    check(
        "main { rwmutex m; rlock m; lock m }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn a_reader_waits_for_the_writer() {
    check(
        "main { rwmutex m; lock m; rlock m }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn two_writers_exclude() {
    check(
        "main { rwmutex m; chan c: int[2]; spawn { lock m; put c 1; put c 2; unlock m }; lock m; select { x = get c {} default {} }; unlock m }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: #0 x=1
        terminates  main: #default"#]],
    );
}

#[test]
fn an_announced_writer_keeps_readers_out() {
    check(
        "main { rwmutex m; rlock m; spawn { lock m; unlock m }; rlock m; runlock m; runlock m }",
        expect![[r#"
        deadlock, exhaustive, 4 executions
        deadlock
        terminates"#]],
    );
}

#[test]
fn readers_come_in_after_the_writer() {
    check(
        "main { rwmutex m; spawn { lock m; unlock m }; rlock m; runlock m }",
        expect![[r#"
        terminates, exhaustive, 3 executions
        terminates"#]],
    );
}

#[test]
fn unlock_of_an_rwmutex_that_is_only_read_panics() {
    check(
        "main { rwmutex m; rlock m; unlock m }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: unlock of unlocked rwmutex"#]],
    );
}

#[test]
fn runlock_of_an_rwmutex_that_is_written_panics() {
    check(
        "main { rwmutex m; lock m; runlock m }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: runlock of unlocked rwmutex"#]],
    );
}

#[test]
fn runlock_of_an_unlocked_rwmutex_panics() {
    check(
        "main { rwmutex m; runlock m }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: runlock of unlocked rwmutex"#]],
    );
}

#[test]
fn unlock_of_an_unlocked_rwmutex_panics() {
    check(
        "main { rwmutex m; unlock m }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: unlock of unlocked rwmutex"#]],
    );
}

#[test]
fn wait_at_zero_goes_on() {
    check(
        "main { waitgroup w; wait w }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn wait_waits_for_everyone() {
    check(
        "main { waitgroup w; add w 2; chan c: int[2]; spawn { put c 1; done w }; spawn { put c 2; done w }; wait w; x = get c; y = get c }",
        expect![[r#"
        terminates, exhaustive, 4 executions
        terminates  main: x=1 y=2
        terminates  main: x=2 y=1"#]],
    );
}

#[test]
fn a_missing_done_blocks_the_waiter() {
    check(
        "main { waitgroup w; add w 2; spawn { done w }; wait w }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn add_takes_any_integer() {
    check(
        "main { waitgroup w; add w 3; add w -2; done w; wait w }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn below_zero_panics() {
    check(
        "main { waitgroup w; done w }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: negative waitgroup counter"#]],
    );
}

#[test]
fn add_below_zero_panics() {
    check(
        "main { waitgroup w; add w 1; add w -2 }",
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main: negative waitgroup counter"#]],
    );
}

#[test]
fn add_beside_wait_races() {
    check(
        "main { waitgroup w; chan c: int[1]; spawn { add w 1; put c 1; done w }; wait w; select { x = get c {} default {} } }",
        expect![[r#"
        terminates, exhaustive, 3 executions
        terminates  main: #0 x=1
        terminates  main: #default"#]],
    );
}

#[test]
fn a_counter_does_not_overflow() {
    check(
        "main { waitgroup w; add w 9223372036854775807; add w 1; add w -9223372036854775807; wait w }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn a_wait_group_may_be_used_again() {
    check(
        "main { waitgroup w; add w 1; done w; wait w; add w 1; spawn { done w }; wait w }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates"#]],
    );
}

#[test]
fn a_panic_in_one_schedule() {
    check(
        r#"main { chan c: int; spawn { put c 1 }; spawn { put c 2 }; x = get c; if x == 2 { panic "two came first" }; y = get c }"#,
        expect![[r#"
        panic, exhaustive, 2 executions
        panic       main: two came first
        terminates  main: x=1 y=2"#]],
    );
}

#[test]
fn two_processes_may_panic() {
    check(
        r#"main { spawn { panic "a" }; panic "b" }"#,
        expect![[r#"
        panic, exhaustive, 1 executions
        panic       main.1: a
        panic       main: b"#]],
    );
}

#[test]
fn a_panic_beats_a_deadlock() {
    check(
        r#"main { chan c: int; spawn { choose {} or { panic "now" } }; get c }"#,
        expect![[r#"
        panic, exhaustive, 2 executions
        deadlock
        panic       main.1: now"#]],
    );
}

#[test]
fn a_panic_beside_an_endless_process() {
    check(
        r#"main { mutex m; spawn { while true { lock m; unlock m } }; choose {} or { panic "still found" } }"#,
        expect![[r#"
        panic, exhaustive
        panic       main: still found"#]],
    );
}

#[test]
fn main_leaves_a_process_behind() {
    check(
        "main { chan c: int; spawn { put c 1 } }",
        expect![[r#"
        leak, exhaustive, 1 executions
        leak"#]],
    );
}

#[test]
fn a_blocked_main_is_a_deadlock_although_others_finish() {
    check(
        "main { chan c: int; spawn {}; get c }",
        expect![[r#"
        deadlock, exhaustive, 1 executions
        deadlock"#]],
    );
}

#[test]
fn a_process_blocked_beside_an_endless_one_leaks() {
    check(
        "main { mutex m; chan c: int; spawn { get c }; while true { lock m; unlock m } }",
        expect!["leak, exhaustive"],
    );
}

#[test]
fn the_names_of_processes_are_their_own() {
    check(
        r#"main { chan c: int; choose { spawn a { x = get c } } or { spawn b { x = get c } }
put c 1 }"#,
        expect![[r#"
    terminates, exhaustive, 2 executions
    terminates  a: x=1
    terminates  b: x=1"#]],
    );
}

#[test]
fn children_are_numbered_by_their_parents() {
    check(
        "main { chan c: int; spawn { spawn { put c 1 }; spawn { x = get c } } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main.1.2: x=1"#]],
    );
}

#[test]
fn while_break_and_continue() {
    check(
        "main { i = 0; while true { i = i + 1; if i == 2 { continue }; if i == 4 { break }; observe i } }",
        expect![[r#"
        terminates, exhaustive
        terminates  main: saw 1 saw 3"#]],
    );
}

#[test]
fn a_while_may_not_run_at_all() {
    check(
        "main { while false { observe 1 }; observe 2 }",
        expect![[r#"
        terminates, exhaustive
        terminates  main: saw 2"#]],
    );
}

#[test]
fn else_if_takes_the_first_that_holds() {
    check(
        "main { x = 2; if x == 1 { observe 1 } else if x == 2 { observe 2 } else if x < 3 { observe 3 } else { observe 4 } }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 2"#]],
    );
}

#[test]
fn return_ends_a_process() {
    check(
        "main { chan c: int; spawn { put c 1; return; put c 2 }; x = get c; return; get c }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: x=1"#]],
    );
}

#[test]
fn integers_wrap() {
    check(
        "main { observe 9223372036854775807 + 1; observe -9223372036854775808 - 1; observe 4611686018427387904 * 2 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw -9223372036854775808 saw 9223372036854775807 saw -9223372036854775808"#]],
    );
}

#[test]
fn operators_bind_as_usual() {
    check(
        "main { observe 1 + 2 * 3 - 4; observe (1 + 2) * 3; observe 10 - 3 - 2; observe !(1 < 2) || 2 <= 2 && 3 != 4; observe -(5) * -1 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 3 saw 9 saw 5 saw true saw 5"#]],
    );
}

#[test]
fn units_are_equal() {
    check(
        "main { observe () == (); observe true == false; observe 1 != 2 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw true saw false saw true"#]],
    );
}

#[test]
fn a_call_gives_its_result() {
    check(
        r#"fn double(x: int): int { return x * 2 }
main { y = double(21); observe y }"#,
        expect![[r#"
    terminates, exhaustive, 1 executions
    terminates  main: saw 42"#]],
    );
}

#[test]
fn a_call_has_its_own_variables() {
    check(
        r#"fn f(x: int): int { y = x + 1; x = 0; return y }
main { x = 5; y = f(x); observe x; observe y }"#,
        expect![[r#"
    terminates, exhaustive, 1 executions
    terminates  main: saw 5 saw 6"#]],
    );
}

#[test]
fn a_result_may_be_thrown_away() {
    check(
        r#"fn f(c: chan int): int { put c 1; return 2 }
main { chan c: int[1]; f(c); x = get c }"#,
        expect![[r#"
    terminates, exhaustive, 1 executions
    terminates  main: x=1"#]],
    );
}

#[test]
fn functions_may_wait_inside() {
    check(
        r#"fn ask(c: chan int): int { x = get c; return x + 1 }
main { chan c: int; spawn { put c 1; put c 5 }; a = ask(c); b = ask(c); observe a; observe b }"#,
        expect![[r#"
    terminates, exhaustive, 1 executions
    terminates  main: saw 2 saw 6"#]],
    );
}

#[test]
fn spawn_of_a_call() {
    check(
        r#"fn f(c: chan int, x: int) { put c x }
main { chan c: int; spawn f(c, 3); x = get c }"#,
        expect![[r#"
    terminates, exhaustive, 1 executions
    terminates  main: x=3"#]],
    );
}

#[test]
fn recursion_with_a_result() {
    check(
        r#"fn sum(n: int): int { if n == 0 { return 0 }; s = sum(n - 1); return s + n }
main { s = sum(100); observe s }"#,
        expect![[r#"
    terminates, exhaustive
    terminates  main: saw 5050"#]],
    );
}

#[test]
fn tail_recursion_stays_finite() {
    check(
        r#"fn serve(c: chan int) { x, ok = get c; if ok { observe x; serve(c) } }
main { chan c: int; spawn serve(c); put c 1; put c 2; close c }"#,
        expect![[r#"
    terminates, exhaustive
    terminates  main.1: saw 1 saw 2"#]],
    );
}

#[test]
fn endless_tail_recursion_diverges() {
    check(
        r#"fn serve(c: chan int) { put c 1; serve(c) }
fn drain(c: chan int) { get c; drain(c) }
main { chan c: int; spawn serve(c); drain(c); observe 1 }"#,
        expect!["diverges, exhaustive"],
    );
}

#[test]
fn mutual_recursion() {
    check(
        r#"fn even(n: int): bool { if n == 0 { return true }; b = odd(n - 1); return b }
fn odd(n: int): bool { if n == 0 { return false }; b = even(n - 1); return b }
main { b = even(10); observe b }"#,
        expect![[r#"
    terminates, exhaustive
    terminates  main: saw true"#]],
    );
}

#[test]
fn too_deep_recursion_is_bounded() {
    check(
        r#"fn f(n: int): int { x = f(n + 1); return x + 1 }
main { x = f(0); observe x }"#,
        expect![[r#"
    diverges, bounded (too many calls inside each other in main)
    diverges"#]],
    );
}

#[test]
fn channels_travel_over_channels() {
    check(
        "main { chan c: chan int; spawn { d = get c; put d 5 }; chan reply: int; put c reply; x = get reply }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: x=5 | main.1: d=chan"#]],
    );
}

#[test]
fn a_channel_keeps_its_identity() {
    check(
        "main { chan c: chan int[1]; chan d: int; put c d; e = get c; observe e == d }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw true"#]],
    );
}

#[test]
fn locks_travel_over_channels() {
    check(
        "main { chan c: mutex[1]; mutex m; lock m; put c m; spawn { n = get c; unlock n }; lock m }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main.1: n=chan"#]],
    );
}

#[test]
fn a_spin_loop_that_fairness_ends() {
    check(
        "main { chan c: int[1]; spawn { put c 1 }; found = false; while !found { select { get c { found = true } default {} } }; observe 1 }",
        expect![[r#"
        terminates, exhaustive
        terminates  main: saw 1"#]],
    );
}

#[test]
fn a_spin_loop_that_nothing_ends() {
    check(
        "main { chan c: int[1]; found = false; while !found { select { get c { found = true } default {} } }; observe 1 }",
        expect!["diverges, exhaustive"],
    );
}

#[test]
fn an_endless_local_loop_diverges() {
    check(
        "main { while true {} }",
        expect![[r#"
        diverges, exhaustive
        diverges"#]],
    );
}

#[test]
fn an_endless_local_loop_does_not_stop_others() {
    check(
        "main { chan c: int; spawn { while true {} }; spawn { put c 1 }; x = get c }",
        expect![[r#"
        diverges, exhaustive
        diverges    main: x=1"#]],
    );
}

#[test]
fn an_unfair_choice_may_go_on_for_ever() {
    check(
        "main { more = true; while more { choose { more = false } or {} } }",
        expect![[r#"
        diverges, exhaustive
        terminates"#]],
    );
}

#[test]
fn a_counting_local_loop_is_bounded() {
    check(
        "main { n = 0; while true { n = n + 1 } }",
        expect![[r#"
        diverges, bounded (too many instructions without any visible operation in main)
        diverges"#]],
    );
}

#[test]
fn a_long_local_loop_ends() {
    check(
        "main { n = 0; while n < 1000 { n = n + 1 }; observe n }",
        expect![[r#"
        terminates, exhaustive
        terminates  main: saw 1000"#]],
    );
}

#[test]
fn spawning_without_end_is_bounded() {
    check(
        "main { while true { spawn {} } }",
        expect![[r#"
        diverges, bounded (too many processes spawned at once in main)
        diverges"#]],
    );
}

#[test]
fn children_that_spawn_children_are_bounded() {
    check(
        r#"fn f() { spawn f() }
main { f() }"#,
        expect![[r#"
    diverges, bounded (too many processes spawned at once in main)
    diverges"#]],
    );
}

#[test]
fn children_that_spawn_two_children_are_bounded() {
    check(
        r#"fn f() { spawn f(); spawn f() }
main { f() }"#,
        expect![[r#"
    diverges, bounded (too many processes spawned at once in main)
    diverges"#]],
    );
}

#[test]
fn observe_alone_tells_the_outcome() {
    check(
        "main { chan c: int; spawn { put c 1 }; spawn { put c 2 }; x = get c; y = get c; observe x + y }",
        expect![[r#"
        terminates, exhaustive, 2 executions
        terminates  main: saw 3"#]],
    );
}

#[test]
fn observations_keep_their_order() {
    check(
        "main { observe 1; observe 2; observe 1 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 1 saw 2 saw 1"#]],
    );
}

#[test]
fn every_process_observes_for_itself() {
    check(
        "main { chan c: int; spawn watcher { x = get c; observe x }; put c 3; observe 4 }",
        expect![[r#"
        terminates, exhaustive, 1 executions
        terminates  main: saw 4 | watcher: saw 3"#]],
    );
}
