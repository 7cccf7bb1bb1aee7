//! Libraries return what they have to say; only `crates/cli` writes to the terminal. Tests,
//! benches, examples and build scripts may print, and so may xtask and the binaries of the
//! differential fuzzer, which are development tools. The library speaks to the person who runs the tests: it
//! says what a check has covered, and why it had to abort the process. What lies in a crate's folder
//! `embedded` is the source of programs that Strait writes, and those print.

use super::Complaint;
use super::code;
use super::house::{File, House};

const PRINTERS: [&str; 7] =
    ["print!", "println!", "eprint!", "eprintln!", "dbg!", "io::stdout(", "io::stderr("];

/// Binaries that are no part of the product.
const DEVELOPMENT_TOOLS: [&str; 2] =
    ["crates/extractfuzz/src/main.rs", "crates/extractfuzz/src/bin/go_cases.rs"];

/// The library's own reports, which the test runner captures.
const TEST_REPORTS: [&str; 2] = ["crates/strait/src/summary.rs", "crates/strait/src/watchdog.rs"];

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust_files().filter(|file| !may_print(file)) {
        let tests = code::test_regions(&file.code);
        for printer in PRINTERS {
            let found = code::occurrences(&file.code, printer);
            for at in found.into_iter().filter(|at| !tests.iter().any(|range| range.contains(at))) {
                let what = format!("`{}` outside crates/cli", printer.trim_end_matches('('));
                let todo = "return it and let crates/cli print it, or take an `impl Write`";
                complaints.push(file.complain_at(at, what, todo));
            }
        }
    }
    complaints
}

fn may_print(file: &File) -> bool {
    let is_embedded = file.path.split('/').nth(2) == Some("embedded");
    let is_ours = file.is_in("crates/cli") || file.is_in("xtask");
    is_ours
        || DEVELOPMENT_TOOLS.contains(&file.path.as_str())
        || TEST_REPORTS.contains(&file.path.as_str())
        || is_embedded
        || file.is_for_tests()
        || file.is_build_script()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn printing_is_found_in_libraries() {
        let text = "fn f() {\n    println!(\"a\");\n    eprint!(\"b\");\n    std::dbg!(c);\n\
                    let out = std::io::stdout();\n}";
        let expected = [
            "crates/explore/src/lib.rs:2: `println!` outside crates/cli",
            "crates/explore/src/lib.rs:3: `eprint!` outside crates/cli",
            "crates/explore/src/lib.rs:4: `dbg!` outside crates/cli",
            "crates/explore/src/lib.rs:5: `io::stdout` outside crates/cli",
        ];
        fixture::check(super::check, &[("crates/explore/src/lib.rs", text)], &expected);
    }

    #[test]
    fn those_who_may_print_do() {
        let text = "fn main() { println!(\"a\") }";
        let files = [
            ("crates/cli/src/main.rs", text),
            ("crates/explore/tests/corpus.rs", text),
            ("crates/explore/benches/states.rs", text),
            ("crates/golang/build.rs", text),
            ("crates/emit/embedded/rust/once.rs", text),
            ("xtask/src/main.rs", text),
        ];
        fixture::check(super::check, &files, &[]);
    }

    #[test]
    fn test_modules_and_texts_may_contain_it() {
        let text = "/// println!(\"in the docs\")\n\
                    const GO: &str = \"println!(1)\";\n\
                    fn pretty_print() {}\n\
                    #[cfg(test)]\nmod tests { fn f() { println!(\"{}\", 1) } }\n";
        fixture::check(super::check, &[("crates/emit/src/rust.rs", text)], &[]);
    }

    #[test]
    fn after_the_test_module_the_rule_holds_again() {
        let text = "#[cfg(test)]\nmod tests {}\nfn f() { print!(\"a\") }";
        let expected = ["crates/a/src/lib.rs:3: `print!` outside crates/cli"];
        fixture::check(super::check, &[("crates/a/src/lib.rs", text)], &expected);
    }
}
