//! What all processes of a program use together, looked at from outside. The system limits single
//! processes and whole users; for one program with its children it has limits only where groups of
//! processes were delegated to the user, which is rare. So the supervisor looks several times a
//! second, on Linux.
//!
//! A limit on address space would hold a process before it uses too much, but Go, Java and sanitizers
//! reserve far more than they use.

use std::fmt;
use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// Between looks. A process can fill about a gigabyte in this time.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Between looks at a program that is far from its limits.
const SELDOM: Duration = Duration::from_millis(200);

/// What a program used too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Memory, all processes together.
    Memory,
    /// Processes.
    Processes,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Memory => "much memory",
            Resource::Processes => "many processes",
        })
    }
}

/// Looks at the descendants of this process in a thread of its own, and calls `end` each time that they
/// are over a limit. The thread ends with the process.
pub(crate) fn start(
    limits: Limits,
    mut end: impl FnMut(Resource) + Send + 'static,
) -> io::Result<()> {
    if limits.memory.is_none() && limits.family.is_none() {
        return Ok(());
    }
    let own = std::process::id();
    let look = move || loop {
        thread::sleep(BETWEEN_LOOKS);
        let used = Used::by_descendants(own);
        if let Some(resource) = used.over(&limits) {
            end(resource);
        } else if used.is_far_from(&limits) {
            thread::sleep(SELDOM - BETWEEN_LOOKS);
        }
    };
    thread::Builder::new().name("use-watch".into()).spawn(look).map(|_| ())
}

/// What processes use together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    processes: u64,
    memory: u64,
}

impl Used {
    fn over(&self, limits: &Limits) -> Option<Resource> {
        let is_over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
        // Many processes need much memory, so they are the reason if it is both.
        if is_over(self.processes, limits.family) {
            Some(Resource::Processes)
        } else if is_over(self.memory, limits.memory) {
            Some(Resource::Memory)
        } else {
            None
        }
    }

    fn is_far_from(&self, limits: &Limits) -> bool {
        let is_far = |used: u64, limit: Option<u64>| limit.is_none_or(|limit| used < limit / 8);
        is_far(self.memory, limits.memory) && is_far(self.processes, limits.family)
    }

    /// Orphans fall to the supervisor, so nothing that the program has started is missed.
    fn by_descendants(process: u32) -> Used {
        let (mut used, mut left) = (Used::default(), children(process));
        while let Some(process) = left.pop() {
            used.processes += 1;
            used.memory += memory(process);
            left.extend(children(process));
        }
        used
    }
}

/// The children of a process.
pub(crate) fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists: io::Result<Vec<String>> =
        threads.map(|thread| fs::read_to_string(thread.path().join("children"))).collect();
    let numbers = |list: &String| {
        list.split_whitespace().filter_map(|number| number.parse().ok()).collect::<Vec<u32>>()
    };
    match lists {
        Ok(lists) => lists.iter().flat_map(numbers).collect(),
        // A thread has ended meanwhile, or the system has no such lists.
        Err(_) => children_by_search(process),
    }
}

/// The same, by asking all processes for their parent.
fn children_by_search(process: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |number: &u32| {
        let status = fs::read(format!("/proc/{number}/stat")).unwrap_or_default();
        let status = String::from_utf8_lossy(&status).into_owned();
        // `number (name) state parent …`, where the name may hold spaces and parentheses.
        let parent = status.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        parent.and_then(|parent| parent.parse().ok()) == Some(process)
    };
    numbers.filter(is_child).collect()
}

/// What a process uses that is not a file: its own memory, and memory that it shares with others.
fn memory(process: u32) -> u64 {
    memory_in(&fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default())
}

fn memory_in(status: &str) -> u64 {
    let parts = ["RssAnon:", "RssShmem:", "VmPTE:"];
    parts.iter().filter_map(|name| bytes_of(name, status)).sum()
}

/// The bytes in a line such as `VmPTE: 12 kB`.
fn bytes_of(name: &str, text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// The bytes of memory that this process and all its descendants use, if the system says so.
pub fn family_memory() -> Option<u64> {
    let own = memory(std::process::id());
    (own > 0).then(|| own + Used::by_descendants(std::process::id()).memory)
}

/// The bytes of memory of this machine, if it says so.
pub fn machine_memory() -> Option<u64> {
    bytes_of("MemTotal:", &fs::read_to_string("/proc/meminfo").ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_a_file_counts() {
        let status = "Name:\tx\nVmRSS:\t 900 kB\nRssAnon:\t 3 kB\nRssFile:\t 800 kB\n\
                      RssShmem:\t 4 kB\nVmPTE:\t 1 kB\n";
        assert_eq!(memory_in(status), 8 << 10);
        assert_eq!(memory_in("Name:\tkernel\n"), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn both_ways_to_find_children_agree() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("it starts");
        let own = std::process::id();
        let (listed, searched) = (children(own), children_by_search(own));
        child.kill().expect("ours");
        child.wait().expect("ours");
        assert!(listed.contains(&child.id()), "{listed:?}");
        assert!(searched.contains(&child.id()), "{searched:?}");
    }

    #[test]
    fn a_limit_is_exceeded_when_more_is_used() {
        let limits = Limits { memory: Some(100), family: Some(2), ..Limits::default() };
        let rows = [
            (100, 2, None),
            (101, 2, Some(Resource::Memory)),
            (5, 3, Some(Resource::Processes)),
            (101, 3, Some(Resource::Processes)),
            (0, 0, None),
        ];
        for (memory, processes, expected) in rows {
            assert_eq!(Used { processes, memory }.over(&limits), expected, "{memory} {processes}");
        }
        assert_eq!(Used { processes: 9, memory: 9 }.over(&Limits::default()), None);
    }
}
