//! Mutants are programs, differ from their original, are fixed by seed, index and number, and carry
//! the explorer's label.

use std::collections::BTreeMap;

use strait_calculus::ast::{Block, StmtKind};
use strait_calculus::{FuncId, Verdict, check, lambda_chan, parse, print};
use strait_explore::Coverage;
use strait_generate::{
    Capabilities, Config, Explorer, Generator, Heuristic, Mutation, Purpose, Stream, mutant,
};

const SEED: u64 = 5;

fn generator(capabilities: Capabilities, size: u32) -> Generator {
    let config = Config { weights: Heuristic::A.weights(), capabilities, size };
    Generator::new(SEED, config).expect("the setting is right")
}

#[test]
fn mutants_are_programs_of_their_own() {
    let generator = generator(Capabilities::all(), 16);
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    for index in 0..300 {
        let program = generator.generate(index).program;
        for number in 0..3 {
            let Some(mutant) = mutant(&program, SEED, index, number) else {
                continue;
            };
            *kinds.entry(mutant.mutation.name()).or_default() += 1;
            assert_ne!(mutant.program, program);
            assert!(print(&program).contains(mutant.statement.split(" {").next().unwrap()));
            let text = print(&mutant.program);
            assert_eq!(parse(&text).as_ref(), Ok(&mutant.program), "{text}");
            let mut checked = mutant.program.clone();
            assert!(check(&mut checked).is_ok(), "{text}");
        }
    }
    for mutation in Mutation::ALL {
        assert!(kinds.get(mutation.name()).is_some_and(|count| *count > 5), "{kinds:?}");
    }
}

#[test]
fn a_mutant_is_fixed_by_seed_index_and_number() {
    let generator = generator(Capabilities::default(), 16);
    let program = generator.generate(3).program;
    assert_eq!(mutant(&program, SEED, 3, 1), mutant(&program, SEED, 3, 1));
    let different = (0..10).filter(|number| {
        mutant(&program, SEED, 3, *number) != mutant(&program, SEED, 3, number + 10)
    });
    assert!(different.count() > 5);
    let mut stream = Stream::new(SEED, 3, Purpose::Mutant(1));
    let mut other = Stream::new(SEED, 3, Purpose::Program);
    assert_ne!(stream.below(u32::MAX), other.below(u32::MAX));
}

#[test]
fn the_explorer_labels_every_mutant() {
    let generator = generator(Capabilities::all(), 10);
    let explorer = Explorer::default();
    let mut labels: BTreeMap<&str, u32> = BTreeMap::new();
    let mut undecided = 0;
    for index in 0..300 {
        let program = generator.generate(index).program;
        if let Some(mutant) = mutant(&program, SEED, index, 0) {
            let label = mutant.label(&explorer);
            *labels.entry(label.verdict.word()).or_default() += 1;
            undecided += u32::from(label.verdict == Verdict::Unknown);
        }
    }
    println!("{labels:?}, {undecided} undecided");
    for verdict in [Verdict::Terminates, Verdict::Deadlock, Verdict::Leak, Verdict::Panic] {
        assert!(labels.contains_key(verdict.word()), "{labels:?}");
    }
    assert!(undecided <= 6, "{undecided} of 300 mutants were too large to decide");
}

/// Two opinions on programs that may hang: the explorer's on the program and the small interpreter's
/// on its effect. An effect knows no conditions, so every `if` is made a `choose` first.
#[test]
fn the_explorer_and_the_interpreter_of_effects_agree() {
    let explorer = Explorer::default();
    let (mut hangs, mut all) = (0, 0);
    for size in [4, 8, 12] {
        let generator = generator(Capabilities::default(), size);
        for index in 0..500 {
            let mut program = generator.generate(index).program;
            for_each_block(&mut program.functions[FuncId(0)].body, &mut forget_conditions);
            for number in 0..3 {
                let Some(mutant) = mutant(&program, SEED, index, number) else { continue };
                let Ok(typing) = lambda_chan::check(&mutant.program) else { continue };
                let label = mutant.label(&explorer);
                assert_eq!(label.coverage, Coverage::Exhaustive);
                let answer = crate::support::run(&typing.effect, 1_000_000);
                let terminates = matches!(answer, crate::support::Answer::Terminates(_));
                assert_eq!(
                    label.verdict == Verdict::Terminates,
                    terminates,
                    "{} but {answer:?}\n{}",
                    label.verdict,
                    print(&mutant.program)
                );
                all += 1;
                hangs += u32::from(!terminates);
            }
        }
    }
    println!("{hangs} of {all} hang");
    assert!(hangs > 500 && all - hangs > 500, "{hangs} of {all} hang");
}

fn for_each_block(block: &mut Block, visit: &mut impl FnMut(&mut Block)) {
    visit(block);
    for statement in &mut block.statements {
        match &mut statement.kind {
            StmtKind::Spawn { body, .. } => for_each_block(body, visit),
            StmtKind::Choose { branches } => {
                branches.iter_mut().for_each(|branch| for_each_block(branch, visit));
            }
            StmtKind::Select { cases, .. } => {
                cases.iter_mut().for_each(|case| for_each_block(&mut case.body, visit));
            }
            _ => {}
        }
    }
}

fn forget_conditions(block: &mut Block) {
    for statement in &mut block.statements {
        if let StmtKind::If { then, otherwise, .. } = &mut statement.kind {
            let branches = vec![std::mem::take(then), otherwise.take().unwrap_or_default()];
            statement.kind = StmtKind::Choose { branches };
        }
    }
}
