//! What a program may use at most. The system enforces it, so a program that ignores signals is
//! held as well.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Limits of one process; each child that it starts has the same ones for itself. `None` leaves
/// the limit as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time, rounded up to seconds. The process gets SIGXCPU, a second later SIGKILL.
    pub cpu: Option<Duration>,
    /// Bytes of address space. Runtimes that reserve much and use little (JVM, Go, sanitizers)
    /// cannot live with it. macOS does not enforce it.
    pub address_space: Option<u64>,
    /// Bytes of the largest file it may write. The process gets SIGXFSZ.
    pub file_size: Option<u64>,
}

/// Limits the calling process, for good: the limits cannot be raised again. Core files are turned
/// off as well, since whoever sets limits expects crashes.
pub fn limit_self(limits: &Limits) -> Result<(), Error> {
    // Nobody is harmed if core files cannot be turned off.
    let _ = setrlimit(
        Resource::Core,
        Rlimit { current: Some(0), maximum: getrlimit(Resource::Core).maximum },
    );
    if let Some(cpu) = limits.cpu {
        let seconds = (cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0)).max(1);
        lower("processor seconds", Resource::Cpu, seconds, seconds + 1)?;
    }
    if let Some(bytes) = limits.address_space {
        lower("bytes of address space", Resource::As, bytes, bytes)?;
    }
    if let Some(bytes) = limits.file_size {
        lower("bytes of a file", Resource::Fsize, bytes, bytes)?;
    }
    Ok(())
}

/// Sets a limit, unless a stricter one is there already.
fn lower(what: &'static str, resource: Resource, soft: u64, hard: u64) -> Result<(), Error> {
    let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit { current: Some(soft.min(ceiling)), maximum: Some(hard.min(ceiling)) };
    setrlimit(resource, limit).map_err(|errno| Error::CannotLimit {
        what,
        limit: soft,
        source: errno.into(),
    })
}
