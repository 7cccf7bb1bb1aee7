#![doc = include_str!("../README.md")]

mod answer;
mod assumptions;
mod check;
mod confirm;
mod diagram;
mod entry_name;
mod error;
mod findings;
mod loops;
mod places;
mod question;
mod silence;
mod summary;

pub use answer::{Answer, Asked, Checked, Conclusion, Confirmation, NotRun, Reason, ReasonKind};
pub use assumptions::Rests;
pub use check::{EntryBudget, check, check_model};
pub use confirm::{Confirm, Effort};
pub use diagram::diagram;
pub use entry_name::normalised_entry;
pub use error::Error;
pub use findings::{FindingKind, FindingStatus, GoFinding, findings};
pub use loops::LoopReason;
pub use places::{GoPlaces, Locate, module_relative};
pub use question::{NamedFormula, Question};
pub use silence::{SourceFiles, Warning};
pub use summary::{FailOn, Summary, unusable_name};
