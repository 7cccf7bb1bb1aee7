//! Output of any length in bounded memory: its beginning, its end, and how much was between.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::error::Error;

/// What is kept of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    /// Its beginning; all of it if nothing was left out.
    pub first: Vec<u8>,
    /// Its end; empty if everything fits into `first`.
    pub last: Vec<u8>,
    /// How many bytes between the two were thrown away.
    pub left_out: u64,
}

impl Captured {
    /// As text, for people: bytes that are not UTF-8 are replaced, and a gap is said aloud.
    pub fn text(&self) -> String {
        if self.left_out == 0 {
            // The cut between the two parts may go through a character.
            let whole = [self.first.as_slice(), self.last.as_slice()].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let (first, last) =
            (String::from_utf8_lossy(&self.first), String::from_utf8_lossy(&self.last));
        format!("{first}\n[… {} bytes left out …]\n{last}", self.left_out)
    }

    /// How many bytes the program wrote.
    pub fn total(&self) -> u64 {
        self.first.len() as u64 + self.left_out + self.last.len() as u64
    }

    /// The last lines with something in them, for error messages.
    pub fn last_lines(&self, count: usize) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }
}

/// Takes output as it comes and never holds more than twice `keep` bytes.
#[derive(Debug)]
struct Keeper {
    keep: usize,
    first: Vec<u8>,
    last: VecDeque<u8>,
    left_out: u64,
}

impl Keeper {
    fn new(keep: usize) -> Self {
        Keeper { keep, first: Vec::new(), last: VecDeque::new(), left_out: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = self.keep - self.first.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.first.extend_from_slice(first);
        // Of a piece longer than the whole end, only its own end matters.
        let skipped = rest.len().saturating_sub(self.keep);
        self.last.extend(&rest[skipped..]);
        let excess = self.last.len().saturating_sub(self.keep);
        self.last.drain(..excess);
        self.left_out += (skipped + excess) as u64;
    }

    fn captured(&self) -> Captured {
        let last = self.last.iter().copied().collect();
        Captured { first: self.first.clone(), last, left_out: self.left_out }
    }
}

/// A thread that reads an output to its end.
#[derive(Debug)]
pub(crate) struct Capture {
    keeper: Arc<Mutex<Keeper>>,
    finished: Receiver<()>,
}

impl Capture {
    /// Starts to read; keeps the first and the last `keep` bytes.
    pub(crate) fn start(
        mut output: impl Read + Send + 'static,
        keep: usize,
    ) -> Result<Self, Error> {
        let keeper = Arc::new(Mutex::new(Keeper::new(keep)));
        let shared = Arc::clone(&keeper);
        let (done, finished) = channel();
        let read = move || {
            let mut buffer = vec![0; 64 * 1024];
            loop {
                match output.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        shared
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .take(&buffer[..count]);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Nobody may be waiting any more.
            let _ = done.send(());
        };
        thread::Builder::new()
            .name("capture".into())
            .spawn(read)
            .map_err(|source| Error::Refused { what: "a thread", source })?;
        Ok(Capture { keeper, finished })
    }

    /// What has been read. Waits for the end of the output, but no longer than `patience`: a
    /// process that escaped may hold the other end open.
    pub(crate) fn finish(&self, patience: Duration) -> Captured {
        // Whether it is the end or the patience that came first makes no difference.
        let _ = self.finished.recv_timeout(patience);
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner).captured()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(keep: usize, pieces: &[&str]) -> (String, String, u64) {
        let mut keeper = Keeper::new(keep);
        pieces.iter().for_each(|piece| keeper.take(piece.as_bytes()));
        let captured = keeper.captured();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&captured.first), text(&captured.last), captured.left_out)
    }

    #[test]
    fn beginning_and_end_are_kept() {
        let table: [(&[&str], &str, &str, u64); 6] = [
            (&[], "", "", 0),
            (&["abc"], "abc", "", 0),
            (&["abcdef"], "abcd", "ef", 0),
            (&["abcd", "efgh"], "abcd", "efgh", 0),
            (&["abcd", "efgh", "ij"], "abcd", "ghij", 2),
            (&["a", "bcdefghijklmnop", "q"], "abcd", "nopq", 9),
        ];
        for (pieces, first, last, left_out) in table {
            assert_eq!(kept(4, pieces), (first.into(), last.into(), left_out), "{pieces:?}");
        }
    }

    #[test]
    fn a_gap_is_said_aloud_and_a_cut_character_is_whole_again() {
        let captured = Captured { first: b"ab".to_vec(), last: b"yz".to_vec(), left_out: 7 };
        assert_eq!(captured.text(), "ab\n[… 7 bytes left out …]\nyz");
        assert_eq!(captured.total(), 11);
        let (first, last) =
            ("é".as_bytes().split_at(1).0.to_vec(), "é".as_bytes().split_at(1).1.to_vec());
        assert_eq!(Captured { first, last, left_out: 0 }.text(), "é");
    }
}
