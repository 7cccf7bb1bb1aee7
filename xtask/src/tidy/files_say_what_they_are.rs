//! Every Rust file opens with `//!` (or `#![doc`): what comes in, what goes out, what holds.

use super::Complaint;
use super::house::{File, House};

pub fn check(house: &House) -> Vec<Complaint> {
    let silent = house.rust_files().filter(|file| !says_what_it_is(file));
    let complaints = silent.map(|file| {
        let what = "does not open with `//!`".into();
        file.complain(1, what, "say what comes in, what goes out and which invariant holds")
    });
    complaints.collect()
}

fn says_what_it_is(file: &File) -> bool {
    match file.text.lines().find(|line| !line.trim().is_empty()) {
        Some(first) => {
            first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty())
                || first.starts_with("#![doc")
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn the_first_line_decides() {
        let files = [
            ("crates/a/src/lib.rs", "#![doc = include_str!(\"../README.md\")]\n"),
            ("crates/a/src/good.rs", "\n//! The good one.\n"),
            ("crates/a/src/late.rs", "use std::fmt;\n//! Too late.\n"),
            ("crates/a/src/blank.rs", "//!\nfn main() {}\n"),
            ("xtask/src/empty.rs", ""),
            ("docs/example.rs", "fn main() {}\n"),
        ];
        let expected = [
            "crates/a/src/late.rs:1: does not open with `//!`",
            "crates/a/src/blank.rs:1: does not open with `//!`",
            "xtask/src/empty.rs:1: does not open with `//!`",
        ];
        fixture::check(super::check, &files, &expected);
    }
}
