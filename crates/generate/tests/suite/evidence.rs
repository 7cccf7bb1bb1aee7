//! Why the extensions are as careful as they are: for each condition a rule states, a program that
//! keeps it and a program that does not, with the explorer's verdict on both.

use strait_calculus::parse;
use strait_explore::Coverage;
use strait_generate::Explorer;

fn check(source: &str, expected: &str) {
    let program = parse(source).expect("the program of a test parses");
    let (verdict, coverage) = Explorer::default().verdict(&program);
    assert_eq!((verdict.word(), coverage), (expected, Coverage::Exhaustive), "{source}");
}

#[test]
fn x_buffer_spares_channels_that_a_process_uses_both_ways() {
    let both_ways = |capacity: &str| {
        format!("main {{ chan c: unit{capacity}; spawn {{ put c (); get c }}; get c; put c () }}")
    };
    check(&both_ways(""), "terminates");
    // The child takes its own message.
    check(&both_ways("[1]"), "deadlock");
    check(&both_ways("[unbounded]"), "deadlock");
    let one_way = |capacity: &str| {
        format!("main {{ chan c: unit{capacity}; spawn {{ put c (); put c () }}; get c; get c }}")
    };
    check(&one_way(""), "terminates");
    check(&one_way("[1]"), "terminates");
    check(&one_way("[unbounded]"), "terminates");
}

#[test]
fn x_merge_has_to_be_proved() {
    // Two children of G-FANOUT on one channel: all puts are alike.
    check(
        "main { chan c: unit; spawn { put c () }; spawn { put c () }; get c; get c }",
        "terminates",
    );
    // One puts and one gets: the children meet and leave their parent alone.
    check(
        "main { chan c: unit; spawn { put c () }; spawn { get c }; get c; put c () }",
        "deadlock",
    );
}

#[test]
fn x_exchange_takes_each_process_once_and_an_even_number() {
    let once = "spawn { select { put c () {} get c {} } }\n";
    let here = "select { put c () {} get c {} }\n";
    let program = |spawned: usize, here_times: usize| {
        format!("main {{ chan c: unit\n{}{} }}", once.repeat(spawned), here.repeat(here_times))
    };
    check(&program(1, 1), "terminates");
    check(&program(3, 1), "terminates");
    check(&program(2, 1), "deadlock");
    // An even number of selects, but the two children may meet.
    check(&program(2, 2), "deadlock");
}

#[test]
fn x_handoff_spawns_before_it_sends() {
    check(
        "main { chan c: unit; chan d: chan unit; spawn { x = get d; put x () }; put d c; get c }",
        "terminates",
    );
    check(
        "main { chan c: unit; chan d: chan unit; put d c; spawn { x = get d; put x () }; get c }",
        "deadlock",
    );
}

#[test]
fn x_leftover_keeps_to_the_capacity() {
    check("main { chan c: unit[2]; put c (); put c () }", "terminates");
    check("main { chan c: unit[1]; put c (); put c () }", "deadlock");
    check("main { chan c: unit[1]; spawn { get c }; put c (); put c () }", "terminates");
}

#[test]
fn x_close_has_one_sender_who_closes() {
    check("main { chan c: unit; spawn { put c (); close c }; get c; get c; get c }", "terminates");
    check(
        "main { chan c: unit; spawn { put c (); close c }; spawn { put c () }; get c; get c }",
        "panic",
    );
    // Fewer gets than messages.
    check("main { chan c: unit; spawn { put c (); put c (); close c }; get c }", "leak");
}

#[test]
fn x_abandon_is_done_by_the_only_receiver() {
    check("main { chan c: unit; spawn { put c (); put c () }; get c; abandon c }", "terminates");
    check(
        "main { chan c: unit; spawn { put c (); put c () }; spawn { get c }; abandon c }",
        "panic",
    );
}

#[test]
fn x_try_and_x_cancel_perform_the_operation_once() {
    check(
        "main { chan c: unit; spawn { put c () }; select { get c {} default { get c } } }",
        "terminates",
    );
    check(
        "main { chan c: unit; spawn { put c () }; select { get c {} timeout { get c } } }",
        "terminates",
    );
    // Giving up is only for a partner who gives up as well.
    check("main { chan c: unit; spawn { put c () }; select { get c {} timeout {} } }", "leak");
}

#[test]
fn x_shared_selects_over_all_channels() {
    let with = |second: &str| {
        format!(
            "main {{ chan a: unit; chan b: unit
                spawn {{ put a () }}; spawn {{ put b () }}
                select {{ get a {{}} get b {{}} }}
                {second} }}"
        )
    };
    check(&with("select { get b {} get a {} }"), "terminates");
    check(&with("get a"), "deadlock");
}
