//! Extensions that stand alone: a few processes on fresh channels that end under every schedule,
//! each by a counting argument that its rule states.
//!
//! Every rule gives the statements of a gadget with at most about `room` operations, or `None` when
//! there is no room or no process left.

use smol_str::SmolStr;
use strait_calculus::ast::{
    BinaryOp, Block, Capacity, Expr, ExprKind, Function, Stmt, StmtKind, Type, Variable,
};
use strait_calculus::{FuncId, IndexVec, Span, VarId};

use super::Builder;
use crate::draft::{Draft, draw_capacity};
use crate::statements as make;

/// The statements of one process.
pub type Body = Vec<Stmt>;

/// The most processes on one side of a gadget.
const CROWD: u32 = 3;

/// How many processes one side has: at most `messages`, and one where the target asks for it.
fn crowd(builder: &mut Builder<'_>, may_be_many: bool, messages: u32) -> u32 {
    let affordable = builder.processes_left().saturating_sub(2).max(1);
    let most = if may_be_many { CROWD.min(messages).min(affordable).max(1) } else { 1 };
    builder.stream.between(1, most)
}

/// So many messages, or one where a channel carries no more.
fn at_most_one(builder: &Builder<'_>, messages: u32) -> u32 {
    if builder.capabilities.one_message { 1 } else { messages }
}

/// Deals operations out to `hands` processes, each gets at least one if there are enough.
pub fn deal(builder: &mut Builder<'_>, operations: Vec<Stmt>, hands: u32) -> Vec<Body> {
    let mut bodies = vec![Body::new(); hands as usize];
    for (number, operation) in operations.into_iter().enumerate() {
        let hand =
            if number < bodies.len() { number } else { builder.stream.position(bodies.len()) };
        bodies[hand].push(operation);
    }
    bodies
}

/// Declarations, then a process for each body; the process that comes here may be one of them.
pub fn assemble(
    builder: &mut Builder<'_>,
    declarations: Vec<Stmt>,
    mut bodies: Vec<Body>,
) -> Option<Vec<Stmt>> {
    builder.stream.shuffle(&mut bodies);
    let here = if builder.stream.chance(3, 4) { bodies.pop() } else { None };
    let processes = bodies.len() as u32;
    if processes > builder.processes_left() {
        return None;
    }
    builder.reserve(processes);
    let mut statements = declarations;
    statements.extend(bodies.into_iter().map(make::spawn));
    statements.extend(here.into_iter().flatten());
    Some(statements)
}

/// So many puts.
pub fn puts(draft: &mut Draft, channel: VarId, count: u32) -> Vec<Stmt> {
    (0..count).map(|_| make::put(channel, draft.payload())).collect()
}

/// So many gets.
pub fn gets(channel: VarId, count: u32) -> Vec<Stmt> {
    (0..count).map(|_| make::get(channel)).collect()
}

/// X-CLOSE: one process puts n messages and closes; the others get n times or more in all.
///
/// Before the close a get takes one message, so the gets suffice for all messages; after it no get
/// waits.
pub fn close(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    let mut messages = builder.stream.between(0, room.checked_sub(2)?.min(6) / 2);
    let mut more = builder.stream.between(1, 2);
    if builder.capabilities.one_message {
        messages = messages.min(1);
        more = 1 - messages;
    }
    let (channel, declaration) =
        draft.channel(draw_capacity(&mut builder.stream, builder.capabilities));
    let mut sender = puts(draft, channel, messages);
    sender.push(make::close(channel));
    let receivers = crowd(builder, builder.capabilities.many_receivers, messages + more);
    let received = (0..messages + more)
        .map(|_| {
            if builder.stream.flip() {
                return make::get(channel);
            }
            let value = draft.value(draft.element());
            let ok = draft.value(Type::Bool);
            make::get_until_closed(channel, value, ok)
        })
        .collect();
    let mut bodies = deal(builder, received, receivers);
    bodies.push(sender);
    assemble(builder, vec![declaration], bodies)
}

