//! Generated programs are right by every measure: they check, they read back as they were, the
//! explorer proves that they terminate, and they hold nothing that the target cannot do.

use crate::support::{Answer, beyond, for_each_statement, run};
use strait_calculus::ast::{Capacity, CaseOp, ExprKind, Program, StmtKind, Type};
use strait_calculus::{Verdict, check, parse, print};
use strait_explore::Coverage;
use strait_generate::{
    Capabilities, Config, Explorer, Family, Generated, Generator, Heuristic, Rule, RuleCounts,
    operations,
};

/// How many programs each test tries; STRAIT_PROGRAMS asks for more.
fn programs(usual: u64) -> u64 {
    std::env::var("STRAIT_PROGRAMS")
        .map_or(usual, |count| count.parse().expect("a number of programs"))
}

fn generator(capabilities: Capabilities, heuristic: Heuristic, size: u32) -> Generator {
    let config = Config { weights: heuristic.weights(), capabilities, size };
    Generator::new(11, config).expect("the setting is right")
}

fn only(names: &[&str]) -> Capabilities {
    let mut capabilities = Capabilities::default();
    for name in names {
        capabilities.set(name, true).expect("the name is known");
    }
    capabilities
}

/// Targets of all kinds: everything, one feature at a time, and the poor ones.
fn targets() -> Vec<(String, Capabilities)> {
    let mut targets = vec![
        ("paper".to_owned(), Capabilities::default()),
        ("everything".to_owned(), Capabilities::all()),
    ];
    for name in Capabilities::names() {
        targets.push((format!("paper and {name}"), only(&[name])));
        let mut without = Capabilities::all();
        without.set(name, false).expect("a listed name is known");
        targets.push((format!("all but {name}"), without));
    }
    let single_ends =
        Capabilities { many_receivers: false, many_senders: false, ..Capabilities::all() };
    targets.push(("single ends".to_owned(), single_ends.clone()));
    targets.push((
        "a one-way mailbox".to_owned(),
        Capabilities {
            rendezvous: false,
            buffered: false,
            select_gets: false,
            select_puts: false,
            ..single_ends
        },
    ));
    // As tasks use it, and as threads do, which cannot select.
    let oneshot = Capabilities {
        one_message: true,
        rendezvous: false,
        unbounded: false,
        max_capacity: Some(1),
        same_channel_twice: false,
        put_and_get_in_select: false,
        select_puts: false,
        timeout_puts: false,
        ..single_ends.clone()
    };
    for (name, capabilities) in [
        ("one message per channel", oneshot.clone()),
        ("one message per channel, no select", Capabilities { select_gets: false, ..oneshot }),
        ("four processes", Capabilities { max_processes: Some(4), ..Capabilities::all() }),
        ("one message at most", Capabilities { max_capacity: Some(1), ..Capabilities::all() }),
        (
            "buffers of one message alone",
            Capabilities {
                max_capacity: Some(1),
                rendezvous: false,
                unbounded: false,
                ..Capabilities::all()
            },
        ),
    ] {
        targets.push((name.to_owned(), capabilities));
    }
    targets
}

#[test]
fn programs_check_and_read_back_as_they_were() {
    for (name, capabilities) in targets() {
        for heuristic in [Heuristic::A, Heuristic::F] {
            if capabilities.select_gets || capabilities.select_puts || heuristic == Heuristic::A {
                let generator = generator(capabilities.clone(), heuristic, 20);
                for index in 0..programs(60) {
                    let program = generator.generate(index).program;
                    let mut checked = program.clone();
                    if let Err(diagnostics) = check(&mut checked) {
                        panic!("{name} {index}: {diagnostics:?}\n{}", print(&program));
                    }
                    assert_eq!(checked, program, "{name} {index}: the types were not as inferred");
                    let text = print(&program);
                    let read = parse(&text).unwrap_or_else(|diagnostics| {
                        panic!("{name} {index}: {diagnostics:?}\n{text}")
                    });
                    assert_eq!(read, program, "{name} {index}:\n{text}");
                }
            }
        }
    }
}

