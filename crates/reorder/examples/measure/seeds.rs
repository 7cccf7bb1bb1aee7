//! Whether the bugs of the kernels depend on the seed: a campaign with each of four seeds, and after how
//! many runs of all tests each bug was found.

use std::collections::BTreeMap;
use std::path::Path;

use strait_reorder::Switches;

use crate::campaign::{Outcome, measure};

const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// Prints what a seed missed, and the bugs that took longest.
pub fn report(runs: u64, kernels: &Path) -> Outcome<()> {
    let mut latest: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    for seed in SEEDS {
        let patterns = ["./bug/...".to_owned()];
        let measured = measure(kernels, &patterns, Switches::default(), runs, seed)?;
        println!(
            "seed {seed}: {} of {} kernels, {} runs in {:.0} s, {:.1} runs per second",
            measured.found.len(),
            measured.tests.len(),
            measured.runs,
            measured.seconds,
            measured.runs as f64 / measured.seconds
        );
        for test in &measured.tests {
            let Some(found) = measured.found.get(test) else {
                println!("  missed: {test}");
                continue;
            };
            let known = latest.entry(test.clone()).or_default();
            if known.0 < found.seconds {
                *known = (found.seconds, found.runs);
            }
        }
    }
    let mut latest: Vec<_> = latest.into_iter().collect();
    latest.sort_by(|one, other| other.1.0.total_cmp(&one.1.0));
    println!("the last ones, by the seed that was slowest:");
    for (test, (seconds, runs)) in latest.iter().take(5) {
        println!("  {test}: after {seconds:.0} s and {runs} runs of all tests");
    }
    Ok(())
}
