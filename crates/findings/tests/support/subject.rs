//! What the tests kill: commits the indices that are still missing, a finding every third, and says
//! after each commit up to where it is. `subject FOLDER END`.

#![expect(clippy::print_stdout, reason = "the tests read how far it got")]

use std::io::Write;
use std::process::ExitCode;

use strait_findings::{Batch, Discovery, Error, Kind, Store};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let (Some(folder), Some(end)) =
        (arguments.get(1), arguments.get(2).and_then(|end| end.parse().ok()))
    else {
        return ExitCode::from(2);
    };
    match work(folder, end) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn work(folder: &str, end: u64) -> Result<(), Error> {
    let mut store = Store::open(folder)?;
    let campaign = store.campaign(1, 1, "")?;
    for range in store.executed(campaign, "toy", "1.0.0")?.missing(0..end) {
        for index in range {
            let mut batch = Batch::new(campaign, "toy", "1.0.0", index..index + 1).runs(10);
            if index % 3 == 0 {
                // Six faults, each found again and again.
                let name =
                    ["zero", "three", "six", "nine", "twelve", "fifteen"][(index / 3 % 6) as usize];
                let mut discovery = Discovery::new(Kind::HANG, "toy", "1.0.0", 1, index)
                    .fingerprint(name)
                    .program("main { }");
                discovery.output = vec![b'x'; 20_000];
                batch = batch.found(discovery);
            }
            store.commit(&batch)?;
            // A reader that is gone is no reason to stop.
            let _ = writeln!(std::io::stdout(), "{index}");
        }
    }
    println!("complete");
    store.close()
}
