//! Extensions that change what is already in the program: an operation, a channel, a process.
//!
//! Every rule but X-MERGE keeps termination wherever it is applied, for the reason it states.

use smallvec::SmallVec;
use strait_calculus::VarId;
use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Expr, Stmt, StmtKind, Type};

use super::{Builder, REWRITTEN_DEPTH};
use crate::capabilities::Capabilities;
use crate::draft::Draft;
use crate::rule::Rule;
use crate::statements as make;
use crate::walk::{self, as_variable};

/// X-TRY: `op` → `select { op { } default { op } }`. Whether the try succeeds or not, the operation
/// happens once.
pub fn try_first(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<u32> {
    let Capabilities { default_gets, default_puts, .. } = *builder.capabilities;
    rewrite_operation(builder, draft, room, |operation| {
        let case =
            as_case(&operation).filter(|case| is_within(case, default_gets, default_puts))?;
        Some(make::select(vec![case], Some(Block::new(vec![operation]))))
    })
}

/// X-CANCEL: `op` → `select { op { } timeout { op } }`, where op may also be a whole select: it is
/// begun, taken back everywhere, and begun again.
pub fn cancel(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<u32> {
    let Capabilities { timeout_gets, timeout_puts, .. } = *builder.capabilities;
    let can_be_cancelled = |case: &Case| is_within(case, timeout_gets, timeout_puts);
    rewrite_operation(builder, draft, room, |operation| match &operation.kind {
        StmtKind::Select { cases, default: None } => {
            if !cases.iter().all(can_be_cancelled) {
                return None;
            }
            let mut cases = cases.clone();
            cases.push(make::timeout_case(vec![operation.clone()]));
            Some(make::select(cases, None))
        }
        _ => {
            let case = as_case(&operation).filter(can_be_cancelled)?;
            Some(make::select(vec![case, make::timeout_case(vec![operation])], None))
        }
    })
}

/// Replaces a random operation by what `rewrite` makes of it, if that adds at most `room`.
fn rewrite_operation(
    builder: &mut Builder<'_>,
    draft: &mut Draft,
    room: u32,
    rewrite: impl Fn(Stmt) -> Option<Stmt>,
) -> Option<u32> {
    let fits = |statement: &Stmt| {
        let size = walk::operations_in(std::slice::from_ref(statement));
        is_rewritable(statement) && size <= room && rewrite(statement.clone()).is_some()
    };
    let count = |block: &Block, depth: u32| {
        if depth > REWRITTEN_DEPTH {
            return 0;
        }
        block.statements.iter().filter(|statement| fits(statement)).count()
    };
    let places = walk::count_places(draft.body(), 0, &count);
    if places == 0 {
        return None;
    }
    let mut wanted = builder.stream.position(places);
    let (block, nth) = walk::nth_place(&mut draft.main().body, 0, &mut wanted, &count)?;
    let statement = block.statements.iter_mut().filter(|statement| fits(statement)).nth(nth)?;
    let added = walk::operations_in(std::slice::from_ref(statement));
    *statement = rewrite(statement.clone())?;
    Some(added)
}

/// A put or get that binds nothing, or a plain select whose cases bind nothing and whose bodies are
/// small enough to be copied: what a variable is bound to in a case cannot be seen after it.
fn is_rewritable(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Put { .. } => true,
        StmtKind::Get { value, ok, .. } => value.is_none() && ok.is_none(),
        StmtKind::Select { cases, default: None } => cases.iter().all(|case| match &case.op {
            CaseOp::Put { .. } => introduces_nothing(&case.body),
            CaseOp::Get { value, ok, .. } => {
                value.is_none() && ok.is_none() && introduces_nothing(&case.body)
            }
            CaseOp::Timeout => false,
        }),
        _ => false,
    }
}

/// A copy of a block that introduces a variable would introduce it twice.
fn introduces_nothing(block: &Block) -> bool {
    let mut nothing = true;
    walk::for_each_statement(block, &mut |statement| {
        nothing &= match &statement.kind {
            StmtKind::Put { .. } | StmtKind::Spawn { .. } | StmtKind::Choose { .. } => true,
            StmtKind::If { .. } => true,
            StmtKind::Get { value, ok, .. } => value.is_none() && ok.is_none(),
            StmtKind::Select { cases, .. } => cases.iter().all(|case| {
                !matches!(
                    case.op,
                    CaseOp::Get { value: Some(_), .. } | CaseOp::Get { ok: Some(_), .. }
                )
            }),
            _ => false,
        };
    });
    nothing
}

/// Is the operation of a case one that the target has in this form?
fn is_within(case: &Case, gets: bool, puts: bool) -> bool {
    match case.op {
        CaseOp::Get { .. } => gets,
        CaseOp::Put { .. } => puts,
        CaseOp::Timeout => true,
    }
}

/// The case that does the same as a put or get.
fn as_case(operation: &Stmt) -> Option<Case> {
    let op = match operation.kind.clone() {
        StmtKind::Put { channel, value } => CaseOp::Put { channel, value },
        StmtKind::Get { channel, value, ok } => CaseOp::Get { channel, value, ok },
        _ => return None,
    };
    Some(make::case(op, Vec::new()))
}

/// X-BUFFER and X-UNBOUNDED: channels get buffers, each by the weights of the two rules against a
/// weight of 1 for staying as it is (0 where the target has no rendezvous).
///
/// Only channels on which no process both puts and gets: each message then still reaches somebody
/// else, a put only happens sooner, and there are as many gets as puts whatever happens. A process
/// that does both could take its own message from the buffer.
pub fn capacities(builder: &mut Builder<'_>, draft: &mut Draft) {
    let weights = [
        if builder.capabilities.rendezvous { 1000 } else { 0 },
        builder.weights.thousandths(Rule::XBuffer),
        builder.weights.thousandths(Rule::XUnbounded),
    ];
    if weights[1] + weights[2] == 0 && builder.capabilities.rendezvous {
        return;
    }
    let two_way = two_way_channels(draft.body());
    let most = builder.capabilities.at_most(3);
    for statement in &mut draft.main().body.statements {
        let StmtKind::NewChannel { var, capacity, .. } = &mut statement.kind else {
            continue;
        };
        if *capacity != Capacity::Rendezvous || two_way.contains(var) {
            continue;
        }
        let must_unbound = !builder.capabilities.rendezvous && !builder.capabilities.buffered;
        match builder.stream.weighted(&weights) {
            Some(2) => {
                builder.counts.record(Rule::XUnbounded);
                *capacity = Capacity::Unbounded;
            }
            Some(1) => {
                builder.counts.record(Rule::XBuffer);
                *capacity = Capacity::Bounded(builder.stream.between(1, most));
            }
            // Neither rule has a weight, but the target has no rendezvous.
            None if must_unbound => *capacity = Capacity::Unbounded,
            None => *capacity = Capacity::Bounded(1),
            Some(_) => {}
        }
    }
}

/// The channels on which some process both puts and gets.
fn two_way_channels(main: &Block) -> Vec<VarId> {
    let mut two_way = Vec::new();
    scan_process(main, &mut two_way);
    two_way
}

type Ends = SmallVec<[VarId; 16]>;

fn scan_process(body: &Block, two_way: &mut Vec<VarId>) {
    let mut ends = [Ends::new(), Ends::new()];
    scan_block(body, &mut ends, two_way);
    let [puts, gets] = ends;
    two_way.extend(puts.into_iter().filter(|channel| gets.contains(channel)));
}

fn scan_block(block: &Block, ends: &mut [Ends; 2], two_way: &mut Vec<VarId>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Put { channel, .. } => ends[0].extend(as_variable(channel)),
            StmtKind::Get { channel, .. } => ends[1].extend(as_variable(channel)),
            StmtKind::Select { cases, .. } => {
                for case in cases {
                    match &case.op {
                        CaseOp::Put { channel, .. } => ends[0].extend(as_variable(channel)),
                        CaseOp::Get { channel, .. } => ends[1].extend(as_variable(channel)),
                        CaseOp::Timeout => {}
                    }
                }
            }
            StmtKind::Spawn { body, .. } => {
                scan_process(body, two_way);
                continue;
            }
            _ => {}
        }
        for inner in walk::blocks_of(statement) {
            scan_block(inner, ends, two_way);
        }
    }
}

