//! No file names a place on somebody's machine: such a path works nowhere else.

use super::Complaint;
use super::house::House;

/// First parts of absolute paths that belong to a person or a build machine. Written without the
/// slashes, so that this file passes.
const PLACES: [&str; 5] = ["root/", "home/", "work/", "Users/", "tmp/bash"];

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.files() {
        for (line, number) in file.text.lines().zip(1..) {
            if let Some(path) = machine_path(line) {
                let what = format!("names a place on one machine, `{path}`");
                let todo = "use a path relative to the checkout, or a temporary directory";
                complaints.push(file.complain(number, what, todo));
            }
        }
    }
    complaints
}

/// The start of the first absolute path to one of the [`PLACES`]. Inside a longer path or an
/// address the same letters mean something else.
fn machine_path(line: &str) -> Option<&str> {
    let mut slashes = line.match_indices('/').map(|(at, _)| at);
    slashes.find_map(|at| {
        let place = PLACES.iter().find(|place| line[at + 1..].starts_with(**place))?;
        let before = line[..at].chars().next_back();
        let is_absolute = !before.is_some_and(|char| {
            char.is_alphanumeric() || matches!(char, '.' | '_' | '-' | '~' | '}' | ')' | '*')
        });
        is_absolute.then(|| &line[at..at + 1 + place.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn absolute_paths_are_found_in_any_file() {
        for place in super::PLACES {
            let text = format!("first\nsee `/{place}somewhere`\n");
            let expected = format!("docs/a.md:2: names a place on one machine, `/{place}`");
            fixture::check(super::check, &[("docs/a.md", &text)], &[&expected]);
        }
    }

    #[test]
    fn an_address_with_a_machine_path_is_found() {
        let text = format!("file:///{}x", super::PLACES[0]);
        let expected = format!("a.toml:1: names a place on one machine, `/{}`", super::PLACES[0]);
        fixture::check(super::check, &[("a.toml", &text)], &[&expected]);
    }

    #[test]
    fn other_paths_are_left_alone() {
        let text = "https://example.org/home/page\nsrc/work/queue.rs\n./root/a\n${base}/work/b\n\
                    /usr/bin/env\n/tmp/x\n/homework/a\n";
        fixture::check(super::check, &[("a.md", text)], &[]);
    }
}
