//! Flix: its row of the table of languages, and what stands around its functions.

use strait_generate::Capabilities;

use super::Description;
use crate::source::{Naming, flix};

/// Flix. Selects are over gets alone.
pub(super) const FLIX: Description = Description {
    name: "flix",
    title: "Flix",
    about: "Flix",
    extension: "flix",
    comment: "//",
    capabilities: |common| Capabilities {
        select_puts: false,
        loops: false,
        recursion: false,
        channels_over_channels: false,
        ..common
    },
    crashes: &[],
    functions: |program, naming, _| flix::functions(program, naming),
    alone: |_, functions, _| file(functions, &[Naming::Alone.main()]),
    together: |batch| vec![("src/Main.flix", file(&batch.text(), &batch.names()))],
};

fn file(functions: &str, names: &[String]) -> String {
    let calls: String = names
        .iter()
        .map(|name| format!("    {name}();\n    println(\"done {name}\");\n"))
        .collect();
    format!("{functions}\ndef main(): Unit \\ {{ Chan, NonDet, IO }} = {{\n{calls}    ()\n}}\n")
}
