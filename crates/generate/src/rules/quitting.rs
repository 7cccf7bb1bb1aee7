//! X-QUIT: operations that are given up for good beside operations that wait, on the same channel.
//!
//! An operation that is given up may have been woken at that moment, and then another process has to be woken
//! instead. So those who wait must not be rescued by another message, by a close or by another try:
//! the gadget has as little of these as its counting argument allows.
//!
//! For a channel let P and G be its puts and gets that wait, R and Q those that may be given up. Each
//! of the latter happens at most once. Every program is one of three:
//!
//! * *a buffer*: P = G + Q, and the channel holds at least P − G + R messages. If a get waits, the
//!   channel is empty, so no put waits and P messages or more were put, of which fewer than G + Q are
//!   taken: a contradiction. If a put waits, the channel is full, so no get waits and at least G
//!   messages are taken of fewer than P + R: a contradiction.
//! * *an end*: P ≥ G + Q, and when all receivers are through, which they report on another channel, the
//!   receiving end goes away. Until then every get finds a put; afterwards no put waits.
//! * *a close*: G ≥ P + R, and when all senders are through, the channel is closed. Until then every put
//!   finds a get; afterwards no get waits.
//!
//! With two channels, which only *a buffer* has, an operation that is given up may be a select over both. It
//! counts on both.
//!
//! Where a channel carries one message, P = Q = 1 and G = R = 0.
//!
//! None of this depends on whether an operation that is given up has happened. So the programs end even
//! if such a get loses a message, and even if such a put is carried out after all: targets that promise
//! no more than that can be asked to run them.

use strait_calculus::VarId;
use strait_calculus::ast::{Block, Capacity, Case, Stmt};

use super::Builder;
use super::gadgets::{Body, assemble, deal, gets, puts};
use crate::draft::{Draft, draw_capacity};
use crate::statements as make;

/// The least room that the gadget fits into.
const LEAST: u32 = 4;
/// The room for two operations of a sort, or for two channels.
const AMPLE: u32 = 6;

/// What keeps the operations that wait from waiting forever.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Buffer,
    Abandon,
    Close,
}

/// How many operations of each sort there are on every channel.
struct Counts {
    puts: u32,
    gets: u32,
    quitting_puts: u32,
    quitting_gets: u32,
}

/// X-QUIT: see above.
pub fn quit(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    if room < LEAST {
        return None;
    }
    let ending = draw_ending(builder)?;
    let counts = if builder.capabilities.one_message {
        Counts { puts: 1, gets: 0, quitting_puts: 0, quitting_gets: 1 }
    } else {
        draw_counts(builder, ending, room)?
    };
    let all = builder.capabilities;
    let selects = all.select_gets || all.select_puts;
    // With two channels, a process that waits at the end of the first would never reach the second.
    let may_be_two = selects && ending == Ending::Buffer && room >= AMPLE;
    let width = if may_be_two && builder.stream.flip() { 2 } else { 1 };
    let (mut declarations, mut channels) = (Vec::new(), Vec::new());
    for _ in 0..width {
        let capacity = draw_room(builder, ending, &counts)?;
        let (channel, declaration) = draft.channel(capacity);
        channels.push(channel);
        declarations.push(declaration);
    }
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for channel in &channels {
        sent.push(puts(draft, *channel, counts.puts));
        received.push(gets(*channel, counts.gets));
    }
    for _ in 0..counts.quitting_puts {
        let put = quitting_put(builder, draft, &channels);
        sent.last_mut()?.push(put);
    }
    for _ in 0..counts.quitting_gets {
        let get = quitting_get(builder, &channels);
        received.last_mut()?.push(get);
    }
    let mut senders = dealt(builder, sent, all.many_senders, counts.quitting_puts > 0);
    let mut receivers = dealt(builder, received, all.many_receivers, counts.quitting_gets > 0);
    let mut bodies = Vec::new();
    match ending {
        Ending::Buffer => {}
        Ending::Abandon => {
            let finish = make::abandon;
            bodies.push(after_all(
                builder,
                draft,
                &mut declarations,
                &mut receivers,
                finish,
                &channels,
            ));
        }
        Ending::Close => {
            let finish = make::close;
            bodies.push(after_all(
                builder,
                draft,
                &mut declarations,
                &mut senders,
                finish,
                &channels,
            ));
        }
    }
    bodies.extend(senders);
    bodies.extend(receivers);
    assemble(builder, declarations, bodies)
}

fn draw_ending(builder: &mut Builder<'_>) -> Option<Ending> {
    let all = builder.capabilities;
    let weights = [
        2 * u32::from(all.buffered || all.unbounded),
        // Reports come from all receivers, or from all senders.
        u32::from(all.abandon && (all.many_senders || !all.many_receivers)),
        u32::from(all.close && !all.one_message),
    ];
    let drawn = builder.stream.weighted(&weights)?;
    Some([Ending::Buffer, Ending::Abandon, Ending::Close][drawn])
}

