//! What a supervisor and its parent say to each other over the socket that is the supervisor's
//! stdin: frames on the way down, lines of JSON on the way up.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::watch::Resource;

/// Longest payload of a frame.
pub(crate) const FRAME: usize = 64 * 1024;

/// From the parent to the supervisor. The end of the stream means: end everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order<'a> {
    /// Bytes for the program's stdin.
    Input(&'a [u8]),
    /// The end of the program's stdin.
    EndOfInput,
    /// SIGTERM to the program's group, and SIGKILL after so many milliseconds.
    Terminate(u64),
}

impl Order<'_> {
    pub(crate) fn write(self, mut to: impl Write) -> io::Result<()> {
        let (kind, payload): (u8, &[u8]) = match &self {
            Order::Input(bytes) => (b'I', bytes),
            Order::EndOfInput => (b'E', &[]),
            Order::Terminate(milliseconds) => (b'T', &milliseconds.to_le_bytes()),
        };
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let mut frame = Vec::with_capacity(5 + payload.len());
        frame.push(kind);
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(payload);
        to.write_all(&frame)
    }

    /// Reads an order; its payload goes into `buffer`.
    pub(crate) fn read(mut from: impl Read, buffer: &mut Vec<u8>) -> io::Result<Order<'_>> {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u32::from_le_bytes(length) as usize;
        if length > FRAME {
            return Err(io::Error::other("the frame is too long"));
        }
        buffer.resize(length, 0);
        from.read_exact(buffer)?;
        match kind {
            b'I' => Ok(Order::Input(buffer)),
            b'E' => Ok(Order::EndOfInput),
            b'T' => {
                let bytes = buffer.as_slice().try_into().map_err(io::Error::other)?;
                Ok(Order::Terminate(u64::from_le_bytes(bytes)))
            }
            _ => Err(io::Error::other("an unknown frame")),
        }
    }
}

/// From the supervisor to the parent, one a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Report {
    /// The program, or what is about to become it, runs as this process, which leads its group.
    Started { process: i32 },
    /// It could not be started.
    Failed { reason: String },
    /// It has ended, and so has everything it had started.
    Ended {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Processor time of the program and of those of its children that it waited for.
        cpu_micros: Option<u64>,
        /// Largest resident memory of one of them, in bytes.
        peak_memory: Option<u64>,
        /// It was ended because it used more than this limit allows.
        over: Option<Resource>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_way() {
        let orders = [Order::Input(b"a\nb"), Order::Terminate(1500), Order::EndOfInput];
        let mut wire = Vec::new();
        for order in orders {
            order.write(&mut wire).expect("a vector takes everything");
        }
        let (mut rest, mut buffer) = (wire.as_slice(), Vec::new());
        for order in orders {
            assert_eq!(Order::read(&mut rest, &mut buffer).expect("it was written"), order);
        }
        assert!(Order::read(&mut rest, &mut buffer).is_err(), "nothing is left");
    }

    #[test]
    fn a_huge_frame_is_refused_before_it_is_stored() {
        let mut buffer = Vec::new();
        assert!(Order::read(&b"I\xff\xff\xff\xff"[..], &mut buffer).is_err());
        assert_eq!(buffer.capacity(), 0);
    }
}
