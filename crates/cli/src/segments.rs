//! A progress line that fits its terminal. In: segments in the order of the line, each with its rank. Out: as
//! many of them as the columns allow; those of the highest rank are left out first.

/// A part of a progress line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    text: String,
    rank: u8,
}

impl Segment {
    /// What is left out last has rank 0.
    pub fn new(rank: u8, text: impl Into<String>) -> Segment {
        Segment { text: text.into(), rank }
    }
}

/// The line, with at most so many columns if there is a limit.
pub fn line(mut segments: Vec<Segment>, columns: Option<usize>) -> String {
    let joined = |segments: &[Segment]| {
        let texts: Vec<&str> = segments.iter().map(|segment| segment.text.as_str()).collect();
        texts.join(", ")
    };
    let Some(columns) = columns else { return joined(&segments) };
    loop {
        let line = joined(&segments);
        if line.chars().count() <= columns {
            return line;
        }
        // Of those with the same rank, the last one is left out.
        let last = segments.iter().enumerate().max_by_key(|(_, segment)| segment.rank);
        match last.map(|(place, _)| place).filter(|_| segments.len() > 1) {
            Some(place) => drop(segments.remove(place)),
            None => return shortened(&line, columns),
        }
    }
}

/// A text without its middle: both ends of a path say more.
pub fn shortened(text: &str, columns: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= columns {
        return text.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let (front, back) = (kept.div_ceil(2), kept / 2);
    let front: String = letters.iter().take(front).collect();
    let back: String = letters.iter().skip(letters.len() - back).collect();
    format!("{front}…{back}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_least_is_left_out_first() {
        let segments = || {
            vec![
                Segment::new(0, "2 findings"),
                Segment::new(1, "1,234,567 programs"),
                Segment::new(4, "12,345,678 runs"),
                Segment::new(3, "1,234 per second"),
                Segment::new(2, "59 min 30 s left"),
            ]
        };
        for (columns, expected) in [
            (
                None,
                "2 findings, 1,234,567 programs, 12,345,678 runs, 1,234 per second, 59 min 30 s left",
            ),
            (Some(70), "2 findings, 1,234,567 programs, 1,234 per second, 59 min 30 s left"),
            (Some(60), "2 findings, 1,234,567 programs, 59 min 30 s left"),
            (Some(40), "2 findings, 1,234,567 programs"),
            (Some(12), "2 findings"),
            (Some(5), "2 …gs"),
        ] {
            assert_eq!(line(segments(), columns), expected, "{columns:?}");
        }
    }

    #[test]
    fn no_line_is_longer_than_its_columns() {
        let text = "compiling the tests of example.com/a/very/long/päckage/path";
        for columns in 1..80 {
            let line = line(vec![Segment::new(0, text)], Some(columns));
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}
