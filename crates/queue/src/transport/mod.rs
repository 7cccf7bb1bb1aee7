//! What carries a campaign between machines, as the protocol sees it: buckets of records, streams of
//! messages with leases, objects and dead letters. [`Transport`] is the whole of it. Calls block and are one
//! attempt each; the caller decides how often to ask. `nats` is JetStream, in builds with the feature
//! `nats`; the tests have a server in their own process (`tests/support/memory.rs`).

#[cfg(feature = "nats")]
pub(crate) mod nats;
#[cfg(feature = "nats")]
mod nats_connect;
#[cfg(feature = "nats")]
mod nats_errors;
#[cfg(feature = "nats")]
mod nats_objects;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;

/// Why a transport could not do what it was asked. The variant decides; the text is for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The server does not answer, or the connection broke. That may pass.
    #[error("{0}")]
    Away(String),
    /// The server answers and has no such stream, consumer or bucket: it has lost its files, or the
    /// campaign is over.
    #[error("{0}")]
    NotFound(String),
    /// The server has no room for what was to be stored.
    #[error("{0}")]
    Full(String),
    /// The server, or the account, has no JetStream.
    #[error("{0}")]
    NotEnabled(String),
    /// The server answers and does not do it for another reason.
    #[error("{0}")]
    Refused(String),
}

impl TransportError {
    /// May the same question be answered in a moment?
    pub fn passes(&self) -> bool {
        match self {
            TransportError::Away(_) | TransportError::NotFound(_) | TransportError::Refused(_) => {
                true
            }
            TransportError::Full(_) | TransportError::NotEnabled(_) => false,
        }
    }
}

/// A place for records, each with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bucket {
    /// Campaigns that are under way, by their names.
    Campaigns,
    /// What is known about work that came back.
    Notes,
    /// What workers say about themselves.
    Workers,
}

/// A record of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its key.
    pub key: String,
    /// Grows with each change of the bucket.
    pub revision: u64,
    /// How long ago it was written, by the server's clock.
    pub age: Duration,
    /// What it says.
    pub message: Vec<u8>,
}

/// Messages of a campaign, each of which is given to one reader at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Work, read by workers.
    Work,
    /// What came out of it, read by the submitter.
    Results,
}

/// A message to be stored. The server takes a name once within two minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its name.
    pub name: String,
    /// What it says.
    pub message: Vec<u8>,
}

/// A message that was given to us, for as long as the lease.
pub struct Delivery {
    /// What it says.
    pub message: Vec<u8>,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its number in the stream.
    pub number: u64,
    /// How often it was given to a reader, this time included.
    pub times: i64,
    /// The way to tell the server what becomes of it.
    pub receipt: Arc<dyn Receipt>,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// It is removed.
    Done,
    /// Its lease begins again.
    StillAtIt,
    /// It goes to another reader at once.
    GiveBack,
    /// It is removed without being done.
    SetAside,
}

/// Tells the server what becomes of a message. Nothing says that this has arrived: what got lost is as if
/// it had never been said.
pub trait Receipt: Send + Sync {
    /// Says so.
    fn settle(&self, settlement: Settlement);
}

/// What the server has of a stream of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Messages that wait for a reader.
    pub waiting: u64,
    /// Messages that readers have a lease for.
    pub leased: u64,
    /// Readers that wait for a message.
    pub readers: u64,
    /// Messages under a lease that were given to a reader before.
    pub again: u64,
}

/// What there is under the name of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// All of it.
    Whole(Vec<u8>),
    /// There is none, or some of it is missing, changed or impossible.
    Lost,
}

/// A server that machines share.
pub trait Transport: Send + Sync {
    /// The time that everything here is measured by.
    fn clock(&self) -> Arc<dyn Clock>;

    /// A name that nothing else has.
    fn fresh_name(&self) -> String {
        random_name()
    }

    /// Makes the streams, buckets and stores that are missing.
    fn furnish(&self) -> Result<(), TransportError>;

    /// A record, if it is there.
    fn get(&self, bucket: Bucket, key: &str) -> Result<Option<Record>, TransportError>;

    /// Writes a record.
    fn put(&self, bucket: Bucket, key: &str, message: &[u8]) -> Result<(), TransportError>;

    /// Removes a record, if it is there.
    fn remove(&self, bucket: Bucket, key: &str) -> Result<(), TransportError>;

    /// All records of a bucket, in the order of their keys.
    fn list(&self, bucket: Bucket) -> Result<Vec<Record>, TransportError>;

    /// Lets readers take messages of a campaign; each has a lease of this length.
    fn open(&self, stream: Stream, job: &str, lease: Duration) -> Result<(), TransportError>;

    /// Stores messages; for each, whether its name was new.
    fn publish(
        &self,
        stream: Stream,
        job: &str,
        messages: &[Outgoing],
    ) -> Result<Vec<bool>, TransportError>;

    /// Takes messages, at most so many. Waits for so long until there is one.
    fn take(
        &self,
        stream: Stream,
        job: &str,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<Delivery>, TransportError>;

    /// How much there is.
    fn backlog(&self, stream: Stream, job: &str) -> Result<Backlog, TransportError>;

    /// Keeps a dead letter of a campaign. The server takes a name once.
    fn file(&self, job: &str, letter: &Outgoing) -> Result<(), TransportError>;

    /// The dead letters of a campaign.
    fn letters(&self, job: &str) -> Result<Vec<Vec<u8>>, TransportError>;

    /// How many dead letters each campaign has that has any.
    fn letter_counts(&self) -> Result<Vec<(String, u64)>, TransportError>;

    /// Removes a campaign and its work: workers leave.
    fn end(&self, job: &str) -> Result<(), TransportError>;

    /// Removes everything else of a campaign, dead letters aside.
    fn clear(&self, job: &str) -> Result<(), TransportError>;

    /// Keeps an object. The name of the campaign and a point come first in its name.
    fn put_object(&self, name: &str, content: &[u8]) -> Result<(), TransportError>;

    /// Is there a complete object of this length?
    fn has_object(&self, name: &str, length: usize) -> Result<bool, TransportError>;

    /// An object of at most so many bytes, however long it takes as long as some of it comes.
    fn object(&self, name: &str, most: usize) -> Result<Object, TransportError>;

    /// Removes objects, as far as that works. The server gives up the rest after some days.
    fn remove_objects(&self, names: &[String]);
}

/// 22 characters that no other machine draws.
fn random_name() -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut name = String::new();
    // Each state has random keys of its own, made from the system's randomness.
    for _ in 0..2 {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        let mut number = hasher.finish();
        for _ in 0..11 {
            name.push(char::from(LETTERS[(number % 32) as usize]));
            number /= 32;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_different_and_can_be_keys() {
        let names: HashSet<String> = (0..1000).map(|_| random_name()).collect();
        assert_eq!(names.len(), 1000);
        let is_plain = |name: &String| name.chars().all(|char| char.is_ascii_alphanumeric());
        assert!(names.iter().all(|name| name.len() == 22 && is_plain(name)));
    }
}
