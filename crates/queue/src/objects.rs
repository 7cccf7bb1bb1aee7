//! What is too large for a message: findings, and what workers of a campaign need. Objects of a campaign
//! begin with its name, so that they are cleared away with it.

use std::time::Duration;

use async_nats::jetstream::object_store::GetErrorKind;
use tokio::io::AsyncReadExt;

use crate::error::Error;
use crate::job::Job;
use crate::link::{Hub, Link, text};

/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take until more of an object comes.
const PIECE: Duration = Duration::from_secs(20);
/// What a slow network carries in a second.
const BYTES: u64 = 50_000;

impl Link {
    /// Keeps something for the workers of a campaign, as long as the campaign lasts.
    pub fn keep(&self, job: &Job, name: &str, content: &[u8]) -> Result<(), Error> {
        let (hub, object) = (self.hub(), object(job, name));
        let limit = PIECE + Duration::from_secs(content.len() as u64 / BYTES);
        let keep = || put(hub, &object, content);
        self.block(hub.transfer(&|| false, "keep an object", PATIENCE, limit, keep))
    }

    /// What was kept for them.
    pub fn kept(&self, job: &Job, name: &str, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, Error> {
        let (hub, object) = (self.hub(), object(job, name));
        let fetch = || async {
            fetch(hub, &object).await?.ok_or_else(|| format!("there is no object {object}"))
        };
        self.block(hub.transfer(stop, "fetch an object", PATIENCE / 4, Duration::MAX, fetch))
    }
}

fn object(job: &Job, name: &str) -> String {
    format!("{}.{name}", job.id)
}

pub(crate) async fn put(hub: &Hub, object: &str, content: &[u8]) -> Result<(), String> {
    let store = hub.jetstream.get_object_store(hub.address.parcels()).await.map_err(text)?;
    let mut content = content;
    store.put(object, &mut content).await.map(drop).map_err(text)
}

/// An object, however long it takes as long as some of it comes; `None` if there is none of this name.
pub(crate) async fn fetch(hub: &Hub, object: &str) -> Result<Option<Vec<u8>>, String> {
    let store = hub.jetstream.get_object_store(hub.address.parcels()).await.map_err(text)?;
    let mut reader = match store.get(object).await {
        Ok(reader) => reader,
        Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(text(error)),
    };
    let (mut content, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let read = tokio::time::timeout(PIECE, reader.read(&mut piece)).await;
        match read.map_err(|_| "no answer".to_owned())?.map_err(text)? {
            0 => return Ok(Some(content)),
            length => content.extend_from_slice(&piece[..length]),
        }
    }
}

/// Removes objects; what is left of them is given up by the server after some days.
pub(crate) async fn remove(hub: &Hub, objects: Vec<String>) {
    let Ok(store) = hub.jetstream.get_object_store(hub.address.parcels()).await else { return };
    for object in objects {
        let _ = store.delete(&object).await;
    }
}
