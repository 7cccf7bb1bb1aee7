//! `strait queue`: questions to a queue.

pub mod status;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use strait_queue::{Credentials, Link};

use crate::interrupt;
use crate::queue;
use crate::ui::{Status, Ui};

/// How long a server that does not answer is asked again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Show the state of a queue
#[derive(Args)]
#[command(arg_required_else_help = true)]
pub struct QueueCommandArgs {
    #[command(subcommand)]
    command: QueueCommand,
}

#[derive(Subcommand)]
enum QueueCommand {
    Status(StatusArgs),
}

/// List campaigns, workers, leases and dead letters
#[derive(Args)]
#[command(after_help = "\
The state of a worker is working, idle or lost. A worker is lost if it has not reported for 12 seconds. \
Workers that have ended are not listed.
Exit codes: 0 the queue was read, 2 usage, input or environment error.")]
pub struct StatusArgs {
    /// The queue: nats://HOST:4222/NAME
    #[arg(long, value_name = "ADDRESS")]
    queue: String,
    /// NATS credentials file [default: from NATS_CREDS or NATS_CONTEXT]
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,
}

impl QueueCommandArgs {
    pub fn run(&self, ui: &Ui) -> anyhow::Result<Status> {
        let QueueCommand::Status(StatusArgs { queue, creds }) = &self.command;
        let address = queue::parse(queue)?;
        let credentials = Credentials::find(creds.as_deref())?;
        let link = Link::open(&address, &credentials, PATIENCE, interrupt::stop_for(ui)?.flag())?;
        let status = link.status()?;
        if ui.json {
            ui.document(&status::document(&address, &status))?;
        } else {
            ui.raw(status::text(&address, &status))?;
        }
        Ok(Status::Clean)
    }
}
