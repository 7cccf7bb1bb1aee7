//! Words that a reader has to stop at do not come back: dated spellings, articles that mean "per", and papers
//! called by the names of files. Each phrase has the one to write instead.

use super::Complaint;
use super::house::House;

/// What not to write, in two pieces so that this file passes, and what to write.
const PHRASES: [(&str, &str, &str); 9] = [
    ("for", " ever", "write `forever`"),
    ("programs a", " second", "write `per second`"),
    ("executions a", " second", "write `per second`"),
    ("states a", " second", "write `per second`"),
    ("runs a", " second", "write `per second`"),
    ("times a", " second", "write `per second`"),
    ("bytes a", " state", "write `per state`"),
    ("programs a", " target", "write `per target`"),
    ("paper 0", "0", "name the paper by author, venue and year"),
];

/// The endings of files that people read.
const READ: [&str; 6] = [".rs", ".md", ".go", ".strait", ".trycmd", ".rules"];

pub fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.files().filter(|file| READ.iter().any(|end| file.path.ends_with(end))) {
        for (line, number) in file.text.lines().zip(1..) {
            for (begin, end, todo) in PHRASES {
                let phrase = [begin, end].concat();
                if stands_alone(line, &phrase) {
                    let what = format!("says `{phrase}`");
                    complaints.push(file.complain(number, what, todo));
                }
            }
        }
    }
    complaints
}

/// Is the phrase in the line, and not the beginning of a longer word?
fn stands_alone(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let after = line[at + phrase.len()..].chars().next();
        phrase.ends_with('0') || !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture;

    #[test]
    fn each_phrase_is_found_in_files_that_people_read() {
        for (begin, end, _) in super::PHRASES {
            let text = format!("first\nit is {begin}{end} here\n");
            let expected = format!("docs/a.md:2: says `{begin}{end}`");
            let files = [("docs/a.md", text.as_str()), ("a.lock", text.as_str())];
            fixture::check(super::check, &files, &[&expected]);
        }
    }

    #[test]
    fn plain_words_are_left_alone() {
        let text = "It waits forever, at 3 programs per second (Lange et al., ICSE 2018).\n\
                    This holds for every schedule and for everything else.\n";
        fixture::check(super::check, &[("docs/a.md", text)], &[]);
    }
}
