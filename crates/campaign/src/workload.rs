//! What a kind of campaign implements: its targets, a piece of its work, and what a thread keeps from one
//! piece to the next. Where pieces come from and where results go is decided by [`crate::Campaign`].

use std::collections::HashSet;
use std::error::Error as StdError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use strait_findings::{Discovery, Ranges};
use strait_queue::{LateDelivery, MAX_INDEX, Part, Piece, Source, TargetVersion};

use crate::activity::{Activity, ThreadState};
use crate::begin::Settings;
use crate::counters::Counters;
use crate::error::Error;
use crate::stop::{Ending, Stop};

/// The work of one kind of campaign.
pub trait Workload: Sync {
    /// What a thread keeps from one piece to the next.
    type Thread;
    /// What can go wrong.
    type Error: From<Error> + StdError + Send + Sync + 'static;
    /// What such campaigns are begun with; they name the kind.
    type Settings: Settings;

    /// What workers of a queue need to know to do the same work.
    fn job_settings(&self) -> Value;

    /// The targets, as the store and the queue know them.
    fn targets(&self) -> Vec<TargetVersion>;

    /// How many indices a target has in a campaign that the user has limited to `count` of each.
    fn indices(&self, _lane: usize, count: Option<u64>) -> u64 {
        count.unwrap_or(MAX_INDEX).min(MAX_INDEX)
    }

    /// How many indices a piece of a target has.
    fn piece_size(&self, target: usize, pieces: Pieces) -> u64;

    /// A thread begins.
    fn thread(&self, number: usize) -> Self::Thread;

    /// Does a piece of work and delivers what comes out of it, at once or in several parts. `false` when it
    /// was stopped in the middle.
    fn run(
        &self,
        thread: &mut Self::Thread,
        context: &Context<'_>,
        piece: &Piece,
        delivery: &mut Delivery<'_>,
    ) -> Result<bool, Self::Error>;

    /// How many threads do what is done beside the pieces.
    const BESIDE: usize = 0;

    /// Does what threads have put off with [`Delivery::late`], until there is none left and `is_over` says
    /// that no more will come. Called by each of [`Workload::BESIDE`] threads of a campaign in this process.
    fn beside(
        &self,
        _context: &Context<'_>,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A thread ends.
    fn leave(&self, _thread: Self::Thread) {}

    /// What is reported of the deadly indices of a piece: processes that ran them alone have died. They
    /// are not run again, and making them may be what kills, so that they are not made either.
    fn deadly(&self, piece: &Piece) -> Part;

    /// Should the store have this fault, which it does not have yet? Asked of what workers of a queue find.
    fn is_news(&self, _discovery: &Discovery) -> bool {
        true
    }
}

/// Whom pieces of work are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// Threads of this process.
    Here,
    /// Workers of a queue.
    Queue {
        /// Indices of each target, if limited.
        count: Option<u64>,
        /// Indices in a piece, if the user wants to say.
        asked: Option<u64>,
    },
}

/// What the threads of a campaign share.
pub struct Context<'a> {
    stop: &'a Stop,
    counters: &'a Counters,
    /// Names of faults that need not be confirmed again.
    known: Mutex<HashSet<String>>,
    /// What is under way should end: the user says so, a thread has failed, or the campaign has ended
    /// elsewhere.
    is_over: Arc<AtomicBool>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(stop: &'a Stop, counters: &'a Counters, known: HashSet<String>) -> Self {
        Context { stop, counters, known: Mutex::new(known), is_over: Arc::default() }
    }

    /// The flag that is set when what is under way should end, for processes that are started.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.is_over
    }

    /// Passes on that the user wants everything to end.
    pub(crate) fn look(&self) {
        if self.stop.is_now() {
            self.end();
        }
    }

    /// Ends the campaign.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Counts a part of a target that is delivered.
    pub fn count(&self, target: usize, part: &Part) {
        self.counters.add(target, part);
    }

    /// Where threads say what they do.
    pub fn activity(&self) -> &Activity {
        self.counters.activity()
    }

    /// Is this fault confirmed already?
    pub fn is_known(&self, finding: &str) -> bool {
        self.known().contains(finding)
    }

    /// This fault is confirmed.
    pub fn learn(&self, finding: String) {
        self.known().insert(finding);
    }

    pub(crate) fn take_known(&self) -> HashSet<String> {
        std::mem::take(&mut self.known())
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ending for Context<'_> {
    fn is_due(&self) -> bool {
        self.stop.is_due() || self.is_over.load(Ordering::Relaxed)
    }

    fn is_now(&self) -> bool {
        self.stop.is_now() || self.is_over.load(Ordering::Relaxed)
    }
}

