//! Objects in JetStream's object store. The server keeps an object in pieces (chunks), any of which may be
//! lost.

use std::io::ErrorKind;
use std::time::Duration;

use async_nats::jetstream::object_store::{GetErrorKind, InfoErrorKind, ObjectStore};
use futures_util::{StreamExt, TryStreamExt};
use tokio::io::AsyncReadExt;

use crate::transport::nats::Hub;
use crate::transport::nats_errors::{meaning, no_answer};
use crate::transport::{Object, TransportError};

/// How long it may take until more of an object comes.
pub(super) const PIECE: Duration = Duration::from_secs(20);
/// What a slow network carries in a second.
const BYTES: u64 = 50_000;

impl Hub {
    async fn objects(&self) -> Result<ObjectStore, TransportError> {
        self.jetstream.get_object_store(self.address.parcels()).await.map_err(meaning)
    }

    pub(super) async fn put_object(
        &self,
        name: &str,
        content: &[u8],
    ) -> Result<(), TransportError> {
        let limit = PIECE + Duration::from_secs(content.len() as u64 / BYTES);
        let mut content = content;
        let store = self.objects().await?;
        let put = tokio::time::timeout(limit, store.put(name, &mut content)).await;
        put.map_err(no_answer)?.map(drop).map_err(meaning)
    }

    /// Is there an object of this name and length, with all its pieces?
    pub(super) async fn has_object(
        &self,
        name: &str,
        length: usize,
    ) -> Result<bool, TransportError> {
        let Ok(info) = self.objects().await?.info(name).await else { return Ok(false) };
        let is_there = !info.deleted && info.size == length;
        Ok(is_there && self.pieces(&info.nuid).await? == info.chunks)
    }

    /// How many pieces of an object the server has.
    async fn pieces(&self, object: &str) -> Result<usize, TransportError> {
        let bucket = self.address.parcels();
        let stream = self.jetstream.get_stream(format!("OBJ_{bucket}")).await.map_err(meaning)?;
        let subject = format!("$O.{bucket}.C.{object}");
        let subjects = stream.info_with_subjects(subject).await.map_err(meaning)?;
        subjects.try_fold(0, async |sum, (_, count)| Ok(sum + count)).await.map_err(meaning)
    }

    /// An object of at most so many bytes, however long it takes as long as some of it comes.
    pub(super) async fn object(&self, name: &str, most: usize) -> Result<Object, TransportError> {
        let store = self.objects().await?;
        let mut reader = match store.get(name).await {
            Ok(reader) => reader,
            Err(error) if is_away(&store, error.kind()).await => return Err(meaning(error)),
            Err(_) => return Ok(Object::Lost),
        };
        let (size, chunks, nuid) =
            (reader.info().size, reader.info().chunks, reader.info().nuid.clone());
        // Without its pieces, reading would wait for them forever.
        if size > most || self.pieces(&nuid).await? != chunks {
            return Ok(Object::Lost);
        }
        let (mut content, mut piece) = (Vec::new(), vec![0; 1 << 16]);
        while content.len() <= most {
            let read = tokio::time::timeout(PIECE, reader.read(&mut piece)).await;
            match read.map_err(no_answer)? {
                Ok(0) if content.len() == size => return Ok(Object::Whole(content)),
                Ok(0) => break,
                Ok(length) => content.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::InvalidData => break,
                Err(error) => return Err(meaning(error)),
            }
        }
        Ok(Object::Lost)
    }

    /// The names of all objects that begin with this.
    pub(super) async fn objects_of(&self, prefix: &str) -> Result<Vec<String>, TransportError> {
        let store = self.objects().await?;
        let mut objects = store.list().await.map_err(meaning)?;
        let mut ours = Vec::new();
        while let Some(object) = objects.next().await {
            let name = object.ok().map(|object| object.name);
            ours.extend(name.filter(|name| name.starts_with(prefix)));
        }
        Ok(ours)
    }

    pub(super) async fn remove_objects(&self, names: &[String]) {
        let Ok(store) = self.objects().await else { return };
        for name in names {
            let _ = store.delete(name).await;
        }
    }
}

/// Does the server fail, and not the object? What says what an object is may itself be damaged; then the
/// server still answers other questions.
async fn is_away(store: &ObjectStore, kind: GetErrorKind) -> bool {
    match kind {
        GetErrorKind::NotFound | GetErrorKind::InvalidName | GetErrorKind::BucketLink => false,
        _ => !matches!(
            store.info("strait-is-there").await.map_err(|error| error.kind()),
            Ok(_) | Err(InfoErrorKind::NotFound)
        ),
    }
}
