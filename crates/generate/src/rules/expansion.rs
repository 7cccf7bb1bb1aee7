//! Effect expansion (Stiévenart and Madsen, OOPSLA 2020, Fig. 11): a terminating effect grows and keeps terminating.
//!
//! Every rule rewrites one random place of the effect and says how many operations it added, at
//! most `room`; `None` when it found no place.

use strait_calculus::{Effect, SelectEffect};

use super::{
    Builder, GENERATED_DEPTH, REWRITTEN_DEPTH, Sequence, cases_mut, generation, nth_part,
    random_place,
};
use crate::rule::Rule;

/// The rules of Fig. 11.
pub const RULES: [Rule; 5] =
    [Rule::EChoiceDup, Rule::EGetSelect, Rule::EPutSelect, Rule::ESeq, Rule::ESelectDup];

/// How many random places a rule looks at for one of the right size.
const TRIES: u32 = 4;

/// Expands an effect by about `room` operations, by rules drawn by weight.
pub fn expand(builder: &mut Builder<'_>, effect: &mut Effect, room: u32) {
    let mut room = room;
    let mut weights = RULES.map(|rule| builder.weights.thousandths(rule));
    while room > 0 {
        let Some(drawn) = builder.stream.weighted(&weights) else {
            return;
        };
        let added = match RULES[drawn] {
            Rule::EChoiceDup => choice_dup(builder, effect, room),
            Rule::EGetSelect => get_select(builder, effect),
            Rule::EPutSelect => put_select(builder, effect),
            Rule::ESeq => seq(builder, effect, room),
            _ => select_dup(builder, effect, room),
        };
        match added {
            Some(added) => {
                builder.counts.record(RULES[drawn]);
                room -= added.min(room);
            }
            // Room never grows, so what did not fit now will hardly fit later.
            None => weights[drawn] = 0,
        }
    }
}

/// E-CHOICE-DUP: φ → φ + φ, where φ is any stretch of a sequence. Both branches do the same, so it
/// does not matter which is taken.
fn choice_dup(builder: &mut Builder<'_>, effect: &mut Effect, room: u32) -> Option<u32> {
    for _ in 0..TRIES {
        let (sequence, first) = random_place(&mut builder.stream, effect, |sequence, depth| {
            if depth < REWRITTEN_DEPTH { sequence.len() } else { 0 }
        })?;
        let longest = sequence.len() - first;
        let length = builder.stream.between(1, longest as u32) as usize;
        let stretch = &sequence[first..first + length];
        let size: usize = stretch.iter().map(Effect::operations).sum();
        let deepest = stretch.iter().map(Effect::depth).max().unwrap_or(0);
        if size == 0 || size > room as usize || deepest >= GENERATED_DEPTH as usize {
            continue;
        }
        let branch: Sequence = sequence.splice(first..first + length, [Effect::Empty]).collect();
        sequence[first] = Effect::Choice(vec![Effect::Seq(branch.clone()), Effect::Seq(branch)]);
        return Some(size as u32);
    }
    None
}

/// E-GET-SELECT: GET(c) → SELGET(c, ε) ⊕ SELGET(c, ε).
fn get_select(builder: &mut Builder<'_>, effect: &mut Effect) -> Option<u32> {
    let is_get = |part: &Effect| matches!(part, Effect::Get(_));
    double_operation(builder, effect, is_get)
}

/// E-PUT-SELECT: PUT(c) → SELPUT(c, ε) ⊕ SELPUT(c, ε).
fn put_select(builder: &mut Builder<'_>, effect: &mut Effect) -> Option<u32> {
    let is_put = |part: &Effect| matches!(part, Effect::Put(_));
    double_operation(builder, effect, is_put)
}

fn double_operation(
    builder: &mut Builder<'_>,
    effect: &mut Effect,
    fits: impl Fn(&Effect) -> bool,
) -> Option<u32> {
    let (sequence, place) = random_place(&mut builder.stream, effect, |sequence, _| {
        sequence.iter().filter(|part| fits(part)).count()
    })?;
    let position = nth_part(sequence, place, fits)?;
    let empty = || Effect::Seq(Sequence::new());
    let case = match sequence[position] {
        Effect::Get(channel) => SelectEffect::Get(channel, empty()),
        Effect::Put(channel) => SelectEffect::Put(channel, empty()),
        _ => return None,
    };
    sequence[position] = Effect::Select(vec![case.clone(), case]);
    Some(1)
}

/// E-SEQ: φ → φ₁; φ; φ₂ with φ₁, φ₂ ∈ Generation.
///
/// The figure says φ → φ₁; φ₂, which drops φ: the effect SPAWN(PUT(c)); GET(c) would become
/// SPAWN(ε); GET(c) and hang. The text ("expands a terminating effect to a sequence of terminating
/// effects") is meant, so φ stays and the generated effects stand around it. That is safe anywhere:
/// they end by themselves and share no channel with anything.
fn seq(builder: &mut Builder<'_>, effect: &mut Effect, room: u32) -> Option<u32> {
    let least = builder.least();
    if room < least || builder.processes_left() == 0 {
        return None;
    }
    let budget = builder.stream.between(least, room);
    let before = builder.stream.below(budget + 1);
    let mut around = [Sequence::new(), Sequence::new()];
    // A deep level makes the rules prefer width: this is a small addition, not a program.
    let depth = GENERATED_DEPTH - 2;
    generation::hole(builder, before, depth, &mut around[0]);
    generation::hole(builder, budget - before, depth, &mut around[1]);
    let added: usize = around.iter().flatten().map(Effect::operations).sum();
    let [before, after] = around;
    let (sequence, place) = random_place(&mut builder.stream, effect, |sequence, depth| {
        // One place more than parts: an empty sequence is ε, and ε is a φ as well.
        if depth < REWRITTEN_DEPTH { sequence.len().max(1) } else { 0 }
    })?;
    let kept = place.min(sequence.len());
    let end = (kept + 1).min(sequence.len());
    sequence.splice(end..end, after);
    sequence.splice(kept..kept, before);
    Some(added as u32)
}

/// E-SELECT-DUP: φˢʳ₁ ⊕ φˢʳ₂ → φˢʳ₁ ⊕ φˢʳᵢ ⊕ φˢʳ₂ with i ∈ {1, 2}.
fn select_dup(builder: &mut Builder<'_>, effect: &mut Effect, room: u32) -> Option<u32> {
    let is_select = |part: &Effect| matches!(part, Effect::Select(_));
    for _ in 0..TRIES {
        let (sequence, place) = random_place(&mut builder.stream, effect, |sequence, _| {
            sequence.iter().filter(|part| is_select(part)).count()
        })?;
        let position = nth_part(sequence, place, is_select)?;
        let cases = cases_mut(&mut sequence[position])?;
        let original = builder.stream.position(cases.len());
        let size = 1 + cases[original].body().operations();
        if size > room as usize {
            continue;
        }
        let copy = cases[original].clone();
        let target = builder.stream.position(cases.len() + 1);
        cases.insert(target, copy);
        return Some(size as u32);
    }
    None
}
