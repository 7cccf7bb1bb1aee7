//! What a run has written into the shared file, as values. A file that was cut off or is nonsense
//! gives less, never a panic: the program under test can write into it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layout::{
    AT_DUMPS, AT_EDGES, AT_HOLDERS, AT_PAIRS, AT_PLACES, AT_RESULTS, AT_STEPS, AT_TEXTS, DUMPS,
    EDGE, EDGES, HOLDER, HOLDERS, PAIRS, PLACE, PLACES_USED, SLOTS, STEP, STEPS, STEPS_USED,
    Shared, TEXTS,
};

/// The chosen case when it was the default.
pub const CASE_DEFAULT: u16 = u16::MAX;

/// How far a run came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The program did not take the file: it is no Go program of ours, or did not start.
    #[default]
    Untouched,
    /// It began and did not come to the end of its tests.
    Begun,
    /// The tests ended, but not the judgement.
    Finished,
    /// The tests ended and what was left was judged.
    Judged,
    /// The program ended itself, by `os.Exit`.
    Exited,
    /// The runtime found all goroutines asleep.
    Asleep,
    /// The time limit ended it.
    Overdue,
    /// A test could never finish.
    Hopeless,
}

/// A place in the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The function, with its package.
    pub function: String,
}

/// A select that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The id of its place.
    pub site: u64,
    /// How many cases it has, the default included.
    pub cases: u16,
    /// Which was taken, as the runtime numbers them, or [`CASE_DEFAULT`].
    pub chosen: u16,
}

/// Channels made at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// How many were made.
    pub made: u32,
    /// How many were closed.
    pub closed: u32,
    /// How full one of them was at most, in thousandths.
    pub full: u32,
}

/// What a goroutine was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Running or about to.
    Active,
    /// Blocked.
    Waiting,
    /// In the kernel.
    Syscall,
    /// Blocked on an object that no other goroutine can reach any more, as the collector found.
    Leaked,
}

/// What of package sync a goroutine waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Object {
    /// `Mutex.Lock`
    Mutex,
    /// `RWMutex.Lock`
    Writer,
    /// `RWMutex.RLock`
    Reader,
    /// `WaitGroup.Wait`
    WaitGroup,
    /// `Cond.Wait`
    Cond,
}

/// Which way a goroutine waits at a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// To send.
    Send,
    /// To receive.
    Receive,
}

/// A channel that a goroutine waits at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its address: tells channels apart.
    pub address: u64,
    /// Which way.
    pub direction: Direction,
    /// Does a timer feed it?
    pub timer: bool,
    /// Is it closed?
    pub closed: bool,
    /// Messages in the buffer.
    pub length: u32,
    /// The buffer's size.
    pub capacity: u32,
    /// Where it was made.
    pub made: Option<Site>,
    /// The last send that was begun, with the goroutine.
    pub sent: Option<(Site, u32)>,
    /// The last receive that was begun.
    pub received: Option<(Site, u32)>,
    /// Where it was closed, and by which goroutine.
    pub close: Option<(Site, u32)>,
    /// The last select that took another case although it had one for the other side of this channel: to
    /// receive if the goroutine waits to send, and the reverse.
    pub passed: Option<(Site, u32)>,
}

/// A goroutine at the moment of judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goroutine {
    /// Its number.
    pub id: u32,
    /// Who started it.
    pub parent: u32,
    /// What it was doing.
    pub status: Status,
    /// Why it waits, as the runtime says it: `chan receive`.
    pub reason: String,
    /// The go statement.
    pub created: Option<Site>,
    /// Only its own timers wake it (rule R2).
    pub kept_by_timers: bool,
    /// It was already blocked forever when a test failed, as the collector found.
    pub leaked_at_failure: bool,
    /// The test or subtest that started it; empty if no test did.
    pub test: String,
    /// What of package sync it is at, with its address.
    pub object: Option<(Object, u64)>,
    /// The channels it waits at.
    pub channels: Vec<Channel>,
    /// Its stack, from the top.
    pub frames: Vec<Site>,
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The goroutine that took it.
    pub goroutine: u32,
    /// How: by `Lock` or by `RLock`.
    pub object: Object,
    /// Where.
    pub place: Site,
}

