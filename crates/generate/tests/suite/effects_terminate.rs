//! Every generated effect terminates, checked by a small interpreter of effects; and the rules of
//! the paper that do not hold as they are printed, with the effect that shows it.

use crate::support::{Answer, run};
use strait_calculus::{ChannelName, Effect, SelectEffect};
use strait_generate::{Config, Generator, Heuristic};

const C1: ChannelName = ChannelName(0);
const C2: ChannelName = ChannelName(1);

fn seq<const N: usize>(parts: [Effect; N]) -> Effect {
    Effect::from_iter(parts)
}

fn hangs(effect: Effect) {
    let answer = run(&effect, 10_000);
    assert!(matches!(answer, Answer::Hangs(_)), "{effect}\n{answer:?}");
}

fn terminates(effect: Effect) {
    let answer = run(&effect, 10_000);
    assert!(matches!(answer, Answer::Terminates(_)), "{effect}\n{answer:?}");
}

#[test]
fn the_interpreter_knows_the_examples_of_the_paper() {
    // Section 4: CHAN(c); GET(c).
    hangs(seq([Effect::Chan(C1), Effect::Get(C1)]));
    terminates(seq([Effect::spawn(Effect::Put(C1)), Effect::Get(C1)]));
    // Section 5.2, example I: SPAWN(PUT(c₁) + PUT(c₂)); GET(c₁).
    let either = Effect::Choice(vec![Effect::Put(C1), Effect::Put(C2)]);
    hangs(seq([Effect::spawn(either), Effect::Get(C1)]));
    let same = Effect::Choice(vec![Effect::Put(C1), Effect::Put(C1)]);
    terminates(seq([Effect::spawn(same), Effect::Get(C1)]));
    // Section 5.2, example II.
    terminates(seq([
        Effect::spawn(Effect::Get(C1)),
        Effect::spawn(Effect::Put(C2)),
        Effect::Choice(vec![
            seq([Effect::Put(C1), Effect::Get(C2)]),
            seq([Effect::Get(C2), Effect::Put(C1)]),
        ]),
    ]));
    // Section 5.2, example III.
    terminates(seq([
        Effect::spawn(seq([Effect::Put(C1), Effect::Get(C2)])),
        Effect::Select(vec![
            SelectEffect::Get(C1, Effect::Put(C2)),
            SelectEffect::Put(C1, Effect::Get(C2)),
        ]),
    ]));
}

/// Fig. 10 lacks the bracket that closes SPAWN in G-PINGPONG, and the text has it after the duals.
#[test]
fn pingpong_with_both_sides_in_one_process_hangs() {
    hangs(Effect::spawn(seq([Effect::Put(C1), Effect::Get(C1)])));
    terminates(seq([Effect::spawn(Effect::Put(C1)), Effect::Get(C1)]));
}

/// Fig. 11 has φ → φ₁; φ₂ for E-SEQ. With φ = PUT(c₁) and φ₁ = φ₂ = ε the getter waits forever.
#[test]
fn e_seq_as_printed_hangs() {
    let before = |part: Effect| seq([Effect::spawn(part), Effect::Get(C1)]);
    terminates(before(Effect::Put(C1)));
    hangs(before(seq([Effect::Empty, Effect::Empty])));
    // With any generated effects in its place, too.
    let generated = |channel| seq([Effect::spawn(Effect::Put(channel)), Effect::Get(channel)]);
    hangs(before(seq([generated(C2), generated(ChannelName(2))])));
    // Mended: φ stays.
    terminates(before(seq([generated(C2), Effect::Put(C1), generated(ChannelName(2))])));
}

/// In G-SELECT φᵢ is chosen for each channel, not for each round: otherwise two children meet.
#[test]
fn select_with_a_new_direction_each_round_hangs() {
    let rounds = |first: Effect, second: Effect| {
        let answer = |action: &Effect| match action.dual() {
            Some(Effect::Get(channel)) => {
                Effect::Select(vec![SelectEffect::Get(channel, Effect::Empty)])
            }
            _ => Effect::Select(vec![SelectEffect::Put(C1, Effect::Empty)]),
        };
        seq([
            Effect::spawn(first.clone()),
            Effect::spawn(second.clone()),
            answer(&first),
            answer(&second),
        ])
    };
    hangs(rounds(Effect::Get(C1), Effect::Put(C1)));
    terminates(rounds(Effect::Put(C1), Effect::Put(C1)));
}

/// R-SPAWN-2 starts the inner process first. The other way round it would come too late.
#[test]
fn a_spawn_that_moves_behind_an_operation_hangs() {
    let outer = seq([Effect::Get(C1), Effect::Put(C2)]);
    let inner = Effect::spawn(Effect::Put(C1));
    terminates(seq([Effect::spawn(seq([inner.clone(), outer.clone()])), Effect::Get(C2)]));
    hangs(seq([Effect::spawn(seq([outer, inner])), Effect::Get(C2)]));
}

/// STRAIT_TERMINATION_PROGRAMS asks for more than the usual 10,000 a heuristic.
#[test]
fn generated_effects_terminate() {
    let programs: u64 = std::env::var("STRAIT_TERMINATION_PROGRAMS")
        .map_or(10_000, |count| count.parse().expect("a number of programs"));
    for heuristic in Heuristic::ALL {
        let mut too_large = 0;
        for index in 0..programs {
            let size = [4, 8, 12, 16][(index % 4) as usize];
            let config = Config { weights: heuristic.weights(), size, ..Config::default() };
            let generator = Generator::new(20, config).expect("the presets are right");
            let effect = generator.effect(index);
            match run(&effect, 100_000) {
                Answer::Terminates(_) => {}
                Answer::TooLarge(_) => too_large += 1,
                Answer::Hangs(waiting) => panic!(
                    "heuristic {}, seed 20, index {index}, size {size} hangs: {effect}\n{waiting:?}",
                    heuristic.name()
                ),
            }
        }
        println!("heuristic {}: {programs} effects, {too_large} too large", heuristic.name());
        assert!(too_large * 100 <= programs, "{too_large} of {programs} were not decided");
    }
}
