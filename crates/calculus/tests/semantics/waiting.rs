//! Default, timeout, choice, locks and wait groups.

use expect_test::expect;

use crate::check;

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
