//! The pipeline: (seed, index) → effect → program.
//!
//! [`Generator::generate`] reads top to bottom as in Stiévenart and Madsen, OOPSLA 2020: generation, expansion, reordering
//! (section 4), program generation (section 5.2); then the extensions of the target.

use serde::Serialize;
use strait_calculus::{Effect, Program};

use crate::capabilities::Capabilities;
use crate::draft::Draft;
use crate::error::Error;
use crate::program;
use crate::prover::Prover;
use crate::rule::{Family, Rule, RuleCounts};
use crate::rules::{Builder, Sequence, expansion, extension, generation, reordering, rewriting};
use crate::stream::{Purpose, Stream};
use crate::weights::{Heuristic, Weights};

/// Which programs belong to which index. Grows whenever that changes, so that a recorded index can
/// be told from one of an older generator.
pub const GENERATOR_VERSION: u32 = 4;

/// The size of a program when nothing is said: the operations of a typical program of the paper
/// (Fig. 1 has 14, Fig. 13 and 14 have 10, Fig. 15 has 22).
pub const DEFAULT_SIZE: u32 = 16;
/// The smallest size: one put and one get.
pub const MIN_SIZE: u32 = 2;
/// The largest size.
pub const MAX_SIZE: u32 = 10_000;

/// The most rewriting steps of the reordering phase.
const MAX_REORDERINGS: u32 = 32;

/// How often X-MERGE is tried on one program.
const MERGES: u32 = 3;

/// What kind of programs are wanted.
#[derive(Clone, Debug)]
pub struct Config {
    /// How heavy each rule is.
    pub weights: Weights,
    /// What the target can do.
    pub capabilities: Capabilities,
    /// How many channel operations a program has, in the middle: single programs have a quarter
    /// more or less.
    pub size: u32,
}

impl Default for Config {
    /// Heuristic F within the paper's fragment at the paper's size.
    fn default() -> Self {
        Config {
            weights: Heuristic::F.weights(),
            capabilities: Capabilities::default(),
            size: DEFAULT_SIZE,
        }
    }
}

/// The most operations of a program that is one gadget, roughly.
const GADGET_ROOM: u32 = 8;
/// The fewest operations of a program that is one X-QUIT, roughly.
const QUITTING_ROOM: u32 = 4;

/// Makes program `index` of its seed, in any order.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    size: u32,
    weights: Weights,
    capabilities: Capabilities,
}

/// A program and how it came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The program. It terminates under every schedule.
    pub program: Program,
    /// The effect that it was made from, before any extension.
    pub effect: Effect,
    /// How often each rule was applied.
    pub rules: RuleCounts,
    /// What had to be proved.
    pub proofs: Proofs,
}

/// How often the prover was asked and agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Proofs {
    /// Candidates shown to the prover.
    pub tried: u64,
    /// Candidates that it proved to terminate.
    pub accepted: u64,
}

