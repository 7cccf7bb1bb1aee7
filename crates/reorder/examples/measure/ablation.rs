//! The ablation of figure 7 of the paper: the kernels with each part of the method switched off, and a
//! plot of bugs found against runs.

use std::fmt::Write as _;
use std::path::Path;

use strait_reorder::Switches;

use crate::campaign::{Outcome, measure};

const COLOURS: [&str; 5] = ["#1b6ca8", "#c0392b", "#27ae60", "#8e44ad", "#d68910"];

/// A curve: how many bugs were known after how many runs.
struct Curve {
    name: &'static str,
    points: Vec<u64>,
    runs: u64,
    seconds: f64,
}

/// Prints a line a switch and draws the plot.
pub fn report(runs: u64, module: &Path, path: &str) -> Outcome<()> {
    let all = Switches::default();
    let arms = [
        ("everything", all),
        ("no feedback", Switches { feedback: false, ..all }),
        ("no mutation", Switches { mutation: false, ..all }),
        ("no sanitizer", Switches { sanitizer: false, ..all }),
        ("no yields", Switches { yields: false, ..all }),
    ];
    let mut curves = Vec::new();
    for (name, switches) in arms {
        let measured = measure(module, &["./bug".to_owned()], switches, runs, 1)?;
        let mut points: Vec<u64> = measured.found.values().map(|found| found.runs).collect();
        points.sort_unstable();
        println!(
            "{name:12} {:>3} of {} in {} runs, {:.0} s",
            points.len(),
            measured.tests.len(),
            measured.runs,
            measured.seconds
        );
        curves.push(Curve { name, points, runs: measured.runs, seconds: measured.seconds });
    }
    std::fs::write(path, plot(&curves))?;
    println!("{path}");
    Ok(())
}

fn plot(curves: &[Curve]) -> String {
    let (width, height, margin) = (720.0, 420.0, 50.0);
    let most_runs = curves.iter().map(|curve| curve.runs).max().unwrap_or(1).max(1) as f64;
    let most = curves.iter().map(|curve| curve.points.len()).max().unwrap_or(1).max(1) as f64;
    let x = |runs: f64| margin + runs / most_runs * (width - 2.0 * margin);
    let y = |bugs: f64| height - margin - bugs / most * (height - 2.0 * margin);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let _ = writeln!(
        svg,
        "<path d=\"M{0} {1} V{2} H{3}\" fill=\"none\" stroke=\"black\"/>\n<text x=\"{4}\" y=\"{5}\" text-anchor=\"middle\">runs of all tests (to {most_runs})</text>\n<text x=\"{0}\" y=\"30\">bugs found (to {most})</text>",
        margin,
        margin,
        height - margin,
        width - margin,
        width / 2.0,
        height - 15.0
    );
    for (number, curve) in curves.iter().enumerate() {
        let mut path = format!("M{:.1} {:.1}", x(0.0), y(0.0));
        for (count, runs) in curve.points.iter().enumerate() {
            let _ = write!(path, " H{:.1} V{:.1}", x(*runs as f64), y(count as f64 + 1.0));
        }
        let _ = write!(path, " H{:.1}", x(curve.runs as f64));
        let colour = COLOURS[number % COLOURS.len()];
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n<text x=\"{:.0}\" y=\"{:.0}\" fill=\"{colour}\">{}: {} in {:.0} s</text>",
            width / 2.0,
            height - margin - 20.0 * (curves.len() - number) as f64,
            curve.name,
            curve.points.len(),
            curve.seconds
        );
    }
    svg.push_str("</svg>\n");
    svg
}
