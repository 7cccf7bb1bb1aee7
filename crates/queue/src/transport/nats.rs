//! The transport over NATS JetStream. Everything that is asynchronous stays in these files: a call enters
//! the runtime of the connection and waits for the answer. The client connects again by itself when the
//! server was away.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::message::{Acker, PublishMessage};
use async_nats::jetstream::{AckKind, Context, kv, object_store, stream};
use async_nats::{Client, jetstream};
use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::{StreamExt, TryStreamExt};
use tokio::runtime::{Builder, Runtime};

use crate::address::Address;
use crate::clock::{Clock, SystemClock};
use crate::credentials::Credentials;
use crate::error::Error;
use crate::shutdown::Shutdown;
use crate::transport::nats_connect::connect;
use crate::transport::nats_errors::{meaning, no_answer};
use crate::transport::{
    Backlog, Bucket, Delivery, Object, Outgoing, Receipt, Record, Settlement, Stream, Transport,
    TransportError,
};

/// How long the server looks for messages that it has already.
const DUPLICATES: Duration = Duration::from_secs(120);
/// What has not been fetched after this time is removed.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);
/// What a worker has said about itself is given up after so long.
const WORKERS_KEPT: Duration = Duration::from_secs(3600);
/// Messages of a campaign that could not be used and are kept; then the oldest go.
const LETTERS: i64 = 20_000;
/// Letters that are read at once.
const LETTERS_AT_ONCE: usize = 500;
/// How long it may take until more messages come.
const ANSWER: Duration = Duration::from_secs(3);
/// How long a call may take that is no transfer of an object.
const CALL: Duration = Duration::from_secs(10);
/// Between two looks whether a call should be given up.
const LOOK: Duration = Duration::from_millis(50);
/// How long one call may take when the process is about to end.
const FAREWELL: Duration = Duration::from_millis(400);
/// The record that tells the server's time.
const TIME: &str = "time";

/// A connection to a server.
pub(crate) struct Nats {
    runtime: Arc<Runtime>,
    clock: Arc<SystemClock>,
    hub: Hub,
    shutdown: Arc<Shutdown>,
}

/// What the calls need of it.
#[derive(Clone)]
pub(super) struct Hub {
    pub(super) address: Arc<Address>,
    client: Client,
    pub(super) jetstream: Context,
    /// Consumers that were found before: to look for one costs a question.
    consumers: Arc<Mutex<HashMap<(Stream, String), PullConsumer>>>,
}

impl Nats {
    pub(crate) fn connect(
        address: &Address,
        credentials: &Credentials,
        patience: Duration,
        shutdown: &Arc<Shutdown>,
    ) -> Result<Arc<dyn Transport>, Error> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().thread_name("queue").build();
        let runtime = Arc::new(runtime.map_err(Error::Runtime)?);
        let client = connect(&runtime, address, credentials, patience, shutdown)?;
        let inside = runtime.enter();
        let jetstream = jetstream::new(client.clone());
        drop(inside);
        let hub = Hub {
            address: Arc::new(address.clone()),
            client,
            jetstream,
            consumers: Arc::default(),
        };
        let shutdown = Arc::clone(shutdown);
        Ok(Arc::new(Nats { runtime, clock: Arc::default(), hub, shutdown }))
    }

    /// Waits for an answer.
    fn call<T>(
        &self,
        call: impl Future<Output = Result<T, TransportError>>,
    ) -> Result<T, TransportError> {
        self.call_within(CALL, call)
    }

    fn call_within<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, TransportError>>,
    ) -> Result<T, TransportError> {
        let limited = async {
            let call = tokio::time::timeout(limit, call);
            unless_over(&self.shutdown, call).await.unwrap_or_else(|| Ok(Err(no_answer(()))))
        };
        self.runtime.block_on(limited).unwrap_or_else(|late| Err(no_answer(late)))
    }
}

