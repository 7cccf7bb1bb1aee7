//! What each property says about small programs, in its own words, and what it leaves to others.

use strait_calculus::{Span, parse};
use strait_verify::{Budget, InText, Places, Property, Unknown, Why, verify};

fn told(source: &str, property: Property, places: &dyn Places) -> String {
    let program = parse(source).unwrap_or_else(|errors| panic!("{}", errors.render("p", source)));
    let found = verify(&program, &[property], &Budget::default(), places);
    let (_, verdict) = &found.verdicts[0];
    match verdict.why {
        Why::Proved => "holds".into(),
        Why::Violated(_) => verdict.to_string(),
        Why::Unknown(_) => format!("unknown: {verdict}"),
    }
}

#[track_caller]
fn check(source: &str, expected: &[(Property, &str)]) {
    for (property, text) in expected {
        assert_eq!(told(source, *property, &InText(source)), *text, "{property} of {source}");
    }
}

#[test]
fn a_deadlock_comes_before_the_end_of_main_and_a_leak_after_it() {
    check(
        "main { chan c: int; spawn { put c 1 }; get c; get c }",
        &[
            (Property::NoDeadlock, "deadlock: main waits to receive from c (line 1)"),
            (Property::NoLeak, "holds"),
        ],
    );
    check(
        "main { chan c: int\n spawn { put c 1 }\n spawn { get c; get c } }",
        &[
            (Property::NoDeadlock, "holds"),
            (
                Property::NoLeak,
                "after main has returned, main.2 waits to receive from c (line 3) forever",
            ),
            (Property::Live, "main.2 waits to receive from c (line 3) forever"),
        ],
    );
    // Others go on forever, and one is left behind all the same.
    check(
        "main { chan c: int; chan d: int\n spawn { while true { put d 1 } }\n
         spawn { while true { get d } }\n spawn { get c } }",
        &[
            (Property::NoDeadlock, "holds"),
            (
                Property::NoLeak,
                "after main has returned, main.3 waits to receive from c (line 5) forever",
            ),
        ],
    );
}

#[test]
fn an_empty_select_in_main_is_a_service() {
    let source = "main { chan c: int\n spawn { get c }\n select {} }";
    check(
        source,
        &[
            (Property::NoDeadlock, "holds"),
            (Property::NoLeak, "holds"),
            (Property::Live, "main.1 waits to receive from c (line 2) forever"),
        ],
    );
}

#[test]
fn a_lock_is_released_after_its_last_use() {
    check(
        "main { mutex m\n lock m }",
        &[(Property::LocksReleased, "main locks m, which is never unlocked (line 2)")],
    );
    check(
        "main { rwmutex r\n spawn { rlock r }\n rlock r; runlock r }",
        &[(Property::LocksReleased, "main.1 locks r, which is never unlocked (line 2)")],
    );
    check("main { mutex m; lock m; unlock m }", &[(Property::LocksReleased, "holds")]);
    // Another process releases it.
    check("main { mutex m; lock m; spawn { unlock m } }", &[(Property::LocksReleased, "holds")]);
    // A process waits for it, or its holder waits: others report that.
    check(
        "main { mutex m; lock m; spawn { lock m } }",
        &[
            (Property::LocksReleased, "holds"),
            (
                Property::NoLeak,
                "after main has returned, main.1 waits for the lock m (line 1) forever",
            ),
        ],
    );
    check(
        "main { mutex m; chan c: int; lock m; get c }",
        &[
            (Property::LocksReleased, "holds"),
            (Property::NoDeadlock, "deadlock: main waits to receive from c (line 1)"),
        ],
    );
    // The program ends by a panic.
    check("main { mutex m; lock m; panic \"exit\" }", &[(Property::LocksReleased, "holds")]);
}

/// Every panic on line 2 is recovered.
struct Recovering<'a>(&'a str);

impl Places for Recovering<'_> {
    fn place(&self, span: Span) -> Option<String> {
        Some(format!("a.go:{}", span.line_column(self.0).0))
    }

    fn recovers(&self, span: Span) -> bool {
        span.line_column(self.0).0 == 2
    }

    fn function(&self, name: &str) -> Option<String> {
        name.strip_suffix("_3").map(str::to_owned)
    }

    fn name(&self, name: &str) -> String {
        name.replace("o_S_", "S.")
    }
}

#[test]
fn what_follows_a_recovered_panic_is_not_known() {
    let unknown = "unknown: a panic at a.go:2 is recovered, and what follows it was not followed";
    for (source, property, expected) in [
        ("main { chan c: int; close c\n close c }", Property::ChannelSafe, unknown),
        ("main { chan c: int; close c\n close c }", Property::NoTerminal, unknown),
        // Deliberate panics, too.
        ("main {\n panic \"x\" }", Property::NoDeadlock, unknown),
        // A violation elsewhere stays.
        (
            "main { chan c: int; close c; choose {\n close c } or {\n close c } }",
            Property::ChannelSafe,
            "main panics on c: close of closed channel (a.go:3), if the data allows these choices: \
             a.go:1 takes branch 2",
        ),
        // On other lines panics are what they are.
        (
            "main { chan c: int; close c; close c }",
            Property::ChannelSafe,
            "main panics on c: close of closed channel (a.go:1)",
        ),
    ] {
        assert_eq!(told(source, property, &Recovering(source)), expected, "{source}");
    }
}

