//! What a step does to objects that threads share, for the interleaving coverage.
//!
//! Comes in: the step that a thread has announced, and the way in which it is to be made. Goes out: one
//! [`Touch`] for each object. The place of an operation is where it stands in the source, together with
//! what it is called.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use smallvec::SmallVec;
use strait_explore::{Atomic, Pick, ThreadId, Touch};

use super::op::Op;
use super::record::Thread;

/// What is known before the step is made.
pub(super) struct Announcement {
    pub(super) touches: SmallVec<[Touch; 2]>,
    /// Is it a compare-exchange under RC11? Then only the step itself shows whether it writes.
    pub(super) exchanges: bool,
}

/// What the announced step of a thread is going to do.
pub(super) fn touches_of(thread: &Thread, pick: Pick) -> Announcement {
    let op = &thread.op;
    let (owner, site) = (thread.commits_for.unwrap_or(pick.thread.0), site(op));
    let touch = |object, writes, overtaken| Touch {
        thread: ThreadId(owner),
        site,
        object,
        writes,
        overtaken,
    };
    if let Some(atomic) = op.atomic {
        let touches = atomic.location().into_iter();
        let writes = !matches!(atomic, Atomic::Load { .. });
        let touches = touches.map(|object| touch(object, writes, overtaken(atomic, pick.choice)));
        let exchanges = matches!(atomic, Atomic::Exchange { .. });
        return Announcement { touches: touches.collect(), exchanges };
    }
    let real = op.accesses.iter().filter(|access| access.object != u32::MAX);
    let touches = real.map(|access| touch(access.object, access.write, 0)).collect();
    Announcement { touches, exchanges: false }
}

/// How many writes come after the step although they were made before it: the number of the way in which
/// `strait_explore::Memory` makes it.
fn overtaken(atomic: Atomic, choice: u32) -> u32 {
    match atomic {
        Atomic::Exchange { weak: true, .. } => choice / 2,
        _ => choice,
    }
}

fn site(op: &Op) -> u64 {
    let mut hasher = FxHasher::default();
    (op.place.file(), op.place.line(), op.place.column(), op.label).hash(&mut hasher);
    hasher.finish()
}
