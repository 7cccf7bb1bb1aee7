//! Code that stands in two places is mended in one of them only.
//!
//! Two runs of lines are the same if a renaming of their names, one to one, makes them equal and at least
//! half of the names need not be renamed. Literals, comments, imports, attributes, fields and lines with
//! fewer than three names do not count, and neither do tests.

use std::collections::HashMap;

use super::house::{File, House};
use super::{Complaint, code};

/// The longest run that may stand in two places.
const LIMIT: usize = 15;

/// A line that counts.
struct Line<'t> {
    number: usize,
    /// The line with every name replaced by the same character.
    shape: String,
    names: Vec<&'t str>,
}

pub fn check(house: &House) -> Vec<Complaint> {
    let files: Vec<&File> = house.rust_files().filter(|file| !file.is_for_tests()).collect();
    let lines: Vec<Vec<Line<'_>>> = files.iter().map(|file| lines(file)).collect();
    let mut first: HashMap<Vec<&str>, Vec<(usize, usize)>> = HashMap::new();
    let mut complaints = Vec::new();
    for (file, own) in lines.iter().enumerate() {
        let mut reported = 0;
        for (at, run) in own.windows(LIMIT + 1).enumerate() {
            let shapes: Vec<&str> = run.iter().map(|line| line.shape.as_str()).collect();
            let earlier = first.entry(shapes).or_default();
            let apart = |place: &&(usize, usize)| place.0 != file || place.1 + LIMIT < at;
            let twin = earlier
                .iter()
                .filter(apart)
                .find(|(other, start)| is_renamed(&lines[*other][*start..=*start + LIMIT], run));
            if let Some((other, start)) = twin.filter(|_| at >= reported) {
                let place = format!("{}:{}", files[*other].path, lines[*other][*start].number);
                let what = format!("more than {LIMIT} lines stand at {place} as well");
                complaints.push(files[file].complain(run[0].number, what, TODO));
                reported = at + LIMIT;
            }
            earlier.push((file, at));
        }
    }
    complaints
}

const TODO: &str = "write them once, as a function, a macro or a type";

/// The lines of a file that count.
fn lines(file: &File) -> Vec<Line<'_>> {
    let tests = code::test_regions(&file.code);
    let mut offset = 0;
    let mut found = Vec::new();
    for (index, text) in file.code.split_inclusive('\n').enumerate() {
        let is_test = tests.iter().any(|region| region.contains(&offset));
        offset += text.len();
        let text = text.trim();
        let item = text.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
        let item = item.trim_start_matches("pub ");
        if is_test || ["use ", "mod ", "#"].iter().any(|start| item.starts_with(start)) {
            continue;
        }
        let (shape, names) = dissect(text);
        let is_field = shape == "__:_,";
        if names.len() >= 3 && !is_field {
            found.push(Line { number: index + 1, shape, names });
        }
    }
    found
}

/// A line without its names, and the names.
fn dissect(text: &str) -> (String, Vec<&str>) {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let mut shape = String::new();
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        if end == 0 {
            shape.extend((!char.is_whitespace()).then_some(char));
            rest = &rest[char.len_utf8()..];
        } else {
            shape.push('_');
            names.push(&rest[..end]);
            rest = &rest[end..];
        }
    }
    (shape, names)
}

/// Are two runs of lines of the same shapes equal but for a renaming, one to one, of at most half the names?
fn is_renamed(one: &[Line<'_>], other: &[Line<'_>]) -> bool {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    let names = |lines: &[Line<'_>]| lines.iter().map(|line| line.names.len()).sum::<usize>();
    let (mut same, all) = (0, names(one));
    let own = one.iter().flat_map(|line| &line.names);
    for (name, others) in own.zip(other.iter().flat_map(|line| &line.names)) {
        if *there.entry(*name).or_insert(*others) != *others
            || *back.entry(*others).or_insert(*name) != *name
        {
            return false;
        }
        same += usize::from(name == others);
    }
    same * 2 >= all
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    fn block(name: &str, lines: usize) -> String {
        (0..lines).map(|line| format!("    let v{line} = {name}.get(first);\n")).collect()
    }

    #[test]
    fn equal_and_renamed_runs_are_found() {
        let (one, renamed) = (block("a", 16), block("b", 16));
        let other = renamed.replace("get(first)", "put(last, more)");
        let tests = format!("#[cfg(test)]\nmod tests {{\n{one}}}\n");
        let files = [
            ("crates/a/src/one.rs", one.as_str()),
            ("crates/b/src/two.rs", renamed.as_str()),
            ("crates/b/src/other.rs", other.as_str()),
            ("crates/b/src/tested.rs", tests.as_str()),
            ("crates/b/tests/three.rs", one.as_str()),
        ];
        let expected =
            ["crates/b/src/two.rs:1: more than 15 lines stand at crates/a/src/one.rs:1 as well"];
        fixture::check(super::check, &files, &expected);
    }

    #[test]
    fn fifteen_lines_may_stand_twice() {
        let (one, two) = (block("a", 15), block("b", 15));
        let files = [("crates/a/src/one.rs", one.as_str()), ("crates/b/src/two.rs", two.as_str())];
        fixture::check(super::check, &files, &[]);
    }
}
