//! A campaign as the server holds it: announced, given out, read, looked at, ended and cleared away. Each of
//! these is one attempt; whoever calls decides how often to ask.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Info, PullConsumer, pull};
use async_nats::jetstream::context::{ConsumerInfoErrorKind, GetStreamErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{ErrorCode, Message};
use bytes::Bytes;
use futures_util::StreamExt;

use crate::job::{Item, Job};
use crate::link::{Hub, KEPT, text};
use crate::message::{Form, seal};
use crate::objects::remove;
use crate::worker::alive;

/// How many results are read at once.
const RESULTS: usize = 256;
/// How long it may take until more results come.
const ANSWER: Duration = Duration::from_secs(3);
/// Results that got lost on their way to us come again after so long; what comes twice is known.
pub(crate) const AGAIN: Duration = Duration::from_secs(5);

/// Makes the consumer that workers take their work from.
pub(crate) async fn make_work(hub: &Hub, job: &Job) -> Result<(), String> {
    let config = pull::Config {
        durable_name: Some(job.id.clone()),
        filter_subject: hub.address.work_of(&job.id),
        ack_policy: AckPolicy::Explicit,
        ack_wait: job.lease(),
        max_ack_pending: -1,
        inactive_threshold: KEPT,
        ..pull::Config::default()
    };
    let stream = hub.jetstream.get_stream(hub.address.work()).await.map_err(text)?;
    stream.create_consumer(config).await.map(drop).map_err(text)
}

/// Says to workers that there is this campaign.
pub(crate) async fn put(hub: &Hub, job: &Job) -> Result<(), String> {
    let body = Bytes::from(seal(Form::Campaign, job));
    let jobs = hub.store(hub.address.jobs()).await?;
    jobs.put(&job.id, body).await.map(drop).map_err(text)
}

/// What the queue says about this campaign, and the number of the message that says so.
pub(crate) async fn announced(hub: &Hub, job: &str) -> Result<Option<(u64, Vec<u8>)>, String> {
    let jobs = hub.store(hub.address.jobs()).await?;
    let entry = jobs.entry(job).await.map_err(text)?;
    Ok(entry.map(|entry| (entry.revision, entry.value.to_vec())))
}

/// What a server says about a campaign.
pub(crate) enum Seen {
    /// What it knows about the work, and the last sign of life of a worker.
    Campaign(Box<Info>, Option<u64>),
    /// It is there and does not know the campaign: it came back without its files.
    Forgotten,
    /// It does not answer.
    Away,
}

/// Asks the server about a campaign.
pub(crate) async fn look(hub: &Hub, job: &str) -> Seen {
    let stream = match hub.jetstream.get_stream(hub.address.work()).await {
        Ok(stream) => stream,
        Err(error) => {
            return match error.kind() {
                GetStreamErrorKind::JetStream(why)
                    if why.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                {
                    Seen::Forgotten
                }
                _ => Seen::Away,
            };
        }
    };
    let info = match stream.consumer_info(job).await {
        Ok(info) => info,
        Err(error) => {
            return match error.kind() {
                ConsumerInfoErrorKind::NotFound | ConsumerInfoErrorKind::StreamNotFound => {
                    Seen::Forgotten
                }
                ConsumerInfoErrorKind::JetStream(why)
                    if why.error_code() == ErrorCode::CONSUMER_NOT_FOUND =>
                {
                    Seen::Forgotten
                }
                _ => Seen::Away,
            };
        }
    };
    // The server has just answered, so the bucket is missing.
    let Ok(notes) = hub.store(hub.address.notes()).await else { return Seen::Forgotten };
    match notes.entry(alive(job)).await {
        Ok(sign) => Seen::Campaign(Box::new(info), sign.map(|sign| sign.revision)),
        Err(_) => Seen::Away,
    }
}

/// Makes, or finds, the consumer that results are read from.
pub(crate) async fn results_of(hub: &Hub, job: &str) -> Result<PullConsumer, String> {
    let config = pull::Config {
        durable_name: Some(job.to_owned()),
        filter_subject: hub.address.results_of(job),
        ack_policy: AckPolicy::Explicit,
        ack_wait: AGAIN,
        max_ack_pending: -1,
        inactive_threshold: KEPT,
        ..pull::Config::default()
    };
    let stream = hub.jetstream.get_stream(hub.address.results()).await.map_err(text)?;
    stream.get_or_create_consumer(job, config).await.map_err(text)
}

/// All items at once; the server knows those that it has by their names.
pub(crate) async fn publish(
    hub: &Hub,
    job: &str,
    items: &[Item],
    suffix: &str,
) -> Result<(), String> {
    let subject = hub.address.work_of(job);
    let mut waiting = Vec::new();
    for item in items {
        let payload = Bytes::from(seal(Form::Work, item));
        let message = PublishMessage::build().payload(payload).message_id(item.name(job) + suffix);
        let sent = hub.jetstream.send_publish(subject.clone(), message).await;
        waiting.push(sent.map_err(text)?);
    }
    for stored in waiting {
        stored.await.map_err(text)?;
    }
    Ok(())
}

/// What comes until so long after the question; less if the server falls silent.
pub(crate) async fn read(results: &PullConsumer, wait: Duration) -> Result<Vec<Message>, String> {
    let no_answer = |_| "no answer".to_owned();
    let batch = results.batch().max_messages(RESULTS).expires(wait).messages();
    let batch = tokio::time::timeout(ANSWER, batch).await.map_err(no_answer)?;
    let (mut stream, mut messages) = (batch.map_err(text)?, Vec::new());
    loop {
        let next = tokio::time::timeout(wait + ANSWER, stream.next()).await;
        match next.map_err(no_answer).and_then(|next| next.transpose().map_err(text)) {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return Ok(messages),
            // What is there need not come again.
            Err(_) if !messages.is_empty() => return Ok(messages),
            Err(why) => return Err(why),
        }
    }
}

/// No more work is given out, and workers leave.
pub(crate) async fn end(hub: &Hub, job: &str) -> Result<(), String> {
    let jobs = hub.store(hub.address.jobs()).await?;
    jobs.purge(job).await.map_err(text)?;
    let stream = hub.jetstream.get_stream(hub.address.work()).await.map_err(text)?;
    stream.purge().filter(hub.address.work_of(job)).await.map_err(text)?;
    // It may be gone already.
    let _ = stream.delete_consumer(job).await;
    Ok(())
}

/// Nothing of the campaign remains in the queue.
pub(crate) async fn clear(hub: &Hub, job: &str) -> Result<(), String> {
    let stream = hub.jetstream.get_stream(hub.address.results()).await.map_err(text)?;
    let _ = stream.delete_consumer(job).await;
    stream.purge().filter(hub.address.results_of(job)).await.map_err(text)?;
    hub.forget(&hub.address.notes(), &format!("{job}.>")).await?;
    let store = hub.jetstream.get_object_store(hub.address.parcels()).await.map_err(text)?;
    let mut objects = store.list().await.map_err(text)?;
    let prefix = format!("{job}.");
    let mut ours = Vec::new();
    while let Some(object) = objects.next().await {
        ours.extend(object.ok().map(|object| object.name).filter(|name| name.starts_with(&prefix)));
    }
    remove(hub, ours).await;
    Ok(())
}
