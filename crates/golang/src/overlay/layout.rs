//! The file that Strait shares with a test binary, as `hooks/runtime_map.go` lays it out: where
//! everything is, and how wishes are written into it. Both sides check magic and version.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use crate::error::Error;

pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"STRAITGO");
pub(crate) const VERSION: u32 = 5;

pub(crate) const SLOTS: usize = 1 << 14;
pub(crate) const WISHES: usize = 1 << 12;
pub(crate) const PICKS: usize = 1 << 16;
pub(crate) const PAIRS: usize = 1 << 16;
pub(crate) const STEPS: usize = 1 << 14;
pub(crate) const HOLDERS: usize = 1 << 10;
pub(crate) const SLOWS: usize = 1 << 6;
pub(crate) const EDGES: usize = 1 << 10;
pub(crate) const TEXTS: usize = 1 << 20;
pub(crate) const DUMPS: usize = 1 << 20;

pub(crate) const WISH: usize = 16;
pub(crate) const PLACE: usize = 64;
pub(crate) const STEP: usize = 8;
pub(crate) const HOLDER: usize = 24;
pub(crate) const SLOW: usize = 16;
pub(crate) const EDGE: usize = 32;

pub(crate) const AT_WISHES: usize = 4096;
pub(crate) const AT_PICKS: usize = AT_WISHES + WISHES * WISH;
pub(crate) const AT_PLACES: usize = AT_PICKS + PICKS * 2;
pub(crate) const AT_PAIRS: usize = AT_PLACES + SLOTS * PLACE;
pub(crate) const AT_STEPS: usize = AT_PAIRS + PAIRS * 2;
pub(crate) const AT_HOLDERS: usize = AT_STEPS + STEPS * STEP;
pub(crate) const AT_SLOWS: usize = AT_HOLDERS + HOLDERS * HOLDER;
pub(crate) const AT_EDGES: usize = AT_SLOWS + SLOWS * SLOW;
pub(crate) const AT_TEXTS: usize = AT_EDGES + EDGES * EDGE;
pub(crate) const AT_DUMPS: usize = AT_TEXTS + TEXTS;
pub(crate) const SIZE: usize = AT_DUMPS + DUMPS;

/// Where the header says what happened, and which of the numbers there say how much of a part is used.
pub(crate) const AT_RESULTS: usize = 64;
const TEXTS_USED: usize = 2;
const DUMPS_USED: usize = 3;
pub(crate) const STEPS_USED: usize = 4;
pub(crate) const PLACES_USED: usize = 18;

const RECORD: u32 = 1;
const SANITIZE: u32 = 2;
const SITED: u32 = 4;

/// How a place is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// How long a goroutine pauses, by the program's clock.
    pub length: Duration,
    /// How many times, whichever goroutines come by.
    pub times: u32,
}

/// What a run is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Seeds yields and the order in which selects look at their cases.
    pub seed: u64,
    /// Yields of 1024 operations.
    pub rate: u32,
    /// Yield at places that the seed chooses, every time, instead of at operations that it chooses.
    pub sited: bool,
    /// How long a yield sleeps at most, by the program's clock.
    pub nap: Duration,
    /// Places, by their ids, at which goroutines pause before the operation.
    pub slow: BTreeMap<u64, Pause>,
    /// How long a preferred case is waited for, by the program's clock.
    pub window: Duration,
    /// For a place, by its id, the case that each select there is to prefer, in turn and over and
    /// over; [`crate::CASE_DEFAULT`] for no preference. Cases as the runtime numbers them.
    pub picks: BTreeMap<u64, Vec<u16>>,
    /// Judge the goroutines that are left?
    pub sanitize: bool,
    /// How long goroutines have to finish after the tests, really.
    pub settle: Duration,
    /// When the run ends itself, really.
    pub limit: Duration,
    /// When goroutines of a running test are judged first, really.
    pub interval: Duration,
}

impl Default for Wishes {
    fn default() -> Self {
        Wishes {
            seed: 1,
            rate: 0,
            sited: false,
            nap: Duration::from_millis(2),
            slow: BTreeMap::new(),
            window: Duration::from_millis(500),
            picks: BTreeMap::new(),
            sanitize: true,
            settle: Duration::from_millis(50),
            limit: Duration::from_secs(10),
            interval: Duration::from_millis(100),
        }
    }
}

/// Makes the file anew.
pub(crate) fn write_wishes(path: &Path, wishes: &Wishes) -> Result<(), Error> {
    let write = || {
        let mut file = fs::File::create(path)?;
        file.set_len(SIZE as u64)?;
        file.write_all(&header(wishes))?;
        let (table, picks) = tables(&wishes.picks);
        if !picks.is_empty() {
            file.seek(SeekFrom::Start(AT_WISHES as u64))?;
            file.write_all(&table)?;
            file.seek(SeekFrom::Start(AT_PICKS as u64))?;
            file.write_all(&picks)?;
        }
        if !wishes.slow.is_empty() {
            file.seek(SeekFrom::Start(AT_SLOWS as u64))?;
            file.write_all(&slow_places(&wishes.slow))?;
        }
        file.flush()
    };
    write().map_err(Error::file("write", path))
}

/// What was read of the file: parts of it, each with where it begins. Everything else counts as zero.
pub(crate) struct Shared(Vec<(usize, Vec<u8>)>);

impl Shared {
    /// The whole file.
    #[cfg(test)]
    pub(crate) fn whole(bytes: Vec<u8>) -> Self {
        Shared(vec![(0, bytes)])
    }

    /// What is known from here on, to the end of the part that it belongs to.
    pub(crate) fn from(&self, at: usize) -> &[u8] {
        let known = |(begin, part): &&(usize, Vec<u8>)| (*begin..begin + part.len()).contains(&at);
        self.0.iter().find(known).map_or(&[], |(begin, part)| &part[at - begin..])
    }

