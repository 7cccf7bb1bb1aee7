//! Somebody who may write to a queue and does so: garbage, forged and changed messages, lost pieces of
//! objects. In: the address of a queue. Out: what Strait has to survive.

use std::time::{Duration, Instant};

use async_nats::jetstream::{self, stream};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::runtime::{Builder, Runtime};

/// A connection of its own to the server of a queue.
pub struct Vandal {
    runtime: Runtime,
    jetstream: jetstream::Context,
    queue: String,
}

impl Vandal {
    /// For a queue, `nats://HOST:PORT/NAME`.
    pub fn at(address: &str) -> Vandal {
        let (server, queue) = address.rsplit_once('/').expect("an address");
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let client = runtime.block_on(async_nats::connect(server)).expect("the server is there");
        let inside = runtime.enter();
        let jetstream = jetstream::new(client);
        drop(inside);
        Vandal { runtime, jetstream, queue: queue.to_owned() }
    }

    /// The campaign in the queue, as soon as there is one.
    pub fn job(&self) -> String {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let bucket = format!("STRAIT_{}_JOBS", self.queue);
            let key = self.runtime.block_on(async {
                let jobs = self.jetstream.get_key_value(bucket).await.ok()?;
                jobs.keys().await.ok()?.next().await?.ok()
            });
            if let Some(key) = key {
                return key;
            }
            assert!(Instant::now() < deadline, "no campaign is announced");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn work(&self, job: &str, message: &[u8]) {
        self.publish(&format!("strait.{}.work.{job}", self.queue), message);
    }

    pub fn result(&self, job: &str, message: &[u8]) {
        self.publish(&format!("strait.{}.result.{job}", self.queue), message);
    }

    pub fn announce(&self, job: &str, message: &[u8]) {
        self.publish(&format!("$KV.STRAIT_{}_JOBS.{job}", self.queue), message);
    }

    pub fn publish(&self, subject: &str, message: &[u8]) {
        let payload = Bytes::copy_from_slice(message);
        let stored = self.runtime.block_on(async {
            let sent = self.jetstream.publish(subject.to_owned(), payload).await.ok()?;
            sent.await.ok()
        });
        // The stream may just be gone.
        let _ = stored;
    }

    /// Removes all pieces of all objects; how many there were.
    pub fn lose_pieces(&self) -> u64 {
        let bucket = format!("STRAIT_{}_FINDINGS", self.queue);
        self.runtime.block_on(async {
            let stream = self.jetstream.get_stream(format!("OBJ_{bucket}")).await.expect("there");
            let purged = stream.purge().filter(format!("$O.{bucket}.C.>")).await;
            purged.expect("purged").purged
        })
    }

    /// The names of everything that belongs to the queue and travels.
    pub fn streams(&self) -> [String; 5] {
        let queue = &self.queue;
        [
            format!("STRAIT_{queue}_WORK"),
            format!("STRAIT_{queue}_RESULTS"),
            format!("OBJ_STRAIT_{queue}_FINDINGS"),
            format!("KV_STRAIT_{queue}_JOBS"),
            format!("KV_STRAIT_{queue}_NOTES"),
        ]
    }

    /// Some message of a stream: its number, subject and payload.
    pub fn some(&self, stream: &str, dice: u64) -> Option<(u64, String, Vec<u8>)> {
        self.runtime.block_on(async {
            let stream = self.jetstream.get_stream(stream).await.ok()?;
            let stream::State { messages, first_sequence, last_sequence, .. } =
                stream.cached_info().state;
            if messages == 0 {
                return None;
            }
            let number = first_sequence + dice % (last_sequence - first_sequence + 1);
            let message = stream.get_raw_message(number).await.ok()?;
            Some((number, message.subject.to_string(), message.payload.to_vec()))
        })
    }

    /// Removes a message, if that is allowed.
    pub fn remove(&self, stream: &str, number: u64) {
        self.runtime.block_on(async {
            if let Ok(stream) = self.jetstream.get_stream(stream).await {
                // Buckets do not allow it, and it may be gone.
                let _ = stream.delete_message(number).await;
            }
        });
    }
}
