//! Effect generation (Stiévenart and Madsen, OOPSLA 2020, Fig. 10): effects that terminate, made from fresh channels.
//!
//! | paper | here |
//! |---|---|
//! | □ | [`hole`]: a generated effect with a share of the budget, often ε |
//! | φᵢ, φ̄ᵢ | `action`, [`Effect::dual`] |
//! | [x]₀ⁿ | a loop; the figure says n > 0 but the text builds every rule up from a single exchange, so one is enough |
//! | shuffle, branch | [`shuffled_duals`], [`branch`] |
//!
//! Every rule writes at the end of the sequence `out` it is given, so that G-SEQ costs nothing.

use smallvec::SmallVec;
use strait_calculus::{ChannelName, Effect, SelectEffect};

use super::{Builder, GENERATED_DEPTH, Sequence};
use crate::rule::Rule;

/// The most messages that one application of G-PINGPONG exchanges.
const MESSAGES: u32 = 4;
/// The most children of one application of G-FANOUT or G-SELECT.
const CHILDREN: u32 = 5;
/// The most stages of one application of G-PIPELINE.
const STAGES: u32 = 4;
/// The most rounds of one application of G-SELECT.
const ROUNDS: u32 = 3;
/// The most branches of one select of G-SELECT.
const BRANCHES: u32 = 4;

/// □: some generated effect of about `budget` operations, by a rule drawn by weight.
pub fn hole(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    if budget < builder.least() {
        return last(builder);
    }
    match draw_rule(builder, budget, depth) {
        Rule::GSeq => seq(builder, budget, depth, out),
        Rule::GChoice => choice(builder, budget, depth, out),
        Rule::GSpawn => spawn(builder, budget, depth, out),
        Rule::GPingPong => pingpong(builder, budget, depth, out),
        Rule::GFanOut => fanout(builder, budget, depth, out),
        Rule::GPipeline => pipeline(builder, budget, depth, out),
        Rule::GSelect => select(builder, budget, depth, out),
        _ => last(builder),
    }
}

/// The rules of Fig. 10 without G-FINAL, which is what remains when none of them is possible.
const RULES: [Rule; 7] = [
    Rule::GSeq,
    Rule::GChoice,
    Rule::GSpawn,
    Rule::GPingPong,
    Rule::GFanOut,
    Rule::GPipeline,
    Rule::GSelect,
];

fn draw_rule(builder: &mut Builder<'_>, budget: u32, depth: u32) -> Rule {
    let least = builder.least();
    let may_nest = depth < GENERATED_DEPTH;
    let processes = builder.processes_left();
    let weights = RULES.map(|rule| {
        let possible = match rule {
            Rule::GSeq | Rule::GChoice => may_nest && budget >= 2 * least && processes >= 1,
            Rule::GSpawn => may_nest && budget >= least && processes >= 2,
            Rule::GPipeline => budget >= 4 && processes >= 1,
            _ => budget >= 2 && processes >= 1,
        };
        if possible { builder.weights.thousandths(rule) } else { 0 }
    });
    builder.stream.weighted(&weights).map_or(Rule::GFinal, |position| RULES[position])
}

/// G-FINAL: ε ∈ Generation.
fn last(builder: &mut Builder<'_>) {
    builder.counts.record(Rule::GFinal);
}

/// G-SEQ: φ₁; φ₂.
fn seq(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    builder.counts.record(Rule::GSeq);
    let least = builder.least();
    let mut first = builder.stream.between(least, budget - least);
    if first % 2 == 1 && first < budget - least {
        first += 1;
    }
    hole(builder, first, depth, out);
    hole(builder, budget - first, depth, out);
}

/// G-CHOICE: φ₁ + φ₂.
fn choice(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    builder.counts.record(Rule::GChoice);
    let branches = builder
        .share(budget, 2)
        .into_iter()
        .map(|share| {
            let mut branch = Sequence::new();
            hole(builder, share, depth + 1, &mut branch);
            Effect::Seq(branch)
        })
        .collect();
    out.push(Effect::Choice(branches));
}

/// G-SPAWN: SPAWN(φ).
fn spawn(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    builder.counts.record(Rule::GSpawn);
    builder.reserve(1);
    let mut body = Sequence::new();
    hole(builder, budget, depth + 1, &mut body);
    out.push(Effect::spawn(Effect::Seq(body)));
}

