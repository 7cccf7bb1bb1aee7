//! Beyond the paper: what a target can do that λ_chan cannot say.
//!
//! An extension either puts a [gadget](super::gadgets) somewhere into the program (a few processes
//! on channels of their own that end by themselves, so that they may stand anywhere, as in E-SEQ)
//! or [rewrites](super::rewriting) an operation or a channel that is already there. All of them
//! keep termination by construction, but for X-MERGE, which has to be proved each time.

use strait_calculus::ast::{Block, StmtKind};

use super::{Builder, gadgets, quitting, rewriting};
use crate::capabilities::Capabilities;
use crate::draft::Draft;
use crate::rule::Rule;
use crate::walk;

/// The extensions that add operations and need no proof.
pub const GROWING: [Rule; 13] = [
    Rule::XTry,
    Rule::XCancel,
    Rule::XHandOff,
    Rule::XClose,
    Rule::XDrain,
    Rule::XBroadcast,
    Rule::XAbandon,
    Rule::XLeftover,
    Rule::XShared,
    Rule::XExchange,
    Rule::XGiveUp,
    Rule::XQuit,
    Rule::XRecursion,
];

/// How many operations a single rewriting may add.
const REWRITE_ROOM: u32 = 4;

/// Can a target with these capabilities take what the extension makes?
pub fn is_possible(rule: Rule, capabilities: &Capabilities) -> bool {
    let all = capabilities;
    match rule {
        Rule::XTry => all.default_gets || all.default_puts,
        Rule::XCancel => all.timeout_gets || all.timeout_puts,
        Rule::XBuffer => all.buffered,
        Rule::XUnbounded => all.unbounded,
        Rule::XHandOff => all.channels_over_channels,
        Rule::XMerge => all.shared_ends && all.many_receivers && all.many_senders,
        Rule::XClose => all.close,
        Rule::XDrain => all.close && all.loops && !all.one_message,
        Rule::XBroadcast => all.close && all.many_receivers,
        Rule::XAbandon => all.abandon,
        Rule::XLeftover => all.buffered || all.unbounded,
        Rule::XShared => all.shared_ends && (all.many_receivers || all.many_senders),
        Rule::XExchange => {
            all.put_and_get_in_select
                && all.rendezvous
                && all.select_gets
                && all.select_puts
                && all.many_receivers
                && all.many_senders
        }
        Rule::XGiveUp => {
            (all.timeout_gets || all.default_gets) && (all.timeout_puts || all.default_puts)
        }
        Rule::XQuit => {
            let quits_gets = all.timeout_gets || all.default_gets;
            let quits_puts = all.timeout_puts || all.default_puts;
            match all.one_message {
                true => quits_gets && (all.buffered || all.unbounded || all.abandon),
                false => {
                    (quits_gets || quits_puts)
                        && (all.buffered || all.unbounded || all.abandon || all.close)
                }
            }
        }
        Rule::XRecursion => all.recursion && !all.one_message,
        _ => false,
    }
}

/// Adds about `room` operations by extensions drawn by weight.
pub fn extend(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) {
    let mut room = room;
    let mut weights = GROWING.map(|rule| builder.weights.thousandths(rule));
    while room > 0 {
        let Some(drawn) = builder.stream.weighted(&weights) else {
            return;
        };
        let rule = GROWING[drawn];
        let added = match rule {
            Rule::XTry => rewriting::try_first(builder, draft, room),
            Rule::XCancel => rewriting::cancel(builder, draft, room),
            Rule::XHandOff => rewriting::hand_off(builder, draft, room),
            _ => insert_gadget(builder, draft, rule, room),
        };
        match added {
            Some(added) => {
                builder.counts.record(rule);
                room -= added.min(room);
            }
            None => weights[drawn] = 0,
        }
    }
}