impl Generator {
    /// A generator for one seed.
    pub fn new(seed: u64, config: Config) -> Result<Self, Error> {
        let Config { weights, capabilities, size } = config;
        if !(MIN_SIZE..=MAX_SIZE).contains(&size) {
            return Err(Error::SizeOutOfRange { size });
        }
        weights.validate()?;
        let weights = possible_weights(weights, &capabilities)?;
        Ok(Generator { seed, size, weights, capabilities })
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The weights in use: those of rules that the target cannot take are 0.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// What the target can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The effect that program `index` is made from.
    pub fn effect(&self, index: u64) -> Effect {
        let mut builder = self.builder(index, Purpose::Program);
        self.draft(&mut builder).0
    }

    /// Program `index`, made by rules that keep termination by construction alone.
    pub fn generate(&self, index: u64) -> Generated {
        let mut builder = self.builder(index, Purpose::Program);
        let (effect, draft) = self.draft(&mut builder);
        let program = draft.finish();
        Generated { program, effect, rules: builder.counts, proofs: Proofs::default() }
    }

    /// Program `index` of another kind: one gadget and nothing around it, whatever the weights and
    /// the size. There are few shapes of these, so each comes again and again: for faults that want
    /// the right shape many thousand times rather than many shapes. A target that takes no gadget
    /// gets what [`Generator::generate`] makes.
    pub fn gadget(&self, index: u64) -> Generated {
        let mut builder = self.builder(index, Purpose::Gadget);
        let mut draft = program::from_effect(&mut builder, &Effect::Empty);
        let room = builder.stream.between(3, GADGET_ROOM);
        if extension::insert_any_gadget(&mut builder, &mut draft, room).is_none() {
            return self.generate(index);
        }
        for rule in [Rule::XTry, Rule::XCancel] {
            if builder.stream.chance(1, 4) {
                extension::rewrite_once(&mut builder, &mut draft, rule);
            }
        }
        let (effect, rules) = (Effect::Empty, builder.counts);
        Generated { program: draft.finish(), effect, rules, proofs: Proofs::default() }
    }

    /// Program `index` of a third kind: X-QUIT and nothing around it, for targets that promise little
    /// about operations which are given up. `None` for a target that takes no such program.
    pub fn quitting(&self, index: u64) -> Option<Generated> {
        let mut builder = self.builder(index, Purpose::Gadget);
        let mut draft = program::from_effect(&mut builder, &Effect::Empty);
        let room = builder.stream.between(QUITTING_ROOM, GADGET_ROOM);
        extension::insert_quitting(&mut builder, &mut draft, room)?;
        let (effect, rules) = (Effect::Empty, builder.counts);
        Some(Generated { program: draft.finish(), effect, rules, proofs: Proofs::default() })
    }

    /// Program `index`, with the rules that have to be proved each time as well. What the prover
    /// does not accept is dropped, so that every index has a program.
    pub fn generate_proved(&self, index: u64, prover: &impl Prover) -> Generated {
        let mut builder = self.builder(index, Purpose::Program);
        let (effect, mut draft) = self.draft(&mut builder);
        let mut rules = builder.counts;
        let mut proofs = Proofs::default();
        let weight = self.weights.thousandths(Rule::XMerge);
        let attempts = if weight == 0 { 0 } else { MERGES };
        for attempt in 0..attempts {
            let mut builder = self.builder(index, Purpose::Attempt(attempt));
            if !builder.stream.chance(weight, weight + 1000) {
                continue;
            }
            let mut candidate = draft.clone();
            if rewriting::merge(&mut builder, &mut candidate).is_none() {
                continue;
            }
            proofs.tried += 1;
            if prover.terminates(&candidate.clone().finish()) == Some(true) {
                proofs.accepted += 1;
                rules.record(Rule::XMerge);
                draft = candidate;
            }
        }
        Generated { program: draft.finish(), effect, rules, proofs }
    }

    /// Sections 4 and 5.2, and the extensions that need no proof.
    fn draft(&self, builder: &mut Builder<'_>) -> (Effect, Draft) {
        let quarter = self.size / 4;
        let size = builder.stream.between(self.size - quarter, self.size + quarter);
        let extensions = self.extension_room(builder, size);
        let effect = self.core_effect(builder, size - extensions);
        let mut draft = program::from_effect(builder, &effect);
        rewriting::capacities(builder, &mut draft);
        extension::extend(builder, &mut draft, extensions);
        (effect, draft)
    }

    fn builder(&self, index: u64, purpose: Purpose) -> Builder<'_> {
        let stream = Stream::new(self.seed, index, purpose);
        Builder::new(&self.weights, &self.capabilities, stream)
    }

    /// Section 4: generate, expand, reorder.
    fn core_effect(&self, builder: &mut Builder<'_>, size: u32) -> Effect {
        let mut effect = self.generation(builder, size);
        let written = effect.operations() as u32;
        expansion::expand(builder, &mut effect, size.saturating_sub(written));
        let steps = builder.stream.below(2 + size / 4).min(MAX_REORDERINGS);
        reordering::reorder(builder, &mut effect, steps);
        effect
    }

