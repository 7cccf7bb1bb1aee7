//! Exceptions to other threads (Déjà Fu, Haskell 2015, section 2.1), as unwinding at interruption points.
//!
//! Under test every step of a thread is an interruption point. For real, exceptions are taken where
//! the code asks for them by [`interruption_point`].

use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::rt::current::{mailbox_of_os_thread, under_test, with};
use crate::rt::exception as model;
pub use crate::rt::exception::Mask;
use crate::thread::Thread;

/// The exception that [`kill`] throws.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadKilled;

/// Exceptions for an operating system thread that are not taken yet.
pub(crate) type RealMailbox = Arc<Mutex<RealLetters>>;

/// What a real thread has got, and whether it takes it.
#[derive(Default)]
pub(crate) struct RealLetters {
    letters: Vec<Box<dyn Any + Send>>,
    mask: Mask,
}

/// Throws an exception to a thread. Under test it waits until the thread has taken it.
#[track_caller]
pub fn throw_to<E: Any + Send>(thread: &Thread, exception: E) {
    match thread.number() {
        Some(number) => model::throw_to(number, Box::new(exception), Location::caller()),
        None => {
            if let Some(mailbox) = thread.mailbox() {
                let mut mailbox = mailbox.lock().unwrap_or_else(PoisonError::into_inner);
                mailbox.letters.push(Box::new(exception));
            }
            thread.unpark();
        }
    }
}

/// Ends a thread by an exception, unless it catches that.
#[track_caller]
pub fn kill(thread: &Thread) {
    throw_to(thread, ThreadKilled);
}

/// Throws an exception in the current thread.
pub fn throw<E: Any + Send>(exception: E) -> ! {
    with(crate::rt::world::World::begin_unwinding);
    resume_unwind(Box::new(exception))
}

/// Performs the code; gives the exception if one of this type comes out of it. Others pass through.
pub fn catch<E: Any, R>(code: impl FnOnce() -> R) -> Result<R, E> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => Ok(value),
        Err(payload) => match payload.downcast::<E>() {
            Ok(exception) => {
                with(crate::rt::world::World::end_unwinding);
                Err(*exception)
            }
            Err(payload) => resume_unwind(payload),
        },
    }
}

/// Takes an exception that has come, if exceptions are not masked. Under test a step.
#[track_caller]
pub fn interruption_point() {
    if under_test() {
        crate::rt::thread::yield_now(Location::caller());
    } else {
        let mailbox = mailbox_of_os_thread();
        let letter = {
            let mut mailbox = mailbox.lock().unwrap_or_else(PoisonError::into_inner);
            if mailbox.mask == Mask::Unmasked && !mailbox.letters.is_empty() {
                Some(mailbox.letters.remove(0))
            } else {
                None
            }
        };
        if let Some(exception) = letter {
            resume_unwind(exception);
        }
    }
}

/// Restores, for the duration of some code, the mask that was there outside.
#[derive(Clone, Copy, Debug)]
pub struct Unmask(Mask);

impl Unmask {
    /// Performs the code under the outer mask.
    #[track_caller]
    pub fn unmask<R>(&self, code: impl FnOnce() -> R) -> R {
        masked(self.0, Location::caller(), |_| code())
    }
}

/// Performs the code so that exceptions interrupt it only where it would have to wait.
#[track_caller]
pub fn mask<R>(code: impl FnOnce(Unmask) -> R) -> R {
    masked(Mask::Interruptible, Location::caller(), code)
}

/// Performs the code so that exceptions do not interrupt it.
#[track_caller]
pub fn uninterruptible_mask<R>(code: impl FnOnce(Unmask) -> R) -> R {
    masked(Mask::Uninterruptible, Location::caller(), code)
}

fn masked<R>(mask: Mask, place: &'static Location<'static>, code: impl FnOnce(Unmask) -> R) -> R {
    let before = set_mask(mask, place);
    let result = catch_unwind(AssertUnwindSafe(|| code(Unmask(before))));
    // Only the mask is put back: an exception under way stays under way.
    with(|world| world.me().mailbox.mask = before);
    if !under_test() {
        set_mask(before, place);
    }
    match result {
        Ok(value) => {
            if under_test() && before == Mask::Unmasked {
                interruption_point_at(place);
            }
            value
        }
        Err(payload) => resume_unwind(payload),
    }
}

/// What came while exceptions were masked is taken when they are no longer.
fn interruption_point_at(place: &'static Location<'static>) {
    if with(|world| world.features.has(crate::rt::features::Feature::Exceptions)) == Some(true) {
        crate::rt::thread::yield_now(place);
    }
}

fn set_mask(mask: Mask, place: &'static Location<'static>) -> Mask {
    if under_test() {
        return model::set_mask(mask, place);
    }
    let mailbox = mailbox_of_os_thread();
    let mut mailbox = mailbox.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut mailbox.mask, mask)
}

/// The mask of the current thread.
pub fn masking_state() -> Mask {
    let modelled = with(|world| world.me().mailbox.mask);
    modelled.unwrap_or_else(|| {
        mailbox_of_os_thread().lock().unwrap_or_else(PoisonError::into_inner).mask
    })
}
