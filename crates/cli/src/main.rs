//! The `strait` binary: reads the command line and `strait.toml`, runs one subcommand, maps its
//! result to an exit code: 0 clean, 1 something was found, 2 Strait or its input failed.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the one room that prints")]

mod campaign;
mod commands;
mod duration;
mod http;
mod interrupt;
mod live;
mod metrics;
mod progress;
mod queue;
mod segments;
mod session;
mod settings;
mod summary;
mod terminal;
mod ui;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use strait_toolchain::Entry;

use crate::ui::{Color, Status, Ui};

/// Finds concurrency bugs in channel runtimes, in programs that use channels, and in compilers.
#[derive(Parser)]
#[command(name = "strait", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

/// The heading of what every subcommand understands.
const EVERYWHERE: &str = "Everywhere";

/// What every subcommand understands.
#[derive(Args)]
struct Global {
    /// Print one JSON document on stdout and nothing else there
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    json: bool,
    /// Print the summary only
    #[arg(long, short, global = true, help_heading = EVERYWHERE)]
    quiet: bool,
    /// Print more; twice for even more
    #[arg(long, short, global = true, action = clap::ArgAction::Count, help_heading = EVERYWHERE)]
    verbose: u8,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = EVERYWHERE)]
    color: Color,
}

#[derive(Subcommand)]
enum Command {
    Fuzz(commands::fuzz::FuzzArgs),
    Types(commands::types::TypesArgs),
    Targets(commands::targets::TargetsArgs),
    Go(commands::go::GoArgs),
    Replay(commands::replay::ReplayArgs),
    Reduce(commands::reduce::ReduceArgs),
    Emit(commands::emit::EmitArgs),
    Fixed(commands::fixed::FixedArgs),
    Report(commands::report::ReportArgs),
    Merge(commands::merge::MergeArgs),
    Ci(commands::ci::CiArgs),
    Worker(commands::worker::WorkerArgs),
    Queue(commands::queue::QueueCommandArgs),
    Explore(commands::explore::ExploreArgs),
    Gen(commands::r#gen::GenArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

fn main() -> ExitCode {
    match strait_toolchain::entry(std::env::args_os()) {
        Entry::Person => {}
        Entry::Worker(arguments) => {
            let input = std::io::stdin().lock();
            let (output, complaints) = (std::io::stdout(), std::io::stderr());
            return strait_fuzz::worker_main(&arguments, input, output, complaints);
        }
        Entry::Done(code) => return code,
    }
    let cli: Cli = match settings::parse() {
        Ok(cli) => cli,
        Err(failure) => return failure.report(),
    };
    let ui = Ui::new(cli.global.json, cli.global.quiet, cli.global.verbose, cli.global.color);
    let result = match &cli.command {
        Command::Explore(arguments) => arguments.run(&ui),
        Command::Gen(arguments) => arguments.run(&ui),
        Command::Fuzz(arguments) => arguments.run(&ui),
        Command::Types(arguments) => arguments.run(&ui),
        Command::Targets(arguments) => arguments.run(&ui),
        Command::Go(arguments) => arguments.run(&ui),
        Command::Replay(arguments) => arguments.run(&ui),
        Command::Reduce(arguments) => arguments.run(&ui),
        Command::Emit(arguments) => arguments.run(&ui),
        Command::Fixed(arguments) => arguments.run(&ui),
        Command::Report(arguments) => arguments.run(&ui),
        Command::Merge(arguments) => arguments.run(&ui),
        Command::Ci(arguments) => arguments.run(&ui),
        Command::Worker(arguments) => arguments.run(&ui),
        Command::Queue(arguments) => arguments.run(&ui),
        Command::Completions(arguments) => arguments.run(),
        Command::Man(arguments) => arguments.run(),
    };
    match result {
        Ok(Status::Clean) => ExitCode::SUCCESS,
        Ok(Status::Found) => ExitCode::from(1),
        Err(error) if ui::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui.failure(&error);
            ExitCode::from(2)
        }
    }
}
