//! What this operating system thread is performing: the one thread-local that decides anything. Beside
//! it, apart because it has to be freed, what the thread keeps for later: stacks, and exceptions that
//! have come for it.
//!
//! Null means that the code runs for real. Otherwise the pointer leads to the [`World`] of the
//! execution, and the code runs on one of its coroutines.
#![allow(
    unsafe_code,
    reason = "the world outlives every coroutine that runs in it, and only one of them runs at a \
              time; no reference to the world is held where another one can be made"
)]

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use super::coroutine::Worker;
use super::world::{Tables, World};
use crate::exception::RealMailbox;
use crate::watchdog::abort_with;

/// What an operating system thread keeps.
struct ThreadCache {
    /// Stacks that no execution uses at the moment: making one costs more than a whole execution.
    #[allow(clippy::vec_box, reason = "a worker stays where it is: it is reached by pointer")]
    idle: RefCell<Vec<Box<Worker>>>,
    /// Tables that no execution uses, with the stacks of their threads.
    tables: RefCell<Option<Tables>>,
    /// Exceptions for this thread when it runs for real; made when they are asked for.
    mailbox: RefCell<Option<RealMailbox>>,
    /// How many stacks of model threads, of all executions, are being unwound.
    unwinding: Cell<u32>,
}

/// What an operating system thread is doing. The watchdog reads it from another thread, so it is atomic;
/// no other thread writes to it.
struct Doing {
    world: AtomicPtr<World>,
    /// How often code under test was entered.
    entered: AtomicU64,
    /// Is an action performed on the world?
    busy: AtomicBool,
}

thread_local! {
    static DOING: Doing =
        const {
            Doing {
                world: AtomicPtr::new(ptr::null_mut()),
                entered: AtomicU64::new(0),
                busy: AtomicBool::new(false),
            }
        };
    static KEPT: ThreadCache =
        const {
            ThreadCache {
                idle: RefCell::new(Vec::new()),
                tables: RefCell::new(None),
                mailbox: RefCell::new(None),
                unwinding: Cell::new(0),
            }
        };
}

#[inline(always)]
fn pointer() -> *mut World {
    DOING.with(|doing| doing.world.load(Ordering::Relaxed))
}

/// How far an operating system thread has come with code under test.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Position {
    under_test: bool,
    entered: u64,
}

#[cfg(target_os = "linux")]
impl Position {
    /// Does it perform code under test?
    pub(crate) fn is_under_test(self) -> bool {
        self.under_test
    }
}

/// Says how far an operating system thread has come, as long as that thread is there.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Witness(NonNull<Doing>);

// SAFETY: what it leads to is atomic.
#[cfg(target_os = "linux")]
unsafe impl Send for Witness {}
// SAFETY: as above.
#[cfg(target_os = "linux")]
unsafe impl Sync for Witness {}

/// The witness of the current thread. Must not be asked when the thread is no more.
#[cfg(target_os = "linux")]
pub(crate) fn witness() -> Witness {
    DOING.with(|doing| Witness(NonNull::from(doing)))
}

#[cfg(target_os = "linux")]
impl Witness {
    pub(crate) fn position(self) -> Position {
        // SAFETY: the thread is there, so its thread-local values are.
        let doing = unsafe { self.0.as_ref() };
        let under_test = !doing.world.load(Ordering::Relaxed).is_null();
        Position { under_test, entered: doing.entered.load(Ordering::Relaxed) }
    }
}

/// Is this code under test?
#[inline]
pub(crate) fn under_test() -> bool {
    !pointer().is_null()
}

/// Performs an action on the world of the execution, or `None` when the code runs for real.
///
/// The action must not run code of the user, and must not switch to another coroutine: either could
/// come back here, which ends the process.
#[inline(always)]
pub(crate) fn with<R>(action: impl FnOnce(&mut World) -> R) -> Option<R> {
    // SAFETY: the value has no destructor, so it is there as long as its thread, which is this one. An
    // action within `LocalKey::with` would not be inlined.
    let doing = unsafe { DOING.with(|doing| NonNull::from(doing)).as_ref() };
    // SAFETY: a non-null pointer is set only while the world is not borrowed elsewhere (see
    // `enter`), and the reference ends with the action, during which there is no other one.
    let world = unsafe { doing.world.load(Ordering::Relaxed).as_mut() }?;
    let _busy = Busy::begin(&doing.busy);
    Some(action(world))
}

