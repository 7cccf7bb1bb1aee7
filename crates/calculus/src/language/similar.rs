//! Names that resemble a mistyped one. In: a name and the names there are. Out: the name that was probably
//! meant, or none: a wrong guess is worse than no guess.

use std::cmp::Reverse;

/// Names that are longer are not compared.
const LONGEST: usize = 64;
/// A beginning with fewer letters says nothing.
const SHORTEST_BEGINNING: usize = 3;

/// The candidate that was probably meant by a mistyped name: one that is few edits away, or one that begins
/// with the whole name.
///
/// ```
/// let known = ["crossbeam-channel", "tokio", "flume"];
/// assert_eq!(strait_calculus::closest("tokyo", known), Some("tokio"));
/// assert_eq!(strait_calculus::closest("crossbeam", known), Some("crossbeam-channel"));
/// assert_eq!(strait_calculus::closest("std", known), None);
/// ```
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    let limit = (letters / 3).max(1);
    let mut beginning = None;
    let mut near: Option<((usize, Reverse<usize>), &str)> = None;
    for candidate in candidates {
        let distance = edit_distance(name, candidate);
        // Of two at the same distance, the one with the same first letters was meant.
        let common = name.chars().zip(candidate.chars()).take_while(|(one, other)| one == other);
        let rank = (distance, Reverse(common.count()));
        if distance <= limit && near.is_none_or(|(least, _)| rank < least) {
            near = Some((rank, candidate));
        }
        if letters >= SHORTEST_BEGINNING && beginning.is_none() && candidate.starts_with(name) {
            beginning = Some(candidate);
        }
    }
    near.map(|(_, candidate)| candidate).or(beginning)
}

/// What a message about an unknown name says next: "did you mean `tokio`?", or all the names that are known.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match closest(name, known.iter().copied()) {
        Some(one) => format!("did you mean `{one}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}

/// How many letters have to be inserted, removed, replaced or swapped with their neighbour (optimal string
/// alignment).
pub fn edit_distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().max(other.len()) > LONGEST {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.iter().enumerate() {
        let mut next = vec![line + 1];
        for (column, wanted) in other.iter().enumerate() {
            let replaced = row[column] + usize::from(letter != wanted);
            let mut least = replaced.min(row[column + 1] + 1).min(next[column] + 1);
            let swapped =
                line > 0 && column > 0 && one[line - 1] == *wanted && other[column - 1] == *letter;
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("tokio", "tokio", 0),
            ("tiem", "time", 1),
            ("tiem", "item", 1),
            ("tiem", "items", 2),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
        ] {
            assert_eq!(edit_distance(one, other), expected, "{one} {other}");
            assert_eq!(edit_distance(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_and_no_far_one() {
        let known = ["std", "tokio", "crossbeam-channel", "go", "item", "time"];
        for (name, expected) in [
            ("tokyo", Some("tokio")),
            ("crossbeam", Some("crossbeam-channel")),
            ("crosbeam-chanel", Some("crossbeam-channel")),
            ("tiem", Some("time")),
            ("sdt", Some("std")),
            ("cr", None),
            ("rust", None),
            ("", None),
        ] {
            assert_eq!(closest(name, known), expected, "{name}");
        }
    }
}
