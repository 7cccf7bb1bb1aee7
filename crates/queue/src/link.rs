//! A connection to a queue: its transport, and how often it is asked again when the server does not
//! answer.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::activity::Activity;
use crate::address::Address;
use crate::clock::Clock;
use crate::credentials::Credentials;
use crate::error::Error;
use crate::job::Job;
use crate::message::Poison;
use crate::shutdown::Shutdown;
use crate::transport::{Bucket, Transport, TransportError};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(250);
/// How long it may take to read the campaigns.
const READING: Duration = Duration::from_secs(5);

/// A campaign that this version does not understand: its name and why.
pub type Foreign = (String, Poison);

/// A connection.
#[derive(Clone)]
pub struct Link {
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    address: Arc<Address>,
    trouble: Arc<Mutex<Option<String>>>,
    activity: Arc<Activity>,
    shutdown: Arc<Shutdown>,
}

impl Link {
    /// Connects through NATS, and makes what is missing there. A server that does not answer is asked
    /// again for so long. Soon after the flag `stop` is set, all calls end.
    #[cfg(feature = "nats")]
    pub fn open(
        address: &Address,
        credentials: &Credentials,
        patience: Duration,
        stop: &Arc<AtomicBool>,
    ) -> Result<Link, Error> {
        use crate::transport::nats::Nats;
        let shutdown = Shutdown::new(stop);
        let transport = Nats::connect(address, credentials, patience, &shutdown)?;
        let link = Link { shutdown, ..Link::over(transport, address) };
        // Making a stream takes longer than a question.
        let patience = patience.max(READING * 2);
        let furnished = link.insist("make a stream", patience, || link.transport.furnish());
        match furnished {
            Err(Error::Server { address, why, .. }) => Err(Error::without_jetstream(address, why)),
            Err(other) => Err(other),
            Ok(()) => Ok(link),
        }
    }

    /// This build has no queue.
    #[cfg(not(feature = "nats"))]
    pub fn open(
        _: &Address,
        _: &Credentials,
        _: Duration,
        _: &Arc<AtomicBool>,
    ) -> Result<Link, Error> {
        Err(Error::NotBuilt)
    }

    /// A connection over a transport that has everything it needs.
    pub fn over(transport: Arc<dyn Transport>, address: &Address) -> Link {
        let clock = transport.clock();
        Link {
            activity: Arc::new(Activity::new(clock.now())),
            transport,
            clock,
            address: Arc::new(address.clone()),
            trouble: Arc::default(),
            shutdown: Arc::default(),
        }
    }

    /// A name that nothing else has.
    pub fn fresh_name(&self) -> String {
        self.transport.fresh_name()
    }

    /// The queue.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Why results of ours have not been taken for a while, if that is so.
    pub fn trouble(&self) -> Option<String> {
        self.troubled().clone()
    }

    /// What this process has done through the connection.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    pub(crate) fn troubled(&self) -> MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        self.transport.as_ref()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// How long ago this moment was.
    pub(crate) fn since(&self, moment: Duration) -> Duration {
        self.clock.now().saturating_sub(moment)
    }

    /// Does something beside everything else.
    pub(crate) fn beside(&self, name: &str, task: impl FnOnce(&Link) + Send + 'static) {
        let link = self.clone();
        self.clock.spawn(name, Box::new(move || task(&link)));
    }

    /// The campaigns that are under way, as far as this version understands them, and the others'
    /// names with the reason.
    pub fn jobs(&self) -> Result<(Vec<Job>, Vec<Foreign>), Error> {
        let list = || self.transport.list(Bucket::Campaigns);
        let records = self.insist("read the campaigns", READING, list)?;
        let (mut jobs, mut others) = (Vec::new(), Vec::new());
        for record in records {
            match Job::read(&record.message, &record.key) {
                Ok(job) => jobs.push(job),
                Err(poison) => others.push((record.key, poison)),
            }
        }
        Ok((jobs, others))
    }

    pub(crate) fn failed(&self, action: &'static str, error: TransportError) -> Error {
        let (address, why) = (self.address.to_string(), error.to_string());
        match error {
            TransportError::Full(_) => Error::Full { address, action, why },
            TransportError::NotEnabled(_) => Error::without_jetstream(address, why),
            TransportError::Away(_) | TransportError::NotFound(_) | TransportError::Refused(_) => {
                Error::Server { address, action, why }
            }
        }
    }

    /// Is no call made any more, since this process is about to end?
    pub(crate) fn is_over(&self) -> bool {
        self.shutdown.is_over()
    }

    /// Asks again and again, for so long.
    pub(crate) fn insist<T>(
        &self,
        action: &'static str,
        patience: Duration,
        mut attempt: impl FnMut() -> Result<T, TransportError>,
    ) -> Result<T, Error> {
        let begun = self.clock.now();
        loop {
            match attempt() {
                Ok(value) => return Ok(value),
                Err(error)
                    if !error.passes() || self.since(begun) >= patience || self.is_over() =>
                {
                    return Err(self.failed(action, error));
                }
                Err(_) => self.clock.sleep(PAUSE),
            }
        }
    }
}
