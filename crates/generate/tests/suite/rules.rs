//! Each rule is used when it has a weight and never without one; programs have the size they were
//! asked to have; a program is fixed by seed and index alone.

use strait_calculus::{lambda_chan, print};
use strait_generate::{
    Capabilities, Config, Error, Family, Generated, Generator, Heuristic, Rule, RuleCounts, Weights,
};

const PROGRAMS: u64 = 1000;

fn generator(weights: Weights, size: u32) -> Generator {
    Generator::new(3, Config { weights, size, ..Config::default() }).expect("the setting is right")
}

fn count_rules(generator: &Generator) -> RuleCounts {
    let mut counts = RuleCounts::new();
    for index in 0..PROGRAMS {
        counts.add(&generator.generate(index).rules);
    }
    counts
}

#[test]
fn every_rule_of_the_paper_is_used_in_a_thousand_programs() {
    for heuristic in Heuristic::ALL {
        let weights = heuristic.weights();
        let counts = count_rules(&generator(weights.clone(), 16));
        for (rule, count) in counts.iter().filter(|(rule, _)| rule.family() != Family::Extension) {
            // Without E-CHOICE-DUP no choice begins with gets: generated effects begin with spawns.
            let possible =
                rule != Rule::RChoiceSelectGetGet || weights.thousandths(Rule::EChoiceDup) > 0;
            let wanted = weights.thousandths(rule) > 0 && possible;
            assert_eq!(count > 0, wanted, "{} {rule}: {count}", heuristic.name());
        }
    }
}

#[test]
fn no_rule_is_used_without_a_weight() {
    for absent in Rule::ALL {
        if absent == Rule::GFinal || absent.family() == Family::Extension {
            continue;
        }
        let mut weights = Heuristic::A.weights();
        weights.set(absent, 0);
        let counts = count_rules(&generator(weights, 16));
        assert_eq!(counts.get(absent), 0, "{absent}");
        assert!(counts.get(Rule::GPingPong) + counts.get(Rule::GFanOut) > 0, "{absent}");
    }
}

#[test]
fn each_communicating_rule_works_alone() {
    for rule in [Rule::GPingPong, Rule::GFanOut, Rule::GPipeline, Rule::GSelect] {
        let mut weights = Weights::none();
        weights.set(Rule::GFinal, 1);
        weights.set(rule, 1);
        for (used, count) in count_rules(&generator(weights, 16)).iter() {
            assert_eq!(count > 0, used == rule || used == Rule::GFinal, "{rule}: {used} {count}");
        }
    }
}

fn median_size(generator: &Generator, programs: u64) -> u32 {
    let mut sizes: Vec<u32> =
        (0..programs).map(|index| generator.effect(index).operations() as u32).collect();
    sizes.sort_unstable();
    sizes[sizes.len() / 2]
}

#[test]
fn programs_have_the_size_they_were_asked_to_have() {
    for heuristic in Heuristic::ALL {
        for size in [5, 8, 10, 16, 25, 50, 100, 200] {
            let median = median_size(&generator(heuristic.weights(), size), 300);
            let tolerance = (size as f64 * 0.2).max(1.0);
            let off = (f64::from(median) - f64::from(size)).abs();
            assert!(off <= tolerance, "{} {size}: median {median}", heuristic.name());
        }
    }
}

#[test]
fn huge_programs_do_not_nest_without_end() {
    let generator = generator(Heuristic::A.weights(), 10_000);
    for index in 0..3 {
        let effect = generator.effect(index);
        assert!(effect.depth() < 150, "depth {}", effect.depth());
        assert!(effect.operations() > 5000, "{} operations", effect.operations());
    }
}

#[test]
fn a_program_alone_is_the_program_in_a_batch() {
    let generator = generator(Heuristic::F.weights(), 16);
    let batch: Vec<Generated> = (0..100).map(|index| generator.generate(index)).collect();
    for index in [99, 3, 42, 0] {
        assert_eq!(generator.generate(index), batch[index as usize]);
        assert_eq!(generator.effect(index), batch[index as usize].effect);
    }
    assert_ne!(batch[0], batch[1]);
    let other = Generator::new(4, Config::default()).expect("the setting is right");
    assert_ne!(other.generate(0), batch[0]);
}

/// The program of an effect has that effect: the types and effects of Fig. 9 lead back to it.
#[test]
fn programs_have_the_effect_they_were_made_from() {
    for heuristic in Heuristic::ALL {
        let generator = generator(heuristic.weights(), 16);
        for index in 0..200 {
            let Generated { program, effect, .. } = generator.generate(index);
            let typing = lambda_chan::check(&program).unwrap_or_else(|violations| {
                panic!("index {index}: {violations:?}\n{}", print(&program))
            });
            let channels = typing.channels.len();
            let expected = unordered(effect.normal_form());
            let found = unordered(without_declarations(typing.effect, channels));
            assert_eq!(found, expected, "index {index}\n{}", print(&program));
        }
    }
}

/// What follows the declarations at the start of `main`.
fn without_declarations(
    effect: strait_calculus::Effect,
    channels: usize,
) -> strait_calculus::Effect {
    match effect {
        strait_calculus::Effect::Seq(parts) => {
            parts.into_iter().skip(channels).collect::<strait_calculus::Effect>().normal_form()
        }
        other => other,
    }
}

/// The branches of a choice in a fixed order: the generator draws which one comes first.
fn unordered(effect: strait_calculus::Effect) -> strait_calculus::Effect {
    use strait_calculus::{Effect, SelectEffect};
    match effect {
        Effect::Spawn(body) => Effect::spawn(unordered(*body)),
        Effect::Seq(parts) => parts.into_iter().map(unordered).collect(),
        Effect::Choice(branches) => {
            let mut branches: Vec<Effect> = branches.into_iter().map(unordered).collect();
            branches.sort_by_key(ToString::to_string);
            Effect::Choice(branches)
        }
        Effect::Select(cases) => Effect::Select(
            cases
                .into_iter()
                .map(|case| match case {
                    SelectEffect::Get(channel, body) => SelectEffect::Get(channel, unordered(body)),
                    SelectEffect::Put(channel, body) => SelectEffect::Put(channel, unordered(body)),
                })
                .collect(),
        ),
        other => other,
    }
}

#[test]
fn impossible_wishes_are_explained() {
    let with = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        Generator::new(0, config).expect_err("the wish is impossible").to_string()
    };
    let message = with(|config| config.size = 0);
    assert_eq!(message, "the size is 0: it goes from 2 to 10000 channel operations");
    let message = with(|config| {
        config.weights = Heuristic::E.weights();
        config.capabilities.select_gets = false;
        config.capabilities.select_puts = false;
    });
    assert!(
        message.ends_with("(the target's capabilities forbid those that have one)"),
        "{message}"
    );
    let message = with(|config| config.capabilities.rendezvous = false);
    assert!(message.contains("neither rendezvous nor buffered"), "{message}");
    let message = with(|config| config.capabilities.max_processes = Some(1));
    assert!(message.contains("two processes"), "{message}");
    let message = with(|config| {
        config.capabilities.buffered = true;
        config.capabilities.max_capacity = Some(0);
    });
    assert!(message.contains("holds at least one message"), "{message}");
    let config = Config {
        capabilities: Capabilities { max_processes: Some(0), ..Capabilities::default() },
        ..Config::default()
    };
    assert!(matches!(Generator::new(0, config), Err(Error::ImpossibleCapabilities { .. })));
}
