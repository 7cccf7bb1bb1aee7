//! `strait completions SHELL`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::ui::Status;

/// Print the completion script for a shell
#[derive(Args)]
pub struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

impl CompletionsArgs {
    pub fn run(&self) -> anyhow::Result<Status> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "strait", &mut script);
        std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?;
        Ok(Status::Clean)
    }
}
