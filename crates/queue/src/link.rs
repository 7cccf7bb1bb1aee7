//! A connection to a queue, with everything that has to be there: made by whoever comes first. The
//! client connects again by itself when the server was away; what was asked meanwhile is asked again
//! here, for as long as it makes sense.

use std::fmt::Display;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::{Context, kv, object_store, stream};
use async_nats::{Client, ConnectErrorKind, jetstream};
use futures_util::TryStreamExt;
use futures_util::future::{Either, select};
use tokio::runtime::{Builder, Runtime};

use crate::address::Address;
use crate::credentials::Credentials;
use crate::error::Error;
use crate::job::Job;
use crate::message::Poison;

/// How long the server looks for messages that it has already.
const DUPLICATES: Duration = Duration::from_secs(120);
/// What nobody has fetched after so long is given up.
pub(crate) const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);
/// Messages of a campaign that could not be used and are kept; then the oldest go.
const LETTERS: i64 = 20_000;
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a request may take.
const REQUEST: Duration = Duration::from_secs(5);

/// A campaign that this version does not understand: its name and why.
pub type Foreign = (String, Poison);

/// A connection.
#[derive(Clone)]
pub struct Link {
    runtime: Arc<Runtime>,
    hub: Hub,
}

/// What tasks need of it. They must not own the runtime that runs them.
#[derive(Clone)]
pub(crate) struct Hub {
    pub(crate) address: Arc<Address>,
    pub(crate) client: Client,
    pub(crate) jetstream: Context,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Link {
    /// Connects, and makes what is missing there. A server that does not answer is asked again for so
    /// long.
    pub fn open(
        address: &Address,
        credentials: &Credentials,
        patience: Duration,
    ) -> Result<Link, Error> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().thread_name("queue").build();
        let runtime = Arc::new(runtime.map_err(Error::Runtime)?);
        let begun = Instant::now();
        let client = loop {
            let options = credentials
                .options()?
                .name(format!("strait {}", env!("CARGO_PKG_VERSION")))
                .request_timeout(Some(REQUEST))
                .reconnect_delay_callback(|attempts| {
                    Duration::from_millis(100 * attempts.min(20) as u64)
                });
            match runtime.block_on(options.connect(address.servers.clone())) {
                Ok(client) => break client,
                Err(error) => {
                    let why = Why::of(error.kind(), &error.to_string());
                    if why != Why::Away || begun.elapsed() >= patience {
                        return Err(unreachable_queue(address, why, &error));
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        };
        let inside = runtime.enter();
        let jetstream = jetstream::new(client.clone());
        drop(inside);
        let address = Arc::new(address.clone());
        let hub = Hub { address, client, jetstream, trouble: Arc::default() };
        runtime.block_on(hub.furnish(patience.max(REQUEST * 2)))?;
        Ok(Link { runtime, hub })
    }

    /// A name that nothing else has.
    pub fn fresh_name(&self) -> String {
        self.hub.fresh_name()
    }

    /// The queue.
    pub fn address(&self) -> &Address {
        &self.hub.address
    }

    /// Why results of ours have not been taken for a while, if that is so.
    pub fn trouble(&self) -> Option<String> {
        self.hub.trouble().clone()
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(crate) fn block<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    pub(crate) fn spawn(
        &self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        self.runtime.spawn(future)
    }

    /// The campaigns that are under way, as far as this version understands them, and the others'
    /// names with the reason.
    pub fn jobs(&self) -> Result<(Vec<Job>, Vec<Foreign>), Error> {
        self.block(self.hub.jobs())
    }
}

impl Hub {
    pub(crate) fn fresh_name(&self) -> String {
        let inbox = self.client.new_inbox();
        inbox.rsplit('.').next().unwrap_or_default().to_owned()
    }

    pub(crate) fn failed(&self, action: &'static str, why: impl Display) -> Error {
        let (address, why) = (self.address.to_string(), why.to_string());
        match is_full(&why) {
            true => Error::Full { address, action, why },
            false => Error::Server { address, action, why },
        }
    }

    /// What keeps results here, if it lasts.
    pub(crate) fn trouble(&self) -> MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks again and again, for so long. A question that is never answered, such as for a list of what
    /// somebody else removes meanwhile, is asked again as well.
    pub(crate) async fn insist<T, E: Display, F: Future<Output = Result<T, E>>>(
        &self,
        action: &'static str,
        patience: Duration,
        attempt: impl FnMut() -> F,
    ) -> Result<T, Error> {
        self.insist_unless(&|| false, action, patience, attempt).await
    }

    /// The same, until somebody wants to stop.
    pub(crate) async fn insist_unless<T, E: Display, F: Future<Output = Result<T, E>>>(
        &self,
        stop: &dyn Fn() -> bool,
        action: &'static str,
        patience: Duration,
        attempt: impl FnMut() -> F,
    ) -> Result<T, Error> {
        self.transfer(stop, action, patience, (patience / 2).max(REQUEST), attempt).await
    }

    /// The same, with what a single attempt may take: what is large takes its time.
    pub(crate) async fn transfer<T, E: Display, F: Future<Output = Result<T, E>>>(
        &self,
        stop: &dyn Fn() -> bool,
        action: &'static str,
        patience: Duration,
        limit: Duration,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, Error> {
        let begun = Instant::now();
        loop {
            let answer = tokio::time::timeout(limit, unless(stop, attempt())).await;
            let is_late = begun.elapsed() >= patience || stop();
            match answer {
                Ok(Some(Ok(value))) => return Ok(value),
                Ok(Some(Err(error))) => {
                    let why = error.to_string();
                    // It does not become less by asking.
                    if is_late || is_full(&why) || why.contains("not enabled") {
                        return Err(self.failed(action, why));
                    }
                    tokio::time::sleep(PAUSE).await;
                }
                Ok(None) | Err(_) if is_late => return Err(self.failed(action, "no answer")),
                Ok(None) | Err(_) => {}
            }
        }
    }

    /// Streams and buckets.
    pub(crate) async fn furnish(&self, patience: Duration) -> Result<(), Error> {
        let address = &self.address;
        let work = stream::Config {
            name: address.work(),
            subjects: vec![address.work_of("*")],
            retention: stream::RetentionPolicy::WorkQueue,
            ..Self::stream()
        };
        // What the reader has is removed, so that a long campaign takes no more room than a short one.
        let results = stream::Config {
            name: address.results(),
            subjects: vec![address.results_of("*")],
            retention: stream::RetentionPolicy::WorkQueue,
            ..Self::stream()
        };
        // What is set aside stays for people to look at, and never fills the server.
        let letters = stream::Config {
            name: address.letters(),
            subjects: vec![address.letters_of("*")],
            max_messages_per_subject: LETTERS,
            ..Self::stream()
        };
        for config in
            [work, results, letters, Self::bucket(&address.jobs()), Self::bucket(&address.notes())]
        {
            let make = || self.jetstream.get_or_create_stream(config.clone());
            self.insist("make a stream", patience, make).await.map_err(without_jetstream)?;
        }
        let bucket = address.parcels();
        let config = object_store::Config { bucket, max_age: KEPT, ..Default::default() };
        self.insist("make an object store", patience, || self.objects(&config)).await?;
        Ok(())
    }

    fn stream() -> stream::Config {
        stream::Config {
            storage: stream::StorageType::File,
            duplicate_window: DUPLICATES,
            max_age: KEPT,
            ..stream::Config::default()
        }
    }

    /// A bucket is a stream with one message for each key. The client's own way to make one does not
    /// understand servers before 2.10.
    fn bucket(name: &str) -> stream::Config {
        stream::Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            discard: stream::DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..Self::stream()
        }
    }

    /// Removes these keys of a bucket.
    pub(crate) async fn forget(&self, bucket: &str, keys: &str) -> Result<(), String> {
        let stream = self.jetstream.get_stream(format!("KV_{bucket}")).await.map_err(text)?;
        let keys = format!("$KV.{bucket}.{keys}");
        stream.purge().filter(keys).await.map(drop).map_err(text)
    }

    async fn objects(&self, config: &object_store::Config) -> Result<(), String> {
        if self.jetstream.get_object_store(&config.bucket).await.is_ok() {
            return Ok(());
        }
        self.jetstream.create_object_store(config.clone()).await.map(drop).map_err(text)
    }

    pub(crate) async fn store(&self, bucket: String) -> Result<kv::Store, String> {
        self.jetstream.get_key_value(bucket).await.map_err(text)
    }

    async fn jobs(&self) -> Result<(Vec<Job>, Vec<Foreign>), Error> {
        let read = || async {
            let store = self.store(self.address.jobs()).await?;
            let keys: Vec<String> =
                store.keys().await.map_err(text)?.try_collect().await.map_err(text)?;
            let mut entries = Vec::new();
            for key in keys {
                entries.extend(store.get(&key).await.map_err(text)?.map(|value| (key, value)));
            }
            Ok::<_, String>(entries)
        };
        let entries = self.insist("read the campaigns", REQUEST, read).await?;
        let (mut jobs, mut others) = (Vec::new(), Vec::new());
        for (key, value) in entries {
            match Job::read(&value, &key) {
                Ok(job) => jobs.push(job),
                Err(poison) => others.push((key, poison)),
            }
        }
        Ok((jobs, others))
    }
}

/// What comes of it; `None` if somebody wants to stop before that, and a moment more has passed.
async fn unless<T>(stop: &dyn Fn() -> bool, attempt: impl Future<Output = T>) -> Option<T> {
    let stopped = async {
        while !stop() {
            tokio::time::sleep(PAUSE).await;
        }
        tokio::time::sleep(REQUEST / 5).await;
    };
    match select(pin!(attempt), pin!(stopped)).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Nobody answers; that may change.
    Away,
    /// The server does not take us.
    Unknown,
    /// We do not trust the server's certificate.
    Untrusted,
    /// The server does not take our certificate, or wants one.
    Uncertified,
    /// What answers speaks no TLS.
    Plain,
    /// What answers is no server of NATS.
    Other,
}

impl Why {
    /// The client takes much for a fault of the network, so its words decide as well.
    fn of(kind: ConnectErrorKind, said: &str) -> Why {
        match kind {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                Why::Unknown
            }
            _ if said.contains("fatal alert") => Why::Uncertified,
            _ if said.contains("corrupt message") => Why::Plain,
            _ if said.contains("certificate") => Why::Untrusted,
            ConnectErrorKind::Tls => Why::Untrusted,
            ConnectErrorKind::Io | ConnectErrorKind::TimedOut | ConnectErrorKind::Dns => Why::Away,
            _ => Why::Other,
        }
    }
}

fn unreachable_queue(address: &Address, why: Why, error: &dyn Display) -> Error {
    let next = match why {
        Why::Unknown => {
            "name a creds file with --creds or NATS_CREDS, or see NATS_NKEY, NATS_USER, NATS_TOKEN \
             and NATS_CONTEXT"
        }
        Why::Untrusted => "name the authority that signed the server's certificate with NATS_CA",
        Why::Uncertified => {
            "the server wants a certificate of an authority that it knows: name yours with \
             NATS_CERT and NATS_KEY"
        }
        Why::Plain => "does the server use TLS there? without it, write nats:// and no NATS_CA",
        Why::Away | Why::Other => "is nats-server running there, and is the port right?",
    };
    let passes = why == Why::Away;
    Error::Unreachable { address: address.to_string(), why: error.to_string(), next, passes }
}

/// The server has no room left, whatever else it can do.
fn is_full(why: &str) -> bool {
    ["insufficient resources", "insufficient storage", "maximum bytes", "resource limits exceeded"]
        .iter()
        .any(|word| why.contains(word))
}

/// The first thing that is asked of JetStream has failed.
fn without_jetstream(error: Error) -> Error {
    match error {
        Error::Server { address, why, .. } => Error::Unreachable {
            address,
            why: format!("JetStream does not do what it should ({why})"),
            next: "start the server with JetStream, `nats-server -js`, and allow it for this account",
            passes: false,
        },
        other => other,
    }
}

/// What an error says.
pub(crate) fn text(error: impl Display) -> String {
    error.to_string()
}
