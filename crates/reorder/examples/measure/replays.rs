//! How often a replay shows its finding again: a campaign over the kernels, and then some runs of each
//! finding with its recorded plan, as `strait go replay` makes them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_reorder::{Exhibit, Permitted, Switches};
use strait_toolchain::{Cache, Launcher};

use crate::campaign::{Outcome, measure};

/// Runs per test to find the bugs.
const RUNS: u64 = 120;
/// How long the replays of one finding may take.
const TIME: Duration = Duration::from_secs(120);

/// Prints one line per finding whose replays do not always show it, and the sum.
pub fn report(tries: u64, seed: u64, kernels: &Path) -> Outcome<()> {
    let patterns = ["./bug/...".to_owned()];
    let measured = measure(kernels, &patterns, Switches::default(), RUNS, seed)?;
    println!("{} of {} kernels found", measured.found.len(), measured.tests.len());
    let (launcher, cache) = (Launcher::this_program()?, Cache::find()?);
    let stop = Arc::new(AtomicBool::new(false));
    let here = kernels.canonicalize()?;
    let permitted = Permitted { module: None, here: &here, trust: false };
    let (mut failed, mut runs, mut good) = (0, 0, 0);
    for (test, found) in &measured.found {
        let exhibit =
            Exhibit::open(&found.directory, &permitted, &launcher, &cache, &stop, &mut |_| {})?;
        let again = exhibit.run(tries, TIME, &stop)?;
        failed += again.failed;
        runs += again.runs;
        // At least 95 %.
        if again.failed * 20 >= again.runs * 19 {
            good += 1;
        }
        if again.failed < again.runs {
            println!("  {test}: {} of {} ({})", again.failed, again.runs, found.title);
        }
    }
    let percent = 100.0 * failed as f64 / runs.max(1) as f64;
    println!("{failed} of {runs} replays show the finding again ({percent:.1} %)");
    println!("{good} of {} findings show in at least 95 % of their replays", measured.found.len());
    Ok(())
}
