//! Effects (Stiévenart and Madsen, OOPSLA 2020, Fig. 8): what a piece of a program does with channels and processes, and
//! nothing else of it.
//!
//! | paper | here |
//! |---|---|
//! | ε | [`Effect::Empty`] |
//! | CHAN(c), GET(c), PUT(c) | [`Effect::Chan`], [`Effect::Get`], [`Effect::Put`] |
//! | SPAWNᵖ(φ) | [`Effect::Spawn`] (processes need no name here: nothing refers to them) |
//! | φ₁; φ₂ | [`Effect::Seq`] |
//! | φ₁ + φ₂ | [`Effect::Choice`] |
//! | φˢʳ₁ ⊕ φˢʳ₂ | [`Effect::Select`] |
//! | SELGET(c, φ), SELPUT(c, φ) | [`SelectEffect::Get`], [`SelectEffect::Put`] |
//!
//! The binary operators of the paper are associative, so here they hold any number of parts. Two
//! effects that differ only in how they are bracketed or in idle ε have one [`Effect::normal_form`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::language::index::Idx;

/// The static name of a channel: λ_chan has no loops, so each place that makes a channel makes one.
/// The first is written `c1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChannelName(pub u32);

impl Idx for ChannelName {
    fn new(position: usize) -> Self {
        debug_assert!(position <= u32::MAX as usize);
        ChannelName(position as u32)
    }
    fn position(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ChannelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "c{}", u64::from(self.0) + 1)
    }
}

/// φ: what a piece of a program does with channels and processes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Effect {
    /// ε: nothing.
    #[default]
    Empty,
    /// CHAN(c): makes the channel.
    Chan(ChannelName),
    /// GET(c): receives from the channel.
    Get(ChannelName),
    /// PUT(c): sends on the channel.
    Put(ChannelName),
    /// SPAWN(φ): starts a process with that effect.
    Spawn(Box<Effect>),
    /// φ₁; φ₂; …: one after the other.
    Seq(Vec<Effect>),
    /// φ₁ + φ₂ + …: one of them, and nothing says which.
    Choice(Vec<Effect>),
    /// φˢʳ₁ ⊕ φˢʳ₂ ⊕ …: one of them, whichever finds a partner.
    Select(Vec<SelectEffect>),
}

/// φˢʳ: the effect of one case of a select.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SelectEffect {
    /// SELGET(c, φ): receives from the channel, then φ.
    Get(ChannelName, Effect),
    /// SELPUT(c, φ): sends on the channel, then φ.
    Put(ChannelName, Effect),
}

impl SelectEffect {
    /// The channel that the case waits for.
    pub fn channel(&self) -> ChannelName {
        match self {
            SelectEffect::Get(channel, _) | SelectEffect::Put(channel, _) => *channel,
        }
    }

    /// What follows once the case is taken.
    pub fn body(&self) -> &Effect {
        match self {
            SelectEffect::Get(_, body) | SelectEffect::Put(_, body) => body,
        }
    }

    /// What follows, to be changed.
    pub fn body_mut(&mut self) -> &mut Effect {
        match self {
            SelectEffect::Get(_, body) | SelectEffect::Put(_, body) => body,
        }
    }
}

impl Effect {
    /// SPAWN(φ).
    pub fn spawn(effect: Effect) -> Effect {
        Effect::Spawn(Box::new(effect))
    }

    /// The dual (section 3.4): the operation that the partner performs. Only a single get or put
    /// has one.
    pub fn dual(&self) -> Option<Effect> {
        match self {
            Effect::Get(channel) => Some(Effect::Put(*channel)),
            Effect::Put(channel) => Some(Effect::Get(*channel)),
            _ => None,
        }
    }

    /// How many gets and puts are written in it, those of select cases included.
    pub fn operations(&self) -> usize {
        match self {
            Effect::Empty | Effect::Chan(_) => 0,
            Effect::Get(_) | Effect::Put(_) => 1,
            Effect::Spawn(effect) => effect.operations(),
            Effect::Seq(effects) | Effect::Choice(effects) => {
                effects.iter().map(Effect::operations).sum()
            }
            Effect::Select(cases) => cases.iter().map(|case| 1 + case.body().operations()).sum(),
        }
    }

    /// How many levels of spawns, choices and selects lie inside one another.
    pub fn depth(&self) -> usize {
        let deepest = |effects: &[Effect]| effects.iter().map(Effect::depth).max().unwrap_or(0);
        match self {
            Effect::Empty | Effect::Chan(_) | Effect::Get(_) | Effect::Put(_) => 0,
            Effect::Spawn(effect) => 1 + effect.depth(),
            Effect::Seq(effects) => deepest(effects),
            Effect::Choice(effects) => 1 + deepest(effects),
            Effect::Select(cases) => {
                1 + cases.iter().map(|case| case.body().depth()).max().unwrap_or(0)
            }
        }
    }

