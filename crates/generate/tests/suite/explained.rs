//! Two ways to explain an observation agree on generated programs: weaving the scripts of its
//! processes, and searching states. Asked about what happened and about near misses.
//!
//! `STRAIT_TEST_SEED` changes the programs, `STRAIT_TEST_COUNT` how many are tried.

use strait_calculus::{
    Event, Explainer, Explanation, Machine, Observation, Recording, Seen, print,
};
use strait_explore::{Limits, random};
use strait_generate::{Capabilities, Config, Generator, Heuristic};

/// Where the search over states is given up.
const STATES: usize = 5_000;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The observation with one thing changed, by a number.
fn changed(observation: &Observation, number: usize) -> Observation {
    let mut observation = observation.clone();
    let count = observation.processes.len().max(1);
    let Some(events) = observation.processes.values_mut().nth(number % count) else {
        return observation;
    };
    let at = number / 7 % events.len().max(1);
    match number % 6 {
        0 => drop(events.pop()),
        1 => events.extend(events.last().copied()),
        2 if !events.is_empty() => events.swap(0, at),
        3 if !events.is_empty() => events[at] = Event::Received(Seen::Int(3)),
        4 if !events.is_empty() => drop(events.remove(at)),
        _ => observation.finished = !observation.finished,
    }
    observation.processes.retain(|_, events| !events.is_empty());
    observation
}

#[test]
fn weaving_and_searching_agree() {
    let seed = number("STRAIT_TEST_SEED", 5);
    let count = number("STRAIT_TEST_COUNT", 150);
    let mut answers = [0, 0, 0];
    let unalike = Capabilities::all();
    let alike = Capabilities { integers: false, ..Capabilities::all() };
    for (capabilities, size) in [(&unalike, 8), (&unalike, 24), (&alike, 8), (&alike, 16)] {
        for heuristic in [Heuristic::A, Heuristic::F] {
            let capabilities = capabilities.clone();
            let config = Config { weights: heuristic.weights(), capabilities, size };
            let generator = Generator::new(seed, config).expect("a correct setting");
            for index in 0..count {
                let program = generator.generate(index).program;
                let machine = Machine::new(&program, Recording::Everything);
                let report = random(&machine, index, 1, &Limits::default());
                let Some(found) = report.found.first() else { continue };
                let happened = found.outcome.observation();
                let explainer = Explainer::new(&program);
                let near = (0..4).map(|nth| changed(&happened, (index * 4 + nth) as usize));
                for (nth, observation) in [happened.clone()].into_iter().chain(near).enumerate() {
                    let woven = explainer.explain(&observation, usize::MAX);
                    let searched = explainer.search(&observation, STATES);
                    if matches!(searched, Explanation::Unknown { .. }) {
                        answers[2] += 1;
                        continue;
                    }
                    let context = || format!("index {index}: {observation:?}\n{}", print(&program));
                    let answer = searched.is_possible();
                    assert_eq!(woven.is_possible(), answer, "{}", context());
                    assert!(nth > 0 || answer, "{}", context());
                    answers[usize::from(answer)] += 1;
                    if let Explanation::Possible { schedule } = woven {
                        assert!(schedule.steps().is_some(), "{}", context());
                    }
                }
            }
        }
    }
    assert!(answers[0] > count && answers[1] > 4 * count, "{answers:?}");
    assert!(answers[2] < (answers[0] + answers[1]) / 10, "{answers:?}");
}