#[test]
fn extended_programs_terminate() {
    let explorer = Explorer::default();
    let mut undecided = 0;
    let mut all = 0;
    for (name, capabilities) in targets() {
        for size in [6, 10, 14] {
            let generator = generator(capabilities.clone(), Heuristic::A, size);
            for index in 0..programs(40) {
                let program = generator.generate(index).program;
                all += 1;
                match explorer.verdict(&program) {
                    (Verdict::Terminates, Coverage::Exhaustive) => {}
                    (Verdict::Unknown, _) => undecided += 1,
                    (verdict, _) => {
                        panic!("{name}, size {size}, index {index}: {verdict}\n{}", print(&program))
                    }
                }
            }
        }
    }
    println!("{all} programs, {undecided} undecided");
    assert!(undecided * 50 <= all, "{undecided} of {all} programs were too large to decide");
}

#[test]
fn gadgets_terminate_and_stay_within_the_capabilities() {
    let explorer = Explorer::default();
    for (name, capabilities) in targets() {
        let generator = generator(capabilities.clone(), Heuristic::F, 6);
        for index in 0..programs(60) {
            let generated = generator.gadget(index);
            let context = || format!("{name} index {index}\n{}", print(&generated.program));
            assert_eq!(beyond(&generated.program, &capabilities), None, "{}", context());
            assert_eq!(generator.gadget(index), generated, "{}", context());
            let (verdict, coverage) = explorer.verdict(&generated.program);
            assert_eq!(verdict, Verdict::Terminates, "{}", context());
            assert_eq!(coverage, Coverage::Exhaustive, "{}", context());
        }
    }
}

/// 10,000 programs of each heuristic; the explorer and the small interpreter of effects agree.
#[test]
fn programs_of_the_paper_terminate() {
    let explorer = Explorer::default();
    for heuristic in Heuristic::ALL {
        for size in [4, 8, 12, 16] {
            let generator = generator(Capabilities::default(), heuristic, size);
            for index in 0..programs(2500) {
                let Generated { program, effect, .. } = generator.generate(index);
                let verdict = explorer.verdict(&program);
                assert_eq!(
                    verdict,
                    (Verdict::Terminates, Coverage::Exhaustive),
                    "{} {size} {index}\n{}",
                    heuristic.name(),
                    print(&program)
                );
                assert!(matches!(run(&effect, 1_000_000), Answer::Terminates(_)));
            }
        }
    }
}

#[test]
fn every_extension_is_used_when_it_may_and_has_weight() {
    let mut counts = RuleCounts::new();
    let everything = generator(Capabilities::all(), Heuristic::A, 20);
    for index in 0..1000 {
        counts.add(&everything.generate_proved(index, &|_: &Program| Some(true)).rules);
    }
    for (rule, count) in counts.iter() {
        assert!(count > 0, "{rule} is never used");
    }
    for absent in Rule::ALL.into_iter().filter(|rule| rule.family() == Family::Extension) {
        let mut weights = Heuristic::A.weights();
        weights.set(absent, 0);
        let config = Config { weights, capabilities: Capabilities::all(), size: 20 };
        let generator = Generator::new(11, config).expect("the setting is right");
        for index in 0..300 {
            let generated = generator.generate_proved(index, &|_: &Program| Some(true));
            assert_eq!(generated.rules.get(absent), 0, "{absent} {index}");
        }
    }
}

#[test]
fn extended_programs_have_the_size_they_were_asked_to_have() {
    for heuristic in Heuristic::ALL {
        for size in [5, 10, 16, 50, 200] {
            let generator = generator(Capabilities::all(), heuristic, size);
            let mut sizes: Vec<u32> =
                (0..300).map(|index| operations(&generator.generate(index).program)).collect();
            sizes.sort_unstable();
            let median = sizes[sizes.len() / 2];
            let off = (f64::from(median) - f64::from(size)).abs();
            let tolerance = (f64::from(size) * 0.2).max(1.0);
            assert!(off <= tolerance, "{} {size}: median {median}", heuristic.name());
        }
    }
}

