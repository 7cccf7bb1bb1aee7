//! A program as a target may carry it out that promises little about operations which are given up or not
//! chosen: each of them may happen all the same, without any trace in what the process sees. A program
//! comes in, one with these choices written out goes out. If that one ends under every schedule, a hang of
//! the first is a fault of the target.

use strait_calculus::Program;
use strait_calculus::ast::{Block, Capacity, Case, CaseOp, Stmt, StmtKind};

/// The program with everything that may happen, on channels as they are and with room for a message
/// where there is none: a rendezvous need not be one.
pub(crate) fn loosened(program: &Program) -> [Program; 2] {
    let mut loose = program.clone();
    for function in program.functions.indices() {
        loosen(&mut loose.functions[function].body);
    }
    let mut roomy = loose.clone();
    for function in program.functions.indices() {
        make_room(&mut roomy.functions[function].body);
    }
    [loose, roomy]
}

fn loosen(block: &mut Block) {
    for statement in &mut block.statements {
        inner_mut(statement).into_iter().for_each(loosen);
        let StmtKind::Select { cases, default: None } = &mut statement.kind else { continue };
        let operations: Vec<CaseOp> = cases.iter().map(|case| case.op.clone()).collect();
        for (number, case) in cases.iter_mut().enumerate() {
            let others = operations.iter().enumerate().filter(|(other, _)| *other != number);
            let also: Vec<Stmt> = others.filter_map(|(_, other)| may_happen(other)).collect();
            case.body.statements.splice(0..0, also);
        }
    }
}

/// The operation happens by itself, if it can at once, or not.
fn may_happen(operation: &CaseOp) -> Option<Stmt> {
    let operation = match operation {
        CaseOp::Timeout => return None,
        CaseOp::Put { .. } => operation.clone(),
        CaseOp::Get { channel, .. } => {
            CaseOp::Get { channel: channel.clone(), value: None, ok: None }
        }
    };
    let span = Default::default();
    let cases = vec![Case { op: operation, body: Block::default(), span }];
    let tried: Stmt = StmtKind::Select { cases, default: Some(Block::default()) }.into();
    let branches = vec![Block::new(vec![tried]), Block::default()];
    Some(StmtKind::Choose { branches }.into())
}

fn make_room(block: &mut Block) {
    for statement in &mut block.statements {
        if let StmtKind::NewChannel { capacity, .. } = &mut statement.kind
            && *capacity == Capacity::Rendezvous
        {
            *capacity = Capacity::Bounded(1);
        }
        inner_mut(statement).into_iter().for_each(make_room);
    }
}

fn inner_mut(statement: &mut Stmt) -> Vec<&mut Block> {
    match &mut statement.kind {
        StmtKind::Select { cases, default } => {
            cases.iter_mut().map(|case| &mut case.body).chain(default).collect()
        }
        StmtKind::Spawn { body, .. } | StmtKind::While { body, .. } => vec![body],
        StmtKind::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).collect(),
        StmtKind::Choose { branches } => branches.iter_mut().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use strait_calculus::{Verdict, parse};
    use strait_explore::Coverage;
    use strait_generate::{Capabilities, Config, Explorer, Generator};

    use super::*;

    fn ends(program: &Program) -> bool {
        let explorer = Explorer { max_states: 1_000_000 };
        loosened(program).iter().all(|loose| {
            matches!(explorer.verdict(loose), (Verdict::Terminates, Coverage::Exhaustive))
        })
    }

    #[test]
    fn a_lost_message_is_missed() {
        let spare = "main { chan c: int[1]; spawn { put c 1; put c 2 }
            spawn { select { get c {} timeout {} } }; get c }";
        assert!(ends(&parse(spare).expect("a program")));
        let retried = "main { chan c: int[1]; spawn { put c 1; put c 2 }
            spawn { select { get c {} timeout { get c } } }; get c }";
        assert!(!ends(&parse(retried).expect("a program")));
        let swapped =
            "main { chan c: int; spawn { select { put c 1 {} timeout { put c 2 } } }; get c }";
        assert!(!ends(&parse(swapped).expect("a program")), "both may be sent");
    }

    #[test]
    fn what_is_made_for_loose_contracts_ends() {
        let config = Config { capabilities: Capabilities::all(), ..Config::default() };
        let generator = Generator::new(11, config).expect("the capabilities make sense");
        let count = std::env::var("STRAIT_TEST_COUNT").ok().and_then(|text| text.parse().ok());
        for index in 0..count.unwrap_or(60) {
            let program = generator.quitting(index).expect("everything is possible").program;
            assert!(ends(&program), "{index}\n{}", strait_calculus::print(&program));
        }
    }
}
