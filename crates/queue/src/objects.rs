//! What is too large for a message: findings, and what workers of a campaign need. Objects of a campaign
//! begin with its name, so that they are cleared away with it. The server keeps an object in pieces
//! (chunks), any of which may be lost.

use std::io::ErrorKind;
use std::time::Duration;

use async_nats::jetstream::object_store::{GetErrorKind, ObjectStore};
use futures_util::TryStreamExt;
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
/// The most bytes of an object: a Go module has at most 256 MB.
const MOST: usize = 300 << 20;

/// What there is under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// All of it.
    Whole(Vec<u8>),
    /// There is none, or some of it is missing, changed or impossible.
    Lost,
}

impl Link {
    /// Keeps something for the workers of a campaign, as long as the campaign lasts, unless it is there
    /// and complete. The name stands for the content.
    pub fn keep(&self, job: &Job, name: &str, content: &[u8]) -> Result<(), Error> {
        let (hub, object) = (self.hub(), object(job, name));
        if self.block(is_whole(hub, &object, content.len())).unwrap_or(false) {
            return Ok(());
        }
        let limit = PIECE + Duration::from_secs(content.len() as u64 / BYTES);
        let keep = || put(hub, &object, content);
        self.block(hub.transfer(&|| false, "keep an object", PATIENCE, limit, keep))
    }

    /// What was kept for them.
    pub fn kept(&self, job: &Job, name: &str, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, Error> {
        let (hub, object) = (self.hub(), object(job, name));
        let fetch = || fetch(hub, &object, MOST);
        let fetched = hub.transfer(stop, "fetch an object", PATIENCE / 4, Duration::MAX, fetch);
        match self.block(fetched)? {
            Object::Whole(content) => Ok(content),
            Object::Lost => Err(hub.failed(
                "fetch an object",
                format!("the object {object} is missing or incomplete"),
            )),
        }
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

/// Is there an object of this name and length, with all its pieces?
async fn is_whole(hub: &Hub, object: &str, length: usize) -> Result<bool, String> {
    let store = hub.jetstream.get_object_store(hub.address.parcels()).await.map_err(text)?;
    let Ok(info) = store.info(object).await else { return Ok(false) };
    Ok(!info.deleted && info.size == length && pieces(hub, &info.nuid).await? == info.chunks)
}

/// How many pieces of an object the server has.
async fn pieces(hub: &Hub, object: &str) -> Result<usize, String> {
    let bucket = hub.address.parcels();
    let stream = hub.jetstream.get_stream(format!("OBJ_{bucket}")).await.map_err(text)?;
    let subject = format!("$O.{bucket}.C.{object}");
    let subjects = stream.info_with_subjects(subject).await.map_err(text)?;
    subjects.try_fold(0, async |sum, (_, count)| Ok(sum + count)).await.map_err(text)
}

/// An object of at most so many bytes, however long it takes as long as some of it comes.
pub(crate) async fn fetch(hub: &Hub, object: &str, most: usize) -> Result<Object, String> {
    let store = hub.jetstream.get_object_store(hub.address.parcels()).await.map_err(text)?;
    let mut reader = match store.get(object).await {
        Ok(reader) => reader,
        Err(error) if is_away(&store, error.kind()).await => return Err(text(error)),
        Err(_) => return Ok(Object::Lost),
    };
    let (size, chunks, nuid) =
        (reader.info().size, reader.info().chunks, reader.info().nuid.clone());
    // Without its pieces, reading would wait for them forever.
    if size > most || pieces(hub, &nuid).await? != chunks {
        return Ok(Object::Lost);
    }
    let (mut content, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    while content.len() <= most {
        let read = tokio::time::timeout(PIECE, reader.read(&mut piece)).await;
        match read.map_err(|_| "no answer".to_owned())? {
            Ok(0) if content.len() == size => return Ok(Object::Whole(content)),
            Ok(0) => break,
            Ok(length) => content.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::InvalidData => break,
            Err(error) => return Err(text(error)),
        }
    }
    Ok(Object::Lost)
}

/// Does the server fail, and not the object? What says what an object is may itself be damaged; then the
/// server still answers other questions.
async fn is_away(store: &ObjectStore, kind: GetErrorKind) -> bool {
    match kind {
        GetErrorKind::NotFound | GetErrorKind::InvalidName | GetErrorKind::BucketLink => false,
        _ => !matches!(
            store.info("strait-is-there").await.map_err(|error| error.kind()),
            Ok(_) | Err(async_nats::jetstream::object_store::InfoErrorKind::NotFound)
        ),
    }
}

/// Removes objects; what is left of them is given up by the server after some days.
pub(crate) async fn remove(hub: &Hub, objects: Vec<String>) {
    let Ok(store) = hub.jetstream.get_object_store(hub.address.parcels()).await else { return };
    for object in objects {
        let _ = store.delete(&object).await;
    }
}
