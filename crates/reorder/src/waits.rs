//! Which goroutine waits for which: from locks, their holders and writers that wait for readers.

use strait_golang::{Goroutine, Held, Object, Trace};

/// Who holds the lock that a goroutine waits for. A reader does not wait for other readers.
pub fn holders<'t>(trace: &'t Trace, waiting: &Goroutine) -> impl Iterator<Item = &'t Held> {
    let lock = lock_of(waiting);
    let held = lock.and_then(|(_, address)| trace.held.get(&address));
    let reads = lock.is_some_and(|(object, _)| object == Object::Reader);
    held.into_iter().flatten().filter(move |one| !(reads && one.object == Object::Reader))
}

/// Writers that wait for the lock that a reader waits for: new readers have to let them go first.
pub fn pending_writers<'t>(
    trace: &'t Trace,
    waiting: &Goroutine,
) -> impl Iterator<Item = &'t Goroutine> {
    let wanted = lock_of(waiting).filter(|(object, _)| *object == Object::Reader);
    let wanted = wanted.map(|(_, address)| (Object::Writer, address));
    trace.goroutines.iter().filter(move |one| wanted.is_some() && one.object == wanted)
}

/// The lock that a goroutine waits for.
fn lock_of(goroutine: &Goroutine) -> Option<(Object, u64)> {
    let is_lock = |object| matches!(object, Object::Mutex | Object::Writer | Object::Reader);
    goroutine.object.filter(|(object, _)| is_lock(*object) && goroutine.channels.is_empty())
}

/// A goroutine that waits for a lock of the next one, and so on; the last one waits for the first. One
/// goroutine alone waits for a lock that it holds itself.
pub fn cycle<'t>(trace: &'t Trace, start: &'t Goroutine) -> Option<Vec<&'t Goroutine>> {
    let mut path = vec![start];
    search(trace, &mut path).then_some(path)
}

fn search<'t>(trace: &'t Trace, path: &mut Vec<&'t Goroutine>) -> bool {
    const LONGEST: usize = 16;
    let (Some(first), Some(last)) = (path.first().copied(), path.last().copied()) else {
        return false;
    };
    for id in waits_for(trace, last) {
        if id == first.id {
            return true;
        }
        let seen = path.iter().any(|one| one.id == id) || path.len() == LONGEST;
        let next = trace.goroutines.iter().find(|one| one.id == id);
        if let Some(next) = next.filter(|_| !seen) {
            path.push(next);
            if search(trace, path) {
                return true;
            }
            path.pop();
        }
    }
    false
}

fn waits_for(trace: &Trace, goroutine: &Goroutine) -> Vec<u32> {
    let holders = holders(trace, goroutine).map(|held| held.goroutine);
    holders.chain(pending_writers(trace, goroutine).map(|one| one.id)).collect()
}
