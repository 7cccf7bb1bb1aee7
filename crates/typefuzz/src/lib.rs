#![doc = include_str!("../README.md")]

pub mod counts;
mod discover;
mod error;
mod exhibit;
mod judge;
mod known;
mod language;
mod oracle;
mod permitted;
mod recipe;
mod reduce;
mod rules;
mod settings;
mod shrink;
mod slowdown;
pub mod system_f;
mod ui_test;
mod workload;

pub use discover::{Details, ProgramFiles, RULE_FILE, Row, TERM, discovery, standalone};
pub use error::Error;
pub use exhibit::{Exhibit, is_types};
pub use judge::{Asked, Fault, Judgement, RULES, Verdicts, judge};
pub use known::{Class, Known};
pub use language::{Feature, Language};
pub use oracle::{
    ORACLES, Oracle, Profile, Rejection, RunResult, Stage, Verdict, WALL, find, find_within,
    is_built_in, is_command, judge_all,
};
pub use permitted::{Chosen, Permitted};
pub use recipe::{BATCH, Case, Fuzzer, GENERATOR_VERSION, Mode, Other, Recipe, System};
pub use reduce::{Reduced, Reducer, keep};
pub use rules::{RuleSet, SYSTEM_F, file, is_path};
pub use settings::{Settings, Typechecking};
pub use slowdown::Slowdown;
pub use ui_test::{UiTest, ui_test};
pub use workload::Programs;
