//! ARCHITECTURE.md and `crates/` agree: every crate has its row in the map, every `crates/NAME`
//! that the document mentions exists, and a room to come has not come yet.
//!
//! A row of the map is a table line that starts with `` | `crates/NAME` ``; a room to come is an
//! item `- NAME: …` under the heading `Rooms to come`.

use super::Complaint;
use super::house::House;

const MAP: &str = "ARCHITECTURE.md";
const ROOMS_TO_COME: &str = "Rooms to come";

pub fn check(house: &House) -> Vec<Complaint> {
    let Some(map) = house.file(MAP) else {
        let what = "there is no map of the crates".into();
        let todo = "write ARCHITECTURE.md at the root";
        return vec![Complaint { path: MAP.into(), line: 1, what, todo }];
    };
    let crates: Vec<&str> = house.crates().collect();
    let mut mapped = Vec::new();
    let mut complaints = Vec::new();
    let mut to_come = false;
    for (line, number) in map.text.lines().zip(1..) {
        if let Some(heading) = line.strip_prefix('#') {
            to_come = heading.trim_start_matches('#').trim() == ROOMS_TO_COME;
        }
        if to_come {
            if let Some(name) = room(line).filter(|name| crates.contains(name)) {
                let what = format!("`{name}` is listed as to come, but crates/{name} exists");
                complaints.push(map.complain(number, what, "move it into the map"));
            }
            continue;
        }
        mapped.extend(row(line));
        for name in mentioned(line).filter(|name| !crates.contains(name)) {
            let what = format!("crates/{name} does not exist");
            let todo = "correct the name, or list it by its bare name under `Rooms to come`";
            complaints.push(map.complain(number, what, todo));
        }
    }
    for name in crates.iter().filter(|name| !mapped.contains(name)) {
        let what = format!("crates/{name} is not in the map");
        complaints.push(map.complain(1, what, "add a row for it to the table of crates"));
    }
    complaints
}

/// `NAME` of a list item `- NAME: …`.
fn room(line: &str) -> Option<&str> {
    line.strip_prefix("- ")?.split_once(':').map(|(name, _)| name)
}

/// `NAME` of a table line that starts with `` | `crates/NAME` ``.
fn row(line: &str) -> Option<&str> {
    let cell = line.strip_prefix("| `crates/")?;
    cell.split_once('`').map(|(name, _)| name)
}

/// Every `NAME` in `crates/NAME` on the line.
fn mentioned(line: &str) -> impl Iterator<Item = &str> {
    let names = line.split("crates/").skip(1).map(|rest| {
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '-');
        &rest[..end.unwrap_or(rest.len())]
    });
    names.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    fn check(map: &str, expected: &[&str]) {
        let files = [
            ("ARCHITECTURE.md", map),
            ("crates/cli/Cargo.toml", ""),
            ("crates/explore/Cargo.toml", ""),
        ];
        fixture::check(super::check, &files, expected);
    }

    #[test]
    fn map_and_crates_agree() {
        check(
            "| `crates/cli` | the binary |\n| `crates/explore` | the search |\n\
             Everything lies in crates/; `crates/explore/src` is for later.\n\
             ## Rooms to come\n- runtimes: as crates/runtimes\n",
            &[],
        );
    }

    #[test]
    fn a_crate_without_a_row() {
        check(
            "| `crates/cli` | uses `crates/explore` |\n",
            &["ARCHITECTURE.md:1: crates/explore is not in the map"],
        );
    }

    #[test]
    fn a_row_without_a_crate() {
        check(
            "| `crates/cli` | |\n| `crates/explore` | |\n| `crates/gone` | |\n",
            &["ARCHITECTURE.md:3: crates/gone does not exist"],
        );
    }

    #[test]
    fn a_room_that_has_come() {
        check(
            "| `crates/cli` | |\n## Rooms to come\n- explore: the search\n## After\n\
             | `crates/explore` | |\n",
            &["ARCHITECTURE.md:3: `explore` is listed as to come, but crates/explore exists"],
        );
    }

    #[test]
    fn no_map_at_all() {
        fixture::check(super::check, &[], &["ARCHITECTURE.md:1: there is no map of the crates"]);
    }
}
