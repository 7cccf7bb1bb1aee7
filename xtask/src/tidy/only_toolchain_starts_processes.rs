//! Only `crates/toolchain` starts processes, because it also limits and ends them. Clippy bans the
//! call by its resolved path; this rule finds the word itself, also where clippy is silenced.
//!
//! The builders of other crates that share the name are written in full, `clap::Command::new`. A
//! file of tests or benches may start processes if it says why, in a comment or, for clippy too,
//! as `#![expect(clippy::disallowed_methods, reason = "tidy: starts a process because …")]`.

use super::Complaint;
use super::code;
use super::house::{File, House};

const START: &str = "Command::new";
const BECAUSE: &str = "tidy: starts a process because ";

/// What stands before the name when it is a builder that starts nothing, or that a test helper
/// watches over.
const NAMESAKES: [&str; 4] = ["clap::", "assert_cmd::", "snapbox::cmd::", "trycmd::cmd::"];

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust_files().filter(|file| !may_start_processes(file)) {
        let namesake =
            |at: &usize| NAMESAKES.iter().any(|prefix| file.code[..*at].ends_with(prefix));
        for at in code::occurrences(&file.code, START).into_iter().filter(|at| !namesake(at)) {
            let what = format!("`{START}` outside crates/toolchain");
            let todo = if file.is_for_tests() {
                "use a test helper such as trycmd, or write `tidy: starts a process because …`"
            } else {
                "call crates/toolchain; write `clap::Command::new` in full if that is meant"
            };
            complaints.push(file.complain_at(at, what, todo));
        }
    }
    complaints
}

fn may_start_processes(file: &File) -> bool {
    file.is_in("crates/toolchain")
        || file.is_in("xtask")
        || file.is_for_tests() && file.text.contains(BECAUSE)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    const STARTS: &str = "fn f() {\n    std::process::Command::new(\"go\");\n}";

    #[test]
    fn a_start_is_found_in_sources_and_tests() {
        let files = [
            ("crates/cli/src/main.rs", STARTS),
            ("crates/cli/tests/explore.rs", STARTS),
            ("crates/toolchain-of-others/src/lib.rs", STARTS),
        ];
        let expected = [
            "crates/cli/src/main.rs:2: `Command::new` outside crates/toolchain",
            "crates/cli/tests/explore.rs:2: `Command::new` outside crates/toolchain",
            "crates/toolchain-of-others/src/lib.rs:2: `Command::new` outside crates/toolchain",
        ];
        fixture::check(super::check, &files, &expected);
    }

    #[test]
    fn those_who_may_start_processes_do() {
        let files = [("crates/toolchain/src/lib.rs", STARTS), ("xtask/src/workspace.rs", STARTS)];
        fixture::check(super::check, &files, &[]);
    }

    #[test]
    fn a_test_may_say_why_and_a_source_may_not() {
        let text = format!("// tidy: starts a process because a signal is tested\n{STARTS}");
        let files = [("crates/a/tests/signal.rs", text.as_str()), ("crates/a/src/lib.rs", &text)];
        let expected = ["crates/a/src/lib.rs:3: `Command::new` outside crates/toolchain"];
        fixture::check(super::check, &files, &expected);
    }

    #[test]
    fn namesakes_and_texts_are_left_alone() {
        let text = "// Command::new is banned\n\
                    fn f() { clap::Command::new(\"strait\"); MyCommand::new(); }";
        fixture::check(super::check, &[("crates/cli/src/main.rs", text)], &[]);
    }
}