/// X-DRAIN: one process puts and closes; the others get in a loop until they see the close.
pub fn drain(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    let messages = builder.stream.between(1, room.checked_sub(2)?.clamp(1, 3));
    let (channel, declaration) =
        draft.channel(draw_capacity(&mut builder.stream, builder.capabilities));
    let mut sender = puts(draft, channel, messages);
    sender.push(make::close(channel));
    let mut bodies = vec![sender];
    for _ in 0..crowd(builder, builder.capabilities.many_receivers, messages) {
        let more = draft.value(Type::Bool);
        let value = draft.value(draft.element());
        bodies.push(vec![
            StmtKind::Assign { var: more, value: ExprKind::Bool(true).into() }.into(),
            StmtKind::While {
                condition: more.into(),
                body: Block::new(vec![make::get_until_closed(channel, value, more)]),
            }
            .into(),
        ]);
    }
    assemble(builder, vec![declaration], bodies)
}

/// X-BROADCAST: several processes wait on a channel that is never put on, and then report; a close
/// wakes them all, and the reports are taken.
pub fn broadcast(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    let most = (room.checked_sub(1)? / 3).min(CROWD).min(builder.processes_left().checked_sub(2)?);
    let listeners = if most == 0 { return None } else { builder.stream.between(1, most) };
    let (gun, declare_gun) =
        draft.channel(draw_capacity(&mut builder.stream, builder.capabilities));
    let (finish, declare_finish) =
        draft.channel(draw_capacity(&mut builder.stream, builder.capabilities));
    let many = builder.capabilities.many_senders;
    let mut bodies = Vec::new();
    for number in 0..listeners {
        let mut body = gets(gun, 1);
        if many || number == 0 {
            body.extend(puts(draft, finish, 1));
        }
        bodies.push(body);
    }
    let mut starter = vec![make::close(gun)];
    starter.extend(gets(finish, if many { listeners } else { 1 }));
    bodies.push(starter);
    assemble(builder, vec![declare_gun, declare_finish], bodies)
}

/// X-ABANDON: n messages are put, some are taken, then the receiver leaves. What is put from then
/// on is lost and done at once.
pub fn abandon(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    let most = at_most_one(builder, (room.checked_sub(1)? / 2).clamp(1, 4));
    let messages = builder.stream.between(1, most);
    let taken = builder.stream.below(messages + 1);
    let (channel, declaration) =
        draft.channel(draw_capacity(&mut builder.stream, builder.capabilities));
    let senders = crowd(builder, builder.capabilities.many_senders, messages);
    let sent = puts(draft, channel, messages);
    let mut bodies = deal(builder, sent, senders);
    let mut receiver = gets(channel, taken);
    receiver.push(make::abandon(channel));
    bodies.push(receiver);
    assemble(builder, vec![declaration], bodies)
}

/// X-ABANDON at its barest: several senders at once, each with one message or two, and a receiver
/// who leaves at once or after one message. The shape in which channels are taken down while they
/// are being used, and often while they are being set up.
pub fn bare_abandon(builder: &mut Builder<'_>, draft: &mut Draft) -> Option<Vec<Stmt>> {
    let most = if builder.capabilities.many_senders { CROWD } else { 1 };
    let senders = builder.stream.between(most.min(2), most.min(builder.processes_left()).max(1));
    let taken = u32::from(builder.stream.chance(1, 4));
    // What is set up by the first message has most to lose.
    let capacity = match builder.capabilities.unbounded && builder.stream.flip() {
        true => Capacity::Unbounded,
        false => draw_capacity(&mut builder.stream, builder.capabilities),
    };
    let (channel, declaration) = draft.channel(capacity);
    let most = at_most_one(builder, 2);
    let each = builder.stream.between(1, most);
    let mut bodies: Vec<Body> = (0..senders).map(|_| puts(draft, channel, each)).collect();
    let mut receiver = gets(channel, taken);
    receiver.push(make::abandon(channel));
    bodies.push(receiver);
    assemble(builder, vec![declaration], bodies)
}