/// G-PINGPONG: SPAWN(□; [φᵢ; □]₀ⁿ); [□; φ̄ᵢ]₀ⁿ with φᵢ ∈ {GET(c), PUT(c)}. (The closing bracket
/// of the spawn is missing in the figure; with everything inside the spawn the effect would hang.)
fn pingpong(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    builder.counts.record(Rule::GPingPong);
    builder.reserve(1);
    let channel = builder.fresh_channel();
    let usual = if builder.capabilities.one_message { 1 } else { MESSAGES };
    let messages = builder.repetitions(budget, 2, usual, depth);
    let mut shares = builder.share(budget - 2 * messages, 2 * messages + 1).into_iter();
    let mut next_share = || shares.next().unwrap_or(0);

    let first = builder.get_or_put(channel);
    let mut actions: SmallVec<[Effect; 8]> = SmallVec::new();
    for _ in 0..messages {
        let action = if builder.may_turn() { builder.get_or_put(channel) } else { first.clone() };
        actions.push(action);
    }
    let mut child = Sequence::with_capacity(actions.len());
    hole(builder, next_share(), depth + 1, &mut child);
    for action in &actions {
        child.push(action.clone());
        hole(builder, next_share(), depth + 1, &mut child);
    }
    out.push(Effect::spawn(Effect::Seq(child)));
    for action in &actions {
        hole(builder, next_share(), depth + 1, out);
        out.extend(action.dual());
    }
}

/// G-FANOUT: [SPAWN(□; φᵢ; □)]₀ⁿ; [□; φ̄ᵢ]₀ⁿ with φᵢ ∈ {GET(cᵢ), PUT(cᵢ)}.
fn fanout(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    builder.counts.record(Rule::GFanOut);
    let most = CHILDREN.min(builder.processes_left());
    let children = builder.repetitions(budget, 2, most, depth).min(builder.processes_left());
    builder.reserve(children);
    let mut shares = builder.share(budget - 2 * children, 3 * children).into_iter();
    let mut next_share = || shares.next().unwrap_or(0);

    let mut actions: SmallVec<[Effect; 8]> = SmallVec::new();
    for _ in 0..children {
        let channel = builder.fresh_channel();
        let action = builder.get_or_put(channel);
        let process = child(builder, action.clone(), [next_share(), next_share()], depth);
        out.push(process);
        actions.push(action);
    }
    for action in &actions {
        hole(builder, next_share(), depth + 1, out);
        out.extend(action.dual());
    }
}

/// SPAWN(□; φᵢ; □), the child of G-FANOUT and G-SELECT.
fn child(builder: &mut Builder<'_>, action: Effect, shares: [u32; 2], depth: u32) -> Effect {
    let mut body = Sequence::with_capacity(1);
    hole(builder, shares[0], depth + 1, &mut body);
    body.push(action);
    hole(builder, shares[1], depth + 1, &mut body);
    Effect::spawn(Effect::Seq(body))
}

/// G-PIPELINE: [SPAWN(□; GET(cᵢ₋₁); □; PUT(cᵢ); □); □]₁ⁿ; PUT(c₀); □; GET(cₙ).
fn pipeline(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    builder.counts.record(Rule::GPipeline);
    let most = STAGES.min(builder.processes_left());
    let stages = builder.repetitions(budget - 2, 2, most, depth).min(builder.processes_left());
    builder.reserve(stages);
    let mut shares = builder.share(budget - 2 * stages - 2, 4 * stages + 1).into_iter();
    let mut next_share = || shares.next().unwrap_or(0);

    let first = builder.fresh_channel();
    let mut previous = first;
    for _ in 0..stages {
        let next = builder.fresh_channel();
        let mut stage = Sequence::with_capacity(2);
        hole(builder, next_share(), depth + 1, &mut stage);
        stage.push(Effect::Get(previous));
        hole(builder, next_share(), depth + 1, &mut stage);
        stage.push(Effect::Put(next));
        hole(builder, next_share(), depth + 1, &mut stage);
        out.push(Effect::spawn(Effect::Seq(stage)));
        hole(builder, next_share(), depth + 1, out);
        previous = next;
    }
    out.push(Effect::Put(first));
    hole(builder, next_share(), depth + 1, out);
    out.push(Effect::Get(previous));
}

/// G-SELECT: [[SPAWN(□; φᵢ; □)]₀ⁿ; □]₀ᵐ; [□; branch(shuffle([φ̄ᵢ]₀ⁿ)) ⊕ …]₀ᵐ.
///
/// φᵢ depends on i alone: were it drawn anew in each round, a child that gets and a child that puts
/// could meet, and the parent would wait forever.
fn select(builder: &mut Builder<'_>, budget: u32, depth: u32, out: &mut Sequence) {
    builder.counts.record(Rule::GSelect);
    let shape = SelectShape::draw(builder, budget, depth);
    builder.reserve(shape.children * shape.rounds());
    let own = shape.operations();
    let bodies: u32 = shape.branches.iter().sum::<u32>() * shape.children;
    let holes = shape.rounds() * (2 * shape.children + 2) + bodies;
    let mut shares = builder.share(budget.saturating_sub(own), holes).into_iter();
    let mut next_share = || shares.next().unwrap_or(0);

    let actions = select_actions(builder, &shape);
    for _ in 0..shape.rounds() {
        for action in &actions {
            let process = child(builder, action.clone(), [next_share(), next_share()], depth);
            out.push(process);
        }
        hole(builder, next_share(), depth + 1, out);
    }
    for branches in &shape.branches {
        hole(builder, next_share(), depth + 1, out);
        let mut heads: SmallVec<[ChannelName; 8]> = SmallVec::new();
        let mut cases = Vec::with_capacity(*branches as usize);
        for _ in 0..*branches {
            if let Some(duals) = shuffled_duals(builder, &actions, &heads) {
                let case = branch(builder, duals, &mut next_share, depth);
                heads.push(case.channel());
                cases.push(case);
            }
        }
        out.push(Effect::Select(cases));
    }
}