/// A goroutine that held one lock asked for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockOrder {
    /// The goroutine.
    pub goroutine: u32,
    /// The lock that it held, how, and since where.
    pub held: (u64, Object, Site),
    /// The lock that it asked for, how, and where.
    pub asked: (u64, Object, Site),
    /// The id of the place where it asked.
    pub place: u64,
}

/// The closed channel at which a program panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedChannel {
    /// Where it was made.
    pub made: Option<Site>,
    /// Where it was closed.
    pub closed: Site,
    /// The goroutine that closed it.
    pub goroutine: u32,
}

/// How a test failed: the first call of `Fail` in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The test called `Error`, `Fatal`, `Fail` or the like.
    Asserted,
    /// It panicked, and package testing marked it as failed afterwards.
    Panicked,
}

/// Everything a run wrote down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// How far it came.
    pub state: State,
    /// The order: selects in turn.
    pub steps: Vec<Step>,
    /// How many selects there were, kept or not.
    pub selects: u32,
    /// Places by id.
    pub places: BTreeMap<u64, Site>,
    /// Channels by the id of the place where they were made.
    pub made: BTreeMap<u64, Made>,
    /// How often which pair of operations followed each other on a channel.
    pub pairs: BTreeMap<u16, u16>,
    /// Wishes that came true.
    pub enforced: u32,
    /// Wishes whose window passed.
    pub expired: u32,
    /// Yields.
    pub yields: u32,
    /// Could the collector judge?
    pub can_judge: bool,
    /// Rule R1: goroutines that wait for locks cannot go on, nor can any other.
    pub stuck: bool,
    /// No goroutine could go on.
    pub quiet: bool,
    /// Timers were pending when the goroutines were written down.
    pub timers: bool,
    /// Did package testing mark a test as failed?
    pub failure: Option<Failure>,
    /// The goroutine that failed a test first.
    pub failer: u32,
    /// How many selects took a timeout although another case could go on.
    pub overtaken: u32,
    /// The first of them.
    pub overtook: Option<Site>,
    /// Goroutines that were left.
    pub goroutines: Vec<Goroutine>,
    /// Locks that were held, by address. A lock for reading may have several holders.
    pub held: BTreeMap<u64, Vec<Held>>,
    /// Locks that were asked for while others were held.
    pub lock_orders: Vec<LockOrder>,
    /// The channel at which the program panicked because it was closed.
    pub closed: Option<ClosedChannel>,
    /// Places and goroutines that found no room in the file.
    pub lost: u32,
}

/// The bytes of the file.
struct Bytes<'a>(&'a Shared);

impl Bytes<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0.array(at).unwrap_or([0; N])
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    /// A text that begins one byte before what is said, since zero means none.
    fn text(&self, begin: u32) -> String {
        let begin = begin as usize;
        if begin == 0 || begin > TEXTS {
            return String::new();
        }
        let rest = self.0.from(AT_TEXTS + begin - 1);
        let length = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..length]).into_owned()
    }

    fn site(&self, slot: u32) -> Option<Site> {
        let at = AT_PLACES + slot as usize % SLOTS * PLACE;
        let known = slot != 0 && self.u64(at) != 0;
        known.then(|| Site {
            file: self.text(self.u32(at + 24)),
            line: self.u32(at + 20),
            function: self.text(self.u32(at + 28)),
        })
    }

    fn id(&self, slot: u32) -> u64 {
        self.u64(AT_PLACES + slot as usize % SLOTS * PLACE + 8)
    }
}