/// X-LEFTOVER: more messages are put than taken, and the buffer holds the rest.
pub fn leftover(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    let most = at_most_one(builder, (room / 2).clamp(1, 4));
    let messages = builder.stream.between(1, most);
    let mut taken = builder.stream.below(messages);
    let unbounded =
        builder.capabilities.unbounded && (!builder.capabilities.buffered || builder.stream.flip());
    let capacity = if unbounded {
        Capacity::Unbounded
    } else {
        taken = taken.max(messages - builder.capabilities.at_most(messages));
        let least = messages - taken;
        let drawn = least + builder.stream.below(2);
        Capacity::Bounded(builder.capabilities.at_most(drawn).max(least))
    };
    let (channel, declaration) = draft.channel(capacity);
    let senders = crowd(builder, builder.capabilities.many_senders, messages);
    let sent = puts(draft, channel, messages);
    let mut bodies = deal(builder, sent, senders);
    if taken > 0 {
        let receivers = crowd(builder, builder.capabilities.many_receivers, taken);
        bodies.extend(deal(builder, gets(channel, taken), receivers));
    }
    assemble(builder, vec![declaration], bodies)
}

/// X-SHARED: n puts and n gets on the same few channels, dealt out to several processes. With more
/// than one channel every get is a select over all of them, so that any put finds any get.
pub fn shared(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    let capabilities = builder.capabilities;
    let most = if capabilities.select_gets { (room / 3).clamp(1, 3) } else { 1 };
    let width = builder.stream.between(1, most);
    // A put costs one operation or, when it selects, as many as a get.
    let messages = (room / (1 + width)).min(5);
    if messages < 2 {
        return None;
    }
    let messages = builder.stream.between(2, messages);
    let mut declarations = Vec::new();
    let mut channels = Vec::new();
    for _ in 0..width {
        let (channel, declaration) =
            draft.channel(draw_capacity(&mut builder.stream, capabilities));
        channels.push(channel);
        declarations.push(declaration);
    }
    let mut sent = Vec::new();
    let mut received = Vec::new();
    for _ in 0..messages {
        if capabilities.select_puts && width > 1 && builder.stream.chance(1, 3) {
            let cases = channels.iter().map(|channel| make::put_case(*channel, draft.payload()));
            sent.push(make::select(cases.collect(), None));
        } else {
            let channel = channels[builder.stream.position(channels.len())];
            sent.push(make::put(channel, draft.payload()));
        }
        if width > 1 {
            let mut cases: Vec<_> =
                channels.iter().map(|channel| make::get_case(*channel)).collect();
            builder.stream.shuffle(&mut cases);
            received.push(make::select(cases, None));
        } else {
            received.push(make::get(channels[0]));
        }
    }
    let senders = crowd(builder, capabilities.many_senders, messages);
    let mut bodies = deal(builder, sent, senders);
    let receivers = crowd(builder, capabilities.many_receivers, messages);
    bodies.extend(deal(builder, received, receivers));
    assemble(builder, declarations, bodies)
}

/// X-EXCHANGE: an even number of processes each would put and would get on one channel; whichever
/// two meet, an even number is left.
pub fn exchange(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    let most = (room / 4).min(2).min(builder.processes_left() / 2);
    let pairs = if most == 0 { return None } else { builder.stream.between(1, most) };
    let (channel, declaration) = draft.channel(Capacity::Rendezvous);
    let bodies = (0..2 * pairs)
        .map(|_| {
            let mut cases = vec![make::put_case(channel, draft.payload()), make::get_case(channel)];
            builder.stream.shuffle(&mut cases);
            vec![make::select(cases, None)]
        })
        .collect();
    assemble(builder, vec![declaration], bodies)
}