/// How much G-SELECT makes of everything.
struct SelectShape {
    /// n + 1
    children: u32,
    /// The number of branches in each of the m + 1 rounds.
    branches: SmallVec<[u32; 4]>,
}

impl SelectShape {
    fn rounds(&self) -> u32 {
        self.branches.len() as u32
    }

    fn operations(&self) -> u32 {
        self.children * (self.rounds() + self.branches.iter().sum::<u32>())
    }

    fn draw(builder: &mut Builder<'_>, budget: u32, depth: u32) -> SelectShape {
        // Few enough for two branches, if there is a choice: they are what a select is about.
        let most = CHILDREN.min(builder.processes_left()).min((budget / 3).max(1));
        let children = builder.stream.between(1, most).max(builder.stream.between(1, most));
        let most_rounds =
            if builder.capabilities.many_receivers || builder.capabilities.many_senders {
                ROUNDS.min(budget / (2 * children)).min(builder.processes_left() / children).max(1)
            } else {
                1
            };
        let rounds =
            builder.stream.between(1, most_rounds).min(builder.stream.between(1, most_rounds));
        let mut shape = SelectShape { children, branches: SmallVec::from_elem(1, rounds as usize) };
        for round in 0..rounds as usize {
            let affordable = 1 + budget.saturating_sub(shape.operations()) / children;
            shape.branches[round] = if depth >= GENERATED_DEPTH {
                affordable
            } else {
                let most = affordable.min(BRANCHES);
                builder.stream.between(1, most).max(builder.stream.between(1, most))
            };
        }
        shape
    }
}

/// The φᵢ of G-SELECT, such that the select that answers them can do so on this target.
fn select_actions(builder: &mut Builder<'_>, shape: &SelectShape) -> SmallVec<[Effect; 8]> {
    let capabilities = builder.capabilities;
    let several = shape.rounds() > 1;
    let may_get = capabilities.many_receivers || !several;
    let may_put = capabilities.many_senders || !several;
    let mut actions: SmallVec<[Effect; 8]> = SmallVec::new();
    for number in 0..shape.children {
        let channel = builder.fresh_channel();
        // At least one dual has to be fit for the head of a case.
        let must_get = number == 0 && !capabilities.select_gets;
        let must_put = number == 0 && !capabilities.select_puts;
        let action = if (must_get && may_get) || !may_put {
            Effect::Get(channel)
        } else if must_put || !may_get {
            Effect::Put(channel)
        } else {
            builder.get_or_put(channel)
        };
        actions.push(action);
    }
    actions
}

/// shuffle([φ̄ᵢ]₀ⁿ): the duals in random order, the first of them fit for the head of a case. `None`
/// when the target wants the cases of a select on different channels and all have one (`heads`).
fn shuffled_duals(
    builder: &mut Builder<'_>,
    actions: &[Effect],
    heads: &[ChannelName],
) -> Option<SmallVec<[Effect; 8]>> {
    let mut duals: SmallVec<[Effect; 8]> = actions.iter().filter_map(Effect::dual).collect();
    builder.stream.shuffle(&mut duals);
    let capabilities = builder.capabilities;
    let head = duals.iter().position(|dual| match dual {
        Effect::Get(channel) => {
            capabilities.select_gets
                && (capabilities.same_channel_twice || !heads.contains(channel))
        }
        Effect::Put(channel) => {
            capabilities.select_puts
                && (capabilities.same_channel_twice || !heads.contains(channel))
        }
        _ => false,
    })?;
    duals[..=head].rotate_right(1);
    Some(duals)
}

/// branch(GET(c); φ₁; …; φₙ) = SELGET(c, □; φ₁; □; …; □; φₙ) (BRANCH-GET), and the same with PUT
/// and SELPUT (BRANCH-PUT). (The figure has the two names the wrong way round.)
fn branch(
    builder: &mut Builder<'_>,
    duals: SmallVec<[Effect; 8]>,
    next_share: &mut impl FnMut() -> u32,
    depth: u32,
) -> SelectEffect {
    let mut duals = duals.into_iter();
    let head = duals.next();
    let mut body = Sequence::with_capacity(duals.len());
    // The figure has no hole after φₙ; the one before φ₁ stands even when there is no φ₁.
    hole(builder, next_share(), depth + 1, &mut body);
    for (position, dual) in duals.enumerate() {
        if position > 0 {
            hole(builder, next_share(), depth + 1, &mut body);
        }
        body.push(dual);
    }
    match head {
        Some(Effect::Put(channel)) => SelectEffect::Put(channel, Effect::Seq(body)),
        Some(Effect::Get(channel)) => SelectEffect::Get(channel, Effect::Seq(body)),
        _ => {
            unreachable!("the duals of gets and puts are puts and gets, and there is at least one")
        }
    }
}