/// Looks at the world in a crash, whatever is under way.
#[cfg(target_os = "linux")]
pub(crate) fn look_in_crash(look: impl FnOnce(&World)) {
    // SAFETY: none can be given, since this may interrupt anything; but the process ends right after it.
    if let Some(world) = unsafe { pointer().as_ref() } {
        look(world);
    }
}

/// An action is performed on the world until this is dropped.
struct Busy<'d>(&'d AtomicBool);

impl Busy<'_> {
    #[inline(always)]
    fn begin(busy: &AtomicBool) -> Busy<'_> {
        // Only this thread writes it: there is no need to do both in one step.
        if busy.load(Ordering::Relaxed) {
            entered_again();
        }
        busy.store(true, Ordering::Relaxed);
        Busy(busy)
    }
}

impl Drop for Busy<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Is an action performed on the world, by code of the library?
pub(crate) fn is_busy() -> bool {
    DOING.with(|doing| doing.busy.load(Ordering::Relaxed))
}

/// Two references to the world would exist at the same time: whatever happened next would mean nothing.
#[cold]
#[inline(never)]
fn entered_again() -> ! {
    // What comes of the panic itself must not come back here.
    DOING.with(|doing| doing.world.store(ptr::null_mut(), Ordering::Relaxed));
    let stack = std::backtrace::Backtrace::force_capture();
    let text = format!(
        "strait: internal error: the runtime was entered from within itself. Please report this with \
         the stack:\n{stack}\n"
    );
    abort_with(&text)
}

/// Makes a world the current one until the guard is dropped. Worlds do not nest: code under test
/// that starts a check runs that check in a world of its own, and gets its old one back.
#[inline]
pub(crate) fn enter(world: *mut World) -> Entered {
    DOING.with(|doing| {
        let entered = doing.entered.load(Ordering::Relaxed).wrapping_add(1);
        doing.entered.store(entered, Ordering::Relaxed);
        let before = doing.world.load(Ordering::Relaxed);
        doing.world.store(world, Ordering::Relaxed);
        Entered { before }
    })
}

/// Puts the previous world back when dropped.
pub(crate) struct Entered {
    before: *mut World,
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        DOING.with(|doing| doing.world.store(self.before, Ordering::Relaxed));
    }
}

/// A stack that is not in use, if there is one.
pub(crate) fn idle_worker() -> Option<Box<Worker>> {
    KEPT.with(|kept| kept.idle.borrow_mut().pop())
}

/// Takes a stack that is no longer in use.
pub(crate) fn retire_worker(worker: Box<Worker>) {
    // Fails only while the operating system thread ends; then the stack is freed.
    let _ = KEPT.try_with(|kept| kept.idle.borrow_mut().push(worker));
}

/// Tables that are not in use, if there are any.
pub(crate) fn idle_tables() -> Option<Tables> {
    KEPT.with(|kept| kept.tables.take())
}

/// Takes tables that are no longer in use.
pub(crate) fn retire_tables(tables: Tables) {
    // One is enough for one search after the other.
    let before = KEPT.try_with(|kept| kept.tables.replace(Some(tables)));
    if let Ok(Some(tables)) = before {
        tables.workers().for_each(retire_worker);
    }
}

/// Where exceptions for this operating system thread arrive.
pub(crate) fn mailbox_of_os_thread() -> RealMailbox {
    let mailbox = |kept: &ThreadCache| kept.mailbox.borrow_mut().get_or_insert_default().clone();
    KEPT.try_with(mailbox).unwrap_or_default()
}

/// Sets where exceptions for this operating system thread arrive.
pub(crate) fn set_mailbox_of_os_thread(mailbox: RealMailbox) {
    KEPT.with(|kept| kept.mailbox.replace(Some(mailbox)));
}

/// One stack more or less is being unwound. A stack that is left for good while it is unwound counts
/// for good: the operating system thread goes on panicking because of it.
#[cold]
pub(crate) fn note_unwinding(change: i32) {
    let note =
        |kept: &ThreadCache| kept.unwinding.set(kept.unwinding.get().saturating_add_signed(change));
    // Fails only while the operating system thread ends.
    let _ = KEPT.try_with(note);
}

/// Is no stack known to be unwound?
pub(crate) fn nobody_unwinds() -> bool {
    KEPT.with(|kept| kept.unwinding.get() == 0)
}
