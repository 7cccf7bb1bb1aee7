//! Plans: what is written is read back, what is not a plan is refused with its line, and programs
//! beyond a contract are refused with what they ask for.

use strait_calculus::{Program, parse};
use strait_generate::{Capabilities, Config, Generator};
use strait_runtimes::{Error, Flavour, Plan, lower, target};

fn program(text: &str) -> Program {
    parse(text).expect("the program is right")
}

#[test]
fn text_is_read_back() {
    let config = Config { capabilities: Capabilities::all(), size: 40, ..Config::default() };
    let generator = Generator::new(11, config).expect("everything is allowed");
    for index in 0..300 {
        let plan = lower(&generator.generate(index).program).expect("it can be lowered");
        assert_eq!(Plan::from_text(&plan.to_text()), Ok(plan), "index {index}");
    }
}

#[test]
fn what_is_not_a_plan_is_refused() {
    let rows = [
        ("", "line 1 of the plan: there is no such entry"),
        ("main 0\nfn 0 0\n", "line 2 of the plan: a function refers to what does not exist"),
        ("main 0\nfn 0 0\nreturn x", "line 3 of the plan: an expression is unknown"),
        (
            "main 0\nfn 0 0\njump 9",
            "line 3 of the plan: the instruction refers to what does not exist",
        ),
        ("main 0\nfn 0 0\nsee i1", "line 4 of the plan: the plan runs beyond its end"),
        ("main 0\nfn 0 0\nsee + i1", "line 3 of the plan: the line ends too early"),
        ("main 0\nfn 0 0\nreturn i1 i2", "line 3 of the plan: there is more than expected"),
        ("main 0\nfn 0 0\nfly\nreturn", "line 3 of the plan: there is no such instruction"),
    ];
    for (text, expected) in rows {
        let refused = Plan::from_text(text).expect_err(text);
        assert_eq!(refused.to_string(), expected, "{text:?}");
    }
    let deep = format!("main 0\nfn 0 0\nsee {} true\nreturn", "! ".repeat(100_000));
    let refused = Plan::from_text(&deep).expect_err("it is too deep");
    assert_eq!(refused.problem, "an expression is nested too deeply");
}

#[test]
fn what_channels_cannot_do_is_refused() {
    let rows = [
        ("main { mutex m; lock m; unlock m }", "locks and wait groups"),
        ("main { panic \"no\" }", "panic"),
    ];
    for (text, expected) in rows {
        match lower(&program(text)) {
            Err(Error::NotInPlan { what }) => assert_eq!(what, expected),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_a_contract_forbids_is_refused() {
    let rows = [
        ("tokio", Flavour::Threads, "main { }", "processes of this flavour"),
        (
            "tokio",
            Flavour::Tasks,
            "main { chan c: int; spawn { put c 1 }; get c }",
            "rendezvous channels",
        ),
        ("futures-channel", Flavour::Tasks, "main { chan c: int[1]; put c 1 }", "bounded channels"),
        (
            "std",
            Flavour::Threads,
            "main { chan c: int[1]; chan d: int[1]; put c 1; select { get c { } get d { } } }",
            "this select",
        ),
        (
            "kanal",
            Flavour::Tasks,
            "main { chan c: int[1]; select { get c { } timeout { } } }",
            "receives that are given up",
        ),
        (
            "crossbeam-channel",
            Flavour::Threads,
            "main { chan c: int[1]; chan d: int[1]; select { get c { } get d { } default { } } }",
            "a default for several cases at once",
        ),
    ];
    for (name, flavour, text, expected) in rows {
        let plan = lower(&program(text)).expect("it can be lowered");
        let target = target(name).expect("it is there");
        match target.accepts(&plan, flavour) {
            Err(Error::Beyond { what, .. }) => assert_eq!(what, expected, "{text}"),
            other => panic!("{name} {text}: {other:?}"),
        }
    }
}

#[test]
fn capabilities_never_ask_for_more_than_the_contract() {
    for info in strait_runtimes::TARGETS {
        for flavour in info.flavours() {
            let capabilities = info.capabilities(flavour).expect("the flavour was listed");
            let config = Config { capabilities, ..Config::default() };
            let generator = Generator::new(3, config).expect("the capabilities make sense");
            let refused = (0..200)
                .filter(|index| {
                    let plan =
                        lower(&generator.generate(*index).program).expect("it can be lowered");
                    info.accepts(&plan, flavour).is_err()
                })
                .count();
            assert_eq!(refused, 0, "{} {flavour:?}", info.name);
        }
    }
}
