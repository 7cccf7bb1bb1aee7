//! The live views of a campaign: `--watch`, which fills the terminal, and `--serve`, which answers a browser on
//! this machine. Twice a second one thread makes a [`Snapshot`] from the counters; both views only show the last
//! one, so they cannot disagree.

mod page;
mod screen;
mod snapshot;
mod text;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;

pub use screen::{LiveScreen, Screen};
pub use snapshot::{Snapshot, Source};

use crate::http::{self, Audience};
use crate::live::snapshot::{CampaignState, Sampler};
use crate::ui::Ui;

/// Between two snapshots.
const INTERVAL: Duration = Duration::from_millis(500);

/// How a campaign is shown while it runs.
#[derive(Args)]
pub struct LiveArgs {
    /// Show the campaign on the whole terminal while it runs; q or Ctrl-C stops it
    #[arg(long, conflicts_with = "quiet")]
    pub watch: bool,
    /// Show the campaign in a browser of this machine while it runs, at an address such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", value_parser = http::loopback)]
    pub serve: Option<SocketAddr>,
}

impl LiveArgs {
    /// Says if --watch has no terminal.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.watch && !Screen::is_possible() {
            bail!(
                "--watch needs a terminal that can move its cursor, and standard error is none; leave \
                 out --watch, or use --serve 127.0.0.1:8080 and open that address in a browser"
            );
        }
        Ok(())
    }

    /// Opens what is wanted; the page can be asked for from now on.
    pub fn open(&self, ui: &Ui) -> anyhow::Result<Option<Live>> {
        if !self.watch && self.serve.is_none() {
            return Ok(None);
        }
        let mut live = Live::default();
        if let Some(address) = self.serve {
            let why = || format!("cannot serve the live page at {address}; is the port in use?");
            let listener = TcpListener::bind(address).with_context(why)?;
            let address = listener.local_addr().with_context(why)?;
            let audience = Audience::ThisMachine(address);
            let current = live.clone();
            let answers = move |path: &str| page::answer(path, &current.snapshot());
            http::serve(listener, audience, "live-page", Box::new(answers))?;
            ui.note(format!("live page: http://{address}/"));
            live.page = Some(address);
        }
        Ok(Some(live))
    }
}

/// The last snapshot of a campaign. Clones are the same value.
#[derive(Clone, Default)]
pub struct Live {
    current: Arc<Mutex<Arc<Snapshot>>>,
    /// Where the page is, if there is one.
    page: Option<SocketAddr>,
}

impl Live {
    /// The last snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, snapshot: Snapshot) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }

    /// Makes snapshots of this campaign until the guard is dropped.
    pub fn follow(&self, source: Source) -> Following {
        let (live, mut sampler) = (self.clone(), Sampler::new(source));
        live.set(sampler.snapshot(Instant::now()));
        let (sender, over) = std::sync::mpsc::channel::<()>();
        let sample = move || {
            use std::sync::mpsc::RecvTimeoutError::Timeout;
            while over.recv_timeout(INTERVAL) == Err(Timeout) {
                live.set(sampler.snapshot(Instant::now()));
            }
            let mut last = sampler.snapshot(Instant::now());
            last.state = CampaignState::Ended;
            live.set(last);
        };
        Following(Some((sender, std::thread::spawn(sample))))
    }
}

/// Snapshots are made until this is dropped.
#[must_use]
pub struct Following(Option<(std::sync::mpsc::Sender<()>, std::thread::JoinHandle<()>)>);

impl Drop for Following {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // It only reads: if it failed, there is nothing to lose.
            let _ = thread.join();
        }
    }
}