/// Reads what a run left in the file.
pub(crate) fn read_trace(shared: &Shared) -> Trace {
    let bytes = Bytes(shared);
    let result = |number: usize| bytes.u32(AT_RESULTS + 4 * number);
    let verdict = result(8);
    let (places, made) = places(&bytes, result(PLACES_USED));
    let selects = result(STEPS_USED);
    let steps = (0..(selects as usize).min(STEPS)).map(|number| {
        let at = AT_STEPS + number * STEP;
        let site = bytes.id(bytes.u32(at));
        Step { site, cases: bytes.u16(at + 4), chosen: bytes.u16(at + 6) }
    });
    Trace {
        state: state(result(0)),
        steps: steps.collect(),
        selects,
        places,
        made,
        pairs: pairs(shared),
        enforced: result(5),
        expired: result(6),
        yields: result(7),
        can_judge: verdict & 16 != 0,
        stuck: verdict & 2 != 0,
        quiet: verdict & 4 != 0,
        timers: verdict & 8 != 0,
        failure: failure(result(13)),
        failer: result(17),
        overtaken: result(11),
        overtook: bytes.site(result(12)),
        goroutines: goroutines(&bytes, result(3)),
        held: held(&bytes),
        lock_orders: lock_orders(&bytes),
        closed: bytes.site(result(15)).map(|closed| ClosedChannel {
            made: bytes.site(result(14)),
            closed,
            goroutine: result(16),
        }),
        lost: result(10),
    }
}

fn state(number: u32) -> State {
    match number {
        1 => State::Begun,
        2 => State::Finished,
        3 => State::Judged,
        4 => State::Exited,
        5 => State::Asleep,
        6 => State::Overdue,
        7 => State::Hopeless,
        _ => State::Untouched,
    }
}

fn failure(number: u32) -> Option<Failure> {
    match number {
        1 => Some(Failure::Asserted),
        2 => Some(Failure::Panicked),
        _ => None,
    }
}

/// How often which pair was seen. Most of the table is zero, so it is looked at eight bytes at a time.
fn pairs(shared: &Shared) -> BTreeMap<u16, u16> {
    let mut pairs = BTreeMap::new();
    let table = shared.from(AT_PAIRS);
    for (number, bytes) in table[..table.len().min(2 * PAIRS)].chunks_exact(8).enumerate() {
        if *bytes == [0; 8] {
            continue;
        }
        for (at, count) in bytes.as_chunks().0.iter().enumerate() {
            let count = u16::from_le_bytes(*count);
            if count > 0 {
                pairs.insert((4 * number + at) as u16, count);
            }
        }
    }
    pairs
}

fn places(bytes: &Bytes<'_>, used: u32) -> (BTreeMap<u64, Site>, BTreeMap<u64, Made>) {
    let (mut places, mut channels) = (BTreeMap::new(), BTreeMap::new());
    for slot in 1..=used.min(SLOTS as u32 - 1) {
        let at = AT_PLACES + slot as usize * PLACE;
        let Some(site) = bytes.site(slot) else { continue };
        let id = bytes.u64(at + 8);
        places.insert(id, site);
        let (made, closed, full) = (bytes.u32(at + 40), bytes.u32(at + 44), bytes.u32(at + 48));
        if made > 0 {
            let entry: &mut Made = channels.entry(id).or_default();
            *entry = Made {
                made: entry.made.saturating_add(made),
                closed: entry.closed.saturating_add(closed),
                full: entry.full.max(full),
            };
        }
    }
    (places, channels)
}

fn held(bytes: &Bytes<'_>) -> BTreeMap<u64, Vec<Held>> {
    let mut held: BTreeMap<u64, Vec<Held>> = BTreeMap::new();
    for slot in 0..HOLDERS {
        let at = AT_HOLDERS + slot * HOLDER;
        let lock = bytes.u64(at);
        let place = bytes.site(bytes.u32(at + 16)).filter(|_| lock != 0);
        let Some((place, object)) = place.zip(object(bytes.u32(at + 20))) else { continue };
        let goroutine = bytes.u64(at + 8) as u32;
        held.entry(lock).or_default().push(Held { goroutine, object, place });
    }
    held
}

