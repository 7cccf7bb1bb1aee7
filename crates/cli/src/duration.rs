//! Durations as people write them: `90s`, `10m`, `1h30m`, `500ms`.

use std::time::Duration;

/// Longest unit first, so that `ms` is not read as `m`.
const UNITS: [(&str, f64); 5] =
    [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// The longest time that can be asked for, in seconds: a year.
const LONGEST: f64 = 365.0 * 86_400.0;

/// Reads a duration; what is wrong is told for people.
pub fn parse(text: &str) -> Result<Duration, String> {
    let hint = "write a number and a unit, for example 90s, 10m, 1h30m";
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(hint.to_owned());
    }
    while !rest.is_empty() {
        let digits = rest.find(|char: char| !char.is_ascii_digit() && char != '.');
        let (number, tail) = rest.split_at(digits.unwrap_or(rest.len()));
        let number: f64 = number.parse().map_err(|_| hint.to_owned())?;
        let letters = tail.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, after) = tail.split_at(letters);
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, unit) = unit.ok_or_else(|| hint.to_owned())?;
        seconds += number * unit;
        rest = after;
    }
    if seconds > LONGEST {
        return Err("a year is the longest".to_owned());
    }
    let duration = Duration::from_secs_f64(seconds);
    if duration.is_zero() {
        return Err("that is no time at all".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_times_in_many_ways() {
        let table = [
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            ("500ms", 500),
            ("1.5s", 1_500),
            ("2d", 172_800_000),
            (" 5s ", 5_000),
        ];
        for (text, milliseconds) in table {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for bad in ["", "10", "m", "10x", "-5s", "1..2s", "5s-", "999999999h", "1e5s", "∞s", "0s"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
