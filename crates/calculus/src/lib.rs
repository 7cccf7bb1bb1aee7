#![doc = include_str!("../README.md")]

mod diagram;
mod examine;
mod explain;
mod language;
mod machine;

pub use diagram::{Execution, draw};
pub use examine::{Engine, Examination, ExamineOptions, examine, verdict};
pub use explain::explainer::{Explainer, Explanation, explain};
pub use explain::observation::{Event, Observation, Seen};
pub use language::ast::Program;
pub use language::check::check;
pub use language::diagnostic::{Diagnostic, Diagnostics};
pub use language::effect::{ChannelName, Effect, SelectEffect};
pub use language::excerpt::{excerpt, line_number};
pub use language::index::{FuncId, Idx, IndexVec, ObjectId, Pc, ProcId, VarId};
pub use language::parser::{parse, parse_bytes, parse_unchecked};
pub use language::printer::{print, print_expression, print_statement, print_type};
pub use language::similar::{closest, edit_distance, suggestion};
pub use language::span::Span;
pub use language::{ast, effect, lambda_chan};
pub use machine::action::{Action, ActionKind, Fault, PanicCause};
pub use machine::inspect::{Condition, Holding, Panicked, Waiting, Want, Wish};
pub use machine::narrate::{Blocked, Place, Step};
pub use machine::outcome::{Account, Outcome, Sighting, Verdict};
pub use machine::program::{Machine, Recording, State};
pub use machine::schedule::Schedule;
