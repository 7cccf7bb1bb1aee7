//! What `strait gen --stats` prints.

use serde_json::{Value, json};
use strait_generate::{Distribution, Family};

use crate::commands::r#gen::Tally;
use crate::ui::{Paint, Ui};

/// For scripts.
pub fn document(tally: &Tally) -> Value {
    let mut document = json!(tally.stats);
    document["seconds"] = json!(tally.seconds);
    document["mutants"] = json!(tally.mutants);
    document["proved"] = json!(tally.proved);
    document["undecided"] = json!(tally.undecided);
    document["refuted"] = json!(tally.refuted);
    document
}

/// For people.
pub fn show(ui: &Ui, tally: &Tally) -> anyhow::Result<()> {
    let stats = &tally.stats;
    let rate = stats.programs as f64 / tally.seconds.max(1e-9);
    ui.line(format!("{} programs in {:.2} s ({rate:.0}/s)", stats.programs, tally.seconds))?;
    for (name, distribution) in [
        ("operations", &stats.sizes),
        ("processes", &stats.processes),
        ("channels", &stats.channels),
        ("selects", &stats.selects),
    ] {
        let summary = distribution.summary();
        ui.line(format!(
            "{name:<11} min {}, median {}, mean {:.1}, max {}",
            summary.min, summary.median, summary.mean, summary.max
        ))?;
    }
    show_histogram(ui, &stats.sizes)?;
    for family in Family::ALL {
        ui.line(ui.paint(Paint::Bold, family.name()))?;
        for (rule, count) in stats.rules.iter().filter(|(rule, _)| rule.family() == family) {
            ui.line(format!("  {:<22}{count:>10}", rule.name()))?;
        }
    }
    if let Some(share) = stats.rejected_share() {
        let tried = stats.proofs.tried;
        ui.line(format!("proofs      {tried} candidates, {:.1} % rejected", share * 100.0))?;
    }
    if tally.proved + tally.undecided > 0 || !tally.refuted.is_empty() {
        ui.line(format!(
            "termination {} proved, {} undecided, {} refuted",
            tally.proved,
            tally.undecided,
            tally.refuted.len()
        ))?;
    }
    if !tally.mutants.is_empty() {
        let labels = tally.mutants.iter().map(|(verdict, count)| format!("{count} {verdict}"));
        ui.line(format!("mutants     {}", labels.collect::<Vec<_>>().join(", ")))?;
    }
    Ok(())
}

fn show_histogram(ui: &Ui, sizes: &Distribution) -> anyhow::Result<()> {
    const WIDTH: u64 = 40;
    let histogram = sizes.summary().histogram;
    let most = histogram.iter().map(|(_, _, count)| *count).max().unwrap_or(0).max(1);
    for (first, last, count) in histogram {
        let range = if first == last { first.to_string() } else { format!("{first}–{last}") };
        let bar = "▇".repeat((count * WIDTH).div_ceil(most) as usize);
        ui.line(format!("  {range:>11} {bar} {count}"))?;
    }
    Ok(())
}
