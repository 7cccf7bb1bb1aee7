//! The rules, one file a family, and what they share: the [`Builder`]. Those of Stiévenart and Madsen, OOPSLA 2020 work on
//! effects, those beyond it ([`extension`]) on the program.
//!
//! A rule of [`generation`] writes an effect of about the operations it is given (its *budget*) and
//! passes what it does not use itself to its holes □. A rule of [`expansion`] or [`reordering`]
//! rewrites a random place of a whole effect.
//!
//! While rules run, the body of every spawn, branch and case is an [`Effect::Seq`], however short.
//! That invariant gives each rewriting rule one kind of place to look at.

pub mod expansion;
pub mod extension;
pub mod gadgets;
pub mod generation;
pub mod quitting;
pub mod reordering;
pub mod rewriting;

use smallvec::{SmallVec, smallvec};
use strait_calculus::{ChannelName, Effect, SelectEffect};

use crate::capabilities::Capabilities;
use crate::rule::{Family, Rule, RuleCounts};
use crate::stream::Stream;
use crate::weights::Weights;

/// How deep spawns, branches and cases may nest while an effect is generated.
pub const GENERATED_DEPTH: u32 = 24;

/// How deep they may nest after rewriting.
pub const REWRITTEN_DEPTH: u32 = 60;

/// The parts of one effect in order.
pub type Sequence = Vec<Effect>;

/// The budgets of the holes of one rule.
pub type Shares = SmallVec<[u32; 16]>;

/// One effect in the making: what the rules draw from and count in.
#[derive(Debug)]
pub struct Builder<'g> {
    /// The weights, those of rules the target cannot take set to 0.
    pub weights: &'g Weights,
    /// What the target can do.
    pub capabilities: &'g Capabilities,
    /// Where every decision comes from.
    pub stream: Stream,
    /// How often each rule was applied.
    pub counts: RuleCounts,
    next_channel: u32,
    processes_left: u32,
    least: u32,
    generation_weight: u32,
}

impl<'g> Builder<'g> {
    /// Nothing built yet.
    pub fn new(weights: &'g Weights, capabilities: &'g Capabilities, stream: Stream) -> Self {
        let small = [Rule::GPingPong, Rule::GFanOut, Rule::GSelect];
        let any_small = small.into_iter().any(|rule| weights.thousandths(rule) > 0);
        Builder {
            weights,
            capabilities,
            stream,
            counts: RuleCounts::new(),
            next_channel: 0,
            processes_left: capabilities.max_processes.map_or(u32::MAX, |most| most.max(1) - 1),
            least: if any_small { 2 } else { 4 },
            generation_weight: weights.total(Family::Generation),
        }
    }

    /// "c is fresh": a channel that nothing else refers to.
    pub fn fresh_channel(&mut self) -> ChannelName {
        self.next_channel += 1;
        ChannelName(self.next_channel - 1)
    }

    /// The number of channels so far.
    pub fn channels(&self) -> u32 {
        self.next_channel
    }

    /// How many processes may still be spawned.
    pub fn processes_left(&self) -> u32 {
        self.processes_left
    }

    /// Sets processes aside for a rule, before its holes can take them.
    fn reserve(&mut self, processes: u32) {
        self.processes_left = self.processes_left.saturating_sub(processes);
    }

    /// May both ends of a channel be used by both of two processes? Not when only one process may
    /// receive, and not over a buffer, from which a process could take its own message.
    fn may_turn(&self) -> bool {
        let capabilities = self.capabilities;
        capabilities.many_receivers && capabilities.many_senders && capabilities.rendezvous
    }

    /// φ ∈ {GET(c), PUT(c)}
    pub fn get_or_put(&mut self, channel: ChannelName) -> Effect {
        if self.stream.flip() { Effect::Get(channel) } else { Effect::Put(channel) }
    }

    /// The operations of the smallest effect that communicates.
    pub fn least(&self) -> u32 {
        self.least
    }

    /// How often a rule repeats its pattern, which costs `cost` operations a time: at most `usual`
    /// times, unless there is nowhere else to put the budget.
    fn repetitions(&mut self, budget: u32, cost: u32, usual: u32, depth: u32) -> u32 {
        let affordable = (budget / cost).max(1);
        if self.capabilities.one_message && usual == 1 {
            1
        } else if depth >= GENERATED_DEPTH {
            affordable
        } else {
            self.stream.between(1, affordable.min(usual))
        }
    }

