//! What commands say about a queue: its address, who we are to it, and what happens there meanwhile.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use strait_campaign::Shortfall;
use strait_queue::{Address, Credentials, DeadLetter, Form, LOST, Link, QueueEvent};

use crate::duration;
use crate::metrics;
use crate::ui::{Paint, Ui, grouped};

/// How long a worker may be silent before its work goes to another.
const LEASE: Duration = Duration::from_secs(30);
/// How long a server that does not answer is asked again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where others do the work.
#[derive(Args, Clone, Debug)]
pub struct QueueArgs {
    /// Distribute the work to `strait worker` processes, through NATS JetStream: nats://HOST:4222/NAME
    #[arg(long, value_name = "ADDRESS")]
    pub queue: Option<String>,
    /// With --queue: NATS credentials file [default: from NATS_CREDS or NATS_CONTEXT]
    #[arg(long, value_name = "FILE", requires = "queue")]
    creds: Option<PathBuf>,
    /// With --queue: how long a worker may be silent before another worker gets its work [default: 30s]
    #[arg(long, value_name = "TIME", requires = "queue", value_parser = duration::parse)]
    lease: Option<Duration>,
    /// With --queue: serve metrics for Prometheus at this address, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS", requires = "queue")]
    metrics: Option<String>,
}

impl QueueArgs {
    /// The queue, if one is wanted. Soon after the flag is set, it is not asked any more.
    pub fn open(&self, stop: &Arc<AtomicBool>) -> anyhow::Result<Option<Link>> {
        let Some(address) = &self.queue else { return Ok(None) };
        let address = parse(address)?;
        let credentials = Credentials::find(self.creds.as_deref())?;
        let listener = metrics::listen(self.metrics.as_deref())?;
        let link = Link::open(&address, &credentials, PATIENCE, stop)?;
        metrics::serve(listener, metrics::Role::Submitter, &link)?;
        Ok(Some(link))
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

/// Messages that were set aside and are said one by one; the summary counts the others.
const SAID: u64 = 5;

/// What happened in the queue during a campaign, for the summary.
pub struct Events {
    /// The kind of the campaign, as `strait worker --accept` names it.
    kind: &'static str,
    /// Messages that could not be used.
    dead_letters: BTreeMap<Form, u64>,
    /// Why the first of them could not be used, and where they are kept.
    first: Option<(String, String)>,
    /// The campaign ended before everything was done.
    pub shortfall: Option<Shortfall>,
}

impl Events {
    /// Of a campaign of this kind.
    pub fn of(kind: &'static str) -> Events {
        Events { kind, dead_letters: BTreeMap::new(), first: None, shortfall: None }
    }

    /// Takes note of an event, and says it if it is worth a line.
    pub fn hear(&mut self, link: &Link, told: QueueEvent) -> Option<String> {
        if let QueueEvent::SetAside(DeadLetter { place, why, .. }) = &told {
            *self.dead_letters.entry(*place).or_default() += 1;
            self.first.get_or_insert_with(|| (why.clone(), link.address().letters()));
            if self.set_aside() > SAID {
                return None;
            }
        }
        Some(tell(link, self.kind, told))
    }

    fn set_aside(&self) -> u64 {
        self.dead_letters.values().sum()
    }

    /// For the JSON document.
    pub fn add_to(&self, document: &mut Value) {
        document["dead_letters"] = json!(self.set_aside());
        document["incomplete"] = match self.shortfall {
            Some(Shortfall { done, all }) => json!({ "done": done, "all": all }),
            None => Value::Null,
        };
    }

    /// What a summary says if nothing was found: of a campaign that is not complete it says so.
    pub fn nothing_found(&self, ui: &Ui, what: &str) -> String {
        match self.shortfall {
            None => ui.paint(Paint::Green, "Nothing was found in this sample."),
            Some(Shortfall { done: 0, .. }) => {
                ui.paint(Paint::Yellow, format!("The campaign is not complete: no {what} ran."))
            }
            Some(Shortfall { done, all }) => {
                let of = all.map(|all| format!(" of {}", grouped(all))).unwrap_or_default();
                let text = format!(
                    "The campaign is not complete: {}{of} {what}s ran, and nothing was found in them.",
                    grouped(done)
                );
                ui.paint(Paint::Yellow, text)
            }
        }
    }

    /// Says how many messages were set aside.
    pub fn show(&self, ui: &Ui) {
        let Some((why, stream)) = &self.first else { return };
        let of: Vec<String> =
            self.dead_letters.iter().map(|(form, count)| format!("{count} {form}")).collect();
        let (all, of) = (self.set_aside(), of.join(", "));
        let (messages, were) = if all == 1 { ("message", "was") } else { ("messages", "were") };
        ui.note(format!(
            "{} queue {messages} could not be used and {were} set aside in the stream {stream} \
             ({of}); work that they stood for is done again. The first one: {why}",
            grouped(all)
        ));
    }
}

/// Says what happens in a queue.
fn tell(link: &Link, kind: &str, told: QueueEvent) -> String {
    match told {
        QueueEvent::NoWorkers => format!(
            "no worker takes work: workers are busy with other campaigns, do not accept campaigns of \
             the kind `{kind}`, or there are none; start `strait worker --queue {} --accept {kind}` on \
             machines that have time",
            link.address()
        ),
        QueueEvent::Refuses(why) => format!("the queue stores nothing: {why}; is there room?"),
        QueueEvent::ServerAway => "the queue does not answer; trying again".to_owned(),
        QueueEvent::SetAside(DeadLetter { place, why, by, .. }) => {
            format!("a queue message ({place}) could not be used and was set aside by {by}: {why}")
        }
        QueueEvent::WorkerJoined(name) => format!("worker {name} takes part"),
        QueueEvent::WorkerLeft(name) => format!("worker {name} has ended"),
        QueueEvent::WorkerLost(name) => format!(
            "worker {name} is lost: nothing was heard of it for {} seconds; its work goes to others",
            LOST.as_secs()
        ),
        QueueEvent::Left => {
            "results are left in the queue; go on with --queue to collect them".to_owned()
        }
        QueueEvent::NotEnded(why) => format!(
            "workers may go on, since the queue could not be told that the campaign is over: {why}"
        ),
    }
}