fn lock_orders(bytes: &Bytes<'_>) -> Vec<LockOrder> {
    let orders = (0..EDGES).filter_map(|slot| {
        let at = AT_EDGES + slot * EDGE;
        let [held, asked, _, ready] = bytes.array(at + 28);
        let kinds = object(u32::from(held)).zip(object(u32::from(asked)));
        let (held, asked) = kinds.filter(|_| ready == 1)?;
        let place = bytes.u32(at + 20);
        Some(LockOrder {
            goroutine: bytes.u32(at + 24),
            held: (bytes.u64(at), held, bytes.site(bytes.u32(at + 16))?),
            asked: (bytes.u64(at + 8), asked, bytes.site(place)?),
            place: bytes.id(place),
        })
    });
    orders.collect()
}

fn object(number: u32) -> Option<Object> {
    match number {
        1 => Some(Object::Mutex),
        2 => Some(Object::Writer),
        3 => Some(Object::Reader),
        4 => Some(Object::WaitGroup),
        5 => Some(Object::Cond),
        _ => None,
    }
}

/// The records that `straitWriteOne` describes.
fn goroutines(bytes: &Bytes<'_>, used: u32) -> Vec<Goroutine> {
    let mut all = Vec::new();
    let (mut at, end) = (0, (used as usize).min(DUMPS) / 4);
    while at < end {
        let length = bytes.u32(AT_DUMPS + 4 * at) as usize;
        if length < 13 || at + length > end {
            break;
        }
        all.push(goroutine(bytes, AT_DUMPS + 4 * at, length));
        at += length;
    }
    all
}

/// The words of a channel in such a record.
const CHANNEL: usize = 15;

fn goroutine(bytes: &Bytes<'_>, begin: usize, length: usize) -> Goroutine {
    let word = |number: usize| {
        if number < length { bytes.u32(begin + 4 * number) } else { 0 }
    };
    let wide = |number: usize| u64::from(word(number)) | u64::from(word(number + 1)) << 32;
    let place = |number: usize| bytes.site(word(number));
    let channels = word(11) as usize;
    let channel = |number: usize| {
        let at = 12 + CHANNEL * number;
        let by = |place_at: usize, who_at: usize| Some((place(place_at)?, word(who_at)));
        Channel {
            address: wide(at),
            direction: if word(at + 2) == 1 { Direction::Send } else { Direction::Receive },
            closed: word(at + 3) & 1 != 0,
            timer: word(at + 3) & 2 != 0,
            length: word(at + 4),
            capacity: word(at + 5),
            made: place(at + 6),
            sent: by(at + 7, at + 10),
            received: by(at + 8, at + 11),
            close: by(at + 9, at + 12),
            passed: by(at + 13, at + 14),
        }
    };
    let frames = 12 + CHANNEL * channels.min(length);
    let count = (word(frames) as usize).min(length);
    Goroutine {
        id: word(1),
        parent: word(2),
        status: match word(3) {
            1 => Status::Waiting,
            2 => Status::Syscall,
            3 => Status::Leaked,
            _ => Status::Active,
        },
        reason: bytes.text(word(4)),
        created: place(5),
        kept_by_timers: word(6) & 1 != 0,
        leaked_at_failure: word(6) & 2 != 0,
        test: bytes.text(word(10)),
        object: object(word(7)).map(|object| (object, wide(8))),
        channels: (0..channels.min(length / CHANNEL)).map(channel).collect(),
        frames: (1..=count).filter_map(|number| place(frames + number)).collect(),
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn nonsense_gives_less_and_does_not_panic() {
        for bytes in [vec![], vec![0xff; 100], vec![0xff; super::super::layout::SIZE]] {
            let trace = read_trace(&Shared::whole(bytes));
            assert!(trace.goroutines.len() <= DUMPS / 48);
        }
    }
}