/// What a call gives; `None` if it is given up, since this process is about to end.
pub(super) async fn unless_over<T>(
    shutdown: &Shutdown,
    call: impl Future<Output = T>,
) -> Option<T> {
    let over = async {
        let mut left = FAREWELL;
        while !shutdown.is_over() {
            if shutdown.is_wanted() {
                left = left.saturating_sub(LOOK);
                if left.is_zero() {
                    shutdown.give_up();
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    match select(pin!(call), pin!(over)).await {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}

impl Hub {
    fn bucket_name(&self, bucket: Bucket) -> String {
        match bucket {
            Bucket::Campaigns => self.address.jobs(),
            Bucket::Notes => self.address.notes(),
            Bucket::Workers => self.address.workers(),
        }
    }

    fn stream_name(&self, stream: Stream) -> String {
        match stream {
            Stream::Work => self.address.work(),
            Stream::Results => self.address.results(),
        }
    }

    fn subject(&self, stream: Stream, job: &str) -> String {
        match stream {
            Stream::Work => self.address.work_of(job),
            Stream::Results => self.address.results_of(job),
        }
    }

    async fn bucket(&self, bucket: Bucket) -> Result<kv::Store, TransportError> {
        self.jetstream.get_key_value(self.bucket_name(bucket)).await.map_err(meaning)
    }

    async fn stream(&self, name: String) -> Result<stream::Stream, TransportError> {
        self.jetstream.get_stream(name).await.map_err(meaning)
    }

    async fn furnish(&self) -> Result<(), TransportError> {
        let address = &self.address;
        // What a reader has is removed, so that a long campaign takes no more room than a short one.
        let queue = |name: String, subject: String| stream::Config {
            name,
            subjects: vec![subject],
            retention: stream::RetentionPolicy::WorkQueue,
            ..stream_config()
        };
        // What is set aside stays for people to look at, and never fills the server.
        let letters = stream::Config {
            name: address.letters(),
            subjects: vec![address.letters_of("*")],
            max_messages_per_subject: LETTERS,
            ..stream_config()
        };
        let workers = stream::Config { max_age: WORKERS_KEPT, ..bucket_config(&address.workers()) };
        let configs = [
            queue(address.work(), address.work_of("*")),
            queue(address.results(), address.results_of("*")),
            letters,
            bucket_config(&address.jobs()),
            bucket_config(&address.notes()),
            workers,
        ];
        for config in configs {
            self.jetstream.get_or_create_stream(config).await.map_err(meaning)?;
        }
        let config = object_store::Config {
            bucket: address.parcels(),
            max_age: KEPT,
            ..object_store::Config::default()
        };
        if self.jetstream.get_object_store(&config.bucket).await.is_err() {
            self.jetstream.create_object_store(config).await.map_err(meaning)?;
        }
        Ok(())
    }

    async fn get(&self, bucket: Bucket, key: &str) -> Result<Option<Record>, TransportError> {
        let entry = self.bucket(bucket).await?.entry(key).await.map_err(meaning)?;
        let entry = entry.filter(|entry| entry.operation == kv::Operation::Put);
        Ok(entry.map(|entry| record(entry, None)))
    }

    async fn list(&self, bucket: Bucket) -> Result<Vec<Record>, TransportError> {
        let store = self.bucket(bucket).await?;
        let mut now = None;
        if bucket == Bucket::Workers {
            // Ages are measured by the server's clock, which this asks for. An account that may not write
            // has its own clock.
            if store.put(TIME, Bytes::new()).await.is_ok() {
                now = store.entry(TIME).await.map_err(meaning)?.map(|entry| entry.created.into());
            }
        }
        let keys: Vec<String> =
            store.keys().await.map_err(meaning)?.try_collect().await.map_err(meaning)?;
        let mut records = Vec::new();
        for key in keys.into_iter().filter(|key| key != TIME) {
            let entry = store.entry(&key).await.map_err(meaning)?;
            let entry = entry.filter(|entry| entry.operation == kv::Operation::Put);
            records.extend(entry.map(|entry| record(entry, now)));
        }
        records.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(records)
    }

    async fn open(&self, stream: Stream, job: &str, lease: Duration) -> Result<(), TransportError> {
        let config = pull::Config {
            durable_name: Some(job.to_owned()),
            filter_subject: self.subject(stream, job),
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            max_ack_pending: -1,
            inactive_threshold: KEPT,
            ..pull::Config::default()
        };
        let stream = self.stream(self.stream_name(stream)).await?;
        stream.create_consumer(config).await.map(drop).map_err(meaning)
    }

    /// All messages at once; the server knows those that it has by their names.
    async fn publish(
        &self,
        subject: String,
        messages: &[Outgoing],
    ) -> Result<Vec<bool>, TransportError> {
        let mut waiting = Vec::new();
        for Outgoing { name, message } in messages {
            let payload = Bytes::copy_from_slice(message);
            let message = PublishMessage::build().payload(payload).message_id(name);
            let sent = self.jetstream.send_publish(subject.clone(), message).await;
            waiting.push(sent.map_err(meaning)?);
        }
        let mut news = Vec::new();
        for stored in waiting {
            news.push(!stored.await.map_err(meaning)?.duplicate);
        }
        Ok(news)
    }

    async fn consumer(&self, stream: Stream, job: &str) -> Result<PullConsumer, TransportError> {
        let key = (stream, job.to_owned());
        let known =
            self.consumers.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(consumer) = known {
            return Ok(consumer);
        }
        let name = self.stream_name(stream);
        let consumer = self.jetstream.get_consumer_from_stream(job, name).await;
        let consumer: PullConsumer = consumer.map_err(meaning)?;
        let mut consumers = self.consumers.lock().unwrap_or_else(PoisonError::into_inner);
        consumers.insert(key, consumer.clone());
        Ok(consumer)
    }

    /// Looks for a consumer again the next time.
    fn forget_consumer(&self, stream: Stream, job: &str) {
        let mut consumers = self.consumers.lock().unwrap_or_else(PoisonError::into_inner);
        consumers.remove(&(stream, job.to_owned()));
    }

    /// What comes until so long after the question; less if the server falls silent.
    async fn take(
        &self,
        stream: Stream,
        job: &str,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<jetstream::Message>, TransportError> {
        let consumer = self.consumer(stream, job).await?;
        let batch = consumer.batch().max_messages(most).expires(wait).messages().await;
        let (mut batch, mut messages) = (batch.map_err(meaning)?, Vec::new());
        while messages.len() < most {
            let next = tokio::time::timeout(wait + ANSWER, batch.next()).await;
            match next.map_err(no_answer).map(Option::transpose) {
                Ok(Ok(Some(message))) => messages.push(message),
                Ok(Ok(None)) => break,
                // What is there need not come again.
                _ if !messages.is_empty() => break,
                // The stream of messages hides why it failed.
                Ok(Err(why)) => return Err(TransportError::Away(why.to_string())),
                Err(away) => return Err(away),
            }
        }
        Ok(messages)
    }

    async fn backlog(&self, stream: Stream, job: &str) -> Result<Backlog, TransportError> {
        let stream = self.stream(self.stream_name(stream)).await?;
        let info = stream.consumer_info(job).await.map_err(meaning)?;
        Ok(Backlog {
            waiting: info.num_pending,
            leased: info.num_ack_pending as u64,
            readers: info.num_waiting as u64,
            again: info.num_redelivered as u64,
        })
    }

    async fn letters(&self, job: &str) -> Result<Vec<Vec<u8>>, TransportError> {
        let config = pull::Config {
            filter_subject: self.address.letters_of(job),
            ack_policy: AckPolicy::None,
            deliver_policy: DeliverPolicy::All,
            ..pull::Config::default()
        };
        let stream = self.stream(self.address.letters()).await?;
        let consumer = stream.create_consumer(config).await.map_err(meaning)?;
        let mut letters = Vec::new();
        loop {
            let batch = consumer.fetch().max_messages(LETTERS_AT_ONCE).messages().await;
            let (mut batch, before) = (pin!(batch.map_err(meaning)?), letters.len());
            while let Ok(Some(message)) = tokio::time::timeout(ANSWER, batch.next()).await {
                // The stream of messages hides why it failed.
                let message = message.map_err(|why| TransportError::Away(why.to_string()))?;
                letters.push(message.payload.to_vec());
            }
            if letters.len() == before {
                return Ok(letters);
            }
        }
    }

    async fn letter_counts(&self) -> Result<Vec<(String, u64)>, TransportError> {
        let stream = self.stream(self.address.letters()).await?;
        let (all, prefix) = (self.address.letters_of("*"), self.address.letters_of(""));
        let subjects = stream.info_with_subjects(all).await.map_err(meaning)?;
        let mut counts: Vec<(String, usize)> = subjects.try_collect().await.map_err(meaning)?;
        counts.sort();
        let job = |subject: &str| subject.strip_prefix(&prefix).unwrap_or(subject).to_owned();
        Ok(counts.into_iter().map(|(subject, count)| (job(&subject), count as u64)).collect())
    }

    async fn end(&self, job: &str) -> Result<(), TransportError> {
        self.forget_consumer(Stream::Work, job);
        self.bucket(Bucket::Campaigns).await?.purge(job).await.map_err(meaning)?;
        let stream = self.stream(self.address.work()).await?;
        stream.purge().filter(self.address.work_of(job)).await.map_err(meaning)?;
        // It may be gone already.
        let _ = stream.delete_consumer(job).await;
        Ok(())
    }

    async fn clear(&self, job: &str) -> Result<(), TransportError> {
        let stream = self.stream(self.address.results()).await?;
        let _ = stream.delete_consumer(job).await;
        stream.purge().filter(self.address.results_of(job)).await.map_err(meaning)?;
        let notes = self.address.notes();
        let stream = self.stream(format!("KV_{notes}")).await?;
        stream.purge().filter(format!("$KV.{notes}.{job}.>")).await.map_err(meaning)?;
        let objects = self.objects_of(&format!("{job}.")).await?;
        self.remove_objects(&objects).await;
        Ok(())
    }
}

fn record(entry: kv::Entry, now: Option<SystemTime>) -> Record {
    let created: SystemTime = entry.created.into();
    let now = now.unwrap_or_else(SystemTime::now);
    Record {
        key: entry.key,
        revision: entry.revision,
        age: now.duration_since(created).unwrap_or_default(),
        message: entry.value.to_vec(),
    }
}

fn stream_config() -> stream::Config {
    stream::Config {
        storage: stream::StorageType::File,
        duplicate_window: DUPLICATES,
        max_age: KEPT,
        ..stream::Config::default()
    }
}

/// A bucket is a stream with one message for each key. The client's own way to make one does not
/// understand servers before 2.10.
fn bucket_config(name: &str) -> stream::Config {
    stream::Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        discard: stream::DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..stream_config()
    }
}

/// The way back to a message.
struct Handle {
    runtime: Arc<Runtime>,
    acker: Acker,
}

impl Receipt for Handle {
    fn settle(&self, settlement: Settlement) {
        let kind = match settlement {
            Settlement::Done => AckKind::Ack,
            Settlement::StillAtIt => AckKind::Progress,
            Settlement::GiveBack => AckKind::Nak(None),
            Settlement::SetAside => AckKind::Term,
        };
        // What got lost is as if it had never been said.
        let _ = self.runtime.block_on(self.acker.ack_with(kind));
    }
}

impl Transport for Nats {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::<SystemClock>::clone(&self.clock)
    }

    fn fresh_name(&self) -> String {
        let inbox = self.hub.client.new_inbox();
        inbox.rsplit('.').next().unwrap_or_default().to_owned()
    }

    fn furnish(&self) -> Result<(), TransportError> {
        self.call(self.hub.furnish())
    }

    fn get(&self, bucket: Bucket, key: &str) -> Result<Option<Record>, TransportError> {
        self.call(self.hub.get(bucket, key))
    }

    fn put(&self, bucket: Bucket, key: &str, message: &[u8]) -> Result<(), TransportError> {
        self.call(async {
            let store = self.hub.bucket(bucket).await?;
            store.put(key, Bytes::copy_from_slice(message)).await.map(drop).map_err(meaning)
        })
    }

    fn remove(&self, bucket: Bucket, key: &str) -> Result<(), TransportError> {
        self.call(async { self.hub.bucket(bucket).await?.purge(key).await.map_err(meaning) })
    }

    fn list(&self, bucket: Bucket) -> Result<Vec<Record>, TransportError> {
        self.call(self.hub.list(bucket))
    }

    fn open(&self, stream: Stream, job: &str, lease: Duration) -> Result<(), TransportError> {
        self.call(self.hub.open(stream, job, lease))
    }

    fn publish(
        &self,
        stream: Stream,
        job: &str,
        messages: &[Outgoing],
    ) -> Result<Vec<bool>, TransportError> {
        self.call(self.hub.publish(self.hub.subject(stream, job), messages))
    }

    fn take(
        &self,
        stream: Stream,
        job: &str,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<Delivery>, TransportError> {
        let messages = self.call(self.hub.take(stream, job, most, wait));
        let messages = messages.inspect_err(|_| self.hub.forget_consumer(stream, job))?;
        Ok(messages.into_iter().map(|message| self.delivery(message)).collect())
    }

    fn backlog(&self, stream: Stream, job: &str) -> Result<Backlog, TransportError> {
        self.call(self.hub.backlog(stream, job))
    }

    fn file(&self, job: &str, letter: &Outgoing) -> Result<(), TransportError> {
        let subject = self.hub.address.letters_of(job);
        self.call(self.hub.publish(subject, std::slice::from_ref(letter))).map(drop)
    }

    fn letters(&self, job: &str) -> Result<Vec<Vec<u8>>, TransportError> {
        self.call(self.hub.letters(job))
    }

    fn letter_counts(&self) -> Result<Vec<(String, u64)>, TransportError> {
        self.call(self.hub.letter_counts())
    }

    fn end(&self, job: &str) -> Result<(), TransportError> {
        self.call(self.hub.end(job))
    }

    fn clear(&self, job: &str) -> Result<(), TransportError> {
        self.call(self.hub.clear(job))
    }

    fn put_object(&self, name: &str, content: &[u8]) -> Result<(), TransportError> {
        self.call_within(Duration::MAX, self.hub.put_object(name, content))
    }

    fn has_object(&self, name: &str, length: usize) -> Result<bool, TransportError> {
        self.call(self.hub.has_object(name, length))
    }

    fn object(&self, name: &str, most: usize) -> Result<Object, TransportError> {
        self.call_within(Duration::MAX, self.hub.object(name, most))
    }

    fn remove_objects(&self, names: &[String]) {
        // The server gives up the rest after some days.
        let _ = self.call(async {
            self.hub.remove_objects(names).await;
            Ok(())
        });
    }
}

impl Nats {
    fn delivery(&self, message: jetstream::Message) -> Delivery {
        let (times, number) =
            message.info().map_or((1, 0), |info| (info.delivered, info.stream_sequence));
        let (message, acker) = message.split();
        let name = message.headers.as_ref().and_then(|headers| headers.get(NATS_MESSAGE_ID));
        Delivery {
            name: name.map(ToString::to_string),
            message: message.payload.to_vec(),
            number,
            times,
            receipt: Arc::new(Handle { runtime: Arc::clone(&self.runtime), acker }),
        }
    }
}
