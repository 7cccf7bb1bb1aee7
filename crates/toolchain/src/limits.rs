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
    /// Files and sockets that it may have open at once.
    #[serde(default)]
    pub open_files: Option<u64>,
    /// Processes and threads of the user, all programs of the user together. The system does not hold
    /// the superuser to it.
    #[serde(default)]
    pub processes: Option<u64>,
    /// Bytes of memory of all processes of a program together. The supervisor of the program looks
    /// several times per second and ends it. Files that are mapped do not count. Linux only.
    #[serde(default)]
    pub memory: Option<u64>,
    /// Processes of a program, all together. The supervisor of the program looks several times a
    /// second and ends it. Linux only.
    #[serde(default)]
    pub family: Option<u64>,
}

impl Limits {
    /// These, and where they say nothing the others.
    pub(crate) fn or(&self, others: &Limits) -> Limits {
        Limits {
            cpu: self.cpu.or(others.cpu),
            address_space: self.address_space.or(others.address_space),
            file_size: self.file_size.or(others.file_size),
            open_files: self.open_files.or(others.open_files),
            processes: self.processes.or(others.processes),
            memory: self.memory.or(others.memory),
            family: self.family.or(others.family),
        }
    }
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
    if let Some(files) = limits.open_files {
        lower("open files", Resource::Nofile, files, files)?;
    }
    if let Some(processes) = limits.processes {
        lower("processes", Resource::Nproc, processes, processes)?;
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
