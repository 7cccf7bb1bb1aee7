//! `cargo xtask platforms`: does the library compile for other platforms than this one?
//!
//! One step per target. A target whose standard library is not installed is skipped, and the summary says
//! how to get it. Warnings are errors: code that only Linux needs would show as unused.

use crate::step::{Class, Outcome, Step};
use crate::workspace::Workspace;

/// The platforms of the table in docs/library.md.
pub const STEPS: &[Step] = &[
    Step::new("windows", Class::Toolchain, |workspace| check(workspace, "x86_64-pc-windows-gnu")),
    Step::new("windows-msvc", Class::Toolchain, |workspace| {
        check(workspace, "x86_64-pc-windows-msvc")
    }),
    Step::new("macos", Class::Toolchain, |workspace| check(workspace, "x86_64-apple-darwin")),
    Step::new("macos-arm", Class::Toolchain, |workspace| check(workspace, "aarch64-apple-darwin")),
    Step::new("linux-arm", Class::Toolchain, |workspace| {
        check(workspace, "aarch64-unknown-linux-gnu")
    }),
];

fn check(workspace: &Workspace, target: &str) -> Outcome {
    if let Err(why) = workspace.target_library(target) {
        return Outcome::Skipped(why);
    }
    let folder = workspace.target().join("platforms").display().to_string();
    let arguments =
        ["check", "--package", "strait", "--target", target, "--target-dir", folder.as_str()];
    workspace.cargo_with(&arguments, &[("RUSTFLAGS", "--deny warnings")])
}
