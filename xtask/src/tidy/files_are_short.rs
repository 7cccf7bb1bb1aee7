//! One thing per file: a Rust or Go file that outgrows its limit holds several.

use super::Complaint;
use super::house::House;

const LIMIT: usize = 600;

pub fn check(house: &House) -> Vec<Complaint> {
    let files = house.rust_files().chain(house.go_files());
    let lengths = files.map(|file| (file, file.text.lines().count()));
    let long = lengths.filter(|(_, length)| *length > LIMIT);
    let complaints = long.map(|(file, length)| {
        let what = format!("{length} lines, more than {LIMIT}");
        file.complain(LIMIT + 1, what, "split it so that each file holds one thing")
    });
    complaints.collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn the_limit_is_allowed_and_one_line_more_is_not() {
        let (fits, too_long) = ("\n".repeat(600), "\n".repeat(601));
        let files = [
            ("crates/a/src/fits.rs", fits.as_str()),
            ("crates/a/src/long.rs", too_long.as_str()),
            ("crates/a/hooks/long.go", too_long.as_str()),
            ("docs/long.md", too_long.as_str()),
        ];
        let expected = [
            "crates/a/src/long.rs:601: 601 lines, more than 600",
            "crates/a/hooks/long.go:601: 601 lines, more than 600",
        ];
        fixture::check(super::check, &files, &expected);
    }
}
