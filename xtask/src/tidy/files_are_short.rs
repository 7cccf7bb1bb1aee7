//! One thing a file: a Rust file that outgrows its limit holds several.

use super::Complaint;
use super::house::House;

const LIMIT: usize = 700;

pub fn check(house: &House) -> Vec<Complaint> {
    let lengths = house.rust_files().map(|file| (file, file.text.lines().count()));
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
        let (fits, too_long) = ("\n".repeat(700), "\n".repeat(701));
        let files = [
            ("crates/a/src/fits.rs", fits.as_str()),
            ("crates/a/src/long.rs", too_long.as_str()),
            ("docs/long.md", too_long.as_str()),
        ];
        let expected = ["crates/a/src/long.rs:701: 701 lines, more than 700"];
        fixture::check(super::check, &files, &expected);
    }
}