#[test]
fn what_a_prover_rejects_is_left_out() {
    let generator = generator(only(&["shared-ends"]), Heuristic::A, 10);
    let explorer = Explorer::default();
    let (mut tried, mut accepted) = (0, 0);
    for index in 0..programs(300) {
        let generated = generator.generate_proved(index, &explorer);
        tried += generated.proofs.tried;
        accepted += generated.proofs.accepted;
        assert_eq!(generated.rules.get(Rule::XMerge), generated.proofs.accepted);
        assert_eq!(explorer.verdict(&generated.program).0, Verdict::Terminates, "{index}");
        let nothing_proved = generator.generate_proved(index, &|_: &Program| None);
        assert_eq!(nothing_proved.program, generator.generate(index).program);
    }
    println!("X-MERGE: {accepted} of {tried} accepted");
    assert!(accepted > 0 && accepted < tried, "{accepted} of {tried}");
}

#[test]
fn programs_stay_within_the_capabilities() {
    for (name, capabilities) in targets() {
        let heuristic = if capabilities.select_gets || capabilities.select_puts {
            Heuristic::F
        } else {
            Heuristic::A
        };
        for heuristic in [heuristic, Heuristic::A] {
            let generator = generator(capabilities.clone(), heuristic, 24);
            for index in 0..programs(100) {
                let program = generator.generate(index).program;
                if let Some(what) = beyond(&program, &capabilities) {
                    panic!("{name} {index}: {what}\n{}", print(&program));
                }
            }
        }
    }
}

#[test]
fn every_put_sends_its_own_integer() {
    let generator = generator(only(&["integers"]), Heuristic::F, 30);
    for index in 0..programs(100) {
        let program = generator.generate(index).program;
        let mut payloads = Vec::new();
        for_each_statement(&program, &mut |statement, _| {
            let mut note = |value: &strait_calculus::ast::Expr| match value.kind {
                ExprKind::Int(payload) => payloads.push(payload),
                ref other => panic!("{other:?} is put"),
            };
            match &statement.kind {
                StmtKind::Put { value, .. } => note(value),
                StmtKind::Select { cases, .. } => {
                    for case in cases {
                        if let CaseOp::Put { value, .. } = &case.op {
                            note(value);
                        }
                    }
                }
                StmtKind::NewChannel { element, capacity, .. } => {
                    assert_eq!((element, capacity), (&Type::Int, &Capacity::Rendezvous));
                }
                _ => {}
            }
        });
        let puts = payloads.len();
        payloads.sort_unstable();
        payloads.dedup();
        assert_eq!(payloads.len(), puts, "{}", print(&program));
    }
}

/// Merging two channels brings cases of one select together.
#[test]
fn merged_channels_stay_within_the_capabilities() {
    let explorer = Explorer { max_states: 20_000 };
    for name in ["put-and-get-in-select", "same-channel-twice"] {
        let mut capabilities = Capabilities::all();
        capabilities.set(name, false).expect("a listed name is known");
        let mut weights = Heuristic::A.weights();
        weights.set(Rule::XMerge, 1_000);
        let config = Config { weights, capabilities: capabilities.clone(), size: 12 };
        let generator = Generator::new(11, config).expect("the setting is right");
        let mut merged = 0;
        for index in 0..programs(400) {
            let generated = generator.generate_proved(index, &explorer);
            merged += generated.proofs.accepted;
            let what = beyond(&generated.program, &capabilities);
            assert_eq!(what, None, "{name}, index {index}\n{}", print(&generated.program));
        }
        assert!(merged > 0, "nothing was merged");
    }
}

/// The measure used above finds every feature that is not allowed.
#[test]
fn the_measure_of_capabilities_is_not_blind() {
    let generator = generator(Capabilities::all(), Heuristic::A, 24);
    for name in Capabilities::names() {
        // Nothing in the text of a program tells these two.
        if ["owned-payloads", "shared-ends"].contains(&name) {
            continue;
        }
        let mut without = Capabilities::all();
        without.set(name, false).expect("a listed name is known");
        let mut programs = (0..500).map(|index| generator.generate(index).program);
        assert!(programs.any(|program| beyond(&program, &without).is_some()), "{name}");
    }
}
