//! Crystal: its row of the table of languages, and what stands around its functions.

use strait_generate::Capabilities;

use super::{Batch, Description, Parts, with_ways_out};
use crate::source::crystal;

/// Crystal.
pub(super) const CRYSTAL: Description = Description {
    name: "crystal",
    title: "Crystal",
    about: "Crystal",
    extension: "cr",
    comment: "#",
    capabilities: |common| Capabilities {
        close: true,
        put_and_get_in_select: true,
        ..with_ways_out(common)
    },
    crashes: &[
        "you've found a bug in the Crystal compiler",
        "BUG: ",
        "Module validation failed",
        "Invalid memory access",
    ],
    functions: |program, naming, _| crystal::functions(program, naming),
    alone: |_, functions, _| format!("{functions}\n{RECORD}\n{ONCE}"),
    together,
};

const RECORD: &str = include_str!("../../embedded/crystal/record.cr");
const ONCE: &str = include_str!("../../embedded/crystal/once.cr");
const BATCH: &str = include_str!("../../embedded/crystal/batch.cr");

fn together(batch: &Batch<'_>) -> Parts {
    let list = format!("PROGRAMS = [\n{}]\n", batch.listed("  ->", "(Actor),"));
    vec![("batch.cr", format!("{RECORD}\n{}\n{list}\n{BATCH}", batch.text()))]
}
