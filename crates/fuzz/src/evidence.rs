//! Why an observation is impossible, in words: the smallest part of it that is impossible already,
//! and what that says about messages: doubled, lost, out of order, from nowhere.

use std::collections::BTreeMap;
use std::fmt;

use strait_calculus::{Event, Explainer, Explanation, Observation, Program, Seen};

use crate::sent::Sent;

/// States that a smaller observation may take to be refuted.
const STATES: usize = 20_000;

/// What went wrong with messages, as far as it can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mischief {
    /// This value was received more often than it was sent.
    Doubled(i64),
    /// This value was sent, and never received although a later one of the same sender was.
    Lost(i64),
    /// The first was received before the second, and sent after it.
    Swapped(i64, i64),
    /// No process sends this value.
    Invented(i64),
    /// A channel looked closed and empty before it could be.
    ClosedEarly,
    /// Everybody finished, which no schedule with these events allows.
    FinishedEarly,
    /// Something else.
    Other,
}

impl Mischief {
    /// One word, for grouping.
    pub fn word(&self) -> &'static str {
        match self {
            Mischief::Doubled(_) => "doubled",
            Mischief::Lost(_) => "lost",
            Mischief::Swapped(..) => "out of order",
            Mischief::Invented(_) => "from nowhere",
            Mischief::ClosedEarly => "closed early",
            Mischief::FinishedEarly => "finished early",
            Mischief::Other => "impossible",
        }
    }
}

impl fmt::Display for Mischief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mischief::Doubled(value) => {
                write!(f, "the message {value} was received twice, and sent once")
            }
            Mischief::Lost(value) => {
                write!(
                    f,
                    "the message {value} was lost: a later one of its sender arrived, it did not"
                )
            }
            Mischief::Swapped(first, second) => {
                write!(
                    f,
                    "the messages {second} and {first} were sent in this order and received in the other"
                )
            }
            Mischief::Invented(value) => {
                write!(f, "the message {value} was received, and no process sends it")
            }
            Mischief::ClosedEarly => {
                write!(
                    f,
                    "a channel looked closed and empty, and there was still a message to come"
                )
            }
            Mischief::FinishedEarly => {
                write!(f, "all processes finished, and no schedule with these messages lets them")
            }
            Mischief::Other => write!(f, "no schedule gives what was received"),
        }
    }
}

/// Why an observation is impossible.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The smallest part that is impossible already; its processes saw this and maybe more.
    pub core: Observation,
    /// What it says.
    pub mischief: Mischief,
}

/// Looks into an impossible observation.
pub fn evidence(program: &Program, explainer: &Explainer, observation: &Observation) -> Evidence {
    let core = core(explainer, observation);
    let mischief = mischief(program, observation, &core);
    Evidence { core, mischief }
}

/// Leaves out last events of processes for as long as the rest is impossible.
fn core(explainer: &Explainer, observation: &Observation) -> Observation {
    let impossible = |observation: &Observation| {
        matches!(explainer.explain(observation, STATES), Explanation::Impossible { .. })
    };
    let open = Observation { finished: false, ..observation.clone() };
    if !impossible(&open) {
        return observation.clone();
    }
    let mut core = open;
    let names: Vec<String> = core.processes.keys().cloned().collect();
    for name in names {
        loop {
            let mut smaller = core.clone();
            let Some(events) = smaller.processes.get_mut(&name) else { break };
            if events.pop().is_none() {
                smaller.processes.remove(&name);
            }
            if smaller == core || !impossible(&smaller) {
                break;
            }
            core = smaller;
        }
    }
    core.processes.retain(|_, events| !events.is_empty());
    core
}

