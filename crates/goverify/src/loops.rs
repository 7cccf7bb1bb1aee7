//! Liveness and loops. As a type, a goroutine is live when some continuation lets it go on; in a
//! loop that does not end, data may prevent that forever (Lange et al., ICSE 2018, section 2.2).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use strait_calculus::Span;
use strait_explore::Limit;
use strait_golang::{Entry, LoopInfo};
use strait_verify::{Culprit, Dependence, Model, dependence_on_data};

use crate::places::GoPlaces;

/// Why liveness is not known because of a loop.
#[derive(Clone, Debug)]
pub enum LoopReason {
    /// There are too many states to see whether the loop matters.
    TooManyStates(LoopInfo),
    /// What follows the loop may never be reached.
    Hidden(LoopInfo),
    /// A goroutine waits until data decides so.
    Depends {
        /// Which, and for what.
        on: Box<Culprit>,
        /// The loop.
        endless: LoopInfo,
    },
    /// It was not decided whether the loop matters.
    NotKnown {
        /// What ended the check.
        limit: Limit,
        /// The loop.
        endless: LoopInfo,
    },
}

impl fmt::Display for LoopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place =
            |one: &LoopInfo| format!("{}:{}: {}", one.position.file, one.position.line, one.why);
        match self {
            LoopReason::TooManyStates(endless) => write!(
                formatter,
                "a loop may not end ({}), and there are too many states to decide whether that \
                 matters",
                place(endless)
            ),
            LoopReason::Hidden(endless) => write!(
                formatter,
                "a loop may not end, so what follows it may never be reached ({})",
                place(endless)
            ),
            LoopReason::Depends { on, endless } => write!(
                formatter,
                "{on} until data decides so, in a loop that may not end ({})",
                place(endless)
            ),
            LoopReason::NotKnown { endless, .. } => write!(
                formatter,
                "a loop may not end ({}), and the time was up before it was known whether that \
                 matters",
                place(endless)
            ),
        }
    }
}

/// What keeps a proof of liveness about the model from being one about the program; `None` if
/// every loop ends, or if no goroutine depends on what data decides in one that may not.
pub(crate) fn endless(entry: &Entry, model: &Model<'_>, places: &GoPlaces) -> Option<LoopReason> {
    let endless = entry.loops.iter().find(|one| !one.bounded)?.clone();
    if model.reduced {
        return Some(LoopReason::TooManyStates(endless));
    }
    let lines: RefCell<BTreeSet<(String, u32)>> = RefCell::default();
    let of_loop = |one: &LoopInfo| (one.position.file.clone(), one.position.line);
    // The condition of a loop that ends lets go of it sooner or later.
    let adverse = |span: Span| {
        let Some(position) = places.go_position(span) else { return true };
        let line = (position.file.clone(), position.line);
        let ends = entry.loops.iter().any(|one| one.bounded && of_loop(one) == line);
        lines.borrow_mut().insert(line);
        !ends
    };
    match dependence_on_data(model, places, &adverse) {
        Dependence::On(on) => Some(LoopReason::Depends { on, endless }),
        Dependence::Unknown(limit) => Some(LoopReason::NotKnown { limit, endless }),
        Dependence::None => {
            let lines = lines.into_inner();
            let mut hidden = entry.loops.iter().filter(|one| !one.bounded);
            let hidden = hidden.find(|one| !lines.contains(&of_loop(one)));
            hidden.map(|_| LoopReason::Hidden(endless))
        }
    }
}
