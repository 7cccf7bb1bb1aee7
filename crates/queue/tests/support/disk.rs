//! What the server in memory stores.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use strait_queue::{Bucket, Outgoing, Stream};

/// A record of a bucket.
pub struct Stored {
    pub revision: u64,
    pub at: Duration,
    pub message: Vec<u8>,
}

/// A message of a queue.
pub struct Queued {
    pub name: Option<String>,
    pub message: Vec<u8>,
    pub times: i64,
    pub leased: Option<Duration>,
}

/// The messages of a stream for one campaign.
#[derive(Default)]
pub struct Queue {
    /// The length of a lease; `None` while no reader may take anything.
    pub lease: Option<Duration>,
    pub messages: BTreeMap<u64, Queued>,
    /// Until when each reader waits.
    pub readers: Vec<Duration>,
}

impl Queue {
    pub fn is_free(message: &Queued, now: Duration) -> bool {
        message.leased.is_none_or(|until| until <= now)
    }

    pub fn free(&self, now: Duration) -> usize {
        self.messages.values().filter(|message| Queue::is_free(message, now)).count()
    }
}

/// What a server has on its disk.
#[derive(Default)]
pub struct Disk {
    pub is_furnished: bool,
    pub revision: u64,
    pub buckets: BTreeMap<(Bucket, String), Stored>,
    pub queues: BTreeMap<(Stream, String), Queue>,
    pub names: HashMap<String, Duration>,
    pub objects: BTreeMap<String, Option<Vec<u8>>>,
    pub letters: BTreeMap<String, Vec<Outgoing>>,
}