fn mischief(program: &Program, observation: &Observation, core: &Observation) -> Mischief {
    let sent = Sent::of(program);
    if let Some(swapped) = swapped(&sent, observation) {
        return swapped;
    }
    if core.finished {
        return Mischief::FinishedEarly;
    }
    let mut times: BTreeMap<i64, usize> = BTreeMap::new();
    integers(observation).for_each(|value| *times.entry(value).or_default() += 1);
    if sent.is_counted() {
        let in_core: Vec<i64> = integers(core).collect();
        for value in &in_core {
            match sent.at_most(*value) {
                0 => return Mischief::Invented(*value),
                most if times.get(value).is_some_and(|times| *times > most) => {
                    return Mischief::Doubled(*value);
                }
                _ => {}
            }
        }
        let mut missing = sent.values().filter(|value| !times.contains_key(value));
        let lost = missing.find(|value| in_core.iter().any(|later| sent.implies(*later, *value)));
        if let Some(value) = lost {
            return Mischief::Lost(value);
        }
    }
    let closed = core.processes.values().any(|events| events.last() == Some(&Event::Closed));
    if closed { Mischief::ClosedEarly } else { Mischief::Other }
}

/// Two messages that one process received in the other order than they were sent.
fn swapped(sent: &Sent<'_>, observation: &Observation) -> Option<Mischief> {
    observation.processes.values().find_map(|events| {
        let values: Vec<i64> = events.iter().filter_map(integer).collect();
        let pairs = values
            .iter()
            .enumerate()
            .flat_map(|(at, first)| values[at + 1..].iter().map(move |second| (*first, *second)));
        let mut wrong = pairs.filter(|(first, second)| sent.in_order(*second, *first));
        wrong.next().map(|(first, second)| Mischief::Swapped(first, second))
    })
}

fn integers(observation: &Observation) -> impl Iterator<Item = i64> + '_ {
    observation.processes.values().flatten().filter_map(integer)
}

fn integer(event: &Event) -> Option<i64> {
    match event {
        Event::Received(Seen::Int(value)) => Some(*value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use strait_calculus::parse;

    use super::*;

    fn check(source: &str, seen: &[(&str, &[i64])], finished: bool, expected: &Mischief) {
        let program = parse(source).expect("a program");
        let processes = seen.iter().map(|(name, values)| {
            let events = values.iter().map(|value| Event::Received(Seen::Int(*value)));
            ((*name).to_owned(), events.collect())
        });
        let observation = Observation { processes: processes.collect(), finished };
        let explainer = Explainer::new(&program);
        let explanation = explainer.explain(&observation, usize::MAX);
        assert!(matches!(explanation, Explanation::Impossible { .. }), "{source}");
        assert_eq!(evidence(&program, &explainer, &observation).mischief, *expected, "{source}");
    }

    #[test]
    fn what_happened_to_messages_is_told() {
        let two = "main { chan c: int[2]; spawn { put c 1; put c 2 }; x = get c; y = get c }";
        check(two, &[("main", &[1, 1])], true, &Mischief::Doubled(1));
        check(two, &[("main", &[2, 1])], true, &Mischief::Swapped(2, 1));
        check(two, &[("main", &[1, 7])], true, &Mischief::Invented(7));
        check(two, &[("main", &[2])], false, &Mischief::Lost(1));
        check(two, &[("main", &[1])], true, &Mischief::FinishedEarly);
    }

    #[test]
    fn choices_and_closed_channels_do_not_hide_a_swap() {
        let choice = "main { chan c: int[2]
            spawn { select { put c 1 {} default { put c 1 } }; put c 2; close c }
            spawn { ok = true; while ok { x, ok = get c } }
            y, ok = get c }";
        check(choice, &[("main.2", &[2, 1])], false, &Mischief::Swapped(2, 1));
        check(choice, &[("main", &[1]), ("main.2", &[1])], false, &Mischief::Doubled(1));
    }

    #[test]
    fn what_was_forwarded_may_come_in_any_order() {
        let forwarded = "main { chan c: int; chan d: int
            spawn { put c 1; put c 2 }
            spawn { x = get c; put d x }
            spawn { x = get c; put d x }
            y = get d; z = get d; w = get d }";
        check(forwarded, &[("main", &[2, 1, 1])], false, &Mischief::Other);
    }
}
