//! The command line of the cases with known truth: runs them and prints a summary.
//! Exit codes: 0 the verifier is good enough, 1 it is not, 2 an error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a development tool that prints")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use strait_extractfuzz::{CasesSummary, Error, Tools, check_cases};
use strait_toolchain::{Entry, Launcher};

/// Compare `strait go verify` with Go programs whose truth is known
#[derive(Parser)]
#[command(name = "strait-go-cases")]
struct Arguments {
    /// Folder with `go-verify` and `go-semantics.py`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The verifier [default: the variable STRAIT_BIN, or `strait` in PATH]
    #[arg(long, value_name = "PATH")]
    strait: Option<PathBuf>,
}

fn main() -> ExitCode {
    match strait_toolchain::entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    match run(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether the verifier is good enough.
fn run(arguments: Arguments) -> Result<bool, Error> {
    let named = arguments.strait.or_else(|| std::env::var_os("STRAIT_BIN").map(Into::into));
    let tools = Tools::new(Launcher::this_program()?, named.unwrap_or_else(|| "strait".into()));
    let judged = check_cases(&tools, &arguments.folder)?;
    let summary = CasesSummary { judged: &judged };
    print!("{summary}");
    Ok(summary.is_good())
}
