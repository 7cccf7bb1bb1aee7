//! The table: for each program its outcomes and the number of executions that it takes to see them all.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use crate::controlled::texts as controlled;
use crate::real::texts as real;

/// One row.
struct Row {
    name: &'static str,
    outcomes: BTreeSet<&'static str>,
    executions: u64,
}

/// What stands for a deadlock in the table.
const DEADLOCK: &str = "deadlock";

/// Explores a program and compares with the row.
fn explored<F>(row: &Row, program: impl Fn() -> F + Send + Sync + 'static) -> Option<String>
where
    F: Future<Output = String> + 'static,
{
    let outcomes = strait_tokio::outcomes(program);
    let found: BTreeSet<String> = outcomes
        .found
        .iter()
        .map(|found| match &found.outcome {
            strait::Outcome::Value(value) => value.clone(),
            strait::Outcome::Deadlock(_) => DEADLOCK.to_owned(),
            other => other.to_string(),
        })
        .collect();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let wanted: Vec<&str> = row.outcomes.iter().copied().collect();
    let same = found == wanted
        && outcomes.is_exhaustive()
        && outcomes.executions == row.executions
        && outcomes.doubt.is_none();
    (!same).then(|| {
        format!(
            "{}: {found:?}, {} executions, {:?}, {:?}; the table says {wanted:?}, {} executions",
            row.name, outcomes.executions, outcomes.coverage, outcomes.doubt, row.executions
        )
    })
}

/// How often each program runs on tokio; `STRAIT_TEST_COUNT` changes it.
fn repetitions() -> usize {
    std::env::var("STRAIT_TEST_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(20)
}

/// Runs a program on tokio and says what was seen that the row does not have.
fn observed<F>(row: &Row, program: impl Fn() -> F) -> Option<String>
where
    F: Future<Output = String> + Send + 'static,
{
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().ok()?;
    let may_deadlock = row.outcomes.contains(DEADLOCK);
    let patience = if may_deadlock { Duration::from_millis(100) } else { Duration::from_secs(60) };
    for _ in 0..repetitions() {
        let seen = runtime.block_on(async {
            let task = tokio::spawn(program());
            tokio::time::timeout(patience, task).await
        });
        let seen = match seen {
            Ok(Ok(seen)) => seen,
            Ok(Err(panic)) => panic.to_string(),
            Err(_) => DEADLOCK.to_owned(),
        };
        if !row.outcomes.contains(&seen[..]) {
            return Some(format!(
                "{}: tokio gave {seen:?}, which the table does not have",
                row.name
            ));
        }
    }
    None
}

macro_rules! table {
    ($($name:ident: $executions:literal [$($outcome:literal),* $(,)?];)*) => {
        fn rows() -> Vec<Row> {
            vec![$(Row {
                name: stringify!($name),
                outcomes: BTreeSet::from([$($outcome),*]),
                executions: $executions,
            }),*]
        }

        #[test]
        fn every_outcome_is_found_and_no_other() {
            let mut wrong = Vec::new();
            let mut rows = rows().into_iter();
            $(
                let row = rows.next().expect("there is a row for each program");
                wrong.extend(explored(&row, controlled::$name));
            )*
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }

        #[test]
        fn what_tokio_does_is_in_the_table() {
            let mut wrong = Vec::new();
            let mut rows = rows().into_iter();
            $(
                let row = rows.next().expect("there is a row for each program");
                wrong.extend(observed(&row, real::$name));
            )*
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    };
}

table! {
    two_unbounded_senders: 40 ["(Some(1), Some(2), None)", "(Some(2), Some(1), None)"];
    three_unbounded_senders: 120 [
        "(Some(1), Some(2), Some(3))", "(Some(1), Some(3), Some(2))", "(Some(2), Some(1), Some(3))",
        "(Some(2), Some(3), Some(1))", "(Some(3), Some(1), Some(2))", "(Some(3), Some(2), Some(1))",
    ];
    two_bounded_senders: 180 ["(Some(1), Some(2), None)", "(Some(2), Some(1), None)"];
    one_sender_keeps_its_order: 324 ["[1, 2, 3]"];
    try_recv_sees_a_message_or_none: 6 ["Err(Empty)", "Ok(1)"];
    try_send_may_find_no_room: 6 ["(Some(1), false)", "(Some(1), true)"];
    room_is_taken_before_the_message_is_there: 20 [
        "(false, Some(2), false)", "(false, Some(2), true)", "(true, None, true)",
        "(true, Some(1), true)",
    ];
    a_permit_keeps_its_place: 36 ["(Some(1), Some(2))"];
    closing_lets_messages_through: 30 [
        "([1, 2], (true, true))", "([1], (true, false))", "([], (false, false))",
    ];
    a_closed_sender_is_told: 4 ["true"];
    a_weak_sender_may_come_too_late: 14 ["(None, None)", "(Some(1), Some(true))"];
    a_dropped_receiver_gives_the_message_back: 4 ["Err(1)", "Ok(())"];
    a_request_may_lose_its_answer: 30 ["(None, Some(false))", "(None, Some(true))", "(Some(1), Some(true))"];
    a_stored_permit_is_not_lost: 6 ["true"];
    notify_waiters_is_lost_if_no_task_waits: 5 ["deadlock", "true"];
    a_notified_future_counts_from_its_making: 4 ["true"];
    two_notifications_store_one_permit: 23 ["deadlock", "true"];
    enabled_waiters_are_served_in_order: 1 ["((false, false), (true, false))"];
    a_lock_loses_no_update: 8 ["2"];
    two_locks_in_both_orders_deadlock: 17 ["deadlock", "true"];
    a_lock_is_given_in_the_order_of_asking: 48 ["[1, 2]", "[2, 1]"];
    readers_share_and_a_writer_does_not: 232 ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"];
    a_reader_behind_a_writer_deadlocks: 11 ["deadlock", "true"];
    permits_taken_one_by_one_deadlock: 28 ["deadlock", "true"];
    permits_taken_at_once_do_not: 8 ["true"];
    a_closed_semaphore_refuses: 4 ["false"];
    a_large_request_holds_back_small_ones: 8 ["false", "true"];
    a_barrier_has_one_leader: 4 ["(false, true)", "(true, false)"];
    a_cell_is_set_by_one_of_two: 20 ["(1, 1)", "(2, 2)"];
    a_watch_may_skip_values: 60 ["[1, 2]", "[2]"];
    a_value_that_was_sent_before_is_seen: 4 ["1"];
    a_slow_receiver_lags: 16 ["Err(Lagged(1))", "Ok(1)"];
    every_receiver_gets_every_message: 40 ["(Ok(1), (Ok(1), true))"];
    a_late_subscriber_misses_messages: 16 ["(None, true)", "(Some(1), true)"];
    select_takes_any_ready_branch: 2 ["Some(1)", "Some(2)"];
    biased_select_takes_the_first: 1 ["Some(1)"];
    a_cancelled_receive_loses_nothing: 48 ["Some(1)"];
    a_cancelled_lock_is_passed_on: 10 ["(false, true)", "(true, true)"];
    abort_may_come_too_late: 10 ["(None, None)", "(Some(1), None)", "(Some(1), Some(2))"];
    a_join_set_aborts_what_is_left: 8 ["(1, true, true)"];
    a_join_set_gives_results_as_they_come: 12 ["[1, 2]", "[2, 1]"];
    a_panic_comes_through_the_handle: 2 ["true"];
    a_token_stops_a_loop: 16 ["0", "1"];
    a_blocking_function_sends: 24 ["(Some(1), true)"];
    a_timeout_against_an_answer: 12 ["false", "true"];
    a_timeout_against_nothing: 2 ["true"];
    the_shorter_sleep_is_first: 100 ["\"long\"", "\"short\""];
    sleeps_in_two_tasks_end_in_any_order: 1572 ["(Some(10), Some(20))", "(Some(20), Some(10))"];
    an_interval_ticks_until_stopped: 148 ["0", "1", "2"];
    a_lock_with_a_timeout: 20 ["false", "true"];
}
