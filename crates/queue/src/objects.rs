//! What is too large for a message: what workers of a campaign need. Objects of a campaign begin with its
//! name, so that they are cleared away with it.

use std::time::Duration;

use crate::error::Error;
use crate::job::Job;
use crate::link::Link;
use crate::transport::{Object, TransportError};

/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most bytes of an object: a Go module has at most 256 MB.
const MOST: usize = 300 << 20;

impl Link {
    /// Keeps something for the workers of a campaign, as long as the campaign lasts, unless it is there
    /// and complete. The name stands for the content.
    pub fn keep(&self, job: &Job, name: &str, content: &[u8]) -> Result<(), Error> {
        let (transport, object) = (self.transport(), object(job, name));
        if transport.has_object(&object, content.len()).unwrap_or(false) {
            return Ok(());
        }
        self.insist("keep an object", PATIENCE, || transport.put_object(&object, content))
    }

    /// What was kept for them.
    pub fn kept(&self, job: &Job, name: &str) -> Result<Vec<u8>, Error> {
        let object = object(job, name);
        let fetch = || self.transport().object(&object, MOST);
        match self.insist("fetch an object", PATIENCE / 4, fetch)? {
            Object::Whole(content) => Ok(content),
            Object::Lost => {
                let why = format!("the object {object} is missing or incomplete");
                Err(self.failed("fetch an object", TransportError::NotFound(why)))
            }
        }
    }
}

fn object(job: &Job, name: &str) -> String {
    format!("{}.{name}", job.id)
}
