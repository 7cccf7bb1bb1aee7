//! `cargo xtask sanitize`: the library's own tests under tools that look for undefined behaviour.
//!
//! | step | what runs | what it looks for |
//! |---|---|---|
//! | `address` | `suite` and `real` | accesses outside of what is allocated, and after it is freed |
//! | `optimised` | `suite` and `real` with optimisation | outcomes that depend on how the code under test is compiled |
//! | `miri` | `real` | undefined behaviour and data races in code that runs outside of a check |
//!
//! Miri cannot follow a check, because it does not know how stacks are switched. The address sanitizer is
//! told of each switch by corosensei (its feature `sanitizer`). The thread sanitizer is not told, and
//! reports races between coroutines that never run at the same time, so it is not used.

use crate::step::{Class, Outcome, Step};
use crate::workspace::Workspace;

/// One step per tool.
pub const STEPS: &[Step] = &[
    Step::new("address", Class::Toolchain, address),
    Step::new("optimised", Class::Toolchain, optimised),
    Step::new("miri", Class::Toolchain, miri),
];

/// Which values are in registers when a thread stops depends on the level of optimisation.
fn optimised(workspace: &Workspace) -> Outcome {
    let folder = workspace.target().join("sanitize/optimised").display().to_string();
    let tests =
        ["test", "--package", "strait", "--test", "suite", "--test", "known", "--test", "real"];
    let places = ["--release", "--target-dir", &folder];
    // Some tests are about stacks, which have neither names nor lines in a release.
    let variables = [
        ("CARGO_PROFILE_RELEASE_STRIP", "none"),
        ("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only"),
    ];
    workspace.cargo_with(&[tests.as_slice(), &places].concat(), &variables)
}

/// The runtime of the sanitizer comes with the compiler; its flag has to be unlocked in a stable one.
fn address(workspace: &Workspace) -> Outcome {
    let host = match workspace.host() {
        Ok(host) => host,
        Err(why) => return Outcome::Skipped(why),
    };
    let folder = workspace.target().join("sanitize/address").display().to_string();
    let tests =
        ["test", "--package", "strait", "--test", "suite", "--test", "known", "--test", "real"];
    // A target, even if it is this platform, keeps the flags from build scripts.
    let places = ["--target", &host, "--target-dir", &folder];
    let features = ["--features", "corosensei/sanitizer"];
    let variables = [
        ("RUSTC_BOOTSTRAP", "1"),
        ("RUSTFLAGS", "-Zsanitizer=address"),
        ("ASAN_OPTIONS", ADDRESS_OPTIONS),
    ];
    // The sanitizer's own locks make threads block, and blocking is what some checks look for.
    let one_by_one = ["--", "--test-threads=1"];
    let arguments = [tests.as_slice(), &places, &features, &one_by_one].concat();
    workspace.cargo_with(&arguments, &variables)
}

/// Executions that are cut leave what their threads own, on purpose: no destructor may run on half-done
/// state. So leaks are not looked for. Signals are those of the library's own reports.
const ADDRESS_OPTIONS: &str = "detect_leaks=0:handle_segv=0:handle_abort=0:use_sigaltstack=0";

/// Miri comes with nightly compilers only.
fn miri(workspace: &Workspace) -> Outcome {
    if !workspace.has("rustup", &["run", "nightly", "cargo", "miri", "--version"]) {
        return Outcome::Skipped(
            "Miri is missing: rustup toolchain install nightly --component miri,rust-src".into(),
        );
    }
    let folder = workspace.target().join("sanitize/miri").display().to_string();
    let cargo = ["run", "nightly", "cargo", "miri", "test", "--package", "strait"];
    let arguments = ["--test", "real", "--target-dir", &folder];
    workspace.run(&"rustup".into(), &[cargo.as_slice(), &arguments].concat())
}
