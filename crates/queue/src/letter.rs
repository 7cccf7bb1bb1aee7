//! Dead letters: messages that could not be used. They are moved out of the way of the campaign into a
//! stream of their own, where people can look at them, and the campaign goes on.

use serde::{Deserialize, Serialize};

use crate::message::{Form, Poison, open, seal};
use crate::transport::{Outgoing, Transport, TransportError};

/// What is kept of a message.
const KEPT: usize = 4096;

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
pub(crate) fn file(
    transport: &dyn Transport,
    job: &str,
    name: &str,
    letter: &DeadLetter,
) -> Result<(), TransportError> {
    let (name, message) = (format!("{job}.{name}"), seal(Form::Letter, letter));
    transport.file(job, &Outgoing { name, message })
}

/// All letters of a campaign; one that cannot be read is a letter too.
pub(crate) fn read_letters(
    transport: &dyn Transport,
    job: &str,
) -> Result<Vec<DeadLetter>, TransportError> {
    let read = |message: Vec<u8>| {
        open(Form::Letter, &message)
            .unwrap_or_else(|poison| DeadLetter::new(Form::Letter, &poison, "unknown", &message))
    };
    Ok(transport.letters(job)?.into_iter().map(read).collect())
}