/// Puts one gadget that the target can take into an empty program: a quarter of the programs is the
/// barest form of X-ABANDON, half is X-QUIT, and among the others all are equally likely.
pub fn insert_any_gadget(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<()> {
    let drawn = builder.stream.below(4);
    if drawn == 0
        && is_possible(Rule::XAbandon, builder.capabilities)
        && let Some(statements) = gadgets::bare_abandon(builder, draft)
    {
        draft.main().body.statements.extend(statements);
        builder.counts.record(Rule::XAbandon);
        return Some(());
    }
    if matches!(drawn, 1 | 2) && insert_quitting(builder, draft, room).is_some() {
        return Some(());
    }
    let is_gadget = |rule| !matches!(rule, Rule::XTry | Rule::XCancel | Rule::XHandOff);
    let can_be = |rule| is_gadget(rule) && is_possible(rule, builder.capabilities);
    let mut weights = GROWING.map(|rule| u32::from(can_be(rule)));
    while let Some(drawn) = builder.stream.weighted(&weights) {
        if insert_gadget(builder, draft, GROWING[drawn], room).is_some() {
            builder.counts.record(GROWING[drawn]);
            return Some(());
        }
        weights[drawn] = 0;
    }
    None
}

/// Puts X-QUIT into an empty program.
pub fn insert_quitting(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<()> {
    if !is_possible(Rule::XQuit, builder.capabilities) {
        return None;
    }
    insert_gadget(builder, draft, Rule::XQuit, room)?;
    builder.counts.record(Rule::XQuit);
    Some(())
}

/// Lets one operation of the program be tried or begun before it is performed, if the target can
/// take that.
pub fn rewrite_once(builder: &mut Builder<'_>, draft: &mut Draft, rule: Rule) {
    if !is_possible(rule, builder.capabilities) {
        return;
    }
    let added = match rule {
        Rule::XTry => rewriting::try_first(builder, draft, REWRITE_ROOM),
        Rule::XCancel => rewriting::cancel(builder, draft, REWRITE_ROOM),
        _ => None,
    };
    if added.is_some() {
        builder.counts.record(rule);
    }
}

/// Puts a gadget of at most `room` operations somewhere into the program.
fn insert_gadget(
    builder: &mut Builder<'_>,
    draft: &mut Draft,
    rule: Rule,
    room: u32,
) -> Option<u32> {
    let functions = |draft: &Draft| -> u32 {
        let bodies = draft.program.functions.iter().skip(1);
        bodies.map(|function| walk::operations_in(&function.body.statements)).sum()
    };
    let before = functions(draft);
    let statements = match rule {
        Rule::XClose => gadgets::close(builder, draft, room),
        Rule::XDrain => gadgets::drain(builder, draft, room),
        Rule::XBroadcast => gadgets::broadcast(builder, draft, room),
        Rule::XAbandon => gadgets::abandon(builder, draft, room),
        Rule::XLeftover => gadgets::leftover(builder, draft, room),
        Rule::XShared => gadgets::shared(builder, draft, room),
        Rule::XExchange => gadgets::exchange(builder, draft, room),
        Rule::XGiveUp => gadgets::give_up(builder, draft, room),
        Rule::XQuit => quitting::quit(builder, draft, room),
        Rule::XRecursion => gadgets::recursion(builder, draft, room),
        _ => None,
    }?;
    let added = walk::operations_in(&statements) + functions(draft) - before;
    let places = walk::count_places(draft.body(), 0, &insertion_places);
    let mut wanted = builder.stream.position(places);
    let body = &mut draft.main().body;
    let (block, position) = walk::nth_place(body, 0, &mut wanted, &insertion_places)?;
    block.statements.splice(position..position, statements);
    Some(added)
}

/// Anywhere between two statements, but not in a loop, which would repeat it, and not so deep that
/// it would go beyond what the language allows.
fn insertion_places(block: &Block, depth: u32) -> usize {
    if depth > super::REWRITTEN_DEPTH || is_loop_body(block) {
        0
    } else {
        block.statements.len() + 1
    }
}

/// Every loop that an extension writes ends with the get that decides whether it goes on.
fn is_loop_body(block: &Block) -> bool {
    matches!(
        block.statements.last().map(|last| &last.kind),
        Some(StmtKind::Get { ok: Some(_), .. })
    )
}