/// X-HANDOFF: a process receives one of the channels it works on as its first message:
/// `spawn { …c… }` → `chan d: chan t; spawn { x = get d; …x… }; put d c`.
///
/// The new process can take the message at once, so the put never waits for anything else.
pub fn hand_off(builder: &mut Builder<'_>, draft: &mut Draft, room: u32) -> Option<u32> {
    if room < 2 {
        return None;
    }
    let element = draft.element();
    let variables = draft.main().variables.clone();
    let ordinary = Type::Chan(Box::new(element.clone()));
    let fits = |statement: &Stmt| match &statement.kind {
        StmtKind::Spawn { body, .. } => {
            used_channels(body).iter().any(|var| variables[*var].ty.as_ref() == Some(&ordinary))
        }
        _ => false,
    };
    let count = |block: &Block, depth: u32| {
        if depth > REWRITTEN_DEPTH {
            return 0;
        }
        block.statements.iter().filter(|statement| fits(statement)).count()
    };
    let places = walk::count_places(draft.body(), 0, &count);
    if places == 0 {
        return None;
    }
    let capacity = match (builder.capabilities.rendezvous, builder.capabilities.buffered) {
        (true, _) => Capacity::Rendezvous,
        (false, true) => Capacity::Bounded(1),
        (false, false) => Capacity::Unbounded,
    };
    let (carrier, declaration) = draft.channel_of(ordinary.clone(), capacity);
    let received = draft.value(ordinary.clone());
    let mut wanted = builder.stream.position(places);
    let (block, nth) = walk::nth_place(&mut draft.main().body, 0, &mut wanted, &count)?;
    let position = block
        .statements
        .iter()
        .enumerate()
        .filter(|(_, statement)| fits(statement))
        .map(|(position, _)| position)
        .nth(nth)?;
    let StmtKind::Spawn { body, .. } = &mut block.statements[position].kind else {
        return None;
    };
    let candidates: Vec<VarId> = used_channels(body)
        .into_iter()
        .filter(|var| variables[*var].ty.as_ref() == Some(&ordinary))
        .collect();
    let sent = candidates[builder.stream.position(candidates.len())];
    walk::replace_variable(body, sent, received);
    body.statements.insert(0, make::get_into(carrier, received));
    block.statements.insert(position + 1, make::put(carrier, sent.into()));
    block.statements.insert(position, declaration);
    Some(2)
}

