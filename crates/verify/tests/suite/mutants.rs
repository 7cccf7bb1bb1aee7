//! Generated programs and their mutants: verdicts agree with the labels that the explorer gives.

use strait_calculus::{Verdict, print};
use strait_explore::Coverage;
use strait_generate::{Capabilities, Config, Explorer, Generator, Heuristic, mutant};
use strait_verify::{Budget, Nowhere, Property, verify};

const SEED: u64 = 9;

#[test]
fn verdicts_agree_with_labels() {
    let count: u64 =
        std::env::var("STRAIT_CASES").map_or(250, |count| count.parse().expect("a number"));
    let config =
        Config { weights: Heuristic::A.weights(), capabilities: Capabilities::all(), size: 14 };
    let generator = Generator::new(SEED, config).expect("a right setting");
    let explorer = Explorer::default();
    let (mut compared, mut unknown, mut broken) = (0, 0, 0);
    for index in 0..count {
        let original = generator.generate(index).program;
        let mutants = (0..2).filter_map(|number| mutant(&original, SEED, index, number));
        let programs = mutants.map(|mutant| mutant.program).chain([original.clone()]);
        for program in programs.collect::<Vec<_>>() {
            let (verdict, coverage) = explorer.verdict(&program);
            if coverage != Coverage::Exhaustive {
                continue;
            }
            compared += 1;
            let found = verify(&program, &Property::ALL, &Budget::default(), &Nowhere);
            let holds = |property| {
                found
                    .verdicts
                    .iter()
                    .find(|(one, _)| *one == property)
                    .and_then(|(_, one)| one.holds())
            };
            if holds(Property::Live).is_none() {
                unknown += 1;
                continue;
            }
            let text = print(&program);
            let live = holds(Property::Live) == Some(true);
            let alive = [Property::NoDeadlock, Property::NoLeak].map(holds) == [Some(true); 2];
            let safe = holds(Property::ChannelSafe) == Some(true);
            match verdict {
                Verdict::Terminates => assert!(live && alive && safe, "{text}"),
                Verdict::Deadlock => assert!(!live && !alive && safe, "{text}"),
                Verdict::Leak => assert!(!live && safe, "{text}"),
                Verdict::Panic => assert!(!safe, "{text}"),
                Verdict::Diverges => assert!(live && safe, "{text}"),
                Verdict::Unknown => panic!("not decided:\n{text}"),
            }
            broken += u32::from(verdict != Verdict::Terminates);
        }
    }
    assert!(unknown * 100 <= compared, "{unknown} of {compared} are not decided");
    assert!(broken > compared / 5, "{broken} of {compared}");
}