    /// So many bytes, if they are known.
    pub(crate) fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.from(at).first_chunk().copied()
    }
}

/// Reads what a run has written into the file. The file is large and mostly empty, and a run that was
/// short is read in less time than it took: everything is read as far as it is used.
pub(crate) fn read_shared(path: &Path) -> Result<Shared, Error> {
    let read = || {
        let mut file = fs::File::open(path)?;
        let mut shared = Shared(vec![(0, part(&mut file, 0, AT_WISHES)?)]);
        // Where the header counts what was used.
        let used = |number: usize, unit: usize, most: usize| {
            let count = shared.array(AT_RESULTS + 4 * number).map_or(0, u32::from_le_bytes);
            (count as usize).min(most) * unit
        };
        let (texts, dumps) = (used(TEXTS_USED, 1, TEXTS), used(DUMPS_USED, 1, DUMPS));
        let (steps, places) = (used(STEPS_USED, STEP, STEPS), used(PLACES_USED, PLACE, SLOTS - 1));
        for (from, to) in [
            (AT_PLACES, AT_PLACES + PLACE + places),
            (AT_PAIRS, AT_STEPS + steps),
            (AT_HOLDERS, AT_TEXTS + texts),
            (AT_DUMPS, AT_DUMPS + dumps),
        ] {
            let part = part(&mut file, from, to)?;
            shared.0.push((from, part));
        }
        Ok(shared)
    };
    read().map_err(Error::file("read", path))
}

fn part(file: &mut fs::File, from: usize, to: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; to - from];
    if from > 0 {
        file.seek(SeekFrom::Start(from as u64))?;
    }
    fill(file, &mut bytes)?;
    Ok(bytes)
}

/// A test may have cut the file off: then the rest is zero.
fn fill(file: &mut fs::File, bytes: &mut [u8]) -> std::io::Result<()> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(()),
        read => read,
    }
}

fn header(wishes: &Wishes) -> Vec<u8> {
    let milliseconds =
        |duration: Duration| u32::try_from(duration.as_millis()).unwrap_or(u32::MAX).to_le_bytes();
    let window = i64::try_from(wishes.window.as_nanos()).unwrap_or(i64::MAX);
    let flag = |wanted: bool, flag: u32| if wanted { flag } else { 0 };
    let flags = RECORD | flag(wishes.sanitize, SANITIZE) | flag(wishes.sited, SITED);
    let mut bytes = Vec::with_capacity(AT_RESULTS);
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(wishes.seed.to_le_bytes());
    bytes.extend(window.to_le_bytes());
    bytes.extend(wishes.rate.min(1024).to_le_bytes());
    bytes.extend(flags.to_le_bytes());
    bytes.extend(milliseconds(wishes.settle));
    bytes.extend(milliseconds(wishes.limit));
    bytes.extend(milliseconds(wishes.interval));
    bytes.extend((wishes.picks.len().min(WISHES / 2) as u32).to_le_bytes());
    bytes.extend(microseconds(wishes.nap).to_le_bytes());
    bytes.extend((wishes.slow.len().min(SLOWS) as u32).to_le_bytes());
    bytes
}

fn microseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}

/// The table of slow places. What does not fit is left out.
fn slow_places(slow: &BTreeMap<u64, Pause>) -> Vec<u8> {
    let entry = |(id, pause): (&u64, &Pause)| {
        let (nap, times) = (microseconds(pause.length), pause.times);
        [&id.to_le_bytes()[..], &nap.to_le_bytes(), &times.to_le_bytes()].concat()
    };
    slow.iter().take(SLOWS).flat_map(entry).collect()
}

/// The hash table of places with wishes, and the wished cases one after the other. What does not fit
/// is left out: then these selects choose freely.
fn tables(picks: &BTreeMap<u64, Vec<u16>>) -> (Vec<u8>, Vec<u8>) {
    let mut table = vec![0; WISHES * WISH];
    let mut cases: Vec<u8> = Vec::new();
    for (id, wanted) in picks.iter().take(WISHES / 2) {
        let first = cases.len() / 2;
        if wanted.is_empty() || first + wanted.len() > PICKS {
            continue;
        }
        let mut slot = *id as u32 as usize % WISHES;
        while table[slot * WISH + 12..slot * WISH + 16] != [0; 4] {
            slot = (slot + 1) % WISHES;
        }
        let entry = &mut table[slot * WISH..(slot + 1) * WISH];
        entry[..8].copy_from_slice(&id.to_le_bytes());
        entry[8..12].copy_from_slice(&(first as u32).to_le_bytes());
        entry[12..].copy_from_slice(&(wanted.len() as u32).to_le_bytes());
        cases.extend(wanted.iter().flat_map(|case| case.to_le_bytes()));
    }
    (table, cases)
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn wishes_have_their_place() {
        let picks = BTreeMap::from([(5, vec![1, 2]), (5 + WISHES as u64, vec![3]), (9, vec![])]);
        let (table, cases) = tables(&picks);
        assert_eq!(cases, [1, 0, 2, 0, 3, 0]);
        let entry = |slot: usize| table[slot * WISH + 8..slot * WISH + 16].to_vec();
        assert_eq!(entry(5), [0, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(entry(6), [2, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(header(&Wishes::default()).len(), AT_RESULTS);
        let pause = Pause { length: Duration::from_millis(1), times: 2 };
        let slow = slow_places(&BTreeMap::from([(7, pause)]));
        assert_eq!(slow, [7, 0, 0, 0, 0, 0, 0, 0, 232, 3, 0, 0, 2, 0, 0, 0]);
    }
}
