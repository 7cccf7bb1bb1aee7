//! Panics, leaks, names, control flow, functions, endless executions, observations.

use expect_test::expect;

use crate::check;

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