/// X-GIVEUP: puts and gets that each give up when no partner comes in time, so that nobody waits
/// forever.
pub fn give_up(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    if room < 2 {
        return None;
    }
    // One of them puts, and then one of them gets.
    let most = if builder.capabilities.one_message { 2 } else { room.min(6) };
    let operations = builder.stream.between(2, most);
    let (channel, declaration) =
        draft.channel(draw_capacity(&mut builder.stream, builder.capabilities));
    let mut sent = Vec::new();
    let mut received = Vec::new();
    for number in 0..operations {
        let puts = number == 0 || (number > 1 && builder.stream.flip());
        let case =
            if puts { make::put_case(channel, draft.payload()) } else { make::get_case(channel) };
        let all = builder.capabilities;
        let (timeout, default) = match puts {
            true => (all.timeout_puts, all.default_puts),
            false => (all.timeout_gets, all.default_gets),
        };
        let by_timeout = timeout && (!default || builder.stream.flip());
        let statement = if by_timeout {
            make::select(vec![case, make::timeout_case(Vec::new())], None)
        } else {
            make::select(vec![case], Some(Block::default()))
        };
        if puts { sent.push(statement) } else { received.push(statement) }
    }
    let senders = crowd(builder, builder.capabilities.many_senders, sent.len() as u32);
    let mut bodies = deal(builder, sent, senders);
    let receivers = crowd(builder, builder.capabilities.many_receivers, received.len() as u32);
    bodies.extend(deal(builder, received, receivers));
    assemble(builder, vec![declaration], bodies)
}

/// X-RECURSION: a function that calls itself n times puts n messages, another one or n gets take
/// them.
pub fn recursion(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<Vec<Stmt>> {
    if room < 2 {
        return None;
    }
    let messages = builder.stream.between(1, 4);
    let forks = builder.capabilities.many_senders
        && builder.processes_left() > messages + 1
        && builder.stream.chance(1, 3);
    if forks {
        builder.reserve(messages);
    }
    let (channel, declaration) =
        draft.channel(draw_capacity(&mut builder.stream, builder.capabilities));
    let early = builder.stream.flip();
    let send = recursive_function(draft, "send", |draft, parameters, again| {
        let message = if draft.element() == Type::Int {
            parameters.count.into()
        } else {
            ExprKind::Unit.into()
        };
        let put = make::put(parameters.channel, message);
        let again = if forks { make::spawn(vec![again]) } else { again };
        if early { vec![put, again] } else { vec![again, put] }
    });
    let call = |function: FuncId| -> Stmt {
        let arguments = vec![channel.into(), make::int(i64::from(messages))];
        StmtKind::Call { function, arguments, result: None }.into()
    };
    let receiver = if messages + 1 > room || builder.stream.flip() {
        let take = recursive_function(draft, "take", |_, parameters, again| {
            vec![make::get(parameters.channel), again]
        });
        vec![call(take)]
    } else {
        gets(channel, messages)
    };
    assemble(builder, vec![declaration], vec![vec![call(send)], receiver])
}

/// The variables of a function written by [`recursive_function`].
struct Parameters {
    channel: VarId,
    count: VarId,
}

/// `fn NAME(c: chan t, n: int) { if n > 0 { … } }` where the dots are written by `body`, which is
/// given the call `NAME(c, n - 1)`.
fn recursive_function(
    draft: &mut Draft,
    prefix: &str,
    body: impl FnOnce(&mut Draft, &Parameters, Stmt) -> Vec<Stmt>,
) -> FuncId {
    let parameters = Parameters { channel: VarId(0), count: VarId(1) };
    let id = draft.program.functions.next_index();
    let less: Expr = binary(BinaryOp::Subtract, parameters.count, 1);
    let arguments = vec![parameters.channel.into(), less];
    let again = StmtKind::Call { function: id, arguments, result: None }.into();
    let body = body(draft, &parameters, again);
    let channel_type = Type::Chan(Box::new(draft.element()));
    draft.function(prefix, |_, name| Function {
        name,
        params: vec![parameters.channel, parameters.count],
        result: Type::Unit,
        variables: IndexVec::from_iter([variable("c", channel_type), variable("n", Type::Int)]),
        body: Block::new(vec![
            StmtKind::If {
                condition: binary(BinaryOp::Greater, parameters.count, 0),
                then: Block::new(body),
                otherwise: None,
            }
            .into(),
        ]),
        span: Span::NONE,
    })
}

fn variable(name: &str, ty: Type) -> Variable {
    Variable { name: SmolStr::new_inline(name), ty: Some(ty), span: Span::NONE }
}

fn binary(operator: BinaryOp, left: VarId, right: i64) -> Expr {
    ExprKind::Binary(operator, Box::new(left.into()), Box::new(make::int(right))).into()
}
