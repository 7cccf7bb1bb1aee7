//! What was done and found over the time of the campaigns, as inline SVG: two panels with a line for each target,
//! cumulative programs above and cumulative findings below.

use std::collections::BTreeMap;

use super::tables::row_of;
use super::{Content, Unit};
use crate::text::html;

const WIDTH: f64 = 860.0;
const PANEL: f64 = 180.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 30.0;
/// Points of a line at most.
const POINTS: u64 = 120;
/// Lines with a colour of their own.
pub(super) const COLOURS: usize = 8;

/// Sums of each target at the ends of equal parts of the time.
struct Sums {
    /// Seconds that a part has.
    width: u64,
    parts: usize,
    targets: Vec<(String, Series)>,
}

#[derive(Clone)]
struct Series {
    done: Vec<f64>,
    found: Vec<f64>,
}

/// The plot with its legend; empty if there is nothing to plot.
pub(super) fn render(content: &Content) -> String {
    let Some(sums) = sums(content) else { return String::new() };
    let unit = match content.unit {
        Unit::Tests => "runs",
        Unit::Programs | Unit::Types => "programs",
    };
    let height = if content.findings.is_empty() { PANEL } else { 2.0 * PANEL };
    let mut svg = format!(
        "<div class=\"scroll\"><svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Cumulative {unit} and findings over time\">"
    );
    svg += &panel(&sums, 0.0, &format!("{unit} so far"), |series| &series.done);
    if !content.findings.is_empty() {
        svg += &panel(&sums, PANEL, "findings so far", |series| &series.found);
    }
    svg + "</svg></div>" + &legend(&sums)
}

fn panel(sums: &Sums, offset: f64, title: &str, values: fn(&Series) -> &Vec<f64>) -> String {
    let last = |(_, series): &(String, Series)| values(series).last().copied().unwrap_or(0.0);
    let ceiling = nice(sums.targets.iter().map(last).fold(0.0, f64::max));
    let seconds = (sums.parts as u64).saturating_mul(sums.width) as f64;
    let x = |second: f64| LEFT + (WIDTH - LEFT - RIGHT) * second / seconds;
    let y = |value: f64| offset + PANEL - BOTTOM - (PANEL - TOP - BOTTOM) * value / ceiling;
    let mut svg =
        format!("<text class=\"panel\" x=\"{LEFT}\" y=\"{:.1}\">{title}</text>", offset + 14.0);
    let steps = if ceiling < 4.0 { ceiling as u32 } else { 4 };
    for step in 0..=steps {
        let value = ceiling * f64::from(step) / f64::from(steps.max(1));
        let (at, label) = (y(value), short(value));
        svg += &format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            WIDTH - RIGHT,
            LEFT - 7.0,
            at + 4.0
        );
    }
    for step in 0..=4 {
        let second = seconds * f64::from(step) / 4.0;
        let anchor = ["start", "middle", "middle", "middle", "end"][step as usize];
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x(second),
            offset + PANEL - 11.0,
            clock(second)
        );
    }
    for (number, (target, series)) in sums.targets.iter().enumerate() {
        let (colour, name) = (number % COLOURS, html(target));
        let mut points = format!("{:.1},{:.1}", x(0.0), y(0.0));
        for (part, value) in values(series).iter().enumerate() {
            let second = (part + 1) as f64 * sums.width as f64;
            points += &format!(" {:.1},{:.1}", x(second), y(*value));
        }
        svg += &format!(
            "<polyline class=\"line c{colour}\" points=\"{points}\"><title>{name}</title></polyline>"
        );
    }
    svg
}

fn legend(sums: &Sums) -> String {
    let entry = |(number, (target, _)): (usize, &(String, Series))| {
        format!("<li><span class=\"swatch c{}\"></span>{}</li>", number % COLOURS, html(target))
    };
    let entries: String = sums.targets.iter().enumerate().map(entry).collect();
    format!("<ul class=\"legend\">{entries}</ul>")
}

fn sums(content: &Content) -> Option<Sums> {
    let last = content.progress.iter().map(|progress| progress.second).max()?;
    let longest = last.max(content.active.as_secs()).max(1);
    // A store from elsewhere may speak of any time.
    let longest = longest.min(u64::from(u32::MAX));
    let width = longest.div_ceil(POINTS).max(1);
    let parts = usize::try_from(longest.div_ceil(width)).ok()?.max(1);
    let part = |second: u64| usize::try_from(second / width).unwrap_or(parts).min(parts - 1);
    let empty = Series { done: vec![0.0; parts], found: vec![0.0; parts] };
    let mut targets: BTreeMap<String, Series> = BTreeMap::new();
    for progress in &content.progress {
        let series = targets.entry(progress.target.clone()).or_insert_with(|| empty.clone());
        let done = if content.unit == Unit::Tests { progress.runs } else { progress.programs };
        series.done[part(progress.second)] += done as f64;
    }
    for shown in &content.findings {
        let target = row_of(content, &shown.finding);
        let series = targets.entry(target.to_owned()).or_insert_with(|| empty.clone());
        series.found[part(shown.finding.found_after)] += 1.0;
    }
    for series in targets.values_mut() {
        accumulate(&mut series.done);
        accumulate(&mut series.found);
    }
    Some(Sums { width, parts, targets: targets.into_iter().collect() })
}

fn accumulate(values: &mut [f64]) {
    let mut sum = 0.0;
    for value in values {
        sum += *value;
        *value = sum;
    }
}

/// A round number not below.
fn nice(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let magnitude = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * magnitude).find(|round| *round >= value).unwrap_or(value)
}

/// `1.5k` and the like.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 1e6 => (value / 1e6, "M"),
        value if value >= 1e3 => (value / 1e3, "k"),
        value => (value, ""),
    };
    let text = if value >= 100.0 || value.fract() < 0.005 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    };
    text + unit
}

/// `1:05` minutes, `2:00:00` hours.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_people() {
        let table = [(0.0, "0"), (2.5, "2.5"), (80.0, "80"), (1500.0, "1.5k"), (2_000_000.0, "2M")];
        for (value, text) in table {
            assert_eq!(short(value), text);
        }
        assert_eq!(
            [nice(0.0), nice(3.0), nice(47.0), nice(800.0), nice(801.0)],
            [1.0, 4.0, 50.0, 800.0, 1000.0]
        );
        assert_eq!([clock(5.0), clock(65.0), clock(7325.0)], ["0:05", "1:05", "2:02:05"]);
    }

    #[test]
    fn sums_grow() {
        let mut values = [1.0, 0.0, 2.0];
        accumulate(&mut values);
        assert_eq!(values, [1.0, 1.0, 3.0]);
    }
}
