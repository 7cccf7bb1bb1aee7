//! Rust: its row of the table of languages, and what stands around its functions.

use strait_generate::Capabilities;

use super::{Batch, Description, Parts, with_ways_out};
use crate::source::rust;

/// Rust with crossbeam-channel.
pub(super) const RUST: Description = Description {
    name: "rust",
    title: "Rust",
    about: "Rust with crossbeam-channel, or with the crate that --target names",
    extension: "rs",
    comment: "//",
    capabilities: |common| Capabilities {
        unbounded: true,
        put_and_get_in_select: true,
        ..with_ways_out(common)
    },
    crashes: &["the compiler unexpectedly panicked"],
    functions: |program, naming, _| rust::functions(program, naming),
    alone: |_, functions, _| file(functions, ONCE),
    together,
};

const RECORD: &str = include_str!("../../embedded/rust/record.rs");
const ONCE: &str = include_str!("../../embedded/rust/once.rs");
const BATCH: &str = include_str!("../../embedded/rust/batch.rs");

fn together(batch: &Batch<'_>) -> Parts {
    let list =
        format!("const PROGRAMS: &[fn(&mut Process)] = &[\n{}];\n", batch.listed("    ", ","));
    vec![("src/main.rs", file(&format!("{list}\n{}", batch.text()), BATCH))]
}

fn file(functions: &str, main: &str) -> String {
    let record = body(RECORD);
    let (head, rest) = record.split_once("\n/// Both ends").unwrap_or((record, ""));
    format!("{head}\n{functions}\n{}\n/// Both ends{rest}", body(main))
}

/// An embedded file of Rust without the lines that say what it is: these may stand only at the
/// beginning of a file, and it goes into the middle of one.
fn body(text: &str) -> &str {
    let heading = text.lines().take_while(|line| line.starts_with("//!"));
    let length: usize = heading.map(|line| line.len() + 1).sum();
    text[length..].trim_start()
}
