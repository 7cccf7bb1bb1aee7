//! Measurements of the whole method, by hand:
//!
//! - `cargo run --release -p strait-reorder --example measure suite [RUNS [MODULE]]`
//! - `cargo run --release -p strait-reorder --example measure ablation [RUNS [SVG]]`
//! - `cargo run --release -p strait-reorder --example measure mutants FROM MODULE`
//! - `cargo run --release -p strait-reorder --example measure seeds [RUNS]`
//! - `cargo run --release -p strait-reorder --example measure replays [TRIES [SEED]]`
//! - `cargo run --release -p strait-reorder --example measure overhead [ROUNDS]`

#![allow(clippy::print_stdout, reason = "a program that prints what it measured")]

mod ablation;
mod campaign;
mod mutants;
mod overhead;
mod replays;
mod seeds;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use strait_toolchain::{Entry, entry};

use crate::campaign::Outcome;

fn main() -> ExitCode {
    if let Entry::Done(code) = entry(std::env::args_os()) {
        return code;
    }
    match report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn report() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kernels = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    if let [command, from, module] = arguments.as_slice()
        && command == "mutants"
    {
        return mutants::write(from.as_ref(), module.as_ref());
    }
    let number = |at: usize, default: u64| -> Outcome<u64> {
        Ok(arguments.get(at).map_or(Ok(default), |text| text.parse())?)
    };
    let runs = number(1, 60)?;
    match arguments.first().map(String::as_str) {
        Some("suite") => suite::report(runs, &arguments.get(2).map_or(kernels, PathBuf::from)),
        Some("ablation") => {
            let plot = arguments.get(2).map_or("ablation.svg", String::as_str);
            ablation::report(runs, &kernels, plot)
        }
        Some("seeds") => seeds::report(number(1, 240)?, &kernels),
        Some("replays") => replays::report(number(1, 20)?, number(2, 1)?, &kernels),
        Some("overhead") => overhead::report(number(1, 5)?),
        _ => Err("measure suite [RUNS [MODULE]] | ablation [RUNS [SVG]] | mutants FROM MODULE | \
                  seeds [RUNS] | replays [TRIES [SEED]] | overhead [ROUNDS]"
            .into()),
    }
}