    /// The representative of all effects that differ only in brackets and ε: sequences and choices
    /// are flat, nothing in a sequence is ε, and no sequence or choice has a single part.
    pub fn normal_form(self) -> Effect {
        match self {
            Effect::Empty | Effect::Chan(_) | Effect::Get(_) | Effect::Put(_) => self,
            Effect::Spawn(effect) => Effect::spawn(effect.normal_form()),
            Effect::Seq(effects) => {
                let mut flat = Vec::with_capacity(effects.len());
                for effect in effects {
                    match effect.normal_form() {
                        Effect::Empty => {}
                        Effect::Seq(parts) => flat.extend(parts),
                        part => flat.push(part),
                    }
                }
                match flat.len() {
                    0 => Effect::Empty,
                    1 => flat.remove(0),
                    _ => Effect::Seq(flat),
                }
            }
            Effect::Choice(effects) => {
                let mut flat = Vec::with_capacity(effects.len());
                for effect in effects {
                    match effect.normal_form() {
                        Effect::Choice(parts) => flat.extend(parts),
                        part => flat.push(part),
                    }
                }
                match flat.len() {
                    0 => Effect::Empty,
                    1 => flat.remove(0),
                    _ => Effect::Choice(flat),
                }
            }
            Effect::Select(cases) => Effect::Select(
                cases
                    .into_iter()
                    .map(|case| match case {
                        SelectEffect::Get(channel, body) => {
                            SelectEffect::Get(channel, body.normal_form())
                        }
                        SelectEffect::Put(channel, body) => {
                            SelectEffect::Put(channel, body.normal_form())
                        }
                    })
                    .collect(),
            ),
        }
    }

    fn is_compound(&self) -> bool {
        match self {
            Effect::Seq(effects) | Effect::Choice(effects) => !effects.is_empty(),
            Effect::Select(cases) => !cases.is_empty(),
            _ => false,
        }
    }
}

impl FromIterator<Effect> for Effect {
    /// The effects one after the other.
    fn from_iter<Effects: IntoIterator<Item = Effect>>(effects: Effects) -> Self {
        Effect::Seq(effects.into_iter().collect())
    }
}

/// The paper's notation, with brackets around every compound part: `SPAWN(PUT(c1)); GET(c1)`.
impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Empty => write!(formatter, "ε"),
            Effect::Chan(channel) => write!(formatter, "CHAN({channel})"),
            Effect::Get(channel) => write!(formatter, "GET({channel})"),
            Effect::Put(channel) => write!(formatter, "PUT({channel})"),
            Effect::Spawn(effect) => write!(formatter, "SPAWN({effect})"),
            Effect::Seq(effects) => write_joined(formatter, effects, "; "),
            Effect::Choice(effects) => write_joined(formatter, effects, " + "),
            Effect::Select(cases) if cases.is_empty() => write!(formatter, "⊕"),
            Effect::Select(cases) => {
                for (position, case) in cases.iter().enumerate() {
                    let separator = if position == 0 { "" } else { " ⊕ " };
                    write!(formatter, "{separator}{case}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for SelectEffect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectEffect::Get(channel, body) => write!(formatter, "SELGET({channel}, {body})"),
            SelectEffect::Put(channel, body) => write!(formatter, "SELPUT({channel}, {body})"),
        }
    }
}

fn write_joined(
    formatter: &mut fmt::Formatter<'_>,
    effects: &[Effect],
    separator: &str,
) -> fmt::Result {
    if effects.is_empty() {
        return write!(formatter, "ε");
    }
    for (position, effect) in effects.iter().enumerate() {
        if position > 0 {
            write!(formatter, "{separator}")?;
        }
        if effects.len() > 1 && effect.is_compound() {
            write!(formatter, "({effect})")?;
        } else {
            write!(formatter, "{effect}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const C1: ChannelName = ChannelName(0);
    const C2: ChannelName = ChannelName(1);

    fn shows(effect: Effect, text: &str) {
        assert_eq!(effect.to_string(), text);
    }

    #[test]
    fn effects_are_written_as_in_the_paper() {
        shows(Effect::Empty, "ε");
        shows(
            Effect::from_iter([Effect::spawn(Effect::Put(C1)), Effect::Get(C1)]),
            "SPAWN(PUT(c1)); GET(c1)",
        );
        let sequence = Effect::from_iter([Effect::Get(C1), Effect::Get(C2)]);
        shows(
            Effect::from_iter([
                Effect::Chan(C1),
                Effect::Choice(vec![sequence.clone(), Effect::Empty]),
            ]),
            "CHAN(c1); ((GET(c1); GET(c2)) + ε)",
        );
        shows(
            Effect::Select(vec![
                SelectEffect::Get(C1, sequence),
                SelectEffect::Put(C2, Effect::Empty),
            ]),
            "SELGET(c1, GET(c1); GET(c2)) ⊕ SELPUT(c2, ε)",
        );
    }

    #[test]
    fn only_single_operations_have_duals() {
        assert_eq!(Effect::Get(C1).dual(), Some(Effect::Put(C1)));
        assert_eq!(Effect::Put(C2).dual(), Some(Effect::Get(C2)));
        assert_eq!(Effect::spawn(Effect::Put(C2)).dual(), None);
    }

    #[test]
    fn brackets_and_idle_parts_do_not_matter_to_the_normal_form() {
        let nested = Effect::from_iter([
            Effect::Empty,
            Effect::from_iter([Effect::Get(C1), Effect::from_iter([Effect::Put(C2)])]),
            Effect::spawn(Effect::from_iter([Effect::Empty, Effect::Empty])),
        ]);
        shows(nested.normal_form(), "GET(c1); PUT(c2); SPAWN(ε)");
        let choices = Effect::Choice(vec![
            Effect::Get(C1),
            Effect::Choice(vec![Effect::Empty, Effect::from_iter([Effect::Put(C1)])]),
        ]);
        shows(choices.normal_form(), "GET(c1) + ε + PUT(c1)");
        assert_eq!(Effect::from_iter([]).normal_form(), Effect::Empty);
    }

    #[test]
    fn operations_are_counted_in_cases_too() {
        let effect = Effect::from_iter([
            Effect::spawn(Effect::Put(C1)),
            Effect::Select(vec![
                SelectEffect::Get(C1, Effect::Get(C2)),
                SelectEffect::Get(C2, Effect::Empty),
            ]),
        ]);
        assert_eq!(effect.operations(), 4);
        assert_eq!(effect.depth(), 1);
    }
}
