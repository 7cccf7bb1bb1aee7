//! A function that does not fit two screens does several things.

use super::house::{File, House};
use super::{Complaint, code};

const LIMIT: usize = 100;

pub fn check(house: &House) -> Vec<Complaint> {
    house.rust_files().flat_map(long_functions).collect()
}

fn long_functions(file: &File) -> Vec<Complaint> {
    let starts = code::occurrences(&file.code, "fn ");
    let lengths = starts.into_iter().filter_map(|start| {
        let length = file.code[start..].get(..body_end(&file.code[start..])?)?.lines().count();
        (length > LIMIT).then_some((start, length))
    });
    let complain = |(start, length): (usize, usize)| {
        let name = name(&file.code[start..]);
        let what = format!("`{name}` has {length} lines, more than {LIMIT}");
        file.complain_at(start, what, "give its parts functions of their own")
    };
    lengths.map(complain).collect()
}

fn name(function: &str) -> &str {
    let name = function.trim_start_matches("fn ");
    let end = name.find(|char: char| !char.is_alphanumeric() && char != '_');
    &name[..end.unwrap_or(name.len())]
}

/// Where the body of the function ends that starts here, if it has one.
fn body_end(function: &str) -> Option<usize> {
    let body = function.find(['{', ';']).filter(|at| function[*at..].starts_with('{'))?;
    let mut depth = 0_usize;
    for (at, char) in function[body..].char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(body + at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn the_limit_is_allowed_and_one_line_more_is_not() {
        let function = |lines: usize| format!("fn f() {{{}}}\n", "\n".repeat(lines - 1));
        let declared = format!("fn f();{}", "\n".repeat(200));
        let (fits, long) = (function(100), format!("\n{}", function(101)));
        let files = [
            ("crates/a/src/declared.rs", declared.as_str()),
            ("crates/a/src/fits.rs", fits.as_str()),
            ("crates/a/src/long.rs", long.as_str()),
        ];
        let expected = ["crates/a/src/long.rs:2: `f` has 101 lines, more than 100"];
        fixture::check(super::check, &files, &expected);
    }
}
