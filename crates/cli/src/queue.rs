//! What commands say about a queue: its address, who we are to it, and what happens there meanwhile.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use strait_queue::{Address, Credentials, Link, Told};

use crate::duration;

/// How long a worker may be silent before its work goes to another.
const LEASE: Duration = Duration::from_secs(30);
/// How long a server that does not answer is asked again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where others do the work.
#[derive(Args, Clone, Debug)]
pub struct QueueArgs {
    /// Let `strait worker`s do the work, through JetStream: nats://HOST:4222/NAME
    #[arg(long, value_name = "ADDRESS")]
    pub queue: Option<String>,
    /// With --queue: a NATS creds file [default: NATS_CREDS, or what NATS_CONTEXT says]
    #[arg(long, value_name = "FILE", requires = "queue")]
    creds: Option<PathBuf>,
    /// With --queue: work of a worker that was silent for so long goes to another [default: 30s]
    #[arg(long, value_name = "TIME", requires = "queue", value_parser = duration::parse)]
    lease: Option<Duration>,
}

impl QueueArgs {
    /// The queue, if one is wanted.
    pub fn open(&self) -> anyhow::Result<Option<Link>> {
        let Some(address) = &self.queue else { return Ok(None) };
        let address = parse(address)?;
        let credentials = Credentials::find(self.creds.as_deref())?;
        Ok(Some(Link::open(&address, &credentials, PATIENCE)?))
    }

    /// How long a worker may be silent.
    pub fn lease(&self) -> Duration {
        self.lease.unwrap_or(LEASE).max(Duration::from_millis(100))
    }
}

/// An address. It is not clap that reads it, since clap repeats what it refuses, and that may be a secret.
pub fn parse(address: &str) -> anyhow::Result<Address> {
    address.parse().map_err(anyhow::Error::msg)
}

/// Says what happens in a queue.
pub fn tell(link: &Link, told: Told) -> String {
    match told {
        Told::NoWorkers => format!(
            "nobody takes work: workers are busy with other campaigns, or there are none; start \
             `strait worker --queue {}` on machines that have time",
            link.address()
        ),
        Told::Refuses(why) => format!("the queue stores nothing: {why}; is there room?"),
        Told::ServerAway => "the queue does not answer; trying again".to_owned(),
        Told::Unreadable(why) => {
            format!("a result cannot be read, so its work is given out again: {why}")
        }
        Told::Left => {
            "results are left in the queue; go on with --queue to collect them".to_owned()
        }
        Told::NotEnded(why) => format!(
            "workers may go on, since the queue could not be told that the campaign is over: {why}"
        ),
    }
}
