//! Is what was seen what a page shows?
//!
//! In: the lines of the page and the lines that came. Out: nothing, or where they part. A line
//! `...` on the page stands for any number of lines, `[..]` in a line for any text; blank lines at
//! the end do not count.

use std::fmt;

/// Where what was seen leaves what the page shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Lines of the page that came, as far as that goes.
    met: Vec<String>,
    /// The rest of the page.
    missing: Vec<String>,
    /// What came instead.
    instead: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = [("  ", &self.met), ("- ", &self.missing), ("+ ", &self.instead)];
        for (mark, lines) in groups {
            for line in lines {
                writeln!(formatter, "    {mark}{line}")?;
            }
        }
        Ok(())
    }
}

/// Compares what a page shows with what came.
pub fn compare(page: &[String], seen: &[String]) -> Result<(), Difference> {
    let (page, seen) = (without_blank_end(page), without_blank_end(seen));
    // reached[i]: after the first i lines of the page, how many lines may have been seen.
    let mut reached: Vec<Vec<bool>> = vec![vec![false; seen.len() + 1]; page.len() + 1];
    reached[0][0] = true;
    for (at, shown) in page.iter().enumerate() {
        for count in 0..=seen.len() {
            if !reached[at][count] {
                continue;
            }
            if shown.trim() == "..." {
                reached[at + 1][count..].fill(true);
            } else if seen.get(count).is_some_and(|line| is_like(shown, line)) {
                reached[at + 1][count + 1] = true;
            }
        }
    }
    if reached[page.len()][seen.len()] {
        return Ok(());
    }
    let met = (0..=page.len()).rev().find(|at| reached[*at].contains(&true)).unwrap_or(0);
    let count = reached[met].iter().position(|may| *may).unwrap_or(0);
    Err(Difference {
        met: page[..met].to_vec(),
        missing: page[met..].to_vec(),
        instead: seen[count..].to_vec(),
    })
}

fn without_blank_end(lines: &[String]) -> &[String] {
    let end = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    &lines[..end]
}

/// Is the line like the one shown, in which `[..]` stands for any text?
fn is_like(shown: &str, line: &str) -> bool {
    let mut parts = shown.trim_end().split("[..]");
    let Some(mut rest) = parts.next().and_then(|start| line.trim_end().strip_prefix(start)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn check(page: &str, seen: &str, alike: bool) {
        assert_eq!(compare(&lines(page), &lines(seen)).is_ok(), alike, "{page:?} and {seen:?}");
    }

    #[test]
    fn equal_lines_and_blank_ends() {
        check("a\nb", "a\nb\n\n", true);
        check("a\nb\n", "a", false);
        check("a", "a\nb", false);
        check("", "a", false);
        check("", "\n", true);
    }

    #[test]
    fn text_that_may_be_anything() {
        check("in [..] s", "in 1.5 s", true);
        check("in [..] s", "in 1.5 minutes", false);
        check("[..]: [..] of [..]", "strait: 3 of 4", true);
        check("a[..]a", "a", false);
        check("[..]\nb", "\nb", true);
    }

    #[test]
    fn lines_that_may_be_any_number() {
        check("a\n...\nb", "a\nb", true);
        check("a\n...\nb", "a\nx\nb\ny\nb", true);
        check("...\nb", "a", false);
        check("...", "", true);
    }

    #[test]
    fn a_difference_shows_where_the_two_part() {
        let difference = compare(&lines("a\n...\nb\nc"), &lines("a\nx\nb\nd"));
        let shown = difference.expect_err("c is missing").to_string();
        assert_eq!(shown, "      a\n      ...\n      b\n    - c\n    + d\n");
    }
}
