//! `strait man`: the manual pages, made from the command line's own help.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, CommandFactory};

use crate::Cli;
use crate::ui::Status;

/// Print the manual page, or write one for each command into a folder
#[derive(Args)]
pub struct ManArgs {
    /// Folder for the pages, such as share/man/man1
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl ManArgs {
    pub fn run(&self) -> anyhow::Result<Status> {
        let command = Cli::command();
        match &self.folder {
            Some(folder) => {
                let failed = || format!("cannot write manual pages to {}", folder.display());
                std::fs::create_dir_all(folder).with_context(failed)?;
                clap_mangen::generate_to(command, folder).with_context(failed)?;
            }
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command).render(&mut page)?;
                std::io::Write::write_all(&mut std::io::stdout().lock(), &page)?;
            }
        }
        Ok(Status::Clean)
    }
}
