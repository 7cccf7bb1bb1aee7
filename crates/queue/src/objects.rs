//! What is too large for a message: findings, and what workers of a campaign need. Objects of a campaign
//! begin with its name, so that they are cleared away with it.

use std::time::Duration;

use tokio::io::AsyncReadExt;

use crate::error::Error;
use crate::job::Job;
use crate::link::{Hub, Link, text};

/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(60);

impl Link {
    /// Keeps something for the workers of a campaign, as long as the campaign lasts.
    pub fn keep(&self, job: &Job, name: &str, content: &[u8]) -> Result<(), Error> {
        let (hub, object) = (self.hub(), object(job, name));
        self.block(hub.insist("keep an object", PATIENCE, || put(hub, &object, content)))
    }

    /// What was kept for them.
    pub fn kept(&self, job: &Job, name: &str) -> Result<Vec<u8>, Error> {
        let (hub, object) = (self.hub(), object(job, name));
        self.block(hub.insist("fetch an object", PATIENCE / 4, || fetch(hub, &object)))
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

pub(crate) async fn fetch(hub: &Hub, object: &str) -> Result<Vec<u8>, String> {
    let store = hub.jetstream.get_object_store(hub.address.parcels()).await.map_err(text)?;
    let mut content = Vec::new();
    store.get(object).await.map_err(text)?.read_to_end(&mut content).await.map_err(text)?;
    Ok(content)
}
