//! Measurements of the whole method, by hand:
//!
//! - `cargo run --release -p strait-reorder --example measure suite [RUNS [MODULE]]`
//! - `cargo run --release -p strait-reorder --example measure ablation [RUNS [SVG]]`
//! - `cargo run --release -p strait-reorder --example measure mutants FROM MODULE`
//! - `cargo run --release -p strait-reorder --example measure seeds [RUNS]`
//! - `cargo run --release -p strait-reorder --example measure replays [TRIES [SEED]]`
//! - `cargo run --release -p strait-reorder --example measure overhead [ROUNDS]`
//! - `cargo run --release -p strait-reorder --example measure emit STRAIT [STEP]`
//! - `cargo run --release -p strait-reorder --example measure fixed STRAIT [STEP]`
//!
//! The last two need the path of a `strait` binary and measure every STEPth finding.

#![allow(clippy::print_stdout, reason = "a program that prints what it measured")]

mod ablation;
mod campaign;
mod kept;
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
    match arguments.first().map(String::as_str) {
        Some("suite") => {
            suite::report(number(1, 60)?, &arguments.get(2).map_or(kernels, PathBuf::from))
        }
        Some("ablation") => {
            let plot = arguments.get(2).map_or("ablation.svg", String::as_str);
            ablation::report(number(1, 60)?, &kernels, plot)
        }
        Some("seeds") => seeds::report(number(1, 240)?, &kernels),
        Some("replays") => replays::report(number(1, 20)?, number(2, 1)?, &kernels),
        Some(command @ ("emit" | "fixed")) => {
            let strait = PathBuf::from(arguments.get(1).ok_or("name a strait binary")?);
            let strait = strait.canonicalize()?.display().to_string();
            let step = usize::try_from(number(2, 1)?)?;
            match command {
                "emit" => kept::emit(&strait, &kernels, step),
                _ => kept::fixed(&strait, &kernels, step),
            }
        }
        Some("overhead") => overhead::report(number(1, 5)?),
        _ => Err("measure suite [RUNS [MODULE]] | ablation [RUNS [SVG]] | mutants FROM MODULE | \
                  seeds [RUNS] | replays [TRIES [SEED]] | overhead [ROUNDS] | emit STRAIT [STEP] | \
                  fixed STRAIT [STEP]"
            .into()),
    }
}