/// The channels that a process body uses but did not make or receive itself, each once, in the
/// order of first use.
fn used_channels(body: &Block) -> Vec<VarId> {
    let mut used: Vec<VarId> = Vec::new();
    let mut own: Vec<VarId> = Vec::new();
    walk::for_each_statement(body, &mut |statement| {
        match &statement.kind {
            StmtKind::NewChannel { var, .. } => own.push(*var),
            StmtKind::Get { value, .. } => own.extend(value),
            StmtKind::Select { cases, .. } => {
                for case in cases {
                    if let CaseOp::Put { channel, .. } | CaseOp::Get { channel, .. } = &case.op {
                        used.extend(as_variable(channel));
                    }
                    if let CaseOp::Get { value, .. } = &case.op {
                        own.extend(value);
                    }
                }
            }
            _ => {}
        }
        used.extend(walk::channel_of(&statement.kind).and_then(as_variable));
    });
    let mut foreign: Vec<VarId> = Vec::new();
    for var in used {
        if !own.contains(&var) && !foreign.contains(&var) {
            foreign.push(var);
        }
    }
    foreign
}

/// X-MERGE: two channels become one. Not sound by itself: the result has to be proved.
pub fn merge(builder: &mut Builder<'_>, draft: &mut Draft) -> Option<()> {
    let declared: Vec<(VarId, Type, Capacity)> = draft
        .body()
        .statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            StmtKind::NewChannel { var, element, capacity } => {
                Some((*var, element.clone(), *capacity))
            }
            _ => None,
        })
        .collect();
    if declared.len() < 2 {
        return None;
    }
    let first = builder.stream.position(declared.len());
    let second = (first + 1 + builder.stream.position(declared.len() - 1)) % declared.len();
    let (kept, merged) = (first.min(second), first.max(second));
    let same = declared[kept].1 == declared[merged].1 && declared[kept].2 == declared[merged].2;
    if !same {
        return None;
    }
    let (kept, merged) = (declared[kept].0, declared[merged].0);
    let body = &mut draft.main().body;
    walk::replace_variable(body, merged, kept);
    body.statements.retain(
        |statement| !matches!(&statement.kind, StmtKind::NewChannel { var, .. } if *var == merged),
    );
    let names = names_of(body, kept);
    let mut fits = true;
    walk::for_each_statement(body, &mut |statement| {
        if let StmtKind::Select { cases, .. } = &statement.kind {
            fits &= select_fits(builder.capabilities, cases, &names);
        }
    });
    fits.then_some(())
}