    /// How many operations the extensions may add: by their share in all weights, on average.
    fn extension_room(&self, builder: &mut Builder<'_>, size: u32) -> u32 {
        let extension: u32 =
            extension::GROWING.into_iter().map(|rule| self.weights.thousandths(rule)).sum();
        if extension == 0 {
            return 0;
        }
        let paper = self.weights.total(Family::Generation) + self.weights.total(Family::Expansion);
        let twice = 2 * u64::from(size) * u64::from(extension) / u64::from(extension + paper);
        let most = (twice as u32).min(size - builder.least().min(size));
        builder.stream.below(most + 1)
    }

    /// Leaves room for the expansion rules by their share in all weights, at most half.
    fn generation(&self, builder: &mut Builder<'_>, size: u32) -> Effect {
        let least = builder.least();
        let expansion = u64::from(self.expansion_weight());
        let generation = u64::from(self.weights.total(Family::Generation));
        let room =
            (u64::from(size) * expansion / (expansion + generation)).min(u64::from(size) / 2);
        let budget = (size - room as u32).max(least);

        let mut parts = Sequence::new();
        generation::hole(builder, budget, 0, &mut parts);
        // What the rules could not use for reasons of divisibility goes into another effect.
        while self.weights.thousandths(Rule::GSeq) > 0 {
            let written: usize = parts.iter().map(Effect::operations).sum();
            let left = budget.saturating_sub(written as u32);
            if left < least || builder.processes_left() == 0 {
                break;
            }
            builder.counts.record(Rule::GSeq);
            generation::hole(builder, left, 0, &mut parts);
        }
        Effect::Seq(parts)
    }

    /// The weight of the expansion rules that can find a place at all.
    fn expansion_weight(&self) -> u32 {
        let weight = |rule| self.weights.thousandths(rule);
        let makes_selects = [Rule::GSelect, Rule::EGetSelect, Rule::EPutSelect];
        let selects = makes_selects.into_iter().any(|rule| weight(rule) > 0);
        let total = self.weights.total(Family::Expansion);
        if selects { total } else { total - weight(Rule::ESelectDup) }
    }
}

/// Sets the weights of what the target cannot do to 0.
fn possible_weights(mut weights: Weights, capabilities: &Capabilities) -> Result<Weights, Error> {
    if !capabilities.rendezvous && !capabilities.buffered && !capabilities.unbounded {
        let reason = "channels are neither rendezvous nor buffered nor unbounded";
        return Err(Error::ImpossibleCapabilities { reason });
    }
    if capabilities.max_processes.is_some_and(|most| most < 2) {
        let reason = "communication takes at least two processes";
        return Err(Error::ImpossibleCapabilities { reason });
    }
    if capabilities.buffered && capabilities.max_capacity == Some(0) {
        let reason = "a buffered channel holds at least one message";
        return Err(Error::ImpossibleCapabilities { reason });
    }
    for rule in Rule::ALL {
        if !is_possible(rule, capabilities) {
            weights.set(rule, 0);
        }
    }
    match weights.validate() {
        Err(Error::NothingCommunicates { .. }) => {
            Err(Error::NothingCommunicates { forbidden: true })
        }
        other => other.map(|()| weights),
    }
}

/// Can a target with these capabilities take what the rule makes?
fn is_possible(rule: Rule, capabilities: &Capabilities) -> bool {
    let Capabilities { select_gets, select_puts, same_channel_twice, .. } = *capabilities;
    match rule {
        Rule::GSelect => select_gets || select_puts,
        Rule::EGetSelect => select_gets && same_channel_twice,
        Rule::EPutSelect => select_puts && same_channel_twice,
        Rule::ESelectDup => same_channel_twice && (select_gets || select_puts),
        Rule::RChoiceSelectGetGet => select_gets,
        rule if rule.family() == Family::Extension => extension::is_possible(rule, capabilities),
        _ => true,
    }
}
