//! A server in the process of the test: it keeps what JetStream keeps, by the same rules, and fails on
//! request. Requests, answers and deliveries get lost, messages come twice, the server is away, has no
//! room, or loses everything it had; and anyone may write anything into it. In: a clock and a number that
//! decides what fails. Out: a [`Transport`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use strait_queue::{
    Backlog, Bucket, Clock, Delivery, Object, Outgoing, Receipt, Record, Settlement, Stream,
    Transport, TransportError,
};

use crate::disk::{Disk, Queue, Queued, Stored};

/// How long the server knows the names of messages.
const DUPLICATES: Duration = Duration::from_secs(120);
/// How long a question takes that nobody answers.
const UNANSWERED: Duration = Duration::from_secs(2);

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Of a thousand requests, so many get lost on their way to the server.
    pub lost_requests: u64,
    /// Of a thousand answers, so many get lost: the server has done it, and the client does not know.
    pub lost_answers: u64,
    /// Of a thousand messages that the server gives to a reader, so many get lost.
    pub lost_deliveries: u64,
    /// Of a thousand messages that the server gives to a reader, so many are given to another one, too.
    pub repeated: u64,
    /// The longest way of a request or an answer.
    pub latency: Duration,
    /// The server stores nothing more.
    pub is_full: bool,
}

/// Where anyone may change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Messages of a stream.
    Stream(Stream),
    /// Records of a bucket.
    Bucket(Bucket),
    /// Objects.
    Objects,
}

/// The server.
pub struct MemoryServer {
    clock: Arc<dyn Clock>,
    own: Weak<MemoryServer>,
    disk: Mutex<Disk>,
    faults: Mutex<Faults>,
    away: Mutex<Duration>,
    /// How far its own clock is ahead of the time that passes.
    ahead: Mutex<Duration>,
    /// Nothing that it gives to readers arrives before this time.
    cut_off: Mutex<Duration>,
    dice: AtomicU64,
    names: AtomicU64,
}

/// What a server's clock is ahead at first, so that it can be set back.
const AHEAD: Duration = Duration::from_secs(24 * 3600);

impl MemoryServer {
    /// A new one, which fails as this number decides.
    pub fn new(clock: Arc<dyn Clock>, seed: u64) -> Arc<MemoryServer> {
        Arc::new_cyclic(|own| MemoryServer {
            clock,
            own: own.clone(),
            disk: Mutex::default(),
            faults: Mutex::default(),
            away: Mutex::default(),
            ahead: Mutex::new(AHEAD),
            cut_off: Mutex::default(),
            dice: AtomicU64::new(seed ^ 0x5bd1_e995),
            names: AtomicU64::new(0),
        })
    }

