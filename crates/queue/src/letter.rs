//! Dead letters: messages that could not be used. They are moved out of the way of the campaign into a
//! stream of their own, where people can look at them, and the campaign goes on.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::link::{Hub, text};
use crate::message::{Form, Poison, open, seal};

/// What is kept of a message.
const KEPT: usize = 4096;
/// Letters that are read at once.
const LETTERS: usize = 500;
/// How long it may take until the server has some of them.
const ANSWER: Duration = Duration::from_secs(3);

/// A message that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Where it was.
    pub place: Form,
    /// Why it could not be used, as a sentence.
    pub why: String,
    /// Who set it aside.
    pub by: String,
    /// How long it was.
    pub bytes: u64,
    /// How it began.
    pub text: String,
}

impl DeadLetter {
    /// A message, and what is wrong with it.
    pub(crate) fn new(place: Form, poison: &Poison, by: &str, message: &[u8]) -> DeadLetter {
        let start = &message[..message.len().min(KEPT)];
        DeadLetter {
            place,
            why: poison.to_string(),
            by: by.to_owned(),
            bytes: message.len() as u64,
            text: String::from_utf8_lossy(start).into_owned(),
        }
    }
}

/// Keeps a letter; the server knows those that it has by their names.
pub(crate) async fn file(
    hub: &Hub,
    job: &str,
    name: &str,
    letter: &DeadLetter,
) -> Result<(), String> {
    let payload = Bytes::from(seal(Form::Letter, letter));
    let message = PublishMessage::build().payload(payload).message_id(format!("{job}.{name}"));
    let sent = hub.jetstream.send_publish(hub.address.letters_of(job), message);
    sent.await.map_err(text)?.await.map(drop).map_err(text)
}

/// All letters of a campaign; one that cannot be read is a letter too.
pub(crate) async fn read_letters(hub: &Hub, job: &str) -> Result<Vec<DeadLetter>, String> {
    let config = pull::Config {
        filter_subject: hub.address.letters_of(job),
        ack_policy: AckPolicy::None,
        deliver_policy: DeliverPolicy::All,
        ..pull::Config::default()
    };
    let stream = hub.jetstream.get_stream(hub.address.letters()).await.map_err(text)?;
    let consumer = stream.create_consumer(config).await.map_err(text)?;
    let mut letters = Vec::new();
    loop {
        let batch = consumer.fetch().max_messages(LETTERS).messages().await.map_err(text)?;
        let before = letters.len();
        let mut batch = std::pin::pin!(batch);
        while let Ok(Some(message)) = tokio::time::timeout(ANSWER, batch.next()).await {
            let message = message.map_err(text)?;
            letters.push(open(Form::Letter, &message.payload).unwrap_or_else(|poison| {
                DeadLetter::new(Form::Letter, &poison, "unknown", &message.payload)
            }));
        }
        if letters.len() == before {
            return Ok(letters);
        }
    }
}
