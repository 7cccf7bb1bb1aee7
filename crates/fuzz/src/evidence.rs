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
    /// A receive found all senders gone in a program that closes no channel.
    Disconnected,
    /// All processes finished, which no schedule with these events allows.
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
            Mischief::Disconnected => "disconnected",
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
            Mischief::Disconnected => {
                write!(
                    f,
                    "a receive found all senders gone, although every schedule has a message for it"
                )
            }
            Mischief::FinishedEarly => {
                write!(f, "all processes finished, and with what they received not all of them can")
            }
            Mischief::Other => write!(f, "no schedule gives what was received"),
        }
    }
}

/// Why an observation is impossible.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The smallest part that is impossible already. If it is not `finished`, no schedule lets its
    /// processes begin like this, whatever else happens; otherwise it is the whole observation, and
    /// only that all processes saw no more and finished is impossible.
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

/// What is wrong with an observation whatever happened to operations that were given up or not chosen:
/// a message from nowhere, one that was received twice, two of one sender in the other order.
pub fn evidence_of_any(program: &Program, observation: &Observation) -> Option<Evidence> {
    let sent = Sent::of(program);
    let core = Observation { finished: false, ..observation.clone() };
    let found = match swapped(observation, |one, other| sent.waits_in_order(one, other)) {
        None => miscounted(&sent, observation, &core),
        found => found,
    };
    found.map(|mischief| Evidence { core, mischief })
}

/// Leaves out last events of processes for as long as no schedule begins with the rest. An event that
/// is left out may still happen, so whatever is cut, the rest is impossible for a reason of its own.
fn core(explainer: &Explainer, observation: &Observation) -> Observation {
    let impossible = |observation: &Observation| {
        matches!(explainer.explain_beginning(observation, STATES), Explanation::Impossible { .. })
    };
    let mut core = Observation { finished: false, ..observation.clone() };
    if !impossible(&core) {
        return observation.clone();
    }
    let names: Vec<String> = core.processes.keys().cloned().collect();
    for name in names {
        while let Some(smaller) = without_last(&core, &name).filter(&impossible) {
            core = smaller;
        }
    }
    core
}

/// Without the last event of a process; `None` if it has none.
fn without_last(observation: &Observation, name: &str) -> Option<Observation> {
    let mut smaller = observation.clone();
    let events = smaller.processes.get_mut(name)?;
    events.pop()?;
    if events.is_empty() {
        smaller.processes.remove(name);
    }
    Some(smaller)
}

fn mischief(program: &Program, observation: &Observation, core: &Observation) -> Mischief {
    let sent = Sent::of(program);
    if let Some(swapped) = swapped(observation, |one, other| sent.in_order(one, other)) {
        return swapped;
    }
    if core.finished {
        return Mischief::FinishedEarly;
    }
    if let Some(miscounted) = miscounted(&sent, observation, core) {
        return miscounted;
    }
    if sent.is_counted() {
        let is_missing = |value: &i64| !integers(observation).any(|received| received == *value);
        let mut missing = sent.values().filter(is_missing);
        let lost = missing.find(|value| integers(core).any(|later| sent.implies(later, *value)));
        if let Some(value) = lost {
            return Mischief::Lost(value);
        }
    }
    let closed = core.processes.values().any(|events| events.last() == Some(&Event::Closed));
    match (closed, sent.closes()) {
        (true, true) => Mischief::ClosedEarly,
        (true, false) => Mischief::Disconnected,
        (false, _) => Mischief::Other,
    }
}

/// A message of the core that was received more often than it can have been sent.
fn miscounted(sent: &Sent<'_>, observation: &Observation, core: &Observation) -> Option<Mischief> {
    if !sent.is_counted() {
        return None;
    }
    let mut times: BTreeMap<i64, usize> = BTreeMap::new();
    integers(observation).for_each(|value| *times.entry(value).or_default() += 1);
    integers(core).find_map(|value| match sent.at_most(value) {
        0 => Some(Mischief::Invented(value)),
        most if times.get(&value).is_some_and(|times| *times > most) => {
            Some(Mischief::Doubled(value))
        }
        _ => None,
    })
}

/// Two messages that one process received in the other order than they were sent.
fn swapped(observation: &Observation, in_order: impl Fn(i64, i64) -> bool) -> Option<Mischief> {
    observation.processes.values().find_map(|events| {
        let values: Vec<i64> = events.iter().filter_map(integer).collect();
        let pairs = values
            .iter()
            .enumerate()
            .flat_map(|(at, first)| values[at + 1..].iter().map(move |second| (*first, *second)));
        let mut wrong = pairs.filter(|(first, second)| in_order(*second, *first));
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
    fn a_cut_keeps_what_happened_elsewhere() {
        // Both got a message, then one found a channel closed: only that is impossible.
        let source = "main { chan c: int[2]; spawn { put c 1; put c 2 }; spawn { get c }; get c }";
        let program = parse(source).expect("a program");
        let one = |value| Event::Received(Seen::Int(value));
        let processes = [("main", vec![Event::Closed]), ("main.2", vec![one(1)])];
        let processes = processes.map(|(name, events)| (name.to_owned(), events));
        let observation = Observation { processes: processes.into(), finished: true };
        let found = evidence(&program, &Explainer::new(&program), &observation);
        assert_eq!(found.mischief, Mischief::Disconnected);
        assert_eq!(found.core.processes.keys().collect::<Vec<_>>(), ["main"]);
        // 2 came first, so 1 is in the channel: that the other one finds nothing is impossible, and
        // takes both to see.
        let source = "main { chan c: int[2]; spawn { put c 1; put c 2; close c }
            spawn { x, ok = get c }; y, ok = get c }";
        let program = parse(source).expect("a program");
        let processes = [("main", vec![Event::Closed]), ("main.2", vec![one(1)])];
        let processes = processes.map(|(name, events)| (name.to_owned(), events));
        let observation = Observation { processes: processes.into(), finished: true };
        let found = evidence(&program, &Explainer::new(&program), &observation);
        assert_eq!(found.mischief, Mischief::ClosedEarly);
        assert!(!found.core.finished, "{:?}", found.core);
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