#[test]
fn processes_are_named_after_their_functions() {
    let source = "fn worker_3(c: chan int) { put c 1 }\nfn other(c: chan int) { put c 1 }\n
        main { chan o_S_c: int; spawn worker_3(o_S_c); spawn worker_3(o_S_c); spawn other(o_S_c) }";
    assert_eq!(
        told(source, Property::NoLeak, &Recovering(source)),
        "after main has returned, worker waits to send on S.c (a.go:1); worker#2 waits to send on S.c \
         (a.go:1); main.3 waits to send on S.c (a.go:2) forever"
    );
}

/// A program whose `main` must come to an end, as a test must.
struct OfTest<'a>(&'a str);

impl Places for OfTest<'_> {
    fn place(&self, span: Span) -> Option<String> {
        Some(format!("a.go:{}", span.line_column(self.0).0))
    }

    fn may_serve(&self) -> bool {
        false
    }
}

#[test]
fn a_test_is_no_service() {
    let deadlock = "deadlock: main waits in an empty select (a.go:1)";
    let blocked = "main waits in an empty select (a.go:1) forever";
    for (source, property, expected) in [
        ("main { select {} }", Property::NoDeadlock, deadlock),
        ("main { select {} }", Property::Live, blocked),
        ("main { choose { select {} } or { } }", Property::Live, blocked),
        ("main { spawn { select {} } }", Property::Live, "holds"),
        ("main { mutex m; lock m; select {} }", Property::LocksReleased, "holds"),
    ] {
        let told = told(source, property, &OfTest(source));
        assert!(told.starts_with(expected), "{source}: {told}");
    }
    let service = "main { select {} }";
    assert_eq!(told(service, Property::NoDeadlock, &Recovering(service)), "holds");
}

#[test]
fn idle_processes_of_a_service_are_alive() {
    let idle = "while true { get c }";
    let waits = "main.1 waits to receive from c (line 1) forever";
    let rows = [
        // A service: its worker waits for work.
        (format!("main {{ chan c: int; spawn {{ {idle} }}; select {{}} }}"), "holds"),
        (
            "main { chan c: int; chan d: int; spawn { while true { select { get c {} get d {} } } }; \
             select {} }"
                .to_owned(),
            "holds",
        ),
        // It waits for one message, not for the next.
        ("main { chan c: int; spawn { get c }; select {} }".to_owned(), waits),
        // It has something to send, wants a lock, or waits for a group.
        (
            "main { chan c: int; spawn { while true { put c 1 } }; select {} }".to_owned(),
            "main.1 waits to send on c (line 1) forever",
        ),
        (
            "main { mutex m; lock m; spawn { while true { lock m } }; select {} }".to_owned(),
            "main.1 waits for the lock m (line 1) forever",
        ),
        // No service: main returns, or waits for something else.
        (format!("main {{ chan c: int; spawn {{ {idle} }} }}"), waits),
        (
            format!("main {{ chan c: int; spawn {{ {idle} }}; while true {{ timeouts() }} }} fn timeouts() {{ select {{ timeout {{}} }} }}"),
            waits,
        ),
    ];
    for (source, expected) in rows {
        assert_eq!(told(&source, Property::Live, &InText(&source)), expected, "{source}");
    }
}

#[test]
fn time_ends_a_search_and_its_checks() {
    let source =
        "fn more(n: int) { chan c: int; spawn { put c n }; more(n + 1) }\nmain { more(0) }";
    let program = parse(source).expect("a program");
    let until = std::time::Instant::now() + std::time::Duration::from_millis(50);
    let budget = Budget { until: Some(until), states: u64::MAX, ..Budget::default() };
    let found = verify(&program, &Property::ALL, &budget, &InText(source));
    assert!(until.elapsed() < std::time::Duration::from_secs(2), "{:?}", until.elapsed());
    let past = std::time::Instant::now() - std::time::Duration::from_secs(5);
    let budget = Budget { until: Some(past), ..Budget::default() };
    let late = verify(&program, &[Property::Live], &budget, &InText(source));
    for (property, verdict) in found.verdicts.iter().chain(&late.verdicts) {
        if verdict.holds().is_none() {
            let unknown = matches!(
                verdict.why,
                Why::Unknown(Unknown::StatesLeft { .. } | Unknown::CheckEnded(_))
            );
            assert!(unknown, "{property}: {verdict}");
        }
        assert_ne!(verdict.holds(), Some(true), "{property}");
    }
}

/// Two ways lead to the same state, and only on the longer one the process that waits holds the
/// lock: the shortest way alone would prove too much.
#[test]
fn a_lock_may_be_held_on_another_way_to_the_same_state() {
    let source = "main { chan a: int; chan b: int[1]; chan c: int; rwmutex r
        spawn { while true { select { get a { lock r } put a 1 {} } } }
        spawn {
            choose {
                choose { lock r } or { put a 1 }
                select { get b { put c 1 } put a 1 {} }
            } or { }
            put b 1
        }
        put b 1; put b 1; get b
    }";
    check(
        source,
        &[(
            Property::MutexSafe,
            "main.1 waits for the lock r, which it holds itself (line 2), if the data allows \
             these choices: line 4 takes branch 1, line 5 takes branch 2",
        )],
    );
}
