//! Runs per second over the time of the campaigns, as inline SVG: a line for each target, a mark
//! for each finding.

use std::collections::BTreeMap;

use super::Content;
use crate::text::html;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// Points of a line at most: more would be noise.
const POINTS: u64 = 90;
/// Lines with a colour of their own.
pub(super) const COLOURS: usize = 8;

/// The rates of each target over equal parts of the time.
#[derive(Debug)]
struct Rates {
    /// Seconds that a part has.
    width: u64,
    parts: usize,
    targets: Vec<(String, Vec<f64>)>,
}

/// The plot with its legend; empty if there is nothing to plot.
pub(super) fn render(content: &Content) -> String {
    let Some(rates) = rates(content) else { return String::new() };
    let highest = rates.targets.iter().flat_map(|(_, rates)| rates).copied().fold(0.0, f64::max);
    let ceiling = nice(highest);
    let seconds = (rates.parts as u64 * rates.width) as f64;
    let x = |second: f64| LEFT + (WIDTH - LEFT - RIGHT) * second / seconds;
    let y = |rate: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / ceiling;
    let mut svg = format!(
        "<div class=\"scroll\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Runs per second over time\">"
    );
    for step in 0..=4 {
        let rate = ceiling * f64::from(step) / 4.0;
        let (at, label) = (y(rate), short(rate));
        svg += &format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>",
            WIDTH - RIGHT
        );
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
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
            HEIGHT - 9.0,
            clock(second)
        );
    }
    for (number, (target, line)) in rates.targets.iter().enumerate() {
        let middle = |part: usize| x((part as f64 + 0.5) * rates.width as f64);
        let points: Vec<String> = line
            .iter()
            .enumerate()
            .map(|(part, rate)| format!("{:.1},{:.1}", middle(part), y(*rate)))
            .collect();
        let (colour, name) = (number % COLOURS, html(target));
        svg += &match points.as_slice() {
            [only] => {
                let (x, y) = only.split_once(',').unwrap_or(("0", "0"));
                format!(
                    "<circle class=\"dot c{colour}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"><title>{name}</title></circle>"
                )
            }
            points => format!(
                "<polyline class=\"line c{colour}\" points=\"{}\"><title>{name}</title></polyline>",
                points.join(" ")
            ),
        };
    }
    for shown in &content.findings {
        let (at, finding) = (x((shown.finding.found_after as f64).min(seconds)), &shown.finding);
        let title = html(&format!("{}: {} {}", finding.kind, finding.target, finding.title));
        svg += &format!(
            "<path class=\"mark\" d=\"M{at:.1} {:.1}l5 8h-10z\"><title>{title}</title></path>",
            HEIGHT - BOTTOM - 1.0
        );
    }
    svg + "</svg></div>" + &legend(&rates, !content.findings.is_empty())
}

fn legend(rates: &Rates, marks: bool) -> String {
    let entry = |(number, (target, _)): (usize, &(String, Vec<f64>))| {
        format!("<li><span class=\"swatch c{}\"></span>{}</li>", number % COLOURS, html(target))
    };
    let mut entries: String = rates.targets.iter().enumerate().map(entry).collect();
    if marks {
        entries += "<li><span class=\"triangle\"></span>a finding</li>";
    }
    format!("<ul class=\"legend\">{entries}</ul>")
}

fn rates(content: &Content) -> Option<Rates> {
    let last = content.progress.iter().map(|progress| progress.second).max()?;
    let longest = last.max(content.active.as_secs()).max(1);
    // Seconds are counted by tens or by minutes late in a campaign; parts are no finer than that.
    let finest = if longest >= 7200 {
        60
    } else if longest >= 600 {
        10
    } else {
        1
    };
    let width = longest.div_ceil(POINTS).next_multiple_of(finest);
    let parts = usize::try_from(longest / width + 1).ok()?;
    let mut targets: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for progress in &content.progress {
        let line = targets.entry(&progress.target).or_insert_with(|| vec![0.0; parts]);
        let part = usize::try_from(progress.second / width).unwrap_or(parts).min(parts - 1);
        line[part] += progress.runs as f64 / width as f64;
    }
    // The last part has only begun: it would look like a collapse.
    let parts = if parts > 2 { parts - 1 } else { parts };
    let targets = targets
        .into_iter()
        .map(|(target, line)| (target.to_owned(), line[..parts].to_vec()))
        .collect();
    Some(Rates { width, parts, targets })
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
}