/// A channel's own name, and those under which processes receive it from other channels. Those other
/// channels go by one name: X-HANDOFF hands over channels of plain messages alone.
fn names_of(body: &Block, channel: VarId) -> Vec<VarId> {
    let mut names = vec![channel];
    let mut carriers: Vec<VarId> = Vec::new();
    loop {
        let known = (names.len(), carriers.len());
        walk::for_each_statement(body, &mut |statement| match &statement.kind {
            StmtKind::Put { channel, value } => {
                let is_sent = as_variable(value).is_some_and(|value| names.contains(&value));
                let carrier = as_variable(channel).filter(|one| is_sent && !carriers.contains(one));
                carriers.extend(carrier);
            }
            StmtKind::Get { channel, value: Some(value), .. } => {
                let is_carrier = as_variable(channel).is_some_and(|one| carriers.contains(&one));
                if is_carrier && !names.contains(value) {
                    names.push(*value);
                }
            }
            _ => {}
        });
        if known == (names.len(), carriers.len()) {
            return names;
        }
    }
}

/// Can the target take a select with these cases on one channel, whatever it is called?
fn select_fits(capabilities: &Capabilities, cases: &[Case], names: &[VarId]) -> bool {
    let on_channel =
        |expression: &Expr| as_variable(expression).is_some_and(|one| names.contains(&one));
    let (mut puts, mut gets) = (0, 0);
    for case in cases {
        match &case.op {
            CaseOp::Put { channel, .. } => puts += u32::from(on_channel(channel)),
            CaseOp::Get { channel, .. } => gets += u32::from(on_channel(channel)),
            CaseOp::Timeout => {}
        }
    }
    (capabilities.same_channel_twice || (puts < 2 && gets < 2))
        && (capabilities.put_and_get_in_select || puts == 0 || gets == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_was_handed_over_is_still_the_same_channel() {
        let text = "main {
            chan c: int[1]; chan d: int[1]; chan e: chan int; chan f: chan int
            spawn { x = get e; put f x; select { get x {} put c 3 {} } }
            put e c; y = get f; get y; get d
        }";
        let program = strait_calculus::parse(text).expect("it is a program");
        let main = &program.functions[program.main];
        let names = |wanted: &str| -> Vec<String> {
            let (var, _) = main
                .variables
                .iter_enumerated()
                .find(|(_, variable)| variable.name == wanted)
                .expect("it is declared");
            let found = names_of(&main.body, var);
            found.iter().map(|var| main.variables[*var].name.to_string()).collect()
        };
        assert_eq!(names("c"), ["c", "x", "y"]);
        assert_eq!(names("d"), ["d"]);
    }
}
