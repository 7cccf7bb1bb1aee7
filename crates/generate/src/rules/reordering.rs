//! Effect reordering (Stiévenart and Madsen, OOPSLA 2020, Fig. 12): parts of an effect change places and it keeps
//! terminating. No rule here adds or removes an operation.
//!
//! Every rule rewrites one random place and says whether it found one.

use strait_calculus::{Effect, SelectEffect};

use super::{Builder, REWRITTEN_DEPTH, Sequence, cases_mut, nth_part, random_place};
use crate::rule::Rule;

/// The rules of Fig. 12.
pub const RULES: [Rule; 4] =
    [Rule::RSelect, Rule::RChoiceSelectGetGet, Rule::RSpawn1, Rule::RSpawn2];

/// Applies up to `steps` rules drawn by weight.
pub fn reorder(builder: &mut Builder<'_>, effect: &mut Effect, steps: u32) {
    let mut weights = RULES.map(|rule| builder.weights.thousandths(rule));
    for _ in 0..steps {
        let Some(drawn) = builder.stream.weighted(&weights) else {
            return;
        };
        let applied = match RULES[drawn] {
            Rule::RSelect => select(builder, effect),
            Rule::RChoiceSelectGetGet => choice_select_get_get(builder, effect),
            Rule::RSpawn1 => spawn_1(builder, effect),
            _ => spawn_2(builder, effect),
        };
        if applied.is_some() {
            builder.counts.record(RULES[drawn]);
        } else {
            weights[drawn] = 0;
        }
    }
}

/// R-SELECT: φˢʳ₁ ⊕ φˢʳ₂ → φˢʳ₂ ⊕ φˢʳ₁, for two cases that stand side by side.
fn select(builder: &mut Builder<'_>, effect: &mut Effect) -> Option<()> {
    let fits = |part: &Effect| matches!(part, Effect::Select(cases) if cases.len() > 1);
    let (sequence, place) = random_place(&mut builder.stream, effect, |sequence, _| {
        sequence.iter().filter(|part| fits(part)).count()
    })?;
    let position = nth_part(sequence, place, fits)?;
    let cases = cases_mut(&mut sequence[position])?;
    let left = builder.stream.position(cases.len() - 1);
    cases.swap(left, left + 1);
    Some(())
}

/// R-CHOICESELECTGETGET: (GET(c₁); φ₁) + (GET(c₂); φ₂) → SELGET(c₁, φ₁) ⊕ SELGET(c₂, φ₂).
///
/// Sound with rivals on c₁ and c₂ too: whatever the select does the choice could have done, and a
/// select that waits forever would be a choice that waits forever on either channel.
fn choice_select_get_get(builder: &mut Builder<'_>, effect: &mut Effect) -> Option<()> {
    let twice = builder.capabilities.same_channel_twice;
    let fits = |part: &Effect| is_choice_of_gets(part, twice);
    let (sequence, place) = random_place(&mut builder.stream, effect, |sequence, _| {
        sequence.iter().filter(|part| fits(part)).count()
    })?;
    let position = nth_part(sequence, place, fits)?;
    let Effect::Choice(branches) = std::mem::take(&mut sequence[position]) else {
        return None;
    };
    let cases = branches.into_iter().filter_map(|branch| match branch {
        Effect::Seq(mut parts) if !parts.is_empty() => match parts.remove(0) {
            Effect::Get(channel) => Some(SelectEffect::Get(channel, Effect::Seq(parts))),
            _ => None,
        },
        _ => None,
    });
    sequence[position] = Effect::Select(cases.collect());
    Some(())
}

/// Does every branch begin with a get, on different channels unless they may be the same?
fn is_choice_of_gets(part: &Effect, same_channel_twice: bool) -> bool {
    let Effect::Choice(branches) = part else {
        return false;
    };
    let head = |branch: &Effect| match branch {
        Effect::Seq(parts) => match parts.first() {
            Some(Effect::Get(channel)) => Some(*channel),
            _ => None,
        },
        _ => None,
    };
    branches.iter().enumerate().all(|(position, branch)| match head(branch) {
        Some(channel) => {
            same_channel_twice
                || branches[..position].iter().all(|other| head(other) != Some(channel))
        }
        None => false,
    })
}

/// R-SPAWN-1: SPAWN(φ₁); SPAWN(φ₂) → SPAWN(φ₂); SPAWN(φ₁).
fn spawn_1(builder: &mut Builder<'_>, effect: &mut Effect) -> Option<()> {
    let (sequence, left) = two_spawns(builder, effect, u32::MAX)?;
    sequence.swap(left, left + 1);
    Some(())
}

/// R-SPAWN-2: SPAWN(φ₁); SPAWN(φ₂) → SPAWN(SPAWN(φ₂); φ₁).
fn spawn_2(builder: &mut Builder<'_>, effect: &mut Effect) -> Option<()> {
    let (sequence, left) = two_spawns(builder, effect, REWRITTEN_DEPTH)?;
    let inner = sequence.remove(left + 1);
    if let Effect::Spawn(outer) = &mut sequence[left]
        && let Effect::Seq(parts) = outer.as_mut()
    {
        parts.insert(0, inner);
    }
    Some(())
}

/// Two spawns side by side, above the given depth: their sequence and the position of the first.
fn two_spawns<'e>(
    builder: &mut Builder<'_>,
    effect: &'e mut Effect,
    below_depth: u32,
) -> Option<(&'e mut Sequence, usize)> {
    let is_pair = |pair: &[Effect]| pair.iter().all(|part| matches!(part, Effect::Spawn(_)));
    let (sequence, place) = random_place(&mut builder.stream, effect, |sequence, depth| {
        if depth < below_depth {
            sequence.windows(2).filter(|pair| is_pair(pair)).count()
        } else {
            0
        }
    })?;
    let left = sequence
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| is_pair(pair))
        .map(|(position, _)| position)
        .nth(place)?;
    Some((sequence, left))
}
