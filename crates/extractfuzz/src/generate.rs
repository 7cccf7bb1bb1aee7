//! Program *i* of seed *s*: a few variables, then gadgets whose results feed the next ones.

use strait_generate::{Purpose, Stream};

use crate::expand::Draft;
use crate::expression::{Variable, literal};
use crate::family::Family;
use crate::statement;
use crate::tree::{Kind, Node, Observed, Piece, Program, Schedule};

/// What programs are made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// The random seed.
    pub seed: u64,
    /// The families that programs are made for, in turn.
    pub families: Vec<Family>,
    /// The most gadgets of one program.
    pub size: u32,
    /// How deep random expressions are. At 0 they are variables and literals, so that a
    /// disagreement is due to the gadget.
    pub depth: u32,
}

/// Results that are looked at, at most.
const OBSERVED: usize = 4;

/// The program of this index.
pub fn program(options: &Options, index: u64) -> Program {
    let mut stream = Stream::new(options.seed, index, Purpose::Program);
    let families = &options.families;
    let family = &families[(index % families.len() as u64) as usize];
    let mut program = Program {
        index,
        family: family.name,
        gadgets: Vec::new(),
        schedule: Schedule::Sequential,
        top: Vec::new(),
        body: Vec::new(),
        observed: Vec::new(),
    };
    let mut names = 0;
    let mut draft = Draft {
        stream: &mut stream,
        program: &mut program,
        scope: Vec::new(),
        names: &mut names,
        depth: 2,
        expressions: options.depth,
    };
    let mut body = beginning(&mut draft);
    let mut concurrent = 0;
    for number in 0..draft.stream.between(1, options.size) {
        // The first gadget is one of the family; a second one that starts goroutines is rare, since
        // their schedules multiply.
        let others = number > 0 && draft.stream.chance(1, 3);
        let from = match others {
            true => &families[draft.stream.position(families.len())],
            false => family,
        };
        let gadget = &from.gadgets[draft.stream.position(from.gadgets.len())];
        if gadget.concurrent && concurrent > 0 && !draft.stream.chance(1, 6) {
            continue;
        }
        concurrent += u32::from(gadget.concurrent);
        if number > 0 && draft.stream.chance(1, 3) {
            body.extend(statement::statements(&mut draft, 2));
        }
        body.extend(draft.expand(gadget));
        let schedule = match (gadget.concurrent, gadget.varies) {
            (_, true) => Schedule::Varies,
            (true, false) => Schedule::Deterministic,
            (false, false) => Schedule::Sequential,
        };
        draft.program.schedule = draft.program.schedule.max(schedule);
        draft.program.gadgets.push(format!("{}/{}", from.name, gadget.name));
    }
    let results = draft.scope.iter().rev().take(OBSERVED);
    let observed = results.map(|one| Observed { name: one.name.clone(), kind: one.kind });
    program.observed = observed.collect();
    program.body = body;
    program
}

/// One variable of each simple type.
fn beginning(draft: &mut Draft<'_>) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (kind, name) in [(Kind::Int, "v"), (Kind::Str, "s"), (Kind::Bool, "b")] {
        let value = literal(draft.stream, kind);
        let declaration = Piece::Text(format!("{name} := "));
        let used = Piece::Text(format!("; _ = {name}"));
        nodes.push(Node::Line(vec![declaration, Piece::Expr(value), used]));
        draft.scope.push(Variable { name: name.into(), kind });
    }
    nodes
}
