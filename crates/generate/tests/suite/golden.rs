//! Program i of seed s is the same forever: a change here means that recorded findings no longer
//! replay, and asks for a new `GENERATOR_VERSION`.

use expect_test::{Expect, expect};
use strait_calculus::print;
use strait_generate::{
    Capabilities, Config, GENERATOR_VERSION, Generator, Heuristic, Stats, mutant,
};

/// FNV-1a, 64 bits: short, and written here so that it never changes either.
fn hash(text: &str, start: u64) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn hash_of_programs(capabilities: Capabilities, heuristic: Heuristic, seed: u64) -> u64 {
    let config = Config { weights: heuristic.weights(), capabilities, size: 16 };
    let generator = Generator::new(seed, config).expect("the presets are right");
    let mut result = 0xcbf2_9ce4_8422_2325;
    for index in (0..100).chain([1 << 40, u64::MAX]) {
        let program = generator.generate(index).program;
        result = hash(&print(&program), result);
        if let Some(mutant) = mutant(&program, seed, index, 0) {
            result = hash(&print(&mutant.program), result);
        }
    }
    result
}

fn check(text: String, expected: Expect) {
    expected.assert_eq(&text);
}

#[test]
fn programs_never_change() {
    let mut lines = vec![format!("version {GENERATOR_VERSION}")];
    for heuristic in Heuristic::ALL {
        let paper = hash_of_programs(Capabilities::default(), heuristic, 1);
        let all = hash_of_programs(Capabilities::all(), heuristic, 2);
        lines.push(format!("{} {paper:016x} {all:016x}", heuristic.name()));
    }
    check(
        lines.join("\n"),
        expect![[r#"
        version 4
        A 72e0363606bf0cb3 9b0a0206fea32f43
        B 71e07294148e3255 caf25465ff1f5d6e
        C 10d3ebaead35fa05 62b08c9fac56db7b
        D c6f1f716f8342ece b8d1b8342db96b4e
        E 7b5119d65e180889 0cb2215c376d9252
        F 7016bec9d46bd005 8ab9c492d3218e13"#]],
    );
}

#[test]
fn one_program_in_full() {
    let generator = Generator::new(7, Config::default()).expect("the default is right");
    check(
        print(&generator.generate(42).program),
        expect![[r#"
        main {
            chan c1: unit
            chan c2: unit
            chan c3: unit
            spawn {
                spawn {
                    if false {
                        put c2 ()
                    } else {
                        put c2 ()
                    }
                }
                get c1
            }
            spawn {
                select {
                    get c3 {}
                    get c3 {}
                }
            }
            select {
                get c2 {
                    put c1 ()
                    put c3 ()
                }
                put c1 () {
                    choose {
                        get c2
                    } or {
                        get c2
                    }
                    put c3 ()
                }
            }
        }
    "#]],
    );
}

#[test]
fn statistics_add_up() {
    let generator = Generator::new(7, Config::default()).expect("the default is right");
    let mut stats = Stats::default();
    for index in 0..500 {
        stats.add(&generator.generate(index));
    }
    assert_eq!(stats.programs, 500);
    assert_eq!(stats.rejected_share(), None);
    for distribution in [&stats.sizes, &stats.processes, &stats.channels, &stats.selects] {
        assert_eq!(distribution.total(), 500);
        let summary = distribution.summary();
        assert!(summary.min <= summary.median && summary.median <= summary.max);
    }
}
