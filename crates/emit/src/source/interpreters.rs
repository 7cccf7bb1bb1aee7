//! The sources of the interpreters: small programs in the target's own language that read plans
//! and report what processes saw.

use super::Files;
use super::unit::{GO_MOD, GO_RECORD, GO_WATCH, KOTLIN_RECORD, KOTLIN_WATCH};
use crate::language::Era;

fn files(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

/// The interpreter written in Go.
pub(crate) fn go_interpreter() -> Files {
    files(&[
        ("go.mod", GO_MOD),
        ("record.go", GO_RECORD),
        ("watch.go", GO_WATCH),
        ("plan.go", include_str!("../../embedded/go/plan.go")),
        ("interpreter.go", include_str!("../../embedded/go/interpreter.go")),
    ])
}

/// The interpreter written in Kotlin, with the channels of an era.
pub(crate) fn kotlin_interpreter(era: Era) -> Files {
    let channels = match era {
        Era::Experimental => include_str!("../../embedded/kotlin/eras/Experimental.kt"),
        Era::Classic => include_str!("../../embedded/kotlin/eras/Classic.kt"),
        Era::Modern => include_str!("../../embedded/kotlin/eras/Modern.kt"),
        Era::CoreAsync => include_str!("../../embedded/kotlin/eras/CoreAsync.kt"),
    };
    files(&[
        ("Record.kt", KOTLIN_RECORD),
        ("Watch.kt", KOTLIN_WATCH),
        ("Plan.kt", include_str!("../../embedded/kotlin/Plan.kt")),
        ("Interpreter.kt", include_str!("../../embedded/kotlin/Interpreter.kt")),
        ("Channels.kt", channels),
    ])
}
