//! The own suite: which bugs of the kernels are found, and whether the repaired twins are left alone.
//! Another module may be given if its packages are named like these: a test below `bug` has a bug, one
//! below `fixed` has none.

use std::path::Path;

use strait_reorder::Switches;

use crate::campaign::{Outcome, measure};

/// Prints what was found and what was not.
pub fn report(runs: u64, module: &Path) -> Outcome<()> {
    for kind in ["bug", "fixed"] {
        let patterns = [format!("./{kind}/...")];
        let measured = measure(module, &patterns, Switches::default(), runs, 1)?;
        println!(
            "{kind}: {} of {} tests reported, {} runs in {:.0} s, {:.1} a second",
            measured.found.len(),
            measured.tests.len(),
            measured.runs,
            measured.seconds,
            measured.runs as f64 / measured.seconds
        );
        for test in &measured.tests {
            match (kind, measured.found.get(test)) {
                ("bug", None) => println!("  missed: {test}"),
                ("fixed", Some(found)) => println!("  false: {test}: {}", found.title),
                _ => {}
            }
        }
        let latest = measured.found.values().map(|found| found.seconds).fold(0.0, f64::max);
        println!("  the last one after {latest:.0} s of the whole campaign");
    }
    Ok(())
}