/// Where a piece of work delivers to.
pub struct Delivery<'a> {
    source: &'a mut dyn Source,
    counters: &'a Counters,
    /// The target of the piece.
    target: usize,
    /// Time that the piece takes beside its thread.
    charged: Duration,
}

impl Delivery<'_> {
    /// These indices of a watched piece are about to begin.
    pub fn begin(&mut self, indices: Range<u64>) -> Result<(), Error> {
        Ok(self.source.begin(indices)?)
    }

    /// Something was found in a piece that may take long. It is delivered again with the piece.
    pub fn show(&mut self, discovery: &Discovery) -> Result<(), Error> {
        Ok(self.source.show(discovery)?)
    }

    /// A way to deliver indices after the piece is over, for [`Workload::beside`]; `None` where a piece has to
    /// be whole. What is delivered that way is counted with [`Context::count`].
    pub fn late(&self) -> Option<LateDelivery> {
        self.source.late()
    }

    /// The piece takes so much time beside its thread: its target gets fewer pieces for it.
    pub fn charge(&mut self, time: Duration) {
        self.charged += time;
    }

    /// Delivers a part. `false` when it is no longer taken.
    pub fn deliver(&mut self, part: Part) -> Result<bool, Error> {
        self.counters.add(self.target, &part);
        Ok(self.source.deliver(part)?)
    }
}

/// What a thread does: it takes pieces of work until there are none.
pub(crate) fn work<W: Workload>(
    workload: &W,
    context: &Context<'_>,
    number: usize,
    source: &mut dyn Source,
) -> Result<(), W::Error> {
    let mut thread = workload.thread(number);
    let worked = work_with(workload, context, number, &mut thread, source);
    workload.leave(thread);
    context.activity().set_thread(number, ThreadState::Ended, None, "");
    worked
}

fn work_with<W: Workload>(
    workload: &W,
    context: &Context<'_>,
    number: usize,
    thread: &mut W::Thread,
    source: &mut dyn Source,
) -> Result<(), W::Error> {
    let activity = context.activity();
    loop {
        activity.set_thread(number, ThreadState::Waiting, None, "");
        let taken = source.take(&|| context.is_due()).map_err(Error::from)?;
        let Some(mut piece) = taken else { return Ok(()) };
        let begun = Instant::now();
        let (counters, target, charged) = (context.counters, piece.target, Duration::ZERO);
        activity.set_thread(number, ThreadState::Running, Some(target), indices(&piece.indices));
        let mut delivery = Delivery { source: &mut *source, counters, target, charged };
        let mut is_wanted = true;
        if !piece.deadly.is_empty() {
            let part = workload.deadly(&piece);
            add(&mut piece.done, &part.indices);
            is_wanted = delivery.deliver(part)?;
        }
        let is_done = piece.done.missing(piece.indices.clone()).is_empty();
        let ran =
            if is_done { Ok(true) } else { workload.run(thread, context, &piece, &mut delivery) };
        let is_whole = matches!(ran, Ok(true));
        let spent = begun.elapsed() + delivery.charged;
        source.finish(spent, is_whole).map_err(Error::from)?;
        if !(ran? && is_wanted) {
            return Ok(());
        }
    }
}

/// The indices of a piece, for people.
fn indices(indices: &Range<u64>) -> String {
    format!("indices {} to {}", indices.start, indices.end.saturating_sub(1))
}

fn add(sum: &mut Ranges, more: &Ranges) {
    more.intervals().iter().for_each(|range| sum.insert(range.clone()));
}