fn draw_counts(builder: &mut Builder<'_>, ending: Ending, room: u32) -> Option<Counts> {
    let all = builder.capabilities;
    let can_quit_gets = all.timeout_gets || all.default_gets;
    let can_quit_puts = all.timeout_puts || all.default_puts;
    // What waits most like what is given up waits beside it: gets with gets, puts with puts.
    let (by_gets, by_puts) = match (can_quit_gets, can_quit_puts) {
        (false, false) => return None,
        (true, true) => match builder.stream.below(5) {
            0 | 1 => (true, false),
            2 | 3 => (false, true),
            _ => (true, true),
        },
        both => both,
    };
    let most = if room >= AMPLE { 2 } else { 1 };
    // Two that are given up at the same moment show faults that one does not.
    let mut draw = |is_wanted: bool| match is_wanted {
        true => builder.stream.between(1, most).max(builder.stream.between(1, most)),
        false => 0,
    };
    let (quitting_gets, quitting_puts) = (draw(by_gets), draw(by_puts));
    let waiting = builder.stream.between(1, most);
    let more = builder.stream.below(2);
    let (puts, gets) = match ending {
        Ending::Buffer => (waiting + quitting_gets, waiting),
        Ending::Abandon => (waiting + quitting_gets + more, waiting),
        Ending::Close => (waiting, waiting + quitting_puts + more),
    };
    Some(Counts { puts, gets, quitting_puts, quitting_gets })
}

/// As little room as suffices, mostly: where there is more, waiting is rare. `None` if no channel of the
/// target has as much.
fn draw_room(builder: &mut Builder<'_>, ending: Ending, counts: &Counts) -> Option<Capacity> {
    let all = builder.capabilities;
    if ending == Ending::Buffer {
        if !all.buffered {
            return Some(Capacity::Unbounded);
        }
        let least = (counts.puts - counts.gets + counts.quitting_puts).max(1);
        return match builder.stream.below(8) {
            0 if all.unbounded => Some(Capacity::Unbounded),
            _ if all.at_most(least) < least => None,
            1 => Some(Capacity::Bounded(all.at_most(least + 1))),
            _ => Some(Capacity::Bounded(least)),
        };
    }
    Some(match builder.stream.below(4) {
        0 | 1 if all.rendezvous => Capacity::Rendezvous,
        2 if all.buffered => Capacity::Bounded(1),
        _ => draw_capacity(&mut builder.stream, all),
    })
}

/// Deals operations out to processes: to several on a side that gives up, so that others wait beside those,
/// and to any number on the other side. Each process is through with the operations on one channel before it
/// begins with those on the next, so that the argument for a channel does not depend on that for a later one.
fn dealt(
    builder: &mut Builder<'_>,
    channels: Vec<Vec<Stmt>>,
    may_be_many: bool,
    quits: bool,
) -> Vec<Body> {
    let most = channels.iter().map(Vec::len).max().unwrap_or(1).clamp(1, 3) as u32;
    let least = if quits { most.min(2) } else { 1 };
    let hands = if may_be_many { builder.stream.between(least, most) } else { 1 };
    let mut bodies = vec![Body::new(); hands as usize];
    for mut operations in channels {
        builder.stream.shuffle(&mut operations);
        let parts = deal(builder, operations, hands);
        bodies.iter_mut().zip(parts).for_each(|(body, part)| body.extend(part));
    }
    bodies
}

/// Lets each of these processes report its end; the process that is returned takes all reports and then
/// finishes the channels.
fn after_all(
    builder: &mut Builder<'_>,
    draft: &mut Draft,
    declarations: &mut Vec<Stmt>,
    processes: &mut [Body],
    finish: fn(VarId) -> Stmt,
    channels: &[VarId],
) -> Body {
    let capacity = draw_capacity(&mut builder.stream, builder.capabilities);
    let (report, declaration) = draft.channel(capacity);
    declarations.push(declaration);
    for process in processes.iter_mut() {
        process.extend(puts(draft, report, 1));
    }
    let mut last = gets(report, processes.len() as u32);
    last.extend(channels.iter().map(|channel| finish(*channel)));
    last
}

/// A get that is given up, or, of several channels, one that is given up on all but one.
fn quitting_get(builder: &mut Builder<'_>, channels: &[VarId]) -> Stmt {
    let all = builder.capabilities;
    let channel = channels[builder.stream.position(channels.len())];
    if channels.len() > 1 && all.select_gets && builder.stream.flip() {
        let mut cases: Vec<Case> =
            channels.iter().map(|channel| make::get_case(*channel)).collect();
        builder.stream.shuffle(&mut cases);
        return race(builder, cases, all.timeout_gets);
    }
    given_up(builder, make::get_case(channel), all.timeout_gets, all.default_gets)
}

/// The same of a put.
fn quitting_put(builder: &mut Builder<'_>, draft: &mut Draft, channels: &[VarId]) -> Stmt {
    let all = builder.capabilities;
    let channel = channels[builder.stream.position(channels.len())];
    if channels.len() > 1 && all.select_puts && builder.stream.flip() {
        let cases = channels.iter().map(|channel| make::put_case(*channel, draft.payload()));
        let cases = cases.collect();
        return race(builder, cases, all.timeout_puts);
    }
    given_up(builder, make::put_case(channel, draft.payload()), all.timeout_puts, all.default_puts)
}

/// Several cases of which one happens, and none if it may be given up.
fn race(builder: &mut Builder<'_>, mut cases: Vec<Case>, may_time_out: bool) -> Stmt {
    if may_time_out && builder.stream.chance(2, 3) {
        cases.push(make::timeout_case(Vec::new()));
    }
    make::select(cases, None)
}

/// One case, and a way out of it: rather after a while than at once.
fn given_up(builder: &mut Builder<'_>, case: Case, times_out: bool, tries: bool) -> Stmt {
    if times_out && (!tries || builder.stream.chance(7, 8)) {
        make::select(vec![case, make::timeout_case(Vec::new())], None)
    } else {
        make::select(vec![case], Some(Block::default()))
    }
}