    /// Divides what a rule has left among its holes. By G-FINAL's weight a hole stays ε.
    fn share(&mut self, rest: u32, holes: u32) -> Shares {
        let mut shares: Shares = smallvec![0; holes as usize];
        let least = self.least();
        if rest < least || holes == 0 {
            return shares;
        }
        let last = self.weights.thousandths(Rule::GFinal);
        let all = self.generation_weight;
        let mut open: SmallVec<[u32; 16]> = SmallVec::new();
        for hole in 0..holes {
            if !self.stream.chance(last, all) {
                open.push(hole);
            }
        }
        if open.is_empty() {
            open.push(self.stream.below(holes));
        }
        let mut remaining = rest;
        while remaining >= least {
            let hole = open[self.stream.position(open.len())];
            let mut chunk = self.stream.between(least, remaining);
            // Most patterns come in pairs, and no remainder may be too small to be of use.
            chunk += chunk % 2;
            if remaining < chunk + least {
                chunk = remaining;
            }
            shares[hole as usize] += chunk;
            remaining -= chunk;
        }
        shares
    }
}

/// Calls `visit` on every sequence of an effect: the outermost one, and the bodies of spawns,
/// branches and cases, each with its depth.
pub fn for_each_sequence<'e>(
    effect: &'e Effect,
    depth: u32,
    visit: &mut impl FnMut(&'e Sequence, u32),
) {
    match effect {
        Effect::Empty | Effect::Chan(_) | Effect::Get(_) | Effect::Put(_) => {}
        Effect::Spawn(body) => for_each_sequence(body, depth + 1, visit),
        Effect::Seq(parts) => {
            visit(parts, depth);
            for part in parts {
                for_each_sequence(part, depth, visit);
            }
        }
        Effect::Choice(branches) => {
            for branch in branches {
                for_each_sequence(branch, depth + 1, visit);
            }
        }
        Effect::Select(cases) => {
            for case in cases {
                for_each_sequence(case.body(), depth + 1, visit);
            }
        }
    }
}

/// A place in an effect: a part of one of its sequences.
///
/// `count` says how many places each sequence has (it sees the sequence and its depth), `wanted`
/// counts them through; gives the sequence and which of its places it is.
pub fn nth_place<'e>(
    effect: &'e mut Effect,
    depth: u32,
    wanted: &mut usize,
    count: &impl Fn(&Sequence, u32) -> usize,
) -> Option<(&'e mut Sequence, usize)> {
    match effect {
        Effect::Empty | Effect::Chan(_) | Effect::Get(_) | Effect::Put(_) => None,
        Effect::Spawn(body) => nth_place(body, depth + 1, wanted, count),
        Effect::Seq(parts) => {
            let here = count(parts, depth);
            if *wanted < here {
                return Some((parts, *wanted));
            }
            *wanted -= here;
            parts.iter_mut().find_map(|part| nth_place(part, depth, wanted, count))
        }
        Effect::Choice(branches) => {
            branches.iter_mut().find_map(|branch| nth_place(branch, depth + 1, wanted, count))
        }
        Effect::Select(cases) => {
            cases.iter_mut().find_map(|case| nth_place(case.body_mut(), depth + 1, wanted, count))
        }
    }
}

/// A random place among all that `count` finds, each as likely as any other.
pub fn random_place<'e>(
    stream: &mut Stream,
    effect: &'e mut Effect,
    count: impl Fn(&Sequence, u32) -> usize,
) -> Option<(&'e mut Sequence, usize)> {
    let mut places = 0;
    for_each_sequence(effect, 0, &mut |sequence, depth| places += count(sequence, depth));
    if places == 0 {
        return None;
    }
    let mut wanted = stream.position(places);
    nth_place(effect, 0, &mut wanted, &count)
}

/// The position of the n-th part of a sequence that fits.
fn nth_part(sequence: &Sequence, n: usize, fits: impl Fn(&Effect) -> bool) -> Option<usize> {
    sequence.iter().enumerate().filter(|(_, part)| fits(part)).map(|(position, _)| position).nth(n)
}

/// The cases of a select, to be changed.
fn cases_mut(part: &mut Effect) -> Option<&mut Vec<SelectEffect>> {
    match part {
        Effect::Select(cases) => Some(cases),
        _ => None,
    }
}
