//! Why an observation is impossible, in words: the smallest part of it that is impossible already,
//! and what that says about messages: doubled, lost, out of order, from nowhere.

use std::collections::BTreeMap;
use std::fmt;

use strait_calculus::ast::{Block, CaseOp, ExprKind, Stmt, StmtKind};
use strait_calculus::{Event, Explainer, Explanation, FuncId, Observation, Program, Seen, VarId};

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
    /// Nobody sends this value.
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
                write!(f, "the message {value} was received, and nobody sends it")
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

/// The constants that a program sends, in the order they are written, and who sends them.
struct Sent {
    /// Value, channel, block: two of the same channel and block are sent in their order.
    puts: Vec<(i64, (FuncId, VarId), usize)>,
    /// Whether there is a put whose value is computed, or which may run more than once.
    is_open: bool,
}

impl Sent {
    fn of(program: &Program) -> Sent {
        let mut sent = Sent { puts: Vec::new(), is_open: false };
        let mut blocks = 0;
        for function in program.functions.indices() {
            let body = &program.functions[function].body;
            sent.block(function, body, function != program.main, &mut blocks);
        }
        sent
    }

    fn block(&mut self, function: FuncId, block: &Block, repeats: bool, blocks: &mut usize) {
        let number = *blocks;
        *blocks += 1;
        for statement in &block.statements {
            self.statement(function, statement, number, repeats, blocks);
        }
    }

    fn statement(
        &mut self,
        function: FuncId,
        statement: &Stmt,
        block: usize,
        repeats: bool,
        blocks: &mut usize,
    ) {
        let mut put = |channel: &ExprKind, value: &ExprKind, block: usize| match (channel, value) {
            (ExprKind::Var(var), ExprKind::Int(value)) => {
                self.puts.push((*value, (function, *var), block));
                self.is_open |= repeats;
            }
            (_, ExprKind::Unit | ExprKind::Bool(_)) => {}
            _ => self.is_open = true,
        };
        match &statement.kind {
            StmtKind::Put { channel, value } => put(&channel.kind, &value.kind, block),
            StmtKind::Select { cases, default } => {
                for case in cases {
                    if let CaseOp::Put { channel, value } = &case.op {
                        // A case may not be taken: it is in order with nothing.
                        *blocks += 1;
                        put(&channel.kind, &value.kind, *blocks);
                        *blocks += 1;
                    }
                }
                let bodies = cases.iter().map(|case| &case.body).chain(default);
                bodies.for_each(|body| self.block(function, body, repeats, blocks));
            }
            StmtKind::Spawn { body, .. } => self.block(function, body, repeats, blocks),
            StmtKind::While { body, .. } => self.block(function, body, true, blocks),
            StmtKind::If { then, otherwise, .. } => {
                [then].into_iter().chain(otherwise).for_each(|body| {
                    self.block(function, body, repeats, blocks);
                });
            }
            StmtKind::Choose { branches } => {
                branches.iter().for_each(|body| self.block(function, body, repeats, blocks));
            }
            _ => {}
        }
    }

    fn times(&self, value: i64) -> usize {
        self.puts.iter().filter(|(known, ..)| *known == value).count()
    }

    /// Is `first` sent before `second`, by the same process on the same channel?
    fn in_order(&self, first: i64, second: i64) -> bool {
        let place = |value: i64| {
            let mut places = self.puts.iter().enumerate().filter(|(_, put)| put.0 == value);
            let only = places.next();
            places.next().is_none().then_some(only).flatten()
        };
        match (place(first), place(second)) {
            (Some((earlier, one)), Some((later, other))) => {
                earlier < later && one.1 == other.1 && one.2 == other.2
            }
            _ => false,
        }
    }
}

fn mischief(program: &Program, observation: &Observation, core: &Observation) -> Mischief {
    if core.finished {
        return Mischief::FinishedEarly;
    }
    let sent = Sent::of(program);
    let mut times: BTreeMap<i64, usize> = BTreeMap::new();
    integers(observation).for_each(|value| *times.entry(value).or_default() += 1);
    if !sent.is_open {
        let in_core: Vec<i64> = integers(core).collect();
        for value in &in_core {
            if sent.times(*value) == 0 {
                return Mischief::Invented(*value);
            }
            if times.get(value).is_some_and(|times| *times > sent.times(*value)) {
                return Mischief::Doubled(*value);
            }
        }
        for (value, ..) in &sent.puts {
            let later = |other: &&i64| sent.in_order(*value, **other);
            if !times.contains_key(value) && in_core.iter().any(|other| later(&other)) {
                return Mischief::Lost(*value);
            }
        }
    }
    for (name, events) in &core.processes {
        // The core ends with what came too early; what should have come first is behind it.
        let all = observation.processes.get(name).map_or(&[][..], Vec::as_slice);
        let (Some(first), behind) =
            (events.last().and_then(integer), all.get(events.len()..).unwrap_or_default())
        else {
            continue;
        };
        let mut behind = behind.iter().filter_map(integer);
        if let Some(second) = behind.find(|second| sent.in_order(*second, first)) {
            return Mischief::Swapped(first, second);
        }
    }
    let closed = core.processes.values().any(|events| events.last() == Some(&Event::Closed));
    if closed { Mischief::ClosedEarly } else { Mischief::Other }
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
}