    /// From now on this goes wrong.
    pub fn fail(&self, faults: Faults) {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner) = faults;
    }

    /// It does not answer for so long.
    pub fn stay_away(&self, time: Duration) {
        *self.away.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.now() + time;
    }

    /// Its clock is set forward by so much, or back: leases, ages and the names of messages are measured by it.
    pub fn set_clock(&self, by: Duration, is_forward: bool) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        *ahead = if is_forward { *ahead + by } else { ahead.saturating_sub(by) };
    }

    /// It takes its readers for too slow, and drops what it gives to them in this time.
    pub fn cut_readers_off(&self, time: Duration) {
        let until = self.clock.now() + time;
        *self.cut_off.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// It loses everything.
    pub fn wipe(&self) {
        *self.disk() = Disk::default();
        self.clock.wake();
    }

    /// The names of what is at a place: campaigns of streams with the numbers of their messages, keys,
    /// objects; and what each says.
    pub fn look_into(&self, place: Place) -> Vec<(String, u64, Vec<u8>)> {
        let disk = self.disk();
        match place {
            Place::Stream(stream) => (disk.queues.iter())
                .filter(|((one, _), _)| *one == stream)
                .flat_map(|((_, job), queue)| {
                    let told = |(number, queued): (&u64, &Queued)| {
                        (job.clone(), *number, queued.message.clone())
                    };
                    queue.messages.iter().map(told)
                })
                .collect(),
            Place::Bucket(bucket) => (disk.buckets.iter())
                .filter(|((one, _), _)| *one == bucket)
                .map(|((_, key), stored)| (key.clone(), stored.revision, stored.message.clone()))
                .collect(),
            Place::Objects => (disk.objects.iter())
                .filter_map(|(name, content)| Some((name.clone(), 0, content.clone()?)))
                .collect(),
        }
    }

    /// Writes something, as anyone may who has a connection.
    pub fn write(&self, place: Place, name: &str, message: Vec<u8>) {
        let mut disk = self.disk();
        disk.revision += 1;
        let (revision, at) = (disk.revision, self.own_time());
        match place {
            Place::Stream(stream) => {
                let queued = Queued { name: None, message, times: 0, leased: None };
                let queue = disk.queues.entry((stream, name.to_owned())).or_default();
                queue.messages.insert(revision, queued);
            }
            Place::Bucket(bucket) => {
                let stored = Stored { revision, at, message };
                disk.buckets.insert((bucket, name.to_owned()), stored);
            }
            Place::Objects => {
                disk.objects.insert(name.to_owned(), Some(message));
            }
        }
        drop(disk);
        self.clock.wake();
    }

    /// Removes a message of a stream, or loses a piece of an object.
    pub fn lose(&self, place: Place, name: &str, number: u64) {
        let mut disk = self.disk();
        match place {
            Place::Stream(stream) => {
                if let Some(queue) = disk.queues.get_mut(&(stream, name.to_owned())) {
                    queue.messages.remove(&number);
                }
            }
            Place::Bucket(bucket) => {
                disk.buckets.remove(&(bucket, name.to_owned()));
            }
            Place::Objects => {
                disk.objects.insert(name.to_owned(), None);
            }
        }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn faults(&self) -> Faults {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time by its own clock.
    fn own_time(&self) -> Duration {
        self.clock.now() + *self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_away(&self) -> bool {
        self.clock.now() < *self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, most: u64) -> u64 {
        let next = |dice: u64| {
            Some(
                dice.wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407),
            )
        };
        let dice = self.dice.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next);
        (dice.unwrap_or_default() >> 33) % most.max(1)
    }

    fn happens(&self, of_a_thousand: u64) -> bool {
        of_a_thousand > 0 && self.draw(1000) < of_a_thousand
    }

    /// The way of a request or an answer.
    fn travel(&self) {
        let most = u64::try_from(self.faults().latency.as_micros()).unwrap_or(u64::MAX);
        self.clock.sleep(Duration::from_micros(self.draw(most.saturating_add(1))));
    }

    /// A request and its answer.
    fn ask<T>(
        &self,
        answer: impl FnOnce(&mut Disk, Duration) -> Result<T, TransportError>,
    ) -> Result<T, TransportError> {
        let away = || {
            self.clock.sleep(UNANSWERED);
            Err(TransportError::Away("no answer".to_owned()))
        };
        self.travel();
        if !self.clock.is_alive() {
            return Err(TransportError::Away("killed".to_owned()));
        }
        if self.is_away() || self.happens(self.faults().lost_requests) {
            return away();
        }
        let answered = answer(&mut self.disk(), self.own_time());
        self.clock.wake();
        self.travel();
        if self.happens(self.faults().lost_answers) {
            return away();
        }
        answered
    }

    /// The same, if it stores something.
    fn store<T>(
        &self,
        answer: impl FnOnce(&mut Disk, Duration) -> Result<T, TransportError>,
    ) -> Result<T, TransportError> {
        let is_full = self.faults().is_full;
        self.ask(|disk, now| {
            furnished(disk)?;
            match is_full {
                true => Err(TransportError::Full("no room".to_owned())),
                false => answer(disk, now),
            }
        })
    }

    fn settle(&self, stream: Stream, job: &str, number: u64, settlement: Settlement) {
        // Nobody waits for an answer.
        let _ = self.ask(|disk, now| {
            let Some(queue) = disk.queues.get_mut(&(stream, job.to_owned())) else { return Ok(()) };
            match settlement {
                Settlement::Done | Settlement::SetAside => drop(queue.messages.remove(&number)),
                Settlement::GiveBack | Settlement::StillAtIt => {
                    let lease = queue.lease.unwrap_or_default();
                    if let Some(queued) = queue.messages.get_mut(&number) {
                        let is_kept = settlement == Settlement::StillAtIt;
                        queued.leased = is_kept.then(|| now + lease);
                    }
                }
            }
            Ok(())
        });
    }

    /// Messages that can be given to a reader now.
    fn give(&self, stream: Stream, job: &str, most: usize) -> Vec<Delivery> {
        let now = self.own_time();
        let mut disk = self.disk();
        let Some(queue) = disk.queues.get_mut(&(stream, job.to_owned())) else { return Vec::new() };
        let Some(lease) = queue.lease else { return Vec::new() };
        let mut given = Vec::new();
        for (number, queued) in &mut queue.messages {
            if given.len() == most || !Queue::is_free(queued, now) {
                continue;
            }
            queued.times += 1;
            let is_repeated = self.happens(self.faults().repeated);
            queued.leased = (!is_repeated).then(|| now + lease);
            let receipt =
                Handle { server: self.own.clone(), stream, job: job.to_owned(), number: *number };
            given.push(Delivery {
                message: queued.message.clone(),
                name: queued.name.clone(),
                number: *number,
                times: queued.times,
                receipt: Arc::new(receipt),
            });
        }
        given.retain(|_| !self.happens(self.faults().lost_deliveries));
        if self.clock.now() < *self.cut_off.lock().unwrap_or_else(PoisonError::into_inner) {
            given.clear();
        }
        given
    }
}

/// The way back to a message.
struct Handle {
    server: Weak<MemoryServer>,
    stream: Stream,
    job: String,
    number: u64,
}

impl Receipt for Handle {
    fn settle(&self, settlement: Settlement) {
        if let Some(server) = self.server.upgrade() {
            server.settle(self.stream, &self.job, self.number, settlement);
        }
    }
}

fn furnished(disk: &Disk) -> Result<(), TransportError> {
    match disk.is_furnished {
        true => Ok(()),
        false => Err(TransportError::NotFound("stream not found".to_owned())),
    }
}

fn is_open(disk: &Disk, stream: Stream, job: &str) -> bool {
    disk.queues.get(&(stream, job.to_owned())).is_some_and(|queue| queue.lease.is_some())
}

fn no_consumer<T>() -> Result<T, TransportError> {
    Err(TransportError::NotFound("consumer not found".to_owned()))
}

impl Transport for MemoryServer {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn fresh_name(&self) -> String {
        format!("name{}", self.names.fetch_add(1, Ordering::SeqCst))
    }

    fn furnish(&self) -> Result<(), TransportError> {
        self.ask(|disk, _| {
            disk.is_furnished = true;
            Ok(())
        })
    }

    fn get(&self, bucket: Bucket, key: &str) -> Result<Option<Record>, TransportError> {
        self.ask(|disk, now| {
            furnished(disk)?;
            let stored = disk.buckets.get(&(bucket, key.to_owned()));
            Ok(stored.map(|stored| record(key, stored, now)))
        })
    }

    fn put(&self, bucket: Bucket, key: &str, message: &[u8]) -> Result<(), TransportError> {
        self.store(|disk, at| {
            disk.revision += 1;
            let stored = Stored { revision: disk.revision, at, message: message.to_vec() };
            disk.buckets.insert((bucket, key.to_owned()), stored);
            Ok(())
        })
    }

    fn remove(&self, bucket: Bucket, key: &str) -> Result<(), TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            disk.buckets.remove(&(bucket, key.to_owned()));
            Ok(())
        })
    }

    fn list(&self, bucket: Bucket) -> Result<Vec<Record>, TransportError> {
        self.ask(|disk, now| {
            furnished(disk)?;
            let ours = disk.buckets.iter().filter(|((one, _), _)| *one == bucket);
            Ok(ours.map(|((_, key), stored)| record(key, stored, now)).collect())
        })
    }

    fn open(&self, stream: Stream, job: &str, lease: Duration) -> Result<(), TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            disk.queues.entry((stream, job.to_owned())).or_default().lease = Some(lease);
            Ok(())
        })
    }

    fn publish(
        &self,
        stream: Stream,
        job: &str,
        messages: &[Outgoing],
    ) -> Result<Vec<bool>, TransportError> {
        self.store(|disk, now| {
            disk.names.retain(|_, at| now < *at + DUPLICATES);
            let mut news = Vec::new();
            for Outgoing { name, message } in messages {
                let is_new = disk.names.insert(format!("{stream:?} {name}"), now).is_none();
                news.push(is_new);
                if !is_new {
                    continue;
                }
                disk.revision += 1;
                let number = disk.revision;
                let (name, message) = (Some(name.clone()), message.clone());
                let queue = disk.queues.entry((stream, job.to_owned())).or_default();
                queue.messages.insert(number, Queued { name, message, times: 0, leased: None });
            }
            Ok(news)
        })
    }

    fn take(
        &self,
        stream: Stream,
        job: &str,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<Delivery>, TransportError> {
        let key = (stream, job.to_owned());
        let until = self.ask(|disk, _| {
            furnished(disk)?;
            match is_open(disk, stream, job) {
                true => {
                    let until = self.clock.now() + wait;
                    disk.queues.entry(key.clone()).or_default().readers.push(until);
                    Ok(until)
                }
                false => no_consumer(),
            }
        })?;
        let given = loop {
            let given = self.give(stream, job, most);
            let left = until.saturating_sub(self.clock.now());
            if !given.is_empty() || left.is_zero() || self.is_away() {
                break given;
            }
            // A lease may end meanwhile.
            let step = left.min(Duration::from_millis(250));
            self.clock.wait(step, &|| {
                let (now, disk) = (self.own_time(), self.disk());
                disk.queues.get(&key).is_none_or(|queue| queue.free(now) > 0)
            });
            if !is_open(&self.disk(), stream, job) {
                break Vec::new();
            }
        };
        if let Some(queue) = self.disk().queues.get_mut(&key) {
            let own = queue.readers.iter().position(|one| *one == until);
            own.map(|place| queue.readers.swap_remove(place));
        }
        self.travel();
        Ok(given)
    }

    fn backlog(&self, stream: Stream, job: &str) -> Result<Backlog, TransportError> {
        self.ask(|disk, now| {
            furnished(disk)?;
            if !is_open(disk, stream, job) {
                return no_consumer();
            }
            let Some(queue) = disk.queues.get(&(stream, job.to_owned())) else {
                return no_consumer();
            };
            // A message whose lease has just ended belongs to nobody and is still pending.
            let pending = queue.messages.values().filter(|queued| queued.times > 0);
            let leased = pending.clone().count() as u64;
            Ok(Backlog {
                waiting: queue.messages.len() as u64 - leased,
                leased,
                readers: (queue.readers.iter()).filter(|until| **until > self.clock.now()).count()
                    as u64,
                again: pending.filter(|one| one.times > 1 && !Queue::is_free(one, now)).count()
                    as u64,
            })
        })
    }

    fn file(&self, job: &str, letter: &Outgoing) -> Result<(), TransportError> {
        self.store(|disk, _| {
            let letters = disk.letters.entry(job.to_owned()).or_default();
            if letters.iter().all(|one| one.name != letter.name) {
                letters.push(letter.clone());
            }
            Ok(())
        })
    }

    fn letters(&self, job: &str) -> Result<Vec<Vec<u8>>, TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            let letters = disk.letters.get(job).into_iter().flatten();
            Ok(letters.map(|letter| letter.message.clone()).collect())
        })
    }

    fn letter_counts(&self) -> Result<Vec<(String, u64)>, TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            let count = |(job, letters): (&String, &Vec<_>)| (job.clone(), letters.len() as u64);
            Ok(disk.letters.iter().map(count).collect())
        })
    }

    fn end(&self, job: &str) -> Result<(), TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            disk.buckets.remove(&(Bucket::Campaigns, job.to_owned()));
            disk.queues.remove(&(Stream::Work, job.to_owned()));
            Ok(())
        })
    }

    fn clear(&self, job: &str) -> Result<(), TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            let prefix = format!("{job}.");
            disk.queues.remove(&(Stream::Results, job.to_owned()));
            let is_note =
                |bucket: &Bucket, key: &str| *bucket == Bucket::Notes && key.starts_with(&prefix);
            disk.buckets.retain(|(bucket, key), _| !is_note(bucket, key));
            disk.objects.retain(|name, _| !name.starts_with(&prefix));
            Ok(())
        })
    }

    fn put_object(&self, name: &str, content: &[u8]) -> Result<(), TransportError> {
        self.store(|disk, _| {
            disk.objects.insert(name.to_owned(), Some(content.to_vec()));
            Ok(())
        })
    }

    fn has_object(&self, name: &str, length: usize) -> Result<bool, TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            let object = disk.objects.get(name).and_then(Option::as_ref);
            Ok(object.is_some_and(|content| content.len() == length))
        })
    }

    fn object(&self, name: &str, most: usize) -> Result<Object, TransportError> {
        self.ask(|disk, _| {
            furnished(disk)?;
            let object = disk.objects.get(name).cloned().flatten();
            let object = object.filter(|content| content.len() <= most);
            Ok(object.map_or(Object::Lost, Object::Whole))
        })
    }

    fn remove_objects(&self, names: &[String]) {
        // What is left is given up later.
        let _ = self.ask(|disk, _| {
            disk.objects.retain(|name, _| !names.contains(name));
            Ok(())
        });
    }
}

fn record(key: &str, stored: &Stored, now: Duration) -> Record {
    Record {
        key: key.to_owned(),
        revision: stored.revision,
        age: now.saturating_sub(stored.at),
        message: stored.message.clone(),
    }
}
