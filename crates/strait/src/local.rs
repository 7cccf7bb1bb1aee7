//! Thread-local values, as `std::thread_local!`: under test each model thread has its own, made anew
//! in each execution and dropped at the end of its thread.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use crate::rt::current::{under_test, with};
use crate::rt::record::Local;
use crate::rt::thread::drop_at_end;

/// Hands the real thread-local value to an access, if it is not gone.
#[doc(hidden)]
pub type Real<T> = fn(&mut dyn FnMut(&T));

/// A thread-local value is being dropped, or was, because its thread ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the thread-local value is being dropped, or was")
    }
}

impl std::error::Error for AccessError {}

/// A thread-local value, declared by [`crate::thread_local!`].
pub struct LocalKey<T: 'static> {
    real: Real<T>,
    make: fn() -> T,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(real: Real<T>, make: fn() -> T) -> Self {
        LocalKey { real, make }
    }

    /// Accesses the current thread's value, which is made first if there is none. Panics if the value is
    /// being dropped, or was, because the thread ends.
    #[track_caller]
    pub fn with<R>(&'static self, access: impl FnOnce(&T) -> R) -> R {
        match self.try_with(access) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`LocalKey::with`], with an error if the value is being dropped, or was.
    pub fn try_with<R>(&'static self, access: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if under_test() {
            return self.modelled().map(|value| access(&value));
        }
        let (mut access, mut result) = (Some(access), None);
        (self.real)(&mut |value| {
            if let Some(access) = access.take() {
                result = Some(access(value));
            }
        });
        result.ok_or(AccessError)
    }

    /// The current model thread's value.
    fn modelled(&'static self) -> Result<Rc<T>, AccessError> {
        let key = std::ptr::from_ref(self).addr();
        let known = with(|world| {
            world.me().operated = true;
            let known = world.me().locals.iter().find(|local| local.key == key);
            known.map(|local| local.value.clone())
        });
        if let Some(known) = known.flatten() {
            return known.and_then(|value| value.downcast().ok()).ok_or(AccessError);
        }
        // Code of the user, which may use other thread-local values.
        let value = Rc::new((self.make)());
        let kept: Rc<dyn Any> = value.clone();
        let needs_drop = std::mem::needs_drop::<T>();
        with(|world| {
            world.locals += 1;
            world.me().locals.push(Local { key, value: Some(kept), needs_drop });
        });
        Ok(value)
    }
}

impl<T: 'static> LocalKey<std::cell::Cell<T>> {
    /// Sets the current thread's value and gives the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Takes the current thread's value and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(std::cell::Cell::take)
    }

    /// Sets the current thread's value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }
}

impl<T: Copy + 'static> LocalKey<std::cell::Cell<T>> {
    /// The current thread's value.
    pub fn get(&'static self) -> T {
        self.with(std::cell::Cell::get)
    }
}

impl<T: 'static> LocalKey<std::cell::RefCell<T>> {
    /// Sets the current thread's value and gives the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Takes the current thread's value and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(std::cell::RefCell::take)
    }

    /// Sets the current thread's value.
    pub fn set(&'static self, value: T) {
        self.replace(value);
    }

    /// Accesses the current thread's value.
    pub fn with_borrow<R>(&'static self, access: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| access(&cell.borrow()))
    }

    /// Accesses the current thread's value to change it.
    pub fn with_borrow_mut<R>(&'static self, access: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| access(&mut cell.borrow_mut()))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Drops the values of the current model thread, the last one made first, and those that their
/// destructors make. Values without a destructor can be accessed until all others are gone, as with std.
pub(crate) fn drop_all() {
    while let Some(value) = with(|world| {
        let locals = world.me().locals.iter_mut().rev();
        locals.filter(|local| local.needs_drop).find_map(|local| local.value.take())
    })
    .flatten()
    {
        drop_at_end("a thread-local value", value);
    }
    with(|world| {
        world.locals -= world.me().locals.len() as u32;
        world.me().locals.clear();
    });
}

/// Declares thread-local values, as `std::thread_local!` does.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = const $init:block
     $(; $($rest:tt)*)?) => {
        $crate::thread_local! { $(#[$attribute])* $visible static $name: $type = $init }
        $($crate::thread_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $init:expr
     $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visible static $name: $crate::thread::LocalKey<$type> = {
            ::std::thread_local! { static REAL: $type = $init; }
            fn real(access: &mut dyn FnMut(&$type)) {
                let _ = REAL.try_with(|value| access(value));
            }
            fn make() -> $type {
                $init
            }
            $crate::thread::LocalKey::new(real, make)
        };
        $($crate::thread_local! { $($rest)* })?
    };
}
