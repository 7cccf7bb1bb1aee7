//! `strait go`: what is done with Go code bases.

pub mod findings;
pub mod flaky;
pub mod fuzz;
pub mod sarif;
pub mod summary;
pub mod verify;

use clap::{Args, Subcommand};

use crate::commands::go::flaky::GoFlakyArgs;
use crate::commands::go::fuzz::GoFuzzArgs;
use crate::commands::go::verify::GoVerifyArgs;
use crate::commands::replay::ReplayArgs;
use crate::ui::{Status, Ui};

/// Find concurrency bugs in Go code
#[derive(Args)]
#[command(arg_required_else_help = true)]
pub struct GoArgs {
    #[command(subcommand)]
    command: GoCommand,
}

#[derive(Subcommand)]
enum GoCommand {
    Flaky(GoFlakyArgs),
    Fuzz(GoFuzzArgs),
    Replay(ReplayArgs),
    Verify(GoVerifyArgs),
}

impl GoArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        match &self.command {
            GoCommand::Flaky(arguments) => arguments.run(ui),
            GoCommand::Fuzz(arguments) => arguments.run(ui),
            GoCommand::Replay(arguments) => arguments.run(ui),
            GoCommand::Verify(arguments) => arguments.run(ui),
        }
    }
}
